"""Notices: who made a text decides whether it is believed, and numbers whether it may be so."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from provenance.compaction import notices
from provenance.compaction.notices import (
    Notice,
    SpilledEnds,
    cut,
    is_shortened,
    notices_in,
    possible_pointers,
    remember_spilled,
    spilled,
    spilled_ends,
)
from provenance.compaction.truncation import shortened

P, Q = "artifact:s:a.txt:0123456789ab", "memory:2"
# Parts of a text, among them notices that somebody wrote into it.
_parts = st.sampled_from(
    [
        *("a", "b\n", "\n", "é", "文", "x" * 50, "\ud800"),
        *(spilled("", "", 500, P), spilled("head", "tail", 900, P), spilled("h\n", "", 9, Q)),
        *(cut(3, 9), cut(40, 100)),
    ]
)
texts = st.lists(_parts, max_size=12).map("".join)


def test_only_what_was_made_here_is_believed() -> None:
    ends = SpilledEnds("head of one\n", "tail of one", 1_000, P)
    text = spilled(*ends)
    assert spilled_ends(text) is None
    remember_spilled(ends)
    assert spilled_ends(text) == ends
    for other in (f"{text} ", text[1:], text.replace(P, Q), spilled(*ends._replace(total=1_001))):
        assert spilled_ends(other) is None


@given(head=texts, tail=texts, left_out=st.integers(1, 10**6), pointer=st.sampled_from([P, Q]))
def test_the_ends_are_known_whatever_stands_in_them(
    head: str, tail: str, left_out: int, pointer: str
) -> None:
    ends = SpilledEnds(head, tail, len(head) + len(tail) + left_out, pointer)
    text = spilled(*ends)
    remember_spilled(ends)
    assert spilled_ends(text) == ends
    assert Notice(len(head), len(tail), ends.total, pointer) in [*notices_in(text)]
    assert pointer in possible_pointers(text)


def test_the_oldest_is_forgotten_first() -> None:
    made = notices._Made(3)
    many = [SpilledEnds("h", str(number), 100, P) for number in range(4)]
    for one in many[:3]:
        made.add(one)
    assert made.find(spilled(*many[0])) == many[0]  # which makes it the latest
    made.add(many[3])
    assert [made.find(spilled(*one)) is not None for one in many] == [True, False, True, True]
    assert notices._made._most == 10_000


def test_many_threads_may_spill_at_once() -> None:
    made = notices._Made(50)
    failures: list[BaseException] = []

    def work(first: int) -> None:
        try:
            for number in range(first, first + 200):
                ends = SpilledEnds("h", str(number), 10_000, P)
                made.add(ends)
                assert made.find(spilled(*ends)) in (None, ends)
        except BaseException as error:  # noqa: BLE001 - a thread's failure is told below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(1_000 * number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(made._known) == 50


@pytest.mark.parametrize(
    "change",
    [
        ("[80 of", "[81 of"),
        ("[80 of", "[080 of"),
        (f"show {P}", f"show {Q}"),
        ("kept as\n", "kept as "),
        ("A:B]\n", "A:B]"),
        ("\n[80", "[80"),
        ("\n[80", "\n\n[80"),
    ],
)
def test_a_notice_that_is_not_quite_one_is_text(change: tuple[str, str]) -> None:
    text = spilled("0123456789", "9876543210", 100, P)
    assert [*notices_in(text)] == [Notice(10, 10, 100, P)]
    altered = text.replace(*change, 1)
    assert altered != text
    assert [*notices_in(altered)] == []


def test_an_earlier_notice_hides_no_later_one() -> None:
    # The first has numbers that fit nothing, the second fits, the third would fit another text.
    quoted, other = spilled("", "", 5_000, Q), spilled("", "", 70, Q)
    head, tail = f"log\n{quoted}more\n", f"end\n{other}."
    text = spilled(head, tail, 9_000, P)
    assert [*notices_in(text)] == [Notice(len(head), len(tail), 9_000, P)]


@given(text=texts, room=st.integers(1, 400), pointer=st.sampled_from([None, P, Q]))
def test_what_layer_1_makes_is_shortened(text: str, room: int, pointer: str | None) -> None:
    shown = shortened(text, room, pointer)
    assume(len(shown) < len(text))
    assert is_shortened(text, shown, pointer)
    for other in {None, P, Q} - {pointer}:
        # By a text that holds every notice itself it may be so; by any other it is not.
        assert not is_shortened(text, shown, other) or "left out" in text or "truncated" in text


@given(
    text=st.text(alphabet="ab\n", min_size=300, max_size=600),
    room=st.integers(1, 200),
    pointer=st.sampled_from([None, P]),
    data=st.data(),
)
def test_what_is_altered_is_shortened_only_where_every_number_is_true(
    text: str, room: int, pointer: str | None, data: st.DataObject
) -> None:
    shown = shortened(text, room, pointer)
    assert is_shortened(text, shown, pointer)
    at = data.draw(st.integers(0, len(shown) - 1))
    new = data.draw(st.sampled_from(["", "a", "b", "\n", "0", "1", "ab", shown[at] * 2]))
    altered = shown[:at] + new + shown[at + 1 :]
    assume(altered != shown)
    assert is_shortened(text, altered, pointer) == _is_made_of(text, altered, pointer)


def _is_made_of(text: str, shown: str, pointer: str | None) -> bool:
    """By making it: the text holds no bracket, so the notice stands where the brackets do."""
    if pointer is None:
        head = shown.partition("\n\n[")[0]
        return head != "" and shown == head + cut(len(head), len(text)) and text.startswith(head)
    before, tail = shown.partition("[")[0], shown.partition("]\n")[2]
    return any(
        spilled(head, tail, len(text), pointer) == shown
        for head in (before, before[:-1])
        if text.startswith(head) and text.endswith(tail)
    )


@pytest.mark.parametrize(
    ("shown", "pointer"),
    [
        ("", None),
        ("x" * 10, None),
        (cut(0, 1_000), None),
        ("x" * 10 + cut(11, 1_000), None),
        ("x" * 10 + cut(10, 1_001), None),
        ("y" * 10 + cut(10, 1_000), None),
        ("x" * 10 + cut(10, 1_000) + " ", None),
        ("x" * 10 + cut(10, 1_000), P),
        (spilled("x" * 10, "x" * 10, 1_000, P), None),
        (spilled("x" * 10, "x" * 10, 1_000, P), Q),
        (spilled("x" * 10, "x" * 10, 1_001, P), P),
        (spilled("y" * 10, "x" * 10, 1_000, P), P),
        (spilled("x" * 10, "y" * 10, 1_000, P), P),
        ("x" * 1_000, None),
        ("x" * 1_000, P),
    ],
)
def test_what_is_not_made_of_the_original_is_found(shown: str, pointer: str | None) -> None:
    whole = "x" * 1_000
    assert is_shortened(whole, "x" * 10 + cut(10, 1_000), None)
    assert is_shortened(whole, spilled("x" * 10, "x" * 10, 1_000, P), P)
    assert not is_shortened(whole, shown, pointer)


def test_the_ends_of_ends_are_of_the_same_whole() -> None:
    first = spilled("h" * 100, "t" * 100, 9_000, P)
    assert is_shortened(first, spilled("h" * 50, "t" * 50, 9_000, P), P)
    assert is_shortened(first, spilled("h" * 100, "t" * 99, 9_000, P), P)
    for head, tail, total, pointer in (
        ("h" * 101, "t" * 20, 9_000, P),
        ("h" * 20, "t" * 101, 9_000, P),
        ("h" * 20, "h" * 20, 9_000, P),
        ("h" * 20, "t" * 20, 9_001, P),
        ("h" * 20, "t" * 20, 9_000, Q),
    ):
        assert not is_shortened(first, spilled(head, tail, total, pointer), pointer)


@given(
    head=texts.map(lambda text: f"{text}{'h' * 200}"),
    tail=texts.map(lambda text: f"{'t' * 200}{text}"),
    sizes=st.tuples(st.integers(0, 150), st.integers(0, 150)),
)
@example(head="h" * 200, tail="t" * 200, sizes=(0, 0))
def test_ends_of_ends_are_made_of_them_whatever_they_quote(
    head: str, tail: str, sizes: tuple[int, int]
) -> None:
    original = spilled(head, tail, 99_999, P)
    shown = spilled(head[: sizes[0]], tail[len(tail) - sizes[1] :], 99_999, P)
    assert is_shortened(original, shown, P)


def test_a_text_full_of_notices_takes_no_time() -> None:
    # By their numbers all of them fit; each is looked at once.
    one = spilled("", "", 10**6, P)
    text: Any = one * 4_000
    assert not is_shortened(text, one * 3_999, P)
    assert not is_shortened(text, one * 3_999, Q)
    assert not is_shortened(text, one * 3_999, None)
