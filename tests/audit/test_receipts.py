"""Receipts as targets of an audit, and in a home's receipts/."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from provenance.artifacts import ArtifactStore
from provenance.audit import AuditRequest, run_audit
from provenance.audit.receipts import is_receipt, parse_receipt_file, receipt_citations
from provenance.audit.request import TargetError
from provenance.audit_report import AuditReport
from provenance.compaction import RECEIPT_SCHEMA, Receipt, ReceiptError
from provenance.compaction.changes import ChangedBlock
from provenance.findings import Severity
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.resolution import SourceResolutionStatus

MOMENT = datetime(2026, 1, 5, 12, tzinfo=UTC)


def _receipt(*pointers: str | None) -> Receipt:
    removed = tuple(
        ChangedBlock(12, number, "tool_result", f"c{number}", "layer", "0" * 64, 5, pointer)
        for number, pointer in enumerate(pointers)
    )
    return Receipt(20, 20, 100, 90, ("tool_result_truncation",), removed, ())


def _write(home: Path, receipt: Receipt, name: str = "one.json") -> Path:
    (home / "receipts").mkdir(parents=True, exist_ok=True)
    path = home / "receipts" / name
    path.write_text(receipt.to_json())
    return path


def _audit(target: Path, **more: Any) -> AuditReport:
    request = AuditRequest(targets=(str(target),), **more)
    return run_audit(request, clock=lambda: MOMENT, stopwatch=lambda: 0.0)


class TestReading:
    def test_told_by_its_schema(self) -> None:
        assert is_receipt(_receipt().to_json().encode())
        assert is_receipt(json.dumps({"schema": RECEIPT_SCHEMA}).encode())
        assert not is_receipt(b'{"schema":"ctxaudit.state/1"}')
        assert not is_receipt(b'{"note":"ctxaudit.receipt/1"}')
        assert not is_receipt(b'"ctxaudit.receipt/1"')
        # A damaged one, and one of another version, is refused as a receipt.
        assert is_receipt(b'{"schema":"ctxaudit.receipt/1"')
        assert is_receipt(b'\xef\xbb\xbf{ "schema" : "ctxaudit.receipt/2"}')
        assert not is_receipt(b'\xff{"schema":"ctxaudit.receipt/1"}')
        assert not is_receipt(b"[" * 200_000 + b'"ctxaudit.receipt/1"')

    def test_what_was_written_is_read(self) -> None:
        receipt = _receipt("artifact:s:a.txt:0123456789ab", None)
        assert parse_receipt_file(receipt.to_json().encode(), limits=DEFAULT_LIMITS) == receipt

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"\xff",
            b"[]",
            b"{",
            b"[" * 100_000,
            b'{"schema":"ctxaudit.receipt/1"}',
            b'{"schema":"ctxaudit.receipt/1","schema":"ctxaudit.receipt/1"}',
            b'{"schema":"ctxaudit.receipt/1","tokens_after":NaN}',
        ],
    )
    def test_what_is_no_receipt_is_one_error_in_one_line(self, data: bytes) -> None:
        with pytest.raises(ReceiptError) as refused:
            parse_receipt_file(data, limits=DEFAULT_LIMITS)
        assert "\n" not in str(refused.value)

    def test_each_pointer_with_the_block_that_it_is_of(self) -> None:
        receipt = _receipt("artifact:s:a.txt:0123456789ab", None, "elsewhere:1")
        cited = [
            (pointer, one.file, one.item, one.session, one.text)
            for pointer, one in receipt_citations(receipt, "receipts/a.json")
        ]
        assert cited == [
            (
                "artifact:s:a.txt:0123456789ab",
                "receipts/a.json",
                "message 12 block 0",
                None,
                None,
            ),
            ("elsewhere:1", "receipts/a.json", "message 12 block 2", None, None),
        ]


class TestHomes:
    def test_a_home_of_receipts_alone_is_one(self, tmp_path: Path) -> None:
        with ArtifactStore(tmp_path) as store:
            pointer = store.spill("s1", "text").pointer
        _write(tmp_path, _receipt(pointer))
        report = _audit(tmp_path)
        assert report.summary.available == 1
        assert report.uncited == 0
        assert report.findings == ()

    def test_states_and_receipts_may_cite_the_same(self, tmp_path: Path) -> None:
        with ArtifactStore(tmp_path) as store:
            pointer = store.spill("s1", "text").pointer
        for name in ("a.json", "b.json"):
            _write(tmp_path, _receipt(pointer), name)
        (source,) = _audit(tmp_path).sources
        assert [one.file for one in source.cited_by] == ["receipts/a.json", "receipts/b.json"]

    def test_each_pointer_has_its_own_answer(self, tmp_path: Path) -> None:
        _write(tmp_path, _receipt("artifact:s:a.txt:0123456789ab", "s3:x", "no pointer"))
        found = {one.resolution.pointer: one.resolution.status for one in _audit(tmp_path).sources}
        assert found == {
            "artifact:s:a.txt:0123456789ab": SourceResolutionStatus.MISSING,
            "s3:x": SourceResolutionStatus.UNSUPPORTED,
            "no pointer": SourceResolutionStatus.CORRUPT,
        }

    def test_one_that_cannot_be_read_is_a_finding_and_the_rest_is_read(
        self, tmp_path: Path
    ) -> None:
        with ArtifactStore(tmp_path) as store:
            pointer = store.spill("s1", "text").pointer
        _write(tmp_path, _receipt(pointer))
        (tmp_path / "receipts" / "bad.json").write_text('{"schema":"ctxaudit.receipt/1"}')
        (tmp_path / "receipts" / "link.json").symlink_to("one.json")
        (tmp_path / "receipts" / ".hidden.json").write_text("no receipt")
        (tmp_path / "receipts" / "notes.txt").write_text("no receipt")
        report = _audit(tmp_path)
        assert report.summary.available == 1
        assert [(one.code, one.severity, one.target) for one in report.findings] == [
            ("receipt_unreadable", Severity.ERROR, "receipts/bad.json"),
            ("receipt_unreadable", Severity.ERROR, "receipts/link.json"),
        ]

    def test_a_folder_that_cannot_be_listed_is_a_finding(self, tmp_path: Path) -> None:
        (tmp_path / "states").mkdir()
        (tmp_path / "receipts").symlink_to("states")
        assert [one.code for one in _audit(tmp_path).findings] == ["receipt_unreadable"]

    def test_the_size_is_bounded(self, tmp_path: Path) -> None:
        _write(tmp_path, _receipt())
        report = _audit(tmp_path, limits=Limits(max_receipt_bytes=10))
        assert [one.code for one in report.findings] == ["receipt_unreadable"]


class TestTargets:
    def test_a_broken_one_that_was_named_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "r.json"
        path.write_text(json.dumps({"schema": "ctxaudit.receipt/1"}))
        with pytest.raises(TargetError, match=r"^r\.json: expected a receipt, got: "):
            _audit(path)

    def test_in_a_home_s_receipts_it_belongs_to_that_home(self, tmp_path: Path) -> None:
        with ArtifactStore(tmp_path) as store:
            pointer = store.spill("s1", "text").pointer
        (source,) = _audit(_write(tmp_path, _receipt(pointer))).sources
        assert source.resolution.status is SourceResolutionStatus.AVAILABLE
        assert source.cited_by[0].item == "message 12 block 0"

    def test_elsewhere_it_needs_roots(self, tmp_path: Path) -> None:
        path = tmp_path / "r.json"
        path.write_text(_receipt("artifact:s:a.txt:0123456789ab").to_json())
        with pytest.raises(TargetError, match="states/ or receipts/ of a home"):
            _audit(path)
        report = _audit(
            path, artifact_root=str(tmp_path), transcript_root=str(tmp_path / "transcripts")
        )
        assert report.summary.missing == 1
