"""Claude Code: every sample with all that is to be said of it, and what its fields may hold."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.audit_report import AuditReport
from provenance.findings import Finding
from provenance.limits import Limits
from provenance.transcripts.adapters.claude_code import ClaudeCode
from provenance.transcripts.adapters.protocol import TranscriptFormat
from provenance.transcripts.records import Record, Reference
from provenance.transcripts.source_check import SourceCheck, check_source
from provenance.transcripts.sources import Head
from tests.transcripts.breaking import CLAUDE as WRITER
from tests.transcripts.breaking import SEVERITIES, audit, check_bytes, open_source

SAMPLES = Path(__file__).parents[2] / "data" / "transcripts" / "claude-code"
FORMAT = ClaudeCode()


@dataclass(frozen=True)
class Facts:
    """What the table of the samples says of one file.

    Attributes:
        faults: code, ordinal and line of everything but the codes in `counts`.
        counts: of codes whose places the table does not give.
        missing: references that are not there, as is usual for a summary: nothing is said of them.
    """

    lines: int
    records: int
    calls: int
    results: int
    faults: tuple[tuple[str, int | None, int | None], ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)
    missing: int = 0


# What is not weighed: information about order and form. `split_message` is counted.
_FORM = {"time_out_of_order", "branch", "no_final_newline"}


def _facts(
    lines: int, records: int, calls: int, results: int, *faults: Any, split: int = 0, **more: Any
) -> Facts:
    counts = {"split_message": split} if split else {}
    counts.update(more.pop("counts", {}))
    placed = tuple((code, ordinal, line) for code, ordinal, line in faults)
    return Facts(lines, records, calls, results, placed, counts, **more)


_SLICE = ("slice_start", 1, 1)


def _hash(line: int | None, *, redacted: bool = True) -> tuple[str, None, int | None]:
    return ("content_hash_mismatch_redacted" if redacted else "content_hash_mismatch", None, line)


REAL = {
    "clean": _facts(23, 23, 2, 2, split=1),
    "slice-start": _facts(5, 5, 0, 0, _SLICE, split=1),
    "dangling-parent": _facts(
        67, 67, 7, 7, _SLICE, ("dangling_parent", 18, 18), split=10,
        missing=16,
    ),
    "compact-boundary": _facts(54, 54, 10, 10, _SLICE, split=12),
    "microcompact": _facts(
        60, 60, 18, 18, _SLICE, ("reference_missing", 33, 33), split=12
    ),
    "persisted-output": _facts(
        67, 67, 14, 14, _hash(37), ("reference_missing", 37, 37), split=8
    ),
    "orphan-tool-use": _facts(
        6, 6, 1, 0, ("open_call", 6, 6), split=1, missing=1
    ),
    "interrupted-mid": _facts(
        17, 17, 4, 3, _SLICE, ("interrupted_call", 2, 2), ("reference_missing", 4, 4), _hash(5),
        split=3,
    ),
    "orphan-tool-result": _facts(
        57, 57, 13, 14, _SLICE, ("slice_orphan_result", 1, 1), _hash(6), split=11
    ),
    "redaction-mismatch": _facts(
        28, 28, 5, 5, _hash(4), split=6, missing=2
    ),
    "weld": _facts(
        24, 25, 5, 5, _SLICE, ("welded_records", 19, 19), ("conflicting_id", 21, 20), split=6
    ),
}  # fmt: skip

SYNTHETIC = {
    "clean": _facts(5, 5, 1, 1, split=1),
    "three-welded": _facts(3, 5, 1, 1, ("welded_records", 2, 2), split=1),
    "spliced-line": _facts(6, 5, 1, 1, ("spliced_line", None, 4), split=1),
    "spliced-prefix": _facts(5, 5, 1, 1, ("spliced_line", 5, 5), split=1),
    "nul-run": _facts(6, 5, 1, 1, ("nul_line", None, 4), split=1),
    "nul-prefix": _facts(5, 5, 1, 1, ("nul_line", 5, 5), split=1),
    "torn-tail": _facts(5, 4, 1, 1, ("torn_line", None, 5), split=1),
    "blank-line": _facts(6, 5, 1, 1, ("invalid_line", None, 3), split=1),
    "unicode-separators": _facts(5, 5, 1, 1, split=1),
    "duplicate-uuid-same-bytes": _facts(6, 6, 1, 1, ("duplicate_id", 3, 3), split=1),
    "duplicate-uuid-other-bytes": _facts(6, 6, 1, 1, ("conflicting_id", 3, 3), split=1),
    "shared-uuid/one": _facts(5, 5, 1, 1, split=1),
    "shared-uuid/two": _facts(5, 5, 1, 1, split=1),
    "split-message-non-contiguous": _facts(8, 8, 2, 2, split=1),
    "six-parallel-calls": _facts(14, 14, 6, 6, split=1),
    "six-parallel-calls-one-line": _facts(4, 4, 6, 6),
    "tool-id-used-twice": _facts(6, 6, 2, 2, ("duplicate_call_id", 4, 4)),
    "tool-id-twice-in-one-message": _facts(
        4, 4, 2, 1, ("duplicate_call_id", 2, 2), ("interrupted_call", 2, 2)
    ),
    "two-results-for-one-call": _facts(5, 5, 1, 2, ("duplicate_result", 4, 4)),
    "result-before-call": _facts(4, 4, 1, 1, ("result_before_call", 2, 2)),
    "orphan-result-mid-file": _facts(4, 4, 0, 1, ("orphan_result", 3, 3)),
    "mixed-text-and-result": _facts(4, 4, 1, 1),
    "interrupted-then-compacted": _facts(9, 9, 2, 1, ("interrupted_call", 3, 3), split=2),
    "dangling-parent-mid-file": _facts(4, 4, 0, 0, ("dangling_parent", 3, 3)),
    "parent-cycle": _facts(2, 2, 0, 0),
    "unknown-types": _facts(
        7, 7, 1, 1, ("unknown_record_type", 7, 7), split=1, unknown={"hologram": 1}
    ),
    "hash-mismatch-no-redaction/full": _facts(
        5, 5, 1, 1, _hash(None, redacted=False), split=1
    ),
    "hash-mismatch-redacted/full": _facts(5, 5, 1, 1, _hash(5), split=1),
    "hash-matches-without-final-newline/full": _facts(5, 5, 1, 1, split=1),
}  # fmt: skip

FILES = {f"real/{name}/full.jsonl": facts for name, facts in REAL.items()} | {
    f"synthetic/{name}.jsonl": facts for name, facts in SYNTHETIC.items()
}
# What one file cannot show.
_OF_A_TREE = {"id_in_two_sessions"}


def test_every_sample_has_its_facts() -> None:
    found = {str(path.relative_to(SAMPLES)) for path in SAMPLES.rglob("*.jsonl")}
    assert found == FILES.keys() | {
        f"synthetic/persisted-output/projects/-home-user-project/{name}.jsonl" for name in PERSISTED
    }


def _check(path: Path, **how: Any) -> SourceCheck:
    with open_source(path.parent, path.name, **how) as (source, root):
        return check_source(source, FORMAT, root=root)


@pytest.mark.parametrize("name", FILES)
def test_what_is_said_of_a_sample_alone(name: str) -> None:
    facts, data = FILES[name], (SAMPLES / name).read_bytes()
    assert len(data.removesuffix(b"\n").split(b"\n")) == facts.lines
    check = _check(SAMPLES / name)
    assert (check.records, check.calls, check.call_results) == (
        facts.records, facts.calls, facts.results,
    )  # fmt: skip
    assert dict(check.unknown_types) == facts.unknown
    assert check.sha256 == hashlib.sha256(data).hexdigest()
    # A hash and references are of the tree around a file, and come with the audit.
    wanted = Counter(
        one for one in facts.faults if "hash" not in one[0] and "reference" not in one[0]
    )
    assert _placed(check.faults, facts) == wanted
    assert check.fault_counts["split_message"] == facts.counts.get("split_message", 0)
    is_ended = data.endswith(b"\n") or name.endswith("torn-tail.jsonl")
    assert check.fault_counts["no_final_newline"] == (not is_ended)
    assert check.reference_counts["missing"] == facts.missing + sum(
        code == "reference_missing" for code, *_ in facts.faults
    )


def _placed(faults: Any, facts: Facts) -> Counter[tuple[str, int | None, int | None]]:
    for fault in faults:
        assert fault.severity == SEVERITIES.get(fault.code, fault.severity)
        _has_no_text(fault.message)
    left_out = _FORM | facts.counts.keys()
    return Counter(
        (fault.code, fault.ordinal, fault.line) for fault in faults if fault.code not in left_out
    )


def _has_no_text(message: str) -> None:
    assert "\n" not in message
    assert not re.search(r"/home|/tmp|quick brown|sk-ant", message), message


@pytest.fixture(scope="module")
def reports() -> dict[str, AuditReport]:
    return {name: audit(SAMPLES / name) for name in ("real", "synthetic")}


@pytest.mark.parametrize("name", FILES)
def test_what_an_audit_of_the_tree_says_of_a_sample(
    name: str, reports: dict[str, AuditReport]
) -> None:
    facts = FILES[name]
    tree, _, target = name.partition("/")
    (checked,) = (one for one in reports[tree].transcripts if one.target == target)
    assert (checked.format, checked.records, checked.calls, checked.call_results) == (
        "claude-code", facts.records, facts.calls, facts.results,
    )  # fmt: skip
    findings = _findings(reports[tree], target)
    wanted = Counter(facts.faults)
    if target == "shared-uuid/two.jsonl":
        wanted["id_in_two_sessions", 2, 2] = 1
    placed = Counter(
        (one.code, one.location.ordinal, one.location.line)
        for one in findings
        if one.code not in _FORM | facts.counts.keys()
    )
    assert placed == wanted
    counted = {
        code: count for code, count in checked.findings.items() if code not in _FORM | _OF_A_TREE
    }
    assert counted == Counter(code for code, *_ in facts.faults) + Counter(facts.counts)
    for one in findings:
        _has_no_text(one.message)


def _findings(report: AuditReport, target: str) -> list[Finding]:
    return [one for one in report.findings if one.target == target]


@pytest.mark.parametrize("name", ["real/weld/full.jsonl", "synthetic/unknown-types.jsonl"])
def test_a_file_alone_is_told_as_the_tree_tells_it(
    name: str, reports: dict[str, AuditReport]
) -> None:
    tree, _, target = name.partition("/")
    alone = audit(SAMPLES / name)
    (checked,) = alone.transcripts
    (other,) = (one for one in reports[tree].transcripts if one.target == target)
    for one in ("format", "sessions", "records", "calls", "call_results", "sha256", "findings"):
        assert getattr(checked, one) == getattr(other, one)


def test_the_scattered_messages_of_a_sample_say_so() -> None:
    check = _check(SAMPLES / "real/persisted-output/full.jsonl")
    scattered = [
        fault.message for fault in check.faults
        if fault.code == "split_message" and "others between" in fault.message
    ]  # fmt: skip
    assert [re.findall(r"[0-9]+", message) for message in scattered] == [
        ["5", "10", "16"], ["3", "19", "23"],
    ]  # fmt: skip


# --- references ---------------------------------------------------------------------------------

PERSISTED = {
    "exists-and-whole": "available",
    "missing": "missing",
    "shorter-than-announced": "corrupt",
    "other-content-same-length": "corrupt",
    "symlink-outside": "denied",
    "symlink-to-sibling": "denied",
    "path-outside-root": "denied",
    "path-with-dotdot": "denied",
}
_PROJECT = Path("projects/-home-user-project")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the tree with its links, which Git would not keep alike everywhere."""
    tree = tmp_path / "claude"
    shutil.copytree(SAMPLES / "synthetic/persisted-output", tree)
    project = tree / _PROJECT
    (link,) = (project / "symlink-outside/tool-results").iterdir()
    link.unlink()
    link.symlink_to("../../../../outside/secret.txt")
    assert link.resolve() == (tree / "outside/secret.txt").resolve()
    folder = project / "symlink-to-sibling/tool-results"
    target = folder.read_text().strip()
    folder.unlink()
    folder.symlink_to(target)
    assert folder.is_dir()
    return tree


