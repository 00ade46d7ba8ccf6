"""The trace of decisions: one for each cited pointer that a report has a result of, in its order.

Guarantees: made of the pointers that something cites, of who asks and of the policies alone. What
was checked because it lies there, or because a seal covers it, has no line: a line would tell that
it exists. Where the run was interrupted, what it did not come to has none either.

Example:
    >>> tell_decisions([], Listener(), tenant=None)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from provenance.audit.listener import Listener
from provenance.audit.part import AuditPart
from provenance.audit_report import AuditedSource, pointer_order
from provenance.pointers import SourcePointerError, parse_source_pointer
from provenance.policy import PolicyOrigin, Verdict
from provenance.resolution import Reason, SourceResolution

__all__ = ["Decided", "decided", "operators_reason", "source_order", "tell_decisions"]


class Decided(NamedTuple):
    """A source that was verified, and the part whose policies decided on it."""

    source: AuditedSource
    part: AuditPart


def decided(sources: Iterable[AuditedSource], part: AuditPart) -> Iterator[Decided]:
    """Give those of some sources of a part that were not only found where they lie."""
    for source in sources:
        if source.resolution.pointer not in part.found:
            yield Decided(source, part)


def tell_decisions(found: Iterable[Decided], listener: Listener, *, tenant: str | None) -> None:
    """Tell the decision on each that has one: what is no pointer is decided by the grammar."""
    for source, part in sorted(found, key=lambda one: source_order(one.source)):
        try:
            pointer = parse_source_pointer(source.resolution.pointer)
        except SourcePointerError:
            continue
        listener.on_decision(part.decide(pointer, tenant))


def operators_reason(resolution: SourceResolution, part: AuditPart, *, tenant: str | None) -> str:
    """Give why the operator's own policy denies a source, in its own words; empty where none does.

    A rule that a target wrote gives no reason here: its words would stand beside the operator's.
    """
    if resolution.reason is not Reason.POLICY_DENIED:
        return ""
    try:
        decision = part.decide(parse_source_pointer(resolution.pointer), tenant)
    except SourcePointerError:
        return ""
    is_operators = decision.policy is PolicyOrigin.OPERATOR and decision.verdict is Verdict.DENY
    return decision.why if is_operators else ""


def source_order(source: AuditedSource) -> tuple[tuple[str, str], str]:
    """Give the key that the sources of a report are sorted by."""
    file = source.cited_by[0].file if source.cited_by else ""
    return pointer_order(source.resolution.pointer), file
