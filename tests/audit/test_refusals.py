"""`refuse` over real evidence: artifacts, native and other transcripts, one process and several."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from provenance.audit import AuditRequest, run_audit
from provenance.audit_report import AuditReport
from provenance.findings import Severity
from provenance.policy import parse_policy

_MOMENT = datetime(2026, 1, 5, tzinfo=UTC)


def _write(path: Path, data: bytes) -> None:
    for folder in reversed([one for one in path.parents if not one.exists()]):
        folder.mkdir()
        folder.chmod(0o755)
    path.write_bytes(data)
    path.chmod(0o644)


def _home(folder: Path) -> tuple[Path, list[str]]:
    """Write a home with two of each kind of evidence; the pointers, by the file they are in."""
    home = folder / "home"
    pointers = []
    for name in ("a", "b"):
        data = f"text of {name}".encode() * (1 if name == "a" else 1 << 17)
        _write(home / "s1" / "tool-results" / name, data)
        pointers.append(f"artifact:s1:{name}:{hashlib.sha256(data).hexdigest()}")
    for session in ("t1", "t2"):
        line = {"sequence": 1, "session_id": session, "event_id": f"transcript:{session}:1"}
        _write(home / f"transcripts/{session}.jsonl", json.dumps(line).encode() + b"\n")
        pointers.append(f"transcript:{session}:1")
    for session in ("c1", "c2"):
        record = {
            "type": "user",
            "sessionId": session,
            "uuid": f"u-{session}",
            "parentUuid": None,
            "timestamp": "2026-01-01T00:00:00Z",
            "message": {"role": "user", "content": "hi"},
        }
        _write(home / f"transcripts/deep/x-{session}.jsonl", json.dumps(record).encode() + b"\n")
        pointers.append(f"transcript:{session}:1")
    return home, pointers


_FILES = (
    "s1/tool-results/a",
    "s1/tool-results/b",
    "transcripts/t1.jsonl",
    "transcripts/t2.jsonl",
    "transcripts/deep/x-c1.jsonl",
    "transcripts/deep/x-c2.jsonl",
)


def _reasons(home: Path, pointers: list[str], refuse: str, *, jobs: int = 1) -> list[str]:
    policy = None if not refuse else parse_policy(f'default = "allow"\nrefuse = ["{refuse}"]')
    request = AuditRequest(targets=(str(home),), pointers=tuple(pointers), policy=policy, jobs=jobs)
    report = _audit(request)
    found = {one.resolution.pointer: one.resolution for one in report.sources}
    for one in found.values():
        is_refused = one.reason == "refused_by_policy"
        assert (str(one.status) == "denied") is is_refused
        assert (one.evidence_sha256 is None) is is_refused
    return [str(found[pointer].reason) for pointer in pointers]


def _audit(request: AuditRequest) -> AuditReport:
    return run_audit(request, clock=lambda: _MOMENT, stopwatch=lambda: 0.0)


def _link(home: Path, file: str) -> None:
    os.link(home / file, home.parent / f"other-{Path(file).name}")


def _open_up(home: Path, file: str) -> None:
    (home / file).chmod(0o666)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("refuse", "change"), [("hard-links", _link), ("world-writable", _open_up)]
)
@pytest.mark.parametrize("number", range(len(_FILES)))
def test_what_is_refused_is_denied_and_nothing_else_is(
    tmp_path: Path, refuse: str, change: Callable[[Path, str], None], number: int, jobs: int
) -> None:
    home, pointers = _home(tmp_path)
    change(home, _FILES[number])
    assert "refused_by_policy" not in _reasons(home, pointers, "", jobs=jobs)
    reasons = _reasons(home, pointers, refuse, jobs=jobs)
    assert [at for at, reason in enumerate(reasons) if reason == "refused_by_policy"] == [number]
    assert sum(reason.startswith("verified") for reason in reasons) == len(_FILES) - 1


@pytest.mark.parametrize("refuse", ["hard-links", "foreign-owner", "world-writable"])
def test_an_ordinary_home_has_nothing_to_refuse(tmp_path: Path, refuse: str) -> None:
    home, pointers = _home(tmp_path)
    assert all(one.startswith("verified") for one in _reasons(home, pointers, refuse))


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_another_user_owns_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    home, pointers = _home(tmp_path)
    uid = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: uid + 1)
    assert set(_reasons(home, pointers, "foreign-owner", jobs=jobs)) == {"refused_by_policy"}


@pytest.mark.parametrize(
    ("folder", "refused"), [(".", 6), ("transcripts", 4), ("transcripts/deep", 2), ("s1", 2)]
)
def test_folders_on_the_way_count(tmp_path: Path, folder: str, refused: int) -> None:
    home, pointers = _home(tmp_path)
    (home / folder).chmod(0o777)
    reasons = _reasons(home, pointers, "world-writable")
    assert reasons.count("refused_by_policy") == refused
    assert reasons.count("verified_artifact") + reasons.count("verified_transcript_event") == (
        6 - refused
    )


def test_a_targets_own_policy_may_refuse(tmp_path: Path) -> None:
    home, pointers = _home(tmp_path)
    _link(home, _FILES[0])
    _write(home / "ctxaudit.toml", b'refuse = ["hard-links"]')
    assert _reasons(home, pointers, "")[0] == "refused_by_policy"


def test_a_rule_that_denies_goes_before_what_the_file_is(tmp_path: Path) -> None:
    home, pointers = _home(tmp_path)
    _link(home, _FILES[0])
    policy = parse_policy(
        'default = "allow"\nrefuse = ["hard-links"]\n[[rule]]\neffect = "deny"\nname = "a"'
    )
    request = AuditRequest(targets=(str(home),), pointers=(pointers[0],), policy=policy)
    (source,) = _audit(request).sources
    assert str(source.resolution.reason) == "policy_denied"


def test_what_is_missing_stays_missing(tmp_path: Path) -> None:
    home, _ = _home(tmp_path)
    assert _reasons_of_missing(home) == ["artifact_missing", "transcript_missing"]


def _reasons_of_missing(home: Path) -> list[str]:
    policy = parse_policy('default = "allow"\nrefuse = ["hard-links", "world-writable"]')
    pointers = ("artifact:s1:gone:0123456789ab", "transcript:gone:1")
    report = _audit(AuditRequest(targets=(str(home),), pointers=pointers, policy=policy))
    return [str(one.resolution.reason) for one in report.sources]


@pytest.mark.parametrize("jobs", [1, 2])
def test_transcripts_that_are_checked_whole_are_refused_too(tmp_path: Path, jobs: int) -> None:
    home, _ = _home(tmp_path)
    _link(home, _FILES[2])
    _link(home, _FILES[4])
    policy = parse_policy('default = "allow"\nrefuse = ["hard-links"]')
    request = AuditRequest(
        targets=(str(home / "transcripts"),), only_transcripts=True, policy=policy, jobs=jobs
    )
    found = [one for one in _audit(request).findings if one.code == "refused_by_policy"]
    assert [(one.target, one.severity) for one in found] == [
        ("deep/x-c1.jsonl", Severity.ERROR),
        ("t1.jsonl", Severity.ERROR),
    ]


def test_one_that_no_transcripts_name_is_not_passed_over(tmp_path: Path) -> None:
    home, _ = _home(tmp_path)
    hidden = home / "transcripts" / "hidden.log"
    hidden.write_bytes((home / _FILES[4]).read_bytes())
    os.link(hidden, tmp_path / "other")
    policy = parse_policy('default = "allow"\nrefuse = ["hard-links"]')
    request = AuditRequest(
        targets=(str(home / "transcripts"),), only_transcripts=True, policy=policy
    )
    report = _audit(request)
    assert [one.target for one in report.findings if one.code == "refused_by_policy"] == [
        "hidden.log"
    ]


def test_the_fact_is_told_beside_the_refusal(tmp_path: Path) -> None:
    home, pointers = _home(tmp_path)
    _link(home, _FILES[0])
    policy = parse_policy('default = "allow"\nrefuse = ["hard-links"]')
    request = AuditRequest(targets=(str(home),), pointers=(pointers[0],), policy=policy)
    report = _audit(request)
    assert [(one.code, one.target) for one in report.findings] == [
        ("hard_link", "s1/tool-results/a")
    ]


def test_a_file_that_a_record_refers_to_is_refused_too(tmp_path: Path) -> None:
    sample = Path(__file__).parent.parent / "data/findings/reference_corrupt/harmless"
    for file in sample.rglob("*"):
        if file.is_file():
            _write(tmp_path / "tree" / file.relative_to(sample), file.read_bytes())
    policy = parse_policy('default = "allow"\nrefuse = ["hard-links"]')
    request = AuditRequest(targets=(str(tmp_path / "tree"),), policy=policy)
    assert _audit(request).reference_counts == {"available": 1}
    (output,) = (tmp_path / "tree").rglob("a.txt")
    os.link(output, tmp_path / "other")
    assert _audit(request).reference_counts == {"denied": 1}
