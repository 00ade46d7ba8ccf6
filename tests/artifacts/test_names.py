"""Names of artifacts: readable where they can be, injective always."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.artifacts.names import (
    MAX_NAME_CHARS,
    automatic_name,
    automatic_number,
    encode_name,
    is_name_for,
)
from provenance.pointers import is_name

# Texts in which every trap is likely: the marks, escapes, dots, cases, surrogates, great lengths.
_TRICKY = st.text(alphabet=st.sampled_from("xX-_nN2s5a6fheCO./é\ud800\ude00 \n"), max_size=10)
_REAL = st.sampled_from(
    [
        "", "..", ".", "a/b", "a_2fb", "x-a_2fb", "X-a_2fb", "CON", "con", "x-CON", "nul.txt",
        "COM1", "lpt9.tar.gz", "CONSOLE", "é", "tool_result_001.txt", "Tool_Result_1.TXT",
        "log.txt", "log.txt.", "log.txt ", "x-", "x-_n2-log.txt", "x-_sha256_" + "0" * 64,
        "-" * 300, "a" * 200, "a" * 201, "call_" + "9" * 1395, "\ud800", "\U0001f600",
        "\ud83d\ude00",
    ]
)  # fmt: skip
_TEXTS = st.one_of(
    st.text(max_size=260),
    st.text(alphabet=st.characters(), min_size=195, max_size=205),
    _TRICKY,
    _REAL,
    # What looks encoded already.
    st.builds(lambda text, n: encode_name(text, occurrence=n), _TRICKY | _REAL, st.integers(1, 12)),
)
_PAIRS = st.tuples(_TEXTS, st.integers(1, 12))


@given(_PAIRS)
def test_every_name_is_in_the_grammar_and_means_nothing_else(pair: tuple[str, int]) -> None:
    name = encode_name(pair[0], occurrence=pair[1])
    assert is_name(name)
    assert len(name) <= MAX_NAME_CHARS
    assert not name.endswith(".")
    assert re.fullmatch(r"(?i)tool_result_[0-9]+\.txt", name) is None
    assert name.split(".", maxsplit=1)[0].upper() not in {"CON", "PRN", "AUX", "NUL"}


@given(st.lists(_PAIRS, min_size=2, max_size=20, unique=True))
def test_two_suggestions_never_meet(pairs: list[tuple[str, int]]) -> None:
    names = [encode_name(text, occurrence=number) for text, number in pairs]
    assert len(set(names)) == len(pairs)


@given(_PAIRS, _TEXTS)
def test_a_name_is_known_for_its_own_suggestion_alone(pair: tuple[str, int], other: str) -> None:
    text, number = pair
    name = encode_name(text, occurrence=number)
    assert is_name_for(name, text)
    assert is_name_for(name, other) == (text == other)


@pytest.mark.parametrize("name", ["log.txt", "README.md", "a", "0", "call_1-2.json", "a" * 200])
def test_a_plain_name_stays_as_it_is(name: str) -> None:
    assert encode_name(name) == name


@pytest.mark.parametrize(
    ("suggested", "name"),
    [
        ("", "x-"),
        ("..", "x-._2e"),
        ("CON", "x-CON"),
        ("con.txt", "x-con.txt"),
        ("CONS", "CONS"),
        ("COM1", "x-COM1"),
        ("COM10", "COM10"),
        ("a/b", "x-a_2fb"),
        ("é", "x-_c3_a9"),
        ("x-a", "x-x-a"),
        ("y-a", "y-a"),
        ("a.", "x-a_2e"),
        (".a", "x-.a"),
        ("tool_result_001.txt", "x-tool_5fresult_5f001.txt"),
        ("tool_result_001.text", "tool_result_001.text"),
    ],
)
def test_other_names_are_encoded_readably(suggested: str, name: str) -> None:
    assert encode_name(suggested) == name


def test_a_long_call_id_is_named_by_its_digest() -> None:
    name = encode_name("c" * 1400)
    assert re.fullmatch(r"x-_sha256_[0-9a-f]{64}", name)
    assert encode_name("c" * 1400, occurrence=2) == f"x-_n2-{name[2:]}"


@pytest.mark.parametrize(
    ("number", "name"), [(1, "tool_result_001.txt"), (999, "tool_result_999.txt"),
                         (1000, "tool_result_1000.txt"), (10**17, f"tool_result_{10**17}.txt")],
)  # fmt: skip
def test_automatic_names_print_and_parse(number: int, name: str) -> None:
    assert automatic_name(number) == name
    assert automatic_number(name) == number


@pytest.mark.parametrize(
    "name",
    [
        "tool_result_000.txt",
        "tool_result_1.txt",
        "tool_result_0001.txt",
        "tool_result_0100.txt",
        "Tool_result_001.txt",
        "tool_result_001.txt\n",
        "tool_result_٠٠١.txt",
        f"tool_result_{'9' * 19}.txt",
        f"tool_result_{'9' * 5000}.txt",
    ],
)
def test_what_is_no_automatic_name_counts_nothing(name: str) -> None:
    assert automatic_number(name) is None
