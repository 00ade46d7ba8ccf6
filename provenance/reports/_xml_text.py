r"""Texts of hostile origin, as XML 1.0 can hold them.

Guarantees: what is written is ASCII, well-formed wherever it stands, in an attribute too, and says
what the text says: a hidden character, or one that no XML document may hold, stands as its escape.

Example:
    >>> xml_text('<a b="]]>">\x00\ufffe\u202e & \xe9')
    '&lt;a b=&quot;]]&gt;&quot;&gt;\\u0000\\ufffe\\u202e &amp; &#233;'
"""

from __future__ import annotations

import re

from provenance.reports._sarif_text import one_line

__all__ = ["xml_lines", "xml_text"]

_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
# What XML 1.0 refuses beyond the hidden characters.
_refused = re.compile("[\ufffe\uffff]")


def xml_text(text: str) -> str:
    """Write a text as one line of XML, cut where it is too long."""
    line = one_line(text)
    if line.isascii():
        return line.translate(_MARKUP)
    line = _refused.sub(lambda match: f"\\u{ord(match[0]):04x}", line)
    return line.translate(_MARKUP).encode("ascii", "xmlcharrefreplace").decode("ascii")


def xml_lines(lines: list[str]) -> str:
    """Write several lines as the content of an element."""
    return "\n".join(map(xml_text, lines))
