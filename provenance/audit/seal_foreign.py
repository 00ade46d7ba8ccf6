"""Which records of other agents' logs a seal covers: one row of records a session.

Guarantees: a session that two logs tell differently has no row of its own; what a seal has of it is
looked for in each of them, and the other one is named. Nothing here asks a policy.

Example:
    >>> rows = SessionRows()
    >>> rows.add("s1", "a.jsonl", ["00"])
    >>> rows.add("s1", "b.jsonl", ["01"])
    >>> rows.row_of("s1", sealed=()) is None, rows.row_of("s1", sealed=["01"])
    (True, SessionRow(digests=['01'], file='b.jsonl', other='a.jsonl'))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from provenance.errors import CtxauditError
from provenance.fs import TrustedRoot
from provenance.limits import Limits
from provenance.transcripts.discovery import Candidate, open_candidate
from provenance.transcripts.formats import NATIVE
from provenance.transcripts.records import Record
from provenance.transcripts.sessions import session_name
from provenance.transcripts.sources import SourceUnreadable

__all__ = ["SessionRow", "SessionRows", "rows_in"]


class SessionRow(NamedTuple):
    """The records of a session: SHA-256 of each, the log, and another log that tells it too."""

    digests: list[str]
    file: str
    other: str = ""


class SessionRows:
    """The rows of all sessions of a folder, as they are found in one log after the other."""

    def __init__(self) -> None:
        """Begin with none."""
        self._rows: dict[str, list[SessionRow]] = {}

    def add(self, session: str, file: str, digests: list[str]) -> None:
        """Add what one log has of a session; the same from a second log adds nothing."""
        rows = self._rows.setdefault(session, [])
        if all(digests != row.digests for row in rows):
            rows.append(SessionRow(digests, file))

    def sessions(self) -> Iterator[str]:
        """Give the sessions, by name."""
        yield from sorted(self._rows)

    def first_file(self, session: str) -> str:
        """Give the first log that tells a session."""
        return self._rows[session][0].file

    def row_of(self, session: str, *, sealed: Sequence[str]) -> SessionRow | None:
        """Give the row that a seal is held against; None where several are told and none is sealed.

        Args:
            session: its name.
            sealed: the digests of its records that are sealed.
        """
        rows = self._rows[session]
        if len(rows) == 1:
            return rows[0]
        if not sealed:
            return None
        # The log that has most of what is sealed, or as many records: one was altered in place.
        # What two of them go on with in their own ways is not known to be new.
        best = max(
            rows,
            key=lambda row: (_in_common(row.digests, sealed), min(len(row.digests), len(sealed))),
        )
        other = next(row.file for row in rows if row is not best)
        return SessionRow(best.digests[: len(sealed)], best.file, other)


def rows_in(root: TrustedRoot, candidate: Candidate, *, limits: Limits) -> dict[str, list[str]]:
    """Read the records of each session of a log; those that are no single row are left out."""
    rows: dict[str, list[str]] = {}
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
                row = rows.setdefault(session, [])
                if item.ordinal == len(row) + 1:
                    row.append(item.sha256)
                else:
                    torn.add(session)
    except (CtxauditError, SourceUnreadable):
        return {}  # what is wrong with it, the audit of the transcript says
    return {session: row for session, row in rows.items() if session not in torn}


def _in_common(row: Sequence[str], sealed: Sequence[str]) -> int:
    for number, (one, other) in enumerate(zip(row, sealed, strict=False)):
        if one != other:
            return number
    return min(len(row), len(sealed))
