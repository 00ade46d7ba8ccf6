"""Pointers: the grammar decides alone, in one order, and no two texts mean one source."""

from __future__ import annotations

import pickle
import string
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from provenance.errors import CtxauditError, DataError
from provenance.pointers import (
    SourcePointer,
    SourcePointerError,
    SourcePointerKind,
    UnsupportedSourcePointerError,
    artifact_pointer,
    is_name,
    parse_source_pointer,
    transcript_pointer,
)

_D12 = "0123456789ab"
_D64 = "0123456789abcdef" * 4

# Pieces that stand near the borders of the grammar: glued together they hit its rules far more
# often than random text does.
_PIECES = st.sampled_from(
    [
        "transcript", "artifact", "Transcript", "TRANSCRIPT", ":", "::", "s1", "a.txt", "A", "a",
        "_", "-x", ".x", "..", ".", "1", "0", "01", "12", "²", "٣", "१", "x" * 200, "x" * 201,
        _D12, _D12.upper(), _D64, _D64.upper(), _D12[:-1], _D64[:-1], "9" * 18, "9" * 19,
        "9" * 5000, " ", "\n", "\t", "\x00", "\x7f", "\x85", "\u00a0", "\u2028", "\u200b",
        "\ud800", "é", "e\u0301", "K", "ſ", "İ", "/", "\\", "%3a", "+1", "1_0", "1e3", "：",
    ]
)  # fmt: skip
_NEAR_POINTERS = st.lists(_PIECES, max_size=10).map("".join)
_NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}", fullmatch=True)
_DIGESTS = st.one_of(
    st.text("0123456789abcdefABCDEF", min_size=12, max_size=12),
    st.text("0123456789abcdefABCDEF", min_size=64, max_size=64),
)
_SEQUENCES = st.integers(1, 10**18 - 1)
_VALID = st.one_of(
    st.builds("transcript:{}:{}".format, _NAMES, _SEQUENCES),
    st.builds("artifact:{}:{}:{}".format, _NAMES, _NAMES, _DIGESTS),
)
_ANY_TEXT = st.one_of(
    st.text(),
    st.text(st.characters(categories=["Cs", "Cc", "Nd", "No", "Zl", "Ll"])),
    _NEAR_POINTERS,
    _VALID,
    st.builds(lambda text, end: text + end, _VALID, _PIECES),
    st.builds(lambda text, start: start + text, _VALID, _PIECES),
)


def _meaning(pointer: SourcePointer) -> tuple[object, ...]:
    return (
        pointer.kind,
        pointer.session_id,
        pointer.sequence,
        pointer.artifact_name,
        pointer.digest_prefix,
    )


@given(_ANY_TEXT)
@example("")
@example(":x")
@example("transcript:s:²")
@example("transcript:s:٣")
@example("transcript:s:" + "9" * 5000)
@example("transcript:s:1\n")
def test_any_text_is_refused_or_prints_back_to_its_canonical_self(text: str) -> None:
    try:
        pointer = parse_source_pointer(text)
    except SourcePointerError as error:
        refusal = error
    else:
        _assert_canonical(pointer, text)
        return
    assert type(refusal) in (SourcePointerError, UnsupportedSourcePointerError)
    str(refusal).encode("ascii")  # bounded, printable, nothing hostile in it
    assert len(str(refusal)) < 300


def _assert_canonical(pointer: SourcePointer, text: str) -> None:
    canonical = str(pointer)
    again = parse_source_pointer(canonical)
    assert again == pointer
    assert hash(again) == hash(pointer)
    assert str(again) == canonical == again.raw
    assert pointer.raw == text
    # Nothing but the case of the digest may differ from what was given.
    assert canonical.isascii()
    assert canonical.casefold() == text.casefold()
    assert len(canonical) == len(text)


@given(_VALID, _VALID)
@example("transcript:a:1", "transcript:A:1")
@example(f"artifact:a:b:{_D12}", f"artifact:a:b:{_D12.upper()}")
@example(f"artifact:a:b:{_D64[:12]}", f"artifact:a:b:{_D64}")
def test_two_canonical_texts_never_mean_the_same(first: str, second: str) -> None:
    one, two = parse_source_pointer(first), parse_source_pointer(second)
    assert (str(one) == str(two)) == (_meaning(one) == _meaning(two)) == (one == two)


