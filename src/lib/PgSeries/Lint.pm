package PgSeries::Lint;

use strict;
use warnings FATAL => 'all';

use Encode                ();
use File::Basename        qw(basename dirname);
use File::Copy            qw(copy);
use File::Spec::Functions qw(rel2abs);
use PgSeries::Config      ();
use PgSeries::Lint::Patch;
use PgSeries::Lint::Tree;
use PgSeries::Series   ();
use PgSeries::Upstream ();
use PgSeries::Util     qw(fail find_tool make_dir read_file run_status);

=pod

=head1 NAME

PgSeries::Lint - what can be said of the patches without building them

=head1 SYNOPSIS

  my $lint = PgSeries::Lint->new(top => $top, tree => $repository);
  my $result = $lint->run;
  print PgSeries::Lint::format_text($result);
  exit(@{ $result->{findings} } ? 1 : 0);

=head1 DESCRIPTION

Reads patches/18/BASE, patches/18/series and the patches and reports, for each broken
rule, the file and the line to look at.  Nothing is modified: what needs the
patched files is done in a temporary repository that borrows the objects of
upstream's.  A rule that cannot be checked here is listed as skipped, with the
reason.

=head1 RULES

=over

=item series-files

patches/18/series and the *.patch files agree.  They are named as git format-patch
names them, numbered from 0001 in the order of the series; each patch belongs to a
topic, which a line "# topic: NAME" opens.

=item export-form

The patch is as git format-patch --zero-commit --full-index --no-signature
exports it: one commit, full object names, no line ends of DOS, no binary file,
no text after the diff.

=item commit-message

A summary of at most 64 characters without a full stop; then at least two lines
of narrative; then, last, the tags, of which one is Discussion with a link.
Lines have at most 76 characters.  Notes to oneself (such as squash marks) are
refused.

=item has-test, topic-tests

Each patch touches a test.  Each topic touches a regression and an isolation
test.

=item forbidden-path, catversion

A patch keeps to src, doc, contrib, config, the meson files and configure.ac,
with configure regenerated.  catversion.h is left to the committer.

=item whitespace

What "git diff --check" reports under upstream's .gitattributes.

=item docs

No tab and no no-break space in SGML, as upstream's "make check" of doc/src/sgml.

=item cpp-comment

No // comment in C, bison and flex files.

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

=item applies

Each patch applies to the result of the one before it, without fuzz.

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

# What a rule refuses in added lines: rule, files, other files, line, message.
# Upstream's .gitattributes decides about whitespace.
my $WS_EXEMPT = qr{\.(?:data|out)$
	|^src/interfaces/ecpg/test/expected/|(?:^|/)(?:configure|ppport\.h)$
	|^src/backend/(?:regex/COPYRIGHT$|snowball/libstemmer/)
	|^src/(?:backend/jit/llvm|include/jit)/SectionMemoryManager
	|^src/backend/utils/mb/Unicode/.*-std\.txt$
	|^src/include/snowball/libstemmer/|^src/timezone/data/
	|^src/tools/pg_bsd_indent/}x;
