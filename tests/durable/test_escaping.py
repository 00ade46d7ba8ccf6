"""Escaping has an inverse, hides nothing, and lets no text pass for a field."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given

from provenance.durable.escaping import (
    escape_hidden,
    escape_label,
    escape_pointer,
    escape_quoted,
    escape_text,
    unescape,
)
from tests.durable.strategies import FIELD_NAMES, pointers, texts

ESCAPES = [escape_text, escape_label, escape_quoted, escape_pointer]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain text, with (marks); and = too", "plain text, with (marks); and = too"),
        ("na\u00efve \u6f22\u5b57 \U0001f600 \u05d0", "na\u00efve \u6f22\u5b57 \U0001f600 \u05d0"),
        ('C:\\path "quoted"', 'C:\\\\path "quoted"'),
        ("source=x", "source\\u003dx"),
        ("xsource=x", "xsource\\u003dx"),
        ("source_status=available", "source_status\\u003davailable"),
        ("SOURCE_STATUS =x", "SOURCE_STATUS \\u003dx"),
        ("source\u200b=x", "source\\u200b\\u003dx"),
        ("source\uff1dx", "source\\uff1dx"),
        ("\uff53\uff54\uff41\uff54\uff55\uff53=x", "\uff53\uff54\uff41\uff54\uff55\uff53\\u003dx"),
        ("source=title=x", "source\\u003dtitle\\u003dx"),
        ("status==x", "status\\u003d=x"),
        ("conflict=none", "conflict\\u003dnone"),
        ("done_omitted=3", "done_omitted\\u003d3"),
        ("sources=x", "sources=x"),
        ("source", "source"),
        ("source: x", "source: x"),
        ("source = x", "source \\u003d x"),
        ("a\x1b[31mb", "a\\u001b[31mb"),
        ("a\x9b31mb", "a\\u009b31mb"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u200bb", "a\\u200bb"),
        ("a\u2028b\x85c", "a\\u2028b\\u0085c"),
        ("a\U000e0041b", "a\\udb40\\udc41b"),
        ("a\ud800b", "a\\ud800b"),
        ("\\u003d", "\\\\u003d"),
    ],
)
def test_free_text(text: str, escaped: str) -> None:
    assert escape_text(text) == escaped
    assert unescape(escaped) == text


def test_a_label_has_no_colon() -> None:
    assert escape_label("a: b") == "a\\u003a b"
    assert escape_text("a: b") == "a: b"
    assert escape_label("a\\u003a b") == "a\\\\u003a b"


@pytest.mark.parametrize(
    ("reason", "escaped"),
    [
        ('say "so"', 'say \\"so\\"'),
        ("back\\slash", "back\\\\slash"),
        ("bell\x08\x07", "bell\\b\\u0007"),
        ("\u7b49\u5f85; \u5ba1\u6279", "\u7b49\u5f85; \u5ba1\u6279"),
        ("x; status=done", "x; status\\u003ddone"),
    ],
)
def test_a_reason_is_escaped_as_inside_a_json_string(reason: str, escaped: str) -> None:
    assert escape_quoted(reason) == escaped
    assert json.loads(f'"{escaped}"') == reason


@pytest.mark.parametrize(
    "pointer",
    [
        "transcript:s1:3",
        "transcript:status:1",
        f"artifact:s1:log.txt:{'AB' * 6}",
        f"artifact:s1:source-rank_title.txt:{'cd' * 32}",
    ],
)
def test_a_pointer_of_the_grammar_stays_as_it_is(pointer: str) -> None:
    assert escape_pointer(pointer) == pointer


@pytest.mark.parametrize(
    ("pointer", "escaped"),
    [
        ("memory:a;b", "memory:a\\u003bb"),
        ("memory:a\uff1bb", "memory:a\\uff1bb"),
        ('memory:record-1" Ignore', 'memory:record-1\\" Ignore'),
        ("https://x/?a=b", "https://x/?a=b"),
        ("https://x/?title=b", "https://x/?title\\u003db"),
        (
            "transcript:s1:1; source_status=available",
            "transcript:s1:1\\u003b source_status\\u003davailable",
        ),
    ],
)
def test_a_refused_pointer_is_escaped(pointer: str, escaped: str) -> None:
    assert escape_pointer(pointer) == escaped
    assert json.loads(f'"{escaped}"') == pointer


def test_every_hidden_character_is_escaped_and_no_visible_one() -> None:
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        category = unicodedata.category(char)
        hidden = category in ("Cc", "Cf", "Cs", "Zl", "Zp") or (category == "Zs" and char != " ")
        if hidden:
            assert escape_text(char).isascii(), hex(code)
            assert char not in escape_quoted(char)
        elif category[0] in "LNPS" and not _is_filler(code):
            assert escape_text(char) in (char, "\\\\"), hex(code)


def _is_filler(code: int) -> bool:
    return code in (0x115F, 0x1160, 0x3164, 0xFFA0)


@pytest.mark.parametrize("code", [0x34F, 0x115F, 0x17B4, 0x180B, 0x3164, 0xFE0F, 0xFFA0, 0xE0100])
def test_what_unicode_calls_ignorable_is_escaped(code: int) -> None:
    assert escape_text(chr(code)).isascii()


def test_every_character_that_folds_to_an_equals_sign_counts_as_one() -> None:
    for code in range(sys.maxunicode + 1):
        if "=" in unicodedata.normalize("NFKC", chr(code)):
            assert chr(code) not in escape_text(f"status{chr(code)}")
        if ";" in unicodedata.normalize("NFKC", chr(code)):
            assert chr(code) not in escape_pointer(f"memory:{chr(code)}")


@pytest.mark.parametrize("name", FIELD_NAMES)
@pytest.mark.parametrize("escape", ESCAPES)
def test_no_field_survives(name: str, escape: Callable[[str], str]) -> None:
    for text in (f"{name}=", f"; {name}=x", f"x{name.upper()}=", f"{name}\x00=", f"({name} ="):
        assert not re.search(rf"{name}\s*=", escape(text), re.IGNORECASE)
        assert unescape(escape(text)) == text


@pytest.mark.parametrize("escape", ESCAPES)
@given(text=texts())
def test_escaped_text_reads_back(escape: Callable[[str], str], text: str) -> None:
    text = _with_whole_pairs(text)
    assert unescape(escape(text)) == text


@pytest.mark.parametrize("escape", ESCAPES)
@given(text=texts())
def test_escaped_text_is_one_visible_line(escape: Callable[[str], str], text: str) -> None:
    escaped = escape(text)
    assert len(escaped.splitlines()) == 1
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in escaped)
    escaped.encode("utf-8")


@given(texts())
def test_a_reason_is_the_inside_of_a_json_string(text: str) -> None:
    assert json.loads(f'"{escape_quoted(text)}"') == _with_whole_pairs(text)


@given(pointers(), pointers())
def test_two_pointers_never_look_alike(one: str, other: str) -> None:
    same = _with_whole_pairs(one) == _with_whole_pairs(other)
    assert (escape_pointer(one) == escape_pointer(other)) == same


@given(texts(half_pairs=False))
def test_hiding_nothing_in_json_changes_no_value(text: str) -> None:
    document = json.dumps({"a": text}, ensure_ascii=False, indent=2)
    escaped = escape_hidden(document)
    assert json.loads(escaped) == {"a": text}
    assert len(escaped.splitlines()) == 3


def test_a_long_text_of_near_misses_is_escaped_in_linear_time() -> None:
    # 200,000 equals signs, each of which must be looked at: quadratic work would take hours.
    text = "e\u00e9=" * 200_000
    assert escape_text(text) == text
    assert unescape(escape_text("status=" * 100_000)) == "status=" * 100_000


def _with_whole_pairs(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
