"""What the layers did to the blocks of the original, as it happens.

Guarantees: each block of the original is noted once, with the digest it had at first: what is
shortened and dropped later is one removed block, and keeps the pointer to where its text went.

Example:
    >>> ChangeLog(HeuristicCounter()).removed
    ()
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from provenance.compaction.canonical_form import digest_of
from provenance.compaction.view import DIGEST_LENGTH, Entry
from provenance.messages.shapes import ROLES, Block, field, to_json_value
from provenance.messages.tokens import HeuristicCounter, TokenCounter

__all__ = [
    "ChangeLog",
    "ChangedBlock",
    "HeuristicCounter",
    "InsertedBlock",
    "call_id_of",
    "digest_of",
    "said_role",
]

# A longer one, or one that no file can hold, stands in a receipt as its digest.
_LONGEST_CALL_ID = 256
# A tuple made straight, as there are as many as blocks go.
_new = tuple.__new__
# In one message: so that the place of a block is one number, which sorts fast.
_MOST_BLOCKS = 1 << 40


class ChangedBlock(NamedTuple):
    """One block of the original that is not in the result as it was.

    Attributes:
        message: the message's place in the original, from 0.
        block: the block's place in it, from 0.
        kind: `text`, `tool_call`, `tool_result`, `thinking` or `other`.
        call_id: the id of its tool call; None where it has none.
        layer: which layer removed it, or changed it last.
        sha256: digest of the original block's canonical JSON, 64 hex digits.
        tokens: what the original block cost.
        pointer: where its text was spilled to; None where it was not.
        changed_to: digest of what stands in its place; None: it is gone.
        role: of its message, as that says it; None where it says none.
    """

    message: int
    block: int
    kind: str
    call_id: str | None
    layer: str
    sha256: str
    tokens: int
    pointer: str | None = None
    changed_to: str | None = None
    role: str | None = None


class InsertedBlock(NamedTuple):
    """One block of the result that is not of the original.

    Attributes:
        message: the message's place in the result, from 0.
        block: the block's place in it, from 0.
        layer: which layer put it in.
        sha256: digest of its canonical JSON, 64 hex digits.
        stands_for: digests of the original blocks that it sums up.
    """

    message: int
    block: int
    layer: str
    sha256: str
    stands_for: tuple[str, ...] = ()


def call_id_of(block: Block) -> str | None:
    """Give a block's call id as a receipt has it."""
    call_id = block.call_id
    if not isinstance(call_id, str):
        return None
    if len(call_id) > _LONGEST_CALL_ID or not (call_id.isascii() or _is_encodable(call_id)):
        return f"sha256:{digest_of(call_id)}"
    return call_id


def said_role(message: object) -> str | None:
    """Give a message's role as a receipt has it: one that no provider knows stands as its digest.

    A role is what a message says, and a receipt holds no text of one.
    """
    role = message.get("role") if type(message) is dict else field(message, "role")
    if role is None:
        return None
    if type(role) is not str:
        role = to_json_value(role)
    return role if isinstance(role, str) and role in ROLES else f"sha256:{digest_of(role)}"


class ChangeLog:
    """Collects the changes of one compaction."""

    def __init__(self, counter: TokenCounter) -> None:
        """Begin with none."""
        self.notes = 0
        self._counter = counter
        self._removed: dict[int, ChangedBlock] = {}
        self._changed: dict[int, object] = {}
        self._inserted: dict[int, tuple[Entry, str, tuple[str, ...]]] = {}

    @property
    def removed(self) -> tuple[ChangedBlock, ...]:
        """Every block that was removed or changed, in the order of the original."""
        for place, value in self._changed.items():
            # Only now: most of what was shortened is dropped by a later layer.
            self._removed[place] = self._removed[place]._replace(changed_to=digest_of(value))
        return tuple([self._removed[place] for place in sorted(self._removed)])

    def note(
        self,
        entry: Entry,
        block: Block,
        *,
        layer: str,
        changed: object = None,
        pointer: str | None = None,
    ) -> ChangedBlock | None:
        """Note that a block is gone, or stands in the result in another form.

        To be called before the entry changes. `changed` is the block's new value; None: it is gone.
        Gives None where it is of no original message.
        """
        if entry.origin is None:
            return None
        self.notes += 1
        at = entry.places[block.index]
        place = entry.origin * _MOST_BLOCKS + at
        known = self._removed.get(place)
        if known is None:
            # What is known already is read without a call, in half the time.
            digests, costs = entry.digests, entry.known_costs or entry.costs(self._counter)
            noted = _new(
                ChangedBlock,
                (
                    entry.origin,
                    at,
                    block.kind._value_,
                    None if block.call_id is None else call_id_of(block),
                    layer,
                    digest_of(block.value)
                    if digests is None
                    else digests[at * DIGEST_LENGTH : (at + 1) * DIGEST_LENGTH],
                    costs[at],
                    pointer,
                    None,
                    said_role(entry.message),
                ),
            )
        else:
            # `_replace` takes five times as long.
            noted = _new(
                ChangedBlock,
                (
                    *known[:4],
                    layer,
                    known.sha256,
                    known.tokens,
                    pointer or known.pointer,
                    None,
                    known.role,
                ),
            )
        self._removed[place] = noted
        if changed is not None:
            self._changed[place] = changed
        elif known is not None:
            self._changed.pop(place, None)
        return noted

    def note_inserted(self, entry: Entry, *, layer: str, stands_for: Sequence[str] = ()) -> None:
        """Note that a message was put in, and what it stands for."""
        self._inserted[id(entry)] = (entry, layer, tuple(stands_for))

    def inserted(self, entries: Sequence[Entry]) -> tuple[InsertedBlock, ...]:
        """Give every block of the result that is not of the original."""
        found: list[InsertedBlock] = []
        if not self._inserted:
            return ()
        for index, entry in enumerate(entries):
            if entry.origin is not None:
                continue
            _, layer, stands_for = self._inserted[id(entry)]
            for block in entry.blocks:
                digest = digest_of(block.value)
                found.append(InsertedBlock(index, block.index, layer, digest, stands_for))
                stands_for = ()
        return tuple(found)


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