@pytest.mark.parametrize("below", ["projects", "projects/-home-user-project", "."])
def test_each_output_that_was_put_aside(tree: Path, below: str) -> None:
    report = audit(tree / below)
    said = {Path(one.target).stem: one for one in report.references}
    assert {name: str(one.status) for name, one in said.items()} == PERSISTED
    assert all(one.kind == "persisted_output" for one in said.values())
    assert all(one.location.ordinal == one.location.line == 3 for one in said.values())
    assert "expected 50000 bytes, got 31337" in said["shorter-than-announced"].message
    for one in said.values():
        _has_no_text(one.message)
    codes = Counter(one.code for one in report.findings)
    assert codes == {
        "reference_missing": 1, "reference_corrupt": 2, "reference_denied": 4,
        "link_not_followed": 1,  # the walk meets the linked folder too
    }  # fmt: skip


def test_a_file_named_alone_finds_its_outputs_too(tree: Path) -> None:
    report = audit(tree / _PROJECT / "exists-and-whole.jsonl")
    (one,) = report.references
    assert one.status == "available"


def test_an_output_that_went_or_changed(tree: Path) -> None:
    folder = tree / _PROJECT / "exists-and-whole/tool-results"
    (file,) = folder.iterdir()
    data = file.read_bytes()

    def status() -> str:
        return str(audit(tree / _PROJECT / "exists-and-whole.jsonl").references[0].status)

    assert status() == "available"
    file.write_bytes(data + b"x")
    assert status() == "corrupt"
    file.write_bytes(data[:-1])
    assert status() == "corrupt"
    file.write_bytes(b"X" + data[1:])
    assert status() == "corrupt"
    # What is not shown in the record is bound by nothing but its length.
    file.write_bytes(data[:-1] + b"X")
    assert status() == "available"
    file.unlink()
    os.mkfifo(file)
    assert status() == "corrupt"
    file.unlink()
    file.mkdir()
    assert status() == "corrupt"


