"""What is said of an option's value: the option, expected before got, and where it came from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--jobs", "0"), "--jobs: expected a whole number of 1 to 256, got '0'"),
        (("--jobs", "257"), "--jobs: expected a whole number of 1 to 256, got '257'"),
        (("--jobs", "x"), "--jobs: expected a whole number of 1 to 256, got 'x'"),
        (("--format", "pdf"), "--format: expected one of console, json, ndjson, sarif, junit, git"),
        (("--color", "red"), "--color: expected one of auto, always, never, got 'red'"),
        (("--min-strength", "Full"), "--min-strength: expected one of position, prefix, full, pin"),
        (("--since", "y"), "--since: expected a date like 2026-11-01, got 'y'"),
        (("--fail-on", "all"), "--fail-on: expected some of missing,denied,corrupt,unsupported,in"),
        (("--policy", ""), "--policy: expected a path, got an empty text or a NUL"),
    ],
)
def test_on_the_command_line_and_in_the_environment(
    call: Callable[..., Any], options: tuple[str, str], said: str
) -> None:
    done = call("verify", "x", *options)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"ctxaudit verify: {said}")
    assert "CTXAUDIT" not in done.err
    assert done.err.count("\n") == 1
    flag, value = options
    if value:
        variable = f"CTXAUDIT_{flag[2:].replace('-', '_').upper()}"
        done = call("verify", "x", **{variable: value})
        told = said.replace(f"{flag}:", f"{flag} (from {variable}):")
        if flag != "--color":  # the group has one of that name, too
            assert done.err.startswith(f"ctxaudit verify: {told}")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("cite", "x", "--limit", "0"), "--limit: expected a whole number of 1 or more, got '0'"),
        (
            ("compact", "x", "--summarizer-timeout", "0"),
            "--summarizer-timeout: expected a number of more than 0 and at most",
        ),
        (("verify", ""), "TARGET: expected a path, got an empty text or a NUL"),
    ],
)
def test_other_kinds(call: Callable[..., Any], given: tuple[str, ...], said: str) -> None:
    done = call(*given)
    assert done.code == 2
    assert f": {said}" in done.err
