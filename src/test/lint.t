# Each rule of PgSeries::Lint has lines that it passes and lines that it refuses,
# with the file and the line.  A sound series on a small tree has something of
# everything that the rules look at; each case changes some of it.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib", "$FindBin::RealBin/../lib";

use File::Path qw(make_path remove_tree);
use Fixture    qw(slurp spew);
use Test::More;

use PgSeries::Config;
use PgSeries::Git qw(git git_status);
use PgSeries::Lint;
use PgSeries::Series;

my $f = Fixture->new;
my $top = $f->dir;
my $patches = "$top/patches/18";
my $tree = "$top/work/tree";

# Stand-ins for the tools: a word is what they would change.
my $pgindent = <<'END';
my ($indent) = map { /^--indent=(.*)/ } @ARGV;
die "no indent\n" unless -x $indent && grep { $_ eq '--check' } @ARGV;
my $status = 0;
for my $file (grep { !/^--/ } @ARGV)
{
	(my $flex = $file) =~ s/[ch]$/l/;
	next if -f $flex;
	open(my $in, '<', $file) or die;
	my $text = join('', <$in>);
	if ($text =~ /SYNTAX/)
	{
		print STDERR "Failure in $file: Error\@1: Unbalanced parens\n";
		$status = 3;
	}
	$text =~ s/FAR/far/g if $text =~ /NEAR/;
	next unless $text =~ s/UGLY/pretty/g || $text =~ /far/;
	open(my $out, '>', 'new') or die;
	print $out $text;
	close $out;
	print `diff -upd $file new`;
	$status ||= 2;
}
exit $status;
END
my $perltidy = <<'END';
#!/usr/bin/perl
if ($ARGV[0] eq '--version') { print "This is perltidy, vVERSION\n"; exit; }
die "no profile\n" unless $ARGV[0] =~ /^--profile=(.+)/ && -f $1;
open(my $in, '<', $ARGV[1]) or die;
my $text = join('', <$in>);
die "refused\n" if $text =~ /SYNTAX/;
$text =~ s/UGLY/pretty/g;
open(my $out, '>', $ARGV[1]) or die;
print $out $text;
END
my %tool = (
	pgindent => "$top/bin/pg_bsd_indent",
	perltidy => "$top/bin/perltidy",
	old_perltidy => "$top/bin/old_perltidy");
spew($tool{pgindent}, "#!/bin/sh\n");
spew($tool{perltidy}, $perltidy =~ s/VERSION/20230309/r);
spew($tool{old_perltidy}, $perltidy =~ s/VERSION/20200101/r);
chmod 0755, values %tool or die "chmod: $!";

# The small tree.
my $own = "# Copyright (c) 2026, PostgreSQL Global Development Group\n\n";
my $misc = 'src/backend/utils/misc';
my $foo = 'src/backend/foo';
my $am = 'src/include/catalog/pg_am';
my $regress = 'src/test/regress';
my $isolation = 'src/test/isolation';
my $modules = 'src/test/modules';
my $new = "$modules/test_new";
my $indent = 'src/tools/pgindent';

sub header
{
	my ($name) = @_;
	return "/*-----\n *\n * $name\n *\n"
	  . " * Copyright (c) 2026, PostgreSQL Global Development Group\n *\n */\n";
}
my %base = (
	'.gitattributes' => "* whitespace=space-before-tab,trailing-space\n"
	  . "*.[chly] whitespace=space-before-tab,trailing-space,indent-with-non-tab,tabwidth=4\n"
	  . "*.out -whitespace\n",
	'configure.ac' => "AC_INIT\n",
	'configure' => "#! /bin/sh\n",
	"$foo/Makefile" => "OBJS = \\\n\tfoo.o\n",
	"$foo/meson.build" => "sources += files(\n  'foo.c',\n)\n",
	"$foo/scan.l" => "%%\n",
	"$foo/foo.c" => header('foo.c')
	  . "typedef struct OldType\n{\n"
	  . join('', map { "\tint\t\tx$_;\n" } 1 .. 8)
	  . "} OldType;\n\n"
	  . "int\nfoo(void)\n{\n\tUGLY();\n\n\n\n\n\n\tFAR();\n\n\n\n\n\n"
	  . "\treturn 1;\n}\n",
	"$misc/guc_tables.c" =>
	  "\t{\n\t\t{\"old\", PGC_USERSET, 0,\n\t\t\tNULL\n\t\t},\n\t},\n",
	"$misc/postgresql.conf.sample" => "#old = on\n",
	'doc/src/sgml/config.sgml' => "<varlistentry id=\"guc-old\">\n",
	'src/include/catalog/catversion.h' => "#define CATALOG_VERSION_NO 1\n",
	"$am.h" => "CATALOG(pg_am,2601,AccessMethodRelationId)\n"
	  . "DECLARE_UNIQUE_INDEX_PKEY(pg_am_oid_index, 2652, AmOidIndexId)\n",
	"$am.dat" => "{ oid => '405' },\n{ oid => '8700' },\n",
	"$regress/parallel_schedule" => "test: old\n",
	"$regress/sql/gone.sql" => "SELECT 0;\n",
	"$isolation/isolation_schedule" => "test: old-one\n",
	"$modules/Makefile" => "SUBDIRS = \\\n\ttest_old\n",
	"$modules/meson.build" => "subdir('test_old')\n",
	"$indent/pgindent" => $pgindent,
	"$indent/perltidyrc" => "--backup-and-modify-in-place\n",
	"$indent/typedefs.list" => "OldType\n",
	'src/tools/old.pl' => "print 1;\n",
	'src/tools/bare.pl' => 'print 1;',);