def _result(content: object, **outcome: object) -> dict[str, Any]:
    return {
        "type": "user",
        "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": content},
        ]},
        "toolUseResult": outcome,
    }  # fmt: skip


def _record(value: dict[str, Any], before: int = 2) -> Record:
    """Read a record as it stands in a file, behind some others."""
    data = _lines(*[{"type": "mode"}] * before, value)
    with TemporaryDirectory() as folder:
        return _read(Path(folder), data)[before]


def _references(value: dict[str, Any], before: int = 2) -> list[Reference]:
    return list(FORMAT.references(_record(value, before)))


def _persisted(amount: str, head: str | None = "ab", path: str = "/p/s/tool-results/a.txt") -> str:
    text = f"<persisted-output>\nOutput too large ({amount}). Full output saved to: {path}"
    if head is None:
        return text + "\n</persisted-output>"
    return f"{text}\n\nPreview (first 2KB):\n{head}\n...\n</persisted-output>"


@pytest.mark.parametrize(
    ("amount", "inside", "outside"),
    [
        # 48.75 to 48.85 KiB is what rounds to 48.8.
        ("48.8KB", [49_921, 50_000, 50_022], [49_800, 50_100]),
        ("1MB", [1 << 20], [(1 << 19) - 9, (3 << 19) + 9]),
        ("1.2 MB", [int(1.2 * (1 << 20))], [1_100_000, 1_400_000]),
        ("2GB", [2 << 30], [1 << 30, 3 << 30]),
        ("0KB", [0, 500], [600]),
    ],
)
def test_a_rounded_size_is_a_range(amount: str, inside: list[int], outside: list[int]) -> None:
    (reference,) = _references(_result(_persisted(amount)))
    assert reference.file is not None
    assert reference.file.size is None
    assert reference.file.size_range is not None
    low, high = reference.file.size_range
    assert 0 <= low <= high
    assert all(low <= size <= high for size in inside)
    assert not any(low <= size <= high for size in outside)


