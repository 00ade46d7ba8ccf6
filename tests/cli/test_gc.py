"""`ctxaudit gc`: what it says, and with which exit code."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from cli.collecting import cutoff_of
from provenance.artifacts import ArtifactStore
from provenance.fs import FolderGuard, TrustedRoot
from provenance.retention import GcOrder
from provenance.schemas import load_schema
from tests.cli.conftest import Done, Home

_LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
_NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)

Call = Callable[..., Done]


@pytest.fixture
def old(home: Home) -> list[str]:
    """Two artifacts of long ago; a state cites the second."""
    with ArtifactStore(home.path, clock=lambda: _LONG_AGO) as store:
        pointers = [store.spill("s1", text, name=f"{text}.txt").pointer for text in ("a", "b")]
    for path in (home.path / "s1/tool-results").iterdir():
        os.utime(path, (_LONG_AGO.timestamp(),) * 2)
    home.state("s.json", pointers[1:])
    return pointers


def test_it_lists_and_removes_nothing(home: Home, old: list[str], call: Call) -> None:
    done = call("gc", home.path)
    assert done.code == 0
    assert done.out.splitlines() == [
        f"would go                1  2026-01-01  {old[0]}",
        "kept                    1  1 cited by a state",
        "home: 1 artifact (1 byte) would go, 1 kept",
    ]
    assert "--delete" in done.err
    assert str(home.path) not in done.out + done.err
    assert len(list((home.path / "s1/tool-results").iterdir())) == 2


def test_it_removes(home: Home, old: list[str], call: Call) -> None:
    done = call("gc", home.path, "--delete", "--quiet")
    assert (done.code, done.out) == (0, "home: 1 artifact (1 byte) removed, 1 kept\n")
    report = call("verify", "--pointer", old[0], home.path, "--format", "json")
    reasons = {one["reason"] for one in report.report["results"]}
    assert (report.code, reasons) == (12, {"removed_by_retention", "verified_artifact"})
    again = call("gc", home.path, "--delete")
    assert "0 artifacts" in again.out


def test_the_document_is_the_published_one(home: Home, old: list[str], call: Call) -> None:
    validator = Draft202012Validator(
        json.loads(load_schema("gc")), format_checker=Draft202012Validator.FORMAT_CHECKER
    )
    (home.path / "s1/tool-results/link").symlink_to("x")
    for arguments in ((), ("--older-than", "2025-12-01"), ("--delete",)):
        report = call("gc", home.path, "--format", "json", *arguments).report
        validator.validate(report)
        assert report["dry_run"] == ("--delete" not in arguments)
        assert report["summary"]["removable"]["count"] == len(report["removable"])
    assert report["summary"]["kept_by"] == {
        "state": {"count": 1, "bytes": 1},
        "foreign": {"count": 1, "bytes": 0},
    }
    (home.path / "states/broken.json").write_text("{")
    done = call("gc", home.path, "--format", "json", "--delete")
    validator.validate(done.report)
    assert done.code == 4
    assert done.report["unreadable"][0]["target"] == "states/broken.json"


def test_what_cannot_be_read_is_4_and_named(home: Home, old: list[str], call: Call) -> None:
    (home.path / "ctxaudit.lock").write_text("<<<<<<<")
    for arguments in ((), ("--delete",)):
        done = call("gc", home.path, *arguments)
        assert done.code == 4
        assert (
            "unreadable  ctxaudit.lock: expected a lock file, got merge conflict markers"
            in done.out
        )
        assert "1 undecided" in done.out
        assert f"nothing {'was' if arguments else 'would be'} removed" in done.out


def test_an_audit_at_work_is_1(
    home: Home, old: list[str], call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.collecting.GcOrder", partial(GcOrder, lock_timeout_seconds=0))
    with (
        TrustedRoot(home.path) as root,
        root.open_directory() as folder,
        FolderGuard.among_readers(folder, timeout_seconds=0),
    ):
        done = call("gc", home.path, "--delete")
    assert done.code == 1
    assert "stopped: folder: expected its lock" in done.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere",), "HOME: nowhere: expected a folder"),
        (("--older-than", "soon"), "--older-than: expected days"),
        (("--older-than", "99999"), "--older-than: expected days"),
        (("--older-than", "-1"), "--older-than: expected days"),
        (("--older-than", "2026-02-30"), "--older-than: expected a date that exists"),
        (("--older-than", "9999-01-01"), "--older-than: expected a date that is past"),
    ],
)
def test_usage(home: Home, call: Call, arguments: tuple[str, ...], said: str) -> None:
    done = call("gc", *([] if arguments[0] == "nowhere" else [home.path]), *arguments)
    assert done.code == 2
    assert said in done.err


def test_a_pipe_cites_nothing_that_could_be_read_twice(
    home: Home, old: list[str], call: Call, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = call("gc", home.path, "--cited-by", tmp_path / "pipe")
    assert (done.code, done.out) == (2, "")
    assert "--cited-by: pipe: expected a file or folder, got something else" in done.err


@pytest.mark.parametrize(
    ("text", "cutoff"),
    [
        ("0", _NOW),
        ("1", datetime(2026, 5, 31, 12, tzinfo=UTC)),
        ("2026-06-01", datetime(2026, 6, 1, tzinfo=UTC)),
        ("36525", datetime(1926, 6, 1, 12, tzinfo=UTC)),
    ],
)
def test_days_and_dates(text: str, cutoff: datetime) -> None:
    assert cutoff_of(text, now=_NOW) == cutoff


@pytest.mark.parametrize("text", ["", "²", "1.5", "2026-6-1", "20260601x", " 1", "1e3"])
def test_what_is_neither(text: str) -> None:
    with pytest.raises(ValueError, match="expected days"):
        cutoff_of(text, now=_NOW)


def test_a_name_that_would_steer_the_terminal_is_shown(home: Home, call: Call) -> None:
    folder = home.path / "states"
    folder.mkdir()
    (folder / "\x1b[31m.json").write_text("{")
    assert "\x1b" not in call("gc", home.path).out
    assert Path(folder).exists()


def test_an_interrupt_while_it_removes_is_told_with_what_went(
    home: Home, old: list[str], call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    from provenance.retention import collecting

    remove = collecting.remove_artifacts

    def interrupted(*arguments: object, **names: object) -> object:
        os.kill(os.getpid(), signal.SIGINT)
        return remove(*arguments, **names)  # type: ignore[arg-type]

    monkeypatch.setattr(collecting, "remove_artifacts", interrupted)
    done = call("gc", home.path, "--delete")
    assert done.code == 130
    assert f"removed                 1  2026-01-01  {old[0]}" in done.out
    assert "stopped: interrupted" in done.out
