# In the chroot: pass.sh NAME TESTS.  Loads each library of an extension into the server, creates
# its extensions, and runs the smoke test; if TESTS is 1, then those of the sources, by autopkgtest
# or "make installcheck".  The results lie in /srv/pass/NAME.  Left out are conversions, and what
# crashes the server on purpose.
out=/srv/pass/$1
conf=/etc/postgresql/18/main/conf.d/library.conf
log=/var/log/postgresql/postgresql-18-main.log
as='runuser -u postgres --'
rm -rf "$out"
mkdir -p "$out"
cd "$out"

start()
{
	echo "shared_preload_libraries = '$1'" >$conf
	[ "$library" != pg_qualstats ] || echo "pg_qualstats.sample_rate = 1" >>$conf
	: >$log
	timeout 60 pg_ctlcluster 18 main restart -m immediate >/dev/null 2>&1
}

for library in $(cut -d' ' -f4 /srv/libraries | sort -u | grep -v -e _and_ -e '^pg_crash$'); do
	if start "$library" || start "pg_stat_statements,$library"; then
		$as createdb smoke
		{
			for control in /usr/share/postgresql/18/extension/*.control; do
				name=$(basename "$control" .control)
				if [ "$name" = "$library" ] ||
					grep -q "^module_pathname.*/$library'" "$control"; then
					echo "create extension if not exists \"$name\" cascade;"
				fi
			done
			cat /pgseries/src/qa/packages/smoke.sql
			cat "/pgseries/src/qa/packages/$library.sql" 2>/dev/null
		} | timeout 180 $as psql -XAt -d smoke >library."$library" 2>&1
		echo "psql: $?" >>library."$library"
		# some don't let go of a database
		timeout 10 $as dropdb -f smoke 2>/dev/null || { start '' && $as dropdb -f smoke; }
	else
		echo 'the server does not start' >library."$library"
	fi
	grep -o 'was terminated by signal.*' $log >>library."$library"
done
rm $conf
pg_ctlcluster 18 main stop -m fast

[ "$2" = 1 ] || exit 0
for source in /srv/sources/*/; do
	name=$(basename "$source")
	test=$out/test.$name
	libraries=$(sed -n "s/^$name .* //p" /srv/libraries | paste -sd,)
	mkdir -p "$test"
	if [ -f "$source/debian/tests/control" ]; then
		autopkgtest --no-built-binaries --timeout-test=900 --output-dir="$test" \
			"$source" -- null >/dev/null 2>&1
	else
		rm -rf /srv/work
		cp -a "$source" /srv/work
		timeout 900 pg_virtualenv -v 18 \
			-o "shared_preload_libraries=pg_stat_statements,$libraries" \
			make -C /srv/work installcheck USE_PGXS=1 >"$test/log" 2>&1
		cp /srv/work/regression.diffs "$test" 2>/dev/null
	fi
done
exit 0
