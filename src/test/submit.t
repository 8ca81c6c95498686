# Sets to mail.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib", "$FindBin::RealBin/../lib";

use File::Path qw(make_path);
use Fixture    qw(fails slurp spew);
use Test::More;

use PgSeries::CLI;
use PgSeries::Submit;

my $f = Fixture->new;
my $dir = $f->dir;
my ($one, $two) =
  qw(one/0001-Change-line-3.patch two/0001-Change-line-20.patch);
my $author = 'Ann Other <ann@example.org>';

# One of the patches is the tool's, the other one somebody's.
my $patch = "$dir/patches/18/$two";
spew($patch,
	slurp($patch) =~
	  s/^From: .*/From: pgseries developers <pgseries\@localhost>/mr);
$f->pgseries('apply');
make_path("$dir/patches/cover");

sub letter
{
	my ($topic, $text) = @_;
	spew("$dir/patches/cover/$topic", "Subject: [PATCH 0/N] $topic\n\n",
		$text);
	return;
}
letter('one', "No figures.\n");
letter('two', "Words.\n");

# What is wrong is said before anything is tested or written.
$f->refused(2, 'does not know who sends the set', qw(submit -v1 --topic=two));
$f->refused(
	2,
	'"Ann" is not of the form',
	qw(submit -v1 --topic=two --author=Ann));
my @submit = ('submit', '-v1', '--topic=two', "--author=$author");
my $wide = 'x' x 77;
for (
	[ "\@BASIS\@\n" => 'the placeholder @BASIS@ is left' ],
	[ "$wide\n" => "more than 76 columns when it is sent: $wide" ],
	[ "\@RESULTS\@.\n" => 'the placeholder @RESULTS@ is left' ])
{
	letter('two', $_->[0]);
	$f->refused(2, $_->[1], @submit);
}
spew("$dir/patches/cover/two", "two\n");
$f->refused(2, 'does not begin with "Subject', @submit);
unlink "$dir/patches/cover/two";
$f->refused(2, 'cannot read \S+cover/two', @submit);
letter('two', "Words.\n");
$f->refused(1, 'lint has findings', @submit);
ok(!-e "$dir/build/submit", 'nothing is written');

# These patches have no tests, so the sets themselves are written directly.
# The figures, which report.t tests, are stand-ins.
%ENV = (%ENV, $f->environment);
my $table = "a figure    4    1    0.250\n";
my %figure = ('m:base' => 4, 'm:patched' => 1, 'all:verdict' => '1 better');
no warnings qw(redefine);
*PgSeries::Submit::read_results = sub { return (); };
*PgSeries::Submit::read_topics = sub { return {}; };
*PgSeries::Submit::text_table = sub { return $table; };
*PgSeries::Submit::filler = sub {
	return sub { $_[0] =~ s/\{([^}]+)\}/$figure{$1} || "{$1}"/ger; };
};

sub submit
{
	my ($version, $topic) = @_;
	my $c = bless { config => PgSeries::Config->new(top => $dir) },
	  'PgSeries::CLI';
	my $set = PgSeries::Submit::check_set($c, $version, $topic, $author);
	return PgSeries::Submit::write_set($c, $set);
}

my $words = join ' ', ('word') x 12;
letter('two', <<"EOT");
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
Subject: [PATCH v1 0/1] two

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
fails('2: .* exists; choose the next version', sub { submit(1, 'two') });
system("git init -q $dir; git -C $dir config pgseries.author '$author'") == 0
  or die 'git failed';
undef $author;
$set = submit(1, 'one');
like(slurp("$set/v1-0001-Change-line-3.patch"),
	qr/^From: A <a\@b>$/m, 'another\'s');
like(slurp("$set/cover-letter"), qr/\AFrom: Ann Other /, 'git config');

# A topic that needs another one.
$f->series("# topic: one\n$one\n\n# topic: two\n# needs: one\n$two\n");
letter('two', "They are alone.\n");
fails('2: .*need the topic "one"; write', sub { submit(2, 'two') });
letter('two', "Apply topic\n\"one\" first.\n");
$set = submit(2, 'two');
is(() = glob("$set/*.patch"), 1, 'the set has its own patches only');
like(slurp("$set/v2-0001-Change-line-20.patch"),
	qr/\+twenty/, 'the right one');

done_testing();
