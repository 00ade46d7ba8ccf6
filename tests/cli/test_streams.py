"""Standard output and error in pipelines."""

from __future__ import annotations

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli import streams


@given(st.text())
def test_one_line_is_one_bounded_line_that_steers_nothing(text: str) -> None:
    line = streams.one_line(text)
    assert line.isprintable()
    assert len(line) <= 10 * 1_010
    assert streams.one_line(line) == line
    if text.isprintable() and len(text) <= 1_000:
        assert line == text


@given(st.text(), st.sampled_from(["utf-8", "ascii", "latin-1", "cp1252"]))
def test_any_text_can_be_written_in_any_encoding(text: str, encoding: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        patch.setattr(sys, "stderr", stream)
        streams.prepare()
        streams.write_text(text)
        streams.talk(text)
    assert stream.buffer.getvalue().count(b"\n") >= 1  # type: ignore[attr-defined]


def test_a_stream_that_is_closed_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO())
    stream.close()
    monkeypatch.setattr(sys, "stdout", stream)
    with pytest.raises(streams.OutputFailed):
        streams.write_text("x")
    assert not streams.settle()
