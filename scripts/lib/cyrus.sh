# Cyrus, a second real mail server for tests; sourced after common.sh.
# shellcheck shell=bash
#
#   need_cyrus    finds or unpacks it, exports PDPP_TEST_CYRUS, the folder that holds it
#
# Debian has it, and lets only one mail server be installed, so that its packages and the libraries
# that are missing are unpacked into a folder outside the repository, as they are. Nothing of the
# system is changed. A PDPP_TEST_CYRUS that is already set is used as it is: a folder with
# usr/lib/cyrus/bin in it, or / for one that is installed.

# cyrus_works tells whether a folder has it, and all libraries of it.
cyrus_works() {
	local program triple
	triple=$(uname -m)-linux-gnu
	for program in master imapd; do
		[[ -x $1/usr/lib/cyrus/bin/$program ]] || return 1
		! LD_LIBRARY_PATH=$1/usr/lib/$triple:$1/lib/$triple ldd "$1/usr/lib/cyrus/bin/$program" 2>/dev/null | grep -q 'not found' || return 1
	done
}

unpack_cyrus() (
	folder=$1
	mkdir -p "$folder.new"
	cd "$folder.new" || exit
	would=$(apt-get install -s --no-install-recommends cyrus-imapd libsasl2-modules) || exit
	mapfile -t packages < <(sed -nE 's/^Inst ((cyrus-|lib)[^ ]*) .*/\1/p' <<<"$would")
	apt-get -o APT::Sandbox::User=root download "${packages[@]}" || exit
	for package in *.deb; do
		dpkg -x "$package" . || exit
	done
	rm -f ./*.deb
	cd .. && rm -rf "$folder" && mv "$folder.new" "$folder"
)

need_cyrus() {
	[[ -z ${PDPP_TEST_CYRUS:-} ]] || return 0
	local folder=${XDG_CACHE_HOME:-$HOME/.cache}/pdpp/servers/cyrus log
	((EUID != 0)) || folder=/var/cache/pdpp/cyrus # it changes its user, who may not go into root's home
	if ! cyrus_works "$folder"; then
		command -v apt-get >/dev/null || die "the tests against a second mail server need Cyrus, and there is no apt-get here. Install it and set PDPP_TEST_CYRUS to /."
		say "unpacking cyrus-imapd for the tests against a second mail server (apt-get)"
		log=$(mktemp)
		if ! { root apt-get update && unpack_cyrus "$folder" && cyrus_works "$folder"; } >"$log" 2>&1; then
			tail -n 20 "$log" >&2
			rm -f "$log"
			die "Cyrus could not be unpacked. Install it (apt-get install cyrus-imapd, in place of Dovecot) and set PDPP_TEST_CYRUS to /."
		fi
		rm -f "$log"
	fi
	export PDPP_TEST_CYRUS=$folder
}
