r"""Names and texts of hostile origin, as SARIF can hold them.

Guarantees: a URI is a relative path that stays below its base, byte for byte the file's name. A
text is one line without hidden characters; a message holds no placeholder and no link either.

Example:
    >>> uri_path("my notes/100%.jsonl"), uri_path("../x")
    ('my%20notes/100%25.jsonl', None)
    >>> message_text("{0}:\n[here](http://host)")
    '{{0}}: [here] (http://host)'
"""

from __future__ import annotations

import re
from urllib.parse import quote

from provenance.durable.escaping import escape_hidden
from provenance.reports._runner_commands import part_commands

__all__ = ["cut", "message_text", "one_line", "uri_path"]

# GitHub shows no more than 1,024 characters of a description.
_MOST_CHARACTERS = 1_000
# What RFC 3986 lets stand in a path. The colon is left out: at the start it would end a scheme; and
# the semicolon: some programs take what follows it for parameters and drop it.
_PLAIN_IN_PATHS = "/!$&'()*+,=@"

# A half character that stands for no byte of a file name (PEP 383).
_half_character = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_any_slash = re.compile(r"[/\\]")


def uri_path(name: str) -> str | None:
    """Write a relative name as a URI path, byte for byte; None where it is no such name.

    Dots are refused and not encoded: browsers read `%2e%2e` as `..`. A backslash parts names on
    some machines, once it is decoded.
    """
    if not {"", ".", ".."}.isdisjoint(name.split("/")) or ".." in _any_slash.split(name):
        return None
    whole = _half_character.sub("\ufffd", name)
    return quote(whole.encode("utf-8", "surrogateescape"), safe=_PLAIN_IN_PATHS)


def cut(text: str, most: int) -> str:
    """Give the first characters of a text, and say so where there are more."""
    return text if len(text) <= most else text[:most] + "..."


def one_line(text: str) -> str:
    """Write a text on one line, cut where it is too long, with its hidden characters escaped.

    What a program that runs builds would take for a command is parted.
    """
    return part_commands(escape_hidden(" ".join(cut(text, _MOST_CHARACTERS).split())))


def message_text(text: str) -> str:
    """Write a text as a SARIF message: braces would be placeholders, `](` a link."""
    return one_line(text).replace("{", "{{").replace("}", "}}").replace("](", "] (")