@pytest.mark.parametrize("amount", ["2048 bytes", "2048B"])
def test_a_size_in_bytes_is_exact(amount: str) -> None:
    (reference,) = _references(_result(_persisted(amount)))
    assert reference.file is not None
    low, high = reference.file.size_range or (reference.file.size, reference.file.size)
    assert (low, high) == (2048, 2048)


def test_the_exact_size_counts_where_it_is_said_of_the_same_file() -> None:
    path = "/p/s/tool-results/a.txt"
    content = _persisted("48.8KB")
    (same,) = _references(_result(content, persistedOutputPath=path, persistedOutputSize=50_000))
    assert same.file is not None
    assert (same.file.path, same.file.size, same.file.size_range) == (path, 50_000, None)
    other = _references(
        _result(content, persistedOutputPath="/p/s/tool-results/b.txt", persistedOutputSize=7)
    )
    assert [one.file and one.file.size for one in other] == [None, 7]
    for odd in (True, -1, "50000", 5.5, None, [1]):
        (one,) = _references(_result(content, persistedOutputPath=path, persistedOutputSize=odd))
        assert one.file is not None
        assert one.file.size is None


def test_the_path_alone_is_a_reference_too() -> None:
    (one,) = _references(_result("short", persistedOutputPath="/p/s/t/a", persistedOutputSize=9))
    assert one.file is not None
    assert (one.file.path, one.file.size, one.file.head) == ("/p/s/t/a", 9, None)
    assert _references(_result("short", persistedOutputSize=9)) == []
    assert _references(_result("short", persistedOutputPath=3)) == []


