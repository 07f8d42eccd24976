# Chromium, a real browser for the tests of the pages; sourced after common.sh.
# shellcheck shell=bash
#
#   need_chromium    finds or installs it, exports PDPP_TEST_CHROMIUM, its program
#
# A PDPP_TEST_CHROMIUM that is already set is used as it is.

find_chromium() {
	local program
	for program in chromium chromium-browser google-chrome google-chrome-stable; do
		PDPP_TEST_CHROMIUM=$(command -v "$program") && export PDPP_TEST_CHROMIUM && return 0
	done
	return 1
}

need_chromium() {
	[[ -z ${PDPP_TEST_CHROMIUM:-} ]] || return 0
	find_chromium || { need_packages "the tests in a real browser" chromium fonts-dejavu-core && find_chromium; } ||
		die "no Chromium on PATH. Install one (apt-get install chromium) or set PDPP_TEST_CHROMIUM to its program."
}
