"""Which formats there are, and which one a source is of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.errors import CallerError
from provenance.transcripts.adapters.protocol import TranscriptFormat
from provenance.transcripts.formats import (
    NATIVE,
    FormatError,
    find_format,
    format_named,
    format_names,
    is_candidate,
    known_formats,
    rejected_formats,
)
from provenance.transcripts.sources import HEAD_BYTES, Head

DATA = Path(__file__).parents[1] / "data"
OURS = [
    "claude-code", "codex", "dsh", "gemini-cli", "inspect", "native", "openai-agents", "openhands",
]  # fmt: skip


def test_the_formats_by_name() -> None:
    assert list(format_names()) == OURS
    assert list(known_formats())[-1] == NATIVE
    for name, one in known_formats().items():
        assert one.name == name
        assert isinstance(one, TranscriptFormat)
        assert re.fullmatch(r"[a-z0-9-]+", name)
        assert one.suffixes
        assert all(suffix.startswith(".") and suffix.islower() for suffix in one.suffixes)
    assert rejected_formats() == ()


@pytest.mark.parametrize("name", ["", "claude", "Claude-Code", "native ", "x" * 999, "\n", "../x"])
def test_a_name_of_no_format(name: str) -> None:
    with pytest.raises(FormatError, match="expected one of claude-code, codex") as raised:
        format_named(name)
    assert isinstance(raised.value, CallerError)
    assert isinstance(raised.value, ValueError)
    assert len(str(raised.value)) < 300
    assert "\n" not in str(raised.value)


def _samples() -> list[tuple[str, Path]]:
    folders = {"native": DATA / "native"} | {
        name: DATA / "transcripts" / name for name in OURS if name != "native"
    }
    return [
        (name, path)
        for name, folder in folders.items()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and is_candidate(path.name) and "conversation" not in path.parts
    ]


@pytest.mark.parametrize(
    ("name", "path"), _samples(), ids=lambda value: str(value).removeprefix(str(DATA))
)
def test_every_sample_is_of_its_format_and_of_no_other(name: str, path: Path) -> None:
    data = path.read_bytes()
    head = Head(path.name, data[:HEAD_BYTES], is_whole=len(data) <= HEAD_BYTES)
    found = find_format(head)
    if path.stem in ("empty", "deep-nesting-x"):
        assert found is None
        return
    assert found is not None, path
    assert found.name == name
    # The name of a file tells nothing by itself.
    others = [one.name for one in known_formats().values() if one.identify(head)]
    assert [one for one in others if one not in (name, NATIVE)] == []
    other = find_format(Head("x", head.data, is_whole=head.is_whole))
    assert other is not None or name == "codex"


@given(
    st.one_of(
        st.binary(max_size=80),
        st.sampled_from(["{", "[", '{"type":', '{"type":"user"}\n', "PK\x03\x04", "SQLite"]).map(
            str.encode
        ),
    ),
    st.sampled_from(["a.jsonl", "a", "", "a.db", "agent-1.jsonl", "\ud83d"]),
    st.booleans(),
)
def test_no_bytes_make_a_format_raise(data: bytes, name: str, is_whole: bool) -> None:
    head = Head(name, data, is_whole=is_whole)
    for one in known_formats().values():
        assert one.identify(head) in (True, False)
    find_format(Head(name, names=[name, "events", "base_state.json"]))


def test_empty_and_strange_files_are_of_no_format() -> None:
    for data in (b"", b"\n", b"hello\n", b'{"hello":"world"}\n', b"[]\n", b"\0" * 4_096):
        assert find_format(Head("a.jsonl", data)) is None
    assert find_format(Head("folder", names=["a.txt", "b.jsonl"])) is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a.jsonl", True), ("A.JSONL", True), (".jsonl", True), ("a.jsonl.zst", True),
        ("a.eval", True), ("a.db", True), ("a.json", True), ("jsonl", False), ("a.jsonl~", False),
        ("a.txt", False), ("", False), ("a.jsonl\n", False),
    ],
)  # fmt: skip
def test_names_that_transcripts_have(name: str, said: bool) -> None:
    assert is_candidate(name) is said
