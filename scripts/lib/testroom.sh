# Where tests keep their files and binaries; sourced after common.sh and postgres.sh.
# shellcheck shell=bash
#
#   in_memory       keeps the files of tests in memory, if there are some gigabytes; leave_memory removes them
#   keep_binaries   sets binaries to a folder in which test binaries stay from one run to the next

# in_memory exports TMPDIR. Tests create thousands of databases and would wait for the disk at each step; none of
# them cuts the power. Every user may enter, as into /tmp: some programs run as another user.
memory=
in_memory() {
	(($(df --output=avail -k /dev/shm 2>/dev/null | tail -n1 || echo 0) > 4000000)) || return 0
	memory=$(mktemp -d /dev/shm/pdpp.XXXXXX) # short: a socket path has at most 107 bytes
	chmod 1777 "$memory"
	printf '#!/bin/sh\n' >"$memory/runs"
	chmod 755 "$memory/runs"
	if ! "$memory/runs" 2>/dev/null; then # mounted without permission to execute
		leave_memory
		return 0
	fi
	postgres_place=$memory
	export TMPDIR=$memory GOTMPDIR=${GOTMPDIR:-/tmp}
}

leave_memory() {
	[[ -z $memory ]] || rm -rf "$memory"
	memory=
}

# keep_binaries locks the folder for this run. go links only binaries with changed sources, which saves a fifth of
# a run and takes five gigabytes. A second run at the same time, or a machine without room, does without.
binaries=
keep_binaries() {
	local folder
	folder=$(go env GOCACHE)/pdpp-tests
	mkdir -p "$folder"
	[[ -e $folder/raced ]] || (($(df --output=avail -k "$folder" | tail -n1) > 12000000)) || return 0
	exec 9>"$folder/lock"
	flock -n 9 || return 0
	binaries=$folder
	find "$binaries" -type f -mtime +7 ! -name lock -delete # binaries of packages that no longer exist
}
