# The command line: help, bad input, and the commands that need no build.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";

use File::Path qw(make_path);
use Fixture    qw(append refuses slurp spew);
use JSON::PP   qw(decode_json encode_json);
use Test::More;

my $f = Fixture->new;
my $dir = $f->dir;
my ($status, $out, $err);

# Help of every command, with an example.
($status, $out, $err) = $f->pgseries('--help');
is($status, 0, '--help');
my @commands = $out =~ /^  ([\w-]+) +\w/mg;
is( "@commands",
	'fetch apply status export lint check build test stress server bench report submit rebase range-diff doctor',
	'all commands are listed');
for my $command (@commands)
{
	my ($s, $o, $e) = $f->pgseries($command, '--help');
	is($s, 0, "$command --help");
	like($o, qr/^Usage: pgseries \Q$command\E/m, "$command: usage");
	like($o, qr/^Example: .*pgseries \Q$command\E/m, "$command: example");
	is($e, '', "$command: nothing on standard error");
}

# A reader that has seen enough.
{
	local %ENV = (%ENV, $f->environment);
	system(
		"(sleep 0.3; $^X $dir/src/bin/pgseries --help 2>$dir/err; echo \$? >$dir/out) | true"
	  ) == 0
	  or die 'sh failed';
	is(slurp("$dir/out"), "0\n", 'nobody reads the help: no error');
	is(slurp("$dir/err"), '', 'nor a message');
}

# The link to the work directory, when the work directory is to be there.
make_path("$dir/elsewhere");
symlink "$dir/elsewhere", "$dir/build/work" or die $!;
($status, $out, $err) =
  $f->pgseries('fetch', { PGSERIES_WORKDIR => "$dir/build/work" });
is($status, 0, 'a work directory in the place of the link') or diag($err);
ok(!-l "$dir/build/work", 'is a directory');
system('rm', '-r', "$dir/build/work") == 0 or die 'rm failed';

# Usage errors.
($status, $out, $err) = $f->pgseries();
is($status, 2, 'no command: exit status 2');
($status, $out, $err) = $f->pgseries('aply');
refuses(2, 'unknown command "aply"', 'unknown command');
($status, $out, $err) = $f->pgseries('status', '--nonesuch');
refuses(2, 'unknown option: nonesuch', 'unknown option');
($status, $out, $err) = $f->pgseries('--nonesuch', 'status');
refuses(2, 'unknown option --nonesuch', 'unknown option before the command');
($status, $out, $err) = $f->pgseries('status', 'word');
refuses(2, 'no argument "word"', 'a word too many');
($status, $out, $err) = $f->pgseries('build', 'nonesuch');
refuses(2, 'no build "nonesuch"', 'unknown build');
($status, $out, $err) = $f->pgseries('build', 'prefix-3');
refuses(2, 'no patch 3', 'unknown prefix');
($status, $out, $err) = $f->pgseries('check', '--topic=nonesuch');
refuses(2, 'no topic "nonesuch"', 'unknown topic');
($status, $out, $err) = $f->pgseries('check', '--prefix=1-3');
refuses(2, 'no patch 3', 'a range of prefixes that ends too late');
($status, $out, $err) = $f->pgseries('check', '--prefix=2-1');
refuses(2, 'nothing from 2 to 1', 'an empty range of prefixes');

