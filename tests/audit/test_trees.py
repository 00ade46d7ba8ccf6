"""Trees of transcripts: what several files say together, in one process or two."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from provenance.audit import AuditRequest, Listener, run_audit
from provenance.audit_report import AuditReport
from provenance.policy import parse_policy
from provenance.transcripts import TranscriptWriter
from tests.transcripts.agents import SESSION, agents_database, claude, claude_record, line, uuid


def _audit(*targets: Path, **more: Any) -> AuditReport:
    return run_audit(
        AuditRequest(targets=tuple(map(str, targets)), **more),
        clock=lambda: datetime(2026, 11, 29, tzinfo=UTC),
        stopwatch=lambda: 0.0,
    )


def _codes(report: AuditReport) -> dict[str, int]:
    return dict(report.finding_counts)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "a" / "b").mkdir(parents=True)
    (root / "one.jsonl").write_bytes(claude(3, session="s1"))
    (root / "a" / "two.jsonl").write_bytes(claude(2, session="s2").replace(b"0000-4", b"1111-4"))
    (root / "a" / "b" / "notes.md").write_text("no transcript")
    agents_database(root / "a" / "b" / "chat.db", [("c1", '{"role":"user","content":"x"}')])
    return root


def test_every_format_of_a_tree_is_found(tree: Path) -> None:
    report = _audit(tree)
    assert [(one.target, one.format, one.records) for one in report.transcripts] == [
        ("a/b/chat.db", "openai-agents", 1),
        ("a/two.jsonl", "claude-code", 2),
        ("one.jsonl", "claude-code", 3),
    ]
    assert _codes(report) == {}


def test_two_processes_say_the_same(tree: Path) -> None:
    for number in range(30):
        data = claude(4, session=f"t{number // 2}").replace(b"text 2", b"text %d" % number)
        (tree / f"{number:02}.jsonl").write_bytes(data + (b"{" if number % 7 == 0 else b""))
    with TranscriptWriter(tree, "native") as writer:
        writer.append({"type": "message", "n": 1})
    alone, together = _audit(tree), _audit(tree, jobs=2)
    assert alone == together
    assert "native" in {one.format for one in together.transcripts}
    assert {"conflicting_id", "id_in_two_sessions", "torn_line", "session_in_several_files"} <= set(
        _codes(alone)
    )


def test_one_id_with_other_bytes_in_two_files_of_a_session(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_bytes(claude(3))
    changed = claude(3).replace(b"text 2", b"TEXT 2")
    (tmp_path / "two.jsonl").write_bytes(changed)
    report = _audit(tmp_path)
    (finding,) = [one for one in report.findings if one.code == "conflicting_id"]
    assert finding.target == "two.jsonl"
    assert finding.location.to_dict() == {"ordinal": 2, "native_id": uuid(2), "line": 2}
    assert "one.jsonl" in finding.message
    assert _codes(report)["session_in_several_files"] == 1
    assert [(one.target, dict(one.findings)) for one in report.transcripts] == [
        ("one.jsonl", {"session_in_several_files": 1}),
        ("two.jsonl", {"conflicting_id": 1}),
    ]
    # Each of them alone says nothing of it.
    assert _codes(_audit(tmp_path / "one.jsonl")) == _codes(_audit(tmp_path / "two.jsonl")) == {}


def test_an_equal_copy_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_bytes(claude(3))
    (tmp_path / "two.jsonl").write_bytes(claude(3))
    assert _codes(_audit(tmp_path)) == {}


def test_an_id_of_another_session_is_information(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_bytes(claude(3, session="s1"))
    (tmp_path / "two.jsonl").write_bytes(claude(3, session="s2"))
    report = _audit(tmp_path)
    assert _codes(report) == {"id_in_two_sessions": 3}
    assert {finding.severity for finding in report.findings} == {"info"}


def test_since_leaves_out_what_ended_before(tree: Path) -> None:
    (tree / "old.jsonl").write_bytes(
        line(claude_record(1, session="s9", uuid=uuid(900), timestamp="2025-12-31T23:59:59Z"))
    )
    report = _audit(tree, since=datetime(2026, 1, 1, tzinfo=UTC))
    assert "old.jsonl" not in [one.target for one in report.transcripts]
    assert _codes(report) == {"transcript_left_out": 1}
    report = _audit(tree, since=datetime(2027, 1, 1, tzinfo=UTC))
    # What tells no time cannot be called old.
    assert report.transcripts == ()
    assert _codes(report) == {"transcript_left_out": 4}


@pytest.mark.parametrize(
    ("patterns", "targets"),
    [
        (("s1",), ["one.jsonl"]),
        (("s?",), ["a/two.jsonl", "one.jsonl"]),
        (("c1", "s2"), ["a/b/chat.db", "a/two.jsonl"]),
        (("nothing",), []),
        (("S1",), []),
    ],
)
def test_session_patterns(tree: Path, patterns: tuple[str, ...], targets: list[str]) -> None:
    report = _audit(tree, sessions=patterns)
    assert [one.target for one in report.transcripts] == targets


def test_a_session_of_a_database_alone(tmp_path: Path) -> None:
    agents_database(
        tmp_path / "chat.db",
        [("a", '{"role":"user","content":"x"}'), ("b", "torn {"), ("a", '{"role":"user"}')],
    )
    assert _codes(_audit(tmp_path)) != {}
    report = _audit(tmp_path, sessions=("a",))
    assert [(one.sessions, one.records) for one in report.transcripts] == [(("a",), 2)]


def test_a_file_of_lines_that_nobody_knows_is_told(tmp_path: Path) -> None:
    (tmp_path / "history.jsonl").write_text('{"display":"ls","timestamp":1,"project":"/p"}\n')
    (tmp_path / "one.jsonl").write_bytes(claude(1))
    (tmp_path / "settings.json").write_text("{}")
    report = _audit(tmp_path)
    assert [one.target for one in report.transcripts] == ["one.jsonl"]
    assert _codes(report) == {"unknown_format": 1, "other_file": 1}
    assert [(one.target, one.severity) for one in report.findings] == [
        ("history.jsonl", "warning"),
        ("settings.json", "info"),
    ]


def test_a_file_of_lines_without_a_record_may_be_a_damaged_one_of_ours(tmp_path: Path) -> None:
    (tmp_path / "s1.jsonl").write_bytes(b"\0" * 100)
    report = _audit(tmp_path)
    assert set(_codes(report)) == {"nul_line", "transcript_invalid_json"}


def test_links_in_a_tree(tree: Path) -> None:
    outside = tree.parent / "outside"
    outside.mkdir()
    (outside / "x.jsonl").write_bytes(claude(2))
    os.symlink(outside / "x.jsonl", tree / "x.jsonl")
    os.symlink(outside / "x.jsonl", tree / "x.json")
    os.symlink(outside, tree / "folder")
    report = _audit(tree)
    assert _codes(report) == {"link_not_followed": 1, "ownership_boundary": 1}
    assert report.findings[0].target == "x.jsonl"
    assert len(report.transcripts) == 4


def test_a_policy_denies_by_the_session_inside(tree: Path) -> None:
    policy = parse_policy(
        'default = "allow"\n[[rule]]\neffect = "deny"\nsession = "s1"\nwhy = "private"\n'
    )
    report = _audit(tree, policy=policy)
    assert _codes(report) == {"policy_denied": 1}
    (denied,) = [one for one in report.transcripts if one.findings]
    assert (denied.target, denied.records, denied.sha256) == ("one.jsonl", 0, None)


def test_as_format(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(line({"type": "user", "message": {"role": "user", "content": "x"}}))
    report = _audit(path, as_format="claude-code")
    assert [(one.format, one.records) for one in report.transcripts] == [("claude-code", 1)]


def test_references_are_in_the_report(tmp_path: Path) -> None:
    folder = tmp_path / "-p"
    (folder / SESSION / "tool-results").mkdir(parents=True)
    text = "0123456789\n" * 5_000
    (folder / SESSION / "tool-results" / "t1.txt").write_text(text)
    output = (
        "<persisted-output>\nOutput too large (53.7KB). Full output saved to: "
        f"/home/u/.claude/projects/-p/{SESSION}/tool-results/t1.txt\n\nPreview (first 2KB):\n"
        f"{text[:22]}\n...\n</persisted-output>"
    )
    call = claude_record(2)
    call["message"]["content"] = [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}]
    result = claude_record(3)
    result["message"]["content"] = [{"type": "tool_result", "tool_use_id": "t1", "content": output}]
    path = folder / f"{SESSION}.jsonl"
    path.write_bytes(line(claude_record(1)) + line(call) + line(result))
    report = _audit(tmp_path)
    (reference,) = report.references
    assert reference.to_dict() == {
        "target": f"-p/{SESSION}.jsonl",
        "location": {"ordinal": 3, "native_id": uuid(3), "line": 3},
        "kind": "persisted_output",
        "status": "available",
        "conclusive": True,
        "message": "persisted_output: a file of 55000 bytes, as announced",
    }
    assert report.summary.references == {"available": 1}
    (folder / SESSION / "tool-results" / "t1.txt").write_text(text[:100])
    report = _audit(tmp_path)
    assert _codes(report) == {"reference_corrupt": 1}
    assert report.transcripts[0].references == {"corrupt": 1}
    # The file alone, named as a target, finds its outputs beside it all the same.
    assert _codes(_audit(path)) == {"reference_corrupt": 1}


def test_a_home_may_hold_other_agents_transcripts(tmp_path: Path) -> None:
    transcripts = tmp_path / "transcripts"
    transcripts.mkdir()
    (tmp_path / "states").mkdir()
    (transcripts / f"{SESSION}.jsonl").write_bytes(claude(3) + b'{"torn')
    report = _audit(tmp_path, check_all=True)
    assert [(one.target, one.format) for one in report.transcripts] == [
        (f"transcripts/{SESSION}.jsonl", "claude-code")
    ]
    assert _codes(report) == {"torn_line": 1}
    report = _audit(tmp_path, pointers=(f"transcript:{SESSION}:2",))
    (source,) = report.sources
    assert source.resolution.native_id == uuid(2)
    assert json.loads(json.dumps(source.to_dict()))["native_id"] == uuid(2)


def test_what_is_normal_hides_no_fault(tmp_path: Path) -> None:
    folder = tmp_path / "-p"
    folder.mkdir()
    summaries = [
        {"type": "summary", "summary": "x", "leafUuid": uuid(500 + n)} for n in range(1_500)
    ]
    result = claude_record(2, type="user", toolUseResult={"persistedOutputPath": "/etc/passwd"})
    call = claude_record(1, type="assistant")
    data = b"".join(map(line, [call, *summaries, result]))
    (folder / f"{SESSION}.jsonl").write_bytes(data)
    report = _audit(tmp_path)
    assert _codes(report) == {"reference_denied": 1}
    assert report.summary.references == {"missing": 1_500, "denied": 1}


def test_more_faults_than_are_listed_are_counted(tmp_path: Path) -> None:
    records = [
        claude_record(n, parentUuid=None, toolUseResult={"persistedOutputPath": f"/gone/{n}"})
        for n in range(1, 2_403, 2)
    ]
    (tmp_path / f"{SESSION}.jsonl").write_bytes(b"".join(map(line, records)))
    report = _audit(tmp_path)
    assert _codes(report) == {"reference_denied": 1_201}
    assert report.transcripts[0].findings == {"reference_denied": 1_201}
    assert len(report.findings) == 1_000


def test_an_interrupt_counts_what_was_not_looked_at(tree: Path) -> None:
    class Impatient(Listener):
        def on_transcript(self, transcript: object) -> None:
            raise KeyboardInterrupt

    report = run_audit(
        AuditRequest(targets=(str(tree),)),
        clock=lambda: datetime(2026, 11, 29, tzinfo=UTC),
        stopwatch=lambda: 0.0,
        listener=Impatient(),
    )
    assert report.is_interrupted
    assert len(report.transcripts) == 1
    assert report.summary.transcripts_not_checked == 2
