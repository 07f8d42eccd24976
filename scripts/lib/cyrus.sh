# Cyrus, a second real mail server for tests; sourced after common.sh and unpacked.sh.
# shellcheck shell=bash
#
#   need_cyrus    finds or unpacks it, exports PDPP_TEST_CYRUS, the folder that holds it

need_cyrus() {
	unpack_server cyrus PDPP_TEST_CYRUS usr/lib/cyrus/bin/imapd 'cyrus-|lib' cyrus-imapd libsasl2-modules
}
