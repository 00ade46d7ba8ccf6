"""Transcripts and their faults for a person at a terminal: lines that open an editor, and tables.

Guarantees: the words are those of the plain report; no text of an audited file is read as markup.
A place is never broken or cut, so that a terminal can open it; what stands behind it gives way
where the window is narrow.

Example:
    >>> from io import StringIO
    >>> console = Console(file=StringIO(), width=60)
    >>> print_groups((), console, quiet=False)
    0
"""

from __future__ import annotations

from rich.box import ROUNDED
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .console_faults import HINT, FaultGroup, Place
from .console_transcripts import FileRow, ReferenceLine, TranscriptsView

__all__ = ["STYLES", "print_groups", "print_transcripts"]

STYLES = {
    "available": "green",
    "missing": "yellow",
    "denied": "magenta",
    "corrupt": "bold red",
    "unsupported": "cyan",
    "inconclusive": "blue",
    "error": "bold red",
    "warning": "yellow",
}
# Rows of the last table that speak of faults.
_TOTAL_STYLES = {"errors": "error", "warnings": "warning", "not checked": "inconclusive"}
_SEVERITY_WIDTH = len("warning") + 1
_INDENT = " " * _SEVERITY_WIDTH
# From here on numbers and times have columns of their own.
_WIDE = 110
# Room for the longest code and its number; in a wide window for two short ones.
_FAULTS_WIDTH = 40
_FAULTS_WIDTH_NARROW = 34
_NUMBERS_WIDTH = 38
# More groups than this have a line each for what they mean, and less of it than half a sentence
# says nothing.
_CROWD = 8
_LEAST_MEANING = 24
_FRAME = 7  # what the lines of a table of two columns take of a line, and of a screen
# The lines of one screen, and what a tree's files have of it even where much is above them.
_SCREEN = 54
_LEAST_LINES = 6


def print_groups(groups: tuple[FaultGroup, ...], console: Console, *, quiet: bool) -> int:
    """Print what is wrong, by code, and give the number of lines.

    Args:
        groups: the worst first.
        console: where to.
        quiet: leave out what the codes mean.
    """
    lines = 0
    is_crowded = len(groups) > _CROWD
    for group in groups:
        head = Text()
        head.append(f"{group.severity:{_SEVERITY_WIDTH}}", style=STYLES.get(group.severity, ""))
        head.append(group.code, style="bold")
        head.append(f"  {group.count}")
        meaning = "" if quiet else group.meaning
        room = console.width - cell_len(head.plain) - 2
        if is_crowded:
            meaning = _within(meaning, room)
        if meaning and cell_len(meaning) <= room:
            head.append(f"  {meaning}")
            meaning = ""
        console.print(head)
        if meaning:
            console.print(Padding(Text(meaning), (0, 0, 0, _SEVERITY_WIDTH), expand=False))
        for place in group.places:
            _print_place(place, console)
        lines += 1 + bool(meaning) + len(group.places)
    if groups and not quiet:
        console.print(Text(f"{_INDENT}{HINT}", style="dim"))
        lines += 1
    return lines


def print_transcripts(
    view: TranscriptsView, console: Console, *, quiet: bool, above: int = 0
) -> None:
    """Print references, files and the numbers of all.

    Args:
        view: the transcripts.
        console: where to.
        quiet: print the numbers alone.
        above: lines that stand above; the table of a tree's files leaves room for them.
    """
    totals = _totals(view, console.width)
    if not quiet:
        if view.references:
            console.print(_references(view.references))
        if view.more_references:
            more = f"... and {view.more_references:,} more: see --format json"
            console.print(Text(more, style="dim"))
        if view.files:
            room = _SCREEN - above - len(console.render_lines(totals)) - _FRAME
            _print_files(view, console, max(_LEAST_LINES, room))
    console.print(totals)


def _within(text: str, room: int) -> str:
    """Cut a text at the end of a word; give none of it where next to nothing would be left."""
    if cell_len(text) <= room:
        return text
    if room < _LEAST_MEANING:
        return ""
    return set_cell_size(text, room - 3).rpartition(" ")[0] + "..."


