# @atproto/pds, the real server that accounts of Bluesky live on; sourced after common.sh.
# shellcheck shell=bash
#
#   need_pds    finds or installs it, exports PDPP_TEST_PDS, the folder that holds it
#
# It comes from npm with a Node of its own, because Debian's is too old for it, and is kept outside
# the repository. Its database is compiled without optimizing, which takes a third of the time and
# makes no difference to so few accounts. A PDPP_TEST_PDS that is already set is used as it is.

need_pds() {
	[[ -z ${PDPP_TEST_PDS:-} ]] || return 0
	local version=0.5.35 node=22.23.3 purpose="the tests against a real server of Bluesky" arch folder log
	case $(uname -m) in
	x86_64) arch=x64 ;;
	aarch64) arch=arm64 ;;
	*) die "$purpose need @atproto/pds, which is not installed on this machine by itself. Install it and set PDPP_TEST_PDS." ;;
	esac
	folder=${XDG_CACHE_HOME:-$HOME/.cache}/pdpp/servers/pds-$version-node-$node
	if [[ ! -e $folder/node ]]; then
		command -v npm >/dev/null || need_packages "$purpose" nodejs npm
		{ command -v g++ && command -v make && command -v python3; } >/dev/null || need_packages "$purpose" g++ make python3
		say "installing @atproto/pds $version for $purpose (npm, some minutes, once)"
		rm -rf "$folder"
		mkdir -p "$folder"
		log=$(mktemp)
		if ! {
			npm install --prefix "$folder" --no-audit --no-fund --no-save --ignore-scripts --loglevel=error \
				"@atproto/pds@$version" @did-plc/server@0.0.1 "node-linux-$arch@$node" &&
				PATH=$folder/node_modules/node-linux-$arch/bin:$PATH CFLAGS=-O0 CXXFLAGS=-O0 MAKEFLAGS=-j2 npm rebuild --prefix "$folder" --loglevel=error \
					--build-from-source --nodedir="$folder/node_modules/node-linux-$arch" better-sqlite3
		} >"$log" 2>&1; then
			tail -n 20 "$log" >&2
			rm -f "$log"
			die "npm could not install @atproto/pds $version. Install it by hand and set PDPP_TEST_PDS to the folder that holds node and node_modules."
		fi
		rm -f "$log"
		ln -s "node_modules/node-linux-$arch/bin/node" "$folder/node"
	fi
	export PDPP_TEST_PDS=$folder
}
