package PgSeries::Report::Markup;

=pod

=head1 NAME

PgSeries::Report::Markup - plain text, Markdown and HTML of the same blocks

=head1 SYNOPSIS

  use PgSeries::Report::Markup qw(bytes markdown page);

  my @blocks = ([ h => 1, 'Title' ], [ p => 'A & B' ]);
  write_file('page.md', bytes(markdown(@blocks)));
  write_file('page.html', bytes(page('Title', @blocks)));

=head1 DESCRIPTION

A page is a list of blocks, so that Markdown and HTML say the same:

  [h => level, text, id]                      a heading; id may be missing
  [p => inline]                               a paragraph
  [ul => inline, ...]                         a list
  [table => [heading, ...], [cell, ...], ...]
  [plot => file, title, svg]

A heading of a table that starts with ">" is a column of numbers.  An inline or
a cell is a text or a list of texts and hashes { text, href, class, code }.  A
"href" to another page of the report is { md, html }: its file for each form.

Texts are decoded; bytes() makes of them what is written to a file or printed.

=head1 FUNCTIONS

None raises an error.

=over

=cut

use strict;
use warnings FATAL => 'all';

use Cwd            qw(abs_path);
use Exporter       qw(import);
use File::Basename qw(basename dirname);
use File::Spec;

our @EXPORT_OK =
  qw(bytes html_text markdown page plain plain_inline relative_path);

=item plain_inline($inline), plain(@blocks)

Return an inline, or paragraphs and lists, as plain text.

=cut

sub plain_inline
{
	my ($inline) = @_;
	return join '',
	  map { ref $_ ? $_->{text} : $_ } ref $inline ? @$inline : $inline;
}

sub plain
{
	my $text = '';

	foreach my $block (@_)
	{
		my ($type, @inlines) = @$block;
		my $bullet = $type eq 'ul' ? '- ' : '';
		$text .= $bullet . plain_inline($_) . "\n" foreach @inlines;
	}
	return $text;
}

