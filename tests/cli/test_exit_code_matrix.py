"""The exit code for each combination of states, waivers, `--fail-on` and `--min-strength`.

What is expected is written from the specification alone (05, "Exit codes of verify"): a list of
what is wrong, of which the worst wins. Nothing here uses the code under test to know it.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from cli.verdict import verdict_of
from provenance.audit_report import AuditedSource, AuditReport
from provenance.findings import Finding, Severity
from provenance.resolution import (
    Outcome,
    Reason,
    SourceResolution,
    Strength,
    resolution_for,
    verified,
)
from provenance.waivers import Waiver

# 05: "The worst wins: 14, 13, 12, 11, 4, then 3."
_WORST_FIRST = (14, 13, 12, 11, 4, 3)
_CODE = {"corrupt": 14, "denied": 13, "missing": 12, "unsupported": 11, "inconclusive": 4}
_STATES = tuple(_CODE)
_REASON = {
    "corrupt": Reason.ARTIFACT_DIGEST_MISMATCH,
    "denied": Reason.POLICY_DENIED,
    "missing": Reason.TRANSCRIPT_MISSING,
    "unsupported": Reason.UNSUPPORTED_SCHEME,
    "inconclusive": Reason.SOURCE_READ_FAILED,
}
_FAIL_ON: tuple[frozenset[str] | None, ...] = (
    None,
    *(frozenset({state}) for state in _STATES),
    frozenset({"corrupt", "denied"}),
    frozenset({"missing", "unsupported", "inconclusive"}),
    frozenset(_STATES),
)
_WAIVER = Waiver("why", "ops", date(2999, 1, 1), pointer="x")


def _expected(
    counting: Iterable[str],
    fail_on: frozenset[str] | None,
    *,
    is_expired: bool = False,
    is_withheld: bool = False,
    is_empty: bool = False,
    exit_zero: bool = False,
) -> int:
    """Say what the specification asks for.

    `counting`: states that no waiver covers; weak evidence stands there as corrupt.
    """
    codes = set()
    for state in counting:
        named = fail_on is None or state in fail_on
        # An inconclusive result has the status corrupt: nobody knows that it is not.
        if named or (state == "inconclusive" and "corrupt" in (fail_on or ())):
            codes.add(_CODE[state])
    if is_expired:
        codes.add(14)  # it fails the run, whatever --fail-on leaves out
    if is_withheld:
        codes.add(13)  # the same: a target cannot soften its own audit
    for code in _WORST_FIRST:
        if code in codes:
            return 0 if exit_zero else code
    return 3 if is_empty else 0


def _source(state: str, *, is_waived: bool) -> AuditedSource:
    resolution: SourceResolution = resolution_for(f"{state}:x", _REASON[state])
    return AuditedSource(resolution, (), _WAIVER if is_waived else None)


_AVAILABLE = AuditedSource(
    verified(
        "transcript:s:1",
        "transcript",
        Outcome(Reason.VERIFIED_TRANSCRIPT_EVENT, "a" * 64, None, Strength.POSITION),
    )
)


@pytest.mark.parametrize("fail_on", _FAIL_ON, ids=lambda one: "+".join(sorted(one or ["all"])))
def test_every_report_has_the_code_that_the_specification_gives(
    fail_on: frozenset[str] | None,
) -> None:
    kinds = ("absent", "counts", "waived")
    weak = Finding("evidence_too_weak", Severity.ERROR, "states/a.json")
    weak_waived = Finding("evidence_too_weak", Severity.ERROR, "states/a.json", waiver=_WAIVER)
    over = Finding("waiver_expired", Severity.ERROR, "waivers.toml")
    withheld = Finding("denied_by_target", Severity.ERROR, "ctxaudit.toml")
    checked = 0
    for *states, strength, target, expired in itertools.product(
        *([kinds] * len(_STATES)), kinds, kinds, (False, True)
    ):
        sources = [
            _source(name, is_waived=state == "waived")
            for name, state in zip(_STATES, states, strict=True)
            if state != "absent"
        ]
        findings = [weak] if strength == "counts" else []
        findings += [weak_waived] if strength == "waived" else []
        findings += [withheld] if target == "counts" else []
        findings += [replace(withheld, waiver=_WAIVER)] if target == "waived" else []
        findings += [over] if expired else []
        counts: dict[str, int] = {}
        for finding in findings:
            counts[finding.code] = counts.get(finding.code, 0) + 1
        waived = {"evidence_too_weak": 1} if strength == "waived" else {}
        waived |= {"denied_by_target": 1} if target == "waived" else {}
        # Evidence that is too weak is available evidence.
        sources += [_AVAILABLE] * (strength != "absent")
        report = AuditReport(
            sources=tuple(sources),
            findings=tuple(findings),
            finding_counts=counts,
            waived_counts=waived,
        )
        counting = [
            name for name, state in zip(_STATES, states, strict=True) if state == "counts"
        ] + ["corrupt"] * (strength == "counts")
        for exit_zero in (False, True):
            expected = _expected(
                counting,
                fail_on,
                is_expired=bool(expired),
                is_withheld=target == "counts",
                is_empty=not sources,
                exit_zero=exit_zero,
            )
            found = verdict_of(report, fail_on=fail_on, exit_zero=exit_zero)
            assert found == expected, (states, strength, target, expired, exit_zero)
            checked += 1
    assert checked == 3**7 * 2 * 2


def test_an_interrupt_goes_before_everything() -> None:
    for waived, fail_on, exit_zero in itertools.product((False, True), _FAIL_ON, (False, True)):
        report = AuditReport(sources=(_source("missing", is_waived=waived),), is_interrupted=True)
        assert verdict_of(report, fail_on=fail_on, exit_zero=exit_zero) == 130


def test_unlisted_findings_count_where_waivers_do_not_cover_all_of_them() -> None:
    for waived, expected in ((30_000, 0), (29_999, 14)):
        report = AuditReport(
            sources=(_AVAILABLE,),
            findings=(Finding("torn_line", Severity.ERROR, "a", waiver=_WAIVER),),
            finding_counts={"torn_line": 30_000},
            waived_counts={"torn_line": waived},
        )
        assert verdict_of(report) == expected


_POLICY = 'default = "allow"\n[[rule]]\neffect = "deny"\nsession = "secret"'


@pytest.fixture
def sources(home: Any, tmp_path: Path) -> dict[str, str]:
    """A home that can show every state; gives a pointer for each."""
    (tmp_path / "policy.toml").write_text(_POLICY)
    home.config("[limits]\nmax_artifact_bytes = 100")
    small = home.artifact("s1", "small", "text")
    return {
        "available": small,
        "prefix": small[:-52],
        "corrupt": home.artifact("s1", "other", "text")[:-64] + "0" * 64,
        "denied": "transcript:secret:1",
        "missing": "transcript:gone:1",
        "unsupported": "memory:1",
        "inconclusive": home.artifact("s1", "large", "x" * 200),
    }


def _waivers(pointers: Iterable[str], *, weak: bool, expired: bool) -> str:
    def one(keys: str, expires: str) -> str:
        return f'[[waiver]]\n{keys}\nreason = "why"\nowner = "ops"\nexpires = {expires}\n'

    parts = [one(f"pointer = {json.dumps(pointer)}", "2999-01-01") for pointer in pointers]
    if weak:
        keys = 'code = "evidence_too_weak"\ntarget = "states/one.json"'
        parts.append(one(keys, "2999-01-01"))
    if expired:
        parts.append(one('pointer = "transcript:never:1"', "2020-01-01"))
    return "\n".join(parts)


_SETS = [(), *((state,) for state in _STATES), ("corrupt", "missing"), ("denied", "inconclusive")]


@pytest.mark.parametrize("present", _SETS, ids=lambda one: "+".join(one) or "none")
def test_real_homes_have_the_code_that_the_specification_gives(
    present: tuple[str, ...],
    sources: dict[str, str],
    home: Any,
    call: Callable[..., Any],
    tmp_path: Path,
) -> None:
    home.state("one.json", [sources[one] for one in ("prefix", *present)])
    file = tmp_path / "waivers.toml"
    # Not every combination of everything: each axis with each other one.
    for waived, fail_on, (is_weak, is_weak_waived), expired in (
        (False, None, (False, False), False),
        (True, None, (False, False), False),
        (False, present[:1], (False, False), False),
        (True, present[:1], (True, False), False),
        (False, ("unsupported",), (True, True), False),
        (True, None, (True, True), False),
        (True, None, (False, False), True),
        (False, ("missing", "denied"), (True, False), True),
    ):
        file.write_text(
            _waivers(
                [sources[one] for one in present] if waived else [],
                weak=is_weak_waived,
                expired=expired,
            )
        )
        options = ["--waivers", file, "--policy", tmp_path / "policy.toml"]
        options += ["--fail-on", ",".join(fail_on)] if fail_on else []
        options += ["--min-strength", "full"] if is_weak else []
        counting = [] if waived else list(present)
        counting += ["corrupt"] * (is_weak and not is_weak_waived)
        expected = _expected(counting, frozenset(fail_on) if fail_on else None, is_expired=expired)
        if expected == 0 and "inconclusive" in counting:
            expected = 4  # the limit is the home's own: it cannot be left out
        done = call("verify", home.path, *options, "--quiet")
        assert done.code == expected, (waived, fail_on, is_weak, is_weak_waived, expired)
