"""The machinery of the benchmarks: turns, ratios, verdicts, generated data, the shape of the JSON.

No figure is held against a clock here; every row runs once on the least data it can have.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.__main__ import main
from benchmarks.agent_trees import (
    FOLDERS,
    AgentTree,
    write_projects,
    write_records,
    write_rollouts,
)
from benchmarks.datasets import (
    ASCII,
    CHINESE,
    EVENT_BYTES,
    TRANSCRIPT_SESSION,
    write_big_artifact,
    write_pointers,
    write_small_artifacts,
    write_transcript,
)
from benchmarks.measure import BenchmarkError, python_task, run_once, take_turns
from benchmarks.model import (
    Contestant,
    Role,
    Row,
    Sample,
    Series,
    Verdict,
    judge_difference,
    judge_ratio,
    judge_value,
    paired_ratios,
)
from benchmarks.peers import compiled_floor, program
from benchmarks.plan import Plan
from benchmarks.references import (
    check_transcript_strictly,
    count_json_lines,
    hash_file,
    spill_by_hand,
    verify_artifacts_by_hand,
)
from benchmarks.report import SCHEMA, describe_machine, summary_of, table_of, to_json
from benchmarks.rows import FAMILIES
from benchmarks.rows.curves import growth
from benchmarks.sizes import Sizes
from provenance.audit import AuditRequest, run_audit
from provenance.audit_report import AuditReport

TINY = Sizes(
    big_bytes=1 << 20,
    small_artifacts=20,
    events=40,
    curve_pointers=(2, 4, 8),
    curve_events=(10, 20, 40),
    curve_transcript_events=20,
    spills=3,
    tree_files=20,
    tree_bytes=200_000,
    rollouts=4,
    rollout_bytes=40_000,
    curve_records=(10, 20, 40),
)

# What a check may say of files that a test wrote, wherever it runs.
FACTS_OF_MACHINES = {"foreign_owner", "hard_link"}

ROWS_OF = {
    "startup": {"startup"},
    "small-artifacts": {"small-artifacts"},
    "transcript": {"transcript-last", "transcript-tenth"},
    "transcript-trees": {"tree-claude-code", "tree-memory", "tree-pointer", "tree-codex"},
    "sealing": {"sealing"},
    "homes": {"reports", "gc", "states"},
    "spilling": {"spilling"},
    "big-artifact": {"big-ascii", "big-chinese", "big-two-jobs", "big-memory"},
    "fast": {"fast-ascii", "fast-chinese"},
    "compaction": {
        "compaction",
        "compaction-chat",
        "compaction-responses",
        "curve-compaction",
    },
    "curves": {"curve-events", "curve-event-pointers", "curve-artifacts", "curve-records"},
}


@pytest.fixture(autouse=True)
def _no_system_wide_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep other programs' unwritten data out of these tests."""
    monkeypatch.setattr(os, "sync", lambda: None)


def sample(seconds: float, *, peak_kib: int | None = None, check: str | None = None) -> Sample:
    return Sample(seconds, seconds, seconds, peak_kib, check)


def python(code: str, *, name: str = "one", role: Role = Role.OURS, **more: Any) -> Contestant:
    return Contestant(name, role, (sys.executable, "-I", "-c", code), **more)


