# Courier, GNU imap4d and DAViCal, servers with habits of their own for the long tests; sourced after common.sh and
# unpacked.sh.
# shellcheck shell=bash
#
#   need_courier   finds or unpacks it, exports PDPP_TEST_COURIER, the folder that holds it
#   need_imap4d    the same with PDPP_TEST_IMAP4D
#   need_davical   the same with PDPP_TEST_DAVICAL, and installs PHP, by which DAViCal runs

need_courier() {
	unpack_server courier PDPP_TEST_COURIER usr/bin/imapd 'courier-|lib' courier-imap courier-authlib
}

need_imap4d() {
	unpack_server imap4d PDPP_TEST_IMAP4D usr/sbin/imap4d 'guile-|lib' mailutils-imap4d
}

need_davical() {
	/usr/bin/php -m 2>/dev/null | grep -qx pdo_pgsql || need_packages "the tests against DAViCal" php-cli php-pgsql php-xml
	unpack_server davical PDPP_TEST_DAVICAL usr/share/davical/htdocs 'libawl-' davical libawl-php
}
