package PgSeries::Lint;

use strict;
use warnings FATAL => 'all';

use Encode           ();
use File::Basename   qw(basename dirname);
use File::Copy       qw(copy);
use File::Glob       qw(:bsd_glob);
use File::Temp       ();
use PgSeries::Config ();
use PgSeries::Git    qw(git_status);
use PgSeries::Lint::Patch;
use PgSeries::Util qw(fail find_tool make_dir run_status);

=pod

=head1 NAME

PgSeries::Lint - what can be said of the patches without building them

=head1 SYNOPSIS

  my $result = PgSeries::Lint->new($series)->run;
  print PgSeries::Lint::format_text($result);
  exit(@{ $result->{findings} } ? 1 : 0);

=head1 DESCRIPTION

Applies the patches and reports, for each broken rule, the file and the line of
patches/ to look at.  No file of the project is modified.  A rule that cannot be
checked here is listed as skipped, with the reason.  That the patches apply, and that
the files are as "pgseries export" writes them, is not checked here: the one is an
error before any rule, see commit_of() in L<PgSeries::Series>, the other round_trip().

=head1 RULES

=over

=item series-files

Each *.patch file below patches/18 is listed in its file C<series>.

=item commit-message

A summary of at most 64 characters without a full stop; then at least two lines
of narrative; then, last, the tags, of which one is Discussion with a link.
Lines have at most 76 characters.  Notes to oneself (such as squash marks) are
refused.

=item has-test

Each patch touches a test.

=item forbidden-path, catversion

A patch keeps to src, doc, contrib, config, the meson files and configure.ac,
with configure regenerated.  catversion.h is left to the committer.

=item whitespace

What "git diff --check" reports under upstream's .gitattributes.

=item docs

No tab and no no-break space in SGML, as upstream's "make check" of doc/src/sgml.

=item file-header

A new .c or .h file starts with upstream's comment block, which names the file;
it and a new Perl or meson file carry the copyright line.

=item c-file-listed, test-scheduled

A new C file, module directory or test is named in the Makefile and in
meson.build, or in the schedule; a new test has its expected output.

=item gucs

A new setting is in postgresql.conf.sample (unless GUC_NOT_IN_SAMPLE) and in the
documentation.

=item oids

A new OID is in 8000-9999 and used once, in the series and in upstream's
catalogs.

=item typedefs

A new typedef is in src/tools/pgindent/typedefs.list.

=item pgindent, perltidy

C and Perl are laid out as upstream's tools do it, after each patch.  What the
same file had before the patch is not held against it.

=back

=cut

# The patterns of the rules.
my $TAG = qr{(?:Author|Backpatch-through|Bug|Co-authored-by|Discussion
	|Reported-by|Reviewed-by|Suggested-by|Tested-by):\s}xi;
my $UNFINISHED = qr{\b(?:WIP|TODO)\b|\b(?:fixup|squash)!};

my $REGRESSION = qr{^(?:src|contrib)/.+/sql/[^/]+\.sql$};
my $ISOLATION = qr{^(?:src|contrib)/.+/specs/[^/]+\.spec$};
my $TEST = qr{$REGRESSION|$ISOLATION|(?:^|/)t/[^/]+\.pl$
	|^(?:src|contrib)/.+/expected/[^/]+\.out$|^src/test/modules/.}x;

my $ALLOWED_PATH = qr{^(?:(?:src|doc|contrib|config)/.
	|meson(?:\.build|_options\.txt)$|configure(?:\.ac)?$|\.gitignore$)}x;
