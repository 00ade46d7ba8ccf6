"""A target cannot soften its own audit (05): each way in which its `ctxaudit.toml` might try."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from provenance.transcripts import TranscriptWriter

_WORST_FIRST = (14, 13, 12, 11, 4, 3, 0)

_WAIVER = """
[[waiver]]
pointer = "transcript:gone:1"
reason = "trust me"
owner = "nobody"
expires = 2999-01-01
"""

# Attempts that change nothing: each is told of and the rest of the report stays the same.
_IGNORED = {
    "allow rules": '[[rule]]\neffect = "allow"\nsession = "*"',
    "allow rules for a tenant": '[[rule]]\neffect = "allow"\ntenant = "*"\nwhy = "all"',
    "default allow": 'default = "allow"',
    "a policy that allows": '[policy]\ndefault = "allow"\n[[policy.rule]]\neffect = "allow"',
    "another policy file": 'policy = "policies/open.toml"',
    "waivers": _WAIVER,
    "waivers by another name": _WAIVER.replace("[[waiver]]", "[[waivers]]"),
    "a file of waivers": 'waivers = "waivers.toml"',
    "a waived code": 'waive = ["transcript_missing"]',
    "another transcript root": 'transcript_root = "/tmp"',
    "another artifact root": 'artifact-root = "elsewhere"',
    "roots in a table": '[roots]\ntranscripts = "/tmp"',
    "raised limits": (
        "[limits]\nmax_record_bytes = 999999999999\nmax_foreign_record_bytes = 999999999999\n"
        "max_nesting = 100000"
    ),
    "fail-on": 'fail_on = ["unsupported"]',
    "fail-on with a hyphen": 'fail-on = "unsupported"',
    "exit-zero": "exit_zero = true",
    "min-strength": 'min_strength = "position"',
    "another tenant": 'as_tenant = "admin"',
    "another format": 'as = "codex"',
    "a sample": "sample = 1",
    "skipping": 'skip = ["transcript:gone:1"]',
    "ignoring": 'ignore = ["*"]',
    "another lock file": 'lock = "other.lock"',
    "another key": 'seal = "mine.pub"',
    "all": "all = false",
}
# Attempts that are no attempt: they are read and change nothing.
_HARMLESS = {
    "nothing": "",
    "formats": 'formats = ["native"]',
    "nothing is refused": "refuse = []",
    "no rules": "rule = []",
    "no limits": "[limits]",
    "a policy of nothing": "[policy]\nrefuse = []",
}
# What is not understood is an error: a tightening that could not be read must not pass.
_BROKEN = {
    "unknown keys": "quiet = true",
    "keys like variables": 'CTXAUDIT_FAIL_ON = "unsupported"',
    "an environment": '[env]\nCTXAUDIT_EXIT_ZERO = "1"',
    "unknown formats": 'formats = ["anything"]',
    "no TOML": "default: allow",
    "deep TOML": "a = " + "[" * 50_000,
    "a key of many parts": "a." * 100_000 + "a = 1",
    "a huge number": "[limits]\nmax_nesting = " + "9" * 10_000,
    "a limit of nothing": "[limits]\nmax_artifact_bytes = 0",
    "a misspelt effect": '[[rule]]\neffect = "alow"',
    "an unknown refusal": 'refuse = ["nothing"]',
    "two policies": 'default = "deny"\n[policy]\ndefault = "allow"',
    "too large": "# " + "x" * (1 << 20),
    "NUL": "\0",
}

_POLICY = """
default = "allow"
refuse = ["prefix-digests"]
[[rule]]
effect = "deny"
session = "secret"
"""


@pytest.fixture
def audit(home: Any, call: Callable[..., Any], tmp_path: Path) -> Callable[[], tuple[int, Any]]:
    """Audit a home with every state below a strict operator's options."""
    (tmp_path / "policy.toml").write_text(_POLICY)
    weak = home.transcript("s1", 3)
    home.transcript("secret", 1)
    full = home.artifact("s1", "a", "text")
    home.artifact("s1", "nobody-cites-it", "text")
    home.state(
        "one.json",
        [
            *weak,
            full,
            full[:-52],
            home.artifact("s1", "b", "text")[:-64] + "0" * 64,
            "transcript:secret:1",
            "transcript:gone:1",
            "memory:1",
            "nonsense",
        ],
    )
    (home.path / "states" / "bad.json").write_text("{")

    def audit() -> tuple[int, Any]:
        done = call(
            "verify",
            home.path,
            *("--policy", tmp_path / "policy.toml", "--min-strength", "full"),
            *("--format", "json", "--all"),
        )
        return done.code, done.report

    return audit


