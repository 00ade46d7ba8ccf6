"""`DurableStateStore`: every version of every state of a home, and why each is what it is.

Guarantees: a version is written once and never changed; an update names the version that it read,
and fails with both numbers where another one is current by then, also between processes. Killed at
any moment, the store holds the old version or the new one, whole. Each version reads back byte for
byte, its digest checked. Nothing is open between two calls: a store may be kept for as long as the
program runs, used from several threads, and carried over a fork, which waits for the calls of other
threads. A path is made absolute when the store is built: to change the folder changes no store.

Example:
    >>> import tempfile
    >>> from provenance.durable import DurableContextState
    >>> with tempfile.TemporaryDirectory() as home:
    ...     store = DurableStateStore(home)
    ...     first = store.put("run-1", DurableContextState(), replaces=None, author="harness")
    ...     store.get("run-1").state == DurableContextState(), first.version
    (True, 1)
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import TracebackType

from provenance.clock import Clock, require_zoned, utc_now
from provenance.durable.fields import shown
from provenance.durable.values import DurableContextState
from provenance.errors import CtxauditError
from provenance.fs.failures import SourceAbsent
from provenance.fs.root import TrustedRoot
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.resolution import SourceResolution
from provenance.stores.database import StateDatabase, open_for_writing
from provenance.stores.failures import (
    StateAbsent,
    StateConflict,
    StoreArgumentError,
    StoreReadOnly,
    StoreUnsafe,
)
from provenance.stores.guarding import one_at_a_time
from provenance.stores.planning import PlannedVersion, Signature, plan_version, require_state_name
from provenance.stores.reading import StateReader
from provenance.stores.selections import make_trace, write_resolution, write_trace
from provenance.stores.snapshot import has_store, open_snapshot
from provenance.stores.values import Selection, StateVersion, StoredState

__all__ = ["DurableStateStore"]

# SQLite's whole numbers; a version that is larger was never written.
_MAX_NUMBER = (1 << 63) - 1


class DurableStateStore:
    """The versions of the states of one home, in `<home>/states/states.sqlite3`."""

    def __init__(
        self,
        home: str | os.PathLike[str] | TrustedRoot,
        *,
        clock: Clock = utc_now,
        limits: Limits = DEFAULT_LIMITS,
        busy_timeout_seconds: float = 10.0,
    ) -> None:
        """Name a store; nothing is opened or made before the first use.

        Args:
            home: the state home; a path is made (0700) at the first write, and means the same
                folder wherever the program goes; a root is the caller's.
            clock: gives the time of each version, with a zone.
            limits: bounds what is stored and read.
            busy_timeout_seconds: how long a write waits for another process.
        """
        self._own: tuple[TrustedRoot, ...] = ()
        if isinstance(home, TrustedRoot):
            self._reading = self._writing = home
        else:
            path = Path(home).absolute()
            self._reading, self._writing = TrustedRoot(path), TrustedRoot(path, create=True)
            self._own = self._reading, self._writing
        self._clock = clock
        self._limits = limits
        self._busy_timeout_seconds = busy_timeout_seconds

    def put(
        self,
        name: str,
        state: DurableContextState,
        *,
        replaces: int | None,
        author: str,
        note: str | None = None,
        confirmed_by: str | Mapping[str, str] | None = None,
        conflict_keys: Mapping[str, str | None] | None = None,
    ) -> StateVersion:
        """Make a state the current version, if the one that was read is current still.

        Args:
            name: of the state; the grammar of session ids.
            state: what is current from now on.
            replaces: the version that was read; None: there was none.
            author: who writes it.
            note: why.
            confirmed_by: who confirmed what is new: one for all changes, or by item id. A pending
                item that moves, that comes as done, or that is blocked for another reason needs
                one, and never the model or its summary.
            conflict_keys: the conflict that a fact won, by fact id. A fact keeps its key from
                version to version; None takes it away. A key belongs to one state, and
                those of facts are not those of evidence; what is invisible in one tells none apart.

        Raises:
            StateConflict: another version is current; it has both numbers. Nothing was written.
            ConflictKeyTaken: two facts, or two pieces of evidence, would be current under one key.
            ForbiddenTransitionError: a pending item moves as `transition_pending` never would, or
                one that was ever done is another one now.
            StoreArgumentError, StateDocumentError: an argument, or the state, cannot be stored.
            NoStateStore, StoreTooNew, StoreDamaged, StoreUnsafe: of the file.
            StoreReadOnly, StoreBusy, StoreWriteFailed: the machine; nothing was written.
        """
        require_state_name(name)
        if not isinstance(state, DurableContextState):
            raise StoreArgumentError(
                f"state: expected DurableContextState, got {type(state).__name__}"
            )
        expected = None if replaces is None else _number(replaces, "replaces")
        signature = Signature(author, note, confirmed_by)
        moment = self._now()
        if expected is not None and not self._is_there():
            raise StateConflict(name, expected=expected, current=None)  # and make no file for it
        with self._written() as database:
            reader = StateReader(database.rows, limits=self._limits)
            found = reader.current_version(name)
            if found != expected:  # before the current state, which may be large, is read
                raise StateConflict(name, expected=expected, current=found)
            current = None if found is None else reader.get(name, found)
            there = () if current is None else current.state.pending_items
            new = {one.item_id for one in state.pending_items} - {one.item_id for one in there}
            plan = plan_version(
                name,
                state,
                current=current,
                replaces=expected,
                signature=signature,
                conflict_keys=conflict_keys,
                left_out={} if current is None else reader.left_out(name, new),
                limits=self._limits,
            )
            _add_version(database, name, plan, moment=moment, signature=signature)
            return reader.info(name, plan.version)

    def get(self, name: str, version: int | None = None) -> StoredState:
        """Give a version of a state as it was; None: the current one.

        Raises:
            StateAbsent: there is no such state or version.
            NoStateStore, StoreTooNew, StoreDamaged, StoreUnsafe: it cannot be read.
            AccessRefused, ReadFailed, StoreBusy, StoreWriteFailed: the machine.
        """
        require_state_name(name)
        wanted = None if version is None else _number(version, "version")
        with self._read() as reader:
            if reader is None:
                raise StateAbsent(f"name: expected a state of the store, got {shown(name)}")
            return reader.get(name, wanted)

    def history(self, name: str) -> tuple[StateVersion, ...]:
        """Give every version of a state without the states themselves, the first one first.

        Raises:
            As `get`; also StoreDamaged where a version is missing.
        """
        require_state_name(name)
        with self._read() as reader:
            if reader is None:
                raise StateAbsent(f"name: expected a state of the store, got {shown(name)}")
            return reader.history(name)

    def names(self) -> tuple[str, ...]:
        """Name the states, sorted; none where there is no store. Raises as `get`."""
        with self._read() as reader:
            return () if reader is None else reader.names()

    def record_selection(
        self,
        name: str,
        *,
        query: str,
        candidates: Iterable[object],
        winners: Iterable[str],
        losers: Iterable[str] | None = None,
        reasons: Mapping[str, str] | None = None,
        version: int | None = None,
    ) -> Selection:
        """Keep the trace of a retrieval beside the state that it was made for.

        Args:
            name: of the state, which need not exist yet.
            query: what was asked for.
            candidates: memory ids, `SelectionCandidate`s, or hits as `capture_retrieval_evidence`
                takes them; no recalled text is kept.
            winners: memory ids, best first.
            losers: memory ids; None: every candidate that did not win.
            reasons: why, by memory id.
            version: the version that it belongs to; None: the current one.

        Raises:
            StateAbsent: there is no version of that number.
            ConflictKeyTaken: two winners of one conflict.
            StoreArgumentError: an argument breaks its rule.
            Others as `put`.
        """
        require_state_name(name)
        trace = make_trace(query, candidates, winners=winners, losers=losers, reasons=reasons)
        document, moment = write_trace(trace), self._now()
        wanted = None if version is None else _number(version, "version")
        with self._written() as database:
            reader = StateReader(database.rows, limits=self._limits)
            if wanted is None:
                wanted = reader.current_version(name)
            else:
                reader.info(name, wanted)
            digest = _sha256(document)
            row = None, name, wanted, moment, digest, document
            return reader.selection(database.add("selections", row))

    def link_resolution(self, selection_id: int, resolution: SourceResolution) -> Selection:
        """Link what a verification said to the selection that it concerns.

        Args:
            selection_id: as `record_selection` gave it.
            resolution: the resolver's answer; its excerpt is not kept.

        Returns:
            The selection with everything that is linked to it.

        Raises:
            SelectionAbsent: no selection has that number.
            StoreArgumentError: it is no result of a resolver.
            Others as `put`.
        """
        number = _number(selection_id, "selection_id")
        document, moment = write_resolution(resolution), self._now()
        with self._written() as database:
            reader = StateReader(database.rows, limits=self._limits)
            position = len(reader.selection(number).resolutions)
            database.add("resolutions", (number, position, moment, _sha256(document), document))
            return reader.selection(number)

    def selections(
        self, name: str | None = None, version: int | None = None
    ) -> tuple[Selection, ...]:
        """Give the traces of a state (None: of all), of one version or all, oldest first.

        Raises:
            As `get`; a state without traces has none.
        """
        if name is not None:
            require_state_name(name)
        wanted = None if version is None else _number(version, "version")
        with self._read() as reader:
            return () if reader is None else reader.selections(name, wanted)

    def close(self) -> None:
        """Close the handles on the home, as each call does; a caller's root is the caller's."""
        for root in self._own:
            root.close()

    def __enter__(self) -> DurableStateStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _now(self) -> str:
        moment = require_zoned(self._clock()).replace(tzinfo=None)
        return f"{moment.isoformat(timespec='microseconds')}Z"

    def _is_there(self) -> bool:
        with one_at_a_time(), closing(self):
            try:
                return has_store(self._reading)
            except CtxauditError:
                return True  # something is: opening it says what

    @contextmanager
    def _written(self) -> Iterator[StateDatabase]:
        with (
            one_at_a_time(),
            closing(self),
            open_for_writing(
                self._writing,
                busy_timeout_seconds=self._busy_timeout_seconds,
                limits=self._limits,
            ) as database,
            database.transaction(),
        ):
            yield database

    @contextmanager
    def _read(self) -> Iterator[StateReader | None]:
        """Open what there is in place; from a copy where that would need a right to write."""
        with one_at_a_time(), closing(self), ExitStack() as opened:
            reader: StateReader | None
            try:
                database = opened.enter_context(
                    open_for_writing(
                        self._reading,
                        create=False,
                        busy_timeout_seconds=self._busy_timeout_seconds,
                        limits=self._limits,
                    )
                )
                reader = StateReader(database.rows, limits=self._limits)
            except SourceAbsent:
                reader = None
            except (StoreReadOnly, StoreUnsafe):
                reader = opened.enter_context(open_snapshot(self._reading, limits=self._limits))
            yield reader


def _add_version(
    database: StateDatabase,
    name: str,
    plan: PlannedVersion,
    *,
    moment: str,
    signature: Signature,
) -> None:
    version = plan.version
    replaces = None if version == 1 else version - 1
    database.add(
        "versions",
        (
            name,
            version,
            replaces,
            moment,
            signature.author,
            signature.note,
            plan.sha256,
            len(plan.document),
            plan.document,
        ),
    )
    for position, change in enumerate(plan.changes):
        database.add(
            "changes",
            (
                name,
                version,
                position,
                change.kind,
                change.item_id,
                change.change,
                change.source_pointer,
                change.confirmed_at,
                change.confirmed_by,
            ),
        )
    for kind, keys in (("fact", plan.fact_keys), ("evidence", plan.evidence_keys)):
        for item_id, key in keys.items():
            database.add("conflict_keys", (name, version, kind, key, item_id))


def _sha256(document: bytes) -> str:
    return hashlib.sha256(document).hexdigest()


def _number(value: object, field: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise StoreArgumentError(f"{field}: expected a whole number, got {type(value).__name__}")
    if not 1 <= value <= _MAX_NUMBER:
        raise StoreArgumentError(f"{field}: expected a whole number of 1 or more, got another")
    return value
