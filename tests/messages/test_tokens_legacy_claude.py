"""The published vocabulary of Claude 1 and 2: the packaged file and the merging."""

from __future__ import annotations

import pkgutil
import sys
import unicodedata
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.messages import _legacy_claude as legacy
from provenance.messages._legacy_claude import VocabularyFileError, count_legacy_claude


def test_the_file_is_the_published_one() -> None:
    data = pkgutil.get_data("provenance.messages.vocabularies", "claude.json")
    assert data is not None
    assert sha256(data).hexdigest() == (
        "58dad83d85e9cd57be209172449ebfbc395df2b455c11fe8b7e5b661e6f462ad"
    )
    licence = pkgutil.get_data("provenance.messages.vocabularies", "claude.LICENSE")
    assert licence is not None
    assert licence.startswith(b"Copyright 2023 Anthropic, PBC.")


def test_ranks_begin_after_the_special_tokens() -> None:
    ranks = legacy._ranks()
    assert min(ranks.values()) == 5
    assert len(ranks) == 64_995
    assert all(bytes([byte]) in ranks for byte in range(256))


def _merge_slowly(data: bytes) -> int:
    """Merge as the definition has it: look at all pairs, take the lowest rank, start again."""
    ranks = legacy._ranks()
    parts = [data[at : at + 1] for at in range(len(data))]
    while True:
        pairs = [ranks.get(parts[at] + parts[at + 1]) for at in range(len(parts) - 1)]
        known = [rank for rank in pairs if rank is not None]
        if not known:
            return len(parts)
        at = pairs.index(min(known))
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


@given(st.binary(min_size=1, max_size=60) | st.text("aeht n", min_size=1).map(str.encode))
def test_merging_follows_the_definition(data: bytes) -> None:
    assert legacy._merge(data, legacy._ranks()) == _merge_slowly(data)


@given(st.text())
def test_no_character_is_left_out_of_the_pieces(text: str) -> None:
    assert "".join(legacy._pattern().findall(text)) == text


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("I'll don't", ["I", "'ll", " don", "'t"]),
        ("I'LL", ["I", "'", "LL"]),
        ("a  b", ["a", " ", " b"]),
        ("a \n", ["a", " \n"]),
        ("x12 345", ["x", "12", " 345"]),
        ("²Ⅷ٣", ["²Ⅷ٣"]),
        ("a\x1cb", ["a", "\x1c", "b"]),
        (" \x1c", [" \x1c"]),
        ("\u3000好", ["\u3000", "好"]),
    ],
)
def test_pieces(text: str, pieces: list[str]) -> None:
    assert legacy._pattern().findall(text) == pieces


def test_no_letter_or_number_stands_above_the_planes_that_are_looked_at() -> None:
    above = map(chr, range(legacy._PLANES, sys.maxunicode + 1))
    assert {unicodedata.category(character)[0] for character in above} == {"C", "M"}


def test_text_is_normalised_first() -> None:
    assert count_legacy_claude("ﬁ①Ａ") == count_legacy_claude("fi1A")


def test_nothing_has_no_tokens() -> None:
    assert count_legacy_claude("") == 0


def test_half_a_surrogate_pair_is_the_callers_to_replace() -> None:
    with pytest.raises(UnicodeEncodeError):
        count_legacy_claude("\ud800")


@pytest.mark.parametrize("answer", [OSError("gone"), None])
def test_an_incomplete_installation_is_said(answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def get_data(package: str, resource: str) -> None:
        if answer is not None:
            raise answer

    monkeypatch.setattr(legacy, "get_data", get_data)
    with pytest.raises(VocabularyFileError, match=r"^claude\.json: expected a "):
        legacy._ranks.__wrapped__()
