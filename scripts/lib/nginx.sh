# nginx, a real rate limiter for tests and benchmarks; sourced after common.sh.
# shellcheck shell=bash
#
#   need_nginx    finds or installs it, exports PDPP_TEST_NGINX, its program
#
# Only the program is used: each test starts its own in a folder of its own. A
# PDPP_TEST_NGINX that is already set is used as it is.

find_nginx() {
	PDPP_TEST_NGINX=$(PATH=$PATH:/usr/local/sbin:/usr/sbin command -v nginx) && export PDPP_TEST_NGINX
}

# install_nginx keeps Debian from starting its web server, now and at boot.
install_nginx() {
	(
		keep_services_off
		need_packages "the tests against a real rate limiter" nginx
		root update-rc.d nginx disable >/dev/null 2>&1 || true
	)
}

need_nginx() {
	[[ -z ${PDPP_TEST_NGINX:-} ]] || return 0
	find_nginx || { install_nginx || exit; find_nginx; } ||
		die "no nginx on PATH. Install one (apt-get install nginx) or set PDPP_TEST_NGINX to its program."
}
