"""`policy test`: which rule decides, where it stands, and the exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_POLICY = """# ours
refuse = ["prefix-digests", "world-writable"]
default = "deny"

[[rule]]
effect = "deny"
session = "run-9"
why = "under \\u001b[31mreview"

[[rule]]
effect = "allow"
session = "run-*"
tenant = "acme"
"""
_EVENT, _REVIEWED, _OTHER = "transcript:run-1:3", "transcript:run-9:1", "transcript:hr:1"
_SHORT, _FULL = "artifact:run-1:a:0123456789ab", "artifact:run-1:a:" + "ab" * 32


@pytest.fixture
def test(call: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Run `policy test` on the policy above, as the tenant acme."""

    def test(*words: str, policy: str = _POLICY, **options: Any) -> Any:
        file = tmp_path / "policy.toml"
        file.write_text(policy, encoding="utf-8")
        return call("policy", "test", file, *words, "--as-tenant", "acme", **options)

    return test


def test_it_says_which_rule_decided(test: Callable[..., Any]) -> None:
    done = test(_EVENT, _REVIEWED, _OTHER, _SHORT, _FULL)
    assert done.out.splitlines() == [
        f"allow        {_EVENT}  rule 2, line 10",
        f"deny         {_REVIEWED}  rule 1, line 5: under \\x1b[31mreview",
        f"deny         {_OTHER}  default, line 3",
        f"refuse       {_SHORT}  refuse, line 2: prefix-digests",
        f"allow        {_FULL}  rule 2, line 10",
    ]
    assert done.code == 13
    assert done.err == (
        "ctxaudit policy test: refused once the file is open, and not decided here: "
        "world-writable\n"
    )
    assert test(_EVENT, "--quiet").err == ""


@pytest.mark.parametrize(
    ("pointers", "code"),
    [
        ((_EVENT, _FULL), 0),
        ((_EVENT, _OTHER), 13),
        ((_EVENT, _SHORT), 13),
        ((_EVENT, "memory:1"), 11),
        ((_OTHER, "memory:1"), 13),
        ((_OTHER, "nonsense"), 14),
    ],
)
def test_the_worst_wins(pointers: tuple[str, ...], code: int, test: Callable[..., Any]) -> None:
    assert test(*pointers).code == code


def test_objects_a_line(test: Callable[..., Any]) -> None:
    done = test(_REVIEWED, _SHORT, "memory:1", "nonsense", "--format", "json")
    assert done.lines == [
        {
            "pointer": _REVIEWED,
            "tenant": "acme",
            "verdict": "deny",
            "rule": 1,
            "line": 5,
            "why": "under \x1b[31mreview",
            "reason": "policy_denied",
        },
        {
            "pointer": _SHORT,
            "tenant": "acme",
            "verdict": "refuse",
            "rule": None,
            "line": 2,
            "why": "prefix-digests",
            "reason": "refused_by_policy",
        },
        *(
            {
                "pointer": pointer,
                "tenant": "acme",
                "verdict": None,
                "rule": None,
                "line": None,
                "why": "",
                "reason": reason,
            }
            for pointer, reason in (
                ("memory:1", "unsupported_scheme"),
                ("nonsense", "malformed_pointer"),
            )
        ),
    ]


def test_pointers_on_standard_input(test: Callable[..., Any]) -> None:
    done = test("-", stdin=f"{_EVENT}\r\n\n{_OTHER}".encode())
    assert [line.split()[:2] for line in done.out.splitlines()] == [
        ["allow", _EVENT],
        ["deny", _OTHER],
    ]
    assert test("-", stdin=b"\n").code == 3
    assert "malformed" in test("-", stdin=b"\xff\x1b[31m").out


def test_it_decides_as_verify_does(
    home: Any, call: Callable[..., Any], test: Callable[..., Any], tmp_path: Path
) -> None:
    pointers = [_EVENT, _REVIEWED, _OTHER, _SHORT, _FULL, "memory:1", "nonsense"]
    home.state("one.json", pointers)
    said = {one["pointer"]: one["reason"] for one in test(*pointers, "--format", "json").lines}
    report = call(
        "verify",
        home.path,
        *("--policy", tmp_path / "policy.toml", "--as-tenant", "acme", "--format", "json"),
    ).report
    for one in report["results"]:
        if said[one["pointer"]] is None:
            assert one["status"] == "missing"
        else:
            assert one["reason"] == said[one["pointer"]]


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("", "line 1: default: expected a value, got none"),
        ('default = "allow"', "line 1: rule: expected a policy that decides something"),
        (_POLICY.replace('"allow"', '"alow"'), "line 11: rule 2: effect: expected 'allow' or "),
        ("[[rule", "line 1: file: expected TOML"),
    ],
)
def test_a_policy_that_is_not_understood_is_usage(
    policy: str, message: str, test: Callable[..., Any]
) -> None:
    done = test(_EVENT, policy=policy)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"ctxaudit policy test: POLICY: policy.toml: {message}")
    assert len(done.err.splitlines()) == 1


def test_a_policy_that_is_not_there(call: Callable[..., Any], tmp_path: Path) -> None:
    done = call("policy", "test", tmp_path / "none.toml", _EVENT)
    assert done.code == 2
    assert str(tmp_path) not in done.err


def test_no_source_is_looked_up(test: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from provenance.fs import TrustedRoot

    monkeypatch.setattr(TrustedRoot, "_open", lambda self: pytest.fail("opened"))
    assert test(_EVENT).code == 0


def test_the_group_alone_is_usage(call: Callable[..., Any]) -> None:
    done = call("policy")
    assert done.code == 2
    assert "test" in done.err
    assert json.dumps(done.out) == '""'
