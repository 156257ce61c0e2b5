# SFTP by OpenSSH, for the user who starts it, by key.
sshd=/usr/sbin/sshd

install() { packages openssh-server openssh-client; }

start() {
	local p user pam=no
	p=$(port 2222)
	user=$(id -un)
	mkdir -p "$dir/data"
	[ -f "$dir/host_key" ] || ssh-keygen -q -t ed25519 -N '' -f "$dir/host_key"
	[ -f "$dir/user_key" ] || ssh-keygen -q -t ed25519 -N '' -f "$dir/user_key"
	echo "[127.0.0.1]:$p $(cut -d ' ' -f 1,2 "$dir/host_key.pub")" >"$dir/known_hosts"
	if [ "$(id -u)" = 0 ]; then
		mkdir -p /run/sshd
		# Without PAM a locked account is refused even by key.
		if grep -q "^$user:!" /etc/shadow; then pam=yes; fi
	fi
	cat >"$dir/sshd_config" <<-END
		Port $p
		ListenAddress 127.0.0.1
		HostKey $dir/host_key
		AuthorizedKeysFile $dir/user_key.pub
		PidFile none
		UsePAM $pam
		PermitRootLogin prohibit-password
		PasswordAuthentication no
		KbdInteractiveAuthentication no
		StrictModes no
		MaxStartups 100
		Subsystem sftp internal-sftp
	END
	launch "$sshd" -D -e -f "$dir/sshd_config"
	publish SLUICE_TEST_SFTP ":sftp,host=127.0.0.1,port=$p,user=$user,key_file=\"$dir/user_key\",known_hosts_file=\"$dir/known_hosts\",shell_type=none:$dir/data"
}

ready() { roundtrip "$SLUICE_TEST_SFTP"; }
