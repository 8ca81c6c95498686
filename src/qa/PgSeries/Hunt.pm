package PgSeries::Hunt;

use strict;
use warnings FATAL => 'all';

use File::Path qw(remove_tree);
use IPC::Run   ();
use POSIX      ();
use List::Util qw(max min sample sum0);
use PgSeries::Hunt::Cases;
use PgSeries::Hunt::Steps;
use PgSeries::Server;
use PgSeries::Stats qw(median paired_ratio);
use PgSeries::Util
  qw(as_error fail find_tool in_parallel info make_dir progress read_file run write_file);

=pod

=head1 NAME

PgSeries::Hunt - look for what is worse than on base: pgseries hunt

=head1 DESCRIPTION

Random statements on base and patched, of four kinds:

  time   random tables, and statements as applications write them: the CPU time of the
         backend and its parallel workers
  rows   steps of several sessions, with snapshots held, cursors and DDL: the rows, also
         compared with those of sequential scans; and the errors
  locks  the same, drawn so that plans are reused and rebuilt: the locks that a statement
         holds at its end, and who waits
  ddl    the same, with more DDL: what fails, and how much work it has done before it waits

B<time>.  Base makes the data directory, and patched gets a copy of it, so data,
statistics and pages are the same.  Both run a block of executions in turn, up to five times;
what counts is the fastest block of each.  If patched needs more than 1.15 times as much, 25 pairs of
blocks in new sessions decide, and 25 more: the lower end of the 95% interval of their ratio
must be above 1.08 both times.  Such a finding is made smaller as long as it holds, with
tables made anew, and counted in instructions, which decide, if it has no parallel workers.  One that fails on patched only, or
takes longer than statement_timeout there, is a finding, too.  Statements that a patched
server runs twice as fast are listed; and those on a table with many indexes or partitions
that cost it no less than base, though more than the same on a plain table ("no gain").

B<rows, locks, ddl>: see PgSeries::Hunt::Steps.  What differs must differ in three runs.

A finding is written to BUILD/hunt/KIND-SEED-N, as a script for psql or isolationtester.

=cut

use constant LOOK => 1.15;
use constant PAIRS => 25;
use constant SURE => 1.08;
use constant CASES => 80;          # of one schema
use constant SPECS => 6;           # that run at the same time
use constant BLOCK_NS => 4e6;
use constant PARALLEL_BLOCK_NS => 1.5e8;
use constant SLOWEST_NS => 4e8;    # on base: else it is left out
use constant SLOWEST_BUILD_NS => 2e9;
use constant FEW_PAIRS => 7;   # of those that are slower than that on patched
use constant LEAST_NS => 3_000;  # smaller differences are no finding
use constant ROWS_NS => 2e7;     # what takes longer has its rows not compared
use constant GROWTH => 1.2;      # of indexes
use constant INSTRUCTIONS =>
  1.02;                          # less is no finding, whatever the time says
use constant REDUCE_SECONDS => 150;

my @KINDS = qw(time rows locks ddl);
my %SETTINGS = (
	fsync => 'off',
	autovacuum => 'off',
	max_wal_size => '512MB',
	log_min_messages => 'fatal',
	statement_timeout => '5s');
my %STEP_SETTINGS = (
	fsync => 'off',
	autovacuum => 'off',
	deadlock_timeout => '60ms',
	lock_timeout => '300ms',
	log_min_messages => 'panic',
	search_path => 'hunt');

# What is worse for a known reason: a pattern of the finding's text and its script, and the
# reason.
my @KNOWN = (
	[
		qr/waits after more work: REINDEX TABLE/,
		'a cached plan locks fewer indexes than planning does, and is used more often'
	],
	[ qr/\A[^\n]*deadlock detected: REINDEX TABLE/, 'the same' ]);

