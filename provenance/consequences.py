"""What rests on a source, through as many steps as there are: its consequences.

Guarantees: pure. Each place is listed once, by the shortest way, however the files that were read
refer to each other: a circle ends where it began. What is listed of one source, and how much is
followed in one run, is bounded; what is known and not listed is counted. One order for one input.

Example:
    >>> graph = ConsequenceGraph()
    >>> graph.place("receipts/a.json", "message 3 block 0", "aa")
    >>> graph.add("summary", "receipts/a.json", "message 0 block 0", key="bb", rests_on=["aa"])
    >>> graph.add("summary", "receipts/b.json", "message 0 block 0", key="cc", rests_on=["bb"])
    >>> found = graph.follow([Consequence("text", "receipts/a.json", "message 3 block 0")])
    >>> [(one.kind, one.file, one.steps, one.parent) for one in found.listed]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('text', 'receipts/a.json', 1, None), ('summary', 'receipts/a.json', 2, 0),
     ('summary', 'receipts/b.json', 3, 1)]
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from provenance.frozen import sealed

__all__ = ["Consequence", "ConsequenceGraph", "Followed", "Kind"]

Kind = Literal["fact", "pending_item", "evidence", "summary", "request", "pin", "text"]

# Of one source: what a person can still go through. A report of many sources stays readable.
_MOST_LISTED = 1_000
# In one run: a second of work and some ten megabytes of report, whatever a home's receipts claim.
# Ten thousand lost sources whose texts went into twenty summaries each are below it.
_MOST_FOLLOWED = 200_000


@sealed
@dataclass(frozen=True, slots=True)
class Consequence:
    """One thing that rests on a source.

    Attributes:
        kind: `fact`, `pending_item` or `evidence` of a state; `summary`: a block of messages that
            stands for others; `request`: one that was sent to a model; `pin`: a pin of a lock file;
            `text`: a place in a text or in a compacted history.
        file: the file that says so, relative to the target that was named.
        item: what in it; None: the whole.
        session: the session that it belongs to, if the file says so.
        text: what is claimed there; None where the file holds no text.
        steps: how far away the source is; 1: cites the source itself.
        parent: place, in the same tuple, of what it rests on; None: on the source itself.
    """

    kind: Kind
    file: str
    item: str | None = None
    session: str | None = None
    text: str | None = None
    steps: int = 1
    parent: int | None = None

    def to_dict(self) -> dict[str, object]:
        """Give the consequence as the JSON object of the report."""
        return {
            "kind": self.kind,
            "file": self.file,
            "item": self.item,
            "session": self.session,
            "text": self.text,
            "steps": self.steps,
            "parent": self.parent,
        }


class Followed(NamedTuple):
    """What rests on one source: the nearest first, and how many more are known, at least."""

    listed: tuple[Consequence, ...]
    left_out: int


class _Node(NamedTuple):
    kind: Kind
    file: str
    item: str | None
    session: str | None
    text: str | None
    key: str | None


class ConsequenceGraph:
    """Who rests on what, by keys: the digest of a block, for one.

    A new kind of thing that rests on others, such as the snapshot of a request, comes in through
    `add`, with the keys of all that it holds.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._keys: dict[tuple[str, str | None], list[str]] = {}
        self._nodes: list[_Node] = []
        self._resting: dict[str, list[int]] = {}
        self._aliases: dict[str, list[str]] = {}
        self._budget = _MOST_FOLLOWED

    def place(self, file: str, item: str | None, key: str) -> None:
        """Note that what stands at a place that cites a source is what `key` stands for."""
        keys = self._keys.setdefault((file, item), [])
        if key not in keys[-1:]:
            keys.append(key)

    def rename(self, key: str, new: str) -> None:
        """Note that something goes on under another key, cut for one; that is no step."""
        self._aliases.setdefault(key, []).append(new)

    def add(
        self,
        kind: Kind,
        file: str,
        item: str | None = None,
        *,
        key: str | None = None,
        rests_on: Iterable[str],
        session: str | None = None,
        text: str | None = None,
    ) -> None:
        """Note one thing that rests on others.

        Args:
            kind: what it is.
            file: the file that says so.
            item: what in it.
            key: what others that rest on it name; None: nothing can.
            rests_on: keys of what it rests on.
            session: the session that it belongs to.
            text: what is claimed there.
        """
        number = len(self._nodes)
        self._nodes.append(_Node(kind, file, item, session, text, key))
        for one in rests_on:
            self._resting.setdefault(one, []).append(number)

    def follow(self, direct: Sequence[Consequence], *, key: str | None = None) -> Followed:
        """Give all that rests on a source, through every step.

        Args:
            direct: what cites the source itself.
            key: what the source itself is known as, where something rests on that.
        """
        listed = list(direct[:_MOST_LISTED])
        left_out = len(direct) - len(listed)
        # 1. Begin with what the places that cite the source are known as.
        waiting: deque[tuple[str, int, int | None]] = deque()
        keys_met: set[str] = set()
        nodes_met: set[int] = set()
        places: dict[tuple[str, str, str | None], tuple[int | None, int]] = {
            (one.kind, one.file, one.item): (number, one.steps) for number, one in enumerate(listed)
        }
        if key is not None:
            waiting.append((key, 0, None))
        for number, one in enumerate(listed):
            for known_as in self._keys.get((one.file, one.item), ()):
                waiting.append((known_as, one.steps, number))
        # 2. Go on to what rests on that, the nearest first.
        while waiting:
            if self._budget <= 0:
                left_out += 1
                break
            current, steps, parent = waiting.popleft()
            if current in keys_met:
                continue
            keys_met.add(current)
            # What was only renamed is as near as it was: it comes before what is farther away.
            aliases = reversed(self._aliases.get(current, ()))
            waiting.extendleft((new, steps, parent) for new in aliases)
            for number in self._resting.get(current, ()):
                self._budget -= 1
                if number in nodes_met:
                    continue
                nodes_met.add(number)
                node = self._nodes[number]
                at = (node.kind, node.file, node.item)
                if at in places:
                    # Two things of one place are told as one, and both are followed.
                    place, near = places[at]
                elif len(listed) < _MOST_LISTED:
                    place, near = len(listed), steps + 1
                    listed.append(
                        Consequence(
                            node.kind,
                            node.file,
                            node.item,
                            node.session,
                            node.text,
                            steps=steps + 1,
                            parent=parent,
                        )
                    )
                else:
                    place, near = None, steps + 1
                    left_out += 1
                places[at] = place, near
                if node.key is not None:
                    waiting.append((node.key, near, place))
            self._budget -= 1
        return Followed(tuple(listed), left_out)