my $WS_END_FREE = qr{$WS_EXEMPT|/(?:pgp-armor\.sql|sql_features\.txt)$};
my $WS_EOF_FREE = qr{$WS_EXEMPT|\.po$};
my $README = qr{(?:^|/)README(?:\.[^/]*)?$};
my $ALL = qr{^};
my $NONE = qr{(?!)};
my $CONFLICT = qr/^(?:<{7}|={7}|>{7}|\|{7})(?:\s|$)/;
my @REFUSED = (
	[ 'whitespace', $ALL, $WS_END_FREE, qr{[ \t]$}, 'blanks at the end' ],
	[ 'whitespace', $ALL, $WS_EXEMPT, qr{^\s* \t}, 'space before tab' ],
	[
		'whitespace', qr{\.(?:[chly]|cpp)$},
		$WS_EXEMPT, qr{^\t* {4}},
		'indent by spaces'
	],
	[
		'whitespace', qr{\.(?:po|py|xml|xsl)$},
		$NONE, qr{^ *\t},
		'tab in the indent'
	],
	[ 'whitespace', $ALL, $README, $CONFLICT, 'conflict marker' ],
	[ 'docs', qr{\.sgml$}, $NONE, qr{\t}, 'tab' ],
	[ 'docs', qr{\.sgml$}, $NONE, qr{\xc2\xa0}, 'no-break space' ],);

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
	[ 'export-form', 'patch', \&rule_export_form ],
	[ 'commit-message', 'patch', \&rule_commit_message ],
	[ 'has-test', 'patch', \&rule_has_test ],
	[ 'topic-tests', 'series', \&rule_topic_tests ],
	[ 'forbidden-path', 'patch', \&rule_forbidden_path ],
	[ 'catversion', 'patch', \&rule_catversion ],
	[ 'whitespace', 'patch', \&rule_refused ],
	[ 'whitespace', 'patch', \&rule_blank_at_eof ],
	[ 'docs', 'patch', \&rule_refused ],
	[ 'cpp-comment', 'patch', \&rule_cpp_comment ],
	[ 'file-header', 'patch', \&rule_file_header ],
	[ 'c-file-listed', 'patch', \&rule_listed ],
	[ 'test-scheduled', 'patch', \&rule_listed ],
	[ 'test-scheduled', 'patch', \&rule_expected ],
	[ 'gucs', 'patch', \&rule_gucs ],
	[ 'applies', 'series', \&rule_applies ],
	[ 'oids', 'series', \&rule_oids ],
	[ 'typedefs', 'patch', \&rule_typedefs ],
	[ 'pgindent', 'patch', \&rule_pgindent ],
	[ 'perltidy', 'patch', \&rule_perltidy ],);

# What to do about a finding that has no remedy of its own.
my $SAME_PATCH = 'add it in the same patch';
my %REMEDY = (
	'series-files' => 'make patches/18/series and the files agree',
	'export-form' => 'write the patch with: pgseries export',
	'commit-message' => 'reword the commit, then run: pgseries export',
	'has-test' => 'add a test that fails without the patch',
	'topic-tests' => 'add one to a patch of the topic',
	'forbidden-path' => 'leave it out',
	'catversion' => 'leave it to the committer and say so in the message',
	'whitespace' => 'correct the line',
	'docs' => 'use spaces, or &nbsp;',
	'cpp-comment' => 'write /* ... */',
	'file-header' => 'start it as new files of upstream do',
	'c-file-listed' => $SAME_PATCH,
	'test-scheduled' => $SAME_PATCH,
	'gucs' => $SAME_PATCH,
	'applies' => 'rebase it, see: pgseries apply',
	'oids' => 'choose an unused one of 8000-9999',
	'typedefs' => 'add it, sorted as by LC_ALL=C sort',
	'pgindent' => 'run src/tools/pgindent/pgindent of upstream on it',
	'perltidy' =>
	  "run perltidy $PERLTIDY_VERSION on it with the profile of upstream",);

=head1 METHODS

=over

=item new(top => DIR, patches => DIR, tree => REPOSITORY, tools => {...}, user => {...})

C<patches> defaults to TOP/patches.  C<tree> is a repository that holds the tree
which patches/18/BASE names, whatever is checked out there (only its objects are read);
without it the rules that need upstream's files are skipped.  C<user> is who runs pg_bsd_indent, which the unprivileged user has built,
where the tool is run by root.  C<tools> may give the paths of C<pgindent> (the pg_bsd_indent program)
and C<perltidy>; PATH is searched otherwise.

=cut

sub new
{
	my ($class, %args) = @_;
	my $tools = $args{tools} || {};
	return bless {
		top => $args{top},
		dir => rel2abs($args{patches} || "$args{top}/patches"),
		tree => $args{tree},
		user => $args{user},
		pgindent => $tools->{pgindent} || scalar find_tool('pg_bsd_indent'),
		perltidy => $tools->{perltidy} || scalar find_tool('perltidy'),
	}, $class;
}

=item run()

Returns { findings => [ { file, line, rule, message, remedy }, ... ], skips => [
{ rule, reason }, ... ], checked => number of patches }.  Raises a
PgSeries::Error if the input cannot be read at all.

=cut