# A failure of one does not end the others, and is named at once.
$f->script('meson', 'test "$1" = --version && echo 1; exit 1');
($status, $out, $err) = $f->pgseries('check', '--prefix=1-2');
is($status, 1, 'check --prefix=1-2 of what does not build');
for my $n (1, 2)
{
	my $rerun = "src/bin/pgseries check --prefix=$n";
	like(
		$err,
		qr/^fail  prefix-$n: build and run\n.*^rerun: \Q$rerun\E\n/ms,
		"prefix $n is named");
}
like($out, qr/^0 passed, 2 failed/m, 'both are counted');
($status, $out, $err) = $f->pgseries('build', '--prefix=relative');
refuses(2, 'not an absolute path', 'a relative prefix');
($status, $out, $err) = $f->pgseries('bench', 'nonesuch');
refuses(2, 'no benchmark "nonesuch"', 'unknown benchmark');
($status, $out, $err) = $f->pgseries('server', 'restart');
refuses(2, 'start, stop or psql', 'unknown server action');
($status, $out, $err) = $f->pgseries('server', 'psql');
refuses(2, 'is not running', 'psql without a server');
($status, $out, $err) = $f->pgseries('submit');
refuses(2, 'needs a version', 'submit without a version');
($status, $out, $err) = $f->pgseries('range-diff', 'v1');
refuses(2, 'takes two versions', 'range-diff with one version');
($status, $out, $err) = $f->pgseries('range-diff', 'v1', 'current');
refuses(2, 'no version "v1"', 'range-diff with an unknown version');
($status, $out, $err) = $f->pgseries('report');
refuses(2, 'no results', 'report without results');
($status, $out, $err) = $f->pgseries('stress', 'nonesuch');
refuses(2, 'takes sqlsmith, differential or crash', 'unknown stress');
($status, $out, $err) = $f->pgseries('stress', 'crash', '--queries=1');
refuses(2, 'crash has no queries', 'an option of another kind');
($status, $out, $err) = $f->pgseries('stress', 'crash', '--rounds=0');
refuses(2, '--rounds=0 is not positive', 'no rounds');
($status, $out, $err) = $f->pgseries('stress', 'crash', '--seed=-1');
refuses(2, '--seed=-1 is not a seed', 'a negative seed');

# The unprivileged user and the work directory.
SKIP:
{
	skip 'not root', 8 if $> != 0;
	($status, $out, $err) =
	  $f->pgseries('status', { PGSERIES_USER => 'none-such' });
	refuses(2, 'no user "none-such"', 'unknown user');
	($status, $out, $err) =
	  $f->pgseries('status', { PGSERIES_USER => 'root' });
	refuses(2, 'refuses to run as "root"', 'root as the user');
	mkdir "$dir/closed";
	chmod 0700, "$dir/closed" or die $!;
	($status, $out, $err) =
	  $f->pgseries('status', { PGSERIES_WORKDIR => "$dir/closed/work" });
	refuses(2, 'cannot enter', 'a work directory out of reach');

	# A checkout out of reach is no obstacle.
	mkdir "$dir/closed/build";
	($status, $out, $err) =
	  $f->pgseries('apply', { PGSERIES_BUILDDIR => "$dir/closed/build" });
	is($status, 0, 'a build directory out of reach') or diag($err);
	ok(-l "$dir/closed/build/work", 'links to the work directory');
}

# Missing tools and space.
$f->pgseries('apply');
spew("$dir/plain", '');
my %few = (PATH => "$dir/few", PGSERIES_PATH => "$dir/few");
mkdir "$dir/few";
my $link_tool = sub {
	my ($tool) = @_;
	my ($path) = grep { -x } map { "$_/$tool" } split /:/, $ENV{PATH};
	symlink $path, "$dir/few/$tool" or die $!;
	return;
};
$link_tool->($_) for qw(git tar bzip2 df sh);
($status, $out, $err) = $f->pgseries('build', 'base', {%few});
refuses(2, 'meson is missing', 'no meson');
spew("$dir/few/meson", "#!/bin/sh\necho 1.0.1\n");
chmod 0755, "$dir/few/meson" or die $!;
$link_tool->($_) for qw(bison flex);
spew("$dir/few/ninja", "#!/bin/sh\n");
chmod 0755, "$dir/few/ninja" or die $!;
($status, $out, $err) = $f->pgseries('build', 'base', {%few});
refuses(2, 'gcc is missing', 'no compiler');
$link_tool->('gcc');
unlink "$dir/few/ninja";
($status, $out, $err) = $f->pgseries('build', 'base', {%few});
refuses(2, 'is missing', 'a missing tool');
like($err, qr/--install-deps/, 'the remedy names the option');
($status, $out, $err) = $f->pgseries('stress', 'sqlsmith', {%few});
refuses(2, 'sqlsmith is missing', 'no sqlsmith');
like($err, qr/the Debian package sqlsmith/, 'the remedy names the package');
($status, $out, $err) = $f->pgseries('doctor', {%few});
is($status, 2, 'doctor: exit status 2 for a missing tool');
like($out, qr/^missing +ninja is missing; run/m, 'and says which');
($status, $out, $err) = $f->pgseries('doctor');
is($status, 0, 'doctor with all tools') or diag($out);
$f->script('df', "echo header\necho '/dev/x 100 90 10 90% /'");
($status, $out, $err) = $f->pgseries('build', 'base');
refuses(2, 'less than 3 GB', 'no space for a build');
$f->no_script('df');