sub check_arguments
{
	my ($c) = @_;
	my $o = $c->{option};
	$o->{minutes} //= 120;
	fail(2, "--minutes=$o->{minutes} is not positive", 'say how long')
	  if $o->{minutes} <= 0;
	$o->{seed} //= time % 1_000_000;
	fail(
		2,
		"--seed=$o->{seed} is not a seed",
		'choose an integer from 0 to 2147483647'
	) if $o->{seed} < 0 || $o->{seed} > 0x7FFFFFFF;
	fail(2, "there is no kind \"$o->{kind}\"", "choose among: @KINDS")
	  if defined $o->{kind} && !grep { $_ eq $o->{kind} } @KINDS;
	fail(
		2,
		"there is no topic \"$o->{topic}\"",
		'choose among: ' . join ' ',
		$c->series->topics)
	  if defined $o->{topic}
	  && !grep { $_ eq $o->{topic} } $c->series->topics;
	fail(
		2,
		"$o->{patched} has no bin/postgres",
		'name the directory that the server is installed in'
	) if defined $o->{patched} && !-x "$o->{patched}/bin/postgres";
	$c->builds->describe($o->{build} //= 'patched');
	return;
}

sub command
{
	my ($c) = @_;
	my $o = $c->{option};
	my @kinds = defined $o->{kind} ? $o->{kind} : @KINDS;
	my $self = bless {
		dir => make_dir($c->config->build . '/hunt'),
		seed => $o->{seed},
		topic => $o->{topic},
		builds => [ builds($c) ],
		config => $c->config
	  },
	  'PgSeries::Hunt';
	my $left = 60 * $o->{minutes};
	my ($found, $text) = (0, '');
	for my $i (0 .. $#kinds)
	{
		my $start = time;
		$self->{kind} = $kinds[$i];
		$self->{until} = $start + $left / (@kinds - $i);
		$self->{findings} = [];
		my $said =
		  $kinds[$i] eq 'time' ? $self->hunt_time : $self->hunt_steps;
		my @new = grep { !$_->{known} } @{ $self->{findings} };
		$found += @new;
		$text .=
			"$kinds[$i]: $said, seed $o->{seed}, "
		  . @new
		  . " findings\n"
		  . join '', map { "$_->{text}\n" } @{ $self->{findings} };
		$text .= $self->{more} // '';
		delete $self->{more};
		$left -= time - $start;
	}
	$c->say($text);
	return $found ? 1 : 0;
}

# The builds that are compared; the second is another server if --patched names one.
sub builds
{
	my ($c) = @_;
	my $o = $c->{option};
	my $base = $c->builds->ensure('base');
	return ($base, $c->builds->ensure($o->{build}))
	  if !defined $o->{patched};
	my $dir = $c->config->work . '/b/hunted';
	make_dir($dir);
	return (
		$base,
		{
			name => 'hunted',
			dir => $dir,
			inst => $o->{patched},
			bin => "$o->{patched}/bin",
			log => make_dir("$dir/log", $c->config->caller),
			stamp => "$dir/stamp"
		});
}

sub servers
{
	my ($self, $settings) = @_;
	my @servers = map {
		PgSeries::Server->new(
			$self->{config}, $_,
			name => 'hunt',
			settings => $settings)
	} @{ $self->{builds} };
	return $self->{servers} = \@servers;
}

sub over { my ($self) = @_; return time >= $self->{until}; }

# A finding: prints it, and writes its script.
sub found
{
	my ($self, $text, $script, $suffix) = @_;
	my ($known) = map { $_->[1] } grep { "$text\n$script" =~ $_->[0] } @KNOWN;
	my $n = 1 + @{ $self->{findings} };
	my $file = "$self->{dir}/$self->{kind}-$self->{seed}-$n.$suffix";
	write_file($file, $script);
	$text .= " (known: $known)" if defined $known;
	$text .= "\n  $file";
	info($text);
	push @{ $self->{findings} }, { text => $text, known => defined $known };
	return;
}

# rows, locks, ddl.

sub hunt_steps
{
	my ($self) = @_;
	my $servers = $self->servers(\%STEP_SETTINGS);
	for my $server (@$servers)
	{
		$server->create;
		$server->start;
		$server->sql("CREATE DATABASE hunt$_") for 0 .. SPECS - 1;
	}
	my ($seed, $done) = ($self->{seed}, 0);
	$self->{doubts} = [];
	my (%seen, %base);
	while (!$self->over)
	{
		progress("$self->{kind}: $done specifications");
		my @specs =
		  map { PgSeries::Hunt::Steps::generate($self->{kind}, $seed + $_) }
		  0 .. SPECS - 1;
		my @found = $self->step_findings(@specs);
		for my $n (0 .. $#specs)
		{
			for my $f (@{ $found[$n] })
			{
				my $key = signature($specs[$n], $f);
				if    ($f->{base}) { $base{$key}++; }
				elsif (!$seen{$key})
				{
					$seen{$key} =
						 $self->step_finding($specs[$n], $f, $seed + $n)
					  || $self->doubt("$key (seed @{[ $seed + $n ]})");
				}
			}
		}
		$seed += @specs;
		$done += @specs;
	}
	$_->stop for @$servers;
	$self->{more} = join '', $self->doubts,
	  map { "on base: $base{$_} times $_\n" } sort keys %base;
	return "$done specifications";
}

# Returns for each specification a reference to the list of its findings.
sub step_findings
{
	my ($self, @specs) = @_;
	my @results = PgSeries::Hunt::Steps::both($self->{servers}, @specs);
	return map {
		[ PgSeries::Hunt::Steps::findings($specs[$_], @{ $results[$_] }) ]
	} 0 .. $#specs;
}

# Makes a finding smaller and reports it, if it comes again twice.
sub step_finding
{
	my ($self, $spec, $f, $seed) = @_;
	my $key = signature($spec, $f);
	my $same = sub {
		my ($s) = @_;
		my ($found) = $self->step_findings($s);
		return grep { signature($s, $_) eq $key } @$found;
	};
	return 0 if grep { !$same->($spec) } 1, 2;
	my $small = reduced($spec, \&PgSeries::Hunt::Steps::smaller, $same);
	my ($now) = $same->($small);
	$small = $spec, $now = $f if !$now;
	$self->found(
		"$f->{kind}: $now->{what}: $small->{steps}[ $now->{step} ]{sql} (seed $seed)",
		PgSeries::Hunt::Steps::text($small), 'spec');
	return 1;
}

# What kind of thing a finding is: without names and numbers.
sub signature
{
	my ($spec, $f) = @_;
	my $sql = $spec->{steps}[ $f->{step} ]{sql};
	$sql = '' if $spec->{steps}[ $f->{step} ]{kind} =~ /oracle|waiting|locks/;
	my ($verb) = $sql =~ /^(\w+(?: \w+)?)/;
	my $what = $f->{what} =~ s/\b\w+\|(\w+\|\w)/$1/gr =~
	  s/work: (\w+ \w+).*/work: $1/r =~ s/"[^"]*"/"..."/gr =~ s/\d+/N/gr;
	return join ': ', $f->{kind}, $what, $verb // ();
}

# The smallest of what is made of a thing by $smaller for which $holds is true, or that
# which is there when time is over.
sub reduced
{
	my ($thing, $smaller, $holds, $seconds) = @_;
	my $until = time + ($seconds // 60);
	my $again = 1;
	while ($again)
	{
		$again = 0;
		for my $less ($smaller->($thing))
		{
			return $thing if time > $until;
			next if !$holds->($less);
			$thing = $less;
			$again = 1;
			last;
		}
	}
	return $thing;
}

# time.

# The CPU time of this backend, exactly, and that of processes that have ended, as workers
# have, in ticks of the kernel's clock.
my $TICK = int(1e9 / POSIX::sysconf(POSIX::_SC_CLK_TCK()));
my $CPU = <<"END";
CREATE FUNCTION cpu() RETURNS numeric LANGUAGE plpgsql AS \$\$
DECLARE p text := split_part(pg_read_file('postmaster.pid'), E'\\n', 1);
	t text[] := string_to_array(regexp_replace(pg_read_file('/proc/' || p || '/stat'), '^.*\\) ', ''), ' ');
BEGIN
	RETURN split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::numeric + (t[14]::numeric + t[15]::numeric) * $TICK;
END \$\$;
END

sub hunt_time
{
	my ($self) = @_;
	my $servers = $self->servers(\%SETTINGS);
	$_->create for @$servers;
	my $seed = $self->{seed};
	my %count =
	  map { $_ => 0 } qw(statements left_out second_look unsure schemas);
	my (@better, %no_gain, %ratios, @serial);
	$self->{doubts} = [];
	while (!$self->over)
	{
		my $cases = PgSeries::Hunt::Cases->new($seed, $self->{topic});
		if (!attempt(sub { $self->set_up($cases); return 1; }))
		{
			$seed++;
			next;
		}
		$count{schemas}++;
		my @found;
		for my $n (1 .. CASES)
		{
			last if $self->over;
			my $case = $cases->next_case;
			progress("time: seed $seed, $count{statements} statements, "
				  . (@{ $self->{findings} } + @found)
				  . ' findings');
			my $r = $self->look($case);
			if (!$r)
			{
				$count{left_out}++;
				$self->failure($case, $seed, $n);
				next;
			}
			$count{statements}++;
			push @{
				$ratios{
					"$case->{kind}" . ($case->{prepared} ? ', prepared' : '')
				}
			  },
			  $r->{mean};
			push @serial, in_line($case) if $r->{serial};
			$self->growth($case, $r, $seed, $n) if $case->{own};
			push @better, [ $r->{ratio}, in_line($case) ]
			  if $r->{ratio} < 0.5;
			$self->no_gain($case, $r, \%no_gain) if $r->{ratio} > 0.95;
			next
			  if $r->{ratio} < LOOK || $r->{patched} - $r->{base} < LEAST_NS;
			$count{second_look}++;
			$case = PgSeries::Hunt::Cases::with_value($case, $r->{value})
			  if defined $r->{value};
			my $sure = $self->second_look($case) && $self->second_look($case);

			if (!$sure)
			{
				$self->failure($case, $seed, $n);
				$count{unsure}++;
				next;
			}
			push @found, { case => $case, %$sure, n => $n };
		}
		$self->time_finding($seed, $_) for @found;
		$_->stop for @$servers;
		$seed++;
	}
	fail(2, 'no table could be made', 'see the messages above')
	  if !$count{schemas};
	$self->{more} = join '', $self->doubts,
	  map { "parallel on base only: $_\n" } @serial;
	$self->{more} .= sprintf "median ratio of %s: %.3f (%d statements)\n", $_,
	  median(@{ $ratios{$_} }), scalar @{ $ratios{$_} }
	  for sort keys %ratios;
	@better = sort { $a->[0] <=> $b->[0] } @better;
	$self->{more} .=
	  @better . " statements in half the time or less; the best:\n" . join '',
	  map { sprintf "  %.3f  %s\n", @$_ } grep { $_ } @better[ 0 .. 9 ]
	  if @better;
	$self->{more} .= sprintf
	  "no gain: %s: %d statements; %.2f of base, %.1f times the plain table: %s\n",
	  $_, @{ $no_gain{$_} }
	  for sort keys %no_gain;
	return
	  "$count{statements} statements on $count{schemas} schemas, $count{left_out} left out, $count{second_look} looked at again, $count{unsure} of them in vain";
}

# Notes what was seen, but not for sure.  Returns 0.
sub doubt
{
	my ($self, $what) = @_;
	push @{ $self->{doubts} }, $what;
	return 0;
}

sub doubts
{
	my ($self) = @_;
	return map { "did not come again: $_\n" } @{ $self->{doubts} };
}

# Reports indexes that have grown more than on base.
sub growth
{
	my ($self, $case, $r, $seed, $n) = @_;
	my ($x, $y) = @{ $r->{size} };
	return if $y < GROWTH * $x || $y - $x < 200_000;
	my $text =
		"time: indexes grow from $x to $y bytes: "
	  . in_line($case)
	  . " (seed $seed, case $n)";
	return $self->found($text, script($case, $text), 'sql');
}

# Makes the tables on base, and copies the data directory.
sub set_up
{
	my ($self, $cases) = @_;
	my ($base, $patched) = @{ $self->{servers} };
	$_->stop for $base, $patched;
	$base->start;
	$base->sql('DROP DATABASE IF EXISTS hunt');
	$base->sql('CREATE DATABASE hunt');
	$base->sql(
		"SET statement_timeout = '5min';\n$CPU"
		  . PgSeries::Hunt::Cases::functions()
		  . join('',
			map { PgSeries::Hunt::Cases::create_table($_) } $cases->tables)
		  . "VACUUM ANALYZE;\nCHECKPOINT;\n",
		database => 'hunt');
	$base->stop;
	remove_tree($patched->data);
	run([ 'cp', '-a', $base->data, $patched->data ], what => 'cp');
	$_->start for $base, $patched;
	$self->{plain} = {};
	return;
}

# Sessions of a case, one for each server, prepared and warm; undef if it fails, or is slow
# on base.  What fails on patched only is noted.
sub sessions
{
	my ($self, $case, $database) = @_;
	my $warm = $case->{prepared} ? 8 : 1;
	my (@sessions, @ns);
	delete $self->{fails};
	for my $i (0, 1)
	{
		$sessions[$i] = PgSeries::Hunt::Session->new($self->{servers}[$i],
			$database // 'hunt', $case);
		for my $n ($warm, 1)
		{
			$ns[$i] = $sessions[$i]->block($n);
			next if defined $ns[$i];
			$self->{fails} = $sessions[$i]{error} if $i;
			return;
		}

		# One execution of a short one is mostly the two calls of cpu().
		$ns[$i] = $sessions[$i]->block(40) // $ns[$i] if $ns[$i] < 1e6;
		return
		  if !$i
		  && $ns[$i] >
		  ($case->{kind} eq 'build' ? SLOWEST_BUILD_NS : SLOWEST_NS);
	}
	my ($x, $y) = map { $_->plan } @sessions;
	my $parallel = "$x$y" =~ /Workers Planned/ || $case->{kind} eq 'build';
	for (grep { !$parallel } @sessions)
	{
		$_->pin;
	}
	my $block = $parallel ? PARALLEL_BLOCK_NS : BLOCK_NS;
	my $repeat =
	  $case->{own}
	  ? 1
	  : int(max(1, min(200, $block / max(@ns, 1000))));
	return {
		list => \@sessions,
		repeat => $repeat,
		pairs => $ns[1] > SLOWEST_NS ? FEW_PAIRS : PAIRS,
		plans => [ $x, $y ],
		parallel => $parallel
	};
}

sub look
{
	my ($self, $case) = @_;
	my $s = $self->sessions($case) or return;
	my $values = @{ $s->{list}[0]{execute} };

	# The values differ in their time: blocks of all of them, or of one.
	my $each = $s->{repeat} < $values && $values > 1;
	my $repeat =
	  $each ? $s->{repeat} : $s->{repeat} - $s->{repeat} % $values;
	my (@best, $worst);
	for my $round (1 .. 5)
	{
		for my $v (0 .. ($each ? $values - 1 : 0))
		{
			for my $i (0, 1)
			{
				my $ns = $s->{list}[$i]->block($repeat, $each ? $v : undef);
				return $self->failed($s, $i) if !defined $ns;
				$best[$v][$i] = $ns
				  if !defined $best[$v][$i] || $ns < $best[$v][$i];
			}
		}
		return if grep { $_->[0] <= 0 || $_->[1] <= 0 } @best;
		($worst) =
		  sort { $best[$b][1] / $best[$b][0] <=> $best[$a][1] / $best[$a][0] }
		  0 .. $#best;
		last
		  if ($round > 1 || $each)
		  && $best[$worst][1] < 1.08 * $best[$worst][0];
	}
	if (!$case->{change} && !$case->{own} && $best[$worst][0] < ROWS_NS)
	{
		for my $v (sample 2, 0 .. $values - 1)
		{
			my ($x, $y) = map { $_->rows($v) } @{ $s->{list} };
			next if $x eq $y;
			$self->{fails} = 'other rows';
			return;
		}
	}
	my ($base, $patched) = map {
		my $i = $_;
		sum0(map { $_->[$i] } @best)
	} 0, 1;
	return {
		base => $best[$worst][0],
		patched => $best[$worst][1],
		ratio => $best[$worst][1] / $best[$worst][0],
		mean => $patched / $base,
		value => $each ? $worst : undef,
		serial => $s->{plans}[0] =~ /Workers Planned/
		  && $s->{plans}[1] !~ /Workers Planned/,
		size => $case->{own}
		  && [
		  map { $_->ask(q(SELECT pg_indexes_size('churned');)) =~ /(\d+)/ }
		  @{ $s->{list} }
		  ]
	};
}

# Notes why a block failed, if it is that of patched.
sub failed
{
	my ($self, $s, $i) = @_;
	$self->{fails} = $s->{list}[$i]{error} if $i;
	return;
}

# Pairs in new sessions.  Returns { ratio, lo, hi, base, patched, plans, parallel } if
# patched is worse for sure.
sub second_look
{
	my ($self, $case, $database) = @_;
	my $s = $self->sessions($case, $database) or return;
	my @pairs;
	for my $n (1 .. $s->{pairs})
	{
		my @ns;
		for my $i ($n % 2 ? (0, 1) : (1, 0))
		{
			$ns[$i] = $s->{list}[$i]->block($s->{repeat});
			return $self->failed($s, $i) if !defined $ns[$i];
			return if $ns[$i] <= 0;
		}
		push @pairs, \@ns;
	}
	my $r = paired_ratio(@pairs);
	my ($base, $patched) = map {
		my $i = $_;
		median(map { $_->[$i] } @pairs)
	} 0, 1;
	return if $r->{lo} < SURE || $patched - $base < LEAST_NS;
	return {
		%$r,
		base => $base,
		patched => $patched,
		plans => $s->{plans},
		parallel => $s->{parallel}
	};
}

# Reports what fails on patched only, if it does so again; a server that has crashed needs a
# moment until it is there again.
sub failure
{
	my ($self, $case, $seed, $n) = @_;
	return if !defined $self->{fails};
	sleep 3;
	$self->look($case);
	return if !defined $self->{fails};
	my $text =
		"time: fails: $self->{fails}: "
	  . in_line($case)
	  . " (seed $seed, case $n)";
	return $self->found($text, script($case, $text), 'sql');
}

# A statement on a table with many indexes or partitions that costs no less than on base,
# and more than on a plain table.
sub no_gain
{
	my ($self, $case, $r, $no_gain) = @_;
	my ($t, @others) = @{ $case->{tables} };
	return
		 if @others
	  || $case->{own}
	  || $case->{kind} =~ /count|build/
	  || $r->{base} > 3e6;
	my $what =
		@{ $t->{indexes} } >= 20             ? 'many indexes'
	  : $t->{parts} * ($t->{sub} || 1) >= 32 ? 'many partitions'
	  :                                        return;
	my ($column) = ($case->{where}[0] // '') =~ /a\.(\w+)/;
	$column //= 'id';
	my ($index) = grep { $_->[1] =~ /^\($column\b/ } @{ $t->{indexes} };
	my $twin = {
		%$t,
		by => '',
		parts => 0,
		sub => 0,
		key => '',
		name => "$t->{name}_$column",
		indexes => [ $index ? [ "$t->{name}_${column}_x", $index->[1] ] : () ]
	};
	my $plain = {
		%$case,
		tables => [$twin],
		head => $case->{head} =~ s/\b$t->{name}\b/$twin->{name}/gr
	};
	$self->{plain}{ $twin->{name} } //= attempt(
		sub {
			$self->again_on_both('hunt',
					"SET statement_timeout = '5min';\n"
				  . PgSeries::Hunt::Cases::create_table($twin)
				  . "VACUUM ANALYZE $twin->{name};\n");
			return 1;
		}) // 0;
	return if !$self->{plain}{ $twin->{name} };
	my $p = $self->look($plain) or return;
	my $times = $r->{patched} / $p->{patched};
	return if $times < 1.4 || $r->{patched} - $p->{patched} < LEAST_NS;
	my $key =
	  "$case->{kind} on $what" . ($case->{prepared} ? ', prepared' : '');
	my $seen = $no_gain->{$key} ||= [ 0, 0, 0, '' ];
	$seen->[0]++;
	@{$seen}[ 1 .. 3 ] = ($r->{ratio}, $times, in_line($case))
	  if $times > $seen->[2];
	return;
}

sub again_on_both
{
	my ($self, $database, $sql) = @_;
	in_parallel(
		map {
			my $server = $_;
			sub { $server->sql($sql, database => $database); }
		} @{ $self->{servers} });
	return;
}

# The tables of a case in a database of their own, on both servers.
sub make_anew
{
	my ($self, $case) = @_;
	$self->again_on_both('postgres',
		"DROP DATABASE IF EXISTS small;\nCREATE DATABASE small;\n");
	$self->again_on_both('small', tables_sql($case));
	return;
}

sub tables_sql
{
	my ($case) = @_;
	return
		"SET statement_timeout = '5min';\n$CPU"
	  . PgSeries::Hunt::Cases::functions()
	  . join('',
		map { PgSeries::Hunt::Cases::create_table($_) } @{ $case->{tables} })
	  . "VACUUM ANALYZE;\n";
}

# Makes a finding smaller, and reports it, if it comes again with tables made anew, and costs
# more instructions.
sub time_finding
{
	my ($self, $seed, $f) = @_;
	my $fresh = sub {
		my ($case) = @_;
		return attempt(
			sub {
				$self->make_anew($case);
				return $self->second_look($case, 'small');
			});
	};
	my $case = $f->{case};
	my $doubt = sub {
		return $self->doubt(
			$_[0] . in_line($f->{case}) . " (seed $seed, case $f->{n})");
	};
	my $r = $fresh->($case) or return $doubt->('with tables made anew: ');
	$case = reduced(
		$case,
		\&PgSeries::Hunt::Cases::smaller,
		sub {
			my $less = $fresh->($_[0]) or return 0;
			return 0 if $less->{ratio} < 1 + ($f->{ratio} - 1) / 2;
			$r = $less;
			return 1;
		},
		$self->over ? REDUCE_SECONDS / 5 : REDUCE_SECONDS);
	$self->make_anew($case);
	my $text =
	  sprintf 'time: %.2f [%.2f, %.2f] of the CPU time, %.0f -> %.0f us',
	  @{$r}{qw(ratio lo hi)}, map { $_ / 1000 } @{$r}{qw(base patched)};
	if (my $count = $r->{parallel} ? undef : $self->instructions($case, $r))
	{
		my $ratio = $count->[1] / $count->[0];
		return $doubt->(sprintf 'in instructions (%.3f): ', $ratio)
		  if $ratio < INSTRUCTIONS;
		$text .= sprintf ', %.3f of the instructions (%.0f -> %.0f)',
		  $ratio, @$count;
	}
	$text .= ": " . in_line($case) . " (seed $seed, case $f->{n})";
	return $self->found(
		$text,
		script(
			$case, $text,
			"plan of base:\n$r->{plans}[0]",
			"plan of patched:\n$r->{plans}[1]"),
		'sql');
}

# A script for psql: remarks, the tables of a case, and its statements.
sub script
{
	my ($case, @remarks) = @_;
	my ($prepare, $execute) = PgSeries::Hunt::Cases::commands($case);
	return join '', (map { "-- $_\n" } map { split /\n/ } @remarks),
	  tables_sql($case), settings_sql($case),
	  (map { "$_;\n" } @$prepare),
	  "\\timing on\n",
	  map { "$_;\n" } @$execute;
}

sub settings_sql
{
	my ($case) = @_;
	my %set = %{ $case->{set} };
	return map { "SET $_ = '$set{$_}';\n" } sort keys %set;
}

# What the code returns; nothing if a statement in it fails.
sub attempt
{
	my ($code) = @_;
	my $result;
	return $result if eval { $result = $code->(); 1 };
	my $error = as_error($@);
	die $error if $error->{code} != 1;
	info("hunt: $error->{message}");
	return;
}

# Instructions of one execution in a stand-alone backend, [base, patched]; undef if they cannot
# be counted.
sub instructions
{
	my ($self, $case, $r) = @_;
	return if !find_tool('valgrind') || $r->{patched} > 1e8;

	# A prepared statement has the plan that it keeps after five or six executions.
	my ($few, $many) =
		$r->{patched} < 5e6 && !$case->{own} ? (10, 30)
	  : $case->{prepared}                    ? (8, 10)
	  :                                        (1, 2);
	my ($prepare, $execute) = PgSeries::Hunt::Cases::commands($case);
	my $per = attempt(
		sub {
			my @per;
			for my $server (@{ $self->{servers} })
			{
				my @totals = map {
					my $n = $_;
					my @run =
					  map { $execute->[ $_ % @$execute ] } 1 .. $n;
					@run = map { ('BEGIN', $_, 'ROLLBACK') } @run
					  if $case->{change};
					$self->callgrind(
						$server,
						join '',
						settings_sql($case),
						map { s/\s+/ /gr . ";\n" }
						  'SET statement_timeout = 0',
						@$prepare,
						@run)
				} $few, $many;
				push @per, ($totals[1] - $totals[0]) / ($many - $few);
			}
			return \@per;
		});
	$_->start for @{ $self->{servers} };
	return $per;
}

# The instructions of a stand-alone backend that runs SQL.
sub callgrind
{
	my ($self, $server, $sql) = @_;
	my $out = $server->data . '/callgrind.out';
	$server->single_user(
		$sql,
		database => 'small',
		wrapper => [
			qw(valgrind --tool=callgrind --quiet),
			"--callgrind-out-file=$out"
		]);
	return (read_file($out) =~ /^(?:summary|totals): (\d+)/m)[0]
	  // fail(2, "$out has no total", 'run it again');
}

sub in_line
{
	my ($case) = @_;
	my $text = PgSeries::Hunt::Cases::statement($case);
	my $set = join ', ',
	  map { "$_ = $case->{set}{$_}" } sort keys %{ $case->{set} };
	return join '', $case->{prepared} ? 'prepared: ' : '', $text,
	  map(
		{ sprintf ' [%s: %d rows, %s, %d indexes]', $_->{name}, $_->{rows},
			  $_->{by}
			  ? "$_->{parts} partitions by $_->{by}"
			  . ($_->{sub} ? " with $_->{sub} each" : '')
			  : 'plain', scalar @{ $_->{indexes} } } @{ $case->{tables} }),
	  $set eq '' ? '' : " [$set]";
}

package PgSeries::Hunt::Session;

# A psql that stays, and runs blocks of a case's statement.

my $MARK = 'hunt: done';

sub new
{
	my ($class, $server, $database, $case) = @_;
	my ($prepare, $execute) = PgSeries::Hunt::Cases::commands($case);
	my ($command, %opt) = $server->as_client(
		[
			qw(psql --no-psqlrc --quiet --no-align --tuples-only -d),
			$database
		]);
	my $self = bless {
		in => '',
		out => '',
		execute => $execute,
		case => $case,
		next => 0
	}, $class;
	local %ENV = (
		%ENV,
		map { defined $opt{env}{$_} ? ($_ => $opt{env}{$_}) : () }
		  keys %{ $opt{env} });
	$self->{psql} =
	  IPC::Run::start($command, '<', \$self->{in}, '>&', \$self->{out},
		$self->{timer} = IPC::Run::timer(300));
	$self->ask(
		join '',
		PgSeries::Hunt::settings_sql($case),
		map { "$_;\n" } 'SET client_min_messages = error',
		$case->{own}
		? ( "SET statement_timeout = '60s'",
			PgSeries::Hunt::Cases::create_table($case->{tables}[0]) =~
			  s/^/DROP TABLE IF EXISTS churned; /r,
			'VACUUM ANALYZE churned',
			'SELECT setseed(0.5)',
			'SET synchronous_commit = off')
		: (),
		@$prepare);
	return $self;
}

sub DESTROY
{
	my ($self) = @_;
	local ($?, $@);
	eval {
		die "it doesn't return\n" if $self->{timer}->is_expired;
		$self->{in} .= "\\q\n";
		IPC::Run::finish($self->{psql});
		1;
	} or IPC::Run::kill_kill($self->{psql});
	return;
}

# What psql prints for a script.
sub ask
{
	my ($self, $script) = @_;
	$self->{out} = '';
	$self->{timer}->start;
	$self->{in} .= "$script\n\\echo $MARK\n";
	until ($self->{out} =~ /^\Q$MARK\E\n/m)
	{
		return "$self->{out}\nFATAL:  the session does not return"
		  if $self->{timer}->is_expired;
		return "$self->{out}\nFATAL:  the session has ended"
		  if !IPC::Run::pumpable($self->{psql});
		IPC::Run::pump($self->{psql});
	}
	return $self->{out} =~ s/^\Q$MARK\E\n.*//msr;
}

# The CPU time of one of n executions, in ns, of the values in turn or of number $v; undef
# after an error, which is noted.
sub block
{
	my ($self, $n, $v) = @_;
	my @execute = @{ $self->{execute} };
	my $change = $self->{case}{change};
	my $script = "SELECT cpu() AS c0 \\gset\n\\o /dev/null\n";
	for (1 .. $n)
	{
		my $sql = $execute[ $v // $self->{next}++ % @execute ];
		$script .= $change ? "BEGIN;\n$sql;\nROLLBACK;\n" : "$sql;\n";
	}
	my $out = $self->ask("$script\\o\nSELECT cpu() - :c0;");
	$self->{error} =
		$out =~ /^(?:psql: error: )?((?:ERROR|FATAL): .*)/m ? $1
	  : $out =~ /^(\d+)$/m                                  ? undef
	  :                                                       'no figures';
	return if defined $self->{error};
	my ($ns) = $out =~ /^(\d+)$/m;
	return $ns / $n;
}

# Has the backend stay on the first processor of this process: what else runs there slows
# down both servers then, not one of them.
sub pin
{
	my ($self) = @_;
	my ($pid) = $self->ask('SELECT pg_backend_pid();') =~ /^(\d+)$/m
	  or return;
	my ($cpu) = PgSeries::Util::read_file('/proc/self/status') =~
	  /^Cpus_allowed_list:\s+(\d+)/m;
	PgSeries::Util::run_status([ qw(taskset --pid --cpu-list), $cpu, $pid ],
		out => \my $said);
	return;
}

# What the rows of one execution are, whatever their order; their number where LIMIT may
# choose among them.
sub rows
{
	my ($self, $n) = @_;
	my $sql = $self->{execute}[$n] // return '';
	my $what =
	  PgSeries::Hunt::Cases::statement($self->{case}) =~ /\bLIMIT\b/
	  ? 'wc -l'
	  : 'sort | md5sum';
	return $self->ask("$sql \\g | $what");
}

sub plan
{
	my ($self) = @_;
	return '' if $self->{case}{kind} =~ /^(?:churn|build)$/;
	my $out = $self->ask("EXPLAIN $self->{execute}[0];");
	return $out =~ s/^(?:Query Identifier.*)\n//mgr;
}

1;
