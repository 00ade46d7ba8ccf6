"""What `ctxaudit compact` reads: a file of messages, or a transcript of any known format.

Guarantees: a file that a format of transcripts knows is a transcript, any other one a file of
messages; `--as` decides where both would do. A transcript that changed while it was read is not
used. What is wrong is one line without text of the file.

Example:
    >>> Given("a.json", [], "messages").session is None
    True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePath
from typing import Any

import click

from provenance.errors import CtxauditError
from provenance.fs import (
    BoundaryRefused,
    NotARegularFile,
    SourceAbsent,
    SourceChanged,
    TrustedRoot,
    read_operator_file,
)
from provenance.histories import HistoryError, history_of, parse_message_file
from provenance.histories.message_files import print_messages
from provenance.limits import DEFAULT_LIMITS
from provenance.transcripts.adapters.protocol import TranscriptFormat
from provenance.transcripts.discovery import Candidate, Opened, open_candidate
from provenance.transcripts.formats import NATIVE, find_format
from provenance.transcripts.sessions import session_name
from provenance.transcripts.source_check import holds_still
from provenance.transcripts.sources import HEAD_BYTES, Head, read_head

from .operator_files import is_folder, label_of, read_stdin
from .options import interrupts_of
from .streams import one_line

__all__ = ["MESSAGES", "STDIN", "Given", "read_given"]

MESSAGES = "messages"
"""What `--as` takes for a file of messages, beside the names of the formats."""
STDIN = "-"
_SHOWN_SESSIONS = 5
_OUR_RESULT = "function_call_result"
_OUR_FIELDS = frozenset({"callId", "event_id", "sequence", "session_id"})


@dataclass(frozen=True, slots=True)
class Given:
    """The messages that were read, and what they came from.

    Attributes:
        label: what to call the file.
        messages: in their order.
        format: the transcript's format, or `messages`.
        session: the transcript's, as a pointer names it; None of a file of messages.
        left_out: how many records of a transcript are no messages, by why.
        system: the system prompt beside the messages of an object.
        tools: the tools beside them.
        printed: gives other messages the shape of the file.
    """

    label: str
    messages: Sequence[Any]
    format: str
    session: str | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)
    system: object = None
    tools: Sequence[object] = ()
    printed: Callable[[Sequence[object]], bytes] = print_messages


def read_given(
    ctx: click.Context, path: str, *, as_format: str | None = None, session: str | None = None
) -> Given:
    """Read what was named.

    Args:
        ctx: of the command.
        path: as the operator named it; `-` is standard input, a file of messages.
        as_format: a format of transcripts, or `messages`; None: told by the content.
        session: of a transcript: which one of several.

    Raises:
        click.UsageError: it cannot be read, or holds no messages.
        SourceChanged: a transcript changed while it was read.
    """
    label = label_of(path)
    try:
        if path == STDIN:
            if as_format not in (None, MESSAGES):
                raise HistoryError("standard input: expected no --as, or messages, got a format")
            interrupts = interrupts_of(ctx)
            data, is_cut = read_stdin(
                max_bytes=DEFAULT_LIMITS.max_document_bytes, interrupts=interrupts
            )
            if is_cut:
                raise KeyboardInterrupt
            interrupts.release()
            if as_format is None:
                _require_no_transcript("", data)
            return _of_messages("-", data)
        if as_format == MESSAGES:
            return _of_messages(label, _read(path))
        try:
            found = _transcript(path, as_format, session)
        except (BoundaryRefused, NotARegularFile):
            # A link or a pipe: a file of messages may come through one.
            if as_format is not None or is_folder(path):
                raise
            data = _read(path)
            _require_no_transcript(label, data)
            return _of_messages(label, data)
        return _of_messages(label, _read(path)) if found is None else found
    except SourceChanged:
        raise
    except SourceAbsent:
        raise click.UsageError(
            f"{label}: expected a file or folder, got nothing of that name", ctx
        ) from None
    except CtxauditError as error:
        raise click.UsageError(f"{label}: {error}", ctx) from None


def _read(path: str) -> bytes:
    return read_operator_file(path, max_bytes=DEFAULT_LIMITS.max_document_bytes, named_pipes=False)


def _of_messages(label: str, data: bytes) -> Given:
    found = parse_message_file(data)
    return Given(
        label,
        found.messages,
        MESSAGES,
        system=found.system,
        tools=found.tools,
        printed=found.with_messages,
    )


def _transcript(path: str, as_format: str | None, session: str | None) -> Given | None:
    """Read a transcript; None where no format knows the file."""
    if is_folder(path):
        root, candidate = TrustedRoot(path), Candidate((), is_folder=True)
    else:
        where = PurePath(path)
        root, candidate = TrustedRoot(where.parent), Candidate((where.name,))
    with (
        root,
        open_candidate(root, candidate, limits=DEFAULT_LIMITS, as_format=as_format) as opened,
    ):
        if as_format is not None or _is_transcript(opened):
            return _of_transcript(label_of(path), opened, session)
    if candidate.is_folder:
        raise HistoryError("folder: expected a transcript of a known format, got another folder")
    return None


def _is_transcript(opened: Opened) -> bool:
    """Say whether a source is a transcript; where no format knows it, it is none."""
    if opened.format is None or opened.is_damaged:
        return False
    file = opened.source.file
    return file is None or not _are_messages(read_head(file, opened.source.name), opened.format)


def _are_messages(head: Head, found: TranscriptFormat) -> bool:
    """Say whether a file that a format knows is one of messages all the same.

    A list is. Lines of the Responses shape look like events of ours whose writer left the envelope
    out: they are such events only where something of ours stands in one.
    """
    if head.data.lstrip(b" \t\r\n").startswith(b"["):
        return True
    return found.name == NATIVE and not any(
        value.get("type") == _OUR_RESULT or not _OUR_FIELDS.isdisjoint(value)
        for value in head.objects
    )


def _require_no_transcript(name: str, data: bytes) -> None:
    """Refuse a transcript where only messages are read: its format wants the file itself."""
    head = Head(name, data[:HEAD_BYTES], is_whole=len(data) <= HEAD_BYTES)
    found = find_format(head)
    if found is not None and not _are_messages(head, found):
        raise HistoryError(
            "file: expected messages, or a transcript by the name of its own file, got a "
            "transcript through a link or pipe"
        )


def _of_transcript(label: str, opened: Opened, session: str | None) -> Given:
    found, source = opened.format, opened.source
    if found is None:
        raise HistoryError("file: expected a transcript of a known format, got another file")
    wanted = session
    if found.has_separate_sessions:
        wanted = _one_session(list(islice(found.sessions(source), 10_000)), session)
    history = history_of(found.records(source), found.name, session=wanted)
    if not holds_still(source):
        raise SourceChanged("file: expected no change while it was read, got one")
    name = history.session or wanted or next(iter(found.sessions(source)), None) or source.stem
    return Given(label, history.messages, found.name, session_name(name), left_out=history.left_out)


def _one_session(sessions: Sequence[str], session: str | None) -> str | None:
    """Choose among the sessions of a source that keeps several apart."""
    if session is None:
        if len(sessions) < 2:
            return next(iter(sessions), None)
        shown = ", ".join(session_name(one) for one in sessions[:_SHOWN_SESSIONS])
        more = "" if len(sessions) <= _SHOWN_SESSIONS else ", ..."
        raise HistoryError(
            f"--session: expected one of {len(sessions)} ({one_line(shown)}{more}), got none"
        )
    for one in sessions:
        if session in (one, session_name(one)):
            return one
    raise HistoryError("--session: expected a session of the transcript, got another")
