package PgSeries::Preflight;

use strict;
use warnings FATAL => 'all';

use PgSeries::Util qw(fail find_tool read_file run_status slurp_json);

=pod

=head1 NAME

PgSeries::Preflight - what stands in the way of an exchange of the binaries

=head1 DESCRIPTION

Asks a running server, plain 18 or patched, what would fail or be without effect after
the exchange, in either direction.  It reads only.

=cut

my $BOOLEAN = 'on|off|true|false|yes|no|1|0';
my %SETTINGS = (
	'pgseries.enable_deferred_partition_locks' => $BOOLEAN,
	'pgseries.fastpath_lock_slots' => join('|', -1, map { 2**$_ } 4 .. 14),
	'pgseries.parallel_btree_load' => "$BOOLEAN|force");

# Settings with our prefix: name, value, where it is, and whether the server starts
# only if the value is good.
my $SET = <<'EOT';
select name, setting, format('%s, line %s', sourcefile, sourceline), true
  from pg_file_settings where name like 'pgseries.%' and current_database() = 'postgres'
union all
select split_part(c, '=', 1), substr(c, strpos(c, '=') + 1),
       coalesce('role ' || nullif(setrole, 0)::regrole, 'all roles'), false
  from pg_db_role_setting, unnest(setconfig) c
 where c like 'pgseries.%' and setdatabase = 0 and current_database() = 'postgres'
union all
select split_part(c, '=', 1), substr(c, strpos(c, '=') + 1),
       concat_ws(', ', 'role ' || nullif(setrole, 0)::regrole,
                 'database ' || current_database()), false
  from pg_db_role_setting join pg_database d on d.oid = setdatabase, unnest(setconfig) c
 where c like 'pgseries.%' and datname = current_database()
union all
select split_part(c, '=', 1), substr(c, strpos(c, '=') + 1),
       format('database %s, function %s', current_database(), p.oid::regprocedure), false
  from pg_proc p, unnest(proconfig) c where c like 'pgseries.%'
EOT

# Libraries of extensions, as they are called below the directory of libraries.
my $LIBRARIES = <<'EOT';
select distinct regexp_replace(l, '^.*/|\.so$', '', 'g')
  from (select unnest(string_to_array(translate(setting, ' "', ''), ','))
          from pg_settings where name like '%\_preload\_libraries' and current_database() = 'postgres'
        union all
        select probin from pg_proc p join pg_language on pg_language.oid = prolang
         where lanname = 'c' and p.oid >= 16384) x (l)
 where l <> ''
EOT

sub check_arguments
{
	my ($c, $data) = @_;
	fail(
		2,
		"$data is not a data directory of a server",
		'name the directory that "show data_directory" tells'
	) unless -f "$data/PG_VERSION";
	my $major = read_file("$data/PG_VERSION") =~ s/\s//gr;
	fail(
		2,
		"$data is one of version $major",
		'this is for 18; to come from an earlier one, use pg_upgrade'
	) if $major ne '18';
	fail(2, 'psql is missing', 'install postgresql-client')
	  unless find_tool('psql');
	fail(2, "no server runs on $data", 'start it, then run this again')
	  unless -f "$data/postmaster.pid";
	return;
}

# The command pgseries preflight.
sub command
{
	my ($c, $data) = @_;
	my $server = server($data);
	my @databases =
	  map { $_->[0] }
	  query($server, 'postgres',
		'select datname from pg_database where datallowconn order by 1');
	my (@wrong, @remarks, %library);
	for my $database (@databases)
	{
		for (query($server, $database, $SET))
		{
			my ($name, $value, $place, $at_start) = @$_;
			my $takes = $SETTINGS{$name};
			my $what = "$place: $name = $value";
			if (!defined $takes)
			{
				push @remarks, "$what: there is no such setting";
			}
			elsif ($value !~ /^(?:$takes)$/i)
			{
				push @wrong,
				  "$what: "
				  . (
					$at_start eq 't'
					? 'the patched server does not start with that'
					: 'not a value that the patched server takes');
			}
		}
		push @remarks, map {
			"database $database: has the extension pgseries; drop it before a dump for plain 18"
		} query($server, $database,
			q{select 1 from pg_extension where extname = 'pgseries'});
		$library{ $_->[0] }{$database} = 1
		  for query($server, $database, $LIBRARIES);
	}
	my %tried =
	  %{ slurp_json($c->config->top . '/src/qa/extensions.json')->{libraries}
	  };
	push @remarks,
	  map { "library $_ (" . list(%{ $library{$_} }) . '): not tried' }
	  grep { !$tried{$_} } sort keys %library;
	$c->say(join "\n", @wrong, @remarks,
		@wrong
		? 'correct the above before the exchange'
		: 'nothing is in the way of an exchange, in either direction');
	return @wrong ? 1 : 0;
}

sub list
{
	my (%set) = @_;
	return join ', ', sort keys %set;
}

# Where the server listens, and who it belongs to.
sub server
{
	my ($data) = @_;
	my (undef, undef, undef, $port, $socket, $address) = split /\n/,
	  read_file("$data/postmaster.pid");
	my ($uid, $gid) = (stat $data)[ 4, 5 ];
	return {
		port => $port,
		host => $socket || $address,
		user => $> == 0
		? {
			name => scalar getpwuid $uid,
			uid => $uid,
			gid => $gid,
			home => '/'
		  }
		: undef
	};
}

# The rows of a query, arrays.
sub query
{
	my ($server, $database, $query) = @_;
	my $status = run_status(
		[ 'psql', qw(-XAt -F), "\t", '-c', $query ],
		user => $server->{user},
		env => {
			PGHOST => $server->{host},
			PGPORT => $server->{port},
			PGDATABASE => $database
		},
		out => \my $out,
		err => \my $err);
	fail(
		2,
		"psql cannot ask database $database",
		'run this as somebody who may read all', $err) if $status;
	return map { [ split /\t/ ] } split /\n/, $out;
}

1;
