"""From a lost artifact to every summary that its text went into, on real homes and receipts."""

from __future__ import annotations

import functools
import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from provenance.artifacts import ArtifactStore
from provenance.audit import AuditRequest, run_audit
from provenance.audit_report import AuditedSource, AuditReport
from provenance.compaction import CompactionConfig, Receipt, compact_context
from provenance.compaction.changes import ChangedBlock, InsertedBlock
from provenance.durable import DurableContextState, DurableFact, PendingItem, RetrievalEvidence
from provenance.reports import result_line, write_ndjson
from provenance.transcripts import TranscriptWriter

_MOMENT = datetime(2026, 1, 5, 12, tzinfo=UTC)
_TIME = "2026-01-05T12:00:00Z"


def _audit(*targets: Path, **more: Any) -> AuditReport:
    request = AuditRequest(targets=tuple(map(str, targets)), **more)
    return run_audit(request, clock=lambda: _MOMENT, stopwatch=lambda: 0.0)


def _of(report: AuditReport, pointer: str) -> AuditedSource:
    (found,) = [one for one in report.sources if one.resolution.pointer == pointer]
    return found


def _write(home: Path, name: str, receipt: Receipt) -> Path:
    (home / "receipts").mkdir(parents=True, exist_ok=True)
    path = home / "receipts" / name
    path.write_text(receipt.to_json())
    return path


def _told(source: AuditedSource) -> list[tuple[str, str, str | None, int, int | None]]:
    return [(one.kind, one.file, one.item, one.steps, one.parent) for one in source.consequences]


@pytest.fixture
def compacted(tmp_path: Path) -> tuple[Path, str]:
    """A home in which a large result was spilled and cut, and summarised in two rounds."""
    home = tmp_path / "home"
    store = ArtifactStore(home)
    spill = functools.partial(store.spill, "run-1")
    config = CompactionConfig(
        soft_limit=10,
        hard_limit=10**6,
        max_tool_result_tokens=200,
        keep_recent_messages=100,
        summary_keep_recent=2,
    )
    call = {"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "df"}}
    messages: list[Any] = [
        {"role": "user", "content": "Which disk is slow?"},
        {"role": "assistant", "content": [call]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "disk\n" * 2_000}],
        },
    ]
    pointer = ""
    for number in range(3):
        for turn in range(4):
            messages.append(
                {"role": "assistant", "content": f"Working on it, {number} {turn}. " * 20}
            )
            messages.append({"role": "user", "content": f"Go on, {number} {turn}. " * 20})
        result = compact_context(
            messages,
            durable_state=None,
            summarizer=lambda text: f"A disk was looked at ({len(text)}).",
            config=config,
            spill=spill,
        )
        assert result.summary is not None
        _write(home, f"{number}.json", result.receipt)
        pointer = pointer or result.receipt.pointers[0]
        messages = result.messages
    return home, pointer


def test_from_a_lost_result_through_three_summaries(compacted: tuple[Path, str]) -> None:
    home, pointer = compacted
    assert _of(_audit(home), pointer).consequences == ()  # it is there: nothing follows
    shutil.rmtree(home / "run-1" / "tool-results")
    told = _told(_of(_audit(home), pointer))
    assert told == [
        ("text", "receipts/0.json", "message 2 block 0", 1, None),
        ("summary", "receipts/0.json", "message 0 block 0", 2, 0),
        ("summary", "receipts/1.json", "message 0 block 0", 3, 1),
        ("summary", "receipts/2.json", "message 0 block 0", 4, 2),
    ]


def test_the_same_for_several_processes_and_in_every_json_format(
    compacted: tuple[Path, str],
) -> None:
    home, pointer = compacted
    shutil.rmtree(home / "run-1" / "tool-results")
    one, two = _audit(home), _audit(home, jobs=2)
    assert one.sources == two.sources
    line = json.loads(result_line(_of(one, pointer)))
    assert [entry["steps"] for entry in line["consequences"]] == [1, 2, 3, 4]
    assert line["consequences_left_out"] == 0
    assert json.loads("".join(write_ndjson(one)).splitlines()[0])["consequences"]


def test_receipts_that_are_named_are_followed_with_those_of_the_home(
    compacted: tuple[Path, str], tmp_path: Path
) -> None:
    home, pointer = compacted
    shutil.rmtree(home / "run-1" / "tool-results")
    alone = tmp_path / "last.json"
    (home / "receipts" / "2.json").rename(alone)
    files = [one.file for one in _of(_audit(home, alone), pointer).consequences]
    assert files == [
        "home/receipts/0.json",
        "home/receipts/0.json",
        "home/receipts/1.json",
        str(alone.name),
    ]


def test_each_item_of_a_state_is_told_by_its_kind(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "states").mkdir(parents=True)
    pointer = "transcript:gone:3"
    state = DurableContextState(
        [DurableFact("f1", "It is so.", pointer, _TIME)],
        [PendingItem("p1", "Do it.", pointer, _TIME)],
        [RetrievalEvidence("m1", pointer, "note", "A note", _TIME, 0.5, 1)],
    )
    (home / "states" / "a.json").write_text(state.to_json())
    (source,) = _audit(home).sources
    assert _told(source) == [
        ("fact", "states/a.json", "f1", 1, None),
        ("pending_item", "states/a.json", "p1", 1, None),
        ("evidence", "states/a.json", "m1", 1, None),
    ]
    assert [one.text for one in source.consequences] == ["It is so.", "Do it.", "A note"]


