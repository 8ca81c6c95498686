#!/bin/bash
#
# Runs the tests of PostgreSQL's clients against a server, to compare two servers:
#
#	clients.sh install DIR [GIT...]           get the suites, from PyPI, npm and Debian
#	clients.sh run DIR INST OUT [SUITE...]    run them on the server installed in INST
#	clients.sh compare OUT1 OUT2              what differs
#
# DIR is one that the user "nobody" can read, who runs the server and the tests where root runs
# this.  Each suite has a cluster of its own, below /var/tmp.  OUT has a line SUITE TEST RESULT
# for each test, OUT.log what the suites said.  The packages of psycopg and node-postgres have no
# tests: GIT are clones of their repositories, with the tags named here; without them, these two
# suites are left out.  compare ends with 1 if a test differs.  The head of "run" names the tests
# that are left out.

set -u
export LC_ALL=C.UTF-8 PIP_DISABLE_PIP_VERSION_CHECK=1
umask 022
here=$(dirname "$(realpath "$0")")/clients

psycopg=3.3.4
psycopg2=2.9.13
asyncpg=0.32.0
sqlalchemy=2.1.9
django=5.2.19
node=8.23.0
suites='psycopg psycopg2 asyncpg sqlalchemy django node-postgres pgtap'

# message, remedy
die() { echo "clients.sh: $1; $2" >&2; exit 2; }
usage() { die 'wrong arguments' "run: sed -n '3,7p' $0"; }
note() { echo "clients.sh: $*" >&2; }

# --- install

