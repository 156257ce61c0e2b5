# WebDAV by Apache httpd, the strict one. The server runs as whoever starts it; root must name a user.
install() { packages apache2-bin; }

start() {
	local p modules=/usr/lib/apache2/modules
	p=$(port 9300)
	mkdir -p "$dir/data/dav/files" "$dir/lock"
	{
		for m in mpm_event authz_core dav dav_fs; do
			echo "LoadModule ${m}_module $modules/mod_$m.so"
		done
		echo "Listen 127.0.0.1:$p"
		echo "ServerName 127.0.0.1"
		echo "ServerRoot \"$dir\""
		echo "DocumentRoot \"$dir/data\""
		echo "PidFile \"$dir/httpd.pid\""
		echo "ErrorLog \"$dir/error.log\""
		echo "DAVLockDB \"$dir/lock/db\""
		echo "Mutex file:$dir/lock"
		echo "<Directory \"$dir/data\">"
		echo "Require all granted"
		echo "</Directory>"
		echo "<Location /dav>"
		echo "Dav On"
		echo "</Location>"
		if [ "$(id -u)" = 0 ]; then
			echo "User www-data"
			echo "Group www-data"
		fi
	} >"$dir/httpd.conf"
	if [ "$(id -u)" = 0 ]; then chown -R www-data: "$dir/data" "$dir/lock"; fi
	launch apache2 -f "$dir/httpd.conf" -DFOREGROUND
	publish SLUICE_TEST_WEBDAV_APACHE ":webdav,url=\"http://127.0.0.1:$p/dav\",vendor=other:files"
}

ready() { roundtrip "$SLUICE_TEST_WEBDAV_APACHE"; }
