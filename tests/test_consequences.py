"""What rests on a source, followed through any graph, also one that somebody drew to hurt."""

from __future__ import annotations

import dataclasses
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance import consequences
from provenance.consequences import Consequence, ConsequenceGraph

_TEXT = Consequence("text", "r.json", "message 1 block 0")


def _graph(*summaries: tuple[str, list[str]]) -> ConsequenceGraph:
    """Give a graph whose one place is known as `start`; a summary is a key and what it is of."""
    graph = ConsequenceGraph()
    graph.place(_TEXT.file, _TEXT.item, "start")
    for key, rests_on in summaries:
        graph.add("summary", f"{key}.json", key, key=key, rests_on=rests_on)
    return graph


def _items(graph: ConsequenceGraph, *direct: Consequence) -> list[tuple[str | None, int]]:
    return [(one.item, one.steps) for one in graph.follow(direct or (_TEXT,)).listed]


def test_it_has_these_fields_and_is_frozen() -> None:
    names = [field.name for field in dataclasses.fields(Consequence)]
    assert names == ["kind", "file", "item", "session", "text", "steps", "parent"]
    assert list(_TEXT.to_dict()) == names
    with pytest.raises(dataclasses.FrozenInstanceError):
        _TEXT.steps = 2  # type: ignore[misc]


def test_what_cites_a_source_is_one_step_away() -> None:
    found = ConsequenceGraph().follow([Consequence("fact", "s.json", "f1", "run", "It is so.")])
    assert found.listed == (Consequence("fact", "s.json", "f1", "run", "It is so."),)
    assert found.left_out == 0


def test_summary_of_summary_of_summary() -> None:
    graph = _graph(("c", ["b"]), ("a", ["start", "other"]), ("b", ["x", "a"]))
    found = graph.follow([_TEXT]).listed
    assert [(one.item, one.steps, one.parent) for one in found[1:]] == [
        ("a", 2, 0),
        ("b", 3, 1),
        ("c", 4, 2),
    ]


def test_what_rests_on_another_place_does_not_count() -> None:
    graph = _graph(("a", ["other"]))
    assert _items(graph) == [(_TEXT.item, 1)]
    elsewhere = dataclasses.replace(_TEXT, file="other.json")
    assert _items(_graph(("a", ["start"])), elsewhere) == [(_TEXT.item, 1)]


def test_a_text_that_was_cut_goes_on_under_its_new_digest_without_a_step() -> None:
    graph = _graph(("a", ["cut twice"]))
    graph.rename("start", "cut once")
    graph.rename("cut once", "cut twice")
    assert _items(graph)[1:] == [("a", 2)]


def test_a_request_rests_on_all_that_it_holds() -> None:
    graph = _graph(("a", ["start"]))
    graph.add("request", "q.json", None, rests_on=["a", "z"], session="run")
    last = graph.follow([_TEXT]).listed[-1]
    assert (last.kind, last.file, last.session, last.steps, last.parent) == (
        "request",
        "q.json",
        "run",
        3,
        1,
    )


@pytest.mark.parametrize(
    "summaries",
    [
        [("a", ["start", "a"])],
        [("a", ["start", "b"]), ("b", ["a"])],
        [("start", ["start"])],
        [("a", ["start"] * 50)],
    ],
)
def test_a_circle_ends_where_it_began(summaries: list[tuple[str, list[str]]]) -> None:
    graph = _graph(*summaries)
    graph.rename("start", "start")
    graph.rename("a", "start")
    assert sorted(_items(graph)[1:]) == sorted(
        (key, 2 if "start" in rests_on else 3) for key, rests_on in summaries
    )


def test_what_is_reached_in_two_ways_is_listed_by_the_shorter() -> None:
    graph = _graph(("far", ["start"]), ("both", ["far", "start"]))
    assert _items(graph)[1:] == [("far", 2), ("both", 2)]


def test_a_long_list_is_cut_and_counted() -> None:
    many = [Consequence("fact", "s.json", str(number)) for number in range(1_500)]
    found = ConsequenceGraph().follow(many)
    assert (len(found.listed), found.left_out) == (1_000, 500)
    fan = _graph(*((f"k{number}", ["start"]) for number in range(1_200)))
    found = fan.follow([_TEXT])
    assert (len(found.listed), found.left_out) == (1_000, 201)
    just = ConsequenceGraph().follow(many[:1_000])
    assert (len(just.listed), just.left_out) == (1_000, 0)


def test_a_chain_longer_than_the_list_is_counted_to_its_end() -> None:
    chain = _graph(*((f"k{n}", ["start" if n == 0 else f"k{n - 1}"]) for n in range(1_500)))
    found = chain.follow([_TEXT])
    assert (len(found.listed), found.left_out) == (1_000, 501)
    assert found.listed[-1].steps == 1_000


def test_many_sources_do_not_multiply_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consequences, "_MOST_FOLLOWED", 150)
    graph = _graph(*((f"k{number}", ["start"]) for number in range(60)))
    assert graph.follow([_TEXT]).left_out == 0
    cut = [graph.follow([_TEXT]) for _ in range(3)]
    # What is not followed any more is said to be left out; who cites it is always listed.
    assert [(one.listed[0], one.left_out > 0) for one in cut] == [(_TEXT, True)] * 3
    assert len(cut[-1].listed) == 1


_keys = st.sampled_from("abcdefgh")
_graphs = st.lists(st.tuples(_keys, st.lists(_keys, max_size=3)), max_size=8)
_renames = st.lists(st.tuples(_keys, _keys), max_size=4)


@given(_graphs, _renames)
def test_as_far_away_as_a_plain_search_says(
    summaries: list[tuple[str, list[str]]], renames: list[tuple[str, str]]
) -> None:
    graph = ConsequenceGraph()
    graph.place(_TEXT.file, _TEXT.item, "a")
    for number, (key, rests_on) in enumerate(summaries):
        graph.add("summary", "f", str(number), key=key, rests_on=rests_on)
    for old, new in renames:
        graph.rename(old, new)
    found = graph.follow([_TEXT])
    assert {one.item: one.steps for one in found.listed[1:]} == _distances(summaries, renames)
    assert found.left_out == 0
    for one in found.listed[1:]:
        assert one.parent is not None
        assert found.listed[one.parent].steps == one.steps - 1


def _distances(
    summaries: list[tuple[str, list[str]]], renames: list[tuple[str, str]]
) -> dict[str, int]:
    """Search for the shortest ways in another manner: relax until nothing changes."""
    keys = {"a": 1}
    items: dict[str, int] = {}
    changed = deque([True])
    while changed:
        changed.clear()
        for old, new in renames:
            if old in keys and keys[old] < keys.get(new, 99):
                keys[new] = keys[old]
                changed.append(True)
        for number, (key, rests_on) in enumerate(summaries):
            near = min((keys[one] for one in rests_on if one in keys), default=None)
            if near is None:
                continue
            if near + 1 < items.get(str(number), 99):
                items[str(number)] = near + 1
                changed.append(True)
            if items[str(number)] < keys.get(key, 99):
                keys[key] = items[str(number)]
                changed.append(True)
    return items
