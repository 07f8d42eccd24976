# A throw-away PostgreSQL for tests and benchmarks; sourced after common.sh.
# shellcheck shell=bash
#
#   start_postgres    starts one, exports PDPP_TEST_POSTGRES_URL
#   stop_postgres     stops and removes it; safe to call at any time
#
# A PDPP_TEST_POSTGRES_URL that is already set is used as it is: the database it
# names is written to freely.

postgres_dir=  # everything of the cluster: data, socket, log
postgres_bin=  # folder of initdb, pg_ctl, psql
postgres_as=() # how to become the user that runs it
postgres_settings=() # for those who start one: options of the server beyond its usual ones,
postgres_place=/tmp  # and the folder in which it keeps its own

find_postgres() {
	postgres_bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n1)
	[[ -x $postgres_bin/initdb && -x $postgres_bin/postgres ]]
}

# install_postgres keeps Debian from creating and starting its default cluster.
install_postgres() {
	local keep_off=/etc/postgresql-common/createcluster.d/pdpp-no-main-cluster.conf
	{ root mkdir -p "${keep_off%/*}" && echo 'create_main_cluster = false' | root tee "$keep_off"; } >/dev/null 2>&1 || true
	need_packages "the PostgreSQL tests" postgresql
	root rm -f "$keep_off"
}

start_postgres() {
	if [[ -n ${PDPP_TEST_POSTGRES_URL:-} ]]; then
		say "using the PostgreSQL of PDPP_TEST_POSTGRES_URL"
		return
	fi
	find_postgres || { install_postgres && find_postgres; } ||
		die "no PostgreSQL server under /usr/lib/postgresql. Install one (apt-get install postgresql) or set PDPP_TEST_POSTGRES_URL to a scratch database."

	postgres_dir=$(mktemp -d "$postgres_place/pdpp-postgres.XXXXXX") # short: a socket path has at most 107 bytes
	if ((EUID == 0)); then                                           # PostgreSQL refuses to run as root
		local user=nobody
		! id postgres >/dev/null 2>&1 || user=postgres
		chown "$user" "$postgres_dir"
		postgres_as=(runuser -u "$user" --)
	fi
	in_postgres initdb --pgdata=data --username=pdpp --auth=trust --encoding=UTF8 --locale=C.UTF-8 --no-sync >"$postgres_dir/initdb.log" 2>&1 ||
		die "initdb failed: $(tail -n 5 "$postgres_dir/initdb.log")"
	echo 'host all all 127.0.0.1/32 trust' | in_postgres tee data/pg_hba.conf >/dev/null

	local port attempt
	for attempt in 1 2 3 4 5; do
		port=$((20000 + RANDOM % 12000)) # below the ports the kernel hands out
		if (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then continue; fi
		if in_postgres pg_ctl start --pgdata=data --wait --timeout=60 --log=server.log \
			-o "-c listen_addresses=127.0.0.1 -c port=$port -c unix_socket_directories=$postgres_dir -c max_connections=500 ${postgres_settings[*]}" >/dev/null; then
			in_postgres createdb --host=127.0.0.1 --port="$port" --username=pdpp pdpp_test
			export PDPP_TEST_POSTGRES_URL="postgres://pdpp@127.0.0.1:$port/pdpp_test?sslmode=disable"
			say "started a throw-away PostgreSQL $(<"$postgres_dir/data/PG_VERSION") on 127.0.0.1:$port"
			return
		fi
	done
	die "PostgreSQL does not start ($attempt attempts): $(tail -n 5 "$postgres_dir/server.log")"
}

# in_postgres runs a program of the server, as its user, in its folder. HOME
# keeps it away from settings of the person who runs the tests.
in_postgres() {
	local program=$1
	shift
	[[ ! -x $postgres_bin/$program ]] || program=$postgres_bin/$program
	(cd "$postgres_dir" && HOME=$postgres_dir exec "${postgres_as[@]}" "$program" "$@")
}

stop_postgres() {
	[[ -n $postgres_dir ]] || return 0
	if [[ -e $postgres_dir/data/postmaster.pid ]]; then
		in_postgres pg_ctl stop --pgdata=data --mode=immediate --wait --timeout=30 >/dev/null ||
			say "PostgreSQL did not stop; its process is $(head -n1 "$postgres_dir/data/postmaster.pid")"
	fi
	rm -rf "$postgres_dir"
	postgres_dir=
}