sub run
{
	my ($self) = @_;
	$self->{findings} = [];
	$self->{skips} = [];
	$self->{skipped} = {};
	my $base = PgSeries::Upstream::read_base("$self->{dir}/BASE")->{tree};
	$self->read_series;
	$self->{git} =
	  PgSeries::Lint::Tree->new($self->{tree}, $base, $self->{user})
	  if defined $self->{tree};
	$self->{base} = $base;

	for my $rule (@RULES)
	{
		($self->{rule}, my $scope, my $code) = @$rule;
		$code->($self, $_)
		  for $scope eq 'series' ? undef : @{ $self->{series} };
	}
	delete $self->{git};
	my @findings = sort {
			 $a->{file} cmp $b->{file}
		  || $a->{line} <=> $b->{line}
		  || $a->{rule} cmp $b->{rule}
	} @{ $self->{findings} };
	return {
		findings => \@findings,
		skips => $self->{skips},
		checked => scalar @{ $self->{series} }
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
	my $skip = { rule => $self->{rule}, reason => $reason };
	push @{ $self->{skips} }, $skip
	  unless $self->{skipped}{"$self->{rule} $reason"}++;
	return;
}

# Fills series (the patches that are there), topics ({ name, patches }) and
# entries ({ name, topic }: what the file lists, right or wrong).
sub read_series
{
	my ($self) = @_;
	my (%seen, $topic);
	$self->{$_} = [] for qw(series topics entries);
	for
	  my $entry (PgSeries::Series::entries(read_file("$self->{dir}/series")))
	{
		my %at = (file => 'patches/18/series', line => $entry->{line});
		my $name = $entry->{file};
		if (!defined $name)
		{
			$topic = { %at, name => $entry->{topic}, patches => [] };
			push @{ $self->{topics} }, $topic;
			next;
		}
		push @{ $self->{entries} }, { %at, name => $name, topic => $topic };
		next if $seen{$name}++ || !-f "$self->{dir}/$name";
		my $p =
		  PgSeries::Lint::Patch->new("$self->{dir}/$name", "patches/18/$name");
		push @{ $self->{series} }, $p;
		push @{ $topic->{patches} }, $p if $topic;
	}
	return;
}

#
# The rules that read the patches only
#

sub rule_series_files
{
	my ($self) = @_;
	my (%listed, %opened);
	my $expected = 0;

	for my $entry (@{ $self->{entries} })
	{
		my $name = $entry->{name};
		if ($listed{$name}++)
		{
			$self->find($entry, "$name is listed twice");
			next;
		}
		$expected++;
		$self->find($entry, "there is no file patches/18/$name")
		  unless -f "$self->{dir}/$name";
		my ($number) = $name =~ /^(\d{4})-[\w.-]+\.patch$/;
		$self->find($entry, "\"$name\" is not of the form NNNN-words.patch")
		  unless defined $number;
		$self->find($entry,
			sprintf('%s should have number %04d', $name, $expected))
		  if defined $number && $number != $expected;
		$self->find(
			$entry,
			"$name belongs to no topic",
			'put a line "# topic: NAME" above it') unless $entry->{topic};
	}
	for my $t (@{ $self->{topics} })
	{
		$self->find(
			$t,
			"\"$t->{name}\" is no name of a topic",
			'use letters, digits and hyphens'
		) unless $t->{name} =~ /^[\w-]+$/;
		$self->find(
			$t,
			"topic $t->{name} is opened twice",
			'keep its patches together') if $opened{ $t->{name} }++;
	}
	opendir(my $dir, $self->{dir})
	  or fail(2, "cannot read $self->{dir}: $!", 'check its permissions');
	for my $name (grep { /\.patch$/ && !$listed{$_} } readdir $dir)
	{
		$self->find(
			{ file => "patches/$name", line => 1 },
			'not listed in patches/18/series');
	}
	closedir $dir;
	return;
}

sub rule_export_form
{
	my ($self, $p) = @_;
	my $text = $p->{text};

	$self->find($p, 'does not start with "From" and a commit of zeroes')
	  unless @$text
	  && $text->[0] =~ /^From 0{40} Mon Sep 17 00:00:00 2001\r?$/;
	for my $name (grep { !$p->{header}{$_} } qw(from date subject))
	{
		$self->find($p, "there is no header \"\u$name:\"");
	}
	my $subject = $p->{header}{subject};
	$self->find($subject, 'the subject does not start with "[PATCH] "')
	  if $subject && $subject->{text} !~ /^\[PATCH\] /;
	my ($dos) = grep { $text->[ $_ - 1 ] =~ /\r$/ } 1 .. @$text;
	$self->find({ file => $p->{file}, line => $dos }, 'line end of DOS')
	  if $dos;
	$self->find($p, 'there is no diff') unless @{ $p->{files} };
	for my $problem (@{ $p->{problems} })
	{
		$self->find($problem,
			$text->[ $problem->{line} - 1 ] =~ /^From [0-9a-f]{40} /
			? 'a second patch in the same file'
			: $problem->{text});
	}
	for my $f (@{ $p->{files} })
	{
		$self->find(
			$f->{binary},
			"$f->{path}: binary file",
			'generate it in the build') if $f->{binary};
		$self->find($f->{index}, "$f->{path}: short object names")
		  if $f->{index}
		  && $f->{index}{text} !~ /^[0-9a-f]{40}\.\.[0-9a-f]{40}$/;
	}
	return;
}

sub rule_commit_message
{
	my ($self, $p) = @_;
	my $subject = $p->{header}{subject}
	  || { file => $p->{file}, line => 1, text => '' };
	my $summary = Encode::decode('UTF-8', $subject->{text});
	$summary =~ s/^\[PATCH[^\]]*\]\s*//;
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

sub rule_topic_tests
{
	my ($self) = @_;
	my %kind = (regression => $REGRESSION, isolation => $ISOLATION);
	for my $t (@{ $self->{topics} })
	{
		for my $kind (sort keys %kind)
		{
			$self->find($t, "topic $t->{name} touches no $kind test")
			  unless grep { !$_->{deleted} }
			  map { $_->files($kind{$kind}) } @{ $t->{patches} };
		}
	}
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

sub rule_refused
{
	my ($self, $p) = @_;
	my @refused = grep { $_->[0] eq $self->{rule} } @REFUSED;
	for my $f (@{ $p->{files} })
	{
		my @here =
		  grep { $f->{path} =~ $_->[1] && $f->{path} !~ $_->[2] } @refused;
		for my $row ($f->added)
		{
			my ($bad) = grep { $row->{text} =~ $_->[3] } @here;
			$self->find($row, $bad->[4]) if $bad;
		}
	}
	return;
}

# A last hunk without context below reaches the end of the file.
sub rule_blank_at_eof
{
	my ($self, $p) = @_;
	for my $f (grep { $_->{path} !~ $WS_EOF_FREE } @{ $p->{files} })
	{
		my @rows = grep { $_->{kind} ne '-' } @{ $f->{rows} };
		my $blank;
		$blank = pop @rows
		  while @rows && "$rows[-1]{kind}$rows[-1]{text}" =~ /^\+\s*$/;
		$self->find($blank, 'blank line at the end of the file') if $blank;
	}
	return;
}

sub rule_cpp_comment
{
	my ($self, $p) = @_;
	for my $hunk (map { @{ $_->{hunks} } } $p->files(qr/\.[chly]$/))
	{
		my @rows = grep { $_->{kind} ne '-' } @{ $hunk->{rows} };

		# A hunk that starts inside a comment ends one first.  One without
		# any mark may be all comment: then its lines start with a star.
		my ($first) =
		  join("\n", map { $_->{text} } @rows) =~ m{(/\*|\*/)};
		my $in = defined $first && $first eq '*/';
		for my $row (@rows)
		{
			next if !defined $first && $row->{text} =~ /^\s*\*\s/;
			(my $found, $in) = find_cpp_comment($row->{text}, $in);
			$self->find($row, 'C++ comment') if $found && $row->{kind} eq '+';
		}
	}
	return;
}

# Returns whether the line has a // comment and whether a block comment goes
# on after it.
sub find_cpp_comment
{
	my ($text, $in) = @_;
	pos($text) = 0;
	while (pos($text) < length $text)
	{
		if ($in)
		{
			return (0, 1) unless $text =~ m{\G.*?\*/}gc;
			$in = 0;
		}
		elsif ($text =~ m{\G/\*}gc) { $in = 1; }
		elsif ($text =~ m{\G//}gc)  { return (1, 0); }
		else { $text =~ m{\G(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|.)}gcs; }
	}
	return (0, $in);
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
	my ($self) = @_;
	my $catalogs = 'src/include/catalog/';
	my %owner;
	if ($self->{git})
	{
		my @lines = $self->{git}
		  ->lines($self->{base}, "oid +=> +'|^(CATALOG|DECLARE_)", $catalogs);
		$owner{$_} = 'upstream' for map { oids_of($_) } @lines;
	}
	else
	{
		$self->skip(
			"compared within the series only, without upstream's tree");
	}
	for my $p (@{ $self->{series} })
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

#
# The rules that need upstream's files
#

# Sets before and after, the git trees, of each patch that applies.
sub rule_applies
{
	my ($self) = @_;
	return $self->skip("needs upstream's tree") unless $self->{git};
	my $before = $self->{base};
	for my $p (@{ $self->{series} })
	{
		my ($after, $error) = $self->{git}->apply($p->{path});
		if (!defined $after)
		{
			my ($path, $start) =
			  $error =~ /^error: (?:patch failed: )?([^:\n]+):(\d*)/m;
			my ($f) =
			  grep { defined $path && $_->{path} eq $path } @{ $p->{files} };
			my ($hunk) =
			  grep { $_->{start} eq $start } $f ? @{ $f->{hunks} } : ();
			my ($why) = $error =~ /^error: (.*)$/m;
			$self->find($hunk || $f || $p,
				defined $why ? $why : 'does not apply');
			return;
		}
		@$p{qw(before after)} = ($before, $after);
		$before = $after;
	}
	return;
}

sub need_tree
{
	my ($self, $p) = @_;
	return 1 if $p->{after};
	$self->skip(
		$self->{git}
		? "$p->{file}: it or a patch before it does not apply"
		: "needs upstream's tree");
	return 0;
}

sub rule_typedefs
{
	my ($self, $p) = @_;
	my (@new, %new, $open);
	for my $hunk (map { @{ $_->{hunks} } } $p->files(qr/\.[ch]$/))
	{
		$open = 0;
		for my $row (grep { $_->{kind} ne '-' } @{ $hunk->{rows} })
		{
			my $name = typedef_name($row->{text}, \$open);
			push @new, [ $row, $name ]
			  if defined $name && $row->{kind} eq '+' && !$new{$name}++;
		}
	}
	return unless @new && $self->need_tree($p);
	my $file = 'src/tools/pgindent/typedefs.list';
	my $list = $self->{git}->blob($p->{after}, $file);
	return $self->skip("the tree has no $file") unless defined $list;
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
	return unless $p->files(qr{\.[ch]$}) && $self->need_tree($p);
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
			rebuild($self->{pgindent}), $err);
		return;
	};
	$self->check_layout($p, qr{\.[ch]$}, $indent);
	return;
}

# What to do about a pg_bsd_indent that fails, which is that of a build or another.
sub rebuild
{
	my ($program) = @_;
	return $program =~ m{^((?:.*/b)/([^/]+))/(build/src/tools/pg_bsd_indent)/}
	  ? "remove $1/$3 and $1/stamp, then run: pgseries build $2"
	  : "install $program again";
}

sub rule_perltidy
{
	my ($self, $p) = @_;
	return unless $p->files(qr{\.p[lm]$}) && $self->need_tree($p);
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
		my $dir = $self->{git}
		  ->checkout($side, $p->{$side}, 'src/tools/pgindent', @beside);
		return $self->skip('the tree has no src/tools/pgindent')
		  unless defined $dir;
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
			my ($row) = grep { $_->{kind} ne '-' && $_->{new} == $line }
			  @{ $file{$path}{rows} };
			my $at = { %{ $row || $file{$path} }, target => "$path:$line" };
			$self->find($at, "$self->{rule} would change it");
		}
	}
	return;
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
