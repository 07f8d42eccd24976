# Shared by the scripts of this folder; sourced, never run.
# shellcheck shell=bash

# say tells what happens next; die tells what went wrong and ends.
say() { printf '%s\n' "$*" >&2; }
die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# need_go ends with advice unless the Go that go.mod asks for can be used.
need_go() {
	local want have
	want=$(sed -n 's/^go //p' go.mod)
	command -v go >/dev/null ||
		die "Go is not installed. Install Go $want or newer from https://go.dev/dl/ and put its bin folder on PATH."
	have=$(go env GOVERSION 2>/dev/null) || have=$(GOTOOLCHAIN=local go version | cut -d' ' -f3)
	have=${have#go}
	[[ $(printf '%s\n' "$want" "$have" | sort -V | head -n1) == "$want" ]] ||
		die "Go $have is too old. Install Go $want or newer from https://go.dev/dl/."
	# One way to compile for programs, checks and tests: static, and without the paths of this
	# machine. A second way would compile SQLite twice.
	export CGO_ENABLED=0 GOFLAGS=-trimpath
}

# choose_packages sets packages to those of PDPP_TEST_PACKAGES, or to all of this repository, and whole to the pattern
# of all. The governor is a module of its own: go finds its packages by their import paths, not by ./governor.
choose_packages() {
	local module
	module=$(go list -m)
	whole=$module/...
	read -ra packages <<<"${PDPP_TEST_PACKAGES:-$whole}"
	packages=("${packages[@]/#.\/governor/$module/governor}")
}

# root COMMAND... runs a command as root: directly, or by sudo, which may ask
# for a password only when somebody is there to type it.
root() {
	if ((EUID == 0)); then
		"$@"
	elif [[ -t 0 ]]; then
		sudo "$@"
	else
		sudo -n "$@"
	fi
}

# need_packages PURPOSE PACKAGE... installs Debian packages.
need_packages() {
	local purpose=$1 log
	shift
	local by_hand="Install them by hand and run again: apt-get install $*"
	command -v apt-get >/dev/null || die "$purpose needs the Debian packages $*, and there is no apt-get here. Install what they stand for and run again."
	((EUID == 0)) || command -v sudo >/dev/null ||
		die "$purpose needs the packages $*, and without root or sudo they cannot be installed. $by_hand (as root)"
	say "installing $* for $purpose (apt-get, as root)"
	log=$(mktemp)
	if ! { root apt-get update &&
		root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; } >"$log" 2>&1; then
		tail -n 20 "$log" >&2
		rm -f "$log"
		die "apt-get failed. $by_hand"
	fi
	rm -f "$log"
}

# keep_services_off keeps Debian from starting what is installed. It is called in a subshell of
# its own: the ban goes away with it, whatever ends it.
keep_services_off() {
	policy=/usr/sbin/policy-rc.d
	[[ ! -e $policy ]] || return 0
	trap 'root rm -f "$policy"' EXIT
	trap 'exit 130' INT TERM HUP
	{ printf '#!/bin/sh\nexit 101\n' | root tee "$policy" && root chmod 755 "$policy"; } >/dev/null 2>&1 || true
}

# need_race installs a C compiler, without which the race detector cannot be linked; raced
# runs a command that needs it.
need_race() {
	{ command -v "${CC:-gcc}" >/dev/null && [[ -e /usr/include/stdlib.h ]]; } || need_packages "the race detector" gcc libc6-dev
	export GORACE="atexit_sleep_ms=0${GORACE:+ $GORACE}" # else every child of a test costs a second
}

raced() { CGO_ENABLED=1 "$@"; }

# guarded COMMAND... runs a command in a process group of its own, so that
# stop_guarded can end all of it whatever signal the script gets.
guarded_pid=
guarded() {
	local status=0
	set -m
	"$@" &
	guarded_pid=$!
	set +m
	wait "$guarded_pid" || status=$?
	guarded_pid=
	return "$status"
}

stop_guarded() {
	[[ -n $guarded_pid ]] || return 0
	kill -TERM -- "-$guarded_pid" 2>/dev/null || true
	wait "$guarded_pid" 2>/dev/null || true
	# Who sums up what was ended needs a moment more.
	for _ in {1..100}; do
		kill -0 -- "-$guarded_pid" 2>/dev/null || break
		sleep 0.1
	done
	guarded_pid=
}
