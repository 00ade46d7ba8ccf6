"""What a confined process is told of its kernel, and what it hands to it."""

from __future__ import annotations

import struct
import sys

import pytest

from provenance.fs import _landlock, confinement
from provenance.fs.confinement import SandboxUnavailable, landlock_abi, require_landlock
from tests.trees import CHECKOUT, run_python


@pytest.mark.parametrize(
    ("abi", "expected"),
    [
        (1, ((1 << 13) - 1,)),
        (2, ((1 << 14) - 1,)),
        (3, ((1 << 15) - 1,)),
        (4, ((1 << 15) - 1, 3)),
        (5, ((1 << 16) - 1, 3)),
        (6, ((1 << 16) - 1, 3, 3)),
        (7, ((1 << 16) - 1, 3, 3)),
        (99, ((1 << 16) - 1, 3, 3)),
    ],
)
def test_each_abi_is_asked_for_all_that_it_can_forbid(
    abi: int, expected: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The numbers of `linux/landlock.h`; an older kernel refuses a field that it does not know."""
    asked: list[tuple[int, ...]] = []

    def kernel(number: int, attributes: bytes, *rest: object) -> int:
        assert number == 444
        asked.append(struct.unpack(f"={len(attributes) // 8}Q", attributes))
        return 5

    monkeypatch.setattr(_landlock, "_system_call", kernel)
    assert _landlock.create_ruleset(abi) == 5
    assert asked == [expected]


@pytest.mark.parametrize(("found", "abi"), [(-1, None), (0, None), (1, 1), (7, 7)])
def test_the_abi_is_the_kernels_word(
    found: int, abi: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_landlock, "_system_call", lambda *_: found)
    monkeypatch.setattr(sys, "platform", "linux")
    assert landlock_abi() == abi


def test_elsewhere_than_on_linux_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert landlock_abi() is None


@pytest.mark.parametrize("abi", [None, 1, 2])
def test_too_little_is_refused(abi: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement, "landlock_abi", lambda: abi)
    with pytest.raises(SandboxUnavailable, match="expected Landlock with ABI 3 or more"):
        require_landlock()


def test_enough_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement, "landlock_abi", lambda: 3)
    assert require_landlock() == 3


@pytest.mark.skipif((landlock_abi() or 0) < 3, reason="no Landlock here, or an old one")
@pytest.mark.parametrize("step", ["create_ruleset", "give_up_privileges", "restrict_this_thread"])
def test_a_step_that_fails_is_an_error_and_not_passed_over(step: str, tmp_path: object) -> None:
    program = f"""
import os, sys
from pathlib import Path
from provenance.fs import _landlock, confinement
def fail(*_):
    raise OSError(1, "no")
_landlock.{step} = fail
give = os.dup(1)
try:
    confinement.confine(["/"], scratch=Path(sys.argv[1]), keep=(give,))
except confinement.SandboxUnavailable as error:
    os.write(give, str(error).encode())
"""
    done = run_python(program, str(tmp_path), cwd=CHECKOUT)
    assert done.stdout == "kernel: expected to confine this process, got EPERM"
