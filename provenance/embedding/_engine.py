"""From a framework's messages to one of our shapes, through a compaction, and back.

Guarantees: what a compaction left as it was comes back as the very object that went in. What it
changed is a copy made by the framework's own means, with the same ids and metadata; only what a
layer put in is new. The way back is read from the receipt, so it is as complete as the receipt is.
Errors of the compaction pass through.

Example:
    >>> from provenance.embedding.openai_agents import ITEMS
    >>> items = [{"role": "user", "content": "hello"}]
    >>> Compactor(ITEMS, {})(items)[0] is items[0]
    True
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from provenance.compaction import CompactionResult, compact_context, compact_context_async
from provenance.embedding._memory import Memory, Recalled
from provenance.embedding._options import CompactionOptions, for_compaction
from provenance.messages.shapes import blocks_of, field

__all__ = ["Change", "Compactor", "Foreign", "Framework", "Place", "Row"]

Foreign: TypeAlias = Any
"""A message of a framework that may not be installed where types are checked."""
Place: TypeAlias = tuple[str, int]
"""A field of a framework's message that is a list, and an index in it."""


class Row(NamedTuple):
    """One message of the framework, as the compaction sees it.

    Attributes:
        message: in one of our shapes; None: it is not shown to the compaction, and stays.
        places: for each block where it stands in the framework's message; it may stand in several.
    """

    message: Mapping[str, Any] | None
    places: tuple[tuple[Place, ...], ...] = ()


class Change(NamedTuple):
    """What became of a message of which something is left.

    Attributes:
        gone: the places of the blocks that were taken out.
        contents: the places of the tool results that were shortened, with their content now.
        message: the row's message as it is now.
    """

    gone: frozenset[Place]
    contents: Mapping[Place, object]
    message: Mapping[str, Any]


class Framework(Protocol):
    """The messages of one framework."""

    def rows(self, history: Sequence[Foreign]) -> list[Row]:
        """Give a row for each message."""
        ...

    def changed(self, item: Foreign, change: Change) -> Foreign:
        """Copy a message with a change made to it."""
        ...

    def emptied(self, item: Foreign, row: Row) -> Foreign | None:
        """Give what stays of a message whose blocks are all gone; None: nothing."""
        ...

    def inserted(self, role: str, text: str) -> Foreign:
        """Make a message of plain text; the role is `user` or `assistant`."""
        ...


class Compactor:
    """Compacts histories of one framework; may be shared between threads and conversations."""

    def __init__(
        self, framework: Framework, options: CompactionOptions, *, memory: Memory | None = None
    ) -> None:
        """Take the framework and the options.

        Args:
            framework: whose messages they are.
            options: of the compaction.
            memory: knows what earlier histories became; None: each is the first.
        """
        self._framework = framework
        self._options = for_compaction(options)
        self._on_result = options.get("on_result")
        self._memory = memory

    def __call__(self, history: Sequence[Foreign]) -> list[Foreign]:
        """Compact a history, if it has to be."""
        known, rows = self._begun(history)
        result = compact_context(
            _shown(rows), None, previous_summary=known.summary, **self._options
        )
        return self._ended(history, known, rows, result)

    async def run(self, history: Sequence[Foreign]) -> list[Foreign]:
        """The same in an event loop, which goes on while the summarizer works."""
        known, rows = self._begun(history)
        result = await compact_context_async(
            _shown(rows), None, previous_summary=known.summary, **self._options
        )
        return self._ended(history, known, rows, result)

    def _begun(self, history: Sequence[Foreign]) -> tuple[Recalled, list[Row]]:
        known = Recalled(list(history)) if self._memory is None else self._memory.recall(history)
        return known, self._framework.rows(known.view)

    def _ended(
        self,
        history: Sequence[Foreign],
        known: Recalled,
        rows: list[Row],
        result: CompactionResult[None],
    ) -> list[Foreign]:
        view = _back(self._framework, known.view, rows, result)
        if self._on_result is not None:
            self._on_result(_shown(rows), result)
        if self._memory is not None and result.applied_layers:
            self._memory.keep(history, view, result.summary or known.summary)
        return view


def _shown(rows: Sequence[Row]) -> list[Mapping[str, Any]]:
    return [row.message for row in rows if row.message is not None]


def _back(
    framework: Framework,
    history: Sequence[Foreign],
    rows: Sequence[Row],
    result: CompactionResult[None],
) -> list[Foreign]:
    """Say for each message what became of it, in order."""
    gone: dict[int, set[int]] = {}
    touched: dict[int, set[int]] = {}
    for one in result.receipt.removed:
        touched.setdefault(one.message, set()).add(one.block)
        if one.changed_to is None:
            gone.setdefault(one.message, set()).add(one.block)
    put_in = {one.message for one in result.receipt.inserted}
    made: list[Foreign] = []
    seen = place = 0  # how many messages of the original, of the result, are done
    for item, row in zip(history, rows, strict=True):
        if row.message is None:
            made.append(item)
            continue
        index, seen = seen, seen + 1
        count = len(blocks_of(row.message))
        lost = gone.get(index, set())
        if len(lost) == count:
            left = framework.emptied(item, row)
            if left is not None:
                made.append(left)
            continue
        while place in put_in:
            made.append(_put_in(framework, result.messages[place]))
            place += 1
        now, place = result.messages[place], place + 1
        if index not in touched:
            made.append(item)
            continue
        kept = [number for number in range(count) if number not in lost]
        made.append(framework.changed(item, _change(row, now, kept, lost, touched[index])))
    made += [_put_in(framework, message) for message in result.messages[place:]]
    return made


def _change(
    row: Row,
    now: Mapping[str, Any],
    kept: Sequence[int],
    lost: Collection[int],
    touched: Collection[int],
) -> Change:
    contents = {
        spot: field(block.value, "content")
        for number, block in zip(kept, blocks_of(now), strict=True)
        if number in touched
        for spot in row.places[number]
    }
    return Change(frozenset(spot for number in lost for spot in row.places[number]), contents, now)


def _put_in(framework: Framework, message: Mapping[str, Any]) -> Foreign:
    return framework.inserted(message["role"], message["content"])