def _comparable(report: Any) -> Any:
    """Leave out times, and what is said of the file itself."""
    ours = ("untrusted_config_ignored", "config_invalid")
    summary = dict(report["summary"])
    summary["findings"] = {k: v for k, v in summary["findings"].items() if k not in ours}
    return {
        "summary": summary,
        "results": report["results"],
        "findings": [one for one in report["findings"] if one["code"] not in ours],
        "waivers": report.get("waivers"),
        "weakened_by_environment": report["weakened_by_environment"],
    }


def _about_the_file(report: Any) -> list[tuple[str, str]]:
    return sorted(
        (one["code"], one["severity"])
        for one in report["findings"]
        if one["target"] == "ctxaudit.toml"
    )


def _is_no_better(code: int, than: int) -> bool:
    return _WORST_FIRST.index(code) <= _WORST_FIRST.index(than)


@pytest.mark.parametrize("name", _IGNORED)
def test_what_would_soften_is_ignored_aloud(
    name: str, home: Any, audit: Callable[[], tuple[int, Any]]
) -> None:
    code, before = audit()
    home.config(_IGNORED[name])
    assert audit()[0] == code == 14
    after = audit()[1]
    assert _comparable(after) == _comparable(before)
    told = _about_the_file(after)
    assert told
    assert set(told) == {("untrusted_config_ignored", "warning")}


@pytest.mark.parametrize("name", _HARMLESS)
def test_what_asks_for_nothing_changes_nothing(
    name: str, home: Any, audit: Callable[[], tuple[int, Any]]
) -> None:
    code, before = audit()
    home.config(_HARMLESS[name])
    after_code, after = audit()
    assert (after_code, _comparable(after)) == (code, _comparable(before))
    assert _about_the_file(after) == []


@pytest.mark.parametrize("name", _BROKEN)
def test_what_is_not_understood_is_an_error(
    name: str, home: Any, audit: Callable[[], tuple[int, Any]]
) -> None:
    _, before = audit()
    home.config(_BROKEN[name])
    code, after = audit()
    assert code == 14
    assert _comparable(after) == _comparable(before)
    assert _about_the_file(after) == [("config_invalid", "error")]


def _link(path: Path) -> None:
    other = path.parent.parent / "open.toml"
    other.write_text('default = "allow"')
    path.symlink_to(other)


def _hanging(path: Path) -> None:
    path.symlink_to("/nowhere/at/all")


def _folder(path: Path) -> None:
    path.mkdir()


def _other_encoding(path: Path) -> None:
    path.write_bytes('default = "allow"'.encode("utf-16"))


@pytest.mark.parametrize("place", [_link, _hanging, os.mkfifo, _folder, _other_encoding])
def test_what_is_no_file_of_text_is_an_error(
    place: Callable[[Path], None], home: Any, audit: Callable[[], tuple[int, Any]]
) -> None:
    _, before = audit()
    place(home.path / "ctxaudit.toml")
    code, after = audit()
    assert code == 14
    assert _comparable(after) == _comparable(before)
    assert _about_the_file(after) == [("config_invalid", "error")]


