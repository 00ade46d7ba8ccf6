"""Joining what policies say."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from provenance.audit.part import AuditPart
from provenance.audit.request import TargetError
from provenance.audit_report import Citation
from provenance.fs import FolderGuard, LockTimeout, TrustedRoot
from provenance.pointers import parse_source_pointer
from provenance.policy import Verdict, parse_policy

_DENY = parse_policy('default = "deny"')
_REFUSE = parse_policy('default = "allow"\nrefuse = ["prefix-digests"]')
_ALLOW = parse_policy('default = "allow"\n[[rule]]\neffect = "deny"\nsession = "other"')
_SHORT = parse_source_pointer("artifact:s:f:0123456789ab")


@pytest.mark.parametrize(
    ("policies", "verdict"),
    [
        ((), Verdict.ALLOW),
        ((_ALLOW,), Verdict.ALLOW),
        ((_ALLOW, _REFUSE), Verdict.REFUSE),
        ((_ALLOW, _REFUSE, _DENY), Verdict.DENY),
        ((_ALLOW, _DENY), Verdict.DENY),
    ],
)
def test_every_policy_has_to_allow(policies: tuple[object, ...], verdict: Verdict) -> None:
    for order in itertools.permutations(policies):
        part = AuditPart(policies=order)  # type: ignore[arg-type]
        assert part.verdict(_SHORT, None) is verdict


def test_a_pointer_is_held_once_with_all_who_cite_it() -> None:
    part = AuditPart()
    part.cite("b", Citation("x"))
    part.cite("a")
    part.cite("b", Citation("y"))
    assert part.citations == {"b": [Citation("x"), Citation("y")], "a": []}


def test_a_finding_names_who_cites_a_pointer_or_where_it_came_from() -> None:
    part = AuditPart()
    part.cite("a", origin="--pointer")
    part.cite("a", origin="-")
    part.cite("b", origin="-")
    part.cite("b", Citation("states/one.json"))
    part.cite("c")
    assert [part.name_of(pointer) for pointer in "abc"] == ["--pointer", "states/one.json", "."]
    part.prefix = "home/"
    assert part.name_of("c") == "home"


def test_a_gc_that_does_not_end_is_told(tmp_path: Path) -> None:
    with TrustedRoot(tmp_path) as root, root.open_directory() as folder:
        part = AuditPart(artifacts=root, prefix="home/")
        with (
            FolderGuard.alone(folder, timeout_seconds=0),
            pytest.raises(TargetError, match=r"^home: expected that no gc is at work"),
        ):
            part.keep_gc_out(timeout_seconds=0)
        part.keep_gc_out(timeout_seconds=0)
        with pytest.raises(LockTimeout):
            FolderGuard.alone(folder, timeout_seconds=0)
        part.close()
        FolderGuard.alone(folder, timeout_seconds=0).close()


def test_a_root_that_is_not_there_needs_no_guard() -> None:
    part = AuditPart(artifacts=TrustedRoot("/nowhere"))
    part.cite("artifact:s1:a.txt:0123456789ab")
    part.keep_gc_out_if_opened(None)
    assert part.guard is None
