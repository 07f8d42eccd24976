# Radicale and Xandikos, real servers of calendars and address books; sourced after common.sh.
# shellcheck shell=bash
#
#   need_dav    installs them, unless they are there
#
# Only the programs are used: each test starts its own in a folder of its own.

# install_dav keeps Debian from starting them, now and at boot.
install_dav() {
	(
		keep_services_off
		need_packages "the tests against real servers of calendars" radicale xandikos
		root update-rc.d radicale disable >/dev/null 2>&1 || true
	)
}

need_dav() {
	/usr/bin/python3 -c 'import radicale, xandikos' 2>/dev/null || install_dav || exit
}
