# Each rule of PgSeries::Lint has lines that it passes and lines that it refuses,
# with the file and the line.  A sound series on a small tree has something of
# everything that the rules look at; each case changes some of it.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib", "$FindBin::RealBin/../lib";

use File::Basename qw(dirname);
use File::Path     qw(make_path remove_tree);
use Fixture        qw(slurp spew);
use Test::More;

use PgSeries::Config;
use PgSeries::Git qw(git);
use PgSeries::Lint;
use PgSeries::Series;

my $f = Fixture->new;
my $top = $f->dir;
my $patches = "$top/patches/18";
my $tree = "$top/work/tree";

# A stand-in for pgindent: a word is what it would change, or refuse.
my $pgindent = <<'END';
my %option = map { /^--(\w+)=(.*)/ } @ARGV;
die "no indent\n" unless -x $option{indent} && -f $option{typedefs};
my $status = 0;
for my $file (grep { !/^--/ } @ARGV)
{
	die "no $file\n" unless -f $file;
	if (system("grep -q SYNTAX $file") == 0)
	{
		print STDERR "Failure in $file: Error\@1: Unbalanced parens\n";
		$status = 3;
	}
	my $diff = `sed s/UGLY/pretty/ $file | diff -upd $file -`;
	print $diff;
	$status ||= 2 if $diff ne '';
}
exit $status;
END
my $program = "$top/bin/pg_bsd_indent";
$f->script('pg_bsd_indent', '');

# The small tree.
my $misc = 'src/backend/utils/misc';
my $foo = 'src/backend/foo';
my $am = 'src/include/catalog/pg_am';
my $regress = 'src/test/regress';
my $modules = 'src/test/modules';
my $new = "$modules/test_new";
my $indent = 'src/tools/pgindent';
my %at = (
	misc => $misc,
	foo => $foo,
	am => $am,
	regress => $regress,
	modules => $modules,
	new => $new,
	indent => $indent);
my %base = (
	'.gitattributes' => "* whitespace=space-before-tab,trailing-space\n"
	  . "*.[chly] whitespace=space-before-tab,trailing-space,indent-with-non-tab,tabwidth=4\n"
	  . "*.out -whitespace\n",
	"$foo/Makefile" => "OBJS = \\\n\tfoo.o\n",
	"$foo/meson.build" => "sources += files(\n  'foo.c',\n)\n",
	"$foo/gone.c" => "int gone;\n",
	"$foo/foo.c" =>
	  "typedef struct OldType\n{\n\tint\t\tx;\n} OldType;\n\nint\nfoo(void)\n{\n\treturn 1;\n}\n",
	"$misc/guc_tables.c" =>
	  "\t{\n\t\t{\"old\", PGC_USERSET, 0,\n\t\t\tNULL\n\t\t},\n\t},\n",
	'doc/src/sgml/config.sgml' => "<varlistentry id=\"guc-old\">\n",
	"$am.h" => "CATALOG(pg_am,2601,AccessMethodRelationId)\n",
	"$am.dat" => "{ oid => '405' },\n" . "#\n" x 8 . "{ oid => '8700' },\n",
	"$regress/parallel_schedule" => "test: old\n",
	"$regress/sql/gone.sql" => "SELECT 0;\n",
	"$modules/meson.build" => "subdir('test_old')\n",
	"$indent/pgindent" => $pgindent,
	"$indent/typedefs.list" => "OldType\n",);

