"""What a log says of a home, put together; and how the home of now differs from it.

Guarantees: pure. What is appended to a log follows what is there: ordinals and versions count up by
one, so that two entries about one thing cannot both be in it. The comparison names every entry that
no longer holds, and gives the leaves of what is new; a home that differs gives no new leaves for
what differs.

Example:
    >>> sealed = History()
    >>> sealed.add(EventLeaf("s1", 1, "a" * 64))
    >>> now = HomeLeaves(events={"s1": ["b" * 64, "c" * 64]})
    >>> [str(one.code) for one in differences(sealed, now)], len(new_leaves(sealed, now))
    (['sealed_event_edited'], 1)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import takewhile
from typing import Final, TypeVar

from provenance.errors import DataError
from provenance.sealing.leaves import (
    REMOVED,
    EventLeaf,
    Leaf,
    LedgerLeaf,
    LockLeaf,
    PoolLeaf,
    StateLeaf,
)

__all__ = [
    "RECEIPT_PREFIX",
    "SPOILED",
    "STORE_PREFIX",
    "VERSIONED",
    "Difference",
    "DifferenceCode",
    "History",
    "HistoryError",
    "HomeLeaves",
    "differences",
    "is_skipped_state",
    "new_leaves",
    "shown_name",
    "unsealed",
]


STORE_PREFIX = b"store/"
"""Begins the name of a state that a store keeps, with all versions; no file can be called so."""
RECEIPT_PREFIX = b"receipts/"
"""Begins the name of a file in `receipts/`, which is sealed like one in `states/`."""
SPOILED: Final = ""
"""In the place of a digest: what is there cannot be what was sealed, by its content alone."""

_Value = TypeVar("_Value")


class HistoryError(DataError, ValueError):
    """An entry does not follow what the log has; the message names its kind."""

    code = "invalid_history"


class DifferenceCode(StrEnum):
    """How a home differs from what was sealed."""

    EVENT_EDITED = "sealed_event_edited"
    EVENTS_REMOVED = "sealed_events_removed"
    POOL_REWRITTEN = "sealed_pool_rewritten"
    LEDGER_EDITED = "sealed_ledger_line_edited"
    LEDGER_REMOVED = "sealed_ledger_lines_removed"
    STATE_CHANGED = "sealed_state_changed"
    STATE_REMOVED = "sealed_state_removed"
    VERSIONS_REWRITTEN = "sealed_state_versions_rewritten"
    LOCK_CHANGED = "sealed_lock_entry_changed"
    LOCK_REMOVED = "sealed_lock_entry_removed"


# What may change in an honest home; it is sealed as a further version.
VERSIONED = frozenset(
    {
        DifferenceCode.STATE_CHANGED,
        DifferenceCode.STATE_REMOVED,
        DifferenceCode.LOCK_CHANGED,
        DifferenceCode.LOCK_REMOVED,
    }
)


@dataclass(frozen=True, slots=True)
class HomeLeaves:
    """What a home holds now.

    Attributes:
        events: of each session the digests of its records, in order.
        ledgers: of each session its ledger's lines, in order.
        states: of each file in `states/` the digest of what it holds now, as the only one; of each
            state of a store (`STORE_PREFIX` and its name) those of all versions, oldest first.
            Files in `receipts/` stand among them (`RECEIPT_PREFIX`).
        lock: of each pinned pointer the digest of its entry.
        skipped: what was not looked at, so that nothing can be said of it: (`event` or `ledger`,
            session), (`lock`, empty), and (`state`, `receipt` or `store`, name or, for all, empty).
        instead: what stands in the place of what is not there, such as `a link in its place`: of
            (`event` or `ledger`, session), (`state`, name, of whatever kind), (`lock`, empty).
        pools: of each session and pool the digests of what its events refer to, in order.

    Where a digest is `SPOILED`, something is there that was never sealed.
    """

    events: Mapping[str, Sequence[str]] = field(default_factory=dict)
    ledgers: Mapping[str, Sequence[LedgerLeaf]] = field(default_factory=dict)
    states: Mapping[bytes, Sequence[str]] = field(default_factory=dict)
    lock: Mapping[bytes, str] = field(default_factory=dict)
    skipped: frozenset[tuple[str, str]] = frozenset()
    instead: Mapping[tuple[str, str], str] = field(default_factory=dict, repr=False)
    pools: Mapping[tuple[str, str], Sequence[str]] = field(default_factory=dict, repr=False)


@dataclass(slots=True)
class History:
    """What a log says, in the order of its entries; the same shape as `HomeLeaves`.

    `ledger_seals` holds, for each line of a ledger, how many seals there were before its own.
    """

    size: int = 0
    events: dict[str, list[str]] = field(default_factory=dict)
    ledgers: dict[str, list[LedgerLeaf]] = field(default_factory=dict)
    states: dict[bytes, list[str]] = field(default_factory=dict)
    lock: dict[bytes, list[str]] = field(default_factory=dict)
    pools: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    seals: int = 0
    ledger_seals: dict[str, list[int]] = field(default_factory=dict)

    def end_seal(self) -> None:
        """Note that what is added from now on came with a further seal."""
        self.seals += 1

    def add(self, leaf: Leaf) -> None:
        """Take the next entry.

        Raises:
            HistoryError: it does not follow.
        """
        match leaf:
            case EventLeaf():
                _follow(self.events.setdefault(leaf.session, []), leaf.sha256, leaf.ordinal)
            case PoolLeaf():
                known = self.pools.setdefault((leaf.session, leaf.pool), [])
                _follow(known, leaf.sha256, leaf.number)
            case LedgerLeaf():
                _follow(self.ledgers.setdefault(leaf.session, []), leaf, leaf.line)
                self.ledger_seals.setdefault(leaf.session, []).append(self.seals)
            case StateLeaf():
                _follow(self.states.setdefault(leaf.name, []), leaf.sha256, leaf.version)
            case LockLeaf():
                _follow(self.lock.setdefault(leaf.pointer, []), leaf.sha256, leaf.version)
        self.size += 1

    def has(self, kind: str, session: str) -> bool:
        """Say whether there is any `event` or `ledger` line of a session."""
        return session in (self.events if kind == "event" else self.ledgers)

    def stored_digests(self, session: str, filename: str) -> frozenset[str]:
        """Give the digests under which an artifact was stored, as far as it is sealed."""
        return frozenset(
            line.artifact_sha256
            for line in self.ledgers.get(session, ())
            if line.event == "stored"
            and line.filename == filename
            and line.artifact_sha256 is not None
        )


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as it was sealed.

    Attributes:
        code: which kind.
        name: the session, state or pointer, as it is called in reports.
        number: ordinal or line, counted from 1; None for states and pins.
        message: one line: field, expected, got.
    """

    code: DifferenceCode
    name: str
    number: int | None
    message: str