def test_a_sound_home_with_a_broken_file_fails(home: Any, call: Callable[..., Any]) -> None:
    home.state("one.json", home.transcript("s1", 1))
    assert call("verify", home.path).code == 0
    for text in _BROKEN.values():
        home.config(text)
        assert call("verify", home.path, "--quiet").code == 14


@pytest.mark.parametrize(
    "place",
    [
        "states/ctxaudit.toml",
        "transcripts/ctxaudit.toml",
        "s1/ctxaudit.toml",
        "s1/tool-results/../ctxaudit.toml",
        ".ctxaudit.toml",
        "CTXAUDIT.TOML",
        "policy.toml",
        "waivers.toml",
        "states/waivers.toml",
        ".env",
        "pyproject.toml",
    ],
)
def test_no_other_file_is_asked(
    place: str, home: Any, audit: Callable[[], tuple[int, Any]]
) -> None:
    code, before = audit()
    file = home.path / place
    file.write_text('default = "allow"\nexit_zero = true\n' + _WAIVER)
    after_code, after = audit()
    assert (after_code, _comparable(after)) == (code, _comparable(before))


_TIGHTENING = {
    "a rule that denies": '[[rule]]\neffect = "deny"\nsession = "s1"',
    "a default that denies": 'default = "deny"',
    "allow before deny": (
        'default = "deny"\n[[rule]]\neffect = "allow"\nsession = "*"\n'
        '[[rule]]\neffect = "deny"\nsession = "secret"'
    ),
    "lower limits": "[limits]\nmax_artifact_bytes = 1\nmax_record_bytes = 2",
    "refused": 'refuse = ["hard-links", "foreign-owner", "world-writable", "prefix-digests"]',
}


@pytest.mark.parametrize("name", _TIGHTENING)
@pytest.mark.parametrize("options", [(), ("--fail-on", "missing,denied,corrupt,inconclusive")])
def test_what_tightens_makes_nothing_available_and_nothing_pass(
    name: str,
    options: tuple[str, ...],
    home: Any,
    audit: Callable[[], tuple[int, Any]],
    call: Callable[..., Any],
) -> None:
    _, before = audit()
    good = {one["pointer"] for one in before["results"] if one["status"] == "available"}
    codes = []
    for text in ("", _TIGHTENING[name]):
        home.config(text)
        code, after = audit()
        assert {one["pointer"] for one in after["results"] if one["status"] == "available"} <= good
        assert after["summary"]["total"] == before["summary"]["total"]
        assert after["summary"]["not_checked"] == 0
        codes.append((code, call("verify", home.path, *options, "--quiet").code))
    assert all(code != 0 for pair in codes for code in pair)


@pytest.mark.parametrize("state", ["corrupt", "missing"])
@pytest.mark.parametrize("name", [*_IGNORED, *_TIGHTENING])
def test_a_single_fault_never_passes(
    name: str, state: str, home: Any, call: Callable[..., Any]
) -> None:
    pointer = home.artifact("s1", "a", "text")
    broken = pointer[:-64] + "0" * 64 if state == "corrupt" else "transcript:gone:1"
    home.state("one.json", [broken])
    without = call("verify", home.path, "--quiet").code
    home.config((_IGNORED | _TIGHTENING)[name])
    code = call("verify", home.path, "--quiet").code
    assert code != 0
    if name in _IGNORED:
        assert _is_no_better(code, without)