# A build whose meson fails shows the end of its log; nothing is recorded.
($status, $out, $err) = $f->pgseries('build', 'base');
refuses(2, 'meson setup of base failed', 'a build that fails');
ok(!-e "$dir/work/b/base/stamp", 'is not taken for done');

# JSON.
($status, $out, $err) = $f->pgseries('--json', 'status');
my $json = decode_json($out);
is(scalar @{ $json->{patches} }, 2, '--json status');
is($json->{patches}[1]{topic}, 'two', 'with topics');
is($json->{patches}[1]{subject}, 'Change line 20', 'and subjects');

# Submit writes a set once; range-diff compares sets.
mkdir "$dir/patches/cover" or die $!;
spew("$dir/patches/cover/two",
	"Subject: [PATCH 0/N] two, base \@BASE\@\n\n\@PATCHES\@\n\n\@RESULTS\@\n"
);
make_path("$dir/benchmarks/results");
for my $topic (qw(one two))
{
	my $line = $topic eq 'one' ? 3 : 20;
	spew(
		"$dir/benchmarks/results/$topic.json",
		encode_json(
			{
				format => 1,
				bench => $topic,
				(map { $_ => $topic } qw(title scale base patched date)),
				topic => $topic,
				machine => {},
				series => [
					{
						(map { $_ => 'm' } qw(measure label unit)),
						better => 'lower',
						method => 'count',
						case => {},
						base => [4],
						patched => [1],
					}
				],
				readme => [
					{
						patch => "Change-line-$line.patch",
						measure => 'm',
						text => "figure of $topic",
					}
				],
			}));
}
($status, $out, $err) = $f->pgseries('submit', '-v1', '--topic=two');
is($status, 1, 'submit refuses when lint has findings');
like($err, qr/lint has findings; correct them/, 'and says so');
# These fixtures have no tests, so the set itself is written directly.
{
	local $ENV{PGSERIES_BUILDDIR} = "$dir/build";
	local $ENV{PGSERIES_WORKDIR} = "$dir/work";
	local $ENV{PGSERIES_TARBALL} = $f->tarball;
	unshift @INC, "$FindBin::RealBin/../lib";
	require PgSeries::CLI;
	require PgSeries::Submit;
	my $c = bless {
		json => 0,
		config => PgSeries::Config->new(top => $dir)
	  },
	  'PgSeries::CLI';
	my $set = PgSeries::Submit::write_set($c, 1, 'two');
	is( join(' ', map { s{.*/}{}r } sort glob("$set/*")),
		'cover-letter v1-0001-Change-line-20.patch',
		'the set of a topic');
	like(
		slurp("$set/v1-0001-Change-line-20.patch"),
		qr/^Subject: \[PATCH v1 1\/1\] Change line 20$/m,
		'versioned subject');
	like(
		slurp("$set/cover-letter"),
		qr/^Subject: \[PATCH v1 0\/1\] two, base 18\.6\n\n  v1-0001-Change-line-20\.patch\n    Change line 20\n/,
		'cover letter of the topic');
	like(
		slurp("$set/cover-letter"),
		qr/^  figure of two .*0\.250/m,
		'with its figures');
	unlike(
		slurp("$set/cover-letter"),
		qr/figure of one/,
		'but not those of other topics');
	ok(!eval { PgSeries::Submit::write_set($c, 1, 'two'); 1 },
		'a set is never written over');
	like("$@", qr/exists; choose the next version/, 'and says so');

	for ([ 'one', 'cover/one' ], [ undef, 'cover-letter' ])
	{
		my ($topic, $file) = @$_;
		ok(!eval { PgSeries::Submit::write_set($c, 1, $topic); 1 },
			"a set needs $file");
		like(
			"$@",
			qr/^there is no cover letter \S+\Q$file\E; write it$/,
			'and one line says so');
	}
	ok(!-e "$dir/build/submit/v1", 'no set is left behind');
	spew("$dir/patches/cover-letter",
		"Subject: [PATCH 0/N] all\n\n\@RESULTS\@\n");
	$set = PgSeries::Submit::write_set($c, 1, undef);
	like(
		slurp("$set/cover-letter"),
		qr/^Subject: \[PATCH v1 0\/2\] all\n(?s:.*)figure of one(?s:.*)figure of two/,
		'the letter of the whole series, with all figures');

	# Figures in the text.
	make_path(map { "$dir/benchmarks/$_" } qw(one two));
	spew(
		"$dir/benchmarks/topics.json",
		encode_json(
			{
				map {
					$_ => {
						title => $_,
						plot => { bench => $_, file => 'x.plot' },
						figures => {
							m => { bench => $_, measure => 'm', case => {} }
						},
						(map { $_ => '{m:base}' } qw(sentence worst)),
						letter => {
							all => {
								bench => $_,
								measure => 'm',
								case => {},
								all => 1
							}
						}
					}
				} qw(one two)
			}));
	my $words = join ' ', ('word') x 12;
	spew("$dir/patches/cover/two", <<"EOT");
Subject: [PATCH 0/N] {m:base} and $words

$words
$words {m:base} {all:verdict}, base
\@BASE\@.  More.
Less,  and $words.
\@PATCHES\@

A paragraph
without a figure.

- an item with {m:patched} and $words {m:base}
  and so on
- another,
  without
- {one/m:base}

  0001  {m:base} of a table, with $words
EOT
	$set = PgSeries::Submit::write_set($c, 2, 'two');
	is(slurp("$set/cover-letter"), <<"EOT", 'a letter with figures');
Subject: [PATCH v2 0/1] 4 and $words

$words word word
word word word word word word word word word word 4 1 better, base 18.6.
More.  Less,  and word word word word word word word word word word word
word.
  v2-0001-Change-line-20.patch
    Change line 20

A paragraph
without a figure.

- an item with 1 and word word word word word word word word word word
  word word 4 and so on
- another,
  without
- 4

  0001  4 of a table, with $words
EOT
	spew("$dir/patches/cover/two", "Subject: [PATCH 0/N] x\n\n{n:base}\n");
	ok(!eval { PgSeries::Submit::check_set($c, 3, 'two'); 1 },
		'a letter with an unknown figure');
	like(
		"$@",
		qr/^\S+cover\/two: \{n:base\}: \S+topics\.json has no figure "n" of the topic two; correct the name, or add .*$/,
		'and one line says so');
	spew("$dir/patches/cover-letter",
		"Subject: [PATCH 0/N] all\n\n{two/m:base}, {one/all:ratio}\n");
	$set = PgSeries::Submit::write_set($c, 2, undef);
	like(
		slurp("$set/cover-letter"),
		qr/^4, 0\.250$/m,
		'figures in the letter of the whole series');
}