@given(_VALID)
def test_a_valid_pointer_says_what_its_parts_say(text: str) -> None:
    pointer = parse_source_pointer(text)
    parts = text.split(":")
    assert pointer.session_id == parts[1]
    if parts[0] == "transcript":
        assert pointer.kind is SourcePointerKind.TRANSCRIPT
        assert str(pointer.sequence) == parts[2]
        assert pointer.artifact_name is None
        assert pointer.digest_prefix is None
        assert transcript_pointer(pointer.session_id, pointer.sequence or 0) == pointer
    else:
        assert pointer.kind is SourcePointerKind.ARTIFACT
        assert pointer.sequence is None
        assert pointer.artifact_name == parts[2]
        assert pointer.digest_prefix == parts[3].lower()
        assert artifact_pointer(parts[1], parts[2], parts[3]) == pointer


@pytest.mark.parametrize(
    "text",
    [
        "transcript:s1:1",
        "transcript:s1:10",
        "transcript:0:1",
        "transcript:s1:" + "9" * 18,
        "transcript:" + "x" * 200 + ":1",
        "transcript:a..b:1",
        "transcript:a.-_:1",
        "transcript:transcript:1",
        f"artifact:s1:log.txt:{_D12}",
        f"artifact:s1:log.txt:{_D64}",
        f"artifact:s1:{'x' * 200}:{_D64}",
        f"artifact:s1:log.:{_D12}",
        "artifact:s1:log.txt:" + "0" * 12,
        "artifact:s1:log.txt:" + "1" * 64,
    ],
)
def test_accepted(text: str) -> None:
    assert str(parse_source_pointer(text)) == text


_MALFORMED = [
    # 1. empty, white space, control characters, wherever they stand
    "",
    " ",
    "\n",
    " transcript:s1:1",
    "transcript:s1:1 ",
    "transcript:s1:1\n",
    "transcript:s1:1\r",
    "transcript:s1:1\x00",
    "\x00transcript:s1:1",
    "transcript:s1\x00:1",
    "transcript:s1\u2028:1",
    "transcript:s1:1\u2028",
    "transcript:s1:1\u2029",
    "transcript:s1:1\u0085",
    "transcript:s1:1\u00a0",
    "transcript:s1:1\u3000",
    "transcript:s1:1\x1c",
    "transcript:s1:1\x7f",
    "transcript:s1:1\x9f",
    # 2. no colon at all
    "transcript",
    "x",
    "\ud800",
    # 3. the number of parts
    "transcript:",
    "transcript:s1",
    "transcript:s1:1:2",
    "transcript:s1:1:",
    "artifact:",
    "artifact:s1:log.txt",
    f"artifact:s1:log.txt:{_D12}:",
    f"artifact:s1:a:b:{_D12}",
    # 4. names
    "transcript::1",
    "transcript:.:1",
    "transcript:..:1",
    "transcript:.s:1",
    "transcript:-s:1",
    "transcript:_s:1",
    "transcript:a/b:1",
    "transcript:a\\b:1",
    "transcript:../s:1",
    "transcript:/s:1",
    "transcript:é:1",
    "transcript:e\u0301:1",
    "transcript:\uff53:1",
    "transcript:\u212a:1",
    "transcript:s\u200b:1",
    "transcript:s\u202e:1",
    "transcript:\ud800:1",
    "transcript:s~:1",
    "transcript:s%2f:1",
    "transcript:" + "x" * 201 + ":1",
    f"artifact:s1::{_D12}",
    f"artifact::log.txt:{_D12}",
    f"artifact:s1:..:{_D12}",
    f"artifact:s1:.hidden:{_D12}",
    f"artifact:s1:-rf:{_D12}",
    f"artifact:s1:a/b:{_D12}",
    f"artifact:s1:{'x' * 201}:{_D12}",
    # 5. sequence and digest
    "transcript:s1:0",
    "transcript:s1:00",
    "transcript:s1:01",
    "transcript:s1:-1",
    "transcript:s1:+1",
    "transcript:s1:1.0",
    "transcript:s1:1e3",
    "transcript:s1:1_0",
    "transcript:s1:0x1",
    "transcript:s1:²",
    "transcript:s1:1²",
    "transcript:s1:٣",
    "transcript:s1:१",
    "transcript:s1:\uff11",
    "transcript:s1:x",
    "transcript:s1:" + "9" * 19,
    "transcript:s1:1" + "0" * 18,
    "transcript:s1:" + "9" * 5000,
    f"artifact:s1:log.txt:{_D12[:-1]}",
    f"artifact:s1:log.txt:{_D12}0",
    f"artifact:s1:log.txt:{_D64[:-1]}",
    f"artifact:s1:log.txt:{_D64}0",
    "artifact:s1:log.txt:",
    "artifact:s1:log.txt:0123456789ag",
    "artifact:s1:log.txt:0123456789a²",
    "artifact:s1:log.txt:0123456789a٣",
    "artifact:s1:log.txt:0123456789a\uff21",
    "artifact:s1:log.txt:0x3456789abc",
    "artifact:s1:log.txt:" + "0" * 32,
    "artifact:s1:log.txt:" + "0" * 5000,
]

