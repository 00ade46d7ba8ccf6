"""What the operator's policy denies is in no count: a report does not tell whether it exists."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_POLICIES = {
    "a session": 'default = "allow"\n[[rule]]\neffect = "deny"\nsession = "hr-*"',
    "by default": 'default = "deny"\n[[rule]]\neffect = "allow"\nsession = "s1"',
    "a tenant": (
        'default = "allow"\n[[rule]]\neffect = "deny"\nsession = "hr-*"\ntenant = "guest"'
    ),
    "the only one who may": (
        'default = "allow"\n[[rule]]\neffect = "allow"\nsession = "hr-*"\ntenant = "boss"\n'
        '[[rule]]\neffect = "deny"\nsession = "hr-*"'
    ),
}


def _report(done: Any) -> dict[str, Any]:
    report = done.report
    return {key: value for key, value in report.items() if not key.endswith("_at")}


@pytest.fixture
def mixed(home: Any) -> Any:
    """A home of two sessions, one of which the operator denies; nothing cites it but one state."""
    home.state("one.json", [*home.transcript("s1", 2), "transcript:hr-2:1"])
    home.artifact("s1", "spare.txt", "text")
    home.transcript("hr-1", 2)
    home.transcript("hr-2", 2)
    home.artifact("hr-1", "a.txt", "text")
    home.artifact("hr-2", "b.txt", "text")
    return home


@pytest.mark.parametrize("policy", _POLICIES.values(), ids=_POLICIES)
@pytest.mark.parametrize("extra", [[], ["--all"]])
def test_a_report_is_the_same_without_what_is_denied(
    mixed: Any, call: Callable[..., Any], tmp_path: Path, policy: str, extra: list[str]
) -> None:
    (tmp_path / "policy.toml").write_text(policy)

    def audit() -> tuple[int, dict[str, Any]]:
        options = ["--policy", tmp_path / "policy.toml", "--as-tenant", "guest"]
        done = call("verify", mixed.path, *options, *extra, "--format", "json")
        return done.code, _report(done)

    code, report = audit()
    assert code == 13
    assert report["summary"]["uncited"] == 1
    assert report["summary"]["total"] == 3
    assert "hr-1" not in json.dumps(report)
    for name in ("transcripts/hr-1.jsonl", "transcripts/hr-2.jsonl"):
        (mixed.path / name).unlink()
    for name in ("hr-1", "hr-2"):
        shutil.rmtree(mixed.path / name)
    assert audit() == (code, report)


def test_what_another_tenant_may_read_is_counted(
    mixed: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "policy.toml").write_text(_POLICIES["a tenant"])
    done = call("verify", mixed.path, "--policy", tmp_path / "policy.toml", "--format", "json")
    assert (done.code, done.report["summary"]["uncited"]) == (0, 4)


def test_one_kind_or_one_name_alone_may_be_denied(
    mixed: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    for rule, uncited in (
        ('kind = "transcript"\nsession = "hr-*"', 3),
        ('kind = "artifact"\nsession = "hr-*"', 2),
        ('name = "[ab].txt"', 2),
        ('name = "*"', 0),
    ):
        policy = f'default = "allow"\n[[rule]]\neffect = "deny"\n{rule}'
        (tmp_path / "policy.toml").write_text(policy)
        done = call("verify", mixed.path, "--policy", tmp_path / "policy.toml", "--format", "json")
        assert done.report["summary"]["uncited"] == uncited


def test_a_home_hides_nothing_from_the_counts(mixed: Any, call: Callable[..., Any]) -> None:
    plain = call("verify", mixed.path, "--all", "--format", "json").report["summary"]
    assert plain["uncited"] == 4
    for config in ('[[rule]]\neffect = "deny"\nsession = "hr-*"', 'default = "deny"'):
        mixed.config(config)
        for extra in ([], ["--all"]):
            done = call("verify", mixed.path, *extra, "--format", "json")
            assert done.code == 13
            assert done.report["summary"]["uncited"] == plain["uncited"]
            assert done.report["summary"]["findings"]["denied_by_target"] == 1
        assert {one["target"] for one in done.report["transcripts"]} == {
            f"transcripts/{name}.jsonl" for name in ("s1", "hr-1", "hr-2")
        }
