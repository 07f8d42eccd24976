# Dendrite, a real Matrix server for tests; sourced after common.sh and goserver.sh.
# shellcheck shell=bash
#
#   need_dendrite    finds or builds it, exports PDPP_TEST_DENDRITE, its program
#
# A PDPP_TEST_DENDRITE that is already set is used as it is.

need_dendrite() {
	[[ -z ${PDPP_TEST_DENDRITE:-} ]] || return 0
	PDPP_TEST_DENDRITE=$(go_server dendrite 0.15.2 github.com/element-hq/dendrite/cmd/dendrite) ||
		die "Dendrite could not be built. Build it by hand and set PDPP_TEST_DENDRITE to its program."
	export PDPP_TEST_DENDRITE
}