my $why = "Foo was slow.\nNow it is not.\n";
my $link = "Discussion: https://postgr.es/m/1\n";

# The sound series: { message, files } for each patch.
sub sound
{
	(my $calls = $base{"$foo/foo.c"}) =~ s/return 1/return bar()/;
	return (
		{
			message => "Make foo faster\n\n$why\n$link",
			files => {
				"$foo/Makefile" => "OBJS = \\\n\tbar.o \\\n\tfoo.o\n",
				"$foo/meson.build" =>
				  "sources += files(\n  'bar.c',\n  'foo.c',\n)\n",
				"$foo/foo.c" => $calls,
				"$foo/bar.c" => header('bar.c')
				  . "typedef struct Bar\n{\n\tint\t\ta;\n} Bar;\n\n"
				  . "typedef int (*bar_hook) (int x);\n\n"
				  . "int\nbar(void)\n{\n\treturn 2;\t\t/* two */\n}\n",
				"$misc/guc_tables.c" => $base{"$misc/guc_tables.c"}
				  . "\t{\n\t\t{\"enable_new\", PGC_USERSET, 0,\n\t\t\tNULL\n\t\t},\n\t},\n",
				"$misc/postgresql.conf.sample" =>
				  "#old = on\n#enable_new = on\n",
				'doc/src/sgml/config.sgml' =>
				  "$base{'doc/src/sgml/config.sgml'}<varlistentry id=\"guc-enable-new\">\n",
				"$am.dat" => $base{"$am.dat"} . "{ oid => '8800' },\n",
				"$am.h" => $base{"$am.h"}
				  . "DECLARE_TOAST(pg_am, 8801, 8802);\n",
				"$indent/typedefs.list" => "Bar\nOldType\nbar_hook\n",
				"$regress/parallel_schedule" => "test: old new\n",
				"$regress/sql/new.sql" => "SELECT 1;\n",
				"$regress/expected/new.out" => " a \n--- \n\n",
				"$isolation/isolation_schedule" =>
				  "test: old-one\ntest: new-one\n",
				"$isolation/specs/new-one.spec" => "session s1\n",
				"$isolation/expected/new-one.out" => "s1\n",
			}
		},
		{
			message => "Test foo harder\n\n$why\n$link",
			files => {
				"$modules/Makefile" =>
				  "SUBDIRS = \\\n\ttest_new \\\n\ttest_old\n",
				"$modules/meson.build" =>
				  "subdir('test_new')\nsubdir('test_old')\n",
				"$new/Makefile" =>
				  "MODULES = test_new\nREGRESS = one\nISOLATION = two\nTAP_TESTS = 1\n",
				"$new/meson.build" =>
				  "${own}files('test_new.c')\n'one',\n'two',\n't/001_x.pl',\n",
				"$new/test_new.c" => header('test_new.c') . "int x;\n",
				"$new/sql/one.sql" => "SELECT 1;\n",
				"$new/expected/one.out" => "1\n",
				"$new/specs/two.spec" => "session s1\n",
				"$new/expected/two.out" => "s1\n",
				"$new/t/001_x.pl" => "${own}print 1;\n",
				'src/tools/old.pl' => "print 1;\nprint 2;\n",
			}
		});
}

