# Each rule of PgSeries::Lint has a patch that it passes and one that it
# refuses, with the file and the line.  A sound series on a small tree has
# something of everything that the rules look at; each case changes one thing.

use strict;
use warnings FATAL => 'all';

use Digest::SHA;
use File::Find            qw(find);
use File::Path            qw(make_path remove_tree);
use File::Spec::Functions qw(abs2rel);
use File::Temp;
use FindBin;
use Test::More;

use lib "$FindBin::RealBin/../lib";
use PgSeries::Git qw(git git_capture git_status);
use PgSeries::Lint;
use PgSeries::Util qw(read_file write_file);

my $temp = File::Temp->newdir;
my $upstream = "$temp/upstream";
my $top = "$temp/top";
my $patches = "$top/patches";
my %tools = (
	pgindent => "$temp/pg_bsd_indent",
	perltidy => "$temp/perltidy");

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

sub header
{
	my ($name, $dashes) = @_;
	return
		"/*-----\n *\n * $name\n *	  what it does\n *\n"
	  . " * Copyright (c) 2026, PostgreSQL Global Development Group\n *\n"
	  . " *-----\n */\n";
}

my $own = "# Copyright (c) 2026, PostgreSQL Global Development Group\n\n";
my %base = (
	'.gitattributes' => join("\n",
		'* whitespace=space-before-tab,trailing-space',
		'*.[chly] whitespace=space-before-tab,trailing-space,indent-with-non-tab,tabwidth=4',
		'*.py whitespace=space-before-tab,trailing-space,tab-in-indent',
		'*.out -whitespace',
		'README conflict-marker-size=48',
		''),
	'configure.ac' => "AC_INIT\n",
	'configure' => "#! /bin/sh\n",
	'src/backend/foo/Makefile' => "OBJS = \\\n\tfoo.o\n",
	'src/backend/foo/meson.build' => "sources += files(\n  'foo.c',\n)\n",
	'src/backend/foo/scan.l' => "%%\n",
	'src/backend/foo/foo.c' => header('foo.c')
	  . "int\nfoo(void)\n{\n"
	  . "\tUGLY();\n\n\n\n\n\n\tFAR();\n\n\n\n\n\n"
	  . "\treturn 1;\n}\n\n/*\n"
	  . join('', map { " * Line $_.\n" } 1 .. 16) . " */\n",
	'src/backend/utils/misc/guc_tables.c' =>
	  "\t{\n\t\t{\"old\", PGC_USERSET, 0,\n\t\t\tNULL\n\t\t},\n\t},\n",
	'src/backend/utils/misc/postgresql.conf.sample' => "#old = on\n",
	'doc/src/sgml/config.sgml' => "<varlistentry id=\"guc-old\">\n",
	'src/include/catalog/catversion.h' => "#define CATALOG_VERSION_NO 1\n",
	'src/include/catalog/pg_am.h' =>
	  "CATALOG(pg_am,2601,AccessMethodRelationId)\n"
	  . "DECLARE_UNIQUE_INDEX_PKEY(pg_am_oid_index, 2652, AmOidIndexId)\n",
	'src/include/catalog/pg_am.dat' =>
	  "{ oid => '405' },\n{ oid => '8700' },\n",
	'src/test/regress/parallel_schedule' => "test: old\n",
	'src/test/isolation/isolation_schedule' => "test: old-one\n",
	'src/test/modules/Makefile' => "SUBDIRS = \\\n\ttest_old\n",
	'src/test/modules/meson.build' => "subdir('test_old')\n",
	'src/tools/pgindent/pgindent' => $pgindent,
	'src/tools/pgindent/perltidyrc' => "--backup-and-modify-in-place\n",
	'src/tools/pgindent/typedefs.list' => "OldType\n",
	'src/tools/old.pl' => "print 1;\n",
	'src/tools/bare.pl' => 'print 1;',
	'src/test/regress/sql/gone.sql' => "SELECT 0;\n",);

