# Python, a language in which others write connectors; sourced after common.sh.
# shellcheck shell=bash
#
#   need_python    installs it where connectors find their programs, unless it is there

need_python() {
	PATH=/usr/local/bin:/usr/bin:/bin command -v python3 >/dev/null || need_packages "the tests of connectors in other languages" python3
}
