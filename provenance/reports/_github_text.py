r"""Texts of hostile origin in the workflow commands of GitHub Actions.

Guarantees: a command is one line that the runner, and its imitations, read as that one command: no
text starts another, ends its properties early or adds one. What the runner reads is the text, but
that `::` and `##[` are parted: older runners and other programs look for them anywhere in a line.

Example:
    >>> command("error", "a\n::set-output name=x::y", title="a:b,c=100%")
    '::error title=a%3Ab%2Cc=100%25::a : :set-output name=x: :y\n'
"""

from __future__ import annotations

from provenance.reports._sarif_text import one_line

__all__ = ["command", "is_as_it_is"]

# As `toCommandValue` and `escapeProperty` of GitHub's own toolkit do; a text has no line end left.
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def command(name: str, message: str, **properties: str) -> str:
    """Write one command with its line end; properties that are empty are left out."""
    given = ",".join(
        f"{key}={_parted(value).translate(_PROPERTY)}" for key, value in properties.items() if value
    )
    space = " " if given else ""
    return f"::{name}{space}{given}::{_parted(message).translate(_DATA)}\n"


def is_as_it_is(text: str) -> bool:
    """Say whether a text, a file's name for one, comes out of a command unaltered."""
    return _parted(text) == text


def _parted(text: str) -> str:
    line = one_line(text)
    while "::" in line:
        line = line.replace("::", ": :")
    # The mark that ends the properties stands before it.
    return f" {line}" if line.startswith(":") else line
