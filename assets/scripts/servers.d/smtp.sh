# SMTP by aiosmtpd: takes every message and keeps it in a mail folder.
install() { packages python3-aiosmtpd; }

start() {
	local p
	p=$(port 2525)
	rm -rf "$dir/mail" # the server makes the folder, whole
	launch /usr/bin/python3 -m aiosmtpd -n -l "127.0.0.1:$p" -c aiosmtpd.handlers.Mailbox "$dir/mail"
	publish SLUICE_TEST_SMTP "127.0.0.1:$p"
	publish SLUICE_TEST_SMTP_FOLDER "$dir/mail"
}

ready() {
	local greeting
	exec 3<>"/dev/tcp/${SLUICE_TEST_SMTP%:*}/${SLUICE_TEST_SMTP#*:}" || return 1
	read -r greeting <&3
	exec 3>&-
	[[ $greeting == 220* ]]
}
