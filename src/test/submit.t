# Sets to mail, versions of the series, and other releases.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib", "$FindBin::RealBin/../lib";

use File::Path qw(make_path);
use Fixture    qw(append refuses slurp spew);
use Test::More;

use PgSeries::CLI;
use PgSeries::Submit;

my $f = Fixture->new;
my $dir = $f->dir;
my ($status, $out, $err);
my $author = 'Ann Other <ann@example.org>';

# One of the patches is the tool's, the other one somebody's.
my $patch = "$dir/patches/18/two/0001-Change-line-20.patch";
spew($patch,
	slurp($patch) =~
	  s/^From: .*/From: pgseries developers <pgseries\@localhost>/mr);
$f->pgseries('apply');
make_path("$dir/patches/cover");

sub letter { spew("$dir/patches/cover/$_[0]", $_[1]); return; }
letter('one', "Subject: [PATCH 0/N] one\n\nNo figures.\n");
letter('two', "Subject: [PATCH 0/N] two\n\nWords.\n");

# What is wrong is said before anything is tested or written.
for (
	[ [], 'submit needs a version' ],
	[ ['-v1'], 'submit needs a topic' ],
	[ [qw(-v1 --topic=x)], 'there is no topic "x"' ],
	[ [qw(-v1 --topic=two)], 'does not know who sends the set' ],
	[ [qw(-v1 --topic=two --author=Ann)], '"Ann" is not of the form' ])
{
	my ($options, $like) = @$_;
	$f->pgseries('submit', @$options);
	refuses(2, $like, "submit @$options");
}
my @submit = ('submit', '-v1', '--topic=two', "--author=$author");
my $wide = 'x' x 77;
for (
	[ "two\n" => 'does not begin with "Subject' ],
	[ "\@BASIS\@\n" => 'the placeholder @BASIS@ is left' ],
	[ "$wide\n" => "more than 76 columns when it is sent: $wide" ],
	[ "\@RESULTS\@.\n" => 'the placeholder @RESULTS@ is left' ])
{
	my ($text, $like) = @$_;
	letter('two',
		($text eq "two\n" ? '' : "Subject: [PATCH 0/N] two\n\n") . $text);
	$f->pgseries(@submit);
	refuses(2, $like, "a letter: $like");
}
unlink "$dir/patches/cover/two";
$f->pgseries(@submit);
refuses(2, "cannot read \\S+cover/two", 'no letter');
letter('two', "Subject: [PATCH 0/N] two\n\nWords.\n");
$f->pgseries(@submit);
like(
	$err = (slurp("$dir/err")),
	qr/lint has findings; correct them/,
	'lint is asked');
ok(!-e "$dir/build/submit", 'nothing is written');

# These patches have no tests, so the sets themselves are written directly.
# The figures, which report.t tests, are stand-ins.
%ENV = (%ENV, $f->environment);
our $table = "a figure    4    1    0.250\n";
my %figure = ('m:base' => 4, 'm:patched' => 1, 'all:verdict' => '1 better');
no warnings qw(redefine);
*PgSeries::Submit::read_results = sub { return (); };
*PgSeries::Submit::read_topics = sub { return {}; };
*PgSeries::Submit::text_table = sub { return $table; };
*PgSeries::Submit::filler = sub {
	return sub { $_[0] =~ s/\{([^}]+)\}/$figure{$1} || "{$1}"/ger; };
};

sub context
{
	return bless { config => PgSeries::Config->new(top => $dir) },
	  'PgSeries::CLI';
}

sub submit
{
	my ($version, $topic) = @_;
	my $c = context();
	my $set = PgSeries::Submit::check_set($c, $version, $topic, $author);
	return PgSeries::Submit::write_set($c, $set);
}

my $words = join ' ', ('word') x 12;
letter('two', <<"EOT");
Subject: [PATCH 0/N] {m:base} and {m:patched}

$words
$words {m:base} {all:verdict}, base
\@BASE\@.  More.
Less,  and $words.
\@RESULTS\@

A paragraph
without a figure.

- an item with {m:patched} and $words {m:base}
  and so on
- another,
  without
- {m:base}

  0001  {m:base} of a table
EOT
my $set = submit(1, 'two');
is( join(' ', map { s{.*/}{}r } sort glob("$set/*")),
	'cover-letter v1-0001-Change-line-20.patch',
	'the set of a topic');
like(
	slurp("$set/v1-0001-Change-line-20.patch"),
	qr/^From: \Q$author\E\n.*\nSubject: \[PATCH v1 1\/1\] Change line 20$/m,
	'author and version');
is(slurp("$set/cover-letter"), <<"EOT", 'a letter with figures');
From: $author
Subject: [PATCH v1 0/1] 4 and 1

$words word word
word word word word word word word word word word 4 1 better, base 18.6.
More.  Less,  and word word word word word word word word word word word
word.
$table
A paragraph
without a figure.

- an item with 1 and word word word word word word word word word word
  word word 4 and so on
- another,
  without
- 4

  0001  4 of a table