_UNSUPPORTED = [
    ":x",
    ":",
    "::",
    "x:",
    "Transcript:s1:1",
    "TRANSCRIPT:s1:1",
    "transcripts:s1:1",
    "artifacts:s1:log.txt:" + _D12,
    "file:/etc/passwd",
    "file:///etc/passwd",
    "http://example.org/a:b",
    "é:s1:1",
    "\ud800:s1:1",
    "transcript\u200b:s1:1",
    "tran\u017fcript:s1:1",
    "transcript\uff1as1:1",
    "x" * 100_000 + ":1",
]


@pytest.mark.parametrize("text", _MALFORMED, ids=ascii)
def test_malformed(text: str) -> None:
    with pytest.raises(SourcePointerError) as caught:
        parse_source_pointer(text)
    assert type(caught.value) is SourcePointerError
    assert caught.value.code == "malformed_pointer"


@pytest.mark.parametrize("text", _UNSUPPORTED, ids=lambda text: ascii(text[:40]))
def test_unsupported(text: str) -> None:
    with pytest.raises(UnsupportedSourcePointerError) as caught:
        parse_source_pointer(text)
    assert caught.value.code == "unsupported_scheme"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        # each text breaks its rule and every later one: the first that fails decides
        ("x y:s:0", "white space"),
        ("transcript:s 1:x:y", "white space"),
        ("x\x00", "control"),
        ("nothing", "colon"),
        ("x:..:0:0:0", "scheme"),
        (":..:0", "scheme"),
        ("transcript:..:0:0", "parts"),
        ("artifact:..:..", "parts"),
        ("transcript:..:0", "session_id"),
        ("artifact:..:..:0", "session_id"),
        ("artifact:s:..:0", "filename"),
        ("transcript:s:0", "sequence"),
        ("artifact:s:f:0", "digest"),
    ],
)
def test_the_first_broken_rule_decides(text: str, word: str) -> None:
    with pytest.raises(SourcePointerError, match=word) as caught:
        parse_source_pointer(text)
    assert isinstance(caught.value, UnsupportedSourcePointerError) == (word == "scheme")


@pytest.mark.parametrize("size", [12, 64])
def test_digests_are_kept_in_lower_case(size: int) -> None:
    text = f"artifact:S1:LOG.TXT:{'ABCDEF0123456789' * 4}"[: len("artifact:S1:LOG.TXT:") + size]
    pointer = parse_source_pointer(text)
    assert pointer.raw == text
    assert pointer.artifact_name == "LOG.TXT"
    assert str(pointer) == text[:-size] + text[-size:].lower()
    assert pointer == parse_source_pointer(str(pointer))


def test_names_that_differ_in_case_are_different() -> None:
    assert parse_source_pointer("transcript:S:1") != parse_source_pointer("transcript:s:1")


