"""Consequences in words, for the reports that people read.

Guarantees: pure. Bounded: what is not listed is counted, and "or more" is said where the number is
a least one. The texts are as they came: each format escapes them.

Example:
    >>> from provenance.consequences import Consequence
    >>> told = tell(Consequence("fact", "states/a.json", "f1", text="It is so."))
    >>> told.what, told.item, told.file, told.claim
    ('fact', 'f1', 'states/a.json', 'It is so.')
"""

from __future__ import annotations

from typing import NamedTuple

from provenance.audit_report import AuditedSource
from provenance.consequences import Consequence

__all__ = ["Told", "claims_of", "further", "how_many", "plain_line", "tell"]

_WORDS = {
    "fact": "fact",
    "pending_item": "pending item",
    "evidence": "evidence",
    "summary": "summary",
    "request": "request",
    "pin": "pin",
    "text": "text",
}


class Told(NamedTuple):
    """One consequence, in parts that a format puts together.

    Attributes:
        what: its kind, in our words.
        item: what in the file; empty: the whole.
        file: the file that says so.
        steps: how far away the source is, in our words; empty where it is cited itself.
        claim: what is claimed; empty where nothing is known of it.
    """

    what: str
    item: str
    file: str
    steps: str
    claim: str


def tell(one: Consequence) -> Told:
    """Put a consequence into words."""
    steps = "" if one.steps == 1 else f"{one.steps} steps away"
    return Told(_WORDS[one.kind], one.item or "", one.file, steps, one.text or "")


def plain_line(one: Consequence, *, claim_characters: int) -> str:
    """Give a consequence as a line of plain text; 0 characters leave out what is claimed."""
    told = tell(one)
    item = f" {told.item}" if told.item else ""
    steps = f" ({told.steps})" if told.steps else ""
    claim = told.claim[:claim_characters]
    more = "..." if claim and len(told.claim) > claim_characters else ""
    return f"{told.what}{item} in {told.file}{steps}" + (f": {claim}{more}" if claim else "")


def how_many(source: AuditedSource) -> str:
    """Say how many consequences a source has."""
    number = len(source.consequences) + source.consequences_left_out
    return f"{number:,} or more" if source.consequences_left_out else f"{number:,}"


def further(source: AuditedSource, listed: int) -> str:
    """Say how many consequences there are beside those that are listed; empty where none are."""
    number = len(source.consequences) - listed + source.consequences_left_out
    if number <= 0:
        return ""
    return f"{number:,} more" + (", at least" if source.consequences_left_out else "")


def claims_of(source: AuditedSource, most: int) -> tuple[Consequence, ...]:
    """Choose the first few, of every distance: some of those that cite, some that are beyond."""
    found = source.consequences
    if len(found) <= most:
        return found
    beyond = source.beyond_cited
    near = most - min(len(beyond), most // 2)
    hidden = frozenset(map(id, beyond))
    direct = [one for one in found if id(one) not in hidden]
    return (*direct[:near], *beyond[: most - min(near, len(direct))])