@pytest.mark.parametrize(
    ("head", "expected"),
    [("ab", b"ab"), ("", b""), ("a\nb\n", b"a\nb\n"), ("é😀", "é😀".encode()), (None, None)],
)
def test_the_preview_is_what_the_file_begins_with(head: str | None, expected: bytes) -> None:
    (one,) = _references(_result(_persisted("1KB", head)))
    assert one.file is not None
    assert one.file.head == expected


def test_a_preview_that_ends_in_half_a_character(tmp_path: Path) -> None:
    whole = "x" * 1_999 + "😀" + "y" * 3_000
    (tmp_path / "s1/tool-results").mkdir(parents=True)
    (tmp_path / "s1/tool-results/a.txt").write_bytes(whole.encode())
    # JavaScript cuts by UTF-16 units, and its JSON writes half a pair as an escape.
    cut = whole.encode("utf-16-le")[:4_000].decode("utf-16-le", "surrogatepass")
    assert cut.endswith("\ud83d")
    content = _persisted("4.9KB", cut, "/home/user/.claude/projects/-p/s1/tool-results/a.txt")
    value = {**_result(content), "uuid": "u", "sessionId": "s1"}
    (tmp_path / "s1.jsonl").write_text(json.dumps(value) + "\n")
    assert dict(_check(tmp_path / "s1.jsonl").reference_counts) == {"available": 1}


@pytest.mark.parametrize(
    "content",
    [
        "<persisted-output>",
        "<persisted-output>\nSomething else entirely\n</persisted-output>",
        "<persisted-output>\nOutput too large (many). Full output saved to: /a\n",
        "<persisted-output>\nOutput too large (1.2345KB). Full output saved to: /a\n",
    ],
)
def test_a_form_that_nobody_knows_is_said(content: str) -> None:
    (one,) = _references(_result(content))
    assert one.unsupported is not None
    assert _references(_result(f"a text about {content}")) == []


def test_the_text_of_a_result_may_stand_in_blocks() -> None:
    blocks = [{"type": "text", "text": "x"}, {"type": "text", "text": _persisted("1KB")}]
    (one,) = _references(_result(blocks))
    assert one.file is not None


def test_references_to_records_and_calls() -> None:
    def of(kind: str, before: int = 3, **value: object) -> list[Reference]:
        is_boundary = kind.endswith("_boundary")
        kinds = {"type": "system", "subtype": kind} if is_boundary else {"type": kind}
        return _references({**kinds, **value}, before)

    (one,) = of("compact_boundary", logicalParentUuid="p")
    assert (one.records, one.covers) == (("p",), (1, 3))
    (one,) = of("compact_boundary", before=0, logicalParentUuid=None)
    assert (one.records, one.covers) == ((), None)
    (one,) = of("microcompact_boundary", microcompactMetadata={"compactedToolIds": ["a", 3, "b"]})
    assert one.calls == ("a", "b")
    assert of("microcompact_boundary", microcompactMetadata={"compactedToolIds": "a"}) == []
    assert of("microcompact_boundary", microcompactMetadata=3) == []
    (one,) = of("summary", leafUuid="u")
    assert (one.records, one.is_optional) == (("u",), True)
    assert of("summary", leafUuid=5) == []


