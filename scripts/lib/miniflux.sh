# Miniflux, a real feed reader for tests; sourced after common.sh.
# shellcheck shell=bash
#
#   need_miniflux    finds or builds it, exports PDPP_TEST_MINIFLUX, its program
#
# It is built from a module of its own and kept outside the repository. A PDPP_TEST_MINIFLUX that is
# already set is used as it is.

need_miniflux() {
	[[ -z ${PDPP_TEST_MINIFLUX:-} ]] || return 0
	local version=2.3.0 folder log
	folder=${XDG_CACHE_HOME:-$HOME/.cache}/pdpp/servers/miniflux-$version
	if [[ ! -e $folder/miniflux ]]; then
		say "building Miniflux $version for the tests against a real feed reader (a minute, once)"
		mkdir -p "$folder"
		log=$(mktemp)
		if ! (
			cd "$folder"
			rm -f go.mod go.sum
			go mod init servers &&
				GOFLAGS= go get "miniflux.app/v2@v$version" &&
				CGO_ENABLED=0 GOFLAGS= go build -trimpath -ldflags='-s -w' -o miniflux.new miniflux.app/v2 &&
				mv miniflux.new miniflux
		) >"$log" 2>&1; then
			tail -n 20 "$log" >&2
			rm -f "$log"
			die "Miniflux $version could not be built. Build it by hand and set PDPP_TEST_MINIFLUX to its program."
		fi
		rm -f "$log"
	fi
	export PDPP_TEST_MINIFLUX=$folder/miniflux
}
