"""Keeping what leaves the view: the text goes to the caller's store first, and then out.

Guarantees: nothing is cut or dropped whose text was to be kept and could not be. Whatever a store
does, a compaction goes on; what failed is counted, by the kind of failure and without text. What
is a spilled text already (its two ends around a pointer, put there by this process) is not spilled
a second time.

Example:
    >>> Spiller(None, wanted=True).keep("text", tool=None, call_id=None) is None
    True
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Protocol

from provenance.compaction.canonical_form import canonical_block
from provenance.compaction.notices import spilled_ends
from provenance.compaction.view import Entry
from provenance.messages.shapes import Block, BlockKind, result_text

__all__ = ["SpillFunction", "Spilled", "Spiller", "kept_text"]

_LONGEST_POINTER = 2_000
_USUAL_POINTER = 80


class Spilled(Protocol):
    """What a store gives back: `SpilledArtifact` has this shape."""

    @property
    def pointer(self) -> str:
        """The source pointer of what was stored."""
        ...


class SpillFunction(Protocol):
    """Stores one text; `functools.partial(store.spill, session_id)` of an `ArtifactStore`."""

    def __call__(self, text: str, /, *, tool: str | None, call_id: str | None) -> Spilled:
        """Store a text and give its pointer."""
        ...


def kept_text(block: Block) -> str:
    """Give what is stored of a call or a result: its text, or its JSON where it is no text."""
    text = result_text(block)
    return canonical_block(block.value).decode() if text is None else text


class Spiller:
    """The caller's store, asked at most once for each block."""

    def __init__(self, spill: SpillFunction | None, *, wanted: bool) -> None:
        """Take the store, and whether what is dropped is to be kept in it too."""
        self.has_store = spill is not None
        self.keeps_dropped = spill is not None and wanted
        self._spill = spill
        self._pointers: dict[tuple[int, int], str] = {}
        # What is to be stored of a result that was shortened, where its text is not all of it.
        self._wholes: dict[tuple[int, int], str] = {}
        self._likely = "p" * _USUAL_POINTER
        self.failures: Counter[str] = Counter()

    @property
    def likely_pointer(self) -> str:
        """As long as the next pointer will probably be: to see first what storing would give."""
        return self._likely

    def keep(self, text: str, *, tool: str | None, call_id: str | None) -> str | None:
        """Store a text; gives its pointer, None where there is no store or it failed."""
        if self._spill is None:
            return None
        try:
            pointer = self._spill(text, tool=tool, call_id=call_id).pointer
        except Exception as error:  # noqa: BLE001 - a store's failure must not lose the history
            self.failures[type(error).__name__] += 1
            return None
        if not _is_pointer(pointer):
            self.failures["NoPointer"] += 1
            return None
        self._likely = "p" * len(pointer)
        return pointer

    def keep_all(self, blocks: Iterable[tuple[Entry, Block]], names: Mapping[object, str]) -> bool:
        """Store the interactions that are to go; False where one could not be stored.

        Without a store, or where nobody asked for it, nothing is stored and all may go. The first
        failure ends it: nothing goes then, so no more is stored.
        """
        if not self.keeps_dropped:
            return True
        return all(
            self._keep_block(entry, block, names)
            for entry, block in blocks
            if block.kind is BlockKind.TOOL_CALL or block.kind is BlockKind.TOOL_RESULT
        )

    def _keep_block(self, entry: Entry, block: Block, names: Mapping[object, str]) -> bool:
        if entry.origin is None or self._is_kept(entry, block):
            return True
        place = (entry.origin, entry.places[block.index])
        text = self._wholes.get(place) or kept_text(block)
        if not text:
            return True
        call_id = block.call_id if isinstance(block.call_id, str) else None
        tool = block.name or names.get(call_id)
        pointer = self.keep(text, tool=tool, call_id=call_id)
        if pointer is None:
            return False
        self._wholes.pop(place, None)
        self.remember(entry, block, pointer)
        return True

    def remember_shortened(self, entry: Entry, block: Block, pointer: str | None) -> None:
        """Note a result that is to be shortened, and where its text went; None: nowhere.

        What of it is stored nowhere then (all of it, or the blocks beside its text) is stored
        where the result is dropped later.
        """
        if entry.origin is None:
            return
        if self.keeps_dropped and (pointer is None or result_text(block) is None):
            self._wholes[entry.origin, entry.places[block.index]] = kept_text(block)
        if pointer is not None:
            self.remember(entry, block, pointer)

    def remember(self, entry: Entry, block: Block, pointer: str) -> None:
        """Note where the text of a block went."""
        if entry.origin is not None:
            self._pointers[entry.origin, entry.places[block.index]] = pointer

    def pointer_of(self, entry: Entry, block: Block) -> str | None:
        """Give where the text of a block went, in this compaction or in an earlier one."""
        if entry.origin is None or not self.has_store:
            return None
        known = self._pointers.get((entry.origin, entry.places[block.index]))
        if known is None and block.kind is BlockKind.TOOL_RESULT:
            ends = spilled_ends(result_text(block) or "")
            known = None if ends is None else ends.pointer
        return known

    def _is_kept(self, entry: Entry, block: Block) -> bool:
        """Whether all of a block is stored."""
        return (entry.origin, entry.places[block.index]) not in self._wholes and self.pointer_of(
            entry, block
        ) is not None


def _is_pointer(value: object) -> bool:
    """Whether what a store gave can stand in a notice and in a receipt, whatever its type says."""
    return (
        isinstance(value, str)
        and 0 < len(value) <= _LONGEST_POINTER
        and value.isprintable()
        and " " not in value
    )
