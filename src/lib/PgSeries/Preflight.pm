package PgSeries::Preflight;

use strict;
use warnings FATAL => 'all';

use JSON::PP       ();
use PgSeries::Util qw(fail find_tool run_status slurp_json);

=pod

=head1 NAME

PgSeries::Preflight - what stands in the way of an exchange of the binaries

=head1 DESCRIPTION

Asks a running server, plain or patched, what would fail or be without effect after
the exchange, in either direction.  It needs a superuser, who reads only, and calls nothing
that the owner of a database could have defined.

=cut

# Functions that tell whether our settings take a value; what is set when the server starts
# has no place elsewhere.
my $BOOLEAN =
  qr/^(?:t|tr|tru|true|f|fa|fal|fals|false|y|ye|yes|n|no|on|of|off|1|0)\z/i;
my $AT_START = 'pgseries.fastpath_lock_slots';
my %SETTINGS = (
	'pgseries.enable_deferred_partition_locks' => sub { $_[0] =~ $BOOLEAN },
	'pgseries.enable_generic_plan_pruning' => sub { $_[0] =~ $BOOLEAN },
	$AT_START => \&is_slots,
	'pgseries.parallel_btree_load' =>
	  sub { $_[0] =~ /^(?:on|off|force|true|false|yes|no|1|0)\z/i });

# Numbers in unusual spellings are refused, too.
sub is_slots
{
	my ($value) = @_;
	my ($n) = $value =~ /^\s*(-1|[1-9]\d{1,4})\s*\z/ or return 0;
	return $n == -1 || $n >= 16 && $n <= 16384 && ($n & $n - 1) == 0;
}

# Settings of a server: name, value, where it is.  The last one in the files counts.
my $SERVER = <<'EOT';
select * from (
  select distinct on (lower(name)) lower(name), setting, sourcefile || ', line ' || sourceline::text
    from pg_file_settings order by lower(name), seqno desc) f (name, setting, place)
 where name like 'pgseries.%'
union all
select lower(name), setting, 'command line' from pg_settings
 where source = 'command line' and lower(name) like 'pgseries.%'
EOT

# Settings of roles, and of the current database and its functions, as "NAME=VALUE".
my $OTHER = <<'EOT';
select split_part(c, '=', 1), substr(c, strpos(c, '=') + 1), place from (
  select unnest(setconfig),
         case when setrole = 0 then 'all roles' else 'role ' || setrole::regrole::text end ||
         case when setdatabase = 0 then '' else ', database ' || datname::text end
    from pg_db_role_setting left join pg_database d on d.oid = setdatabase
   where setdatabase = 0 or datname = current_database()
  union all
  select unnest(proconfig), 'database ' || current_database()::text || ', function ' || oid::regprocedure::text
    from pg_proc) s (c, place)
EOT

# Libraries of extensions, as they are called below the directory of libraries.
my $LIBRARIES = <<'EOT';
select setting from pg_settings
 where name like '%\_preload\_libraries' or name in ('archive_library', 'oauth_validator_libraries')
union
select plugin::text from pg_replication_slots
union
select probin from pg_proc p join pg_language l on l.oid = p.prolang
 where lanname = 'c' and probin not in (select probin from pg_proc where probin is not null and oid::int8 < 16384)
EOT

sub check_arguments
{
	my ($c, $data) = @_;
	fail(2, 'psql is missing', 'install postgresql-client')
	  unless find_tool('psql');
	fail(
		2,
		"cannot look into $data"
		  . (-e $data ? '' : ': there is no such directory'),
		'name the directory that "show data_directory" tells, and run this as its owner or root'
	) unless -d $data && -x _;
	my $major = first_lines($data, 'PG_VERSION') // '';
	fail(
		2,
		"$data is not a data directory of a server",
		'name the directory that "show data_directory" tells'
	) if $major !~ /^\d+\z/ || (stat $data)[4] == 0;
	fail(
		2,
		"$data is one of version $major",
		'this is for 18; to come from an earlier one, use pg_upgrade'
	) if $major ne '18';
	return;
}