class TestJudging:
    def test_ratios_are_taken_round_by_round(self) -> None:
        ours = (sample(2.0), sample(9.0), sample(4.0))
        peer = (sample(1.0), sample(3.0), sample(4.0))
        assert paired_ratios(ours, peer) == (2.0, 3.0, 1.0)
        judged = judge_ratio("a / b", ours, peer, bar=2.0)
        assert (judged.value, judged.low, judged.high) == (2.0, 1.0, 3.0)
        assert judged.verdict is Verdict.MET

    def test_a_round_that_one_sat_out_is_left_out(self) -> None:
        assert paired_ratios((sample(2.0), sample(2.0)), (None, sample(1.0))) == (2.0,)

    def test_a_missed_bar_is_missed(self) -> None:
        judged = judge_ratio("a / b", (sample(2.6),), (sample(1.0),), bar=2.5)
        assert judged.verdict is Verdict.MISSED

    def test_an_absent_peer_is_not_measured(self) -> None:
        judged = judge_ratio("a / b", (sample(1.0),), (None,), bar=2.5)
        assert judged.verdict is Verdict.NOT_MEASURED
        assert judged.value is None
        difference = judge_difference("a - b", (), (sample(1.0),), bar_ms=40.0)
        assert difference.verdict is Verdict.NOT_MEASURED

    def test_difference_of_medians_in_milliseconds(self) -> None:
        ours = (sample(0.10), sample(0.12), sample(0.50))
        peer = (sample(0.09), sample(0.08), sample(0.10))
        judged = judge_difference("a - b", ours, peer, bar_ms=40.0)
        assert judged.value == pytest.approx(30.0)
        assert judged.verdict is Verdict.MET

    @given(
        st.lists(
            st.floats(min_value=0.001, max_value=1e3, allow_nan=False), min_size=1, max_size=9
        ),
        st.floats(min_value=0.001, max_value=1e3, allow_nan=False),
    )
    def test_the_verdict_follows_the_value(self, values: list[float], bar: float) -> None:
        judged = judge_value("x", values, unit="x", bar=bar)
        assert judged.value is not None
        assert judged.low is not None
        assert judged.high is not None
        assert judged.low <= judged.value <= judged.high
        assert (judged.verdict is Verdict.MET) == (judged.value <= bar)


class TestGrowth:
    @given(st.floats(min_value=1e-6, max_value=1.0), st.floats(min_value=0.0, max_value=10.0))
    def test_linear_cost_is_one_whatever_is_fixed(self, each: float, fixed: float) -> None:
        units = (1_000, 10_000, 100_000)
        rise = growth(units, [fixed + each * count for count in units])
        assert rise is not None
        assert math.isclose(rise, 1.0, rel_tol=1e-6)

    def test_quadratic_cost_is_ten(self) -> None:
        units = (100, 1_000, 10_000)
        assert growth(units, [float(count**2) for count in units]) == pytest.approx(10.0)

    def test_too_little_to_tell(self) -> None:
        assert growth((1, 10), (1.0, 2.0)) is None
        assert growth((1, 10, 100), (1.0, 0.9, 3.0)) is None


class TestTurns:
    def test_they_alternate_and_the_warm_round_is_thrown_away(self, tmp_path: Path) -> None:
        log = tmp_path / "log"
        code = "import sys; open({!r}, 'a').write({!r})"
        turns = [
            python(code.format(str(log), "A"), name="A"),
            python(code.format(str(log), "B"), name="B", role=Role.PEER),
            python(code.format(str(log), "C"), name="C", role=Role.CONTEXT),
        ]
        series = take_turns(turns, rounds=3, context_rounds=1)
        assert log.read_text() == "ABCABCABAB"
        assert [len(one.runs) for one in series] == [3, 3, 1]
        assert [len(one.samples) for one in series] == [3, 3, 3]

    def test_a_contestant_times_itself(self) -> None:
        code = """print('{"seconds": 4.5, "peak_kib": 17, "check": "x"}')"""
        one = run_once(python(code, reports=True))
        assert (one.seconds, one.peak_kib, one.check) == (4.5, 17, "x")
        assert one.process_seconds != one.seconds

    def test_prepare_runs_before_each_turn(self) -> None:
        seen: list[int] = []
        take_turns([python("pass", prepare=lambda: seen.append(1))], rounds=2, warm_rounds=1)
        assert len(seen) == 3

    def test_a_failure_stops_with_its_own_words(self) -> None:
        with pytest.raises(BenchmarkError, match="exit code 3: broken"):
            run_once(python("import sys; print('broken', file=sys.stderr); sys.exit(3)"))

    def test_results_that_differ_stop_the_run(self) -> None:
        code = """print('{"seconds": 1.0, "check": "%s"}')"""
        turns = [
            python(code % "x", name="A", reports=True),
            python(code % "y", name="B", reports=True),
        ]
        with pytest.raises(BenchmarkError, match="agree"):
            take_turns(turns, rounds=1, warm_rounds=0)

    def test_what_a_program_printed_is_held_against_the_others(self) -> None:
        counts = python("print('  17 34')", name="A", reads=lambda printed: printed.split()[0])
        assert run_once(counts).check == "17"
        assert run_once(python("print(17)")).check is None
        other = python("""print('{"seconds": 1.0, "check": "18"}')""", name="B", reports=True)
        with pytest.raises(BenchmarkError, match="agree"):
            take_turns([counts, other], rounds=1, warm_rounds=0)

    def test_what_is_not_installed_is_absent(self) -> None:
        absent = program("nothing", "no-such-program-anywhere", role=Role.PEER)
        assert absent.absent == "no-such-program-anywhere is not installed"
        (series,) = take_turns([absent], rounds=2)
        assert series.runs == ()
        assert series.median_seconds() is None


