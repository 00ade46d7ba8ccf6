"""Carries out `ctxaudit transcript repair`.

Guarantees: what is said of the changes holds no text of the transcript; the bytes stand in the list
beside the new file.

Example:
    $ ctxaudit transcript repair damaged.jsonl --output sound.jsonl
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import click

from provenance.errors import CtxauditError, MachineError
from provenance.fs import NameTaken, ReadFailed, SourceAbsent, SourceChanged, UnsafeComponent
from provenance.transcripts.repair import CHANGES_ENDING, Repair, repair_transcript

from .exit_codes import ExitCode
from .operator_files import is_folder, label_of
from .streams import talk, write_text

__all__ = ["repair"]

_SCHEMA = "ctxaudit.repair/1"
_HEADINGS = ("kind", "action", "line", "offset", "length", "new line", "sha256")


def repair(
    ctx: click.Context,
    file: str,
    output: str,
    *,
    as_format: str | None,
    is_json: bool,
    is_quiet: bool,
) -> ExitCode:
    """Repair a transcript and say what was changed; gives the exit code.

    Raises:
        click.UsageError: the file or the new name cannot be used.
    """
    label, new = label_of(file), label_of(output)
    try:
        done = repair_transcript(file, output, as_format=as_format)
    except SourceAbsent as error:
        raise click.UsageError(_absent(label, output, error), ctx) from None
    except NameTaken:
        raise click.UsageError(
            f"--output: {new}: expected a name that is free, with {CHANGES_ENDING} too, "
            "got one in use",
            ctx,
        ) from None
    except UnsafeComponent as error:
        raise click.UsageError(f"{label}: {error}", ctx) from None
    except (SourceChanged, ReadFailed) as error:
        talk(f"{ctx.command_path}: {label}: {error}; nothing was written")
        return ExitCode.INCONCLUSIVE
    except MachineError as error:
        talk(f"{ctx.command_path}: {label}: {error}")
        return ExitCode.TOOL_FAILED
    except CtxauditError as error:
        raise click.UsageError(f"{label}: {error}", ctx) from None
    if is_json:
        write_text(json.dumps(_document(done, label, new), indent=2) + "\n")
    elif done.is_written:
        write_text("".join(_table(done, label, new)))
    else:
        write_text(f"{label}: nothing to repair: {_count(done.records, 'record')}, each on a line "
                   "of its own; no file was written\n")  # fmt: skip
    if done.is_written and not is_quiet and done.first_misnumbered is not None:
        talk(
            f"{ctx.command_path}: {new}: line {done.first_misnumbered} has the sequence number of "
            "another line; pointers to it and to what follows stay corrupt"
        )
    return ExitCode.OK


def _absent(label: str, output: str, error: SourceAbsent) -> str:
    from pathlib import PurePath

    if not is_folder(str(PurePath(output).parent)):
        return f"--output: {label_of(output)}: expected a file in a folder that exists"
    return f"{label}: {error}"


def _document(done: Repair, label: str, new: str) -> dict[str, object]:
    written = done.is_written
    return {
        "schema": _SCHEMA,
        "target": label,
        "format": done.format,
        "source_bytes": done.source_bytes,
        "source_sha256": done.source_sha256,
        "records": done.records,
        "output": new if written else None,
        "output_sha256": done.sha256,
        "changes_file": new + CHANGES_ENDING if written else None,
        "changes_sha256": done.changes_sha256,
        "aside_bytes": done.aside_bytes,
        "added_bytes": done.added_bytes,
        "first_misnumbered": done.first_misnumbered,
        "counts": dict(sorted(done.counts.items())),
        "unlisted": sum(done.counts.values()) - len(done.changes),
        "changes": [change._asdict() for change in done.changes],
    }


def _table(done: Repair, label: str, new: str) -> Iterator[str]:
    rows = [_HEADINGS] + [
        (
            change.kind,
            change.action,
            str(change.line),
            str(change.offset),
            str(change.length),
            str(change.new_line),
            change.sha256 or "-",
        )
        for change in done.changes
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip() + "\n"
    if more := sum(done.counts.values()) - len(done.changes):
        yield f"and {more} more, in {new}{CHANGES_ENDING}\n"
    yield (
        f"\n{label}: {done.format}, {_count(done.records, 'record')} kept, "
        f"{_count(done.aside_bytes, 'byte')} set aside, {_count(done.added_bytes, 'line end')} "
        f"added\n{new}: sha256 {done.sha256}\n"
        f"{new}{CHANGES_ENDING}: sha256 {done.changes_sha256}\n"
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
