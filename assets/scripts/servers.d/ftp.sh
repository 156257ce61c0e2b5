# FTP by vsftpd: anonymous, with every write allowed below /files, run as whoever starts it.
install() { packages vsftpd; }

start() {
	local p
	p=$(port 2121)
	mkdir -p "$dir/data/files" "$dir/empty"
	cat >"$dir/vsftpd.conf" <<-END
		listen=YES
		listen_address=127.0.0.1
		listen_port=$p
		background=NO
		run_as_launching_user=YES
		anonymous_enable=YES
		no_anon_password=YES
		anon_root=$dir/data
		anon_upload_enable=YES
		anon_mkdir_write_enable=YES
		anon_other_write_enable=YES
		anon_world_readable_only=NO
		anon_umask=022
		allow_writeable_chroot=YES
		write_enable=YES
		mdtm_write=YES
		pasv_address=127.0.0.1
		secure_chroot_dir=$dir/empty
		seccomp_sandbox=NO
		xferlog_enable=NO
	END
	launch vsftpd "$dir/vsftpd.conf"
	publish SLUICE_TEST_FTP ":ftp,host=127.0.0.1,port=$p,user=anonymous,pass=$(rclone obscure anonymous):files"
}

ready() { roundtrip "$SLUICE_TEST_FTP"; }
