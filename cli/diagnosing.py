"""Carries out `ctxaudit doctor`.

Guarantees: no line holds a path above a root. The exit code does not depend on the format.

Example:
    $ ctxaudit doctor home --format json
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator

import click

from provenance._version import __version__
from provenance.clock import utc_now
from provenance.doctor import DoctorReport, Note, examine
from provenance.doctor.reporting import document_of, is_incomplete
from provenance.findings import Severity

from .exit_codes import ExitCode
from .operator_files import distinct_targets, is_folder, label_of
from .options import Manner
from .roots import is_home
from .streams import one_line, write_text

__all__ = ["code_of", "diagnose"]


def diagnose(
    ctx: click.Context,
    roots: tuple[str, ...],
    *,
    is_strict: bool,
    most_entries: int,
    is_json: bool,
    manner: Manner,
) -> ExitCode:
    """Look, say what was found, and give the exit code.

    Raises:
        click.UsageError: a root is no folder.
    """
    for root in roots:
        if not is_folder(root):
            raise click.UsageError(f"ROOT: {label_of(root)}: expected a folder", ctx)
    named, _ = distinct_targets(roots or ((".",) if is_home(".") else ()))
    report = examine(named, clock=utc_now, stopwatch=time.monotonic, most_entries=most_entries)
    if is_json:
        document = document_of(report, version=__version__)
        write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    else:
        write_text("".join(f"{one_line(line)}\n" for line in _lines(report, manner)))
    return code_of(report, is_strict=is_strict)


def code_of(report: DoctorReport, *, is_strict: bool) -> ExitCode:
    """Judge a report."""
    counting = {Severity.ERROR, Severity.WARNING} if is_strict else {Severity.ERROR}
    if any(note.severity in counting for note in report.notes):
        return ExitCode.CORRUPT
    return ExitCode.INCONCLUSIVE if is_incomplete(report) else ExitCode.OK


def _lines(report: DoctorReport, manner: Manner) -> Iterator[str]:
    for note in report.notes:
        if manner.quiet and note.severity is Severity.INFO:
            continue
        yield from _note(note, quiet=manner.quiet)
    counts = Counter(note.severity for note in report.notes)
    looked = ", ".join(f"{root.label} ({root.census.entries:,} entries)" for root in report.roots)
    yield f"looked at: {looked or 'no root'}, machine, process"
    yield (
        f"{counts[Severity.ERROR]:,} unsafe, {counts[Severity.WARNING]:,} weaken an answer, "
        f"{counts[Severity.INFO]:,} good to know"
        + ("; not all could be looked at" if is_incomplete(report) else "")
    )


def _note(note: Note, *, quiet: bool) -> Iterator[str]:
    times = f" ({note.count:,} places)" if note.count > 1 and note.places else ""
    yield f"{note.severity:<8} {note.code}  {note.target}: {note.message}{times}"
    if note.places and not quiet:
        more = f", and {note.count - len(note.places):,} more" * (note.count > len(note.places))
        yield f"         where:  {', '.join(note.places)}{more}"
    if not quiet:
        yield f"         costs:  {note.cost}"
        yield f"         remedy: {note.remedy}"