def _print_place(place: Place, console: Console) -> None:
    room = console.width - _SEVERITY_WIDTH
    variants = place.variants()
    where = next((one for one in variants if cell_len(one) <= room), variants[-1])
    line = Text(_INDENT)
    line.append(place.where, style="cyan")
    line.append(where[len(place.where) :], style="dim")
    # The terminal itself breaks what is too long: that keeps it one link.
    console.print(line, soft_wrap=True)
    if place.message:
        message = Text(place.message, style="dim")
        console.print(Padding(message, (0, 0, 0, _SEVERITY_WIDTH + 2), expand=False))


def _references(references: tuple[ReferenceLine, ...]) -> Table:
    table = _table("What its records refer to")
    table.add_column("state", no_wrap=True)
    table.add_column("where", no_wrap=True)
    table.add_column("what was looked for and found", overflow="fold", ratio=1)
    for one in references:
        style = STYLES.get(one.state, "")
        table.add_row(Text(one.state, style=style), Text(one.place), Text(one.message))
    return table


def _print_files(view: TranscriptsView, console: Console, room: int) -> None:
    """Print the table of files; that of a tree has at most `room` lines in it."""
    is_wide = console.width >= _WIDE
    faults_width = _FAULTS_WIDTH if is_wide else _FAULTS_WIDTH_NARROW
    if console.width < 2 * _FAULTS_WIDTH_NARROW:
        faults_width = max(1, console.width // 2 - _FRAME)
    table = _table(view.title)
    table.add_column("file", overflow="fold", ratio=1)
    if is_wide:
        table.add_column("records, calls, results", no_wrap=True)
        if not view.is_tree:
            table.add_column("first and last", no_wrap=True)
    table.add_column("faults", overflow="fold", width=faults_width)
    shown = 0
    name_width = console.width - faults_width - _FRAME
    if is_wide:
        name_width -= _NUMBERS_WIDTH
    for row in view.files:
        faults = _packed(row.faults, faults_width)
        if view.is_tree:
            room -= max(-(-cell_len(row.name) // max(1, name_width)), faults.count("\n") + 1)
            if room < 0:
                break
        shown += 1
        cells = _cells(row, name_width, is_tree=view.is_tree, is_wide=is_wide)
        table.add_row(*cells, Text(faults, style=STYLES.get(row.severity, "green")))
    console.print(table)
    if more := view.more_files(shown):
        console.print(Text(more, style="dim"))


def _cells(row: FileRow, name_width: int, *, is_tree: bool, is_wide: bool) -> list[Text]:
    """Give a file and, of a few, all its numbers; in a narrow window they stand below its name."""
    name = Text(row.name)
    if is_tree:
        numbers = Text(f"{row.records}, {row.calls}, {row.results}")
        return [name, numbers] if is_wide else [name]
    if is_wide:
        name.append(f"\n{row.format}, {row.sessions}", style="dim")
        numbers = Text(f"{row.records}\n{row.calls}, {row.results}")
        return [name, numbers, Text(f"{row.first}\n{row.last}".strip())]
    said = f"{row.format}, {row.sessions}, {row.records}, {row.calls}, {row.results}"
    name.append(f"\n{_packed(said, name_width)}", style="dim")
    if row.first or row.last:
        name.append(f"\n{row.first} to {row.last}", style="dim")
    return [name]


def _totals(view: TranscriptsView, width: int) -> Table:
    names = max(len(name) for name, _ in view.totals)
    table = _table("All together", is_headed=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold", ratio=1)
    for name, value in view.totals:
        style = STYLES[_TOTAL_STYLES[name]] if name in _TOTAL_STYLES and value != "none" else ""
        packed = _packed(value, width - names - _FRAME)
        table.add_row(Text(name, style="bold"), Text(packed, style=style))
    return table


def _packed(text: str, width: int) -> str:
    """Break a list at its commas, so that no number stands apart from its code."""
    lines = [""]
    for item in text.split(", "):
        joined = f"{lines[-1]}, {item}" if lines[-1] else item
        if lines[-1] and cell_len(joined) + 1 > width:
            lines[-1] += ","
            lines.append(item)
        else:
            lines[-1] = joined
    return "\n".join(lines)


def _table(title: str, *, is_headed: bool = True) -> Table:
    return Table(
        title=Text(title, style="bold"),
        title_justify="left",
        box=ROUNDED,
        show_header=is_headed,
        expand=True,
    )