class TestData:
    def test_events_are_canonical_lines_of_one_length(self, tmp_path: Path) -> None:
        path = write_transcript(tmp_path, events=120)
        lines = path.read_bytes().splitlines(keepends=True)
        assert {len(line) for line in lines} == {EVENT_BYTES}
        assert any(not line.isascii() for line in lines)
        for number, line in enumerate(lines, 1):
            record = json.loads(line)
            text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            assert text.encode() + b"\n" == line
            assert record["event_id"] == f"transcript:{TRANSCRIPT_SESSION}:{number}"
        check_transcript_strictly(path, TRANSCRIPT_SESSION, cited_every=10)

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            (b'"sequence":7,', b'"sequence":8,'),
            (b'"sequence":7,', b'"sequence":7.0,'),
            (b'"schema_version":1', b'"schema_version":2'),
            (b"bench-transcript:7", b"bench-transcript:6"),
            (b'"sequence":7,', b'"sequence":NaN,'),
            (b'"sequence":7,', b'"sequence":7,"sequence":7,'),
            (b'{"arguments"', b'\xef\xbb\xbf{"arguments"'),
            (b'"recorded_at":"2026-01-02T03:04:12Z"', b'"recorded_at":"2026-01-02T03:04:12"'),
            (b"said", b"\xff\xfe"),
        ],
    )
    def test_the_strict_check_is_strict(self, tmp_path: Path, old: bytes, new: bytes) -> None:
        path = write_transcript(tmp_path, events=9)
        lines = path.read_bytes().split(b"\n")
        assert old in lines[6]
        lines[6] = lines[6].replace(old, new)
        path.write_bytes(b"\n".join(lines))
        with pytest.raises((ValueError, KeyError)):
            check_transcript_strictly(path, TRANSCRIPT_SESSION, cited_every=9)

    def test_the_strict_check_hashes_what_is_cited(self, tmp_path: Path) -> None:
        path = write_transcript(tmp_path, events=25)
        lines = path.read_bytes().splitlines()
        cited = b"".join(hashlib.sha256(lines[n - 1]).digest() for n in (10, 20, 25))
        found = check_transcript_strictly(path, TRANSCRIPT_SESSION, cited_every=10)
        assert found == hashlib.sha256(cited).hexdigest()

    @pytest.mark.parametrize("text", [ASCII, CHINESE])
    def test_big_artifacts_are_what_they_say(self, tmp_path: Path, text: str) -> None:
        path, pointer = write_big_artifact(tmp_path, "s1", text=text, size=2 << 20)
        content = path.read_bytes()
        assert len(content) == 2 << 20
        assert content.isascii() == (text == ASCII)
        content.decode()
        assert pointer.endswith(":" + hash_file(path))

    def test_the_lists_of_small_artifacts_agree(self, tmp_path: Path) -> None:
        lists = write_small_artifacts(tmp_path, count=1_002)
        items = [line.split() for line in lists.floor_manifest.read_text().splitlines()]
        assert len({digest for _, _, digest in items}) == 1_002
        assert verify_artifacts_by_hand(lists.root, [(a, b, c) for a, b, c in items]) == 1_002
        pointers = lists.pointers.read_text().splitlines()
        for (folder, name, digest), pointer in zip(items, pointers, strict=True):
            assert pointer == f"artifact:{folder.partition('/')[0]}:{name}:{digest}"

    def test_the_floor_finds_an_altered_artifact(self, tmp_path: Path) -> None:
        lists = write_small_artifacts(tmp_path, count=3)
        floor = compiled_floor(tmp_path, root=lists.root, manifest=lists.floor_manifest)
        if floor.absent:
            pytest.skip(floor.absent)
        assert run_once(floor).check == "3/3"
        (altered, *_) = sorted(lists.root.rglob("*.txt"))
        altered.write_bytes(altered.read_bytes()[::-1])
        with pytest.raises(BenchmarkError, match="exit code 1"):
            run_once(floor)

    def test_the_loop_spills_what_it_is_given(self, tmp_path: Path) -> None:
        assert spill_by_hand(tmp_path / "x", [b"one", b"two"]) == 2
        found = sorted(path.read_bytes() for path in (tmp_path / "x").iterdir())
        assert found == [b"one", b"two"]


