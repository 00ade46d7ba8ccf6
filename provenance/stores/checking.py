"""Does what a store says of its versions follow from the documents that it holds?

Guarantees: each version that is asked for has its digest checked, and its rows in `changes` and
`conflict_keys` are held against its document and the one before it: who changed what can be worked
out again. Not to be worked out: who confirmed a change, which conflict a fact won, and versions
that were taken away together with all their rows (a seal tells that). Where the version before it
cannot be read, its changes are not compared, and the other one has its own error.

Example:
    >>> from provenance.stores.reading import StateReader
    >>> list(checked_versions(StateReader(lambda sql, values: (row for row in ())), "run-1", ()))
    []
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from provenance.durable.values import DurableContextState
from provenance.errors import CtxauditError
from provenance.stores.planning import stored_changes
from provenance.stores.reading import StateReader
from provenance.stores.values import StoredState

__all__ = ["CheckedVersion", "check_version", "checked_versions", "rows_of_no_version"]

# Of rows that belong to no version: so many are told one by one.
_TOLD_ROWS = 20


@dataclass(frozen=True, slots=True)
class CheckedVersion:
    """One version and what is wrong with it.

    Attributes:
        number: which one.
        kept: as it was stored; None: it cannot be read.
        error: why; None: it can.
        faults: what does not follow from the documents.
    """

    number: int
    kept: StoredState | None = None
    error: CtxauditError | None = None
    faults: tuple[str, ...] = ()


def checked_versions(
    reader: StateReader, name: str, numbers: Sequence[int]
) -> Iterator[CheckedVersion]:
    """Read and check versions of a state, one after the other; one is in memory at a time.

    Args:
        reader: of the store.
        name: the state.
        numbers: ascending, from the first one that the store has.
    """
    before: DurableContextState | None = DurableContextState()
    last = 0
    for number in numbers:
        if number != last + 1:
            before = None
        last = number
        try:
            kept = reader.get(name, number)
        except CtxauditError as error:
            yield CheckedVersion(number, error=error)
            before = None
            continue
        yield CheckedVersion(number, kept, faults=tuple(_faults(reader, kept, before)))
        before = kept.state


def check_version(reader: StateReader, kept: StoredState) -> tuple[str, ...]:
    """Check one version; where the one before it cannot be read, that is a fault, too."""
    number = kept.version
    if number == 1:
        return tuple(_faults(reader, kept, DurableContextState()))
    try:
        before = reader.get(kept.name, number - 1).state
    except CtxauditError:
        said = f"changes: expected to compare version {number} with the one before it, which cannot"
        return (f"{said} be read", *_faults(reader, kept, None))
    return tuple(_faults(reader, kept, before))


def rows_of_no_version(
    reader: StateReader, versions: Mapping[str, Collection[int]]
) -> Iterator[str]:
    """Say which rows of changes and conflict keys belong to no version, a few of them."""
    known = {name: frozenset(numbers) for name, numbers in versions.items()}
    told = 0
    for table, name, number in reader.row_owners():
        if number in known.get(name, ()):
            continue
        yield f"{table}: expected rows of versions alone, got some of {name} version {number}"
        told += 1
        if told == _TOLD_ROWS:
            return


def _faults(
    reader: StateReader, kept: StoredState, before: DurableContextState | None
) -> Iterator[str]:
    name, number = kept.name, kept.version
    # 1. What changed.
    if before is not None:
        said = tuple(replace(one, confirmed_by=None) for one in kept.info.changes)
        if said != stored_changes(before, kept.state):
            yield (
                f"changes: expected those that follow from the documents of version {number} of "
                f"{name}, got others"
            )
    # 2. Who won: what a fact won, its document does not say.
    facts = {one.fact_id for one in kept.state.facts}
    won = {
        one.memory_id: one.conflict_key
        for one in kept.state.retrieval_evidence
        if one.conflict_key is not None
    }
    if (
        not facts.issuperset(kept.info.conflict_keys)
        or reader.keys_of_evidence(name, number) != won
    ):
        yield (
            f"conflict_keys: expected those of the members of version {number} of {name}, got "
            "others"
        )