def test_a_text_that_was_scanned(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("see transcript:gone:3\n")
    (tmp_path / "logs").mkdir()
    (source,) = _audit(note, scan=True, transcript_root=str(tmp_path / "logs")).sources
    assert _told(source) == [("text", "note.md", "line 1", 1, None)]


def _home_with_event(home: Path, pointer: str, mention: str) -> None:
    (home / "states").mkdir(parents=True)
    (home / "transcripts").mkdir()
    with TranscriptWriter(home / "transcripts", "s1") as log:
        log.append({"type": "message", "content": "nothing of it"})
        event = log.append({"type": "result", "content": f"Output stored as {mention} for you"})
        log.append({"type": "message", "content": f"uncited: {mention}"})
    facts = [
        DurableFact("direct", "It is so.", pointer, _TIME),
        DurableFact("through", "So it is.", event.pointer, _TIME),
        DurableFact("other", "Not this.", "transcript:s1:1", _TIME),
    ]
    state = DurableContextState(facts)
    (home / "states" / "a.json").write_text(state.to_json())


_FULL = f"artifact:s1:a.txt:{'ab' * 32}"
_SHORT = f"artifact:s1:a.txt:{'ab' * 6}"


@pytest.mark.parametrize(
    ("cited", "mentioned"),
    [
        (_FULL, _FULL),
        (_SHORT, _FULL),
        (_FULL, _SHORT),
        (_SHORT, _SHORT.upper().replace("ARTIFACT:S1:A.TXT", "artifact:s1:a.txt")),
    ],
)
def test_through_the_event_that_speaks_of_it(tmp_path: Path, cited: str, mentioned: str) -> None:
    home = tmp_path / "home"
    _home_with_event(home, cited, mentioned)
    source = _of(_audit(home), cited)
    assert _told(source) == [
        ("fact", "states/a.json", "direct", 1, None),
        ("text", "transcripts/s1.jsonl", "transcript:s1:2", 1, None),
        ("fact", "states/a.json", "through", 2, 1),
    ]
    assert source.consequences[1].text is None  # no evidence
    assert source.consequences[2].text == "So it is."
    assert _audit(home, jobs=2).sources == _audit(home).sources


@pytest.mark.parametrize(
    "mentioned",
    [
        f"artifact:s1:a.txt:{'cd' * 32}",
        f"artifact:s2:a.txt:{'ab' * 32}",
        f"artifact:s1:b.txt:{'ab' * 32}",
        f"xartifact:s1:a.txt:{'ab' * 32}",
    ],
)
def test_an_event_that_speaks_of_another(tmp_path: Path, mentioned: str) -> None:
    _home_with_event(tmp_path / "home", _FULL, mentioned)
    assert len(_of(_audit(tmp_path / "home"), _FULL).consequences) == 1


def test_a_denied_event_is_not_read_for_mentions(tmp_path: Path) -> None:
    home = tmp_path / "home"
    _home_with_event(home, _FULL, _FULL)
    (home / "ctxaudit.toml").write_text(
        '[[rule]]\neffect = "deny"\nkind = "transcript"\nsession = "s1"\n'
    )
    assert len(_of(_audit(home), _FULL).consequences) == 1


def test_an_interrupt_while_mentions_are_looked_for_loses_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    _home_with_event(tmp_path / "home", _FULL, _FULL)
    monkeypatch.setattr("provenance.audit.mentions.Mentions.look", interrupt)
    report = _audit(tmp_path / "home")
    assert report.is_interrupted
    assert report.sources
    assert report.summary.total == 3


def _hostile(make: Callable[[int], tuple[str, list[str]]], count: int) -> Receipt:
    removed = tuple(
        ChangedBlock(
            0, number, "text", None, "x", make(0)[1][0], 1, f"artifact:s:f{number}:{'0' * 12}"
        )
        for number in range(3)
    )
    inserted = tuple(
        InsertedBlock(number, 0, "conversation_summary", make(number)[0], tuple(make(number)[1]))
        for number in range(count)
    )
    return Receipt(1, count, 1, 1, (), removed, inserted)


def test_a_receipt_that_goes_in_circles(tmp_path: Path) -> None:
    digests = [f"{number:064x}" for number in range(4)]
    circle = _hostile(lambda number: (digests[(number + 1) % 4], [digests[number]]), 4)
    _write(tmp_path / "home", "a.json", circle)
    for source in _audit(tmp_path / "home").sources:
        assert [one.steps for one in source.consequences] == [1, 2, 3, 4, 5]
        assert source.consequences_left_out == 0


def test_a_receipt_with_more_summaries_than_anybody_reads(tmp_path: Path) -> None:
    wide = _hostile(lambda number: (f"{number + 1:064x}", ["0" * 64]), 2_000)
    _write(tmp_path / "home", "a.json", wide)
    for source in _audit(tmp_path / "home").sources:
        assert len(source.consequences) == 1_000
        assert source.consequences_left_out == 1_001
