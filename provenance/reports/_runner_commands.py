r"""What programs that run builds take for a command wherever it stands in a line of a log.

Guarantees: pure. `##[set-output name=x]y`, `##vso[...]`, `##teamcity[...]`: a report on standard
output must not hold one that an audited file wrote. As text it is parted; as JSON it is escaped,
and reads back unaltered.

Example:
    >>> part_commands("see ##[add-mask]x"), escape_commands('"##vso[task.x]"')
    ('see ## [add-mask]x', '"#\\u0023vso[task.x]"')
"""

from __future__ import annotations

import re

__all__ = ["escape_commands", "part_commands"]

_mark = re.compile(r"##(?=[A-Za-z]{0,20}\[)")


def part_commands(text: str, *, between: str = "# ") -> str:
    """Put a space into each mark of a command that is written with words, and into others.

    Args:
        text: of any origin.
        between: what to write for the second sign of a mark instead of it and a space.
    """
    return text if "##" not in text else _mark.sub(f"#{between}", text)


def escape_commands(document: str) -> str:
    """Write one sign of each mark in a JSON text as an escape."""
    return document if "##" not in document else _mark.sub(r"#\\u0023", document)
