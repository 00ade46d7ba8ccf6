"""Which records of other agents' logs a seal covers: one row of records a session.

Guarantees: to a row belongs what its records refer to in the same log without holding it (pools). A
session that two logs tell differently has no row of its own; what a seal has of it is
looked for in each of them, and the other one is named. Nothing here asks a policy.

Example:
    >>> rows = SessionRows()
    >>> rows.add("s1", "a.jsonl", Told(["00"], {}))
    >>> rows.add("s1", "b.jsonl", Told(["01"], {}))
    >>> rows.row_of("s1", Told([], {})) is None, rows.row_of("s1", Told(["01"], {}))
    (True, SessionRow(told=Told(records=['01'], pools={}), file='b.jsonl', other='a.jsonl'))
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from provenance.errors import CtxauditError
from provenance.fs import TrustedRoot
from provenance.limits import Limits
from provenance.transcripts.adapters.protocol import PooledParts
from provenance.transcripts.discovery import Candidate, open_candidate
from provenance.transcripts.formats import NATIVE
from provenance.transcripts.records import Record
from provenance.transcripts.sessions import session_name
from provenance.transcripts.sources import SourceUnreadable

__all__ = ["SessionRow", "SessionRows", "Told", "rows_in"]


class Told(NamedTuple):
    """What a log, or a seal, has of a session: SHA-256 of each record, and of what pools hold."""

    records: list[str]
    pools: dict[str, list[str]]

    def up_to(self, known: Told) -> Told:
        """Give no more of it than there is of another."""
        pools = {pool: row[: len(known.pools.get(pool, ()))] for pool, row in self.pools.items()}
        return Told(self.records[: len(known.records)], pools)


class SessionRow(NamedTuple):
    """What is told of a session, the log, and another log that tells it too."""

    told: Told
    file: str
    other: str = ""


class SessionRows:
    """The rows of all sessions of a folder, as they are found in one log after the other."""

    def __init__(self) -> None:
        """Begin with none."""
        self._rows: dict[str, list[SessionRow]] = {}

    def add(self, session: str, file: str, told: Told) -> None:
        """Add what one log has of a session; the same from a second log adds nothing."""
        rows = self._rows.setdefault(session, [])
        if all(told != row.told for row in rows):
            rows.append(SessionRow(told, file))

    def sessions(self) -> Iterator[str]:
        """Give the sessions, by name."""
        yield from sorted(self._rows)

    def first_file(self, session: str) -> str:
        """Give the first log that tells a session."""
        return self._rows[session][0].file

    def row_of(self, session: str, sealed: Told) -> SessionRow | None:
        """Give the row that a seal is held against; None where several are told and none is sealed.

        Args:
            session: its name.
            sealed: what is sealed of it.
        """
        rows = self._rows[session]
        if len(rows) == 1:
            return rows[0]
        if not sealed.records:
            return None
        # The log that has most of what is sealed, or as many records: one was altered in place.
        # What two of them go on with in their own ways is not known to be new.
        best = max(
            rows,
            key=lambda row: (
                _in_common(row.told.records, sealed.records),
                min(len(row.told.records), len(sealed.records)),
                sum(
                    _in_common(row.told.pools.get(one, ()), sealed.pools[one])
                    for one in sealed.pools
                ),
            ),
        )
        other = next(row.file for row in rows if row is not best)
        return SessionRow(best.told.up_to(sealed), best.file, other)


def rows_in(root: TrustedRoot, candidate: Candidate, *, limits: Limits) -> dict[str, Told]:
    """Read what a log has of each session; those whose records are no single row are left out."""
    rows: dict[str, Told] = {}
    torn: set[str] = set()
    try:
        with open_candidate(root, candidate, limits=limits) as opened:
            if opened.format is None or opened.is_damaged or opened.format.name == NATIVE:
                return {}
            named = tuple(opened.format.sessions(opened.source)) or (opened.source.stem,)
            for item in opened.format.records(opened.source):
                if not isinstance(item, Record):
                    continue
                session = session_name(item.session or named[0])
                row = rows.setdefault(session, Told([], {})).records
                if item.ordinal == len(row) + 1:
                    row.append(item.sha256)
                else:
                    torn.add(session)
            if isinstance(opened.format, PooledParts):
                for part in opened.format.pooled_parts(opened.source):
                    if (told := rows.get(session_name(part.session))) is not None:
                        digest = hashlib.sha256(part.data).hexdigest()
                        told.pools.setdefault(part.pool, []).append(digest)
    except (CtxauditError, SourceUnreadable):
        return {}  # what is wrong with it, the audit of the transcript says
    return {session: row for session, row in rows.items() if session not in torn}


def _in_common(row: Sequence[str], sealed: Sequence[str]) -> int:
    for number, (one, other) in enumerate(zip(row, sealed, strict=False)):
        if one != other:
            return number
    return min(len(row), len(sealed))