# Changes of the commits: edit the contents of a file of patch $n, drop files from
# it, add files to it, replace its message.
sub in_file
{
	my ($n, $path, $edit) = @_;
	return sub {
		my $files = $_[ $n - 1 ]{files};
		$files->{$path} = $base{$path} unless exists $files->{$path};
		my $before = $files->{$path};
		for ($files->{$path}) { $edit->(); }
		die "no change to $path" if $files->{$path} eq $before;
	};
}

sub without
{
	my ($n, @paths) = @_;
	return sub {
		defined delete $_[ $n - 1 ]{files}{$_} or die "no $_" for @paths;
	};
}

sub with
{
	my ($n, %files) = @_;
	return
	  sub { %{ $_[ $n - 1 ]{files} } = (%{ $_[ $n - 1 ]{files} }, %files); };
}

sub message
{
	my ($n, $message) = @_;
	return sub { $_[ $n - 1 ]{message} = $message; };
}

# Makes the commits, and the patches of them: the first of topic one, the second of
# topic two.
my ($first, $second) = qw(one/0001-x.patch two/0001-y.patch);

sub export
{
	my (@changes) = @_;
	my @commits = sound();
	$_->(@commits) for @changes;
	my $data = sub { 'data ' . length($_[0]) . "\n$_[0]\n" };
	my $input = '';
	for my $commit (@commits)
	{
		$input .=
		  "commit refs/heads/made\ncommitter A <a\@b.c> 0 +0000\n"
		  . $data->($commit->{message});
		$input .= "from refs/heads/upstream^0\n"
		  if $commit == $commits[0];
		for my $path (sort keys %{ $commit->{files} })
		{
			my $text = $commit->{files}{$path};
			$input .=
			  defined $text
			  ? "M 100644 inline $path\n" . $data->($text)
			  : "D $path\n";
		}
	}
	git_status($tree, [qw(fast-import --quiet --force)], in => $input) == 0
	  or die 'fast-import failed';
	git($tree,
		qw(format-patch -q --zero-commit --full-index --no-signature -N
		  --no-encode-email-headers -o), "$top/made", 'upstream..made');
	remove_tree(glob "$patches/*/");
	make_path("$patches/one", "$patches/two");
	my @made = sort glob "$top/made/*";
	rename shift @made, "$patches/$_" or die $! for $first, $second;
	return;
}

sub lint
{
	my (%tools) = @_;
	my $config = PgSeries::Config->new(top => $top);
	return PgSeries::Lint->new(PgSeries::Series->new($config), %tool, %tools)
	  ->run;
}

# The number of the only line of a file that matches, or of one after it.
sub line_of
{
	my ($file, $pattern) = @_;
	return line_of($file, $pattern->[0]) + $pattern->[1]
	  if ref $pattern eq 'ARRAY';
	my @lines = split /\n/, slurp("$patches/$file");
	my @found = grep { $lines[ $_ - 1 ] =~ $pattern } 1 .. @lines;
	die "$file: $pattern is on lines (@found)" if @found != 1;
	return $found[0];
}

