# Node and the packages of the tests that sign in at a real provider; sourced after common.sh.
# shellcheck shell=bash
#
#   need_node_modules    installs them, exports PDPP_TEST_NODE_MODULES, the folder that holds them
#
# A PDPP_TEST_NODE_MODULES that is already set is used as it is.

need_node_modules() {
	[[ -z ${PDPP_TEST_NODE_MODULES:-} ]] || return 0
	local package=oidc-provider version=9.13.3 folder=$PWD/build/node
	command -v npm >/dev/null || need_packages "the tests that sign in at a real provider" nodejs npm
	if [[ $(sed -n 's/^ *"version": "\(.*\)".*/\1/p' "$folder/node_modules/$package/package.json" 2>/dev/null) != "$version" ]]; then
		say "installing $package $version for the tests that sign in at a real provider (npm)"
		mkdir -p "$folder"
		npm install --prefix "$folder" --no-audit --no-fund --no-save --loglevel=error "$package@$version" >&2 ||
			die "npm could not install $package $version. Install it by hand and set PDPP_TEST_NODE_MODULES to its node_modules folder."
	fi
	export PDPP_TEST_NODE_MODULES=$folder/node_modules
}