# The sound series: { message, files } for each patch.
sub sound
{
	my $module = 'src/test/modules/test_new';
	my $tail = "\n\nDiscussion: https://postgr.es/m/1\n";
	my $oids = 'src/include/catalog/pg_am';
	(my $foo = $base{'src/backend/foo/foo.c'}) =~ s/return 1/return bar()/;
	(my $guc = $base{'src/backend/utils/misc/guc_tables.c'}) .=
	  "\t{\n\t\t{\"enable_new\", PGC_USERSET, 0,\n\t\t\tNULL\n\t\t},\n\t},\n";
	return (
		{
			message =>
			  "Make foo faster\n\nFoo was slow.\nNow it is not.$tail",
			files => {
				'src/backend/foo/Makefile' =>
				  "OBJS = \\\n\tbar.o \\\n\tfoo.o\n",
				'src/backend/foo/meson.build' =>
				  "sources += files(\n  'bar.c',\n  'foo.c',\n)\n",
				'src/backend/foo/foo.c' => $foo,
				'src/backend/foo/bar.c' => header('bar.c')
				  . "typedef struct Bar\n{\n\tint\t\ta;\n} Bar;\n\n"
				  . "typedef int (*bar_hook) (int x);\n\n"
				  . "int\nbar(void)\n{\n\treturn 2;\t\t/* two */\n}\n",
				'src/backend/utils/misc/guc_tables.c' => $guc,
				'src/backend/utils/misc/postgresql.conf.sample' =>
				  "#old = on\n#enable_new = on\n",
				'doc/src/sgml/config.sgml' =>
				  "$base{'doc/src/sgml/config.sgml'}<varlistentry id=\"guc-enable-new\">\n",
				"$oids.dat" => $base{"$oids.dat"} . "{ oid => '8800' },\n",
				"$oids.h" => $base{"$oids.h"}
				  . "DECLARE_TOAST(pg_am, 8801, 8802);\n",
				'src/tools/pgindent/typedefs.list' =>
				  "Bar\nOldType\nbar_hook\n",
				'src/test/regress/parallel_schedule' => "test: old new\n",
				'src/test/regress/sql/new.sql' => "SELECT 1;\n",
				'src/test/regress/expected/new.out' => " a \n--- \n\n",
				'src/test/isolation/isolation_schedule' =>
				  "test: old-one\ntest: new-one\n",
				'src/test/isolation/specs/new-one.spec' => "session s1\n",
				'src/test/isolation/expected/new-one.out' => "s1\n",
			}
		},
		{
			message => "Test foo harder\n\nIt had no test.\nIt has one.$tail",
			files => {
				'src/test/modules/Makefile' =>
				  "SUBDIRS = \\\n\ttest_new \\\n\ttest_old\n",
				'src/test/modules/meson.build' =>
				  "subdir('test_new')\nsubdir('test_old')\n",
				"$module/Makefile" =>
				  "MODULES = test_new\nREGRESS = one\nISOLATION = two\nTAP_TESTS = 1\n",
				"$module/meson.build" =>
				  "${own}files('test_new.c')\n'one',\n'two',\n't/001_x.pl',\n",
				"$module/test_new.c" => header('test_new.c') . "int x;\n",
				"$module/sql/one.sql" => "SELECT 1;\n",
				"$module/expected/one.out" => "1\n",
				"$module/specs/two.spec" => "session s1\n",
				"$module/expected/two.out" => "s1\n",
				"$module/t/001_x.pl" => "${own}print 1;\n",
				"src/tools/old.pl" => "print 1;\nprint 2;\n",
			}
		});
}

my $series = "# A comment.\n\n# topic: alpha\n0001-Make-foo-faster.patch\n"
  . "\n# topic: beta\n0002-Test-foo-harder.patch\n";
my ($first, $second) =
  qw(patches/0001-Make-foo-faster.patch patches/0002-Test-foo-harder.patch);

sub put
{
	my ($dir, $files) = @_;
	for my $path (sort keys %$files)
	{
		(my $parent = "$dir/$path") =~ s{/[^/]*$}{};
		make_path($parent);
		if (defined $files->{$path})
		{
			write_file("$dir/$path", $files->{$path});
		}
		else { unlink "$dir/$path" or die "$path: $!"; }
	}
	return;
}

# Makes commits on a branch that starts at $from, if any.
sub commit
{
	my ($branch, $from, @commits) = @_;
	my $input = '';
	for my $commit (@commits)
	{
		$input .= "commit $branch\ncommitter Ann <ann\@example.org> 0 +0000\n"
		  . data($commit->{message});
		$input .= "from $from\n" if defined $from;
		$from = undef;
		for my $path (sort keys %{ $commit->{files} })
		{
			my $text = $commit->{files}{$path};
			$input .=
			  defined $text
			  ? "M 100644 inline $path\n" . data($text)
			  : "D $path\n";
		}
	}
	git_status($upstream, [qw(fast-import --quiet --force)], in => $input) ==
	  0
	  or die 'fast-import failed';
	return;
}

sub data
{
	my ($text) = @_;
	return 'data ' . length($text) . "\n$text\n";
}

# Exports the series, as $edit->(@patches) changes it, under the names that
# patches/series has.
my %exported;

sub export
{
	my ($edit) = @_;
	my %files = %exported;
	if ($edit || !%exported)
	{
		my @patches = sound();
		$edit->(@patches) if $edit;
		commit('refs/heads/series', 'refs/heads/upstream^0', @patches);
		git($upstream,
			qw(format-patch -q --zero-commit --full-index --no-signature -N
			  --no-encode-email-headers -o), "$temp/out", 'upstream..series');
		my ($one, $two) = sort glob "$temp/out/*";
		%files = ($first => read_file($one), $second => read_file($two));
		%exported = %files unless $edit;
		unlink $one, $two;
	}
	remove_tree($patches);
	put($top, \%files);
	put($patches, { series => $series, BASE => base() });
	return;
}

my $base_tree;

sub base
{
	my ($tree) = @_;
	$base_tree ||= git_capture($upstream, 'rev-parse', 'upstream^{tree}');
	$tree = $base_tree unless defined $tree;
	return "version = 18.6\nurl = https://example.org/x\nsha256 = 0\n"
	  . "tree = $tree\npackage = postgresql-18\n";
}

sub edit_text
{
	my ($file, $edit) = @_;
	local $_ = read_file("$top/$file");
	my $before = $_;
	$edit->();
	die "no change to $file" if $_ eq $before;
	write_file("$top/$file", $_);
	return;
}