# Each $want is [ rule, file, line (pattern), message (pattern) ].
sub findings_are
{
	my ($name, $result, @want) = @_;
	my $place = sub { join(' ', @{ $_[0] }{qw(rule file line)}) };
	my @got = @{ $result->{findings} };
	my @expected =
	  map { "$_->[0] patches/18/$_->[1] " . line_of(@$_[ 1, 2 ]) } @want;
	is_deeply([ sort map { $place->($_) } @got ], [ sort @expected ], $name)
	  or diag(PgSeries::Lint::format_text($result));
	for my $i (0 .. $#want)
	{
		ok( (   grep {
						 $place->($_) eq $expected[$i]
					  && $_->{message} =~ $want[$i][3]
					  && $_->{remedy} ne ''
				} @got),
			"$name: $want[$i][3]");
	}
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
my $sound = lint();
findings_are('sound series', $sound);
is_deeply($sound->{skips}, [], 'sound series: nothing is skipped');
is($sound->{checked}, 2, 'sound series: two patches are checked');
is(PgSeries::Lint::format_text($sound), '', 'no text for no finding');

# A case is a name, changes, and what is found.
my $long = 'x' x 64;
my $unsigned = sub { s/.*Copyright.*\n//; };
my @cases = (
	[
		'summaries: 65 characters, full stop, squash mark',
		[
			message(1, 'four ' x 12 . "words\n\n$why\n$link"),
			message(2, "squash! Test.\n\n$why\nTODO: more.\n\n$link")
		],
		[ 'commit-message', $first, qr/^Subject/, qr/has 65 characters/ ],
		[ 'commit-message', $second, qr/^Subject/, qr/full stop/ ],
		[ 'commit-message', $second, qr/^Subject/, qr/"squash!"/ ],
		[ 'commit-message', $second, qr/^TODO/, qr/"TODO"/ ],
	],
	[
		'summary of 64 characters beyond ASCII, line of 76, a long link',
		[
			message(
				1,
				"\xc3\xa4" x 64
				  . "\n\n$why$long 12345678901\n\nAuthor: Ann <a\@b.c>\n"
				  . "Discussion: https://postgr.es/m/$long$long\n")
		],
	],
	[
		'one line of narrative, no discussion',
		[
			message(1, "Make it\n\nFoo was slow.\n\n$link"),
			message(2, "Test it\n\n$why")
		],
		[ 'commit-message', $first, qr/^Subject/, qr/fewer than two/ ],
		[ 'commit-message', $second, qr/^Subject/, qr/no tag "Discussion/ ],
	],
	[
		'a line of 77 characters, tags not at the end, no link',
		[
			message(
				1, "Make it\n\n$why$long 123456789012\n\nDiscussion: none\n"),
			message(2, "Test it\n\nReviewed-by: Ann\n\n$why\n$link")
		],
		[ 'commit-message', $first, qr/^x{64}/, qr/more than 76/ ],
		[ 'commit-message', $first, qr/^Discussion/, qr/has no link/ ],
		[ 'commit-message', $second, qr/^Reviewed/, qr/last paragraph/ ],
	],
	[
		'a test that is only removed',
		[ sub { $_[1]{files} = { "$regress/sql/gone.sql" => undef } } ],
		[ 'has-test', $second, qr/^From 0/, qr/touches no test/ ],
	],
	[
		'files that a patch must not touch',
		[
			with(
				1,
				'TALK' => "x\n",
				'src/x.orig' => "x\n",
				'src/pgseries.conf' => "x\n",
				'configure' => "#! /bin/sh\n:\n",
				'src/include/catalog/catversion.h' => "#define V 2\n")
		],
		[ 'forbidden-path', $first, qr/^diff.*TALK/, qr/must not touch/ ],
		[ 'forbidden-path', $first, qr/^diff.*x\.orig/, qr/must not touch/ ],
		[ 'forbidden-path', $first, qr/^diff.*pgseries/, qr/must not touch/ ],
		[ 'forbidden-path', $first, qr/^diff.*configure/, qr/configure\.ac/ ],
		[ 'catversion', $first, qr/^diff.*catversion/, qr/catalog version/ ],
	],
	[
		'files that it may touch',
		[
			with(
				1,
				'configure' => "#! /bin/sh\n:\n",
				'configure.ac' => "AC_INIT(1)\n",
				'meson.build' => "${own}x\n",
				'config/x.m4' => "x\n",
				'.gitignore' => "/x\n",
				'contrib/README' => "x\n")
		],
	],
	[
		'whitespace, and what SGML must not have',
		[
			in_file(1, "$foo/bar.c", sub { s/\z/ \tint b;\n    int c;\n\n/ }),
			in_file(
				1, "$regress/sql/new.sql", sub { s/\z/    SELECT 2; \n/ }),
			in_file(
				1, 'doc/src/sgml/config.sgml',
				sub { s/\z/a\tb\n\xc2\xa0\n/ })
		],
		[ 'whitespace', $first, qr/^\+ \tint b/, qr/bar\.c:20: space befor/ ],
		[ 'whitespace', $first, qr/^\+    int c/, qr/indent with spaces/ ],
		[
			'whitespace', $first,
			[ qr/^\+    int c/, 1 ], qr/blank line at EOF/
		],
		[ 'whitespace', $first, qr/^\+.*SELECT 2/, qr/trailing/ ],
		[ 'docs', $first, qr/^\+a\tb/, qr/config\.sgml:3: tab/ ],
		[ 'docs', $first, qr/^\+\xc2\xa0/, qr/config\.sgml:4: no-break/ ],
	],
	[
		'headers that miss something',
		[
			in_file(1, "$foo/bar.c", sub { s/bar\.c/baz.c/ }),
			map { in_file(2, "$new/$_", $unsigned) }
			  qw(test_new.c t/001_x.pl meson.build)
		],
		[ 'file-header', $first, qr/^diff.*bar\.c/, qr/name of the file/ ],
		[ 'file-header', $second, qr/^diff.*test_new\.c/, qr/copyright/ ],
		[ 'file-header', $second, qr/^diff.*001_x/, qr/copyright/ ],
		[ 'file-header', $second, qr/^diff.*new\/meson/, qr/copyright/ ],
	],
	[
		'files and a module that are not listed, tests without schedule',
		[
			in_file(1, "$foo/Makefile", sub { s/bar\.o/rebar.o/ }),
			in_file(1, "$regress/parallel_schedule", sub { s/new/new2/ }),
			in_file(1, "$isolation/isolation_schedule", sub { s/new-one/x/ }),
			without(1, "$regress/expected/new.out"),
			in_file(
				2, "$new/meson.build", sub { s/test_new\.c//; s/001_x// }),
			in_file(2, "$new/Makefile", sub { s/= one/=/ }),
			without(2, "$modules/Makefile", "$modules/meson.build")
		],
		[ 'c-file-listed', $first, qr/^diff.*bar\.c/, qr{$foo/Makefile} ],
		[ 'test-scheduled', $first, qr/^diff.*new\.sql/, qr/parallel_sche/ ],
		[ 'test-scheduled', $first, qr/^diff.*new\.sql/, qr/no .*new\.out/ ],
		[ 'test-scheduled', $first, qr/^diff.*one\.spec/, qr/isolation_sc/ ],
		[ 'c-file-listed', $second, qr/^diff.*new\.c/, qr{$new/meson} ],
		[ 'c-file-listed', $second, qr/^diff.*new\/Makef/, qr{les/Makef} ],
		[ 'c-file-listed', $second, qr/^diff.*new\/meson/, qr{les/meson} ],
		[ 'test-scheduled', $second, qr/^diff.*one\.sql/, qr{$new/Makef} ],
		[ 'test-scheduled', $second, qr/^diff.*001_x/, qr{$new/meson} ],
	],
	[
		'a C file that is included, one listed in the directory above',
		[
			with(1, "$foo/part.c" => header('part.c')),
			in_file(1, "$foo/bar.c", sub { s/int x/$&\n#include "part.c"/ }),
			with(1, "$foo/sub/deep.c" => header('deep.c')),
			in_file(1, "$foo/Makefile", sub { s/bar\.o/bar.o sub\/deep.o/ }),
			in_file(
				1, "$foo/meson.build",
				sub { s/\n\)/\n  'sub\/deep.c',\n)/ })
		],
	],
	[
		'a setting without sample and documentation',
		[
			without(
				1, "$misc/postgresql.conf.sample",
				'doc/src/sgml/config.sgml')
		],
		[ 'gucs', $first, qr/^\+.*"enable_new"/, qr/conf\.sample/ ],
		[ 'gucs', $first, qr/^\+.*"enable_new"/, qr/guc-enable-new/ ],
	],
	[
		'a setting not meant for the sample, in mixed case; change of an old one',
		[
			without(1, "$misc/postgresql.conf.sample"),
			in_file(
				1,
				"$misc/guc_tables.c",
				sub {
					s/"enable_new"(.*\n.*)NULL/"Enable_New"$1NULL,\n\t\t\tGUC_NOT_IN_SAMPLE/;
					s/"old", PGC_USERSET/"old", PGC_SUSET/;
				})
		],
	],
	[
		'OIDs out of range, used by upstream, used by the series',
		[
			in_file(
				1,
				"$am.dat",
				sub {
					s/8800/8700/;
					s/\z/{ oid => '7999', array_type_oid => '10000' },\n/;
				}),
			in_file(
				1,
				"$am.h",
				sub {
					s/\z/CATALOG(pg_x,7001,X) BKI_ROWTYPE_OID(8801,Y)\nDECLARE_INDEX(x, 7002, X);\nCATALOG(pg_y,7003,X) BKI_BOOTSTRAP\n/;
				}),
			with(2, "$am.dat" => "$base{\"$am.dat\"}\n{ oid => '8802' },\n")
		],
		[ 'oids', $first, qr/^\+.*8700/, qr/used by upstream/ ],
		[ 'oids', $first, qr/^\+.*7999/, qr/7999 is not in the range/ ],
		[ 'oids', $first, qr/^\+.*7999/, qr/10000 is not in the range/ ],
		[ 'oids', $first, qr/^\+.*7001/, qr/7001 is not in the range/ ],
		[ 'oids', $first, qr/^\+.*7001/, qr/8801 is also used by .*$first:/ ],
		[ 'oids', $first, qr/^\+.*7002/, qr/range/ ],
		[ 'oids', $second, qr/^\+.*8802/, qr/used by .*$first:\d+$/ ],
	],
	[
		'rows that keep their OIDs',
		[ in_file(1, "$am.dat", sub { s/(405|8700)'/$1', x => '1'/g }) ],
	],
	[
		'typedefs that are not listed, a variable that is none',
		[
			in_file(
				1,
				"$indent/typedefs.list",
				sub { s/Bar\n|bar_hook\n//g }),
			in_file(
				1,
				"$foo/foo.c",
				sub {
					s/x1;/x0;/;
					s/FAR\(\);\n/$&static struct\n{\n\tint\t\ta;\n} var;\n/;
				})
		],
		[ 'typedefs', $first, qr/^\+\} Bar;/, qr/Bar is not in/ ],
		[ 'typedefs', $first, qr/^\+.*bar_hook\)/, qr/bar_hook is not in/ ],
	],
	[
		'layout that the tools would change, here and far away',
		[
			in_file(1, "$foo/bar.c", sub { s/(?=\treturn 2)/\tUGLY;\n/ }),
			in_file(
				1,
				"$foo/foo.c",
				sub { s/bar\(\)/bar(NEAR)/; s/\z/\tUGLY();\n/ }),
			in_file(2, 'src/tools/bare.pl', sub { s/\z/\nprint UGLY;\n/ }),
			in_file(2, "$new/t/001_x.pl", sub { s/print/UGLY/ }),
			with(2, 'src/tools/old.pl' => undef),
			with(1, "$foo/scan.h" => header('scan.h') . "UGLY2\n")
		],
		[ 'perltidy', $second, qr/^\+print UGLY/, qr/bare\.pl:2: / ],
		[ 'pgindent', $first, qr/^\+\tUGLY;/, qr/bar\.c:18: .*would change/ ],
		[ 'pgindent', $first, qr/^\+\tUGLY\(\)/, qr/foo\.c:\d+: / ],
		[ 'pgindent', $first, qr/^diff.*foo\.c/, qr/foo\.c:29: .*change/ ],
		[ 'perltidy', $second, qr/^\+UGLY/, qr/001_x\.pl:3: .*change/ ],
	],
	[
		'files that the tools refuse',
		[
			in_file(1, "$foo/bar.c", sub { s/return 2/SYNTAX/ }),
			in_file(2, 'src/tools/old.pl', sub { s/print 2/SYNTAX/ })
		],
		[ 'pgindent', $first, qr/^diff.*bar\.c/, qr/Unbalanced parens/ ],
		[ 'perltidy', $second, qr/^diff.*old\.pl/, qr/refused/ ],
	],);
for my $case (@cases)
{
	my ($name, $changes, @want) = @$case;
	export(@$changes);
	findings_are($name, lint(), @want);
}

# Files beside the series, and the text of a finding.
export();
spew("$patches/$_", "x\n") for 'one/0002-z.patch', '0003-z.patch';
is( PgSeries::Lint::format_text(lint()),
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
	is( PgSeries::Lint::format_text(
			lint(pgindent => undef, perltidy => $tool{old_perltidy})),
		"skipped perltidy: needs perltidy 20230309, this is 20200101\n"
		  . "skipped pgindent: there is no pg_bsd_indent; run: pgseries build\n",
		'other tools');
}
ok(!eval { lint(pgindent => '/nowhere'); 1 }, 'a pgindent that fails');
like($@, qr/^pgindent failed on .*$first; .*\/nowhere again$/m, 'is named');
spew("$patches/$first", slurp("$patches/$first") =~ s/^-\treturn 1/-\t7/mr);
ok(!eval { lint(); 1 }, 'a patch that does not apply');
is($@->{code}, 3, 'code 3');

done_testing();
