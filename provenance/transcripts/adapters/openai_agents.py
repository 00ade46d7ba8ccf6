"""The sessions that the OpenAI Agents SDK keeps in an SQLite database (`SQLiteSession`).

Guarantees: rows come in the order of their row ids, each with its place in its own session. A
record's id is its row id: the `id` inside the JSON may be the same for many items
(`__fake_id__`). A row that holds no item is a fault, and reading goes on after it. Only tables of
the default names are known (others are an option of the writer).

Example:
    >>> OpenAIAgents().identify(Head(name="notes.db", data=b"not a database"))
    False
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from provenance.findings import Severity
from provenance.transcripts.adapters._openai_items import (
    KNOWN_KINDS,
    calls_of,
    kind_of,
    results_of,
    say,
    speaker_of,
)
from provenance.transcripts.containers.database import (
    Cell,
    Column,
    Database,
    TablesAbsent,
    TextCell,
    TooLong,
    has_tables,
    open_database,
)
from provenance.transcripts.damage import Judged, judge
from provenance.transcripts.records import Fault, Record, Reference
from provenance.transcripts.sources import HEAD_BYTES, Head, Source

__all__ = ["OpenAIAgents"]

_TABLES = {
    "agent_messages": (
        Column("id", is_row_id=True),
        Column("session_id"),
        Column("message_data"),
        Column("created_at"),
    ),
    "agent_sessions": (Column("session_id"),),
}
# SQLite's own: the last row id that was ever given in a table.
_OPTIONAL = {"sqlite_sequence": (Column("name"), Column("seq"))}

_is_utc = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?"
).fullmatch
_LONGEST_TIME = 64
_CELL_TYPES = {TextCell: "text", bytes: "a blob", int: "an integer", float: "a number"}


class OpenAIAgents:
    """The format `openai-agents`; see `TranscriptFormat`."""

    name = "openai-agents"
    suffixes: tuple[str, ...] = (".db", ".sqlite", ".sqlite3")
    has_separate_sessions = True

    def identify(self, head: Head) -> bool:
        """Say whether it is an SQLite file whose schema may have the tables of a session.

        Where everything is still in the write-ahead log, the file alone cannot say; see `records`.
        """
        return has_tables(head.data, _TABLES) is not False

    def records(self, source: Source) -> Iterator[Record | Fault]:
        """Give the items in the order of their row ids; see `TranscriptFormat.records`."""
        try:
            with open_database(source, tables=_TABLES, optional=_OPTIONAL) as database:
                yield from _read(database, source)
        except TablesAbsent:
            if not _is_guess(source):
                raise
            yield Fault(
                "tables_absent",
                Severity.INFO,
                "database: expected the tables of a session, got none: another program's",
            )

    def references(self, record: Record) -> Iterable[Reference]:
        """Give the item that a record only names: the service has it."""
        if record.kind != "item_reference":
            return ()
        reason = "the item is kept by the model's service"
        return (Reference(kind="item_reference", unsupported=reason, is_optional=True),)

    def sessions(self, source: Source) -> Iterable[str]:
        """Give the sessions that have a row of their own, then those that only messages name."""
        try:
            with open_database(source, tables=_TABLES, optional=_OPTIONAL) as database:
                yield from _sessions(database)
        except TablesAbsent:
            if not _is_guess(source):
                raise


@dataclass
class _Seen:
    """What must be remembered of the rows before: a few bytes a session."""

    sessions: set[bytes]
    counts: dict[bytes, int] = field(default_factory=dict)
    last: int = 0
    absent: int = 0
    gaps: int = 0

    def skip_to(self, row_id: int) -> None:
        """Count the row ids between the last one and this."""
        if row_id > self.last + 1:
            self.absent += row_id - self.last - 1
            self.gaps += 1
        self.last = max(self.last, row_id)


def _read(database: Database, source: Source) -> Iterator[Record | Fault]:
    seen = _Seen({_digest(name) for name in _session_rows(database)})
    columns = ["session_id", "message_data", "created_at"]
    for row in database.rows("agent_messages", row_id="id", columns=columns):
        if isinstance(row, TooLong):
            row_id: Cell = row.row_id
            name, data, time = row.cells
        else:
            row_id, name, data, time = row
        if isinstance(row_id, int):
            seen.skip_to(row_id)
        yield from _judge_row(
            str(row_id),
            name,
            data,
            time,
            is_whole=not isinstance(row, TooLong),
            source=source,
            seen=seen,
        )
    seen.skip_to(_last_given(database) + 1)
    if seen.absent:
        yield Fault(
            "row_ids_absent",
            Severity.INFO,
            f"row id: expected each in turn, got {seen.absent} absent (gaps: {seen.gaps})",
        )


def _judge_row(
    row_id: str, name: Cell, data: Cell, time: Cell, *, is_whole: bool, source: Source, seen: _Seen
) -> Iterator[Record | Fault]:
    # 1. Whose it is.
    session = _text(name)
    if session is None:
        yield _no_record("session_id", name, row_id, None)
        return
    key = _digest(name)
    if key not in seen.sessions and key not in seen.counts:
        message = "session: expected a row in agent_sessions, got messages alone"
        yield Fault(
            "session_row_absent",
            Severity.WARNING,
            message,
            native_id=row_id,
            session=session,
        )
    ordinal = seen.counts.setdefault(key, 0) + 1
    # 2. What it holds.
    if is_whole and not isinstance(data, bytes):
        yield _no_record("message_data", data, row_id, session)
        return
    limits = source.limits
    if is_whole and isinstance(data, bytes):
        judged = judge(data, limits=limits, is_record=_is_item)
    else:
        bound = f"at most {limits.max_foreign_record_bytes} bytes"
        message = f"record: expected {bound}, got more"
        judged = Judged(Fault("record_over_limit", Severity.ERROR, message))
    if judged.fault is not None:
        is_long = judged.fault.code == "record_over_limit"
        at = ordinal if judged.found or is_long else None
        yield judged.fault._replace(native_id=row_id, session=session, ordinal=at)
        ordinal += is_long
    # 3. Its item; a damaged row may hold one all the same, and the first is what the row id names.
    for number, (_, raw, value) in enumerate(judged.found):
        kind = kind_of(value)
        yield Record(
            ordinal=ordinal,
            kind=kind,
            raw=bytes(raw),
            value=value,
            native_id=None if number else row_id,
            session=session,
            time=_time(time),
            speaker=speaker_of(kind, value),
            calls=calls_of(value),
            results=results_of(value),
            is_known=kind in KNOWN_KINDS,
            say=say,
        )
        ordinal += 1
    seen.counts[key] = ordinal - 1


def _is_item(value: dict[str, Any]) -> bool:
    return kind_of(value) in KNOWN_KINDS


def _no_record(name: str, cell: Cell, row_id: str, session: str | None) -> Fault:
    found = _CELL_TYPES.get(type(cell), "nothing")
    message = f"{name}: expected text in UTF-8, got {found}"
    return Fault("invalid_line", Severity.ERROR, message, native_id=row_id, session=session)


def _session_rows(database: Database) -> Iterator[TextCell]:
    for row in database.rows("agent_sessions", columns=["session_id"]):
        name = row.cells[0] if isinstance(row, TooLong) else row[1]
        if isinstance(name, TextCell):
            yield name


def _last_given(database: Database) -> int:
    """Give the last row id that SQLite gave to a message, which may be deleted since."""
    last = 0
    if database.has("sqlite_sequence"):
        for row in database.rows("sqlite_sequence", columns=["name", "seq"]):
            if isinstance(row, TooLong) or row[1] != b"agent_messages":
                continue
            if isinstance(row[2], int):
                last = max(last, row[2])
    return last


def _sessions(database: Database) -> Iterator[str]:
    seen: set[bytes] = set()
    messages = database.rows("agent_messages", row_id="id", columns=["session_id"])
    for name in chain(
        _session_rows(database),
        (row.cells[0] if isinstance(row, TooLong) else row[1] for row in messages),
    ):
        session = _text(name)
        if session is not None and _digest(name) not in seen:
            seen.add(_digest(name))
            yield session


def _is_guess(source: Source) -> bool:
    """Say whether the file alone could not tell that it has no such tables."""
    file = source.file
    return file is not None and has_tables(file.read_at(0, HEAD_BYTES), _TABLES) is None


def _digest(name: Cell) -> bytes:
    """Stand for a name that may be of any length."""
    return hashlib.sha256(name if isinstance(name, bytes) else b"").digest()[:16]


def _text(cell: Cell) -> str | None:
    if not isinstance(cell, TextCell):
        return None
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return None


def _time(cell: Cell) -> str | None:
    """Give the time as ISO 8601; SQLite's own clock is in UTC and does not say so."""
    text = _text(cell)
    if text is None or len(text) > _LONGEST_TIME:
        return None
    if _is_utc(text):
        return f"{text[:10]}T{text[11:]}Z"
    return text