# The sound series.
my $why = "Foo was slow.\nNow it is not.\n";
my $link = "Discussion: https://postgr.es/m/1\n";
my @sound = (
	{
		message => "Make foo faster\n\n$why\n$link",
		"$foo/Makefile" => "OBJS = \\\n\tbar.o \\\n\tfoo.o\n",
		"$foo/meson.build" =>
		  "sources += files(\n  'bar.c',\n  'foo.c',\n)\n",
		"$foo/foo.c" => $base{"$foo/foo.c"} =~ s/return 1/return bar()/r,
		"$foo/bar.c" => "typedef struct Bar\n{\n\tint\t\ta;\n} Bar;\n\n"
		  . "typedef int (*bar_hook) (int x);\n\n"
		  . "int\nbar(void)\n{\n\treturn 2;\t\t/* two */\n}\n",
		"$misc/guc_tables.c" => $base{"$misc/guc_tables.c"}
		  . "\t{\n\t\t{\"enable_new\", PGC_USERSET, 0,\n\t\t\tNULL\n\t\t},\n\t},\n",
		'doc/src/sgml/config.sgml' =>
		  "$base{'doc/src/sgml/config.sgml'}<varlistentry id=\"guc-enable-new\">\n",
		"$am.dat" => $base{"$am.dat"} . "{ oid => '8800' },\n",
		"$am.h" => $base{"$am.h"} . "DECLARE_TOAST(pg_am, 8801, 8802);\n",
		"$indent/typedefs.list" => "Bar\nOldType\nbar_hook\n",
		"$regress/parallel_schedule" => "test: old new\n",
		"$regress/sql/new.sql" => "SELECT 1;\n",
		"$regress/expected/new.out" => " a \n--- \n\n",
	},
	{
		message => "Test foo harder\n\n$why\n$link",
		"$modules/meson.build" => "subdir('test_new')\nsubdir('test_old')\n",
		"$new/Makefile" =>
		  "MODULES = test_new\nREGRESS = one\nISOLATION = two\nTAP_TESTS = 1\n",
		"$new/meson.build" =>
		  "files('test_new.c')\n'one',\n'two',\n't/001_x.pl',\n",
		"$new/test_new.c" => "int x;\n",
		"$new/sql/one.sql" => "SELECT 1;\n",
		"$new/specs/two.spec" => "session s1\n",
		"$new/t/001_x.pl" => "print 1;\n",
	});

# Makes the two commits, changed as lines "1 FILE TEXT" or "1 FILE /PATTERN/TEXT/" say: the
# number of the commit, new contents or an edit of the old ones, nothing to leave the file
# out, or to remove it.  Their patches are the first of topic one and of topic two.
my ($first, $second) = qw(one/0001-x.patch two/0001-y.patch);

sub export
{
	my (@changes) = @_;
	my @commits = map {
		{ %$_ }
	} @sound;
	for (@changes)
	{
		my ($i, $path, $edit) = /^([12]) (\S+) ?(.*)/ or die "bad line: $_";
		my $commit = $commits[ $i - 1 ];
		$path =~ s/^\$(\w+)/$at{$1}/;
		$edit =~
		  s/\\(n|t|x(..))/$1 eq 'n' ? "\n" : $1 eq 't' ? "\t" : chr hex $2/ge;
		my ($pattern, $text) = $edit =~ m{^/(.*?)/(.*)/\z}s;
		if (!defined $pattern)
		{
			$commit->{$path} = $edit eq '' ? undef : $edit;
			next;
		}
		$commit->{$path} //= $base{$path};
		$commit->{$path} =~ s/$pattern/$text/g or die "no change: $_";
	}
	$f->git(qw(checkout -q -f --detach upstream));
	for my $i (0, 1)
	{
		my %commit = %{ $commits[$i] };
		my $message = delete $commit{message};
		for my $path (keys %commit)
		{
			if (defined $commit{$path})
			{
				make_path(dirname("$tree/$path"));
				spew("$tree/$path", $commit{$path});
			}
			elsif (!exists $sound[$i]{$path}) { unlink "$tree/$path"; }
		}
		$f->git(qw(add -A -f));
		$f->git('commit', '-qm', $message);
	}
	git($tree,
		qw(format-patch -q --zero-commit --full-index --no-signature -N
		  --no-encode-email-headers -o), "$top/made", 'upstream..HEAD');
	my @made = sort glob "$top/made/*";
	for ($first, $second)
	{
		remove_tree(dirname("$patches/$_"));
		make_path(dirname("$patches/$_"));
		rename shift @made, "$patches/$_" or die $!;
	}
	return;
}

sub lint
{
	my ($pgindent) = @_;
	my $config = PgSeries::Config->new(top => $top);
	return PgSeries::Lint->new(PgSeries::Series->new($config),
		pgindent => $pgindent)->run;
}

# Each $want is a pattern for the topic, the rule, the line that the finding names,
# and the message.
sub findings_are
{
	my ($name, $result, @want) = @_;
	my @got = map {
		my @lines = split /\n/, slurp("$top/$_->{file}");
		my ($topic) = $_->{file} =~ m{^patches/18/(\w+)};
		"$topic $_->{rule} $lines[ $_->{line} - 1 ]: $_->{message}";
	} @{ $result->{findings} };
	my @missing = grep {
		my $want = $_;
		1 != grep { /^$want/ } @got
	} @want;
	ok(@got == @want && !@missing, $name)
	  or diag(map { "$_\n" } @got, 'missing:', @missing);
	return;
}

