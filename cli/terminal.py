r"""A rich console that draws into a text, so that one place writes to standard output.

Guarantees: colour only where it is wanted; the width is the terminal's, or that of `COLUMNS`.

Example:
    >>> from .options import Manner
    >>> manner = Manner(boxes=True, color=False, quiet=False)
    >>> capture(manner, lambda console: console.print("[red]x", markup=False))
    '[red]x\n'
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from io import StringIO
from typing import TYPE_CHECKING

from .options import Manner

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["capture"]


def capture(manner: Manner, draw: Callable[[Console], None]) -> str:
    """Let `draw` print to a console and give what it printed."""
    from rich.console import Console

    text = StringIO()
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    console = Console(
        file=text,
        force_terminal=manner.color,
        color_system="standard" if manner.color else None,
        no_color=not manner.color,
        safe_box=not encoding.startswith("utf"),
        highlight=False,
        markup=False,
        emoji=False,
    )
    draw(console)
    return text.getvalue()
