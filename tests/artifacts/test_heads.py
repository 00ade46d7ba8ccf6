"""What stays inline is a true beginning and a true end, within the room."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.artifacts.heads import Shape, Unit, keep_ends, shape_of, size_in

_TEXTS = st.text(alphabet=st.sampled_from("ab\n é語😀\r"), max_size=80)


@given(_TEXTS, st.integers(0, 90), st.sampled_from(Unit), st.sampled_from(Shape))
def test_both_ends_are_true_and_fit(text: str, room: int, unit: Unit, shape: Shape) -> None:
    room = min(room, max(0, size_in(unit, text) - 1))
    ends = keep_ends(text, room=room, unit=unit, shape=shape)
    assert text.startswith(ends.head)
    assert text.endswith(ends.tail)
    assert size_in(unit, ends.head) + size_in(unit, ends.tail) <= room
    assert len(ends.head) + len(ends.tail) <= len(text)


@given(st.integers(60, 400), st.sampled_from(Unit), st.sampled_from(Shape))
def test_whole_lines_stay_where_lines_are(room: int, unit: Unit, shape: Shape) -> None:
    text = "".join(f"line {number}\n" for number in range(200))
    ends = keep_ends(text, room=room, unit=unit, shape=shape)
    assert ends.head.endswith("\n")
    assert text[: len(text) - len(ends.tail)].endswith("\n")
    # Whole lines cost less than a line at either end.
    assert len(ends.head) + len(ends.tail) > room - 20


def test_a_line_that_is_longer_than_the_room_is_cut() -> None:
    ends = keep_ends("x" * 100, room=10, unit=Unit.BYTES)
    assert (ends.head, ends.tail) == ("x" * 6, "x" * 4)
    # Half of the head would be lost for the sake of whole lines: it is not.
    assert keep_ends("ab\n" + "x" * 100, room=30, unit=Unit.BYTES).head == "ab\n" + "x" * 17


def test_no_character_is_split() -> None:
    ends = keep_ends("é" * 100, room=10, unit=Unit.BYTES)
    assert (ends.head, ends.tail) == ("é" * 3, "é" * 2)
    assert keep_ends("😀" * 9, room=3, unit=Unit.BYTES).tail == ""


def test_no_room_keeps_nothing() -> None:
    ends = keep_ends("abc", room=0, unit=Unit.BYTES)
    assert (ends.head, ends.tail) == ("", "")


def test_the_shape_shares_the_room() -> None:
    text = "x" * 1000
    sizes = {
        shape: tuple(map(len, (ends.head, ends.tail)))
        for shape in Shape
        for ends in [keep_ends(text, room=100, unit=Unit.BYTES, shape=shape)]
    }
    assert sizes == {
        Shape.LOG: (20, 80),
        Shape.LISTING: (50, 50),
        Shape.DOCUMENT: (67, 33),
    }


_LOGS = [
    "2026-01-02T03:04:05Z starting\n",
    "[2026-01-02 03:04:05,678] worker: done\n",
    "12:00:01.123 GET /index\n",
    "Jan  2 03:04:05 host sshd[12]: session opened\n",
    "ERROR in module: it broke\n",
    "[INFO] compiling\n",
    "warning: unused variable\n",
]
_LISTINGS = [
    "src/package/module.py\n",
    "-rw-r--r-- 1 user group 4096 Jan  2 03:04 file name.txt\n",
    "src/main.c:120:  return 0;\n",
    "Makefile\n",
]
_DOCUMENTS = [
    "Once upon a time there was a long sentence.\n",
    '  "key": [1, 2, 3],\n',
    "    return value + 1\n",
    "}\n",
    "x" * 200 + "\n",
]


@pytest.mark.parametrize("line", _LOGS)
def test_a_log_is_known_by_its_lines(line: str) -> None:
    assert shape_of(line * 50) is Shape.LOG
    assert shape_of((line + "  at some.place(in the code)\n" * 2) * 50) is Shape.LOG


@pytest.mark.parametrize("line", _LISTINGS)
def test_a_listing_is_known_by_its_lines(line: str) -> None:
    assert shape_of(line * 50) is Shape.LISTING
    assert shape_of(line.replace("\n", "\r\n") * 50) is Shape.LISTING


@pytest.mark.parametrize("line", _DOCUMENTS[:-1])
def test_anything_else_is_a_document(line: str) -> None:
    assert shape_of(line * 50) is Shape.DOCUMENT


def test_few_lines_tell_nothing() -> None:
    assert shape_of("a/b/c\n" * 3) is Shape.DOCUMENT
    assert shape_of("x" * 100_000) is Shape.DOCUMENT
    assert shape_of("") is Shape.DOCUMENT


@given(st.text(max_size=300))
def test_any_text_has_a_shape(text: str) -> None:
    assert shape_of(text) in Shape