def files_of(tree: AgentTree) -> list[Path]:
    return sorted(tree.root.rglob("*.jsonl"))


def checked(target: Path) -> AuditReport:
    request = AuditRequest(targets=(str(target),))
    return run_audit(request, clock=lambda: datetime.now(UTC), stopwatch=lambda: 0.0)


class TestTrees:
    def test_a_tree_is_what_it_says(self, tmp_path: Path) -> None:
        tree = write_projects(tmp_path / "p", files=100, size=3_000_000)
        files = files_of(tree)
        contents = {file: file.read_bytes() for file in files}
        assert len(files) == tree.files == 100
        assert sum(map(len, contents.values())) == tree.size
        assert 3_000_000 <= tree.size < 4_000_000
        assert 2_000 < tree.size / tree.records < 3_000
        assert not all(content.isascii() for content in contents.values())
        assert any(file.name.startswith("agent-") for file in files)
        sizes = sorted(map(len, contents.values()))
        assert sizes[-1] > 10 * sizes[50]
        assert count_json_lines(tree.root) == tree.records

    def test_the_first_folder_is_a_tenth_with_the_largest_file(self, tmp_path: Path) -> None:
        tree = write_projects(tmp_path / "p", files=100, size=3_000_000)
        files = files_of(tree)
        first = [file for file in files if tree.first_folder in file.parents]
        assert len(first) * FOLDERS == len(files)
        assert max(files, key=lambda file: file.stat().st_size) in first
        for session in tree.first_sessions:
            content = (tree.first_folder / f"{session.name}.jsonl").read_bytes()
            assert content.count(b"\n") == session.records

    def test_the_same_sizes_give_the_same_bytes(self, tmp_path: Path) -> None:
        one, two = (
            write_projects(tmp_path / name, files=20, size=100_000) for name in ("one", "two")
        )
        names = [[file.relative_to(tree.root) for file in files_of(tree)] for tree in (one, two)]
        assert names[0] == names[1]
        for first, second in zip(files_of(one), files_of(two), strict=True):
            assert first.read_bytes() == second.read_bytes()

    def test_ids_stand_once_and_parents_before_their_children(self, tmp_path: Path) -> None:
        tree = write_projects(tmp_path / "p", files=20, size=1_000_000)
        seen: set[str] = set()
        for file in files_of(tree):
            for line in file.read_bytes().splitlines():
                record = json.loads(line)
                if "uuid" not in record:
                    assert record["type"] == "file-history-snapshot"
                    continue
                assert record["uuid"] not in seen
                assert record["parentUuid"] is None or record["parentUuid"] in seen
                seen.add(record["uuid"])

    @pytest.mark.parametrize(
        ("write", "expected"), [(write_projects, "claude-code"), (write_rollouts, "codex")]
    )
    def test_a_check_finds_nothing_wrong(
        self, tmp_path: Path, write: Callable[..., AgentTree], expected: str
    ) -> None:
        tree = write(tmp_path / "tree", files=20, size=1_000_000)
        report = checked(tree.root)
        assert {one.format for one in report.transcripts} == {expected}
        assert sum(one.records for one in report.transcripts) == tree.records
        assert sum(one.calls for one in report.transcripts) > 20
        assert not any(one.unknown_types for one in report.transcripts)
        found = {finding.code for finding in report.findings}
        assert found <= {"split_message", "open_call"} | FACTS_OF_MACHINES

    def test_one_session_has_exactly_so_many_records(self, tmp_path: Path) -> None:
        (one,) = checked(write_records(tmp_path / "r", records=123)).transcripts
        assert one.records == 123
        assert one.format == "claude-code"

    def test_ours_must_find_whole_files(self, tmp_path: Path) -> None:
        tree = write_projects(tmp_path / "p", files=10, size=50_000)
        contestant = Contestant(
            "ours", Role.OURS, python_task("audit", str(tree.root)), reports=True
        )
        assert run_once(contestant).check == str(tree.records)
        file = files_of(tree)[0]
        file.write_bytes(file.read_bytes()[:-9])
        with pytest.raises(BenchmarkError, match="torn_line"):
            run_once(contestant)