def differences(sealed: History, now: HomeLeaves) -> Iterator[Difference]:
    """Give every sealed thing that the home does not have any more as it was."""
    for session, digests in sorted(sealed.events.items()):
        if ("event", session) not in now.skipped:
            yield from _lines(
                session,
                digests,
                now.events.get(session, ()),
                (DifferenceCode.EVENT_EDITED, DifferenceCode.EVENTS_REMOVED),
                "event",
                instead=now.instead.get(("event", session)),
            )
    yield from _pool_differences(sealed, now)
    for session, lines in sorted(sealed.ledgers.items()):
        if ("ledger", session) not in now.skipped:
            yield from _lines(
                session,
                [line.sha256 for line in lines],
                [line.sha256 for line in now.ledgers.get(session, ())],
                (DifferenceCode.LEDGER_EDITED, DifferenceCode.LEDGER_REMOVED),
                "ledger line",
                instead=now.instead.get(("ledger", session)),
            )
    yield from _state_differences(sealed, now)
    if ("lock", "") not in now.skipped:
        yield from _lock_differences(sealed, now)


def _pool_differences(sealed: History, now: HomeLeaves) -> Iterator[Difference]:
    for (session, pool), digests in sorted(sealed.pools.items()):
        if ("event", session) in now.skipped:
            continue
        if session in sealed.events and session not in now.events:
            continue  # that its events are gone is told
        found = now.pools.get((session, pool), ())
        common = takewhile(lambda pair: pair[0] == pair[1], zip(digests, found, strict=False))
        number = sum(1 for _ in common) + 1
        if number <= len(digests):
            got = "another" if number <= len(found) else "none"
            message = f"{pool}: expected entry {number} as it was sealed, got {got}"
            yield Difference(DifferenceCode.POOL_REWRITTEN, session, None, message)


