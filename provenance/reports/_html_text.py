r"""Text of hostile origin as HTML: it is read as it stands, and never as markup.

Guarantees: whatever is given, the result is ASCII, holds no tag that is not ours, and is on one
line but for `lines`. Control characters, half characters, and characters that are not seen or turn
the direction of others become `\uXXXX` inside an element of ours, so that they can be told from a
text that spells an escape itself. No text holds what a program that runs builds takes for a command
(`##[`). Attributes say the same without the element. What is cut says so.

Example:
    >>> text("<b>\u202e")
    '&lt;b&gt;<i class="x">\\u202e</i>'
    >>> attribute('" onload="')
    '&quot; onload=&quot;'
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from itertools import groupby

from provenance.durable.escaping import escape_hidden
from provenance.reports._runner_commands import part_commands

__all__ = ["attribute", "count", "cut", "lines", "link", "prose", "prose_words", "tag", "text"]

# A message or a claim is a sentence or two; who needs more has the file.
MOST_CHARACTERS = 600
_code_span = re.compile(r"`([^`]*)`")


def cut(value: str, most: int = MOST_CHARACTERS) -> str:
    """Give the first characters of a text, and say how many are left out."""
    if len(value) <= most:
        return value
    return f"{value[:most]}... ({count(len(value) - most, 'more character')})"


def text(value: str, most: int = MOST_CHARACTERS) -> str:
    """Write a text as the content of an element, on one line."""
    value = cut(value, most)
    if _one_line(value) == value:
        return _ascii(html.escape(value))
    parts: list[str] = []
    for is_hidden, run in groupby(value, key=lambda char: _one_line(char) != char):
        shown = "".join(run)
        if is_hidden:
            parts.append(f'<i class="x">{html.escape(_one_line(shown))}</i>')
        else:
            parts.append(_ascii(html.escape(shown)))
    return "".join(parts)


def lines(value: str) -> str:
    """Write a text as the content of `pre`: its line ends are kept."""
    # The parser drops a line end right after <pre>; this one is for it to drop.
    return "\n" + "\n".join(text(line, len(line)) for line in value.split("\n"))


def attribute(value: str, most: int = MOST_CHARACTERS) -> str:
    """Write a text as the value of an attribute that stands in double quotes."""
    return _ascii(html.escape(_one_line(cut(value, most))))


def prose(value: str) -> str:
    """Write a text of our own pages: what stands between backticks is code."""
    return _code_span.sub(r"<code>\1</code>", text(value, len(value)))


def prose_words(words: Iterable[str]) -> str:
    """Join short texts with commas and a last `and`."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def count(number: int, noun: str, plural: str = "") -> str:
    """Give a number of things; the words are ours."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def tag(name: str, content: str, **attributes: str) -> str:
    """Write an element; content and values are written already, `class_` is `class`."""
    said = "".join(f' {key.rstrip("_")}="{value}"' for key, value in attributes.items())
    return f"<{name}{said}>{content}</{name}>"


def link(place: str, content: str, *, is_there: bool) -> str:
    """Write a link to a place on the page; the content alone where that is not on it."""
    return f'<a href="#{place}">{content}</a>' if is_there else content


def _one_line(value: str) -> str:
    return escape_hidden(value).replace("\n", "\\u000a")


def _ascii(value: str) -> str:
    # A page on standard output stands in a log: what programs take for a command there reads the
    # same and is none.
    value = part_commands(value, between="&#35;")
    # Whatever encoding the text is written in, and whatever one the reader takes it for.
    return value if value.isascii() else value.encode("ascii", "xmlcharrefreplace").decode("ascii")
