# WebDAV by rclone, which moves files and keeps their times.
install() { need_rclone; }

start() {
	local p
	p=$(port 9200)
	mkdir -p "$dir/data/files"
	launch "$bin/rclone" --config "" serve webdav --addr "127.0.0.1:$p" "$dir/data"
	publish SLUICE_TEST_WEBDAV ":webdav,url=\"http://127.0.0.1:$p\",vendor=rclone:files"
}

ready() { roundtrip "$SLUICE_TEST_WEBDAV"; }
