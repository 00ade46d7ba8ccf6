"""Which sessions and records stand in several files of a tree, with a memory that does not grow.

Guarantees: what is remembered of a record is its session, its place and two keyed hashes, in a
private SQLite database on disk that goes away with this object; the audited files are not touched.
The same id with other bytes in another file of one session is found whatever the order of files.

Example:
    >>> with IdIndex() as index:
    ...     for number, raw in enumerate((b"one", b"two")):
    ...         rows = IdRows(number)
    ...         rows.add(Record(ordinal=1, kind="", raw=raw, value=None, native_id=13 * "x"))
    ...         index.extend(rows)
    ...     list(index.conflicts())
    [Conflict(first=(0, 1, None), second=(1, 1, None), is_one_session=True)]
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from types import TracebackType
from typing import NamedTuple, Self

from provenance.fs.scratch import scratch_database
from provenance.transcripts.records import Record

__all__ = ["Conflict", "IdIndex", "IdRows"]

# A shorter id is a number in its own file, and stands in every other one too.
_UNIQUE_CHARS = 13
# For each record: id, session, bytes, ordinal, line.
_NUMBERS = 5
_CACHE_KIB = 8_192


# number of the file, ordinal, line
_Place = tuple[int, int, int | None]


class Conflict(NamedTuple):
    """One record id with other bytes in two files.

    Attributes:
        first: where it stands first: number of the file, ordinal, line.
        second: where it stands with other bytes.
        is_one_session: both records say that they are of the same session.
    """

    first: _Place
    second: _Place
    is_one_session: bool


class IdRows:
    """The ids of one file's records, as numbers."""

    __slots__ = ("file", "numbers")

    def __init__(self, file: int) -> None:
        """Take the number that the caller gives the file."""
        self.file = file
        self.numbers = array("q")

    def add(self, record: Record) -> None:
        """Take one record; what has no id that is its own in all files is passed over."""
        native_id = record.native_id
        if native_id is None or len(native_id) < _UNIQUE_CHARS or record.supersedes:
            return
        # Python keys these hashes anew for each program: nobody can prepare two that meet.
        self.numbers.extend(
            (
                hash(native_id),
                hash(record.session),
                hash(record.raw),
                record.ordinal,
                record.line or 0,
            )
        )


class IdIndex:
    """Collects ids of records; a context manager that drops them."""

    def __init__(self) -> None:
        """Open an empty database that nobody else can see."""
        self._base = scratch_database(cache_kib=_CACHE_KIB)
        self._base.executescript(
            "create table id (native integer, session integer, bytes integer, file integer,"
            " ordinal integer, line integer);"
            "begin;"
        )

    def extend(self, rows: IdRows) -> None:
        """Take the ids of one file's records."""
        self._base.executemany(
            f"insert into id values (?, ?, ?, {int(rows.file)}, ?, nullif(?, 0))",  # noqa: S608
            _rows_of(rows.numbers),
        )

    def conflicts(self) -> Iterator[Conflict]:
        """Give each id that has other bytes in another file, by the files' order."""
        rows = self._base.execute(
            "select native, session, bytes, file, ordinal, line from id where native in"
            " (select native from id group by native having min(bytes) <> max(bytes))"
            " order by native, file, ordinal"
        )
        key: int | None = None
        seen: dict[tuple[int, int], _Place] = {}  # the first place of each session and bytes
        for native, session, digest, file, ordinal, line in rows:
            if native != key:
                key, seen = native, {}
            if (session, digest) in seen:
                continue
            place = (file, ordinal, line)
            ours = [found for (other, _), found in seen.items() if other == session]
            first = next((found for found in ours if found[0] != file), None)
            if first is not None:
                yield Conflict(first, place, is_one_session=True)
            elif not ours and not any(other == digest for _, other in seen):
                # Another session has the id; with the same bytes it would be a plain copy.
                first = next((found for found in seen.values() if found[0] != file), None)
                if first is not None:
                    yield Conflict(first, place, is_one_session=False)
            seen[session, digest] = place

    def close(self) -> None:
        """Drop everything."""
        self._base.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _rows_of(numbers: array[int]) -> Iterator[tuple[int, ...]]:
    each = iter(numbers)
    return zip(*[each] * _NUMBERS, strict=True)
