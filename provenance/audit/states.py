"""State files: read below a home's root or by the operator's name, and what they cite.

Guarantees: a state file that cannot be read is told apart from one that cites nothing. Retrieval
evidence is cited where its source id is a pointer; other source ids belong to other systems.

Example:
    >>> state = DurableContextState()
    >>> list(citations_of(state, "states/a.json"))
    []
"""

from __future__ import annotations

from collections.abc import Iterator

from provenance.audit_report import Citation
from provenance.durable import DurableContextState
from provenance.errors import CtxauditError, DataError
from provenance.findings import Finding, Severity
from provenance.fs import Directory, read_whole
from provenance.limits import Limits
from provenance.pointers import SourcePointerError, parse_source_pointer

__all__ = ["citations_of", "parse_state", "read_home_state", "state_names", "unreadable_state"]


class _NotText(DataError):
    """A state file is not UTF-8."""

    code = "state_not_utf8"


def parse_state(data: bytes, *, limits: Limits) -> DurableContextState:
    """Read the bytes of a state file.

    Raises:
        CtxauditError: they are no state; the message says which field.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _NotText(f"file: expected UTF-8, got another byte at offset {error.start}") from None
    return DurableContextState.from_json(text, limits=limits)


def read_home_state(
    folder: Directory, name: str, *, target: str, limits: Limits
) -> DurableContextState | Finding:
    """Read one state file of a home, or give the finding that says why it cannot be read."""
    try:
        with folder.open_file(name) as file:
            data = read_whole(file, max_bytes=limits.max_document_bytes)
        return parse_state(data, limits=limits)
    except CtxauditError as error:
        return unreadable_state(target, error)


def state_names(named: str) -> tuple[str, ...]:
    """Give the file names that a state of a home may have by what somebody calls it."""
    if "/" in named or named.startswith(".") or not named:
        return ()
    return (named,) if named.endswith(".json") else (f"{named}.json",)


def unreadable_state(target: str, error: CtxauditError) -> Finding:
    """Build the finding for a state that was named or listed and cannot be read."""
    return Finding("state_unreadable", Severity.ERROR, target, message=str(error))


def citations_of(state: DurableContextState, file: str) -> Iterator[tuple[str, Citation]]:
    """Give each pointer of a state with the place that cites it, facts before pending items."""
    for fact in state.facts:
        yield fact.source_pointer, Citation(file, fact.fact_id, state.session, fact.content, "fact")
    for item in state.pending_items:
        yield (
            item.source_pointer,
            Citation(file, item.item_id, state.session, item.description, "pending_item"),
        )
    for evidence in state.retrieval_evidence:
        if _is_pointer(evidence.source_id):
            yield (
                evidence.source_id,
                Citation(
                    file, evidence.memory_id, state.session, evidence.source_title, "evidence"
                ),
            )


def _is_pointer(text: str) -> bool:
    try:
        parse_source_pointer(text)
    except SourcePointerError:
        return False
    return True