def _state_differences(sealed: History, now: HomeLeaves) -> Iterator[Difference]:
    for name, versions in sorted(sealed.states.items()):
        if is_skipped_state(name, now.skipped):
            continue
        found = now.states.get(name, ())
        shown = shown_name(name)
        instead = now.instead.get(("state", shown))
        if name.startswith(STORE_PREFIX):
            if list(found[: len(versions)]) != versions:
                got = instead or "another or fewer"
                message = f"state: expected every sealed version as it was, got {got}"
                yield Difference(DifferenceCode.VERSIONS_REWRITTEN, shown, None, message)
        elif not found and versions[-1] != REMOVED:
            got = instead or "nothing of that name"
            message = f"state: expected its sealed version, got {got}"
            yield Difference(DifferenceCode.STATE_REMOVED, shown, None, message)
        elif found and _is_changed(versions, found[-1]):
            what = "an older version" if found[-1] in versions else "other bytes"
            message = f"state: expected {_latest(versions)}, got {what}"
            yield Difference(DifferenceCode.STATE_CHANGED, shown, None, message)


def _lock_differences(sealed: History, now: HomeLeaves) -> Iterator[Difference]:
    for pointer, versions in sorted(sealed.lock.items()):
        entry = now.lock.get(pointer)
        if entry is None and versions[-1] != REMOVED:
            got = now.instead.get(("lock", ""), "none")
            message = f"lock file: expected the sealed entry of this pointer, got {got}"
            yield Difference(DifferenceCode.LOCK_REMOVED, shown_name(pointer), None, message)
        elif entry is not None and _is_changed(versions, entry):
            what = "an older one" if entry in versions else "another"
            message = f"lock file: expected the sealed entry of this pointer, got {what}"
            yield Difference(DifferenceCode.LOCK_CHANGED, shown_name(pointer), None, message)


def _is_changed(versions: Sequence[str], found: str) -> bool:
    """Say whether what is there now is not the latest: after a removal, whether it came back."""
    if versions[-1] == REMOVED:
        return found in versions or found == SPOILED
    return found != versions[-1]


def _latest(versions: Sequence[str]) -> str:
    return "none, as sealed" if versions[-1] == REMOVED else "its latest sealed version"


def is_skipped_state(name: bytes, skipped: frozenset[tuple[str, str]]) -> bool:
    """Say whether a state, or all of its kind, was not looked at."""
    kind = "state"
    if name.startswith(STORE_PREFIX):
        kind = "store"
    elif name.startswith(RECEIPT_PREFIX):
        kind = "receipt"
    return not skipped.isdisjoint({(kind, ""), (kind, shown_name(name))})


def new_leaves(sealed: History, now: HomeLeaves) -> list[Leaf]:
    """Give the leaves of what the log does not have yet, in the order in which they are sealed."""
    leaves: list[Leaf] = []
    for session, digests in sorted(now.events.items()):
        start = len(sealed.events.get(session, ()))
        leaves += [
            EventLeaf(session, number, digest)
            for number, digest in enumerate(digests[start:], start + 1)
        ]
    for (session, pool), digests in sorted(now.pools.items()):
        start = len(sealed.pools.get((session, pool), ()))
        leaves += [
            PoolLeaf(session, pool, number, digest)
            for number, digest in enumerate(digests[start:], start + 1)
        ]
    for session, lines in sorted(now.ledgers.items()):
        fresh = lines[len(sealed.ledgers.get(session, ())) :]
        leaves += takewhile(lambda line: line.sha256 != SPOILED, fresh)
    leaves += _state_leaves(sealed, now)
    leaves += _lock_leaves(sealed, now)
    return leaves


