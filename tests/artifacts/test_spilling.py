"""Two writers, one content: what happens between a draft and its name."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from provenance.artifacts import ArtifactStore, StoreWriteError, spilling
from provenance.artifacts.segments import ContentFacts, describe
from tests.artifacts.trees import artifacts_in, check_session_is_whole, ledger_lines


def test_what_another_writer_stored_meanwhile_is_answered(store: ArtifactStore, home: Path) -> None:
    with ArtifactStore(home) as another:

        def chunks() -> Iterator[bytes]:
            yield b"te"
            another.spill("s1", "text", name="log.txt")
            yield b"xt"

        assert store.spill_stream("s1", chunks(), name="other").filename == "log.txt"
    assert [line["event"] for line in ledger_lines(home)] == ["stored", "renamed"]
    assert artifacts_in(home) == {"log.txt": b"text"}


def test_what_was_stored_and_altered_meanwhile_is_stored_anew(
    store: ArtifactStore, home: Path
) -> None:
    with ArtifactStore(home) as another:

        def chunks() -> Iterator[bytes]:
            yield b"te"
            another.spill("s1", "text")
            (home / "s1" / "tool-results" / "tool_result_001.txt").write_bytes(b"TEXT")
            yield b"xt"

        assert store.spill_stream("s1", chunks()).filename == "tool_result_002.txt"
    assert ledger_lines(home)[1]["reason"] == "tool_result_001.txt is missing or altered"


def test_a_folder_replaced_under_a_stream_is_an_error_and_nothing_more(
    store: ArtifactStore, home: Path
) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"te"
        (home / "s1").rename(home / "old")
        yield b"xt"

    with pytest.raises(StoreWriteError, match="stay in place"):
        store.spill_stream("s1", chunks())
    assert artifacts_in(home, "old") == {}
    assert artifacts_in(home) == {}
    assert store.spill("s1", "text").filename == "tool_result_001.txt"


def test_a_folder_replaced_under_content_in_memory_is_written_again(
    store: ArtifactStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced: list[bytes] = []

    def replacing(data: bytes) -> ContentFacts:
        if not replaced:
            (home / "s1").rename(home / "old")
            replaced.append(data)
        return describe(data)

    monkeypatch.setattr(spilling, "describe", replacing)
    assert store.spill("s1", "text").filename == "tool_result_001.txt"
    assert artifacts_in(home) == {"tool_result_001.txt": b"text"}
    assert artifacts_in(home, "old") == {}


def test_a_folder_that_never_stays_is_given_up(
    store: ArtifactStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 0

    def replacing(data: bytes) -> ContentFacts:
        nonlocal count
        count += 1
        (home / "s1").rename(home / f"old{count}")
        return describe(data)

    monkeypatch.setattr(spilling, "describe", replacing)
    with pytest.raises(StoreWriteError, match="stay in place"):
        store.spill("s1", "text")
    assert count == 3


def test_threads_share_a_store(store: ArtifactStore, home: Path) -> None:
    texts = [f"text {number % 60}" for number in range(120)]
    with ThreadPoolExecutor(8) as pool:
        spilled = list(pool.map(lambda text: store.spill("s1", text), texts))
        more = list(pool.map(lambda text: store.spill(f"s{len(text)}", text), texts))
    assert len({item.pointer for item in spilled}) == 60
    assert all(
        store.read(item.pointer).text == text for item, text in zip(spilled, texts, strict=True)
    )
    assert all(
        store.read(item.pointer).text == text for item, text in zip(more, texts, strict=True)
    )
    assert len(check_session_is_whole(home)) == 60