sub _md_text
{
	my ($text) = @_;
	$text =~ s/([\\`*_<>\[\]|~#])/\\$1/g;
	$text =~ s/&/&amp;/g;
	$text =~ s/\s*\n\s*/ /g;
	return $text;
}

sub _md
{
	my ($inline) = @_;
	return join '', map {
		!ref $_
		  ? _md_text($_)
		  : defined $_->{href} ? '['
		  . _md_text($_->{text}) . ']('
		  . _url(ref $_->{href} ? $_->{href}{md} : $_->{href}) . ')'
		  : $_->{code} ? "`$_->{text}`"
		  : _md_text($_->{text})
	} ref $inline ? @$inline : $inline;
}

sub _url
{
	my ($path) = @_;
	$path = bytes($path);
	$path =~ s{([^A-Za-z0-9./_~-])}{sprintf '%%%02X', ord $1}ge;
	return $path;
}

=item markdown(@blocks)

Returns the blocks as Markdown; a plot is a link to its file.

=cut

sub markdown
{
	my @text;

	foreach my $block (@_)
	{
		my ($type, @rest) = @$block;
		if ($type eq 'h')
		{
			push @text, '#' x $rest[0] . ' ' . _md_text($rest[1]) . "\n";
		}
		elsif ($type eq 'p') { push @text, _md($rest[0]) . "\n"; }
		elsif ($type eq 'ul')
		{
			push @text, join('', map { '- ' . _md($_) . "\n" } @rest);
		}
		elsif ($type eq 'plot')
		{
			push @text,
			  '![' . _md_text($rest[1]) . '](' . _url($rest[0]) . ")\n";
		}
		else
		{
			my ($head, @rows) = @rest;
			my @names = map { /^>?(.*)/s } @$head;
			push @text, join(
				'',
				map { '| ' . join(' | ', @$_) . " |\n" }
				  [ map { _md_text($_) } @names ],
				[ map { /^>/ ? '--:' : '---' } @$head ],
				map {
					[ map { _md($_) } @$_ ]
				} @rows);
		}
	}
	return join("\n", @text);
}

=item html_text($text)

Returns the text with the characters escaped that mean something in HTML.

=cut

sub html_text
{
	my ($text) = @_;
	my %entity =
	  ('&' => 'amp', '<' => 'lt', '>' => 'gt', '"' => 'quot', "'" => '#39');
	$text =~ s/([&<>"'])/&$entity{$1};/g;
	return $text;
}

sub _html_inline
{
	my ($inline) = @_;
	return join '', map {
		my $text = html_text(ref $_ ? $_->{text} : $_);
		!ref $_
		  ? $text
		  : defined $_->{href} ? '<a href="'
		  . _url(ref $_->{href} ? $_->{href}{html} : $_->{href})
		  . "\">$text</a>"
		  : $_->{code}  ? "<code>$text</code>"
		  : $_->{class} ? "<span class=\"$_->{class}\">$text</span>"
		  : $text
	} ref $inline ? @$inline : $inline;
}

sub _html_table
{
	my ($head, @rows) = @_;
	my @class = map { /^>/ ? ' class="n"' : '' } @$head;
	my $row = sub {
		my ($tag, @cells) = @_;
		return
			'<tr>'
		  . join('', map { "<$tag$class[$_]>$cells[$_]</$tag>" } 0 .. $#cells)
		  . "</tr>\n";
	};
	return
		"<div class=\"scroll\"><table>\n<thead>"
	  . $row->('th', map { /^>?(.*)/s; html_text($1) } @$head)
	  . "</thead>\n<tbody>\n"
	  . join(
		'',
		map {
			$row->('td', map { _html_inline($_) } @$_)
		} @rows) . "</tbody></table></div>\n";
}

my $css = <<'CSS';
body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff;
  max-width: 72rem; margin: 0 auto; padding: 1rem 1.5rem 4rem; }
h1, h2, h3 { line-height: 1.25; margin: 2rem 0 .5rem; }
h2 { border-bottom: 1px solid #ccc; padding-bottom: .25rem; }
h3 { font-size: 1.05rem; overflow-wrap: anywhere; }
a { color: #0058a3; }
nav a { margin-right: 1rem; white-space: nowrap; }
figure { margin: 1rem 0; }
svg { max-width: 100%; height: auto; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; margin: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem;
  border-bottom: 1px solid #ddd; }
th { background: #f3f3f3; }
.n { text-align: right; font-variant-numeric: tabular-nums;
  white-space: nowrap; }
.better { color: #00633f; font-weight: 600; }
.label { font-weight: 600; }
.worse, .missing { color: #a3260c; font-weight: 600; }
.inconclusive { font-style: italic; }
CSS

=item page($name, @blocks)

Takes the title of the window and the blocks.  Returns an HTML page that needs
nothing else: the plots are in it.  The headings with an id are linked at the
top.

=cut

sub page
{
	my ($name, @blocks) = @_;
	my ($title, $body, $links) = ('', '', '');

	foreach my $block (@blocks)
	{
		my ($type, @rest) = @$block;
		if ($type eq 'h')
		{
			my ($level, $text, $id) =
			  ($rest[0], html_text($rest[1]), $rest[2]);
			my $attribute = '';
			if (defined $id)
			{
				$id = html_text($id);
				$attribute = " id=\"$id\"";
				$links .= "<a href=\"#$id\">$text</a>\n";
			}
			my $heading = "<h$level$attribute>$text</h$level>\n";
			if   ($level == 1) { $title = $heading; }
			else               { $body .= $heading; }
		}
		elsif ($type eq 'p')
		{
			$body .= '<p>' . _html_inline($rest[0]) . "</p>\n";
		}
		elsif ($type eq 'ul')
		{
			$body .=
				"<ul>\n"
			  . join('', map { '<li>' . _html_inline($_) . "</li>\n" } @rest)
			  . "</ul>\n";
		}
		elsif ($type eq 'plot') { $body .= "<figure>\n$rest[2]</figure>\n"; }
		else                    { $body .= _html_table(@rest); }
	}
	return <<"HTML";
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$name</title>
<style>
$css</style>
</head>
<body>
$title<nav>
$links</nav>
$body</body>
</html>
HTML
}

=item bytes($text)

Returns the text in UTF-8.

=cut

sub bytes
{
	my ($text) = @_;
	utf8::encode($text);
	return $text;
}

=item relative_path($path, $dir)

Takes a path, and a directory that exists.  Returns the path from the directory,
for a link; both may be reached through symbolic links.

=back

=cut

sub relative_path
{
	my ($path, $dir) = @_;
	my $parent = abs_path(dirname($path));
	$path = "$parent/" . basename($path) if defined $parent;
	return File::Spec->abs2rel($path, abs_path($dir));
}

=head1 TESTS

src/test/report.t

=cut

1;