def _state_leaves(sealed: History, now: HomeLeaves) -> Iterator[StateLeaf]:
    for name in sorted(now.states.keys() | sealed.states.keys()):
        if is_skipped_state(name, now.skipped):
            continue
        known, versions = sealed.states.get(name, []), now.states.get(name, ())
        if name.startswith(STORE_PREFIX):
            fresh = versions[len(known) :]
        else:
            latest = versions[-1] if versions else REMOVED
            fresh = () if known and known[-1] == latest else (latest,)
        whole = takewhile(lambda digest: digest != SPOILED, fresh)
        for version, digest in enumerate(whole, len(known) + 1):
            yield StateLeaf(name, version, digest)


def _lock_leaves(sealed: History, now: HomeLeaves) -> Iterator[LockLeaf]:
    pointers = now.lock.keys() | (() if ("lock", "") in now.skipped else sealed.lock.keys())
    for pointer in sorted(pointers):
        known, latest = sealed.lock.get(pointer, []), now.lock.get(pointer, REMOVED)
        if latest != SPOILED and (not known or known[-1] != latest):
            yield LockLeaf(pointer, len(known) + 1, latest)


def unsealed(sealed: History, now: HomeLeaves) -> Iterator[tuple[str, str, int]]:
    """Count what came after the last seal: kind, name and number of new things.

    What differs from a sealed version is no new thing; `differences` has it.
    """
    for session, digests in sorted(now.events.items()):
        yield "event", session, len(digests) - len(sealed.events.get(session, ()))
    for (session, pool), digests in sorted(now.pools.items()):
        yield "pool", session, len(digests) - len(sealed.pools.get((session, pool), ()))
    for session, lines in sorted(now.ledgers.items()):
        yield "ledger", session, len(lines) - len(sealed.ledgers.get(session, ()))
    for name, versions in sorted(now.states.items()):
        known = sealed.states.get(name, ())
        is_new = not known or (known[-1] == REMOVED and versions[-1] not in known)
        is_kept = name.startswith(STORE_PREFIX)
        count = len(versions) - len(known) if is_kept else int(is_new)
        yield "state", shown_name(name), count
    pins = ((sealed.lock.get(pointer, (REMOVED,)), entry) for pointer, entry in now.lock.items())
    fresh = (known[-1] == REMOVED and entry not in known for known, entry in pins)
    yield "lock", "", sum(fresh)


def _follow(known: list[_Value], value: _Value, number: int) -> None:
    if number != len(known) + 1:
        raise HistoryError(f"entry: expected number {len(known) + 1} of its kind, got {number}")
    known.append(value)


def _lines(
    session: str,
    sealed: Sequence[str],
    now: Sequence[str],
    codes: tuple[DifferenceCode, DifferenceCode],
    what: str,
    *,
    instead: str | None,
) -> Iterator[Difference]:
    edited, removed = codes
    for number, (expected, got) in enumerate(zip(sealed, now, strict=False), 1):
        if expected != got:
            message = f"{what} {number}: expected the sealed digest, got another"
            yield Difference(edited, session, number, message)
    if len(now) < len(sealed):
        got = str(len(now)) if instead is None else instead
        message = f"{what}s: expected the {len(sealed)} that were sealed, got {got}"
        yield Difference(removed, session, len(now) + 1, message)


def shown_name(name: bytes) -> str:
    """Write the name of a state, or a pinned pointer, as reports call it."""
    return name.decode("utf-8", "backslashreplace")
