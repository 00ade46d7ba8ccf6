"""What rests on a source, through as many steps as there are: facts, summaries, requests.

Guarantees: pure. A consequence stands after the one it follows from, so that a tuple of them is a
forest without circles.

Example:
    >>> Consequence("fact", "states/a.json", "f1", None, "It works.").steps
    1
"""

from __future__ import annotations

from dataclasses import dataclass

from provenance.frozen import sealed

__all__ = ["Consequence"]


@sealed
@dataclass(frozen=True, slots=True)
class Consequence:
    """One thing that rests on a source.

    Attributes:
        kind: what it is: a fact, pending item, evidence, summary or request.
        file: where it stands, relative to the target that was named.
        item: its id there.
        session: the session that it belongs to, if that is known.
        text: what is claimed there.
        steps: how far from the source it is; 1: it cites the source itself.
        parent: index, in the same tuple, of what it follows from; None: of the source.
    """

    kind: str
    file: str
    item: str | None = None
    session: str | None = None
    text: str | None = None
    steps: int = 1
    parent: int | None = None
