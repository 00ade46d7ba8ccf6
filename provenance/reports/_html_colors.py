"""The colours and shapes of the states: by day and by night, on badges and on timelines.

Guarantees: a colour never stands alone: each state has its shape and its word. Each text colour has
a contrast of at least 4.5 to 1 with its ground and with paper.

Example:
    >>> variables(night=False).startswith("--available:#")
    True
"""

from __future__ import annotations

__all__ = ["state_rules", "variables"]

# State, colour of its text and marks, its ground: by day, then by night.
_COLORS = (
    ("available", "#11632a", "#ddf4e4", "#6fd58b", "#12301c"),
    ("missing", "#6b3fb5", "#efe7fd", "#c3a6ff", "#2b2147"),
    ("denied", "#8a4300", "#ffeedb", "#f5b06a", "#3a2610"),
    ("corrupt", "#a8122a", "#ffe4e6", "#ff9aa6", "#421a20"),
    ("unsupported", "#0a55a3", "#e1efff", "#86bdff", "#142c4a"),
    ("inconclusive", "#505a66", "#e8ecf1", "#b3bdc9", "#29313b"),
)
_SAME = {"error": "corrupt", "warning": "denied", "info": "unsupported", "finding": "denied"}
_SAME |= {"not-checked": "inconclusive", "waived": "unsupported"}
# Of the same shapes as the marks on the timelines.
_GLYPHS = {
    "available": "25cf",
    "missing": "25cb",
    "denied": "25a0",
    "corrupt": "2715",
    "unsupported": "25c6",
    "inconclusive": "2013",
    "not-checked": "2013",
    "error": "2715",
    "warning": "25b2",
    "info": "2139",
    "waived": "2713",
}


def variables(*, night: bool) -> str:
    """Write the colours as variables."""
    at = 3 if night else 1
    return "".join(f"--{row[0]}:{row[at]};--{row[0]}-g:{row[at + 1]};" for row in _COLORS)


def state_rules() -> str:
    """Write the rules that stand once for each state: badge, mark, and the filter by it."""
    rules = []
    for name in [*(row[0] for row in _COLORS), *_SAME]:
        color = _SAME.get(name, name)
        rules.append(f".b.{name}{{color:var(--{color});background:var(--{color}-g)}}")
        rules.append(f"svg .{name}{{fill:var(--{color});stroke:var(--{color});stroke-width:0}}")
    # The second form says that there is nothing to read aloud; older browsers take the first.
    rules += [
        f'.b.{name}::before{{content:"\\{glyph}";content:"\\{glyph}" / ""}}'
        for name, glyph in _GLYPHS.items()
    ]
    rules += [
        f".controls:has(#f-{row[0]}:checked)~table tbody tr:not([data-s={row[0]}]){{display:none}}"
        for row in _COLORS
    ]
    return "\n".join(rules)
