"""The console report for a person at a terminal: a table, colours, what to do next.

Guarantees: the words are those of the plain report; no text of an audited file is read as markup.
A long digest is shortened here alone; every other format has it whole.

Example:
    >>> from io import StringIO
    >>> from rich.console import Console
    >>> from provenance.audit_report import AuditReport
    >>> from .console_view import view_of
    >>> from .exit_codes import ExitCode
    >>> console = Console(file=StringIO())
    >>> print_boxes(view_of(AuditReport(), ExitCode.OK), console, quiet=True)
"""

from __future__ import annotations

import re

from rich.box import ROUNDED
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from .console_tables import STYLES, print_groups, print_transcripts
from .console_view import ConsoleView, Row
from .console_words import number

__all__ = ["print_boxes"]

_full_digest = re.compile(r":([0-9a-fA-F]{12})[0-9a-fA-F]{52}$")


def print_boxes(view: ConsoleView, console: Console, *, quiet: bool) -> None:
    """Print a report; `quiet` leaves out all but what is wrong and the counts."""
    rows = [row for row in view.rows if not (quiet and row.state == "available")]
    if rows:
        console.print(_table(view.title, rows))
    if view.more_available and not quiet:
        console.print(f"... and {view.more_available} more that are available", style="dim")
    if view.findings:
        console.print(_findings(view))
    above = 0
    if not rows and not quiet and (view.groups or view.transcripts):
        console.print(Text(view.title, style="bold"))
    if view.groups:
        above = print_groups(view.groups, console, quiet=quiet)
    if not quiet:
        _print_explanations(view, console)
    if view.transcripts is not None:
        print_transcripts(view.transcripts, console, quiet=quiet, above=above)
    for note in view.notes:
        console.print(Text(note, style="bold yellow"))
    if view.counts:
        console.print(Text(view.counts))
    console.print(Text(view.verdict, style="bold"))


def _table(title: str, rows: list[Row]) -> Table:
    table = Table(
        title=Text(title, style="bold"),
        title_justify="left",
        box=ROUNDED,
        show_lines=True,
        expand=True,
    )
    table.add_column("state", no_wrap=True)
    table.add_column("source, and what was found", overflow="fold", ratio=5)
    table.add_column("what rests on it", overflow="fold", ratio=4)
    for row in rows:
        style = STYLES[row.state]
        claims: list[Text] = [Text(claim) for claim in row.claims]
        if row.more_claims:
            claims.append(Text(f"... and {row.more_claims} more", style="dim"))
        table.add_row(Text(row.state, style=style), _found(row), Group(*claims))
    return table


def _found(row: Row) -> Group:
    pointer = Text(_full_digest.sub(r":\1...", row.pointer), style="bold")
    strength = f" ({row.strength})" if row.strength else ""
    lines = [pointer, Text(row.found + strength)]
    if row.place and row.state != "available":
        lines.append(Text(f"look at: {row.place}", style="dim"))
    if row.waiver:
        lines.append(Text(row.waiver, style="yellow"))
    return Group(*lines)


def _findings(view: ConsoleView) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in view.findings:
        style = STYLES.get(finding.severity, "")
        table.add_row(Text(finding.severity, style=style), Text(finding.code), Text(finding.text))
    return table


def _print_explanations(view: ConsoleView, console: Console) -> None:
    if view.more_findings:
        more = number(view.more_findings, "more finding")
        console.print(f"{more}: see --format json", style="dim")
    for title, pairs in (
        ("What the states mean", view.legend),
        ("What to do next (more: ctxaudit explain CODE)", view.advice),
    ):
        if pairs:
            console.print(Text(f"\n{title}", style="bold"))
            console.print(_pairs(pairs))
    console.print()


def _pairs(pairs: tuple[tuple[str, str], ...]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 0, 0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in pairs:
        table.add_row(Text(name, style=STYLES.get(name, "cyan")), Text(text))
    return table