# --- records ------------------------------------------------------------------------------------


def _lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def _read(tmp_path: Path, data: bytes, name: str = "s1.jsonl") -> list[Record]:
    (tmp_path / name).write_bytes(data)
    with open_source(tmp_path, name) as (source, _):
        return [one for one in FORMAT.records(source) if isinstance(one, Record)]


def test_it_is_a_format_and_knows_its_own() -> None:
    assert isinstance(FORMAT, TranscriptFormat)
    assert FORMAT.has_separate_sessions is False
    for path in SAMPLES.rglob("*.jsonl"):
        assert FORMAT.identify(Head(path.name, path.read_bytes()[:65_536])), path


@pytest.mark.parametrize(
    "value",
    [
        {"type": "user", "uuid": "u"},
        {"type": "user", "sessionId": 3},
        {"type": "user", "sessionId": "s", "payload": {}},
        {"type": "hologram", "sessionId": "s"},
        {"type": "summary", "summary": "x"},
        {"type": "file-history-snapshot", "messageId": "m"},
        {"type": ["user"], "sessionId": "s"},
        {"sessionId": "s"},
        {},
    ],
)
def test_it_leaves_to_others_what_is_not_its_own(value: object) -> None:
    assert not FORMAT.identify(Head("full.jsonl", _lines(value)))


def test_a_sub_agent_is_a_strand_and_a_session_of_its_own(tmp_path: Path) -> None:
    def said(uuid: str, **more: object) -> dict[str, object]:
        return {"type": "user", "uuid": uuid, "sessionId": "s", "message": {"content": "x"}, **more}

    data = _lines(
        said("1"),
        said("2", isSidechain=True, agentId="a7"),
        {"type": "summary", "summary": "x", "leafUuid": "1"},
        said("3", isSidechain=True),
        said("4", isSidechain="yes"),
    )
    found = [(one.session, one.strand) for one in _read(tmp_path, data)]
    assert found == [
        ("s", None), ("s.agent-a7", "a7"), ("s", None), ("s.agent-sidechain", "sidechain"),
        ("s", None),
    ]  # fmt: skip
    data = _lines(said("1", isSidechain=True), said("2", isSidechain=True))
    found = [(one.session, one.strand) for one in _read(tmp_path, data, "agent-b8.jsonl")]
    assert found == [("s.agent-b8", "b8")] * 2


def test_what_a_sub_agent_says_interrupts_no_call(tmp_path: Path) -> None:
    def block(kind: str, uuid: str, message: str | None, *content: object, **more: object) -> Any:
        said = {"role": kind, "content": list(content)} | ({"id": message} if message else {})
        return {"type": kind, "uuid": uuid, "sessionId": "s", "message": said, **more}

    call = {"type": "tool_use", "id": "t1", "name": "Task", "input": {}}
    text = {"type": "text", "text": "x"}
    data = _lines(
        block("assistant", "1", "m1", call),
        block("user", "2", None, text, isSidechain=True, agentId="a"),
        block("assistant", "3", "m2", text, isSidechain=True, agentId="a"),
    )
    assert dict(check_bytes(WRITER, data).fault_counts) == {"open_call": 1}
    # The nearest miss: the same words, on the main strand.
    data += _lines(block("assistant", "4", "m3", text))
    assert dict(check_bytes(WRITER, data).fault_counts) == {"interrupted_call": 1}


