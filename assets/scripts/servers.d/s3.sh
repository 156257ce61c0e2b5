# S3 by rclone: conditional puts and Content-MD5 behave as on the real service.
install() { need_rclone; }

start() {
	local p
	p=$(port 9100)
	mkdir -p "$dir/data/bucket"
	launch "$bin/rclone" --config "" serve s3 --addr "127.0.0.1:$p" --auth-key accesskey01,secretkey01 "$dir/data"
	publish SLUICE_TEST_S3 ":s3,provider=Rclone,access_key_id=accesskey01,secret_access_key=secretkey01,endpoint=\"http://127.0.0.1:$p\",force_path_style=true:bucket"
}

ready() { roundtrip "$SLUICE_TEST_S3"; }
