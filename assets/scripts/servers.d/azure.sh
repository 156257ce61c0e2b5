# Azure Blob by the emulator azurite. The emulator's account is built into every client, at port 10000.
azurite_version=3.37.0
azurite=$tools/azurite/node_modules/.bin/azurite-blob

install() {
	command -v npm >/dev/null || packages nodejs npm
	[ -x "$azurite" ] && grep -q "\"version\": \"$azurite_version\"" "$tools/azurite/node_modules/azurite/package.json" && return
	echo "servers: installing azurite $azurite_version" >&2
	mkdir -p "$tools/azurite"
	npm install --prefix "$tools/azurite" --no-audit --no-fund --no-save --loglevel=error "azurite@$azurite_version" >&2
}

start() {
	if (: </dev/tcp/127.0.0.1/10000) 2>/dev/null; then
		die "port 10000 is taken; clients expect the Azure emulator there"
	fi
	mkdir -p "$dir/data"
	launch node "$azurite" --silent --skipApiVersionCheck --disableTelemetry --location "$dir/data" --blobHost 127.0.0.1 --blobPort 10000
	publish SLUICE_TEST_AZURE ":azureblob,use_emulator=true,chunk_size=64M:container"
}

ready() { rclone mkdir "$SLUICE_TEST_AZURE" && roundtrip "$SLUICE_TEST_AZURE"; }
