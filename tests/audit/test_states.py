"""What states cite."""

from __future__ import annotations

import pytest

from provenance.audit.states import citations_of, parse_state
from provenance.durable import DurableContextState, DurableFact, PendingItem, RetrievalEvidence
from provenance.errors import CtxauditError
from provenance.limits import DEFAULT_LIMITS, Limits

_TIME = "2026-01-01T00:00:00Z"


def test_facts_then_pending_items_then_evidence_that_is_a_pointer() -> None:
    def evidence(number: int, source: str) -> RetrievalEvidence:
        return RetrievalEvidence(f"m{number}", source, "kind", "Title", _TIME, 0.5, number)

    state = DurableContextState(
        [DurableFact("f1", "A fact.", "no pointer at all", _TIME)],
        [PendingItem("p1", "A task.", "transcript:s:2", _TIME)],
        [evidence(1, "transcript:s:3"), evidence(2, "wiki/x"), evidence(3, "transcript:s:0")],
        session="s",
    )
    cited = [
        (pointer, one.file, one.item, one.session, one.text)
        for pointer, one in citations_of(state, "states/a.json")
    ]
    assert cited == [
        ("no pointer at all", "states/a.json", "f1", "s", "A fact."),
        ("transcript:s:2", "states/a.json", "p1", "s", "A task."),
        ("transcript:s:3", "states/a.json", "m1", "s", "Title"),
    ]


def test_what_was_written_is_read() -> None:
    state = DurableContextState([DurableFact("f1", "é", "transcript:s:1", _TIME)], session="s")
    assert parse_state(state.to_json().encode(), limits=DEFAULT_LIMITS) == state


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"[]",
        b"{",
        b"[" * 100_000,
        b'{"schema":"ctxaudit.state/1","facts":' + b"9" * 5_000 + b"}",
        b'{"schema":"ctxaudit.state/1","unknown":1}',
        b'\xef\xbb\xbf{"schema":"ctxaudit.state/1"}',
        b'{"schema":"ctxaudit.state/1","turn":NaN}',
    ],
)
def test_what_is_no_state_is_one_error_in_one_line(data: bytes) -> None:
    with pytest.raises(CtxauditError) as refused:
        parse_state(data, limits=DEFAULT_LIMITS)
    assert "\n" not in str(refused.value)


def test_the_size_is_bounded() -> None:
    with pytest.raises(CtxauditError):
        parse_state(b'{"schema":"ctxaudit.state/1"}', limits=Limits(max_document_bytes=5))
