# Real rate limiters for tests and benchmarks; sourced after common.sh.
# shellcheck shell=bash
#
#   need_nginx      finds or installs it, exports PDPP_TEST_NGINX, its program
#   need_haproxy    the same with PDPP_TEST_HAPROXY
#
# Only the programs are used: whoever measures starts its own in a folder of its own. A
# variable that is already set is used as it is.

find_limiter() {
	local program
	program=$(PATH=$PATH:/usr/local/sbin:/usr/sbin command -v "$1") && export "$2=$program"
}

# install_limiter keeps Debian from starting the server, now and at boot.
install_limiter() {
	(
		keep_services_off
		need_packages "what is measured against a real rate limiter" "$1"
		root update-rc.d "$1" disable >/dev/null 2>&1 || true
	)
}

# need_limiter PROGRAM VARIABLE; the program is named as its package.
need_limiter() {
	[[ -z ${!2:-} ]] || return 0
	find_limiter "$1" "$2" || { install_limiter "$1" || exit; find_limiter "$1" "$2"; } ||
		die "no $1 on PATH. Install one (apt-get install $1) or set $2 to its program."
}

need_nginx() { need_limiter nginx PDPP_TEST_NGINX; }
need_haproxy() { need_limiter haproxy PDPP_TEST_HAPROXY; }
