r"""Texts of hostile origin in GitHub-flavoured Markdown.

Guarantees: what somebody else wrote stands in a code span and cannot leave it: it is one line
without hidden characters, and the span's backticks are more than any that it holds. So nothing of
it becomes markup, HTML, a link, an image, a mention or a reference.

Example:
    >>> print(code_span("a `b` <img src=x> @all\n# c"))
    ``a `b` <img src=x> @all # c``
    >>> print(plain("1 < 2, *so* [it] is"))
    1 &lt; 2, \*so\* \[it\] is
"""

from __future__ import annotations

import re

from provenance.reports._sarif_text import cut, one_line

__all__ = ["code_span", "plain"]

_backticks = re.compile("`+")
# Of no use at the start of a line: a word of ours always stands before it.
_markup = re.compile(r"[\\`*_\[\]~|#!$>@]")


def code_span(text: str, *, most: int = 500) -> str:
    """Write a text as a code span."""
    line = one_line(cut(text, most))
    if not line:
        return "(empty)"
    fence = "`" * (1 + max((len(run) for run in _backticks.findall(line)), default=0))
    # A reader takes one space off each side where both have one.
    pad = " " if line[0] == "`" or line[-1] == "`" else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def plain(text: str) -> str:
    """Write our own words, of which none is to be markup."""
    line = one_line(text).replace("&", "&amp;").replace("<", "&lt;")
    return _markup.sub(r"\\\g<0>", line)
