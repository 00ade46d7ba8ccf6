"""A waiver of a pointer in one target of the run, and in whichever it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_POINTER = "transcript:gone:1"


def _waiver(target: str | None) -> str:
    tied = "" if target is None else f'target = "{target}"\n'
    return (
        f'[[waiver]]\npointer = "{_POINTER}"\n{tied}reason = "r"\nowner = "o"\n'
        "expires = 2999-12-31\n"
    )


@pytest.fixture
def waived(
    home: Any, call: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, list[bool]]]:
    """Verify two homes that cite one lost source; gives what is waived."""
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b/a"):
        other = type(home)(tmp_path / name)
        other.state("one.json", [_POINTER])

    def waived(text: str, *targets: str) -> tuple[int, list[bool]]:
        Path("waivers.toml").write_text(text)
        done = call("verify", *targets, "--waivers", "waivers.toml", "--format", "json")
        return done.code, ["waiver" in one for one in done.report["results"]]

    return waived


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (None, (0, [True, True])),
        ("a", (12, [True, False])),
        ("b/a", (12, [False, True])),
        ("b", (12, [False, False])),
        ("a/", (12, [False, False])),
        ("a/states/one.json", (12, [False, False])),
    ],
)
def test_of_two_homes(
    waived: Callable[..., Any], target: str | None, expected: tuple[int, list[bool]]
) -> None:
    assert waived(_waiver(target), "a", "b/a") == expected


def test_of_one_home_by_its_name_in_the_report(waived: Callable[..., Any]) -> None:
    assert waived(_waiver("a"), "a") == (0, [True])
    assert waived(_waiver("b/a"), "b/a") == (0, [True])
    assert waived(_waiver("b/a"), "a") == (12, [False])


def test_each_home_its_own_and_the_rest(
    waived: Callable[..., Any], call: Callable[..., Any]
) -> None:
    assert waived(_waiver("a") + _waiver("b/a"), "a", "b/a") == (0, [True, True])
    assert waived(_waiver("a") + _waiver(None), "a", "b/a") == (0, [True, True])
    report = call("verify", "a", "b/a", "--waivers", "waivers.toml", "--format", "json").report
    assert [one["waiver"]["target"] for one in report["results"]] == ["a", None]
    assert [one["state"] for one in report["waivers"]] == ["used", "used"]


def test_a_source_that_two_targets_cite_in_one_home_is_of_neither(
    waived: Callable[..., Any],
) -> None:
    Path("a/states/two.json").write_bytes(Path("a/states/one.json").read_bytes())
    files = ("a/states/one.json", "a/states/two.json")
    assert waived(_waiver(files[0]), *files) == (12, [False])
    assert waived(_waiver(None), *files) == (0, [True])