def test_waivers_count_from_the_operators_option_alone(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    home.state("one.json", ["transcript:gone:1"])
    home.config(_WAIVER)
    for name in ("waivers.toml", "ctxaudit.waivers.toml"):
        (home.path / name).write_text(_WAIVER)
    assert call("verify", home.path).code == 12
    (tmp_path / "waivers.toml").write_text(_WAIVER)
    done = call(*("verify", home.path, "--waivers", tmp_path / "waivers.toml", "--format", "json"))
    assert done.code == 0
    assert json.dumps(done.report["waivers"]).count("trust me") == 1


# Each of them makes `denied` of what is corrupt.
_WITHHOLDING = {
    "default": 'default = "deny"',
    "a rule": '[[rule]]\neffect = "deny"\nsession = "s*"',
    "refused digests": 'refuse = ["prefix-digests"]',
    "refused writers": 'refuse = ["world-writable"]',
    "refused links": 'refuse = ["hard-links"]',
}


@pytest.fixture
def corrupt(home: Any) -> str:
    """A home with one corrupt artifact that each policy above withholds; gives its pointer."""
    pointer: str = home.artifact("s1", "one.txt", "text")[:-64] + "0" * 12
    home.state("one.json", [pointer])
    stored = home.path / "s1/tool-results/one.txt"
    stored.chmod(0o666)
    os.link(stored, home.path / "other-name")
    return pointer


@pytest.mark.parametrize("name", _WITHHOLDING)
def test_a_target_does_not_get_around_fail_on_by_denying(
    name: str, corrupt: str, home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    fail_on = "--fail-on", "corrupt,missing"
    assert call("verify", home.path, *fail_on).code == 14
    home.config(_WITHHOLDING[name])
    done = call("verify", home.path, *fail_on, "--format", "json")
    assert done.code == 13
    (finding,) = [one for one in done.report["findings"] if one["severity"] == "error"]
    assert (finding["code"], finding["target"]) == ("denied_by_target", "ctxaudit.toml")
    assert "got 1 source withheld" in finding["message"]
    # Nothing else is wrong: denied, as ever.
    assert call("verify", home.path).code == 13
    # The operator may answer for all of it, for the source, or want it so.
    file = tmp_path / "waivers.toml"
    said = 'reason = "why"\nowner = "ops"\nexpires = 2999-01-01\n'
    for keys in (
        'code = "denied_by_target"\ntarget = "ctxaudit.toml"\n',
        f'pointer = "{corrupt}"\n',
    ):
        file.write_text(f"[[waiver]]\n{keys}{said}")
        assert call("verify", home.path, *fail_on, "--waivers", file).code == 0
    policy = tmp_path / "policy.toml"
    text = _WITHHOLDING[name]
    policy.write_text(text if "default" in text else f'default = "allow"\n{text}')
    done = call("verify", home.path, *fail_on, "--policy", policy, "--format", "json")
    assert done.code == 0
    assert "error" not in {one["severity"] for one in done.report["findings"]}
    policy.write_text('default = "allow"\n[[rule]]\neffect = "deny"\nsession = "elsewhere"')
    assert call("verify", home.path, *fail_on, "--policy", policy).code == 13


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_transcripts_that_a_target_withholds_are_counted(
    home: Any, call: Callable[..., Any], tmp_path: Path, jobs: str
) -> None:
    for name in ("one", "two", "three"):
        home.transcript(name, 1)
        (home.path / f"transcripts/{name}.jsonl").write_text("no record\n")
    options = "--all", "--fail-on", "corrupt,missing", "--jobs", jobs, "--format", "json"
    assert call("verify", home.path, *options).code == 14
    home.config('[[rule]]\neffect = "deny"\nsession = "t*"')
    (home.path / "transcripts/one.jsonl").unlink()
    done = call("verify", home.path, *options)
    assert done.code == 13
    (finding,) = [one for one in done.report["findings"] if one["code"] == "denied_by_target"]
    assert "got 2 sources withheld" in finding["message"]


_LIMITS = "[limits]\nmax_record_bytes = 10\n", "[limits]\nmax_nesting = 1\n"


@pytest.mark.parametrize("limits", _LIMITS)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_target_does_not_get_around_fail_on_by_limits(
    home: Any, call: Callable[..., Any], limits: str, jobs: str
) -> None:
    (pointer, *_) = home.transcript("s1", 2)
    home.state("one.json", [pointer, "transcript:s1:3"])
    options = "--fail-on", "missing,denied", "--jobs", jobs, "--format", "json"
    assert call("verify", home.path, *options).code == 12
    home.config(limits)
    done = call("verify", home.path, *options)
    assert done.code in (4, 12)
    told = [one for one in done.report["findings"] if one["code"] == "limited_by_target"]
    assert [one["target"] for one in told] == ["ctxaudit.toml"] * (done.code == 4)
    assert done.report["summary"]["total"] == 2


def test_a_target_does_not_hide_by_limits_what_is_asked(
    home: Any, call: Callable[..., Any]
) -> None:
    home.state("one.json", ["transcript:gone:1"])
    home.config("[limits]\nmax_nesting = 1\n")
    done = call("verify", home.path, "--format", "json")
    assert (done.code, done.report["summary"]["missing"]) == (12, 1)
    assert done.report["findings"] == []


def test_a_swap_that_a_target_calls_too_large_is_told(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    home.state("one.json", [home.artifact("s1", "a.txt", "a text of some length")])
    (home.path / "s1/tool-results/a.txt").write_text("b text of some length")
    assert call("verify", home.path).code == 14
    home.config("[limits]\nmax_artifact_bytes = 18\n")
    done = call("verify", home.path, "--format", "json")
    assert done.code == 4
    (finding,) = done.report["findings"]
    assert finding["code"] == "limited_by_target"
    assert "got 1 source withheld" in finding["message"]
    # The nearest harmless: a limit that nothing is over.
    home.config("[limits]\nmax_artifact_bytes = 1000\n")
    done = call("verify", home.path, "--format", "json")
    assert (done.code, done.report["findings"]) == (14, [])
    # The operator may answer for it.
    home.config("[limits]\nmax_artifact_bytes = 18\n")
    file = tmp_path / "waivers.toml"
    file.write_text(
        '[[waiver]]\ncode = "limited_by_target"\ntarget = "ctxaudit.toml"\n'
        'reason = "why"\nowner = "ops"\nexpires = 2999-01-01\n'
    )
    assert call("verify", home.path, "--fail-on", "denied", "--waivers", file).code == 0


@pytest.mark.parametrize("limits", _LIMITS)
def test_transcripts_that_a_target_cuts_by_limits_are_counted(
    home: Any, call: Callable[..., Any], limits: str
) -> None:
    with TranscriptWriter(home.path / "transcripts", "s1") as log:
        call_of = {"type": "function_call", "call_id": "c", "name": "x", "arguments": {"a": [1]}}
        log.append(call_of)
    home.config(limits)
    done = call("verify", home.path, "--all", "--fail-on", "missing,denied", "--format", "json")
    assert "limited_by_target" in {one["code"] for one in done.report["findings"]}
    assert done.code == 4


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_limit_does_not_hide_the_second_log_of_a_session(
    home: Any, call: Callable[..., Any], jobs: str
) -> None:
    for name, text in (("a", "short"), ("b", "y" * 2_000)):
        line = {
            "type": "user", "uuid": "00000000-0000-4000-8000-000000000001", "sessionId": "dup",
            "parentUuid": None, "timestamp": "2026-01-01T00:00:00.000Z", "version": "2.0.1",
            "message": {"role": "user", "content": text},
        }  # fmt: skip
        (home.path / "transcripts").mkdir(exist_ok=True)
        (home.path / f"transcripts/{name}.jsonl").write_text(json.dumps(line) + "\n")
    home.state("one.json", ["transcript:dup:1"])
    assert call("verify", home.path, "--jobs", jobs).code == 14
    home.config("[limits]\nmax_foreign_record_bytes = 1000\n")
    done = call("verify", home.path, "--jobs", jobs, "--format", "json")
    assert done.code == 4
    assert [one["code"] for one in done.report["findings"]] == ["limited_by_target"]
