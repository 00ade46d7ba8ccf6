"""What a record of an Inspect sample refers to: attachments, ranges of pools, a message.

Guarantees: pure; raises nothing, whatever the values are, does not recurse, and expands no range.

Not checked: that the id of an attachment is the MurmurHash3 of its text (no standard library has
it, and it proves nothing against intent).

Example:
    >>> facts = SampleFacts(attachments=frozenset({"a1"}))
    >>> value = PlacedValue({"content": "attachment://a1", "x": ["attachment://b2"]}, facts)
    >>> [reference.members for reference in references_of(value)]
    [(('a1', True), ('b2', False))]
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from provenance.transcripts.fields import text_of
from provenance.transcripts.records import Reference

__all__ = [
    "PlacedValue",
    "SampleFacts",
    "attachments_in",
    "pairs_of",
    "references_of",
]

# A string that is a reference and nothing else; or the id of a hash inside of other text.
_match_whole = re.compile(r"attachment://([0-9A-Za-z]{1,64})").fullmatch
_find_hashes = re.compile(r"attachment://([0-9a-f]{32})(?![0-9a-f])").findall
_PREFIX = "attachment://"


@dataclass(frozen=True, slots=True)
class SampleFacts:
    """What the records of a sample may refer to.

    Attributes:
        attachments: the ids of its attachments.
        messages: how many messages the pool for the inputs of model events holds.
        calls: how many the pool for raw model calls holds.
    """

    attachments: Container[str] = frozenset()
    messages: int = 0
    calls: int = 0


class PlacedValue(dict[str, Any]):
    """The value of a record, and the sample it stands in.

    Attributes:
        sample: what it may refer to.
        pooled: attachments that messages of the pool name which this record is the first to use.
    """

    __slots__ = ("pooled", "sample")

    def __init__(
        self, value: dict[str, Any], sample: SampleFacts, pooled: tuple[str, ...] = ()
    ) -> None:
        """Take the members of the record itself."""
        super().__init__(value)
        self.sample = sample
        self.pooled = pooled


def references_of(value: PlacedValue) -> Iterator[Reference]:
    """Give what a record says exists elsewhere in its sample."""
    sample = value.sample
    names = dict.fromkeys([*attachments_in([value]), *value.pooled])
    if names:
        members = tuple((name, name in sample.attachments) for name in names)
        yield Reference(kind="attachment", members=members)
    call = value.get("call")
    raw_call = call if isinstance(call, dict) else {}
    for kind, refs, size in (
        ("message_pool", value.get("input_refs"), sample.messages),
        ("call_pool", raw_call.get("call_refs"), sample.calls),
    ):
        if refs is not None and (ranges := tuple(_ranges(kind, refs, size))):
            yield Reference(kind=kind, members=ranges)
    message = text_of(value, "message_id")
    if message and "event" in value:
        # A compaction, or another agent, may have left the message out of the conversation.
        yield Reference(kind="message_id", records=(message,), is_optional=True)


def _ranges(kind: str, refs: Any, size: int) -> Iterator[tuple[str, bool]]:  # noqa: ANN401
    for pair in pairs_of(refs):
        if pair is None:
            yield f"{kind}[?]", False
        else:
            yield f"{kind}[{pair[0]}:{pair[1]}]", 0 <= pair[0] <= pair[1] <= size


def pairs_of(refs: Any) -> Iterator[tuple[int, int] | None]:  # noqa: ANN401 - a stranger's value
    """Give half-open ranges; None for what is none."""
    for ref in refs if isinstance(refs, list) else () if refs is None else (None,):
        if isinstance(ref, list) and len(ref) == 2 and all(type(one) is int for one in ref):
            yield ref[0], ref[1]
        else:
            yield None


def attachments_in(values: Iterable[Any]) -> Iterator[str]:
    """Give the ids of attachments that stand in strings, in the order of the text."""
    stack: list[Any] = list(values)
    stack.reverse()
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            if _PREFIX in value:
                whole = _match_whole(value)
                yield from (whole[1],) if whole else _find_hashes(value)
        elif isinstance(value, dict):
            stack.extend(reversed(value.values()))
        elif isinstance(value, list):
            stack.extend(reversed(value))
