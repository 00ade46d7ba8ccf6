"""Which events of a DeepSeek Harness log were seen so far, and what a list of sequences points at.

Guarantees: pure; what is said of a list of sequences is bounded, however long it is.

Example:
    >>> seen = Sequences()
    >>> seen.take(None, 5)
    (0, None)
    >>> members([0, 1, 2, 9], seen.now())
    (('0 to 2', True), ('9', False))
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple

from provenance.transcripts.adapters._dsh_values import is_number
from provenance.transcripts.ranges import ranges_of

__all__ = ["Seen", "Sequences", "members"]

# So many runs of sequences are named one by one; a real list is one run, or a few.
_MOST_RUNS = 64
# A log with more gaps than this says nothing of what lies in them.
_MOST_GAPS = 1_000


class Seen(NamedTuple):
    """What was there before a row: all sequences below `end`, but for the gaps."""

    end: int
    gaps: tuple[tuple[int, int], ...] = ()

    def holds(self, sequence: int) -> bool:
        """Say whether an event of this sequence stands before the row."""
        return 0 <= sequence < self.end and not self.gaps_in(sequence, sequence)

    def gaps_in(self, first: int, last: int) -> list[tuple[int, int]]:
        """Give the gaps that share a sequence with a run."""
        found: list[tuple[int, int]] = []
        for index in range(bisect_left(self.gaps, first, key=itemgetter(1)), len(self.gaps)):
            if self.gaps[index][0] > last:
                break
            found.append(self.gaps[index])
        return found


class Sequences:
    """Counts events from 0; a row that says its own sequence is believed."""

    def __init__(self) -> None:
        """Begin with no event."""
        self._end = 0
        self._gaps: tuple[tuple[int, int], ...] = ()
        self.is_known = True

    def now(self) -> Seen:
        """Give what was seen so far."""
        return Seen(self._end, self._gaps)

    def lose_count(self) -> None:
        """Take a row that nobody can read: it stood for one event or more."""
        self.is_known = False

    def take(self, said: int | None, count: int) -> tuple[int | None, tuple[int, int] | None]:
        """Take a row of `count` events.

        Args:
            said: the first sequence, where the row says it.
            count: how many events it stands for.

        Returns:
            The first sequence, None where it is not known; the first and last one that are
            missing before it, None where none is.
        """
        if said is None:
            if not self.is_known:
                return None, None
            said = self._end
        self.is_known = True
        gap = (self._end, said - 1) if said > self._end else None
        if gap is not None and len(self._gaps) < _MOST_GAPS:
            self._gaps = (*self._gaps, gap)
        self._end = max(self._end, said + count)
        return said, gap


def members(sequences: list[Any], seen: Seen) -> tuple[tuple[str, bool], ...]:
    """Say of each run of sequences whether its events were seen; what is no number is left out."""
    numbers = [number for number in sequences if is_number(number)]
    runs: list[tuple[int, int, bool]] = []
    for first, last in ranges_of(numbers):
        runs += _cut(first, last, seen)
    named = [(_say(first, last), is_there) for first, last, is_there in runs[:_MOST_RUNS]]
    for is_there in (True, False):
        rest = [run for run in runs[_MOST_RUNS:] if run[2] is is_there]
        if rest:
            low, high = min(run[0] for run in rest), max(run[1] for run in rest)
            amount = sum(run[1] - run[0] + 1 for run in rest)
            named.append((f"{amount} of {_say(low, high)}", is_there))
    return tuple(named)


def _cut(first: int, last: int, seen: Seen) -> list[tuple[int, int, bool]]:
    """Cut a run where what was seen begins or ends."""
    places = {first, last + 1, 0, seen.end}
    for low, high in seen.gaps_in(first, last):
        places |= {low, high + 1}
    edges = sorted(place for place in places if first <= place <= last + 1)
    return [(low, high - 1, seen.holds(low)) for low, high in pairwise(edges)]


def _say(first: int, last: int) -> str:
    return str(first) if first == last else f"{first} to {last}"
