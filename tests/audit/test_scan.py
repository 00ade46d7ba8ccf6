"""Finding pointers in texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.audit.scan import scan_text
from provenance.pointers import parse_source_pointer

_DIGEST = "0123456789abcdef" * 4


def _found(text: str) -> list[str]:
    return [hit.pointer for hit in scan_text(text)]


@pytest.mark.parametrize(
    "text",
    [
        "transcript:s1:12",
        "see transcript:s1:12.",
        "(transcript:s1:12)",
        "[transcript:s1:12],",
        '"transcript:s1:12"',
        "`transcript:s1:12`;",
        "source=transcript:s1:12; source_status=available",
        "source:transcript:s1:12",
        "transcript:s1:12: the agent says so",
        "transcript:s1:12-15",
        "- transcript:s1:12",
        "-transcript:s1:12",
        "见transcript:s1:12。",
        "\u00a0transcript:s1:12\u2028",
        r'{"text":"line\ntranscript:s1:12\nline"}',
        "\x00transcript:s1:12\x00",
    ],
)
def test_a_pointer_is_found_where_it_stands_in_prose(text: str) -> None:
    assert _found(text) == ["transcript:s1:12"]


@pytest.mark.parametrize(
    "text",
    [
        "mytranscript:s1:12",
        "my-transcript:s1:12",
        "my.transcript:s1:12",
        "_transcript:s1:12",
        "transcript:s1:012",
        "transcript:s1:0",
        "transcript:s1:12x",
        "transcript:s1:12_",
        "transcript:s1:12.5",
        "transcript:s1:12:x",
        "transcript:s1:" + "9" * 19,
        "transcript:s1:\u0661",
        "transcript:-s1:1",
        "Transcript:s1:1",
        "transcript: s1:1",
        "artifact:s1:log.txt:0123456789abc",
        "artifact:s1:log.txt:" + _DIGEST + "0",
        "artifact:s1:log.txt:0123456789ag",
        "artifact:s1:a/b:0123456789ab",
        "",
    ],
)
def test_what_is_no_pointer_is_not_found(text: str) -> None:
    assert _found(text) == []


def test_artifacts_in_either_length_and_case() -> None:
    short, full = "artifact:s1:log.txt:0123456789AB", f"artifact:s1:log.txt:{_DIGEST}"
    assert _found(f"{short}, {full}.") == [short, full]


def test_lines_are_counted_and_quoted() -> None:
    hits = list(scan_text("one\ntwo transcript:s:1 here\n\ntranscript:s:2\r\nend"))
    assert [(hit.line, hit.text) for hit in hits] == [
        (2, "two transcript:s:1 here"),
        (4, "transcript:s:2\r"),
    ]


def test_a_long_line_is_quoted_around_the_pointer() -> None:
    (hit,) = scan_text("x" * 10_000 + " transcript:s:1 " + "y" * 10_000)
    assert "transcript:s:1" in hit.text
    assert len(hit.text) <= 200


_names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)
_pointers = st.one_of(
    st.builds("transcript:{}:{}".format, _names, st.integers(1, 10**18 - 1)),
    st.builds(
        "artifact:{}:{}:{}".format,
        _names,
        _names,
        st.from_regex(r"[0-9a-fA-F]{12}", fullmatch=True),
    ),
)


@given(
    st.lists(_pointers, max_size=8), st.sampled_from([" ", "\n", ", ", ". ", ") (", "; ", '","'])
)
def test_every_pointer_between_punctuation_is_found(pointers: list[str], between: str) -> None:
    assert _found(between.join(pointers)) == pointers


@given(st.text(alphabet="transcipfa:s1.-_0 \n\\", max_size=300))
def test_what_is_found_parses_and_stands_in_the_text(text: str) -> None:
    for hit in scan_text(text):
        assert str(parse_source_pointer(hit.pointer)).lower() == hit.pointer.lower()
        assert hit.pointer in hit.text
        assert hit.pointer in text.split("\n")[hit.line - 1]


@pytest.mark.parametrize(
    "text",
    [
        "transcript:" * 200_000,
        "artifact:" + "a" * 2_000_000,
        ("artifact:" + "a" * 199 + ":") * 10_000,
        "artifact:a:a:" * 100_000,
    ],
)
def test_texts_made_to_be_slow_are_scanned_all_the_same(text: str) -> None:
    # Quadratic work would take hours here; pytest's own guard would end it.
    assert _found(text) == []
