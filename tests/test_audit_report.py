"""The values of a report: counting and order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from provenance.audit_report import AuditedSource, AuditReport, Citation, pointer_order
from provenance.resolution import Reason, resolution_for

_BAD = [reason for reason in Reason if not reason.startswith("verified")]


@given(st.lists(st.sampled_from(_BAD)), st.integers(0, 100))
def test_each_source_is_counted_once(reasons: list[Reason], not_checked: int) -> None:
    report = AuditReport(
        sources=tuple(AuditedSource(resolution_for("x", reason)) for reason in reasons),
        not_checked=not_checked,
    )
    counts = report.summary.to_dict()
    assert counts["total"] == len(reasons) + not_checked
    parts = ("available", "missing", "denied", "corrupt", "unsupported", "inconclusive")
    assert sum(int(str(counts[part])) for part in parts) == len(reasons)
    conclusive = sum(source.resolution.conclusive for source in report.sources)
    assert counts["inconclusive"] == len(reasons) - conclusive


def test_an_inconclusive_source_is_not_corrupt() -> None:
    source = AuditedSource(resolution_for("x", Reason.SOURCE_READ_FAILED))
    summary = AuditReport(sources=(source,)).summary
    assert (summary.inconclusive, summary.corrupt) == (1, 0)


def test_a_result_never_holds_an_excerpt() -> None:
    source = AuditedSource(resolution_for("x", Reason.ARTIFACT_MISSING), (Citation("f", "i"),))
    assert list(source.to_dict()) == [
        "pointer",
        "status",
        "reason",
        "source_type",
        "evidence_sha256",
        "strength",
        "conclusive",
        "quiescence",
        "native_id",
        "cited_by",
        "consequences",
        "consequences_left_out",
    ]
    assert source.to_dict()["cited_by"] == [
        {"file": "f", "item": "i", "session": None, "text": None}
    ]


@given(st.lists(st.text()))
def test_the_order_is_that_of_what_is_written_down(pointers: list[str]) -> None:
    ordered = sorted(pointers, key=pointer_order)
    assert all(pointer_order(pointer)[0].encode() is not None for pointer in pointers)
    assert [pointer_order(pointer)[0] for pointer in ordered] == sorted(
        pointer_order(pointer)[0] for pointer in pointers
    )