@pytest.mark.parametrize("value", [None, b"transcript:s:1", 1, ["transcript:s:1"], bytearray(b"x")])
def test_what_is_no_text_is_a_type_error(value: object) -> None:
    with pytest.raises(TypeError, match="expected str"):
        parse_source_pointer(value)  # type: ignore[arg-type]


def test_a_str_subclass_cannot_lie_about_itself() -> None:
    class Liar(str):
        __slots__ = ()

        def partition(self, sep: str, /) -> tuple[str, str, str]:
            return ("transcript", ":", "s:1")

        def __str__(self) -> str:
            return "transcript:other:2"

    assert parse_source_pointer(Liar("transcript:s:1")).session_id == "s"
    with pytest.raises(SourcePointerError):
        parse_source_pointer(Liar("http:s:1"))


def test_a_pointer_is_frozen_hashable_and_picklable() -> None:
    pointer = parse_source_pointer(f"artifact:s:f:{_D12}")
    for name in ("raw", "kind", "session_id", "sequence", "artifact_name", "digest_prefix"):
        with pytest.raises(AttributeError):
            setattr(pointer, name, "x")
        with pytest.raises(AttributeError):
            delattr(pointer, name)
    # Neither the class nor a new attribute is to be had.
    with pytest.raises((AttributeError, TypeError)):
        pointer.other = 1  # type: ignore[attr-defined]
    assert type(pointer) is SourcePointer
    copy = pickle.loads(pickle.dumps(pointer))
    assert copy == pointer
    assert copy.raw == pointer.raw
    assert {pointer: 1}[copy] == 1
    made = SourcePointer(
        raw="other text", kind=SourcePointerKind.ARTIFACT, session_id="s",
        artifact_name="f", digest_prefix=_D12,
    )  # fmt: skip
    assert made == pointer
    assert hash(made) == hash(pointer)
    assert repr(made).startswith("SourcePointer(")
    assert repr(pointer).startswith("SourcePointer(")


@pytest.mark.parametrize(
    ("session", "sequence"),
    [("s:1", 2), ("..", 1), ("s", 0), ("s", -1), ("s", True), ("s", 10**18), ("s\n", 1)],
)
def test_building_a_transcript_pointer_refuses_what_parsing_would(
    session: str, sequence: int
) -> None:
    with pytest.raises(SourcePointerError):
        transcript_pointer(session, sequence)


@pytest.mark.parametrize(
    ("session", "name", "digest"),
    [("s:t", "f", _D12), ("s", "f:g", _D12), ("s", "f", _D12 + ":" + _D12), ("s", "", _D12)],
)
def test_building_an_artifact_pointer_refuses_what_parsing_would(
    session: str, name: str, digest: str
) -> None:
    with pytest.raises(SourcePointerError):
        artifact_pointer(session, name, digest)


@given(st.text(max_size=210))
@example("a" * 200)
@example("a" * 201)
@example("a\n")
def test_is_name_is_the_grammar_of_names(text: str) -> None:
    letters = set(string.ascii_letters + string.digits)
    expected = (
        0 < len(text) <= 200
        and set(text) <= letters | set("._-")
        and text[0] in letters
    )  # fmt: skip
    assert is_name(text) is expected


def test_the_errors_stand_in_both_trees() -> None:
    assert issubclass(SourcePointerError, ValueError)
    assert issubclass(SourcePointerError, DataError)
    assert issubclass(UnsupportedSourcePointerError, SourcePointerError)
    assert issubclass(DataError, CtxauditError)
    assert [str(kind) for kind in SourcePointerKind] == ["transcript", "artifact"]


def test_a_huge_text_is_refused_without_a_huge_message() -> None:
    for text in ("transcript:" + "x" * 10**6 + ":1", "artifact:s:f:" + "f" * 10**6):
        with pytest.raises(SourcePointerError) as caught:
            parse_source_pointer(text)
        assert len(str(caught.value)) < 300
    # The interpreter's own limit on long numbers is not what saves us.
    assert sys.get_int_max_str_digits() < 10**6
