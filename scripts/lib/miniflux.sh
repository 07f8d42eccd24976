# Miniflux, a real feed reader for tests; sourced after common.sh and goserver.sh.
# shellcheck shell=bash
#
#   need_miniflux    finds or builds it, exports PDPP_TEST_MINIFLUX, its program
#
# A PDPP_TEST_MINIFLUX that is already set is used as it is.

need_miniflux() {
	[[ -z ${PDPP_TEST_MINIFLUX:-} ]] || return 0
	PDPP_TEST_MINIFLUX=$(go_server miniflux 2.3.0 miniflux.app/v2) ||
		die "Miniflux could not be built. Build it by hand and set PDPP_TEST_MINIFLUX to its program."
	export PDPP_TEST_MINIFLUX
}