# The command pgseries preflight.
sub command
{
	my ($c, $data) = @_;
	my $server = server($data);
	my ($is_superuser) =
	  query($server, 'template1', q{select current_setting('is_superuser')});
	fail(2, 'the role is no superuser', 'name one in PGUSER')
	  if $is_superuser->[0] ne 'on';
	my ($about) = query($server, 'template1',
		q{select current_setting('data_directory'), current_setting('server_version_num')}
	);
	my ($directory, $version) = @$about;
	fail(
		2,
		"the server that psql reaches has its data in $directory, not in $data",
		'name the directory that "show data_directory" tells'
	) if "@{[ (stat $directory)[0, 1] ]}" ne "@{[ (stat $data)[0, 1] ]}";
	my $release = $c->series->upstream->version;
	my (@wrong, @remarks, %library);
	push @wrong,
	  "the server is $version: the patched one is $release, and must not be older"
	  if $version > sprintf '%d%04d', split /\./, $release;
	my @databases = map { $_->[0] } query($server, 'template1',
		'select datname from pg_database where datallowconn and datconnlimit <> -2 order by 1'
	);
	push @wrong,
	  map { "$_->[0]: $_->[1]" } query($server, 'template1',
		q{select sourcefile || ', line ' || sourceline::text, error from pg_file_settings where error is not null}
	  );
	my @settings =
	  map { [ @$_, 1 ] } query($server, 'template1', $SERVER);
	my %seen;

	for my $database (@databases)
	{
		for (query($server, $database, $OTHER))
		{
			my ($name, $value, $place) = (lc $_->[0], @$_[ 1, 2 ]);
			push @settings, [ $name, $value, $place, 0 ]
			  if $name =~ /^pgseries\./ && !$seen{"$name $place"}++;
			$library{$_}{ $place =~ s/, function.*//sr } = 1
			  for $name =~ /_preload_libraries$/ ? libraries($value) : ();
		}
		push @remarks,
		  "database $database has the extension pgseries: drop it before a dump for plain 18"
		  if query($server, $database,
			q{select 1 from pg_extension where extname = 'pgseries'});
		$library{$_}{"database $database"} = 1
		  for map { libraries($_->[0]) }
		  query($server, $database, $LIBRARIES);
	}
	for (@settings)
	{
		my ($name, $value, $place, $at_start) = @$_;
		my $is_good = $SETTINGS{$name};
		my $what = "$place: $name = $value";
		if (!defined $is_good)
		{
			push @remarks, "$what: there is no such setting";
		}
		elsif ($name eq $AT_START && !$at_start)
		{
			push @wrong, "$what: this can be set for the whole server only";
		}
		elsif (!$is_good->($value))
		{
			push @wrong,
			  "$what: "
			  . (
				$at_start
				? 'the patched server does not start with that'
				: 'not a value that the patched server takes');
		}
	}
	my %tried =
	  %{ slurp_json($c->config->top . '/src/qa/extensions.json')->{libraries}
	  };
	for my $library (sort keys %library)
	{
		my $where = join ', ', sort keys %{ $library{$library} };
		my $how = $tried{$library} // 'was not tried';
		push @remarks, "library $library ($where): $how"
		  if $how ne 'same';
	}
	$c->say(
		join "\n",
		(   map { s/([^[:print:]])/sprintf '\\x%02x', ord $1/ger } @wrong,
			@remarks),
		@wrong
		? 'correct the above before the exchange'
		: 'nothing is in the way of an exchange, in either direction');
	return @wrong ? 1 : 0;
}

# Names of libraries in a list, without their directories.
sub libraries
{
	my ($list) = @_;
	return grep { $_ ne '' }
	  map { s/^[\s"]+|[\s"]+$//gr =~ s{^.*/}{}sr =~ s/\.so$//r } split /,/,
	  $list // q{};
}

# Where the server listens, and who it belongs to.
sub server
{
	my ($data) = @_;
	my $text = first_lines($data, 'postmaster.pid')
	  // fail(2, "no server runs on $data", 'start it, then run this again');
	my (undef, undef, undef, $port, $socket, $address) = split /\n/, $text;
	return {
		port => $port,
		host => $socket || $address,
		user => owner($data)
	};
}

# The owner of a directory, if it is root who runs this, or undef.
sub owner
{
	my ($data) = @_;
	my ($uid, $gid) = (stat $data)[ 4, 5 ];
	return $> != 0 || $uid == 0
	  ? undef
	  : {
		name => scalar getpwuid($uid),
		uid => $uid,
		gid => $gid,
		home => '/'
	  };
}

# The text of a small file, read as its directory's owner, as it may be a link; or undef.
sub first_lines
{
	my ($data, $file) = @_;
	my $status = run_status(
		[ 'head', '-n8', "$data/$file" ],
		user => owner($data),
		out => \my $out,
		err => \my $err);
	chomp $out;
	return $status == 0 ? $out : undef;
}

# The rows of a query, arrays.  They come as JSON, which no value can break out of.
sub query
{
	my ($server, $database, $query) = @_;
	my $status = run_status(
		[
			qw(psql --no-password -XAt -c),
			"select coalesce(json_agg(to_json(array(select value from json_each_text(to_json(q))))), '[]') from ($query) q"
		],
		cwd => '/',
		user => $server->{user},
		env => {
			(   map  { $_ => undef }
				grep { /^PG(?!USER$|PASS|SERIES)/ } keys %ENV),
			PGCLIENTENCODING => 'UTF8',
			PGDATABASE => $database,
			PGHOST => $server->{host},
			PGOPTIONS => join(
				' ',
				map { "-c $_" }
				  qw(search_path=pg_catalog role=none
				  default_transaction_read_only=on default_transaction_deferrable=off
				  statement_timeout=0)),
			PGPORT => $server->{port}
		},
		out => \my $out,
		err => \my $err);
	fail(
		2,
		"psql cannot ask database $database",
		'see above; a superuser is needed, whom PGUSER and PGPASSFILE may name',
		$err) if $status;
	return @{ JSON::PP->new->utf8->decode($out) };
}

1;
