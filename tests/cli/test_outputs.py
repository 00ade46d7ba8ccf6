"""Pairing formats with files."""

from __future__ import annotations

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.outputs import FORMATS, Output, pair_outputs


@pytest.mark.parametrize(
    ("formats", "outputs", "expected"),
    [
        ((), (), [("console", None)]),
        ((), ("r.txt",), [("console", "r.txt")]),
        (("json",), (), [("json", None)]),
        (("json",), ("r",), [("json", "r")]),
        (("json", "console"), ("r",), [("json", "r"), ("console", None)]),
        (("console", "json"), ("-", "r"), [("console", None), ("json", "r")]),
        (("json", "json"), ("a", "b"), [("json", "a"), ("json", "b")]),
    ],
)
def test_pairs(
    formats: tuple[str, ...],
    outputs: tuple[str, ...],
    expected: list[tuple[str, str | None]],
) -> None:
    assert pair_outputs(formats, outputs) == tuple(Output(*pair) for pair in expected)


@pytest.mark.parametrize(
    ("formats", "outputs"),
    [
        ((), ("a", "b")),
        (("json", "console"), ()),
        (("json", "console"), ("-",)),
        (("json", "console"), ("-", "-")),
        (("json", "console"), ("a", "a")),
    ],
)
def test_what_cannot_be_paired(formats: tuple[str, ...], outputs: tuple[str, ...]) -> None:
    with pytest.raises(click.UsageError):
        pair_outputs(formats, outputs)


@given(
    st.lists(st.sampled_from(FORMATS), max_size=4),
    st.lists(st.sampled_from(["-", "a", "b", "c"]), max_size=4),
)
def test_every_format_has_one_place_of_its_own(formats: list[str], outputs: list[str]) -> None:
    try:
        pairs = pair_outputs(formats, outputs)
    except click.UsageError:
        return
    assert [pair.format for pair in pairs] == (formats or ["console"])
    places = [pair.path for pair in pairs]
    assert len(set(places)) == len(places)
