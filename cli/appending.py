"""Carries out `ctxaudit transcript append`.

Guarantees: events are read line by line in bounded memory. An interrupt comes between two events,
never between an event and its pointer. Another agent's log is never added to, even where its last
line would pass for one of ours.

Example:
    $ ctxaudit transcript append run-1 events.jsonl --home home
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import click

from provenance.errors import CallerError, CtxauditError, DataError
from provenance.fs import TrustedRoot
from provenance.fs.operator_stream import iterate_operator_file
from provenance.limits import DEFAULT_LIMITS
from provenance.transcripts import (
    DamagedTailError,
    SessionIdError,
    TornTailError,
    TranscriptEvent,
    TranscriptWriter,
)
from provenance.transcripts.locate import OwnFile, own_file_of
from provenance.transcripts.strict_json import NotStrictJson, parse_strict

from .exit_codes import ExitCode
from .interrupts import Interrupts
from .operator_files import label_of, stdin_blocks
from .streams import talk, write_text

__all__ = ["append_events"]

_TRANSCRIPTS = "transcripts"
# A character that takes one byte in a record may be written with six (`\\u0041`).
_LONGEST_LINE_BYTES = 6 * DEFAULT_LIMITS.max_record_bytes
# Below this is what the writer makes of it; the event itself may nest as deep as it allows.
_MOST_NESTING = DEFAULT_LIMITS.max_nesting


class _Refused(Exception):
    """One line of the input is no event."""


class _ForeignTranscript(Exception):
    """What stands under the session's name is another agent's."""


class _Failure(NamedTuple):
    code: ExitCode
    said: str


def append_events(
    ctx: click.Context,
    interrupts: Interrupts,
    *,
    session: str,
    file: str | None,
    home: str | None,
    transcript_root: str | None,
    is_json: bool,
) -> ExitCode:
    """Append each event and print its pointer; gives the exit code.

    Args:
        ctx: of the command.
        interrupts: held back while an event is written and said.
        session: whose transcript.
        file: where the events stand; None or `-`: standard input.
        home: the state home.
        transcript_root: the transcript root, before that of the home.
        is_json: print an object with the digest, not the pointer alone.

    Raises:
        click.UsageError: the session or the file cannot be used.
    """
    named = None if file in (None, "-") else file
    label = "-" if named is None else label_of(named)
    chunks = stdin_blocks() if named is None else _file(ctx, named)
    root = _root(home, transcript_root, create=True)
    number = appended = 0
    try:
        with root, TranscriptWriter(root, session) as writer:
            with _root(home, transcript_root, create=False) as found:
                if own_file_of(found, session) is OwnFile.FOREIGN:
                    raise _ForeignTranscript
            for number, line in enumerate(_lines(chunks), 1):  # noqa: B007 - said below
                event = _event(line)
                with interrupts.held_back():
                    write_text(_said(writer.append(event), is_json=is_json))
                    appended += 1
    except SessionIdError as error:
        raise click.UsageError(f"SESSION: {error}", ctx) from None
    except _ForeignTranscript:
        talk(
            f"{ctx.command_path}: {session}.jsonl: expected a transcript of ctxaudit's own or "
            "none, got another agent's; nothing was written"
        )
        return ExitCode.CORRUPT
    except (_Refused, CtxauditError) as error:
        failure = _failure(error)
        after = f"; {appended} events before it were appended" if appended else ""
        talk(f"{ctx.command_path}: {label}: line {number}: {failure.said}{after}")
        return failure.code
    if not number:
        talk(f"{ctx.command_path}: {label}: expected one event a line, got none")
        return ExitCode.NOTHING_VERIFIED
    return ExitCode.OK


def _root(home: str | None, transcript_root: str | None, *, create: bool) -> TrustedRoot:
    if transcript_root is not None:
        return TrustedRoot(transcript_root, create=create)
    return TrustedRoot(home or ".", create=create).subroot(_TRANSCRIPTS)


def _failure(error: Exception) -> _Failure:
    match error:
        case TornTailError() | DamagedTailError():
            return _Failure(
                ExitCode.CORRUPT,
                f"{error} ({error.code}); ctxaudit transcript repair writes a sound copy",
            )
        case _Refused() | CallerError() | DataError():
            return _Failure(ExitCode.USAGE, str(error))
        case _:
            return _Failure(ExitCode.TOOL_FAILED, str(error))


def _file(ctx: click.Context, path: str) -> Iterator[bytes]:
    try:
        yield from iterate_operator_file(path)
    except CtxauditError as error:
        raise click.UsageError(f"{label_of(path)}: {error}", ctx) from None


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    r"""Cut blocks at the byte `\n`; a line that is too long is given so far as to show that."""
    begun = b""
    for chunk in chunks:
        *ended, begun = (begun + chunk).split(b"\n")
        yield from ended
        if len(begun) > _LONGEST_LINE_BYTES:
            yield begun
            return
    if begun:
        yield begun


def _event(line: bytes) -> dict[str, object]:
    if len(line) > _LONGEST_LINE_BYTES:
        raise _Refused(f"event: expected at most {_LONGEST_LINE_BYTES} bytes, got more")
    if not line.strip(b" \t\r"):
        raise _Refused("event: expected a JSON object, got an empty line")
    try:
        line.decode()
        value = parse_strict(line, max_nesting=_MOST_NESTING)
    except UnicodeDecodeError:
        raise _Refused("event: expected UTF-8, got another encoding") from None
    except NotStrictJson as error:
        raise _Refused(f"event: {error}") from None
    if not isinstance(value, dict):
        raise _Refused(f"event: expected a JSON object, got {_kind(value)}")
    return value


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "a number"


def _said(event: TranscriptEvent, *, is_json: bool) -> str:
    if not is_json:
        return f"{event.pointer}\n"
    value = {"pointer": event.pointer, "sequence": event.sequence, "sha256": event.sha256}
    return json.dumps(value) + "\n"