sub lint
{
	my (%args) = @_;
	return PgSeries::Lint->new(
		top => $top,
		tree => $upstream,
		tools => \%tools,
		%args)->run;
}

# The number of the only line of a file that matches.
sub line_of
{
	my ($file, $pattern) = @_;
	return $pattern unless ref $pattern;
	my @lines = split /\n/, read_file("$top/$file");
	my @found = grep { $lines[ $_ - 1 ] =~ $pattern } 1 .. @lines;
	die "$file: $pattern is on lines (@found)" if @found != 1;
	return $found[0];
}

# Each $want is [ rule, file, line (number or pattern), message (pattern) ].
sub findings_are
{
	my ($name, $result, @want) = @_;
	my @got = @{ $result->{findings} };
	my $place = sub { join(' ', @{ $_[0] }{qw(rule file line)}) };
	my @expected =
	  map { "$_->[0] $_->[1] " . line_of(@$_[ 1, 2 ]) } @want;
	is_deeply([ sort map { $place->($_) } @got ], [ sort @expected ], $name)
	  or diag(PgSeries::Lint::format_text($result));
	for my $i (0 .. $#want)
	{
		my ($found) = grep { $place->($_) eq $expected[$i] } @got;
		like($found ? $found->{message} : '', $want[$i][3], "$name: message");
	}
	return;
}

# Everything below a directory, with contents.
sub snapshot
{
	my ($dir) = @_;
	my %files;
	find(
		{
			no_chdir => 1,
			wanted => sub {
				$files{$_} =
				  -f $_ ? Digest::SHA::sha1_hex(read_file($_)) : 'd';
			}
		},
		$dir);
	return \%files;
}

make_path($top);
put($temp,
	{
		pg_bsd_indent => "#!/bin/sh\n",
		perltidy => $perltidy =~ s/VERSION/20230309/r,
		old_perltidy => $perltidy =~ s/VERSION/20200101/r,
	});
chmod 0755, map { "$temp/$_" } qw(pg_bsd_indent perltidy old_perltidy)
  or die "chmod: $!";
git($temp, qw(init -q --bare), $upstream);
put($upstream, { 'info/attributes' => $base{'.gitattributes'} });
commit('refs/heads/upstream', undef,
	{ message => 'Upstream', files => \%base });

# The sound series.
export();
my $before = [ snapshot($top), snapshot($upstream) ];
my $sound = lint();
findings_are('sound series: no finding', $sound);
findings_are('relative path', lint(patches => abs2rel($patches)));
is_deeply($sound->{skips}, [], 'sound series: nothing skipped');
is($sound->{checked}, 2, 'sound series: two patches checked');
is_deeply([ snapshot($top), snapshot($upstream) ],
	$before, 'nothing is modified');
is(PgSeries::Lint::format_text($sound), '', 'no text for no finding');

# A case is a name, a change and what is found.  The change is code that is
# called with the patches as sound() has them, or [ file, code ] to edit an
# exported file.  "deep" stands for a check with upstream's tree, which a
# finding that needs it asks for by itself.
my $misc = 'src/backend/utils/misc';
my $foo = 'src/backend/foo';
my $am = 'src/include/catalog/pg_am';
my $regress = 'src/test/regress';
my $isolation = 'src/test/isolation';
my $modules = 'src/test/modules';
my $new = "$modules/test_new";

# Changes: edit the contents of a file of patch $n, drop files from it, add
# files to it, replace its message.
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
		my $files = $_[ $n - 1 ]{files};
		for (@paths) { defined delete $files->{$_} or die "no $_"; }
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

sub all
{
	my (@changes) = @_;
	return sub { my @patches = @_; $_->(@patches) for @changes; };
}

my $why = "Foo was slow.\nNow it is not.\n";
my $link = "Discussion: https://postgr.es/m/1\n";
my $long = 'x' x 64;
my $list = 'patches/series';

my @cases = (

	# series-files
	[
		'a patch that is not there',
		[ $list, sub { s/\n\z/\n0003-No.patch\n/ } ],
		[ 'series-files', $list, qr/No/, qr/there is no file/ ]
	],
	[
		'a patch that is not listed',
		[ $list, sub { s/^0002.*\n//m } ],
		[ 'series-files', $second, 1, qr/not listed/ ],
		[ 'topic-tests', $list, qr/beta/, qr/isolation/ ],
		[ 'topic-tests', $list, qr/beta/, qr/isolation/ ],
	],
	[
		'a patch listed twice',
		[ $list, sub { s/^(0002.*\n)/$1$1/m } ],
		[ 'series-files', $list, 8, qr/twice/ ]
	],
	[
		'a gap in the numbers',
		[
			$list,
			sub {
				s/0002/0003/;
				rename "$top/$second", "$patches/0003-Test-foo-harder.patch"
				  or die $!;
			}
		],
		[ 'series-files', $list, qr/0003/, qr/should have number 0002/ ]
	],
	[
		'a name of another form',
		[
			$list,
			sub {
				s/0002-.*/v2-0002-x.patch/;
				rename "$top/$second", "$patches/v2-0002-x.patch" or die $!;
			}
		],
		[ 'series-files', $list, qr/v2/, qr/form NNNN-words/ ]
	],
	[
		'a name as git format-patch makes it',
		[
			$list,
			sub {
				s/0002-.*/0002-Test-foo_bar.-and.c-.patch/;
				rename "$top/$second",
				  "$patches/0002-Test-foo_bar.-and.c-.patch"
				  or die $!;
			}
		],
	],
	[
		'a patch without a topic',
		[ $list, sub { s/^# topic: alpha\n//m } ],
		[ 'series-files', $list, qr/0001/, qr/no topic/ ]
	],
	[
		'a bad name of a topic',
		[ $list, sub { s/beta/be ta/ } ],
		[ 'series-files', $list, qr/be ta/, qr/no name of a topic/ ]
	],
	[
		'a topic opened twice',
		[ $list, sub { s/beta/alpha/ } ],
		[ 'series-files', $list, 6, qr/opened twice/ ]
	],

	# export-form
	[
		'a commit id, no date, a numbered subject',
		[
			$first,
			sub {
				s/^From 0/From 1/;
				s/^Date:.*\n//m;
				s/\[PATCH\]/[PATCH v2 1\/2]/;
			}
		],
		[ 'export-form', $first, 1, qr/commit of zeroes/ ],
		[ 'export-form', $first, 1, qr/commit of zeroes/ ],
		[ 'export-form', $first, qr/^Subject/, qr/\Q[PATCH]\E/ ],
	],
	[
		'a signature',
		[ $first, sub { s/\z/-- \n2.39.5\n/ } ],
		[ 'export-form', $first, qr/^-- $/, qr/outside of the diff/ ]
	],
	[
		'a line end of DOS',
		[ $first, sub { s/^(\+SELECT 1;)$/$1\r/m } ],
		[ 'export-form', $first, qr/^\+SELECT/, qr/DOS/ ]
	],
	[
		'line ends of DOS throughout',
		[ $first, sub { s/\n/\r\n/g } ],
		[ 'export-form', $first, 1, qr/DOS/ ]
	],
	[
		'two patches in a file',
		[
			$second,
			sub { s/\z/From 0000000000000000000000000000000000000000 Mon\n/ }
		],
		[ 'export-form', $second, qr/ Mon$/, qr/second patch/ ]
	],
	[
		'a binary file',
		with(1, "$regress/data/x" => "\0\1\2"),
		[ 'export-form', $first, qr/^GIT binary/, qr/x: binary file/ ]
	],
	[
		'short object names',
		[ $first, sub { s/^(index \w{7})\w{33}/$1/m } ],
		[ 'export-form', $first, qr/^index \w{7}\./, qr/short object/ ]
	],
	[
		'a message without a diff',
		[ $second, sub { s/^---\n.*//ms } ],
		[ 'export-form', $second, 1, qr/no diff/ ],
		[ 'has-test', $second, 1, qr/no test/ ],
		[ 'applies', $second, 1, qr/No valid patch/ ],
		[ 'topic-tests', $list, qr/beta/, qr/isolation/ ],
		[ 'topic-tests', $list, qr/beta/, qr/isolation/ ],
	],
	[
		'a file without a last newline',
		in_file(2, 'src/tools/old.pl', sub { s/\n\z// }),
	],
	[
		'a hunk with a wrong count',
		[ $second, sub { s/^@@ -1 \+1,2 @@/@@ -1 +1,3 @@/m } ],
		[ 'export-form', $second, qr/^@@ -1 \+1,3 /, qr/line counts/ ],
		[ 'applies', $second, 1, qr/corrupt patch/ ],
	],

	# commit-message
	[
		'a summary of 65 characters, one with a full stop',
		all(message(1, "four " x 12 . "words\n\n$why\n$link"),
			message(2, "Test.\n\n$why\n$link")),
		[ 'commit-message', $first, qr/^Subject/, qr/has 65 characters/ ],
		[ 'commit-message', $second, qr/^Subject/, qr/full stop/ ],
	],
	[
		'a summary of 64 characters, beyond ASCII',
		message(1, "\xc3\xa4" x 64 . "\n\n$why\n$link"),
	],
	[
		'no summary',
		[ $first, sub { s/^(Subject: \[PATCH\] ).*/$1/m } ],
		[ 'commit-message', $first, qr/^Subject/, qr/no summary/ ]
	],
	[
		'unfinished work',
		all(message(1, "squash! Make it\n\n$why\n$link"),
			message(2, "Test\n\n$why\nTODO: more.\n\n$link")),
		[ 'commit-message', $first, qr/^Subject/, qr/"squash!"/ ],
		[ 'commit-message', $second, qr/^TODO/, qr/"TODO"/ ],
	],
	[
		'one line of narrative, no discussion',
		all(message(1, "Make it\n\nFoo was slow.\n\n$link"),
			message(2, "Test it\n\n$why")),
		[ 'commit-message', $first, qr/^Subject/, qr/fewer than two/ ],
		[ 'commit-message', $second, qr/^Subject/, qr/no tag "Discussion/ ],
	],
	[
		'a line of 77 characters, tags not at the end',
		all(message(1, "Make it\n\n$why$long 123456789012\n\n$link"),
			message(2, "Test it\n\nReviewed-by: Ann\n\n$why\n$link")),
		[ 'commit-message', $first, qr/^x{64}/, qr/more than 76/ ],
		[ 'commit-message', $second, qr/^Reviewed/, qr/last paragraph/ ],
	],
	[
		'a line of 76 characters, a long link, other tags',
		message(
			1,
			"Make it\n\n$why$long 12345678901\n\nAuthor: Ann <a\@b.c>\n"
			  . "Discussion: https://postgr.es/m/$long$long\n"),
	],
	[
		'a discussion without a link',
		message(1, "Make it\n\n$why\nDiscussion: none\n"),
		[ 'commit-message', $first, qr/^Discussion/, qr/has no link/ ]
	],

	# has-test, topic-tests
	[
		'no test',
		sub { $_[1]{files} = { 'src/tools/old.pl' => "print 2;\n" } },
		[ 'has-test', $second, 1, qr/touches no test/ ],
		[ 'topic-tests', $list, qr/beta/, qr/isolation/ ],
		[ 'topic-tests', $list, qr/beta/, qr/isolation/ ],
	],
	[
		'a test that is removed',
		sub { $_[1]{files} = { "$regress/sql/gone.sql" => undef } },
		[ 'has-test', $second, 1, qr/touches no test/ ],
		[ 'topic-tests', $list, qr/beta/, qr/isolation/ ],
		[ 'topic-tests', $list, qr/beta/, qr/isolation/ ],
	],
	[
		'no isolation test',
		without(2, "$new/specs/two.spec", "$new/expected/two.out"),
		[ 'topic-tests', $list, qr/beta/, qr/no isolation test/ ],
	],
	[
		'no regression test',
		without(
			1, "$regress/sql/new.sql",
			"$regress/expected/new.out", "$regress/parallel_schedule"),
		[ 'topic-tests', $list, qr/alpha/, qr/no regression test/ ],
	],

	# forbidden-path, catversion
	[
		'files that a patch must not touch',
		with(
			1,
			'TALK' => "x\n",
			'src/x.orig' => "x\n",
			'src/pgseries.conf' => "x\n",
			'configure' => "#! /bin/sh\n:\n"),
		[ 'forbidden-path', $first, qr/^diff.*TALK/, qr/must not touch/ ],
		[ 'forbidden-path', $first, qr/^diff.*x\.orig/, qr/must not touch/ ],
		[ 'forbidden-path', $first, qr/^diff.*pgseries/, qr/must not touch/ ],
		[ 'forbidden-path', $first, qr/^diff.*configure/, qr/configure\.ac/ ],
	],
	[
		'a path that leaves the tree',
		[ $second, sub { s{src/tools/old\.pl}{src/../../old.pl}g } ],
		[ 'forbidden-path', $second, qr/^diff.*\.\./, qr/must not touch/ ],
		[ 'applies', $second, qr/^diff.*\.\./, qr/does not exist/ ],
	],
	[
		'configure with its source, and other allowed paths',
		with(
			1,
			'configure' => "#! /bin/sh\n:\n",
			'configure.ac' => "AC_INIT(1)\n",
			'meson.build' => "${own}x\n",
			'config/x.m4' => "x\n",
			'.gitignore' => "/x\n",
			'contrib/README' => "x\n"),
	],
	[
		'configure.ac without configure',
		with(1, 'configure.ac' => "AC_INIT(1)\n"),
		[
			'forbidden-path', $first,
			qr/^diff.*configure/, qr/belong together/
		],
	],
	[
		'the catalog version',
		in_file(1, 'src/include/catalog/catversion.h', sub { s/1/2/ }),
		[ 'catversion', $first, qr/^diff.*catversion/, qr/catalog version/ ],
	],

	# whitespace; see also below
	[
		'a space before a tab, a blank line at the end',
		in_file(1, "$foo/bar.c", sub { s/\z/ \tint b;\n\n/ }),
		[
			'whitespace', $first, qr/^\+ \tint b/,
			qr/bar\.c:22: space before/
		],
		[ 'whitespace', $first, 77, qr/bar\.c:23: blank line at the end/ ],
	],

	# docs
	[
		'a tab and a no-break space in SGML',
		in_file(
			1, 'doc/src/sgml/config.sgml', sub { s/\z/ a\tb\n\xc2\xa0\n/ }),
		[ 'docs', $first, qr/^\+ a\tb/, qr/config\.sgml:3: tab/ ],
		[ 'docs', $first, qr/^\+\xc2\xa0/, qr/config\.sgml:4: no-break/ ],
	],

	# cpp-comment
	[
		'C++ comments',
		all(in_file(1, "$foo/bar.c", sub { s{2;}{2; // two} }),
			in_file(1, "$foo/foo.c", sub { s{16\.\n \*/}{$&\n// after} })),
		[
			'cpp-comment', $first, qr{2; // two},
			qr/bar\.c:20: C\+\+ comment/
		],
		[ 'cpp-comment', $first, qr{// after}, qr/C\+\+ comment/ ],
	],
	[
		'what only looks like a C++ comment',
		all(in_file(
				1,
				"$foo/bar.c",
				sub {
					s{2;}{"a//b" + '"' + 4 / 2; /* see http://x\n\t// y */};
				}),
			in_file(1, "$foo/foo.c", sub { s{8\.}{8 // eight} }),
			in_file(
				2,
				"$foo/foo.c",
				sub {
					s{return 1}{return bar()};
					s{8\.}{8 // eight};
					s{ \* Line 15}{// fifteen};
				})),
	],

	# file-header
	[
		'headers that miss something',
		all(in_file(1, "$foo/bar.c", sub { s/bar\.c/baz.c/ }),
			in_file(2, "$new/test_new.c", sub { s/.*Copyright.*\n// }),
			in_file(2, "$new/t/001_x.pl", sub { s/.*Copyright.*\n// }),
			in_file(2, "$new/meson.build", sub { s/.*Copyright.*\n// })),
		[ 'file-header', $first, qr/^diff.*bar\.c/, qr/name of the file/ ],
		[ 'file-header', $second, qr/^diff.*test_new\.c/, qr/copyright/ ],
		[ 'file-header', $second, qr/^diff.*001_x/, qr/copyright/ ],
		[ 'file-header', $second, qr/^diff.*new\/meson/, qr/copyright/ ],
	],

	# c-file-listed
	[
		'a C file in no Makefile, another in no meson.build',
		all(in_file(1, "$foo/Makefile", sub { s/bar\.o/rebar.o/ }),
			in_file(2, "$new/meson.build", sub { s/test_new\.c// })),
		[
			'c-file-listed', $first,
			qr/^diff.*bar\.c/, qr{listed in $foo/Makefile}
		],
		[
			'c-file-listed', $second,
			qr/^diff.*new\.c/, qr{listed in $new/meson}
		],
	],
	[
		'a module that is not listed',
		without(2, "$modules/Makefile", "$modules/meson.build"),
		[
			'c-file-listed', $second,
			qr/^diff.*new\/Makef/, qr{$modules/Makef}
		],
		[
			'c-file-listed', $second,
			qr/^diff.*new\/meson/, qr{$modules/meson}
		],
	],
	[
		'a C file that is included, one listed in the directory above',
		all(with(1, "$foo/part.c" => header('part.c')),
			in_file(1, "$foo/bar.c", sub { s/int x/$&\n#include "part.c"/ }),
			with(1, "$foo/sub/deep.c" => header('deep.c')),
			in_file(1, "$foo/Makefile", sub { s/bar\.o/bar.o sub\/deep.o/ }),
			in_file(
				1, "$foo/meson.build",
				sub { s/\n\)/\n  'sub\/deep.c',\n)/ })),
	],

	# test-scheduled
	[
		'core tests without schedule or expected output',
		all(in_file(1, "$regress/parallel_schedule", sub { s/new/new2/ }),
			in_file(
				1,
				"$isolation/isolation_schedule",
				sub { s/new-one/one/ }),
			without(
				1,
				"$regress/expected/new.out",
				"$isolation/expected/new-one.out")),
		[
			'test-scheduled', $first,
			qr/^diff.*new\.sql/, qr/parallel_schedule/
		],
		[
			'test-scheduled', $first,
			qr/^diff.*new\.sql/, qr/parallel_schedule/
		],
		[
			'test-scheduled', $first,
			qr/^diff.*one\.spec/, qr/isolation_sched/
		],
		[
			'test-scheduled', $first,
			qr/^diff.*one\.spec/, qr/isolation_sched/
		],
	],
	[
		'tests of a module that are not listed',
		all(in_file(2, "$new/Makefile", sub { s/= one/=/; s/= two/=/ }),
			in_file(2, "$new/meson.build", sub { s/'one'//; s/001_x/002_x/ })
		),
		[ 'test-scheduled', $second, qr/^diff.*one\.sql/, qr{$new/Makefile} ],
		[ 'test-scheduled', $second, qr/^diff.*one\.sql/, qr{$new/Makefile} ],
		[
			'test-scheduled', $second, qr/^diff.*two\.spec/,
			qr{$new/Makefile}
		],
		[ 'test-scheduled', $second, qr/^diff.*001_x/, qr{$new/meson} ],
	],

	# gucs
	[
		'a setting without sample and documentation',
		without(
			1, "$misc/postgresql.conf.sample", 'doc/src/sgml/config.sgml'),
		[ 'gucs', $first, qr/^\+.*"enable_new"/, qr/conf\.sample/ ],
		[ 'gucs', $first, qr/^\+.*"enable_new"/, qr/conf\.sample/ ],
	],
	[
		'a setting that is not documented',
		without(1, 'doc/src/sgml/config.sgml'),
		[ 'gucs', $first, qr/^\+.*"enable_new"/, qr/guc-enable-new/ ],
	],
	[
		'a setting in mixed case',
		in_file(1, "$misc/guc_tables.c", sub { s/enable_new/Enable_New/ }),
	],
	[
		'a setting not meant for the sample, a change of an old one',
		all(without(1, "$misc/postgresql.conf.sample"),
			in_file(
				1,
				"$misc/guc_tables.c",
				sub {
					s/("enable_new".*\n.*)NULL/$1NULL,\n\t\t\tGUC_NOT_IN_SAMPLE/;
					s/"old", PGC_USERSET/"old", PGC_SUSET/;
				})),
	],

	# oids
	[
		'OIDs out of range',
		all(in_file(
				1,
				"$am.dat",
				sub { s/\z/{ oid => '7999', array_type_oid => '10000' },\n/ }
			),
			in_file(
				1,
				"$am.h",
				sub { s/\z/CATALOG(pg_x,7001,X) BKI_ROWTYPE_OID(8801,Y)\n/ }),
			in_file(1, "$am.h", sub { s/\z/DECLARE_INDEX(x, 7002, X);\n/ }),
			in_file(
				1, "$am.h", sub { s/\z/CATALOG(pg_y,7003,X) BKI_BOOTSTRAP\n/ }
			)),
		[ 'oids', $first, qr/^\+.*7999/, qr/range/ ],
		[ 'oids', $first, qr/^\+.*7999/, qr/range/ ],
		[ 'oids', $first, qr/^\+.*7001/, qr/range/ ],
		[ 'oids', $first, qr/^\+.*7001/, qr/range/ ],
		[ 'oids', $first, qr/^\+.*7002/, qr/range/ ],
	],
	[
		'an OID that upstream uses, one that the series uses',
		all(in_file(1, "$am.dat", sub { s/8800/8700/ }),
			with(
				2,
				"$am.dat" =>
				  "$base{\"$am.dat\"}\n{ oid => '8700' },\n{ oid => '8802' },\n"
			)),
		[ 'oids', $first, qr/^\+.*8700/, qr/used by upstream/ ],
		[ 'oids', $second, qr/^\+.*8802/, qr/used by $first:\d+$/ ],
	],
	[
		'rows that keep their OIDs',
		in_file(1, "$am.dat", sub { s/(405|8700)'/$1', x => '1'/g }), 'deep'
	],

	# applies
	[
		'a hunk that does not apply',
		[
			$first,
			sub { s/^ \t(?=return|\})/ \t\t/m; s/^(-\treturn) 1/$1 7/m }
		],
		[ 'applies', $first, qr/^@@.*foo\(void\)/, qr/patch failed.*foo\.c/ ],
	],

	# typedefs
	[
		'typedefs that are not listed',
		in_file(
			1,
			'src/tools/pgindent/typedefs.list',
			sub { s/Bar\n|bar_hook\n//g }),
		[ 'typedefs', $first, qr/^\+\} Bar;/, qr/Bar is not in/ ],
		[ 'typedefs', $first, qr/^\+.*bar_hook\)/, qr/bar_hook is not in/ ],
	],

	[
		'a variable that is no typedef',
		in_file(
			1, "$foo/foo.c",
			sub { s/\z/\nstatic struct\n{\n\tint\t\ta;\n} var;\n/ }),
		'deep'
	],

	# pgindent, perltidy
	[
		'layout that the tools would change, here and far away',
		all(in_file(
				1, "$foo/bar.c",
				sub { s/(?=\treturn 2)/\tUGLY;\n\n\n\n\n\tUGLY;\n/ }),
			in_file(
				1, "$foo/foo.c",
				sub { s/bar\(\)/bar(NEAR)/; s/\z/\tUGLY();\n/ }),
			in_file(2, 'src/tools/bare.pl', sub { s/\z/\nprint UGLY;\n/ }),
			in_file(2, "$new/t/001_x.pl", sub { s/print/UGLY/ })),
		[ 'perltidy', $second, qr/^\+print UGLY/, qr/bare\.pl:2: / ],
		[ 'pgindent', $first, 74, qr/bar\.c:20: .*would change/ ],
		[ 'pgindent', $first, qr/^\+\tUGLY\(\)/, qr/foo\.c:46: / ],
		[ 'pgindent', $first, 79, qr/bar\.c:25: .*would change/ ],
		[
			'pgindent', $first,
			qr/^diff.*foo\.c/, qr/foo\.c:19: .*would change/
		],
		[ 'perltidy', $second, qr/^\+UGLY/, qr/001_x\.pl:3: .*would change/ ],
	],
	[
		'a file that is removed', with(2, 'src/tools/old.pl' => undef),
		'deep'
	],
	[
		'a file that flex makes',
		with(1, "$foo/scan.h" => header('scan.h') . "UGLY\n"), 'deep'
	],
	[
		'files that the tools refuse',
		all(in_file(1, "$foo/bar.c", sub { s/return 2/SYNTAX/ }),
			in_file(2, 'src/tools/old.pl', sub { s/print 2/SYNTAX/ })),
		[ 'pgindent', $first, qr/^diff.*bar\.c/, qr/Unbalanced parens/ ],
		[ 'perltidy', $second, qr/^diff.*old\.pl/, qr/refused/ ],
	],);

# Without the tree a case is faster.
my $needs_tree = qr/^(?:applies|oids|typedefs|pgindent|perltidy)$/;
for my $case (@cases)
{
	my ($name, $change, @want) = @$case;
	export(ref $change eq 'CODE' ? $change : undef);
	edit_text(@$change) if ref $change eq 'ARRAY';
	my $deep = grep { !ref || $_->[0] =~ $needs_tree } @want;
	@want = grep { ref } @want;
	findings_are($name, lint($deep ? () : (tree => undef)), @want);
}

# whitespace: the same lines as git reports.
my %untidy = (
	"$foo/bar.c" =>
	  sub { s/\z/int a; \n \tint b;\n    int c;\n\t    int d;\n\n/ },
	"$regress/sql/new.sql" => sub { s/\z/    SELECT 2;\n<<<<<<< x\n/ },
	"$regress/expected/new.out" => sub { s/\z/ x \n \t\n=======\n/ },
	"$am.dat" => sub { s/\z/{ oid => '8803' }, \n/ },);
export(
	all((map { in_file(1, $_, $untidy{$_}) } keys %untidy),
		with(
			1,
			'src/tools/x.py' => "\tx\nx\ty\n",
			'src/tools/README' => "Title\n=======\n")));
my $untidy = lint();
my $check;
git_status($upstream, [qw(diff --check upstream series~1)], out => \$check);
my @git = sort $check =~ /^([^+\s:][^:]*:\d+): /mg;
is(scalar @git, 9, 'git reports nine lines');
is_deeply(
	[
		sort map { $_->{message} =~ /^([^:]+:\d+): / }
		grep     { $_->{rule} eq 'whitespace' } @{ $untidy->{findings} }
	],
	\@git,
	'whitespace: the lines that git reports'
) or diag(PgSeries::Lint::format_text($untidy));
is_deeply([ grep { $_->{rule} ne 'whitespace' } @{ $untidy->{findings} } ],
	[], 'whitespace: nothing else');

# The text of a finding.
export();
edit_text($list, sub { s/beta/be ta/ });
is( PgSeries::Lint::format_text(lint(tree => undef)) =~ s/^skipped .*\n//mgr,
	qq($list:6: series-files: "be ta" is no name of a topic; use letters, digits and hyphens\n),
	'text of a finding');
export();

# What cannot be checked is said.
sub skips_are
{
	my ($name, $result, @want) = @_;
	my @got = map { "$_->{rule}: $_->{reason}" } @{ $result->{skips} };
	is(scalar @got, scalar @want, "$name: number of skips")
	  or diag(join("\n", @got));
	like($got[$_], $want[$_], "$name: skip") for 0 .. $#got;
	findings_are($name, $result);
	return;
}

my $without = lint(tree => undef);
skips_are(
	'without a tree',
	$without,
	qr/^applies: needs/,
	qr/^oids: compared within the series only/,
	qr/^typedefs: needs/,
	qr/^pgindent: needs/,
	qr/^perltidy: needs/);
like(
	PgSeries::Lint::format_text($without),
	qr/^skipped applies: needs/,
	'text of a skipped rule');
{
	local $ENV{PATH} = '/nowhere';
	my $lint = PgSeries::Lint->new(top => $top, tools => {});
	is($lint->{pgindent}, undef, 'pg_bsd_indent is looked for in PATH');
}
skips_are(
	'other tools',
	lint(tools => { perltidy => "$temp/old_perltidy" }),
	qr/^pgindent: there is no pg_bsd_indent/,
	qr/^perltidy: needs perltidy 20230309, this is 20200101$/);
my $tools = 'src/tools/pgindent';
export(
	with(
		1,
		map { ("$tools/$_" => undef) } qw(pgindent perltidyrc typedefs.list))
);
skips_are(
	'no tools in the tree',
	lint(),
	qr/^typedefs: the tree has no/,
	qr/^pgindent: the tree has no/,
	qr/^perltidy: the tree has no/);

# Trouble is an error with a remedy.
sub trouble_is
{
	my ($name, $message, $remedy, %args) = @_;
	my $result = eval { lint(%args) };
	my $error = $@;
	ok(!$result && ref $error eq 'PgSeries::Error', "$name: error")
	  or return diag($error);
	is($error->{code}, 2, "$name: exit status");
	like($error->{message}, $message, "$name: message");
	like($error->{remedy}, $remedy, "$name: remedy");
	return;
}

export();
trouble_is(
	'a pgindent that fails',
	qr/pgindent failed on .*0001-/,
	qr{^install /nowhere again$},
	tools => { pgindent => '/nowhere' });
trouble_is(
	'the pgindent of a build that fails',
	qr/pgindent failed on .*0001-/,
	qr{^remove /w/b/base/build/src/tools/pg_bsd_indent and /w/b/base/stamp, then run: pgseries build base$},
	tools => {
		pgindent => '/w/b/base/build/src/tools/pg_bsd_indent/pg_bsd_indent'
	});
write_file("$patches/BASE", base('0' x 40));
trouble_is(
	'another tree',
	qr/does not hold the tree 0{40}/,
	qr/pgseries apply, with the release/);
write_file("$patches/BASE", base('HEAD'));
trouble_is('no tree', qr/"tree" is not the 40 digits/, qr/restore/);
write_file("$patches/BASE", "version = 1\n");
trouble_is('incomplete BASE', qr/there is no line "url = /, qr/restore/);
write_file("$patches/BASE", base());
trouble_is(
	'no directory',
	qr/no directory/,
	qr/pgseries apply/,
	tree => "$temp/none");
trouble_is(
	'no repository',
	qr/not a git repository/,
	qr/pgseries apply/,
	tree => "$temp");
unlink "$patches/series" or die $!;
trouble_is('no series', qr/cannot read .*series/, qr/check that it exists/);

done_testing();
