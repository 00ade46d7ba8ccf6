"""What a writer that died left behind is put right, and nothing true is lost."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from provenance.artifacts import ArtifactStore
from provenance.artifacts.recovery import TORN_NAME
from provenance.fs import BoundaryRefused
from tests.artifacts.trees import check_session_is_whole, ledger_lines, ledger_of


def test_a_whole_line_without_its_end_and_its_artifact_gets_the_end(
    store: ArtifactStore, home: Path
) -> None:
    spilled = store.spill("s1", "text", tool="bash")
    data = ledger_of(home).read_bytes()
    ledger_of(home).write_bytes(data[:-1])
    with ArtifactStore(home, clock=lambda: datetime(2026, 1, 2, 3, 4, 6, tzinfo=UTC)) as another:
        assert another.spill("s1", "text") == spilled
    assert ledger_of(home).read_bytes() == data


def test_a_line_for_an_artifact_that_never_came_is_taken_back(
    store: ArtifactStore, home: Path
) -> None:
    store.spill("s1", "text")
    data = ledger_of(home).read_bytes()
    second = store.spill("s1", "second")
    ledger_of(home).write_bytes(ledger_of(home).read_bytes()[:-1])
    (home / "s1" / "tool-results" / second.filename).unlink()
    with ArtifactStore(home) as another:
        assert another.spill("s1", "third").filename == "tool_result_002.txt"
    assert ledger_of(home).read_bytes().startswith(data)
    assert not (home / "s1" / TORN_NAME).exists()
    check_session_is_whole(home)


@pytest.mark.parametrize("cut", [1, 40, -2])
def test_a_torn_line_is_set_aside_byte_for_byte(store: ArtifactStore, home: Path, cut: int) -> None:
    store.spill("s1", "text")
    whole = ledger_of(home).read_bytes()
    torn = whole[:cut]
    ledger_of(home).write_bytes(whole + torn)
    second = store.spill("s1", "second")
    assert second.filename == "tool_result_002.txt"
    assert (home / "s1" / TORN_NAME).read_bytes() == torn + b"\n"
    assert ledger_of(home).read_bytes().startswith(whole)
    check_session_is_whole(home)


def test_a_whole_line_that_is_not_true_is_set_aside(store: ArtifactStore, home: Path) -> None:
    store.spill("s1", "text")
    lie = ledger_of(home).read_bytes()[:-1].replace(b"_001.txt", b"_002.txt")
    (home / "s1" / "tool-results" / "tool_result_002.txt").write_bytes(b"TEXT")
    with ledger_of(home).open("ab") as ledger:
        ledger.write(lie)
    with ArtifactStore(home) as another:
        assert another.spill("s1", "third").filename == "tool_result_003.txt"
    assert (home / "s1" / TORN_NAME).read_bytes() == lie + b"\n"
    assert [line["reason"] for line in ledger_lines(home)] == [None, "recovered", None]
    check_session_is_whole(home)


def test_a_removal_without_its_line_end_is_kept(store: ArtifactStore, home: Path) -> None:
    spilled = store.spill("s1", "text")
    (home / "s1" / "tool-results" / spilled.filename).unlink()
    with ledger_of(home).open("a") as ledger:
        ledger.write(
            '{"schema":"ctxaudit.artifact/1","event":"removed","filename":"tool_result_001.txt"}'
        )
    assert store.spill("s1", "text").filename == "tool_result_002.txt"
    assert [line["event"] for line in ledger_lines(home)] == ["stored", "removed", "stored"]


def test_a_planted_link_for_the_torn_bytes_is_not_followed(
    store: ArtifactStore, home: Path, tmp_path: Path
) -> None:
    store.spill("s1", "text")
    with ledger_of(home).open("ab") as ledger:
        ledger.write(b'{"torn')
    (home / "s1" / TORN_NAME).symlink_to(tmp_path / "victim")
    with pytest.raises(BoundaryRefused):
        store.spill("s1", "second")
    assert not (tmp_path / "victim").exists()
    assert ledger_of(home).read_bytes().endswith(b'{"torn')


def test_artifacts_without_lines_get_them(home: Path) -> None:
    folder = home / "s1" / "tool-results"
    folder.mkdir(parents=True)
    data = b"line\n" * 300_000
    (folder / "tool_result_005.txt").write_bytes(data)
    (folder / "log.txt").write_bytes(b"\xff not utf-8")
    (folder / "not in the grammar").write_bytes(b"")
    os.mkfifo(folder / "fifo")
    (folder / "link").symlink_to("log.txt")
    with ArtifactStore(home) as store:
        assert store.spill("s1", data).filename == "tool_result_005.txt"
        assert store.spill("s1", "new").filename == "tool_result_006.txt"
        assert store.spill("s1", "fifo", name="fifo").filename == "x-_n2-fifo"
    lines = ledger_lines(home)
    assert [(line["filename"], line["reason"]) for line in lines] == [
        ("log.txt", "recovered"),
        ("tool_result_005.txt", "recovered"),
        ("tool_result_006.txt", None),
        ("x-_n2-fifo", None),
    ]
    assert lines[1]["segment_lines"] == [209715, 90285]


def test_drafts_of_dead_writers_go_when_they_are_old(home: Path) -> None:
    folder = home / "s1" / "tool-results"
    folder.mkdir(parents=True)
    old, young, foreign = (
        folder / name
        for name in (".ctxaudit-0123456789abcdef.tmp", ".ctxaudit-1.tmp", ".other.tmp")
    )
    published = folder / ".ctxaudit-2.tmp"
    for path in (old, young, foreign):
        path.write_bytes(b"half")
    for path in (old, foreign):
        os.utime(path, (0, 0))
    (folder / "log.txt").write_bytes(b"text")
    os.link(folder / "log.txt", published)
    target = home / "target"
    target.write_bytes(b"precious")
    os.utime(target, (0, 0))
    (folder / ".ctxaudit-3.tmp").symlink_to(target)
    with ArtifactStore(home) as store:
        store.spill("s1", "new")
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == [
        ".ctxaudit-1.tmp",
        ".ctxaudit-3.tmp",
        ".other.tmp",
    ]
    assert target.read_bytes() == b"precious"
    assert (folder / "log.txt").stat().st_nlink == 1
