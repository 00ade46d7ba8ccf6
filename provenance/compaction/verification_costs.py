"""What a receipt says of tokens, held to the messages, or at least to itself.

Guarantees: with a counter, and where the receipt was made with the estimate, every number is
counted again. Where nobody can count again the sums of the receipt have to agree with one another.

Example:
    >>> from provenance.compaction.receipt import Receipt
    >>> from provenance.compaction.verification_rows import Problems
    >>> case = Case([], [], Receipt(0, 0, 0, 9, (), (), (), "o200k_base"), Problems())
    >>> check_costs(case, {}, None)
    >>> case.problems.in_order()[0].text
    'tokens_after: expected at most 0 (tokens_before), got 9'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from provenance.compaction.changes import ChangedBlock
from provenance.compaction.verification_rows import Case, Place, Row, block_at
from provenance.messages.tokens import (
    COUNTER_NAMES,
    HEURISTIC,
    MESSAGE_TOKENS,
    HeuristicCounter,
    TokenCounter,
    counter_name,
)

__all__ = ["check_costs"]


def check_costs(
    case: Case, changes: Mapping[Place, ChangedBlock], counter: TokenCounter | None
) -> None:
    """Check every cost.

    Args:
        case: what is verified.
        changes: what the receipt says of the original, by the place there.
        counter: the one that the compaction counted with, where somebody knows it.
    """
    said = case.receipt.counter
    # 1. The caller knows what counted; the receipt may say that it was something else.
    if counter is not None:
        name = counter_name(counter)
        if said is None or said == name:
            _count_again(case, changes, counter, _total(case.before, counter))
            return
        got = said if said in COUNTER_NAMES else "another"
        place = (len(case.before), 0)
        expected = "one without a name" if name is None else name
        case.problems.of_original(place, f"counter: expected {expected}, got {got}")
    # 2. By the receipt it was the estimate; one that says nothing may have had it too.
    elif said in (HEURISTIC, None):
        estimate = HeuristicCounter()
        total = _total(case.before, estimate)
        if said is not None or total == case.receipt.tokens_before:
            _count_again(case, changes, estimate, total)
            return
    # 3. What counted is not at hand.
    _check_sums(case)


def _total(rows: Sequence[Row], counter: TokenCounter) -> int:
    return sum([row.cost(counter) for row in rows])


def _count_again(
    case: Case, changes: Mapping[Place, ChangedBlock], counter: TokenCounter, total: int
) -> None:
    # Each message once, in whatever order a receipt names its blocks.
    counted: dict[int, tuple[int, ...]] = {}
    for place, one in changes.items():
        if block_at(case.before, place) is None:
            continue
        costs = counted.get(place[0])
        if costs is None:
            costs = counted[place[0]] = case.before[place[0]].costs(counter)
        if one.tokens != costs[place[1]]:
            text = f"tokens: expected {costs[place[1]]}, got {one.tokens}"
            case.problems.of_original(place, text)
    said = case.receipt.tokens_before
    if said != total:
        place = (len(case.before), 0)
        case.problems.of_original(place, f"tokens_before: expected {total}, got {said}")
    total, said = _total(case.after, counter), case.receipt.tokens_after
    if said != total:
        place = (len(case.after), 0)
        case.problems.of_result(place, f"tokens_after: expected {total}, got {said}")


def _check_sums(case: Case) -> None:
    """See that the numbers of a receipt can be those of one compaction."""
    receipt, place = case.receipt, (len(case.after), 0)
    before, after = receipt.tokens_before, receipt.tokens_after
    # 1. Whatever counts: a layer is named for what it saved, and none makes a history dearer.
    if after > before:
        text = f"tokens_after: expected at most {before} (tokens_before), got {after}"
        case.problems.of_result(place, text)
    elif (after < before) != bool(receipt.applied_layers):
        expected = f"fewer than {before}" if receipt.applied_layers else f"{before}"
        text = f"tokens_after: expected {expected} by the layers that are named, got {after}"
        case.problems.of_result(place, text)
    # 2. By a counter of ours a history costs what its messages and their blocks cost.
    if receipt.counter not in COUNTER_NAMES:
        return
    gone = sum(one.tokens for one in receipt.removed)
    least = gone + MESSAGE_TOKENS * len(case.before)
    if before < least:
        text = f"tokens_before: expected {least} or more by what was removed, got {before}"
        case.problems.of_original((len(case.before), 0), text)
        return
    # What was put in, or stands in another form, costs something that no receipt says.
    left = before - gone - MESSAGE_TOKENS * (len(case.before) - len(case.after))
    is_all = not receipt.inserted and all(one.changed_to is None for one in receipt.removed)
    if after < left or (is_all and after != left):
        expected = f"{left}" if is_all else f"{left} or more"
        text = f"tokens_after: expected {expected} by what was removed, got {after}"
        case.problems.of_result(place, text)
