r"""JSON text that every reader takes, whatever the audited files held.

Guarantees: ASCII, one line, and no escape that stands for half a character: strict readers refuse
those (RFC 7493), so they become U+FFFD. No program that runs builds finds a command in it.

Example:
    >>> to_json({"a": "\ud800", "b": "\\ud800", "c": "\U0001f600"})
    '{"a":"\\ufffd","b":"\\\\ud800","c":"\\ud83d\\ude00"}'
"""

from __future__ import annotations

import json
import re

from provenance.reports._runner_commands import escape_commands

__all__ = ["to_json"]

_encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode
# An escaped backslash, a pair, or half of one: tried in this order.
_escape = re.compile(
    r"\\\\|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(?P<half>\\ud[89a-f][0-9a-f]{2})"
)


def to_json(value: object) -> str:
    """Write a JSON value on one line."""
    text = escape_commands(_encode(value))
    if "\\ud" not in text:
        return text
    return _escape.sub(lambda match: "\\ufffd" if match["half"] else match[0], text)