# Another release: line 3 is changed there, too, and lines before line 20 are new.
{
	my @lines = map { "line $_\n" } 1 .. 30;
	$lines[2] = "third\n";
	splice @lines, 9, 0, ("new\n") x 5;
	system('cp', '-R', "$dir/upstream", "$dir/pg-18.7") == 0
	  or die 'cp failed';
	spew("$dir/pg-18.7/README", @lines);
	system('tar', '-C', $dir, '-cjf', "$dir/18.7.tar.bz2", 'pg-18.7') == 0
	  or die 'tar failed';
	my $before = `git -C $dir/work/tree for-each-ref refs/heads`;
	($status, $out, $err) =
	  $f->pgseries('rebase', '18.7', "--tarball=$dir/18.7.tar.bz2");
	is($status, 3, 'rebase: exit status if a patch needs a hand')
	  or diag($err);
	is( $out,
		"conflicts 0001-Change-line-3.patch README\n"
		  . "applies 0002-Change-line-20.patch\n"
		  . "1 of 2 need a hand\n",
		'rebase tells which');
	is(`git -C $dir/work/tree for-each-ref refs/heads`,
		$before, 'and changes no branch');

	$lines[2] = "line 3\n";
	spew("$dir/pg-18.7/README", @lines);
	system('tar', '-C', $dir, '-cjf', "$dir/18.7.tar.bz2", 'pg-18.7') == 0
	  or die 'tar failed';
	($status, $out, $err) =
	  $f->pgseries('rebase', '18.7', "--tarball=$dir/18.7.tar.bz2");
	is($status, 0, 'rebase: none needs a hand') or diag($err);
	like(
		$out,
		qr/^none of 2 needs a hand; branch series-18\.7 has them$/m,
		'and says where they are');
	my $readme = `git -C $dir/work/tree show series-18.7:README`;
	$lines[2] = "three\n";
	$lines[24] = "twenty\n";
	is($readme, join('', @lines), 'both patches on the other release');
	is( `git -C $dir/work/tree log -1 --format='%an: %s' series-18.7`,
		"A: Change line 20\n",
		'with author and subject');
	$f->git(qw(checkout -q series-18.7));
	($status, $out, $err) =
	  $f->pgseries('rebase', '18.7', "--tarball=$dir/18.7.tar.bz2");
	refuses(
		2,
		'the branch series-18.7 of .* cannot be set',
		'rebase with its branch checked out');
	like($err, qr/; .*git checkout series;/, 'the remedy helps');
	append("$dir/work/tree/README", "mine\n");
	$f->git(qw(commit -qam mine));
	$f->git(qw(checkout -q series));
	($status, $out, $err) =
	  $f->pgseries('rebase', '18.7', "--tarball=$dir/18.7.tar.bz2");
	refuses(2, 'has commits of yours', 'rebase over work on its branch');
	is($f->git(qw(log -1 --format=%s series-18.7)), 'mine', 'which is kept');

	spew("$dir/pg-18.7/meson.build",
		"project('postgresql',\n  version: '18.6',\n");
	system('tar', '-C', $dir, '-cjf', "$dir/18.7.tar.bz2", 'pg-18.7') == 0
	  or die 'tar failed';
	($status, $out, $err) =
	  $f->pgseries('rebase', '18.7', "--tarball=$dir/18.7.tar.bz2");
	refuses(2, 'holds PostgreSQL 18.6, not 18.7', 'a wrong tarball');

	for (
		[ [], 'rebase takes a version' ],
		[ ['19.1'], 'is not a minor release of PostgreSQL 18' ],
		[ [ '18.7', "--tarball=$dir/none" ], 'there is no tarball' ],
		[ ['18.8'], 'cannot obtain PostgreSQL 18.8' ])
	{
		($status, $out, $err) = $f->pgseries('rebase', @{ $_->[0] });
		refuses(2, $_->[1], "rebase @{ $_->[0] }");
	}
}

($status, $out, $err) = $f->pgseries('range-diff', 'v1-two', 'current');
is($status, 0, 'range-diff') or diag($err);
like(
	$out,
	qr/^-: +-+ > 1: .*Change line 3\n1: .* = 2: .*Change line 20/m,
	'shows the differences');

# Versions of the checkout.
system( "cd $dir && git init -q . && git add patches && "
	  . 'git -c user.name=A -c user.email=a@b commit -qm 1') == 0
  or die 'git failed';
($status, $out, $err) = $f->pgseries('range-diff', 'HEAD', 'current');
is($status, 0, 'range-diff with a commit') or diag($err);
system(
		"cd $dir && git rm -q --cached patches/0002-Change-line-20.patch && "
	  . 'git -c user.name=A -c user.email=a@b commit -qm 2') == 0
  or die 'git failed';
($status, $out, $err) = $f->pgseries('range-diff', 'HEAD', 'current');
refuses(
	2,
	'"HEAD" has no file patches/0002-Change-line-20.patch',
	'a commit without one of its patches');

done_testing();
