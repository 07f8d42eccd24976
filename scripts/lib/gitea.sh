# Gitea, a real code forge for tests; sourced after common.sh.
# shellcheck shell=bash
#
#   need_gitea    finds or builds it, exports PDPP_TEST_GITEA, its program
#
# A PDPP_TEST_GITEA that is already set is used as it is; its templates and options lie beside it. It is a
# program that no module can require, with its database in C: the module is fetched and built where it
# lies, in eight minutes of one processor, once.

gitea_version=1.24.6

build_gitea() {
	local folder=$1 source
	mkdir -p "$folder"
	(
		cd "$folder" &&
			rm -rf go.mod go.sum source &&
			go mod init servers &&
			source=$(GOFLAGS=-mod=mod go mod download -json "code.gitea.io/gitea@v$gitea_version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p') &&
			[[ -n $source ]] &&
			cp -r "$source" source &&
			chmod -R u+w source &&
			cd source &&
			GOFLAGS=-mod=mod CGO_ENABLED=1 go build -trimpath -tags sqlite,sqlite_unlock_notify \
				-ldflags="-s -w -X main.Version=$gitea_version" -o ../gitea.new . &&
			cp -r options templates public .. &&
			cd .. &&
			rm -rf source &&
			mv gitea.new gitea
	)
}

need_gitea() {
	local folder log
	[[ -z ${PDPP_TEST_GITEA:-} ]] || return 0
	folder=${XDG_CACHE_HOME:-$HOME/.cache}/pdpp/servers/gitea-$gitea_version
	if [[ ! -e $folder/gitea ]]; then
		say "building Gitea $gitea_version for tests against a real server (minutes, once)"
		log=$(mktemp)
		if ! build_gitea "$folder" >"$log" 2>&1; then
			tail -n 20 "$log" >&2
			rm -f "$log"
			die "Gitea could not be built. Build it by hand and set PDPP_TEST_GITEA to its program."
		fi
		rm -f "$log"
	fi
	export PDPP_TEST_GITEA=$folder/gitea
}
