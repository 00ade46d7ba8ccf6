"""Logs that go on with another session's records, and what lies in a home beside its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures import open_folder
from tests.transcripts.agents import claude, claude_record, line
from tests.trees import without_privileges

__all__ = ["open_folder"]

ONE, TWO = "11111111-aaaa-4000-8000-000000000001", "22222222-bbbb-4000-8000-000000000002"


def resumed(first: str = ONE, then: str = TWO, count: int = 6) -> bytes:
    """A log that one session began and another took up."""
    return b"".join(
        line(claude_record(n, session=first if n <= count // 2 else then))
        for n in range(1, count + 1)
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "projects" / "-p"
    folder.mkdir(parents=True)
    (folder / f"{ONE}.jsonl").write_bytes(resumed())
    return tmp_path / "projects"


def _cited(call: Callable[..., Any], tree: Path, text: str = "text") -> list[dict[str, Any]]:
    done = call("cite", tree, "--grep", text, "--format", "json")
    return [json.loads(one) for one in done.out.splitlines()]


def test_every_pointer_that_cite_prints_verifies_with_its_digest(
    tree: Path, call: Callable[..., Any]
) -> None:
    rows = _cited(call, tree)
    assert [one["pointer"] for one in rows] == [
        *(f"transcript:{ONE}:{n}" for n in (1, 2, 3)),
        *(f"transcript:{TWO}:{n}" for n in (4, 5, 6)),
    ]
    pointers = [arg for one in rows for arg in ("--pointer", one["pointer"])]
    done = call("verify", *pointers, "--transcript-root", tree, "--artifact-root", tree,
                "--format", "json")  # fmt: skip
    assert done.code == 0
    found = {one["pointer"]: one["evidence_sha256"] for one in done.report["results"]}
    assert found == {one["pointer"]: one["sha256"] for one in rows}


def test_a_session_that_goes_on_in_another_log_is_found_behind_its_own(
    tree: Path, call: Callable[..., Any]
) -> None:
    (tree / "-p" / f"{TWO}.jsonl").write_bytes(claude(2, session=TWO))
    root = ("--transcript-root", tree, "--artifact-root", tree)
    assert call("verify", "--pointer", f"transcript:{TWO}:6", *root).code == 0
    assert call("verify", "--pointer", f"transcript:{TWO}:7", *root).code == 12
    # Its own log has records 1 and 2; where both say something they have to agree.
    assert call("verify", "--pointer", f"transcript:{TWO}:2", *root).code == 0


def test_cite_leaves_out_what_its_pointer_would_not_lead_to(
    tree: Path, call: Callable[..., Any]
) -> None:
    (tree / "-p" / f"{TWO}.jsonl").write_bytes(
        b"".join(line(claude_record(n, session=TWO, extra=n)) for n in range(1, 5))
    )
    done = call("cite", tree, "--grep", "text 4", "--format", "json")
    rows = [json.loads(one) for one in done.out.splitlines()]
    assert [(one["pointer"], Path(one["target"]).stem) for one in rows] == [
        (f"transcript:{TWO}:4", TWO)
    ]
    assert "transcript_session_mismatch" in done.err


@pytest.mark.parametrize(("asked", "records"), [(ONE, 6), (TWO, 6), ("22222222*", 6), ("3*", 0)])
def test_the_option_session_finds_each_of_them(
    tree: Path, call: Callable[..., Any], asked: str, records: int
) -> None:
    done = call("verify", tree, "--session", asked, "--format", "json")
    assert sum(one["records"] for one in done.report["transcripts"]) == records
    assert done.code == (0 if records else 3)


def test_a_policy_that_denies_the_second_session_denies_the_log(
    tree: Path, call: Callable[..., Any], tmp_path: Path
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(f'default = "allow"\n[[rule]]\neffect = "deny"\nsession = "{TWO}"\n')
    for target in (tree, tree / "-p" / f"{ONE}.jsonl"):
        done = call("verify", target, "--policy", policy, "--format", "json")
        assert (done.code, done.report["transcripts"][0]["records"]) == (13, 0), done.err


@pytest.mark.parametrize("marker", ["transcripts", "states", "seals", "ctxaudit.lock"])
def test_a_name_that_homes_have_hides_no_transcript(
    tree: Path, call: Callable[..., Any], marker: str
) -> None:
    (tree / marker).mkdir()
    (tree / "-p" / "weld.jsonl").write_bytes(claude(2, session="s9").replace(b"}\n", b"}", 1))
    done = call("verify", tree, "--format", "json")
    assert {one["target"] for one in done.report["transcripts"]} == {
        f"-p/{ONE}.jsonl", "-p/weld.jsonl",
    }  # fmt: skip
    assert done.code == 14


def test_a_home_alone_is_what_it_was(home: Any, call: Callable[..., Any]) -> None:
    home.transcript("s1", 2)
    home.artifact("s1", "a.jsonl", claude(2).decode())
    home.state("a.json", ["transcript:s1:1"])
    (home.path / "notes.json").write_text('{"messages": []}')
    report = call("verify", home.path, "--format", "json").report
    assert (report["transcripts"], report["findings"]) == ([], [])


def test_a_named_file_of_no_known_format_is_a_usage_error(
    tmp_path: Path, call: Callable[..., Any]
) -> None:
    (tmp_path / "weird.jsonl").write_text('{"hello":"world"}\n')
    for command in (("verify",), ("transcript", "check")):
        done = call(*command, tmp_path / "weird.jsonl")
        assert (done.code, done.out) == (2, "")
        assert "known format" in done.err
    done = call("verify", tmp_path / "weird.jsonl", "--as", "claude-code", "--format", "json")
    assert done.code == 4
    assert "unknown_format" in [one["code"] for one in done.report["findings"]]


def test_what_could_not_be_looked_at_is_no_success(
    open_folder: Path, environment: Callable[..., dict[str, str]]
) -> None:
    tree = open_folder / "tree"
    (tree / "hidden").mkdir(parents=True)
    (tree / "one.jsonl").write_bytes(claude(2))
    command = [*without_privileges(), sys.executable, "-m", "cli"]
    (tree / "hidden").chmod(0)
    try:
        done = subprocess.run(
            [*command, "verify", str(tree), "--format", "json"],
            env=environment({"HOME": "/nonexistent"}),
            capture_output=True,
            check=False,
            cwd="/",
        )
    finally:
        (tree / "hidden").chmod(0o700)
    assert done.returncode == 13, done.stderr
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["code"], finding["target"]) == ("filesystem_denied", "hidden")
    assert "hidden" not in finding["message"]


def test_a_log_of_any_name_is_found(tree: Path, call: Callable[..., Any]) -> None:
    for name in ("backup", "s7.txt", "s8.jsonl.old"):
        (tree / name).write_bytes(claude(2, session=f"s-{name}"))
    (tree / "notes.txt").write_text("{ this is not JSON")
    (tree / "page.html").write_text("<p>text</p>")
    report = call("verify", tree, "--format", "json").report
    assert {one["target"] for one in report["transcripts"]} == {
        "backup", "s7.txt", "s8.jsonl.old", f"-p/{ONE}.jsonl",
    }  # fmt: skip


def test_cite_prints_no_pointer_on_which_two_logs_of_a_session_disagree(
    tree: Path, call: Callable[..., Any]
) -> None:
    (tree / "copy.jsonl").write_bytes(
        b"".join(line(claude_record(n, session=ONE, extra=n)) for n in (1, 2))
    )
    done = call("cite", tree, "--grep", "text", "--format", "json")
    rows = [json.loads(one) for one in done.out.splitlines()]
    assert [one["pointer"] for one in rows] == [
        f"transcript:{ONE}:3", *(f"transcript:{TWO}:{n}" for n in (4, 5, 6))
    ]  # fmt: skip
    for row in rows:
        assert call("verify", "--pointer", row["pointer"], "--transcript-root", tree).code == 0


def test_pointers_lead_into_the_folder_that_was_named(tree: Path, call: Callable[..., Any]) -> None:
    done = call("verify", tree, "--pointer", f"transcript:{ONE}:1", "--format", "json")
    assert done.code == 0
    assert [one["status"] for one in done.report["results"]] == ["available"]
    done = call("verify", "-", tree, stdin=f"transcript:{TWO}:4\n".encode())
    assert done.code == 0
    assert call("verify", tree, "--pointer", f"transcript:{ONE}:9").code == 12
    done = call("verify", tree, "--pointer", f"artifact:{ONE}:a:{'0' * 64}")
    assert done.code == 2
    assert "--artifact-root" in done.err


def test_targets_that_overlap_are_checked_once(tree: Path, call: Callable[..., Any]) -> None:
    file = tree / "-p" / f"{ONE}.jsonl"
    for targets in ([tree, file], [file, tree], [tree / "-p", tree, file]):
        done = call("verify", *targets, "--format", "json")
        assert [one["records"] for one in done.report["transcripts"]] == [6], targets


def test_what_two_files_say_is_counted_at_the_one_it_is_said_of(
    tree: Path, call: Callable[..., Any]
) -> None:
    (tree / "copy.jsonl").write_bytes(
        b"".join(line(claude_record(n, session=ONE, extra=n)) for n in (1, 2))
    )
    report = call("verify", tree, "--format", "json").report
    counted: dict[str, int] = {}
    for one in report["transcripts"]:
        for code, count in one["findings"].items():
            counted[code] = counted.get(code, 0) + count
    assert counted == report["summary"]["findings"]
    assert {"conflicting_id", "session_in_several_files"} <= counted.keys()


def test_a_home_and_a_file_of_it_are_one(home: Any, call: Callable[..., Any]) -> None:
    home.transcript("s1", 2)
    home.state("a.json", ["transcript:s1:1", "transcript:s1:2"])
    state = home.path / "states" / "a.json"
    for targets in ([state, home.path], [home.path, state]):
        report = call("verify", *targets, "--format", "json").report
        assert report["summary"]["total"] == 2, targets


@pytest.mark.parametrize("folder", ["states", "receipts"])
def test_a_file_where_a_home_keeps_a_folder_is_told(
    home: Any, call: Callable[..., Any], folder: str
) -> None:
    home.transcript("s1", 1)
    (home.path / folder).write_text("no folder")
    done = call("verify", home.path, "--all", "--format", "json")
    assert done.code == 14
    codes = [one["code"] for one in done.report["findings"]]
    assert codes == [f"{folder[:-1]}_unreadable"]


def test_a_damaged_receipt_is_refused_as_one(tmp_path: Path, call: Callable[..., Any]) -> None:
    for text in ('{"schema":"ctxaudit.receipt/1"', '{"schema":"ctxaudit.receipt/2"}'):
        (tmp_path / "r.json").write_text(text)
        done = call("verify", tmp_path / "r.json")
        assert done.code == 2
        assert "expected a receipt" in done.err