# package, version: its source, into src
sdist()
{
	rm -rf download && "$pip" -q download --no-deps --no-binary "$1" -d download "$1==$2" &&
		mkdir -p "src/$1" && tar xzf download/* -C "src/$1" --strip-components=1 ||
		die "the source of $1 $2 cannot be obtained" 'check the network, and pip config list'
	echo "$2" >"src/$1.version"
}

# suite, tag, version, directory in the repository, git...
from_git()
{
	local suite=$1 tag=$2 version=$3 path=$4 git
	shift 4
	for git; do
		git -C "$git" rev-parse -q --verify "$tag:$path" >/dev/null 2>&1 || continue
		mkdir -p "src/$suite" && git -C "$git" archive "$tag" "$path" | tar x -C "src/$suite" ||
			die "cannot read $tag of $git" 'clone it again'
		echo "$version" >"src/$suite.version"
		return 0
	done
	note "$suite is left out: no GIT has the tag $tag"
	return 1
}

# The newest source of pgTAP that the archive has, with package lists of our own.
pgtap()
{
	local apt=$PWD/apt uri version
	uri=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
		sed -nE 's,^(URIs:|deb( \[.*\])?) *([a-z]+://[^ ]*/debian/?)( .*)?$,\3,p' | head -n 1)
	[ -n "$uri" ] || die 'no mirror of Debian is configured' 'add one to /etc/apt'
	mkdir -p "$apt"/{lists/partial,cache/archives/partial,state,parts,download}
	: >"$apt/status"
	printf '%s\n' 'Types: deb-src' "URIs: $uri" 'Suites: sid trixie' 'Components: main' \
		'Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg' >"$apt/parts/clients.sources"
	printf '%s;\n' "Dir::State \"$apt/state\"" "Dir::State::lists \"$apt/lists\"" \
		"Dir::State::status \"$apt/status\"" "Dir::Cache \"$apt/cache\"" \
		'Dir::Etc::SourceList "/dev/null"' "Dir::Etc::SourceParts \"$apt/parts\"" \
		"APT::Sandbox::User \"$(id -un)\"" >"$apt/conf"
	export APT_CONFIG=$apt/conf
	apt-get -qq update || die 'apt-get update failed' 'check the network and /etc/apt'
	for version in $(apt-cache showsrc pgtap | sed -n 's/^Version: //p' | sort -Vr); do
		(cd "$apt/download" && apt-get -qq source --tar-only --download-only "pgtap=$version") || continue
		mkdir -p src/pgtap && tar xzf "$apt"/download/*.tar.gz -C src/pgtap --strip-components=1 || break
		echo "${version%-*}" >src/pgtap.version
		return
	done
	die 'the source of pgTAP cannot be obtained' 'check the network and /etc/apt'
}

install()
{
	local tool
	for tool in /usr/bin/python3 npm git make apt-get; do
		command -v "$tool" >/dev/null ||
			die "$tool is missing" 'run: apt-get install python3-venv npm git make'
	done
	mkdir -p "$1" && cd "$1" || die "cannot make $1" 'name a directory that can be made'
	shift
	[ ! -e src ] || die "$PWD has suites" 'remove it, or name another directory'
	/usr/bin/python3 -m venv venv || die 'no venv' 'run: apt-get install python3-venv'
	pip=$PWD/venv/bin/pip
	"$pip" -q install "psycopg[binary,pool]==$psycopg" "psycopg2-binary==$psycopg2" \
		"asyncpg==$asyncpg" "sqlalchemy[asyncio]==$sqlalchemy" "django==$django" \
		pytest anyio distro jinja2 Pillow PyYAML tblib tzdata ||
		die 'pip failed' 'check the network, and pip config list'
	sdist psycopg2 $psycopg2
	sdist asyncpg $asyncpg
	sdist sqlalchemy $sqlalchemy
	sdist django $django
	# else they hide what is installed
	rm -rf src/asyncpg/asyncpg
	from_git psycopg $psycopg $psycopg tests "$@"
	if from_git node-postgres pg@$node $node packages/pg/test "$@"; then
		(cd src/node-postgres && echo '{}' >package.json && npm install --silent --no-audit \
			pg@$node async@2.6.4 bluebird@3.7.2 co@4.6.0 pg-copy-streams@0.3.0) >&2 &&
			mv src/node-postgres/{packages/pg,node_modules/pg}/test ||
			die 'npm failed' 'check the network, and npm config list'
	fi
	pgtap
	rm -rf download apt
}

# --- run

as_user()
{
	(cd "$work/$suite" && exec "${as[@]}" timeout -k 30 3600 "$@") &
	echo $! >"$work/pid"
	wait $!
	local status=$?
	rm "$work/pid"
	return $status
}

stop()
{
	[ ! -e "$work/data/postmaster.pid" ] ||
		"${as[@]}" "$inst/bin/pg_ctl" -D "$work/data" -m immediate -w stop >/dev/null 2>&1
}

# A new cluster, with an empty database "test".
start()
{
	stop
	rm -rf "$work/data"
	export PGPORT=$((20000 + RANDOM % 10000))
	{
		suite=. as_user "$inst/bin/initdb" -N -D "$work/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 &&
			printf '%s\n' "port = $PGPORT" "listen_addresses = '127.0.0.1'" \
				"unix_socket_directories = '$work'" 'fsync = off' 'wal_level = logical' \
				"extension_control_path = '\$system:$work/share'" 'max_prepared_transactions = 64' 'max_connections = 200' >>"$work/data/postgresql.conf" &&
			suite=. as_user "$inst/bin/pg_ctl" -D "$work/data" -l "$work/server.log" -w start &&
			createdb test
	} >>"$log" 2>&1 || die 'the server does not start' "see $log; if its port is taken, run it again"
}

# JUnit's XML of pytest: test, result
pytest()
{
	as_user "$dir/venv/bin/python" -m pytest -q --junitxml="$work/out.xml" "$@" >>"$log" 2>&1
	"$dir/venv/bin/python" "$here/lines.py" "$work/out.xml"
}

# left out: what needs a proxy, mypy, exact times or minutes, and the pool
run_psycopg()
{
	pytest tests --ignore=tests/pool -m 'not proxy and not mypy and not timing and not slow' \
		--test-dsn="host=127.0.0.1 port=$PGPORT user=postgres dbname=test"
}

run_psycopg2() { PSYCOPG2_TESTDB=test PSYCOPG2_TEST_REPL_DSN= pytest tests; }

# it makes clusters of its own; left out: flake8 and mypy
run_asyncpg()
{
	unset PGHOST PGPORT PGUSER
	PGINSTALLATION=$inst/bin pytest tests --ignore=tests/test__sourcecode.py
}

# the tests of the dialect, and those for all dialects, with each driver
run_sqlalchemy()
{
	local driver uri=()
	for driver in psycopg psycopg2 asyncpg; do
		uri+=(--dburi "postgresql+$driver://postgres@127.0.0.1:$PGPORT/test")
	done
	psql -qX -d test -c 'create schema test_schema' -c 'create schema test_schema_2' \
		-c 'create extension hstore' -c 'create extension citext' >>"$log" 2>&1
	pytest test/dialect/postgresql test/dialect/test_suite.py "${uri[@]}"
}

# of the whole suite, what is about SQL
run_django()
{
	cp "$here/settings.py" "$work/django/tests" && chmod 644 "$work/django/tests/settings.py"
	# its migrations want an extension that the builds do not have, and its tests do not use
	mkdir -p "$work/share/extension"
	echo "default_version = '1'" >"$work/share/extension/uuid-ossp.control"
	: >"$work/share/extension/uuid-ossp--1.sql"
	: >"$work/results" && chmod 666 "$work/results"
	TEST_RESULTS=$work/results suite=django/tests as_user "$dir/venv/bin/python" runtests.py \
		--settings=settings --parallel=1 --noinput aggregation aggregation_regress annotations \
		backends bulk_create composite_pk constraints custom_columns custom_lookups datatypes \
		datetimes db_functions db_typecasts db_utils delete distinct_on_fields expressions \
		expressions_case expressions_window filtered_relation foreign_object get_or_create indexes \
		inspectdb introspection lookup m2m_through many_to_many migrations model_fields \
		model_indexes ordering postgres_tests prefetch_related queries raw_query schema \
		select_for_update select_related timezones transaction_hooks transactions update \
		xor_lookups >>"$log" 2>&1
	cat "$work/results"
}

# each test of each file, and whether the file comes to its end
run_node-postgres()
{
	local file status
	chmod 600 "$work/$suite/node_modules/pg/test/unit/client/pgpass.file"
	for file in $(cd "$work/$suite/node_modules/pg" && find test/unit test/integration -name '*-tests.js' | sort); do
		suite=$suite/node_modules/pg PGDATABASE=test as_user timeout 60 node --no-deprecation "$file" >"$work/out" 2>>"$log"
		status=$?
		cat "$work/out" >>"$log"
		sed -nE "s,^  (.*) ✔\$,$file:\1\tpassed,p; s,^  (.*) \? - SKIPPED\$,$file:\1\tskipped,p
			s,^  (.*) FAILED!\$,$file:\1\tfailed,p" "$work/out"
		if [ $status = 0 ]; then printf '%s\tpassed\n' "$file"; else printf '%s\tfailed\n' "$file"; fi
	done
}

# what pgTAP's own "make test" runs; left out are three files with tests that fail by intention
run_pgtap()
{
	local file
	as_user make -s install PG_CONFIG="$inst/bin/pg_config" datadir="$work/share" docdir="$work/share" >>"$log" 2>&1
	psql -qX -d test -c 'create extension pgtap' >>"$log" 2>&1 ||
		die 'pgTAP cannot be installed' "see $log"
	for file in $(cd "$work/pgtap/test/sql" && ls | grep -vE '^run(just|no)?tests.sql$'); do
		as_user psql -qX -d test -f "test/sql/$file" >"$work/out" 2>&1
		cat "$work/out" >>"$log"
		sed -nE "s,^not ok ([0-9]+)( - )?(.*# TODO.*),$file:\1 \3\tskipped,p; t
			s,^ok ([0-9]+)( - )?(.*),$file:\1 \3\tpassed,p
			s,^not ok ([0-9]+)( - )?(.*),$file:\1 \3\tfailed,p
			s,^1\.\.([0-9]+)\$,$file plan \1\tpassed,p" "$work/out"
	done
}

run()
{
	local out
	dir=$(realpath -e "$1" 2>/dev/null) && [ -d "$dir/src" ] ||
		die "$1 has no suites" "run: $0 install $1"
	inst=$(realpath -e "$2" 2>/dev/null) && [ -x "$inst/bin/postgres" ] ||
		die "$2 has no server" 'name the directory that has bin/postgres'
	out=$(realpath -m "$3")
	log=$out.log
	shift 3
	: >"$log" || die "cannot write $log" 'name another file'
	work=$(mktemp -d /var/tmp/clients-XXXXXX) || die 'cannot write to /var/tmp' 'make room there'
	trap 'kill $(cat "$work/pid" 2>/dev/null) 2>/dev/null; stop; rm -rf "$work"' EXIT
	trap 'exit 130' INT TERM
	as=(env HOME="$work" TMPDIR="$work" PATH="$inst/bin:/usr/bin:/bin")
	PATH=$inst/bin:$PATH
	if [ "$(id -u)" = 0 ]; then
		as=(setpriv --reuid=nobody --regid=nogroup --clear-groups "${as[@]}")
		chown nobody:nogroup "$work"
		(cd / && "${as[@]}" test -r "$dir/venv/bin/python") ||
			die "nobody cannot read $dir" 'install into a directory below /var/tmp'
	fi
	export PGHOST=127.0.0.1 PGUSER=postgres
	for suite in ${*:-$suites}; do
		[ -d "$dir/src/$suite" ] || { [ $# = 0 ] && continue; die "no suite $suite" "see $dir/src"; }
		note "$suite"
		cp -a "$dir/src/$suite" "$work/$suite" || die "cannot copy $suite" 'make room in /var/tmp'
		[ "$(id -u)" != 0 ] || chown -R nobody:nogroup "$work/$suite"
		start
		echo "$suite - $(cat "$dir/src/$suite.version")"
		# one word a test, and each only once
		("run_$suite") | awk -F'\t' -v s="$suite" 'NF == 2 { gsub(/[^!-~]+/, "_", $1)
			print s, $1 (n[$1]++ ? "#" n[$1] : ""), $2 }'
		rm -rf "${work:?}/$suite"
	done >"$out.part"
	LC_ALL=C sort "$out.part" >"$out" && rm "$out.part"
	[ -s "$out" ] || die 'no test ran' "see $log"
}

# --- compare

compare()
{
	[ -r "$1" ] && [ -r "$2" ] || die "cannot read $1 or $2" "run: $0 run DIR INST $1"
	awk '
		$2 == "-" { version[$1] = version[$1] ? (version[$1] == $3 ? $3 : version[$1] "/" $3) : $3; next }
		FNR == NR { first[$1 " " $2] = $3; p1[$1] += $3 == "passed" }
		FNR != NR { second[$1 " " $2] = $3; p2[$1] += $3 == "passed" }
		{ all[$1 " " $2] = $1 }
		END {
			for (t in all)
			{
				n[all[t]]++
				a = t in first ? first[t] : "missing"
				b = t in second ? second[t] : "missing"
				if (a != b)
				{
					d[all[t]]++
					bad = 1
					print t, a, b | "sort"
				}
			}
			close("sort")
			for (s in n)
				printf "%-13s %-8s tests %5d  passed %5d and %5d  differ %d\n",
					s, version[s], n[s], p1[s], p2[s], d[s] | "sort"
			close("sort")
			exit bad
		}' "$1" "$2"
}

case ${1-} in
	install) [ $# -ge 2 ] || usage; shift; install "$@" ;;
	run) [ $# -ge 4 ] || usage; shift; run "$@" ;;
	compare) [ $# = 3 ] || usage; compare "$2" "$3" ;;
	*) usage ;;
esac
