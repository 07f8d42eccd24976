# Versity's gateway, a real S3 server for the long tests; sourced after common.sh and goserver.sh.
# shellcheck shell=bash
#
#   need_versitygw    finds or builds it, exports PDPP_TEST_VERSITYGW, its program
#
# A PDPP_TEST_VERSITYGW that is already set is used as it is.

need_versitygw() {
	[[ -z ${PDPP_TEST_VERSITYGW:-} ]] || return 0
	PDPP_TEST_VERSITYGW=$(go_server versitygw 1.8.0 github.com/versity/versitygw/cmd/versitygw) ||
		die "Versity's gateway could not be built. Build it by hand and set PDPP_TEST_VERSITYGW to its program."
	export PDPP_TEST_VERSITYGW
}
