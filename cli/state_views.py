"""Versions, states, differences and selections as lines for a person.

Guarantees: pure. Every text out of a store is one bounded line in which nothing steers a terminal.

Example:
    >>> list(log_lines([], has_changes=False))
    []
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from provenance.durable import (
    DurableFact,
    ItemChange,
    PendingItem,
    RetrievalEvidence,
    StateDifference,
)
from provenance.stores import Selection, SelectionCandidate, StateChange, StateVersion, StoredState

from .state_json import item_json
from .streams import one_line

__all__ = [
    "difference_lines",
    "log_lines",
    "selections_lines",
    "state_lines",
]

_NOUNS = {
    "fact": ("fact", "facts"),
    "pending": ("pending item", "pending items"),
    "evidence": ("piece of evidence", "pieces of evidence"),
}
_ADDED = {"added_done": "added as done", "added_blocked": "added as blocked"}
# As wide as the longest word of a change, but for those two.
_WIDTH = len("completed")

Item = DurableFact | PendingItem | RetrievalEvidence


def log_lines(histories: Iterable[Sequence[StateVersion]], *, has_changes: bool) -> Iterator[str]:
    """Lay histories out, each with its latest version first."""
    is_first = True
    for history in histories:
        if not is_first:
            yield ""
        is_first = False
        yield one_line(history[0].name)
        for version in reversed(history):
            yield f"  {_headline(version)}"
            if version.note is not None:
                yield f"    note: {one_line(version.note)}"
            if has_changes:
                for change in version.changes:
                    yield f"    {_change_line(change)}"


def state_lines(kept: StoredState, *, current: int) -> Iterator[str]:
    """Lay one version out, with what it changed."""
    info, state = kept.info, kept.state
    yield f"state      {one_line(info.name)}"
    replaced = "nothing" if info.replaces is None else f"version {info.replaces}"
    standing = "the current one" if info.version == current else f"{current} is current"
    yield f"version    {info.version} ({standing}), replaces {replaced}"
    yield f"written    {one_line(info.created_at)} by {one_line(info.author)}"
    if info.note is not None:
        yield f"note       {one_line(info.note)}"
    yield f"sha256     {info.sha256} ({info.bytes} bytes)"
    if state.session is not None or state.turn is not None:
        turn = "" if state.turn is None else f" turn {state.turn}"
        yield f"belongs to session {one_line(state.session or 'unknown')}{turn}"
    yield from _section("Changes in this version", map(_change_line, info.changes))
    yield from _section(
        "Confirmed facts",
        (line for fact in state.facts for line in _fact_lines(fact, info.conflict_keys)),
    )
    yield from _section(
        "Pending work", (line for item in state.pending_items for line in _item_lines(item))
    )
    yield from _section(
        "Retrieval evidence",
        (line for one in state.retrieval_evidence for line in _evidence_lines(one)),
    )


def selections_lines(selections: Sequence[Selection]) -> Iterator[str]:
    """Lay traces out: who won, who lost, why, and what verified the sources since."""
    if not selections:
        yield "No selections were recorded."
    for number, one in enumerate(selections):
        if number:
            yield ""
        version = "before any version" if one.version is None else f"version {one.version}"
        yield f"Selection {one.selection_id} ({version}, {one_line(one.recorded_at)})"
        yield f"  query: {one_line(one.query)}"
        candidates = {candidate.memory_id: candidate for candidate in one.candidates}
        for word, names in (("won", one.winners), ("lost", one.losers)):
            for name in names:
                why = one.reasons.get(name)
                reason = "" if why is None else f": {one_line(why)}"
                yield f"  {word:4}  {one_line(name)}{_facts_of(candidates[name])}{reason}"
        for linked in one.resolutions:
            answer = linked.resolution
            state = answer["status"] if answer["conclusive"] else "inconclusive"
            because = answer["reason"]
            said = "" if because is None else f" ({one_line(str(because))})"
            yield (
                f"  verified {one_line(linked.linked_at)}: {one_line(str(answer['pointer']))} "
                f"{state}{said}"
            )


def difference_lines(
    name: str, before: int, after: int, difference: StateDifference
) -> Iterator[str]:
    """Lay the difference between two versions out, field by field."""
    earlier = "nothing" if before == 0 else f"version {before}"
    yield f"{one_line(name)}: {earlier} to version {after}"
    if difference.is_empty:
        yield "No difference."
    for field, step in (("session", difference.session), ("turn", difference.turn)):
        if step is not None:
            yield f"{field}: {_said(step[0])} -> {_said(step[1])}"
    for change in difference:
        yield f"{change.change:{_WIDTH}}  {_noun(change.kind)} {one_line(change.item_id)}"
        yield from _field_lines(change)
    for kind, ids in difference.orders:
        yield f"{'reordered':{_WIDTH}}  {_NOUNS[kind][1]}: {one_line(', '.join(ids))}"


def _headline(version: StateVersion) -> str:
    replaced = "" if version.replaces is None else f", replaces {version.replaces}"
    return (
        f"version {version.version}  {one_line(version.created_at)}  "
        f"by {one_line(version.author)}{replaced}: {_in_numbers(version.changes)}"
    )


def _in_numbers(changes: Iterable[StateChange]) -> str:
    counts = Counter((change.kind, change.change) for change in changes)
    said = [
        f"{count:,} {_NOUNS[kind][count != 1]} {_ADDED.get(change, change)}"
        for (kind, change), count in counts.items()
    ]
    return ", ".join(said) or "no member changed"


def _noun(kind: str) -> str:
    return _NOUNS[kind][0]


def _change_line(change: StateChange) -> str:
    by = "" if change.confirmed_by is None else f" by {one_line(change.confirmed_by)}"
    return (
        f"{_ADDED.get(change.change, change.change):{_WIDTH}}  {_noun(change.kind)} "
        f"{one_line(change.item_id)}: confirmed "
        f"{one_line(change.confirmed_at)}{by} from {one_line(change.source_pointer)}"
    )


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield ""
        yield title
        for line in found:
            yield f"  {line}"


def _fact_lines(fact: DurableFact, keys: Mapping[str, str]) -> Iterator[str]:
    yield f"{one_line(fact.fact_id)}: {one_line(fact.content)}"
    key = keys.get(fact.fact_id)
    won = "" if key is None else f", won conflict {one_line(key)}"
    source = one_line(fact.source_pointer)
    yield f"    confirmed {one_line(fact.last_confirmed_at)} from {source}{won}"


def _item_lines(item: PendingItem) -> Iterator[str]:
    reason = "" if item.reason is None else f": {one_line(item.reason)}"
    yield f"{one_line(item.item_id)}: {one_line(item.description)} ({item.status}{reason})"
    yield f"    confirmed {one_line(item.last_confirmed_at)} from {one_line(item.source_pointer)}"


def _evidence_lines(one: RetrievalEvidence) -> Iterator[str]:
    key = "" if one.conflict_key is None else f", won conflict {one_line(one.conflict_key)}"
    yield f"{one_line(one.memory_id)}: {one_line(one.source_title) or 'without a title'}"
    yield (
        f"    captured {one_line(one.captured_at)} from {one_line(one.source_type)} "
        f"{one_line(one.source_id)}, score {one.score!r}, rank {one.source_rank}{key}"
    )


def _facts_of(candidate: SelectionCandidate) -> str:
    said = []
    if candidate.score is not None:
        said.append(f"score {candidate.score!r}")
    if candidate.source_rank is not None:
        said.append(f"rank {candidate.source_rank}")
    if candidate.conflict_key is not None:
        said.append(f"conflict {one_line(candidate.conflict_key)}")
    if candidate.source_id is not None:
        said.append(f"source {one_line(candidate.source_id)}")
    return f" ({', '.join(said)})" if said else ""


def _field_lines(change: ItemChange) -> Iterator[str]:
    before, after = item_json(change.before) or {}, item_json(change.after) or {}
    indent = " " * (_WIDTH + 2)
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        if old is not None:
            yield f"{indent}- {name}: {_said(old)}"
        if new is not None:
            yield f"{indent}+ {name}: {_said(new)}"


def _said(value: object) -> str:
    return "none" if value is None else one_line(str(value))
