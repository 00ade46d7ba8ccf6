"""Reads a state store through anything that answers queries, and believes nothing it is told.

Guarantees: each cell has the type, form and size that was written, or `StoreDamaged` says which has
not; a state is given only if its bytes have the digest that stands beside them. Memory is bounded
by one version at a time (a history holds no states).

Example:
    >>> StateReader(lambda sql, values: (row for row in ())).scan().versions
    {}
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from provenance.durable.differences import ItemKind
from provenance.durable.failures import DurableValueError
from provenance.durable.fields import shown
from provenance.durable.values import DurableContextState, PendingItem
from provenance.fs.sqlite import Cell, TextCell
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.pointers import is_name
from provenance.stores.cells import (
    bytes_of,
    checked_bytes,
    digest_of,
    number_of,
    shown_cell,
    text_of,
    time_of,
)
from provenance.stores.failures import SelectionAbsent, StateAbsent, StoreDamaged
from provenance.stores.layout import TABLES, Rows
from provenance.stores.selections import read_resolution, read_trace
from provenance.stores.values import (
    CHANGE_WORDS,
    LinkedResolution,
    Selection,
    StateChange,
    StateVersion,
    StateVersionBytes,
    StoredState,
)

__all__ = ["StateReader", "VersionList", "first_gap"]

# Of a hostile list of names: so many are told one by one.
_TOLD_FAULTS = 20


@dataclass(frozen=True, slots=True)
class VersionList:
    """Which versions there are.

    Attributes:
        versions: numbers by state, ascending; both sorted.
        faults: what stands in the list and is no version, at most a few of them.
    """

    versions: Mapping[str, tuple[int, ...]]
    faults: tuple[str, ...] = ()


class StateReader:
    """Answers questions about one open store."""

    def __init__(self, rows: Rows, *, limits: Limits = DEFAULT_LIMITS) -> None:
        """Ask `rows`; `limits` bounds a state."""
        self._rows = rows
        self._limits = limits

    def scan(self) -> VersionList:
        """List all versions of all states."""
        found: dict[str, list[int]] = {}
        faults: list[str] = []
        listed = self._rows("SELECT name, version FROM main.versions ORDER BY name, version", ())
        with closing(listed):
            for name, version in listed:
                text = name.decode("utf-8", "replace") if isinstance(name, TextCell) else ""
                if is_name(text) and isinstance(version, int) and version >= 1:
                    found.setdefault(text, []).append(version)
                elif len(faults) < _TOLD_FAULTS:
                    faults.append(
                        f"versions: expected a state's name and number, got {shown_cell(name)}"
                    )
        return VersionList(
            {name: tuple(numbers) for name, numbers in found.items()},
            tuple(dict.fromkeys(faults)),
        )

    def names(self) -> tuple[str, ...]:
        """Name the states, sorted.

        Raises:
            StoreDamaged: something that is no version stands among them.
        """
        found = self.scan()
        if found.faults:
            raise StoreDamaged(found.faults[0])
        return tuple(found.versions)

    def current_version(self, name: str) -> int | None:
        """Give the number of a state's current version; None where there is no such state."""
        row = self._first(
            "SELECT version FROM main.versions WHERE name = ? ORDER BY version DESC LIMIT 1",
            name,
        )
        return None if row is None else number_of(row[0], "version")

    def info(self, name: str, version: int) -> StateVersion:
        """Give one version without its state.

        Raises:
            StateAbsent: there is none.
            StoreDamaged: a cell is not what was written.
        """
        key = name, version
        row = self._first(
            "SELECT replaces, created_at, author, note, sha256, bytes FROM main.versions"
            " WHERE name = ? AND version = ?",
            *key,
        )
        if row is None:
            raise StateAbsent(f"version: expected one of {name}, got {version}")
        changes = [
            _change(change)
            for change in self._all(
                "SELECT kind, item_id, change, source_pointer, confirmed_at, confirmed_by"
                " FROM main.changes WHERE name = ? AND version = ? ORDER BY position",
                key,
            )
        ]
        won = self._all(
            "SELECT item_id, conflict_key FROM main.conflict_keys"
            " WHERE name = ? AND version = ? AND kind = 'fact' ORDER BY item_id",
            key,
        )
        replaces = None if row[0] is None else number_of(row[0], "replaces")
        if replaces != (None if version == 1 else version - 1):
            raise StoreDamaged(
                f"replaces: expected version {version} of {name} to replace the one before it, "
                "got another"
            )
        return StateVersion(
            name=name,
            version=version,
            replaces=replaces,
            created_at=time_of(row[1], "created_at"),
            author=text_of(row[2], "author"),
            note=None if row[3] is None else text_of(row[3], "note"),
            sha256=digest_of(row[4]),
            bytes=number_of(row[5], "bytes", least=0),
            changes=tuple(changes),
            conflict_keys={
                text_of(one, "item_id"): text_of(key, "conflict_key") for one, key in won
            },
        )

    def document(self, name: str, version: int) -> StateVersionBytes:
        """Give the bytes of one version, if they have the digest that stands beside them.

        Raises:
            StateAbsent, StoreDamaged: as `info`.
        """
        row = self._first(
            "SELECT sha256, bytes, document FROM main.versions WHERE name = ? AND version = ?",
            name,
            version,
        )
        if row is None:
            raise StateAbsent(f"version: expected one of {name}, got {version}")
        digest, data = digest_of(row[0]), bytes_of(row[2], "document")
        if len(data) != row[1] or hashlib.sha256(data).hexdigest() != digest:
            raise StoreDamaged(
                f"document: expected version {version} of {name} with the digest that was "
                "stored, got other bytes"
            )
        return StateVersionBytes(name, version, digest, data)

    def record(self, name: str, version: int) -> bytes:
        """Give all that the store holds of one version as JSON, its document by the digest.

        This is what a seal covers; docs/seals.md says how it is written.

        Raises:
            StateAbsent, StoreDamaged: as `info`.
        """
        kept, key = self.document(name, version), (name, version)
        row = self._first(
            "SELECT replaces, created_at, author, note FROM main.versions"
            " WHERE name = ? AND version = ?",
            *key,
        )
        changes = self._all(
            "SELECT kind, item_id, change, source_pointer, confirmed_at, confirmed_by"
            " FROM main.changes WHERE name = ? AND version = ? ORDER BY position",
            key,
        )
        won = self._all(
            "SELECT kind, conflict_key, item_id FROM main.conflict_keys"
            " WHERE name = ? AND version = ? ORDER BY kind, conflict_key",
            key,
        )
        tables = ([[*map(_plain, one)] for one in rows] for rows in (changes, won))
        told = [kept.sha256, *map(_plain, row or ()), *tables]
        return json.dumps(told, separators=(",", ":")).encode()

    def get(self, name: str, version: int | None = None) -> StoredState:
        """Give one version with its state; None: the current one.

        Raises:
            StateAbsent, StoreDamaged: as `info`.
        """
        wanted = self.current_version(name) if version is None else version
        if wanted is None:
            raise StateAbsent(f"name: expected a state of the store, got {shown(name)}")
        info = self.info(name, wanted)
        kept = self.document(name, wanted)
        return StoredState(info, self.state_of(kept), kept.document)

    def state_of(self, kept: StateVersionBytes) -> DurableContextState:
        """Read the state in the bytes of a version.

        Raises:
            StoreDamaged: there is none in them.
        """
        try:
            return DurableContextState.from_json(kept.document.decode("utf-8"), limits=self._limits)
        except UnicodeDecodeError as error:
            raise StoreDamaged("document: expected UTF-8, got another encoding") from error
        except DurableValueError as error:
            raise StoreDamaged(str(error)) from error

    def history(self, name: str) -> tuple[StateVersion, ...]:
        """Give every version of a state, the first one first.

        Raises:
            StateAbsent: there is no such state.
            StoreDamaged: a version is missing or a cell is not what was written.
        """
        numbers = [
            number_of(row[0], "version")
            for row in self._all(
                "SELECT version FROM main.versions WHERE name = ? ORDER BY version",
                (name,),
            )
        ]
        if not numbers:
            raise StateAbsent(f"name: expected a state of the store, got {shown(name)}")
        if (gap := first_gap(numbers)) is not None:
            raise StoreDamaged(f"versions: expected version {gap} of {name}, got none")
        return tuple(self.info(name, number) for number in numbers)

    def keys_of_evidence(self, name: str, version: int) -> dict[str, str]:
        """Give the conflict that each piece of evidence of a version won, by its id."""
        rows = self._all(
            "SELECT item_id, conflict_key FROM main.conflict_keys"
            " WHERE name = ? AND version = ? AND kind != 'fact' ORDER BY item_id",
            (name, version),
        )
        return {text_of(one, "item_id"): text_of(key, "conflict_key") for one, key in rows}

    def row_owners(self) -> Iterator[tuple[str, str, int]]:
        """Give table, state and version of the rows about versions, each once."""
        for table in ("changes", "conflict_keys"):
            last: tuple[str, int] | None = None
            sql = f"SELECT name, version FROM main.{table} ORDER BY name, version"  # noqa: S608 - ours
            with closing(self._rows(sql, ())) as rows:
                for name, version in rows:
                    owner = text_of(name, "name"), number_of(version, "version")
                    if owner != last:
                        last = owner
                        yield table, owner[0] if is_name(owner[0]) else shown(owner[0]), owner[1]

    def texts(self) -> Iterator[bytes]:
        """Give every row of every table, as the text and bytes of its cells, a line each.

        For who searches it all: nothing is checked, and what is no text is left out.
        """
        for table in TABLES:
            with closing(self._rows(f"SELECT * FROM main.{table}", ())) as rows:  # noqa: S608 - ours
                for row in rows:
                    yield b"\n".join(bytes(cell) for cell in row if isinstance(cell, bytes))

    def left_out(self, name: str, item_ids: Collection[str]) -> dict[str, PendingItem]:
        """Give pending items as they were in the last version before one that left them out.

        Args:
            name: the state.
            item_ids: of items that the current version has not.

        Raises:
            StoreDamaged, StateAbsent: a version that had one cannot be read.
        """
        if not item_ids:
            return {}
        last: dict[str, int] = {}
        for item_id, version in self._all(
            "SELECT item_id, version FROM main.changes WHERE name = ? AND kind = 'pending'"
            " AND change = 'removed' ORDER BY version",
            (name,),
        ):
            if (text := text_of(item_id, "item_id")) in item_ids:
                last[text] = number_of(version, "version", least=2) - 1
        found: dict[str, PendingItem] = {}
        for version in sorted(set(last.values())):
            for item in self.state_of(self.document(name, version)).pending_items:
                if last.get(item.item_id) == version:
                    found[item.item_id] = item
        return found

    def selections(
        self, name: str | None = None, version: int | None = None
    ) -> tuple[Selection, ...]:
        """Give the traces of a state (None: of all), of one version or of all, oldest first."""
        where: list[str] = []
        values: list[str | int] = []
        if name is not None:
            where.append("name = ?")
            values.append(name)
        if version is not None:
            where.append("version = ?")
            values.append(version)
        sql = "SELECT selection_id FROM main.selections"
        if where:
            sql += f" WHERE {' AND '.join(where)}"
        ids = [
            number_of(row[0], "selection_id")
            for row in self._all(f"{sql} ORDER BY selection_id", tuple(values))
        ]
        return tuple(map(self.selection, ids))

    def selection(self, selection_id: int) -> Selection:
        """Give one trace with what was linked to it.

        Raises:
            SelectionAbsent: there is none.
            StoreDamaged: a cell is not what was written.
        """
        row = self._first(
            "SELECT name, version, recorded_at, sha256, document FROM main.selections"
            " WHERE selection_id = ?",
            selection_id,
        )
        if row is None:
            raise SelectionAbsent(f"selection_id: expected one of the store, got {selection_id}")
        name = text_of(row[0], "name")
        if not is_name(name):
            raise StoreDamaged(f"name: expected the name of a state, got {shown(name)}")
        trace = read_trace(checked_bytes(row[3], row[4], "selection"))
        linked = [
            LinkedResolution(
                time_of(moment, "linked_at"),
                read_resolution(checked_bytes(digest, document, "resolution")),
            )
            for moment, digest, document in self._all(
                "SELECT linked_at, sha256, document FROM main.resolutions"
                " WHERE selection_id = ? ORDER BY position",
                (selection_id,),
            )
        ]
        return Selection(
            selection_id,
            name,
            None if row[1] is None else number_of(row[1], "version"),
            time_of(row[2], "recorded_at"),
            trace.query,
            trace.candidates,
            trace.winners,
            trace.losers,
            trace.reasons,
            tuple(linked),
        )

    def _all(self, sql: str, values: Sequence[str | int]) -> list[tuple[Cell, ...]]:
        with closing(self._rows(sql, values)) as rows:
            return list(rows)

    def _first(self, sql: str, *values: str | int) -> tuple[Cell, ...] | None:
        with closing(self._rows(sql, values)) as rows:
            return next(rows, None)


def first_gap(numbers: Sequence[int]) -> int | None:
    """Give the first version that is missing from ascending numbers; None: they are 1, 2, 3..."""
    for expected, number in enumerate(numbers, start=1):
        if number != expected:
            return expected
    return None


def _plain(cell: Cell) -> str | int | None:
    return cell if cell is None or isinstance(cell, int) else text_of(cell, "version")


def _change(row: tuple[Cell, ...]) -> StateChange:
    kind, change = text_of(row[0], "kind"), text_of(row[2], "change")
    if kind not in set(ItemKind) or change not in CHANGE_WORDS:
        raise StoreDamaged("changes: expected a known kind of change, got another")
    return StateChange(
        kind,
        text_of(row[1], "item_id"),
        change,
        text_of(row[3], "source_pointer"),
        time_of(row[4], "confirmed_at"),
        None if row[5] is None else text_of(row[5], "confirmed_by"),
    )
