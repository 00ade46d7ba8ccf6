"""Every text that an SQLite file holds, in whatever table.

Guarantees: the file and its logs are read from a private copy, as an adapter reads them; no query
writes. Names, the words of the schema and each cell are given. What cannot be read as plain rows
(a virtual table, a computed column, a cell that is no text or over a bound) raises, and is never
passed over. What an index or a view says is said by a table too.

Example:
    >>> texts_of.__name__
    'texts_of'
"""

from __future__ import annotations

from collections.abc import Iterator

from provenance.fs.sqlite import Cell, DatabaseDamaged, DatabaseOverLimit, ReadOnlyDatabase
from provenance.retention.texts import text_only
from provenance.transcripts.containers.database_files import copied_database
from provenance.transcripts.sources import Source

__all__ = ["texts_of"]

_BASE_STEPS, _STEPS_A_BYTE = 1_000_000, 16
# A default of a column is given with each row that is older than it; pages that are shared by
# several rows would make a small file endless.
_FREE_BYTES, _MOST_A_BYTE = 16 << 20, 4
_SCHEMA = "SELECT type, name, rootpage, sql FROM main.sqlite_master"


def texts_of(source: Source) -> Iterator[bytes]:
    """Give the texts of a database, one after the other.

    Raises:
        NoText: a cell is no text.
        DatabaseDamaged, DatabaseOverLimit, FileTooLarge, WriteFailed: it cannot be read whole.
        SourceAbsent, BoundaryRefused, AccessRefused, NotARegularFile, ReadFailed: of its files.
    """
    with copied_database(source) as (copy, has_journal):

        def connect(*tables: str) -> ReadOnlyDatabase:
            return ReadOnlyDatabase(
                copy.path("database"),
                tables=tables,
                max_cell_bytes=source.limits.max_foreign_record_bytes,
                max_steps=_BASE_STEPS + _STEPS_A_BYTE * copy.total_bytes,
                has_journal=has_journal,
            )

        names: list[str] = []
        with connect() as schema:
            for row in schema.rows(_SCHEMA):
                yield from _texts(row)
                if row[0] == b"table":
                    names.append(_name(row[1], row[2]))
        left = _FREE_BYTES + _MOST_A_BYTE * copy.total_bytes
        with connect(*names) as database:
            for name in names:
                quoted = name.replace('"', '""')
                # Quoted as SQLite wants it; only reading those tables is permitted.
                query = f'SELECT * FROM main."{quoted}" NOT INDEXED'  # noqa: S608
                for row in database.rows(query):
                    left -= sum(len(cell) for cell in row if isinstance(cell, bytes))
                    if left < 0:
                        raise DatabaseOverLimit("database: expected rows as large as it, got more")
                    yield from _texts(row)


def _name(name: Cell, root: Cell) -> str:
    if not root:
        raise DatabaseDamaged("database: expected plain tables, got a virtual one")
    try:
        return name.decode() if isinstance(name, bytes) else ""
    except UnicodeDecodeError:
        raise DatabaseDamaged("database: expected names in UTF-8, got another") from None


def _texts(row: tuple[Cell, ...]) -> Iterator[bytes]:
    for cell in row:
        if isinstance(cell, bytes):
            yield from text_only([cell])
