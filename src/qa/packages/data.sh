# In the chroot: data.sh HEADING.  Executes the commands that doc/package.md has there (/srv/commands)
# under a running server, and looks whether its data, statistics and settings are as they were.
as='runuser -u postgres --'
psql="$as psql -XAt"
wrong() { echo "WRONG: $*"; }
look()
{
	$psql <<-'EOT'
		select count(*), sum(k), sum(v) from q;
		select relname, n_live_tup, n_dead_tup, n_tup_upd, idx_scan from pg_stat_user_tables order by 1;
		select gid from pg_prepared_xacts;
		select tup_inserted > 0 from pg_stat_database where datname = 'postgres';
	EOT
}

pg_ctlcluster 18 main start || wrong the server does not start
case $1 in
	Exchange*)
		$psql -q <<-'EOT'
			create table q (k int primary key, v int) partition by range (k);
			create table q1 partition of q for values from (0) to (5000);
			create table q2 partition of q for values from (5000) to (100000);
			insert into q select i, i from generate_series(0, 9999) i;
			update q set v = v + 1 where k < 4000;
			analyze q;
			begin;
			delete from q where k = 17;
			prepare transaction 'p';
			alter system set pgseries.fastpath_lock_slots = 1024;
			alter database postgres set pgseries.parallel_btree_load = force;
			select pg_stat_force_next_flush();
		EOT
		;;
	*)
		$psql -q <<-'EOT'
			create extension pgseries;
			create index on q (v, k);
			begin;
			update q set v = v + 1 where k = 18;
			prepare transaction 'p2';
			select pg_stat_force_next_flush();
		EOT
		;;
esac
look >before
/pgseries/src/bin/pgseries preflight /var/lib/postgresql/18/main || wrong preflight
version=$(dpkg-query -W -f '${Version}' postgresql-18)

cd /srv
sh -ex commands || wrong a command failed

# the chroot has no init system by which the packages would restart it
pg_ctlcluster 18 main restart || wrong the server does not start
look >after
cmp before after || wrong data or statistics differ: "$(diff before after)"
dpkg-query -W -f '${Package} ${Version}\n' 'postgresql*' >packages
[ "$(dpkg-query -W -f '${Version}' postgresql-18)" != "$version" ] || wrong the version is "$version"
case $1 in
	Exchange*)
		[ "$($psql -c 'show pgseries.fastpath_lock_slots')" = 1024 ] || wrong the setting
		$psql -c "commit prepared 'p'" || wrong the prepared transaction
		# a crash, and recovery
		pg_ctlcluster 18 main stop -m immediate
		pg_ctlcluster 18 main start
		[ "$($psql -c 'select count(*) from q')" = 9999 ] || wrong rows after a crash
		;;
	*)
		! grep -q pgseries packages || wrong packages are left: "$(grep pgseries packages)"
		$psql -c "commit prepared 'p2'" || wrong the prepared transaction
		$psql -c 'select count(*) from pg_stat_btree_indexes' || wrong the view
		;;
esac
$psql -q <<-'EOT' || wrong amcheck
	create extension if not exists amcheck;
	select bt_index_parent_check(c.oid, true, true) from pg_class c join pg_am a on a.oid = relam
	 where amname = 'btree' and relkind = 'i';
EOT
$as pg_dumpall >/dev/null || wrong pg_dumpall
pg_ctlcluster 18 main stop -m fast