EOT
letter('one', "Subject: [PATCH 0/N] one\n\nNo figures.\n");
ok(!eval { submit(1, 'two'); 1 }, 'a set is never written over');
like("$@", qr/exists; choose the next version/, 'and says so');
system( "cd $dir && git init -q . && git add patches && "
	  . "git config pgseries.author '$author'"
	  . ' && git -c user.name=A -c user.email=a@b commit -qm 1') == 0
  or die 'git failed';
undef $author;
$set = submit(1, 'one');
like(
	slurp("$set/v1-0001-Change-line-3.patch"),
	qr/^From: A <a\@b>$/m,
	"another author's patch stays that");
like(
	slurp("$set/cover-letter"),
	qr/\AFrom: Ann Other /,
	'the author by git config');

# A topic that needs another one.
my ($one, $two) =
  qw(one/0001-Change-line-3.patch two/0001-Change-line-20.patch);
$f->series("# topic: one\n$one\n\n# topic: two\n# needs: one\n$two\n");
letter('two', "Subject: [PATCH 0/N] two\n\nThey are alone.\n");
ok(!eval { submit(2, 'two'); 1 }, 'what a topic needs must be said');
like("$@", qr/need the topic "one"; write/, 'and says so');
letter('two', "Subject: [PATCH 0/N] two\n\nApply topic\n\"one\" first.\n");
$set = submit(2, 'two');
is(() = glob("$set/*.patch"), 1, 'the set has its own patches only');
my $twenty = slurp("$set/v2-0001-Change-line-20.patch");
like($twenty, qr/\+twenty/, 'and the right ones');
is( join(' ', map { $_->{file} } @{ context()->series->version('v2-two') }),
	"$one v2-0001-Change-line-20.patch",
	'the version is after those that it needs');

# Versions.
($status, $out, $err) = $f->pgseries('range-diff', 'v1-one', 'current');
is($status, 0, 'range-diff') or diag($err);
like(
	$out,
	qr/^1: .* = 1: .*Change line 3\n-: +-+ > 2: .*Change line 20/m,
	'shows the differences');
($status, $out, $err) = $f->pgseries('range-diff', 'HEAD', 'current');
is($status, 0, 'range-diff with a commit') or diag($err);
$f->pgseries('range-diff', 'v9-one', 'current');
refuses(2, 'no version "v9-one"', 'range-diff with no version');

# Another release: line 3 is changed there, too, and lines before line 20 are new.
my @lines = map { "line $_\n" } 1 .. 30;
$lines[2] = "third\n";
splice @lines, 9, 0, ("new\n") x 5;
system('cp', '-R', "$dir/upstream", "$dir/pg-18.7") == 0 or die 'cp failed';
spew("$dir/pg-18.7/meson.build", "  version: '18.7',\n");
my $release = sub {
	spew("$dir/pg-18.7/README", @lines);
	system('tar', '-C', $dir, '-cjf', "$dir/18.7.tar.bz2", 'pg-18.7') == 0
	  or die 'tar failed';
	return $f->pgseries('rebase', '18.7', "--tarball=$dir/18.7.tar.bz2");
};
my $before = $f->git(qw(for-each-ref refs/heads));
($status, $out, $err) = $release->();
is($status, 3, 'rebase: exit status if a patch needs a hand') or diag($err);
is( $out,
	"conflicts $one README\napplies $two\n1 of 2 need a hand\n",
	'rebase tells which');
is($f->git(qw(for-each-ref refs/heads)), $before, 'and changes no branch');

$lines[2] = "line 3\n";
($status, $out, $err) = $release->();
is($status, 0, 'rebase: none needs a hand') or diag($err);
like(
	$out,
	qr/^none of 2 needs a hand; branch series-18\.7 has them$/m,
	'and says where they are');
is(($release->())[0], 0, 'again: the same commits');
$lines[2] = "three\n";
$lines[24] = "twenty\n";
is( $f->git(qw(show series-18.7:README)) . "\n",
	join('', @lines),
	'both patches on the other release');
is($f->git(qw(log -1 --format=%an), 'series-18.7~1'), 'A', 'with the author');
$lines[2] = "line 3\n";
$lines[24] = "line 20\n";
$f->git(qw(checkout -q series-18.7));
append("$dir/work/tree/README", "mine\n");
$f->git(qw(commit -qam mine));
$f->git(qw(checkout -q series));
$release->();
refuses(2, 'has a branch series-18.7 already', 'work on its branch');
is($f->git(qw(log -1 --format=%s series-18.7)), 'mine', 'which is kept');
spew("$dir/pg-18.7/meson.build", "  version: '18.6',\n");
$release->();
refuses(2, 'does not hold PostgreSQL 18.7', 'a wrong tarball');

for (
	[ [], 'rebase takes a version' ],
	[ ['19.1'], 'is not a minor release of PostgreSQL 18' ],
	[ ['18.8'], 'no checksum of PostgreSQL 18.8' ])
{
	$f->pgseries('rebase', @{ $_->[0] });
	refuses(2, $_->[1], "rebase @{ $_->[0] }");
}

done_testing();
