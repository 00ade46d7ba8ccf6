#!/usr/bin/env python3
"""Draw `docs/verify-sample.svg`: what `ctxaudit verify sample_state` shows on a terminal.

Guarantees: the picture is the program's own report of the sample, run now, through rich's SVG
export; nothing is drawn by hand. A test compares its words with the program's.

Example:
    python scripts/build_terminal_picture.py docs/verify-sample.svg
"""

from __future__ import annotations

import io
import re
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from rich.console import Console  # noqa: E402
from rich.terminal_theme import MONOKAI  # noqa: E402

from cli.console_boxes import print_boxes  # noqa: E402
from cli.console_view import view_of  # noqa: E402
from cli.exit_codes import ExitCode  # noqa: E402
from provenance.audit import AuditRequest, run_audit  # noqa: E402

WIDTH = 110


def draw() -> str:
    """Give the picture as SVG text."""
    report = run_audit(
        AuditRequest(targets=(str(ROOT / "sample_state"),)),
        clock=lambda: datetime.now(UTC),
        stopwatch=time.monotonic,
    )
    console = Console(
        record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, legacy_windows=False
    )
    print_boxes(view_of(report, ExitCode.CORRUPT), console, quiet=False)
    # A fixed id keeps the text the same from run to run.
    picture = console.export_svg(
        title="ctxaudit verify sample_state", theme=MONOKAI, unique_id="ctxaudit"
    )
    # The viewer's own fonts: looking at a picture should ask no server for anything.
    return re.sub(r"\s*@font-face \{.*?\}", "", picture, flags=re.DOTALL)


def main(arguments: list[str]) -> int:
    """Write the picture to the path that is named, or print it."""
    if arguments:
        Path(arguments[0]).write_text(draw(), encoding="utf-8")
    else:
        sys.stdout.write(draw())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
