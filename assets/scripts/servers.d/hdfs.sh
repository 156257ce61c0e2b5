# HDFS by Hadoop's own NameNode and DataNode in one Java process.
hdfs_version=3.4.2
hdfs_jars=$tools/hdfs-$hdfs_version

install() {
	command -v javac >/dev/null || packages default-jdk-headless
	command -v mvn >/dev/null || packages maven
	[ -d "$hdfs_jars" ] && return
	echo "servers: fetching Hadoop $hdfs_version" >&2
	rm -rf "$hdfs_jars.new"
	mvn -B -q -f "$here/servers.d/hdfs/pom.xml" -Dhadoop.version="$hdfs_version" \
		dependency:copy-dependencies -DoutputDirectory="$hdfs_jars.new" >&2
	mv "$hdfs_jars.new" "$hdfs_jars"
}

start() {
	local p
	p=$(port 8020)
	rm -rf "$dir/data"
	mkdir -p "$dir/data"
	# Hadoop asks for the machine's own name, which small machines may not know.
	echo "127.0.0.1 localhost $(uname -n)" >"$dir/hosts"
	launch java -Xmx512m -Djdk.net.hosts.file="$dir/hosts" -cp "$hdfs_jars/*" "$here/servers.d/hdfs/MiniHdfs.java" "$p" "$dir/data"
	publish SLUICE_TEST_HDFS ":hdfs,namenode=\"127.0.0.1:$p\",username=$(id -un):/replay"
}

ready() { rclone mkdir "$SLUICE_TEST_HDFS" && roundtrip "$SLUICE_TEST_HDFS"; }