def test_ours_must_be_available(tmp_path: Path) -> None:
    pointers = write_pointers(tmp_path / "p.txt", ["artifact:s:gone.txt:" + "0" * 64])
    argv = python_task("resolve", "--artifacts", str(tmp_path), "--pointers", str(pointers))
    with pytest.raises(BenchmarkError, match="missing"):
        run_once(Contestant("ours", Role.OURS, argv, reports=True))


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_runs(family: str, tmp_path: Path) -> None:
    told: list[str] = []
    plan = Plan(workdir=tmp_path, sizes=TINY, rounds=1, warm_rounds=0, tell=told.append)
    rows = list(FAMILIES[family](plan))
    assert {row.name for row in rows} == ROWS_OF[family]
    assert list(tmp_path.iterdir()) == [], "data is removed when the family is done"
    assert told
    document = to_json(rows, machine=describe_machine(), scale="tiny", rounds=1)
    text = json.dumps(document)
    assert str(tmp_path) not in text
    assert json.loads(text)["schema"] == SCHEMA
    for row in rows:
        assert row.judgements
        assert row.title in table_of(row)
        for contestant in _ours_of(row):
            assert contestant.runs, "ours is measured on every machine"


def _ours_of(row: Row) -> Iterator[Series]:
    return (one for one in row.series if one.contestant.role is Role.OURS)


def test_the_json_holds_ratios_samples_and_verdicts() -> None:
    floor = Contestant("floor", Role.PEER, ("x",))
    ours = Contestant("ours", Role.OURS, ("x",))
    gone = program("gone", "no-such-program-anywhere")
    measured = (sample(3.0, peak_kib=2048), sample(4.0, peak_kib=1024))
    series = (
        Series(ours, measured),
        Series(floor, (sample(1.0), sample(2.0))),
        Series(gone, (None, None)),
    )
    judged = judge_ratio("ours / floor", series[0].samples, series[1].samples, bar=2.0)
    row = Row("name", "title", "floor", series, (judged,), ("a note",))
    document = json.loads(
        json.dumps(
            to_json([row], machine=describe_machine(), scale="full", rounds=2, failures=["f"])
        )
    )
    (found,) = document["rows"]
    assert [one["ratio_to_base"] for one in found["contestants"]] == [2.5, 1.0, None]
    assert found["contestants"][0]["peak_kib"] == 2048
    assert found["contestants"][2]["absent"] == "no-such-program-anywhere is not installed"
    assert found["judgements"][0]["verdict"] == "missed"
    assert document["failures"] == ["f"]
    assert "absent: no-such-program-anywhere" in table_of(row)
    assert "MISSED" in table_of(row)
    assert "bars missed, 1: name (ours / floor)" in summary_of([row])


def test_speed_is_shown_where_the_bytes_are_known() -> None:
    ours = Series(Contestant("ours", Role.OURS, ("x",)), (sample(2.0), sample(4.0)))
    gone = Series(program("gone", "no-such-program-anywhere"), (None, None))
    row = Row("name", "title", "ours", (ours, gone), (), data_bytes=300_000_000)
    assert row.speed_of(ours) == pytest.approx(100.0)
    assert row.speed_of(gone) is None
    header, line = table_of(row).splitlines()[2:4]
    assert header.split()[-1] == "MB/s"
    assert line.split()[-1] == "100"
    document = json.loads(
        json.dumps(to_json([row], machine=describe_machine(), scale="", rounds=2))
    )
    (found,) = document["rows"]
    assert found["data_bytes"] == 300_000_000
    assert [one["mb_per_second"] for one in found["contestants"]] == [100.0, None]
    assert "MB/s" not in table_of(replace(row, data_bytes=None))


def test_the_command_writes_the_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "figures.json"
    work = tmp_path / "work"
    work.mkdir()
    code = main(["--only", "startup", "--rounds", "1", "--workdir", str(work), "--json", str(out)])
    assert code == 0
    assert json.loads(out.read_text())["scale"] == "small"
    assert list(work.iterdir()) == []
    printed = capsys.readouterr().out
    assert "startup: start of the command line" in printed
    assert "indications" in printed
