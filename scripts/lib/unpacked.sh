# Servers that Debian does not install beside each other; sourced after common.sh.
# shellcheck shell=bash
#
#   unpack_server NAME VARIABLE PROGRAM NEEDED PACKAGE...
#
# finds or unpacks a server and exports VARIABLE, the folder that holds it. Debian lets only one mail server be
# installed, so that the packages and the missing ones of them that match NEEDED are unpacked into a folder outside
# the repository, as they are. Nothing of the system is changed. A VARIABLE that is already set is used as it is: a
# folder with PROGRAM in it.

# unpacked_works reports whether a folder has the program, and all libraries of it.
unpacked_works() {
	local program=$1/$2 lib=$1/usr/lib triple
	triple=$(uname -m)-linux-gnu
	[[ -e $program ]] || return 1
	! LD_LIBRARY_PATH=$lib/$triple:$1/lib/$triple:$lib ldd "$program" 2>/dev/null | grep -q 'not found'
}

unpack_packages() (
	folder=$1 needed=$2
	shift 2
	rm -rf "$folder.new"
	mkdir -p "$folder.new"
	cd "$folder.new" || exit
	would=$(apt-get install -s --no-install-recommends "$@") || exit
	mapfile -t packages < <({ sed -nE "s/^Inst (($needed)[^ ]*) .*/\1/p" <<<"$would" && printf '%s\n' "$@"; } | sort -u)
	apt-get -o APT::Sandbox::User=root download "${packages[@]}" || exit
	for package in *.deb; do
		dpkg -x "$package" . || exit
	done
	rm -f ./*.deb
	cd .. && rm -rf "$folder" && mv "$folder.new" "$folder"
)

unpack_server() {
	local name=$1 variable=$2 program=$3 needed=$4 folder log
	shift 4
	[[ -z ${!variable:-} ]] || return 0
	folder=${XDG_CACHE_HOME:-$HOME/.cache}/pdpp/servers/$name
	((EUID != 0)) || folder=/var/cache/pdpp/$name # it changes its user, who may not go into root's home
	if ! unpacked_works "$folder" "$program"; then
		command -v apt-get >/dev/null || die "the tests against real servers need $name, and there is no apt-get here. Unpack it and set $variable to its folder."
		say "unpacking $name for the tests against real servers (apt-get)"
		log=$(mktemp)
		if ! { root apt-get update && unpack_packages "$folder" "$needed" "$@" && unpacked_works "$folder" "$program"; } >"$log" 2>&1; then
			tail -n 20 "$log" >&2
			rm -f "$log"
			die "$name could not be unpacked. Unpack its packages ($*) by hand and set $variable to their folder."
		fi
		rm -f "$log"
	fi
	export "$variable=$folder"
}
