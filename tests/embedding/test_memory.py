"""Views that are gone on from, and those that must not be."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.embedding._memory import Memory


def _view(memory: Memory, history: list[Any]) -> list[Any]:
    return memory.recall(history).view


def test_a_history_that_goes_on_begins_with_its_view():
    memory = Memory()
    memory.keep(["a", "b", "c"], ["s", "c"], None)
    assert _view(memory, ["a", "b", "c"]) == ["s", "c"]
    assert _view(memory, ["a", "b", "c", "d"]) == ["s", "c", "d"]


@pytest.mark.parametrize("history", [[], ["a", "b"], ["a", "b", "x", "d"], ["x", "a", "b", "c"]])
def test_another_history_is_taken_whole(history: list[str]):
    memory = Memory()
    memory.keep(["a", "b", "c"], ["s", "c"], None)
    assert _view(memory, history) == history


def test_the_longest_known_beginning_is_taken():
    memory = Memory()
    memory.keep(["a", "b", "c", "d"], ["s2", "d"], None)
    memory.keep(["a", "b"], ["s1", "b"], None)
    assert _view(memory, ["a", "b", "c", "d", "e"]) == ["s2", "d", "e"]
    assert _view(memory, ["a", "b", "x"]) == ["s1", "b", "x"]


def test_a_history_whose_place_the_view_took_is_known_by_it():
    memory = Memory()
    memory.keep(["a", "b", "c"], ["s", "c"], "a and b")
    assert memory.recall(["s", "c", "d"]) == (["s", "c", "d"], "a and b")
    assert memory.recall(["a", "b", "c", "d"]) == (["s", "c", "d"], "a and b")
    assert memory.recall(["s", "x", "d"]) == (["s", "x", "d"], None)
    memory.keep(["s", "c", "d"], ["s2"], "a to c")
    assert memory.recall(["a", "b", "c", "d"]).summary is None
    assert memory.recall(["s2", "e"]).summary == "a to c"


def test_an_empty_view_is_the_beginning_of_nothing_else():
    memory = Memory()
    memory.keep(["a"], [], "a")
    assert memory.recall(["x"]) == (["x"], None)
    memory.keep(["b"], ["s"], None)
    assert memory.recall(["a", "b"]) == (["b"], "a")


def test_what_is_equal_is_the_same_and_what_is_the_same_object_need_not_be_equal():
    memory = Memory()
    nan = float("nan")
    memory.keep([{"n": 1}, nan], ["s"], None)
    assert _view(memory, [{"n": 1}, nan, "d"]) == ["s", "d"]


def test_conversations_beside_each_other_do_not_mix():
    memory = Memory()
    for number in range(16):
        memory.keep([number, "b"], [f"s{number}"], None)
    assert [_view(memory, [number, "b", "c"]) for number in range(16)] == [
        [f"s{number}", "c"] for number in range(16)
    ]


def test_the_oldest_is_forgotten_and_its_history_is_taken_whole():
    memory = Memory()
    for number in range(17):
        memory.keep([number, "b"], [f"s{number}"], None)
    assert _view(memory, [0, "b"]) == [0, "b"]
    assert _view(memory, [1, "b"]) == ["s1"]


def test_a_conversation_takes_one_place_however_long_it_grows():
    memory = Memory()
    memory.keep(["first"], ["kept"], None)
    grown: list[Any] = ["x"]
    for number in range(50):
        grown.append(number)
        memory.keep(grown, ["s"], None)
    assert _view(memory, ["first"]) == ["kept"]


def test_what_it_keeps_is_its_own():
    memory = Memory()
    history, view = ["a", "b"], ["s"]
    memory.keep(history, view, None)
    history.append("c")
    _view(memory, history).append("x")
    view.clear()
    assert _view(memory, ["a", "b"]) == ["s"]


def test_threads_may_share_it():
    memory = Memory()
    wrong: list[object] = []

    def work(number: int) -> None:
        history: list[object] = [number]
        for step in range(200):
            history.append(step)
            memory.keep(history, [f"s{number}"], None)
            # Others may have pushed it out: then the whole history comes back.
            if _view(memory, [*history, "n"]) not in ([f"s{number}", "n"], [*history, "n"]):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@given(st.lists(st.tuples(st.lists(st.integers(0, 2), max_size=4), st.integers())))
def test_a_view_is_only_ever_that_of_a_beginning(kept: list[tuple[list[int], int]]):
    memory = Memory()
    for history, name in kept:
        memory.keep(history, [name], None)
    asked = [0, 1, 2, 0, 1]
    found = _view(memory, asked)
    assert found == asked or any(
        asked[: len(history)] == history and found == [name, *asked[len(history) :]]
        for history, name in kept
    )