my $STRAY_PATH =
  qr{(?:^|/)\.\.?(?:/|$)|//|\.(?:orig|rej|sw[op])$|~$|pgseries};

# Where a new file must be listed: rule, file ($1 the directory, $2 the name),
# list, form of the entry.
my $MODULE = qr{(src/test/modules|contrib)/([^/]+)};
my $OTHER_TEST = qr{^(?!src/test/(?:regress|isolation)/)((?:src|contrib)/.+)
	/(?:sql|specs)/([^/]+)\.(?:sql|spec)$}x;
my @LISTS = (
	[ 'c-file-listed', qr{^(.+)/([^/]+)\.c$}, 'Makefile', 'object' ],
	[ 'c-file-listed', qr{^(.+)/([^/]+\.c)$}, 'meson.build', 'quoted' ],
	[ 'c-file-listed', qr{^$MODULE/Makefile$}, 'Makefile', 'word' ],
	[ 'c-file-listed', qr{^$MODULE/meson\.build$}, 'meson.build', 'quoted' ],
	[ 'test-scheduled', qr{^(.+)/(t/[^/]+\.pl)$}, 'meson.build', 'quoted' ],
	[
		'test-scheduled', qr{^(src/test/regress)/sql/([^/]+)\.sql$},
		'parallel_schedule', 'word'
	],
	[
		'test-scheduled', qr{^(src/test/isolation)/specs/([^/]+)\.spec$},
		'isolation_schedule', 'word'
	],
	[ 'test-scheduled', $OTHER_TEST, 'Makefile', 'word' ],
	[ 'test-scheduled', $OTHER_TEST, 'meson.build', 'quoted' ],);
my %ENTRY = (
	word => sub { qr{(?<![\w-])\Q$_[0]\E(?![\w-])} },
	quoted => sub { qr{'(?:[^']*/)?\Q$_[0]\E'} },
	object =>
	  sub { qr{\b\Q$_[0]\E\.[co]\b|^(?:MODULES|PROGRAM)\b.*\b\Q$_[0]\E\b} },);

my $PERLTIDY_VERSION = '20230309';

# The rules in order; each is called once for the series or for each patch.
my @RULES = (
	[ 'series-files', 'series', \&rule_series_files ],
	[ 'commit-message', 'patch', \&rule_commit_message ],
	[ 'has-test', 'patch', \&rule_has_test ],
	[ 'forbidden-path', 'patch', \&rule_forbidden_path ],
	[ 'catversion', 'patch', \&rule_catversion ],
	[ 'whitespace', 'patch', \&rule_whitespace ],
	[ 'docs', 'patch', \&rule_docs ],
	[ 'file-header', 'patch', \&rule_file_header ],
	[ 'c-file-listed', 'patch', \&rule_listed ],
	[ 'test-scheduled', 'patch', \&rule_listed ],
	[ 'test-scheduled', 'patch', \&rule_expected ],
	[ 'gucs', 'patch', \&rule_gucs ],
	[ 'oids', 'series', \&rule_oids ],
	[ 'typedefs', 'patch', \&rule_typedefs ],
	[ 'pgindent', 'patch', \&rule_pgindent ],
	[ 'perltidy', 'patch', \&rule_perltidy ],);

# What to do about a finding that has no remedy of its own.
my $SAME_PATCH = 'add it in the same patch';
my %REMEDY = (
	'series-files' => 'list it in the file "series" or remove it',
	'commit-message' => 'reword the commit, then run: pgseries export',
	'has-test' => 'add a test that fails without the patch',
	'forbidden-path' => 'leave it out',
	'catversion' => 'leave it to the committer and say so in the message',
	'whitespace' => 'correct the line',
	'docs' => 'use spaces, or &nbsp;',
	'file-header' => 'start it as new files of upstream do',
	'c-file-listed' => $SAME_PATCH,
	'test-scheduled' => $SAME_PATCH,
	'gucs' => $SAME_PATCH,
	'oids' => 'choose an unused one of 8000-9999',
	'typedefs' => 'add it, sorted as by LC_ALL=C sort',
	'pgindent' => 'run src/tools/pgindent/pgindent of upstream on it',
	'perltidy' =>
	  "run perltidy $PERLTIDY_VERSION on it with the profile of upstream",);

=head1 METHODS

=over

=item new($series, %tools)

$series is a L<PgSeries::Series>.  C<pgindent> and C<perltidy> may name the programs
(pg_bsd_indent for the first); PATH is searched otherwise.

=cut

sub new
{
	my ($class, $series, %tools) = @_;
	return bless {
		series => $series,
		user => $series->{config}->user,
		pgindent => $tools{pgindent} || scalar find_tool('pg_bsd_indent'),
		perltidy => $tools{perltidy} || scalar find_tool('perltidy'),
	}, $class;
}

=item run()

Returns { findings => [ { file, line, rule, message, remedy }, ... ], skips => [
{ rule, reason }, ... ], checked => number of patches }.  A patch that does not apply
is an error with code 3.

=cut

sub run
{
	my ($self) = @_;
	my $series = $self->{series};
	my $top = $series->{config}->top;
	my @commits = $series->commits_of($series->patches);
	$self->{tree} = $series->tree;
	$self->{base} = $commits[0];
	$self->{findings} = [];
	$self->{skips} = {};
	my @patches;

	for my $patch ($series->patches)
	{
		my $p = PgSeries::Lint::Patch->new(
			$patch->{path},
			substr $patch->{path},
			length "$top/");
		$p->{before} = shift @commits;
		$p->{after} = $commits[0];
		push @patches, $p;
	}
	for my $rule (@RULES)
	{
		($self->{rule}, my $scope, my $code) = @$rule;
		if   ($scope eq 'series') { $code->($self, @patches); }
		else                      { $code->($self, $_) for @patches; }
	}
	my @findings = sort {
			 $a->{file} cmp $b->{file}
		  || $a->{line} <=> $b->{line}
		  || $a->{rule} cmp $b->{rule}
	} @{ $self->{findings} };
	return {
		findings => \@findings,
		skips => [ @{ $self->{skips} }{ sort keys %{ $self->{skips} } } ],
		checked => scalar @patches
	};
}

=item format_text($result)

A function.  Returns one line for each finding, "FILE:LINE: RULE: MESSAGE;
REMEDY", and one for each skipped rule.

=back

=cut

sub format_text
{
	my ($result) = @_;
	my $text = '';
	$text .=
	  "$_->{file}:$_->{line}: $_->{rule}: $_->{message}; $_->{remedy}\n"
	  for @{ $result->{findings} };
	$text .= "skipped $_->{rule}: $_->{reason}\n" for @{ $result->{skips} };
	return $text;
}

# A finding.  $at is anything that has a file and a line, see
# PgSeries::Lint::Patch.
sub find
{
	my ($self, $at, $message, $remedy) = @_;
	$message = "$at->{target}: $message" if defined $at->{target};
	push @{ $self->{findings} },
	  {
		file => $at->{file},
		line => $at->{line},
		rule => $self->{rule},
		message => $message,
		remedy => defined $remedy ? $remedy : $REMEDY{ $self->{rule} }
	  };
	return;
}

sub skip
{
	my ($self, $reason) = @_;
	$self->{skips}{ $self->{rule} } =
	  { rule => $self->{rule}, reason => $reason };
	return;
}

#
# The rules
#

sub rule_series_files
{
	my ($self, @patches) = @_;
	my $config = $self->{series}{config};
	my %listed = map { $_->{path} => 1 } @patches;
	for my $path (sort glob($config->patches . '/{,*/}*.patch'))
	{
		my $file = substr $path, length($config->top . '/');
		$self->find({ file => $file, line => 1 }, 'it is not listed')
		  unless $listed{$path};
	}
	return;
}

sub rule_commit_message
{
	my ($self, $p) = @_;
	my $subject = $p->{subject};
	my $summary = Encode::decode('UTF-8', $subject->{text});
	my $length = length $summary;

	$self->find($subject, 'there is no summary') if $length == 0;
	$self->find($subject, "the summary has $length characters, more than 64")
	  if $length > 64;
	$self->find($subject, 'the summary ends with a full stop')
	  if $summary =~ /\.$/;
	for my $row ($subject, @{ $p->{body} })
	{
		$self->find($row, "\"$1\" in the commit message")
		  if $row->{text} =~ /($UNFINISHED)/;
	}

	# The tags are the last paragraph, if that has nothing else.
	my @body = @{ $p->{body} };
	my @tags;
	pop @body while @body && $body[-1]{text} eq '';
	unshift @tags, pop @body while @body && $body[-1]{text} ne '';
	push @body, splice @tags
	  if grep { $_->{text} !~ /^(?:[A-Z][A-Za-z-]+:\s+\S|\s)/ } @tags;
	$self->find($subject, 'the message has fewer than two lines of narrative')
	  if 2 > grep { $_->{text} =~ /\S/ && $_->{text} !~ /^$TAG/ } @body;
	$self->find($_, 'a tag is not in the last paragraph')
	  for grep { $_->{text} =~ /^$TAG/ } @body;

	for my $row (@body, @tags)
	{
		# A link cannot be broken.
		$self->find($row, 'the line has more than 76 characters')
		  if length(Encode::decode('UTF-8', $row->{text})) > 76
		  && $row->{text} !~ m{^(?:[\w-]+:)?\s*https?://\S+$};
	}
	my @discussion = grep { $_->{text} =~ /^Discussion:/ } @body, @tags;
	$self->find($subject, 'there is no tag "Discussion:"') unless @discussion;
	$self->find($_, 'the tag "Discussion:" has no link')
	  for grep { $_->{text} !~ m{^Discussion: https://\S+$} } @discussion;
	return;
}

sub rule_has_test
{
	my ($self, $p) = @_;
	$self->find($p, 'the patch touches no test')
	  unless grep { !$_->{deleted} } $p->files($TEST);
	return;
}

sub rule_forbidden_path
{
	my ($self, $p) = @_;
	for my $f (@{ $p->{files} })
	{
		$self->find($f, 'a patch must not touch this path')
		  if grep { $_ !~ $ALLOWED_PATH || $_ =~ $STRAY_PATH } $f->{path},
		  $f->{old};
	}
	my @generated = map { $p->files(qr/^configure\Q$_\E$/) } '', '.ac';
	$self->find(
		$generated[0],
		'configure and configure.ac belong together',
		'run autoconf and commit both') if @generated == 1;
	return;
}

sub rule_catversion
{
	my ($self, $p) = @_;
	$self->find($_, 'the patch changes the catalog version')
	  for $p->files(qr{/catversion\.h$});
	return;
}

# Upstream's .gitattributes decides about whitespace.
sub rule_whitespace
{
	my ($self, $p) = @_;
	git_status(
		$self->{tree},
		[ qw(diff --check), $p->{before}, $p->{after} ],
		out => \my $out);
	$self->find($p->row($1) || { %$p, target => $1 }, $2)
	  while $out =~ /^([^+\s:][^:]*:\d+): (.*?)\.?$/mg;
	return;
}

sub rule_docs
{
	my ($self, $p) = @_;
	for my $row (map { $_->added } $p->files(qr{\.sgml$}))
	{
		$self->find($row, 'tab') if $row->{text} =~ /\t/;
		$self->find($row, 'no-break space') if $row->{text} =~ /\xc2\xa0/;
	}
	return;
}

sub rule_file_header
{
	my ($self, $p) = @_;
	my $files = qr{(?:\.(?:[ch]|p[lm])|/meson\.build)$};
	for my $f (grep { $_->{new} } $p->files($files))
	{
		my $name = basename($f->{path});
		my $text = join("\n", map { $_->{text} } $f->added);

		# The first comment.
		my ($top) = $text =~ m{\A(/\*.*?\*/|(?:#.*\n|\n)*)}s;
		$self->find($f, 'no comment with the name of the file on top')
		  if $name =~ /\.[ch]$/ && $top !~ /\b\Q$name\E\b/;
		$self->find($f, 'no copyright line on top')
		  if $top !~ /Copyright \(c\) [\d, -]+PostgreSQL Global Dev/;
	}
	return;
}

sub rule_listed
{
	my ($self, $p) = @_;
	for my $f (grep { $_->{new} } @{ $p->{files} })
	{
		for my $place (grep { $_->[0] eq $self->{rule} } @LISTS)
		{
			my (undef, $path, $list, $form) = @$place;
			my ($dir, $name) = $f->{path} =~ $path or next;
			my @dirs = ($dir);
			push @dirs, dirname($dirs[-1])
			  while $f->{path} =~ /\.c$/ && $dirs[-1] =~ m{/};
			my $dirs = join('|', map { quotemeta } @dirs);
			$self->find($f, "not listed in $dir/$list")
			  unless $p->adds(qr{^(?:$dirs)/(?:GNU)?\Q$list\E$}i,
				$ENTRY{$form}->($name))
			  || is_included($p, basename($f->{path}));
		}
	}
	return;
}

# A .c file may be a part of another one.
sub is_included
{
	my ($p, $name) = @_;
	return $p->adds(qr{\.[chy]$}, qr{^\s*#\s*include\s+".*\b\Q$name\E"});
}

sub rule_expected
{
	my ($self, $p) = @_;
	for my $f (grep { $_->{new} } $p->files(qr{$REGRESSION|$ISOLATION}))
	{
		my ($dir, $name) = $f->{path} =~ m{^(.+)/\w+/([^/]+)\.\w+$};
		$self->find($f, "there is no $dir/expected/$name.out")
		  unless $p->files(qr{^\Q$dir/expected/$name\E(?:_\d)?\.out$});
	}
	return;
}

sub rule_gucs
{
	my ($self, $p) = @_;
	my $guc = qr/^\s*\{"(\w+)", PGC_/;
	for my $f ($p->files(qr{/guc_tables\.c$}))
	{
		my @rows = @{ $f->{rows} };
		my %old = map { $_->{text} =~ $guc ? ($1 => 1) : () }
		  grep { $_->{kind} eq '-' } @rows;
		while (my $row = shift @rows)
		{
			next if $row->{kind} ne '+' || $row->{text} !~ $guc || $old{$1};
			my $name = $1;
			my $entry = '';
			for my $next (@rows)
			{
				last if $next->{text} =~ /^\s*\},/;
				$entry .= $next->{text};
			}
			$self->find(
				$row,
				"$name is not in postgresql.conf.sample",
				'add it or set GUC_NOT_IN_SAMPLE')
			  unless $entry =~ /\bGUC_NOT_IN_SAMPLE\b/
			  || $p->adds(qr{/postgresql\.conf\.sample$}, qr{^#?$name\s*=}i);
			(my $id = lc "guc-$name") =~ tr/_/-/;
			$self->find($row, "no id=\"$id\" in doc/src/sgml")
			  unless $p->adds(qr{^doc/src/sgml/.*\.sgml$}, qr{\bid="$id"});
		}
	}
	return;
}

# The OIDs that a line of a catalog's .dat or .h file assigns.  Those of a
# bootstrap catalog are in the .dat files again.
sub oids_of
{
	my ($text) = @_;
	return () if $text =~ /^CATALOG\(.*\bBKI_BOOTSTRAP\b/;
	return (
		$text =~ /\b(?:array_type_)?oid\s*=>\s*'(\d+)'/g,
		$text =~ /^CATALOG\(\w+,\s*(\d+)/,
		$text =~ /\bBKI_ROWTYPE_OID\((\d+)/,
		$text =~ /^DECLARE_TOAST\w*\(\w+,\s*(\d+),\s*(\d+)/,
		$text =~ /^DECLARE_(?:\w*INDEX\w*|OID_\w+)\(\w+,\s*(\d+)/);
}

sub rule_oids
{
	my ($self, @patches) = @_;
	my $catalogs = 'src/include/catalog/';
	git_status(
		$self->{tree},
		[
			qw(grep -h -E), "oid +=> +'|^(CATALOG|DECLARE_)",
			$self->{base}, '--',
			$catalogs
		],
		out => \my $upstream);
	my %owner =
	  map { $_ => 'upstream' } map { oids_of($_) } split /\n/, $upstream;
	for my $p (@patches)
	{
		my @rows =
		  map { @{ $_->{rows} } } $p->files(qr{^$catalogs\w+\.(?:dat|h)$});
		my %old = map { $_ => 1 }
		  map { oids_of($_->{text}) } grep { $_->{kind} eq '-' } @rows;
		delete @owner{ keys %old };
		for my $row (grep { $_->{kind} eq '+' } @rows)
		{
			for my $oid (oids_of($row->{text}))
			{
				$self->find($row, "OID $oid is not in the range for patches")
				  unless $old{$oid} || $oid >= 8000 && $oid <= 9999;
				$self->find($row, "OID $oid is also used by $owner{$oid}")
				  if $owner{$oid};
				$owner{$oid} = "$row->{file}:$row->{line}";
			}
		}
	}
	return;
}

sub rule_typedefs
{
	my ($self, $p) = @_;
	my (@new, %new);
	for my $f ($p->files(qr/\.[ch]$/))
	{
		my ($open, $hunk) = (0, 0);
		for my $row (grep { $_->{kind} ne '-' } @{ $f->{rows} })
		{
			$open = 0 if $row->{hunk} != $hunk;
			$hunk = $row->{hunk};
			my $name = typedef_name($row->{text}, \$open);
			push @new, [ $row, $name ]
			  if defined $name && $row->{kind} eq '+' && !$new{$name}++;
		}
	}
	return unless @new;
	my $file = 'src/tools/pgindent/typedefs.list';
	git_status(
		$self->{tree},
		[ qw(cat-file blob), "$p->{after}:$file" ],
		out => \my $list);
	my %known = map { $_ => 1 } split /\n/, $list;
	$self->find($_->[0], "$_->[1] is not in $file")
	  for grep { !$known{ $_->[1] } } @new;
	return;
}

# The name that a line completes the typedef of.  $$open: inside of
# "typedef struct" and the like.
sub typedef_name
{
	my ($text, $open) = @_;
	if ($text =~ /^typedef\b/)
	{
		return $1 if $text =~ /\(\s*\*\s*(\w+)\s*\)\s*\(/;
		return $1 if $text =~ /\b(\w+)\s*(?:\[[^\]]*\]\s*)*;/;
		$$open = 1;
	}
	elsif ($$open && $text =~ /^\}\s*(?:\w+\(.*\)\s*)?(\w+)?/)
	{
		$$open = 0;
		return $1;
	}
	return;
}

sub rule_pgindent
{
	my ($self, $p) = @_;
	return unless $p->files(qr{\.[ch]$});
	return $self->skip('there is no pg_bsd_indent; run: pgseries build')
	  unless defined $self->{pgindent};
	my $indent = sub {
		my ($dir, @paths) = @_;
		my @command = (
			$self->{user} ? '/usr/bin/perl' : $^X,
			'src/tools/pgindent/pgindent');

		# It makes temporary files in the directory where it runs.
		make_dir($dir, $self->{user});
		push @command, "--indent=$self->{pgindent}", '--diff', '--check',
		  @paths;
		my $status = run_status(
			\@command,
			cwd => $dir,
			user => $self->{user},
			env => { PGTYPEDEFS => undef },
			out => \my $diff,
			err => \my $err);
		make_dir($dir, PgSeries::Config::owner()) if $self->{user};

		# 2: there are changes.  Perl may die with this status, too.
		return ($diff, $err =~ /^Failure in ([^:]+): *(.*)/mg)
		  if $status == 0 || $status == 3 || $status == 2 && $diff ne '';
		fail(
			2,
			"pgindent failed on $p->{file}",
			"see what it says; or build or install $self->{pgindent} again",
			$err);
		return;
	};
	$self->check_layout($p, qr{\.[ch]$}, $indent);
	return;
}

sub rule_perltidy
{
	my ($self, $p) = @_;
	return unless $p->files(qr{\.p[lm]$});
	my $version = '';
	run_status([ $self->{perltidy}, '--version' ], out => \$version)
	  if defined $self->{perltidy};
	return $self->skip("needs perltidy $PERLTIDY_VERSION"
		  . ($version =~ /\bv(\d+)/ ? ", this is $1" : ''))
	  unless $version =~ /\bv\Q$PERLTIDY_VERSION\E\b/;
	my $tidy = sub {
		my ($dir, @paths) = @_;
		my ($all, @failures) = ('');
		for my $path (@paths)
		{
			my $copy = "$path.tidy";
			copy("$dir/$path", "$dir/$copy")
			  or fail(2, "cannot write $dir/$copy: $!", 'free some space');
			my @command = (
				$self->{perltidy},
				'--profile=src/tools/pgindent/perltidyrc', $copy);
			my $err;
			my $status = run_status(\@command, cwd => $dir, err => \$err);
			push @failures, $path, $1 if $status != 0 && $err =~ /^(.*)/;
			run_status(
				[ 'diff', '-u', $path, $copy ],
				cwd => $dir,
				out => \my $diff);
			$all .= $diff;
		}
		return ($all, @failures);
	};
	$self->check_layout($p, qr{\.p[lm]$}, $tidy);
	return;
}

# Runs a tool on copies of the files that the patch touches, as they are before
# and after it, and reports the changes that the tool would make now only.
# $tool->($dir, @paths) returns a unified diff, and path and message of each
# file that it refuses.
sub check_layout
{
	my ($self, $p, $suffix, $tool) = @_;
	my @files = grep { !$_->{deleted} } $p->files($suffix);
	my %paths = (
		before => [ map { $_->{old} } grep { !$_->{new} } @files ],
		after => [ map { $_->{path} } @files ]);
	my %file = map { $_->{path} => $_ } @files;
	my %old;
	for my $side (grep { @{ $paths{$_} } } 'before', 'after')
	{
		my @paths = @{ $paths{$side} };

		# pgindent leaves files alone that are made from a .l or .y file
		# beside them.
		my @beside = map { /^(.+)\.[ch]$/ ? "$1.*" : $_ } @paths;
		my $dir = $self->checkout($p->{$side}, @beside);
		my ($diff, %failure) = $tool->($dir, @paths) or return;
		my @changes = changes($diff);
		if ($side eq 'before')
		{
			$old{"$_->{path}\n$_->{text}"}++ for @changes;
			next;
		}
		$self->find(
			$file{$_},
			"$self->{rule} refuses it: $failure{$_}",
			'correct its syntax') for sort keys %failure;

		for my $change (@changes)
		{
			my ($path, $line, $text) = @$change{qw(path line text)};
			next if $old{"$path\n$text"} && $old{"$path\n$text"}-- > 0;
			my $row = $p->row("$path:$line");
			my $at = { %{ $row || $file{$path} }, target => "$path:$line" };
			$self->find($at, "$self->{rule} would change it");
		}
	}
	return;
}

# Writes some files of a commit, and the tools', to a directory that is there until
# this one is called again or the check has ended.  The unprivileged user can read
# it.
sub checkout
{
	my ($self, $commit, @paths) = @_;
	my $dir =
	  File::Temp->newdir('lint-XXXXXX', DIR => dirname($self->{tree}));
	chmod 0755, "$dir" or fail(2, "cannot open $dir: $!", 'free some space');
	$self->{temp} = $dir;
	my $err;
	git_status(
		"$dir",
		[ 'checkout', $commit, '--', 'src/tools/pgindent', @paths ],
		env => {
			GIT_DIR => "$self->{tree}/.git",
			GIT_WORK_TREE => "$dir",
			GIT_INDEX_FILE => "$dir/.index"
		},
		err => \$err) == 0
	  or fail(2, "git checkout failed: $err", 'free some space');
	return "$dir";
}

# The changes of a unified diff: path, first line, text.  The text has no
# context, so the same change elsewhere in the file is the same text.
sub changes
{
	my ($diff) = @_;
	my (@changes, $path, $at, $open);
	for my $line (split /\n/, $diff)
	{
		if ($line =~ /^--- ([^\t]+)\t/)
		{
			$path = $1;
		}
		elsif ($line =~ /^@@ -(\d+)/)
		{
			($at, $open) = ($1, 0);
		}
		elsif ($line =~ /^\+\+\+ [^\t]+\t/)
		{
			next;
		}
		elsif ($line =~ /^[-+]/)
		{
			push @changes, { path => $path, line => $at, text => '' }
			  unless $open;
			$changes[-1]{text} .= "$line\n";
			$open = 1;
			$at++ if $line =~ /^-/;
		}
		else
		{
			($at, $open) = ($at + 1, 0);
		}
	}
	return @changes;
}

1;