for my $path (sort keys %base)
{
	make_path("$top/upstream/$path" =~ s{/[^/]*$}{}r);
	spew("$top/upstream/$path", $base{$path});
}
$f->make_release;
$f->pgseries('apply', 0);
$f->series("# topic: one\n$first\n\n# topic: two\n$second\n");
%ENV = (%ENV, $f->environment);

export();
my $sound = lint($program);
findings_are('sound series', $sound);
is_deeply($sound->{skips}, [], 'sound series: nothing is skipped');
is($sound->{checked}, 2, 'sound series: two patches are checked');

# A case is a name, changes of the two commits, and what is found.
my $cases = <<'EOT';
summaries: 65 characters, full stop, squash mark
1 message four four four four four four four four four four four four words\n\nWHY\nLINK
2 message squash! Test.\n\nWHY\nLINK
> MESSAGE the summary has 65 characters
> MESSAGE .*full stop
> MESSAGE "squash!"

one line of narrative, no discussion
1 message Make it\n\nFoo was slow.\n\nLINK
2 message Test it\n\nWHY\nReviewed-by: Ann
> MESSAGE .*fewer than two
> MESSAGE .*no tag "Discussion

a line of 77 characters, tags not at the end, no link
1 message Make it\n\nWHYX64 123456789012\n\nDiscussion: none
2 message Test it\n\nReviewed-by: Ann\n\nWHY\nLINKToo.
> MESSAGE .*more than 76 .*x{64} 1
> MESSAGE .*no tag "Discussion
> MESSAGE a tag is not in the last
> MESSAGE .*more than tags

a test that is only removed
2 $regress/sql/gone.sql
2 $modules/meson.build
2 $new/Makefile
2 $new/meson.build
2 $new/test_new.c
2 $new/sql/one.sql
2 $new/specs/two.spec
2 $new/t/001_x.pl
> two has-test From 0.*: the patch touches no test

files that a patch must not touch
1 TALK x\n
1 src/x.orig x\n
1 src/pgseries.conf x\n
1 src/include/catalog/catversion.h x\n
> one forbidden-path diff .*TALK: a patch must not touch .*TALK
> one forbidden-path diff .*x.orig: a patch must not touch .*x.orig
> one forbidden-path diff .*pgseries.conf: a patch must not touch .*pgseries.conf
> one forbidden-path diff .*catversion.h: a patch must not touch .*catversion.h

what is allowed: 64 characters beyond ASCII, a line of 76, a long link, these files, a C file that is included, one listed in the directory above
1 message AE64\n\nWHYX64 12345678901\n\nAuthor: Ann <a@b.c>\nDiscussion: https://postgr.es/m/X64X64
1 $foo/part.c int y;\n
1 $foo/sub/deep.c int z;\n
1 $foo/bar.c /int x/int x\n#include "part.c"/
1 $foo/Makefile /bar\.o/bar.o sub/deep.o/
1 $foo/meson.build /\n\)/\n  'sub/deep.c',\n)/
1 $foo/gone.c
1 configure x\n
1 meson_options.txt x\n
1 config/x.m4 x\n
1 .gitignore x\n
1 contrib/README x\n

whitespace
1 $foo/bar.c /\z/ \tint b;\n    int c;\n\n/
1 $regress/sql/new.sql /\z/    SELECT 2; \n/
1 doc/src/sgml/config.sgml /\z/a\tb\n\xc2\xa0\n/
> one whitespace \+a\tb: tab or no-break
> one whitespace \+\xc2\xa0: tab or no-break
> one whitespace From .*/bar.c:13: space before
> one whitespace From .*/bar.c:14: indent with spaces
> one whitespace From .*/bar.c:15: new blank line at EOF
> one whitespace From .*/new.sql:2: trailing

files and a module that are not listed, tests without schedule
1 $foo/Makefile /bar\.o/rebar.o/
1 $regress/parallel_schedule /new/new2/
2 $new/meson.build /test_new\.c//
2 $new/meson.build /001_x//
2 $new/Makefile /= one/=/
2 $modules/meson.build
> one listed diff .*bar.c: bar is in no Makefile
> one listed diff .*new.sql: new is in no schedule
> two listed diff .*new.c: test_new is in no meson.build
> two listed diff .*new/meson.build: test_new is in no meson.build
> two listed diff .*one.sql: one is in no Makefile
> two listed diff .*x.pl: t/001_x.pl is in no meson.build

