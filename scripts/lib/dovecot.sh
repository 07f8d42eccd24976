# Dovecot, a real mail server for tests and benchmarks; sourced after common.sh.
# shellcheck shell=bash
#
#   need_dovecot    finds or installs it, exports PDPP_TEST_DOVECOT, its program
#
# Only the programs are used: each test starts its own in a folder of its own. A
# PDPP_TEST_DOVECOT that is already set is used as it is.

find_dovecot() {
	PDPP_TEST_DOVECOT=$(PATH=$PATH:/usr/local/sbin:/usr/sbin command -v dovecot) && [[ -e /usr/lib/dovecot/imap || -e /usr/local/libexec/dovecot/imap ]] && export PDPP_TEST_DOVECOT
}

# install_dovecot keeps Debian from starting its mail server, now and at boot.
install_dovecot() {
	(
		keep_services_off
		need_packages "the tests against a real mail server" dovecot-imapd
		root update-rc.d dovecot disable >/dev/null 2>&1 || true
	)
}

need_dovecot() {
	[[ -z ${PDPP_TEST_DOVECOT:-} ]] || return 0
	find_dovecot || { install_dovecot || exit; find_dovecot; } ||
		die "no Dovecot on PATH. Install one (apt-get install dovecot-imapd) or set PDPP_TEST_DOVECOT to its program."
}
