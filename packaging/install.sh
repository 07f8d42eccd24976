#!/bin/sh
# Installs PDPP from a folder with a release, or from the address of one:
#   sh install.sh [--from FOLDER|https://...] [--to BIN] [--key "ssh-ed25519 AAAA..."]
# The archive is checked against SHA256SUMS, and SHA256SUMS against the key, if one is given.
set -eu
from=$(dirname "$0") to='' key=''
while [ $# -gt 0 ]; do
	case $1 in
	--from | --to | --key)
		[ $# -ge 2 ] || { echo "install.sh: $1 needs a value" >&2; exit 2; }
		case $1 in --from) from=${2%/} ;; --to) to=$2 ;; --key) key=$2 ;; esac
		shift 2
		;;
	*)
		sed -n '2,4s/^# //p' "$0" >&2
		exit 2
		;;
	esac
done
die() {
	echo "install.sh: $*" >&2
	exit 1
}
case $(uname -s) in Linux) system=linux ;; Darwin) system=darwin ;; *) die "no release for $(uname -s)" ;; esac
case $(uname -m) in x86_64 | amd64) arch=amd64 ;; aarch64 | arm64) arch=arm64 ;; *) die "no release for $(uname -m)" ;; esac
if [ -z "$to" ]; then
	if [ "$(id -u)" = 0 ]; then to=/usr/local/bin; else to=$HOME/.local/bin; fi
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# get NAME copies a file of the release into the work folder.
get() {
	case $from in
	https://*) curl --proto '=https' -fsSL -o "$work/$1" "$from/$1" ;;
	*://*) die "only https:// addresses and folders are accepted" ;;
	*) cp "$from/$1" "$work/$1" ;;
	esac || die "$from has no $1"
}

get SHA256SUMS
if [ -n "$key" ]; then
	get SHA256SUMS.sig
	echo "release $key" >"$work/signers"
	ssh-keygen -Y verify -q -f "$work/signers" -I release -n pdpp-release -s "$work/SHA256SUMS.sig" \
		<"$work/SHA256SUMS" >/dev/null 2>&1 || die "the signature of SHA256SUMS is not by that key: nothing was installed"
else
	echo "install.sh: no --key, so the signature is not checked" >&2
fi
name=$(sed -n "s/^[0-9a-f]*  \(pdpp_[^_]*_${system}_$arch\.tar\.gz\)\$/\1/p" "$work/SHA256SUMS")
[ -n "$name" ] || die "the release has no archive for $system on $arch"
get "$name"
want=$(sed -n "s/^\([0-9a-f]*\)  $name\$/\1/p" "$work/SHA256SUMS")
if command -v sha256sum >/dev/null; then have=$(sha256sum "$work/$name"); else have=$(shasum -a 256 "$work/$name"); fi
[ "${have%% *}" = "$want" ] || die "$name is damaged: nothing was installed"
tar -xzf "$work/$name" -C "$work"
mkdir -p "$to"
for program in pdpp pdpp-connectors pdpp-local-collector; do
	# A running program keeps its old file; a killed installation leaves the old one in place.
	cp "$work/${name%.tar.gz}/$program" "$to/$program.new"
	chmod 755 "$to/$program.new"
	mv -f "$to/$program.new" "$to/$program"
done
"$to/pdpp" version
case :$PATH: in *":$to:"*) ;; *) echo "Add $to to your PATH." ;; esac
echo "Next: pdpp serve"