a setting without documentation, change of an old one; OIDs out of range, rows that keep theirs
1 doc/src/sgml/config.sgml
1 $misc/guc_tables.c /enable_new/Enable_New/
1 $misc/guc_tables.c /"old", PGC_US/"old", PGC_S/
> one gucs \+.*"Enable_New".*: no id="guc-enable-new"
1 $am.dat /'405'/'405', x => '1'/
1 $am.dat /'8700'/'8700', x => '1'/
1 $am.dat /\A/{ oid => '7999', array_type_oid => '10000' },\n/
1 $am.h /\z/CATALOG(pg_x,7001,X)\n/
> one oids \+.*7999.*: OID 7999 is not in the range
> one oids \+.*7999.*: OID 10000 is not in the range
> one oids \+CATALOG.*: OID 7001 is not in the range

typedefs that are not listed, a variable that is none
1 $indent/typedefs.list /Bar\n|bar_hook\n//
1 $foo/foo.c /\tx;/\tx0;/
1 $foo/foo.c /\z/static struct\n{\n\tint\t\ta;\n} var;\n/
> one typedefs diff .*bar.c: Bar is not in
> one typedefs diff .*bar.c: bar_hook is not in

layout that pgindent would change, or refuses
1 $foo/bar.c /(?=\treturn 2)/\tUGLY;\n/
1 $foo/foo.c /return/SYNTAX/
> one pgindent From .*/bar.c:8: pgindent would
> one pgindent From .*/foo.c: .*Unbalanced parens
EOT
my %short = (
	WHY => $why,
	LINK => $link,
	X64 => 'x' x 64,
	AE64 => "\xc3\xa4" x 64,
	MESSAGE => '(one|two) commit-message From 0{40}.*:');
$cases =~ s/(WHY|LINK|X64|AE64|MESSAGE)/$short{$1} =~ s{\n}{\\n}gr/ge;
for my $case (split /\n\n/, $cases)
{
	my ($name, @lines) = split /\n/, $case;
	export(grep { !/^> / } @lines);
	findings_are($name, lint($program), map { /^> (.*)/ } @lines);
}

# A fault that nobody has reported has no thread.
my $one = $first;
remove_tree("$patches/one");
$first =~ s/^one/fixes/;
$f->series("# topic: fixes\n$first\n\n# topic: two\n$second\n");
export(
	"1 message Make it\n\n$why" =~ s/\n/\\n/gr,
	"2 message Test it\n\n$why" =~ s/\n/\\n/gr);
findings_are(
	'no thread',
	lint($program),
	'two commit-message From 0{40}.*no tag "Discussion',
	'two commit-message From 0{40}.*more than tags',
	'two commit-message From 0{40}.*fewer than two');
remove_tree("$patches/fixes");
$first = $one;
$f->series("# topic: one\n$first\n\n# topic: two\n$second\n");

# Files beside the series, and the text of a finding.
export();
spew("$patches/$_", "x\n") for 'one/0002-z.patch', '0003-z.patch';
is( PgSeries::Lint::format_text(lint($program)),
	join(
		'',
		map {
			"patches/18/$_:1: series-files: it is not listed; list it in the file \"series\" or remove it\n"
		} '0003-z.patch',
		'one/0002-z.patch'),
	'patches that are not listed');
unlink "$patches/0003-z.patch" or die $!;

# What cannot be checked is said; what fails, and a patch that does not apply, is an
# error.
export();
{
	local $ENV{PATH} = '/usr/bin:/bin';
	is( PgSeries::Lint::format_text(lint()),
		"skipped pgindent: there is no pg_bsd_indent; run: pgseries build\n",
		'no pg_bsd_indent');
}
ok(!eval { lint('/nowhere'); 1 }, 'a pgindent that fails');
like($@, qr/^pgindent failed on .*$first; .*\/nowhere again$/m, 'is named');
spew("$patches/$first", slurp("$patches/$first") =~ s/^-\treturn 1/-\t7/mr);
ok(!eval { lint(); 1 }, 'a patch that does not apply');
is($@->{code}, 3, 'code 3');

done_testing();
