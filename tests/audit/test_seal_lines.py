"""Digests of lines: those of the definition, wherever the blocks end."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.audit import seal_lines
from provenance.audit.seal_lines import line_digests


def _defined(data: bytes, *, tail: bool) -> tuple[list[str], int]:
    *lines, rest = data.split(b"\n")
    if tail and rest:
        lines.append(rest)
        rest = b""
    return [hashlib.sha256(line.rstrip(b"\r\n")).hexdigest() for line in lines], len(rest)


@given(
    st.lists(st.sampled_from([b"\n", b"\r", b"\r\n", b"a", b"bc" * 9, b"\r" * 20]), max_size=30),
    st.integers(1, 9),
    st.booleans(),
)
def test_the_size_of_a_block_decides_nothing(parts: list[bytes], block: int, tail: bool) -> None:
    data = b"".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seal_lines, "_BLOCK_BYTES", block)
        found = line_digests(
            lambda offset, size: data[offset : offset + size],
            len(data),
            is_whole=lambda rest: tail,
        )
    assert found == _defined(data, tail=tail)


def test_a_file_that_is_shorter_than_it_was() -> None:
    data = b"a\nb\n"
    found = line_digests(lambda o, s: data[o : o + s], 1_000, is_whole=lambda rest: True)
    assert found == _defined(data, tail=True)
