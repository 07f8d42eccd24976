# Servers for tests that are built from modules of their own, kept outside the repository; sourced
# after common.sh.
# shellcheck shell=bash
#
#   go_server NAME VERSION PACKAGE    builds PACKAGE unless it is there, prints its program

go_server() {
	local name=$1 version=$2 package=$3 folder log
	folder=${XDG_CACHE_HOME:-$HOME/.cache}/pdpp/servers/$name-$version
	if [[ ! -e $folder/$name ]]; then
		say "building $name $version for tests against a real server (minutes, once)"
		mkdir -p "$folder"
		log=$(mktemp)
		if ! (
			cd "$folder"
			rm -f go.mod go.sum
			go mod init servers &&
				GOFLAGS= go get "$package@v$version" &&
				CGO_ENABLED=0 GOFLAGS= go build -trimpath -ldflags='-s -w' -o "$name.new" "$package" &&
				mv "$name.new" "$name"
		) >"$log" 2>&1; then
			tail -n 20 "$log" >&2
			rm -f "$log"
			return 1
		fi
		rm -f "$log"
	fi
	echo "$folder/$name"
}