def test_the_text_of_a_record() -> None:
    content = [
        {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I look."}, 3,
        {"type": "tool_use", "name": "Bash", "input": {"a": ["ls", {"b": "-l"}], "n": 3}},
        {"type": "tool_result", "content": [{"type": "text", "text": "out"}, None]},
        {"type": "tool_result", "content": "more"},
    ]  # fmt: skip
    value = {"type": "assistant", "message": {"content": content}, "summary": "sum"}
    assert _record(value).text == "hm\nI look.\nBash\nls\n-l\nout\nmore\nsum"
    for odd in ({"message": 3}, {"message": {"content": {"a": 1}}}, {"content": 3}, {}):
        assert _record({"type": "user", **odd}).text == ""
    assert _record({"type": "user", "message": {"content": "as text"}}).text == "as text"
    assert _record({"type": "system", "content": "of a system"}).text == "of a system"


_ODD = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=4), st.just("t1")),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["id", "type", "content", "text", "input", "name", "tool_use_id", "message"]
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=8,
)
_KINDS = st.sampled_from(
    ["user", "assistant", "system", "summary", "progress", "compact_boundary", "hologram", 3]
)
_VALUES = st.fixed_dictionaries(
    {},
    optional={
        key: st.one_of(_ODD, st.sampled_from(["s", "u1", "compact_boundary"]))
        for key in (
            "uuid", "parentUuid", "sessionId", "isSidechain", "agentId", "timestamp", "subtype",
            "message", "toolUseResult", "leafUuid", "logicalParentUuid", "microcompactMetadata",
            "summary", "content",
        )
    }
    | {"type": _KINDS},
)  # fmt: skip


@given(st.lists(_VALUES, min_size=1, max_size=6))
def test_no_field_of_any_type_breaks_anything(values: list[dict[str, Any]]) -> None:
    check = check_bytes(WRITER, _lines(*values))
    assert check.records == len(values)
    for value in values:
        record = _record(value)
        assert isinstance(record.text, str)
        for reference in FORMAT.references(record):
            assert isinstance(reference.kind, str)


@pytest.mark.parametrize("opened", [b"[", b'{"a":'])
def test_nesting_of_200_000_levels_is_a_fault_and_no_crash(opened: bytes) -> None:
    good = (SAMPLES / "synthetic/clean.jsonl").read_bytes()
    for inside in (b'{"type":"user","message":%s}', b"%s"):
        closed = b"]" if opened == b"[" else b"}"
        line = inside % (opened * 200_000 + b"1" + closed * 200_000)
        check = check_bytes(WRITER, good + line + b"\n")
        # Whatever is too deep to be looked into, a record or not.
        assert check.fault_counts["record_over_limit"] == 1
        assert check.records == 5


def test_a_small_limit_on_records() -> None:
    data = (SAMPLES / "synthetic/clean.jsonl").read_bytes()
    longest = max(map(len, data.split(b"\n")))
    for limit, lost in ((longest, 0), (longest - 1, 1)):
        check = check_bytes(WRITER, data, Limits(max_foreign_record_bytes=limit))
        assert check.fault_counts["record_over_limit"] == lost
        assert check.records == 5 - lost


def test_sessions_are_told_from_the_first_records(tmp_path: Path) -> None:
    def sessions(data: bytes, name: str = "s1.jsonl") -> list[str]:
        (tmp_path / name).write_bytes(data)
        with open_source(tmp_path, name) as (source, _):
            return list(FORMAT.sessions(source))

    user = {"type": "user", "uuid": "u", "sessionId": "a/b"}
    assert sessions(_lines({"type": "summary", "leafUuid": "x"}, user)) == ["a/b"]
    assert sessions(_lines({**user, "isSidechain": True}), "agent-x1.jsonl") == ["a/b.agent-x1"]
    assert sessions(b"\0\0\n" + _lines({"type": "summary", "leafUuid": "x"})) == []
    assert sessions(_lines(*[{"type": "mode"}] * 300, user)) == []


def test_one_session_in_two_files_that_differ(tmp_path: Path) -> None:
    data = (SAMPLES / "synthetic/clean.jsonl").read_bytes()
    for name in "one", "two":
        (tmp_path / name).mkdir()
        (tmp_path / name / "full.jsonl").write_bytes(data)
    assert "session_in_several_files" not in audit(tmp_path).finding_counts
    other = data.replace(b"List the files", b"List no files.", 1)
    (tmp_path / "two/full.jsonl").write_bytes(other)
    report = audit(tmp_path)
    assert report.finding_counts["session_in_several_files"] == 1
    assert report.finding_counts["conflicting_id"] == 1
    (conflict,) = (one for one in report.findings if one.code == "conflicting_id")
    assert (conflict.target, conflict.location.ordinal) == ("two/full.jsonl", 1)
    assert "one/full.jsonl" in conflict.message
