"""What `ctxaudit verify` takes its targets, pointers and roots for."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def spilled(home: Any, call: Callable[..., Any]) -> Any:
    """A home with a session that has artifacts and a ledger."""
    home.state("one.json", home.transcript("s1", 2))
    call("spill", "--home", home.path, "--session", "s1", stdin=b"text")
    return home


def test_a_session_folder_is_no_target(spilled: Any, call: Callable[..., Any]) -> None:
    session = spilled.path / "s1"
    for extra in ([], ["--all"], ["--as", "native"]):
        for target in (session, session / "tool-results.jsonl"):
            done = call("verify", target, *extra)
            assert (done.code, done.out) == (2, "")
            assert "name the home" in done.err
            assert done.err.count("\n") == 1
    # A damaged ledger beside its artifacts is a ledger all the same.
    (session / "tool-results.jsonl").write_text("torn")
    assert call("verify", session / "tool-results.jsonl").code == 2
    (session / "tool-results.jsonl").unlink()
    assert call("verify", session).code == 2


def test_a_ledger_among_transcripts_is_not_checked_as_one(
    spilled: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    ledger = spilled.path / "s1" / "tool-results.jsonl"
    for folder, name, extra in (
        (tmp_path / "logs", "tool-results.jsonl", []),
        (tmp_path / "logs", "other.jsonl", []),
        (spilled.path / "transcripts", "s9.jsonl", ["--all"]),
    ):
        folder.mkdir(exist_ok=True)
        shutil.copy(ledger, folder / name)
        target = spilled.path if extra else folder
        done = call("verify", target, *extra, "--format", "json")
        assert done.code == 4
        codes = {f["code"] for f in done.report["findings"] if f["severity"] == "error"}
        assert codes == {"ledger_not_transcript"}
        assert call("verify", folder / name).code == 2


def test_a_session_may_be_called_like_a_ledger(home: Any, call: Callable[..., Any]) -> None:
    pointers = home.transcript("tool-results", 2)
    target = home.path / "transcripts"
    for extra in ([], ["tool-results.jsonl"]):
        assert call("verify", target.joinpath(*extra)).code == 0
    home.state("one.json", pointers)
    home.artifact("tool-results", "a.txt", "text")
    assert call("verify", home.path).code == 0


def test_a_policy_is_asked_before_a_ledger_is_looked_for(
    spilled: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('default = "deny"')
    copy = tmp_path / "s9.jsonl"
    shutil.copy(spilled.path / "s1" / "tool-results.jsonl", copy)
    assert call("verify", copy, "--policy", policy).code == 13


def test_a_lone_state_is_looked_up_in_the_one_home(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    pointers = home.transcript("s1", 2)
    lone = tmp_path / "lone.json"
    home.state("one.json", pointers).rename(lone)
    for targets in ((lone, home.path), (home.path, lone)):
        done = call("verify", *targets, "--format", "json")
        assert done.code == 0
        assert done.report["summary"]["available"] == 2
        assert done.report["results"][0]["cited_by"][0]["file"] == "lone.json"
    other = tmp_path / "other"
    (other / "states").mkdir(parents=True)
    assert "several" in call("verify", lone, home.path, other).err
    alone = call("verify", lone)
    assert alone.code == 2
    assert "lone.json" in alone.err
    # Pointers that lead nowhere need nothing to look below.
    document = json.loads(lone.read_text())
    document["facts"] = [document["facts"][0] | {"source_pointer": "memory:x"}]
    lone.write_text(json.dumps(document))
    assert call("verify", lone).code == 11


@pytest.mark.parametrize(
    ("pointers", "code"),
    [(["x:y"], 11), ([":"], 11), (["x"], 14), (["transcript:s:0"], 14), (["x:y", "x"], 14)],
)
def test_pointers_that_lead_nowhere_need_no_roots(
    pointers: list[str], code: int, home: Any, call: Callable[..., Any]
) -> None:
    options = [word for pointer in pointers for word in ("--pointer", pointer)]
    assert call("verify", *options).code == code
    assert call("verify", "-", stdin="\n".join(pointers).encode()).code == code
    assert call("verify", *options, "--pointer", "transcript:s:1").code == 2
    if len(pointers) == 1:
        assert call("show", *pointers).code == code


def test_a_target_counts_once(
    home: Any, call: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.state("one.json", home.transcript("s1", 2))
    (tmp_path / "link").symlink_to(home.path)
    monkeypatch.chdir(tmp_path)
    state = home.path / "states" / "one.json"
    for targets in (
        ("home", "home"),
        ("home", home.path),
        ("home", "./home/", "home/../home"),
        ("home", "link"),
        (state, "home/states/one.json"),
    ):
        done = call("verify", *targets, "--format", "json")
        assert done.report["summary"]["total"] == 2
        assert len(done.report["targets"]) == 1
        assert done.err.count("counted once\n") == len(targets) - 1
        assert str(tmp_path) not in done.err
        assert call("verify", *targets, "--quiet").err == ""
    twice = call("verify", "-", "-", "home", "--format", "json", stdin=b"transcript:s1:1\n")
    assert twice.report["targets"] == ["-", "home"]
    copy = tmp_path / "copy"
    shutil.copytree(home.path, copy)
    assert call("verify", "home", copy, "--format", "json").report["summary"]["total"] == 4


def test_two_reports_need_two_files(
    home: Any, call: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.state("one.json", home.transcript("s1", 2))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").symlink_to(".")
    (tmp_path / "link").symlink_to("x.json")
    for other in ("x.json", "./x.json", tmp_path / "x.json", "folder/x.json", "link"):
        done = call(
            *("verify", "home", "--format", "json", "--output", "x.json"),
            *("--format", "ndjson", "--output", other),
        )
        assert (done.code, done.out) == (2, "")
        assert not (tmp_path / "x.json").exists()


@pytest.mark.parametrize(
    ("target", "output", "got"),
    [
        ("home", "home/report.json", "below"),
        ("home", "home/states/report.json", "below"),
        ("home", "home/states/../report.json", "below"),
        ("home", "home/states/one.json", "below"),
        ("home", "folder/report.json", "below"),
        ("home", "into/report.json", "below"),
        ("home", "other/out.json", "below"),
        ("folder", "home/report.json", "below"),
        (".", "report.json", "below"),
        ("home/transcripts", "home/transcripts/s1.jsonl", "below"),
        ("home/transcripts/s1.jsonl", "home/transcripts/s1.jsonl", "of"),
        ("home/transcripts/s1.jsonl", "folder/transcripts/s1.jsonl", "of"),
        ("home/transcripts/s1.jsonl", "other/same.jsonl", "of"),
    ],
)
def test_no_report_is_written_into_what_is_audited(
    home: Any,
    call: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    target: str,
    output: str,
    got: str,
) -> None:
    home.state("one.json", home.transcript("s1", 2))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").symlink_to("home")
    (tmp_path / "into").symlink_to("home/states")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "out.json").symlink_to("../home/report.json")
    (tmp_path / "other" / "same.jsonl").hardlink_to(home.path / "transcripts" / "s1.jsonl")
    before = _files(tmp_path)
    for command in (["verify"], ["transcript", "check"]):
        if command == ["verify"] or "transcripts" in target:
            done = call(*command, target, "--format", "json", "--output", output)
            assert (done.code, done.out) == (2, "")
            (told,) = done.err.splitlines()
            name = Path(output).name
            assert (
                f"--output: {name}: expected a place outside the targets, got one {got} them"
            ) in told
            assert call(*command, target, CTXAUDIT_OUTPUT=output).code == 2
    assert call("verify", "other", target, "--output", output).code == 2
    assert _files(tmp_path) == before


def test_a_report_beside_what_is_audited_is_written(
    home: Any, call: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.state("one.json", home.transcript("s1", 2))
    transcript = home.path / "transcripts" / "s1.jsonl"
    monkeypatch.chdir(home.path)
    (home.path / "way-out").symlink_to("..")
    for target, output in (
        (".", "../a.json"),
        (".", "way-out/b.json"),
        ("../home", "../home.json"),
        # Of a file, its folder is no target.
        (transcript, "transcripts/report.json"),
        ("-", "c.json"),
    ):
        done = call("verify", target, "--format", "json", "--output", output, stdin=b"")
        assert done.code in (0, 3)
        assert json.loads(Path(output).read_text())["schema"] == "ctxaudit.report/1"


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_byte_order_mark_is_skipped(home: Any, call: Callable[..., Any], tmp_path: Path) -> None:
    (pointer,) = home.transcript("s1", 1)
    text = b"\xef\xbb\xbf" + pointer.encode()
    assert call("verify", "-", home.path, stdin=text).code == 0
    notes = tmp_path / "notes.md"
    notes.write_bytes(text)
    for args in (["-", home.path], [notes, home.path]):
        done = call("verify", "--scan", *args, "--format", "json", stdin=text)
        assert done.code == 0
        assert done.report["results"][0]["cited_by"][0]["text"] == pointer
    # Anywhere else it is part of what is cited.
    assert call("verify", "-", home.path, stdin=b"\n" + text).code == 11


def test_findings_name_where_a_pointer_came_from(home: Any, call: Callable[..., Any]) -> None:
    first, second = home.transcript("s1", 2)
    call("spill", "--home", home.path, "--session", "s1", stdin=b"text")
    done = call(
        *("verify", "-", "--pointer", first, home.path, "--all"),
        *("--min-strength", "sealed", "--format", "json"),
        stdin=second.encode(),
    )
    weak = [f for f in done.report["findings"] if f["code"] == "evidence_too_weak"]
    assert {(f["target"], f["location"]["native_id"].partition(":")[0]) for f in weak} == {
        ("--pointer", "transcript"),
        ("-", "transcript"),
        ("home/s1/tool-results/tool_result_001.txt", "artifact"),
    }


def test_all_tells_what_is_no_artifact(spilled: Any, call: Callable[..., Any]) -> None:
    folder = spilled.path / "s1" / "tool-results"
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("tool_result_001.txt")
    (folder / "dangling link").symlink_to("nowhere")
    (folder / "extra.txt").write_text("extra")
    done = call("verify", spilled.path, "--all", "--format", "json")
    assert done.code == 0
    found = {f["target"].rpartition("/")[2]: f for f in done.report["findings"]}
    for name in ("folder", "pipe", "link", "dangling link"):
        assert found[name]["code"] == "not_an_artifact"
        assert found[name]["severity"] == "warning"
    assert found["extra.txt"]["code"] == "artifact_not_in_ledger"
    # What the ledger says was stored is cited by it, whatever stands there now.
    (folder / "tool_result_001.txt").unlink()
    os.mkfifo(folder / "tool_result_001.txt")
    assert call("verify", spilled.path, "--all").code == 14


def test_the_counts_do_not_advise_what_was_done(spilled: Any, call: Callable[..., Any]) -> None:
    assert "(--all checks them)" in call("verify", spilled.path).out
    assert "--all" not in call("verify", spilled.path, "--all").out


@pytest.mark.parametrize("option", ["--transcript-root", "--artifact-root", "--home"])
def test_a_root_that_is_not_there_is_told(
    option: str, call: Callable[..., Any], tmp_path: Path
) -> None:
    pointer = {
        "--artifact-root": "artifact:s:f:0123456789ab",
    }.get(option, "transcript:s:1")
    (tmp_path / "file").write_text("")
    for path, got in ((tmp_path / "typo", "nothing of that name"), (tmp_path / "file", "else")):
        runs = [["show", pointer, option, path]]
        if option != "--home":
            runs.append(["verify", "--pointer", pointer, option, path])
        for args in runs:
            done = call(*args)
            assert done.code == 12
            (note, *_) = done.err.splitlines()
            assert note.startswith(f"{option}: expected a folder, got ")
            assert note.endswith(got)
            assert option not in call(*args, "--quiet").err
            assert str(tmp_path) not in done.err


def test_softened_verdicts_say_so(home: Any, call: Callable[..., Any]) -> None:
    home.state("one.json", ["transcript:nowhere:1"])
    done = call("verify", home.path, "--exit-zero", "--fail-on", "missing,denied")
    last = done.out.splitlines()[-1]
    assert last.startswith("Exit code 0, since --fail-on denied,missing and --exit-zero were given")
    assert "without them 12. Missing: " in last


def _nested(report: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (one["severity"], one["target"])
        for one in report["findings"]
        if one["code"] == "home_not_checked"
    ]


def test_a_home_below_a_tree_of_transcripts_is_told(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    home.state("one.json", ["transcript:s1:9"])
    home.transcript("s1", 2)
    assert call("verify", home.path).code == 12
    parent = tmp_path / "parent" / "deep"
    parent.mkdir(parents=True)
    home.path.rename(parent / "home")
    for extra in ([], ["--all"], ["--as", "native"], ["--jobs", "2"]):
        done = call("verify", parent, *extra, "--format", "json")
        assert done.code == 4
        assert _nested(done.report) == [("error", "home")]
        # Its transcripts are read as transcripts.
        assert [one["target"] for one in done.report["transcripts"]] == [
            "home/transcripts/s1.jsonl"
        ]
    assert _nested(call("verify", parent.parent, "--format", "json").report) == [
        ("error", "deep/home")
    ]
    # Somebody who asks for transcripts alone is given them.
    assert call("transcript", "check", parent).code == 0
    # A worse fault decides.
    (parent / "bad.jsonl").write_text("torn")
    assert call("verify", parent).code == 14


def test_a_home_that_is_named_beside_its_parent_is_audited(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    home.state("one.json", home.transcript("s1", 2))
    (tmp_path / "link").symlink_to(home.path)
    parent = tmp_path / "parent"
    parent.mkdir()
    nested = home.path.rename(parent / "home")
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to(nested)
    for targets in ((parent, nested), (nested, parent), (tmp_path / "link", parent)):
        done = call("verify", *targets, "--format", "json")
        assert (done.code, _nested(done.report)) == (0, [])
        assert done.report["summary"]["available"] == 2
    # A state of it is not all of it.
    done = call("verify", parent, nested / "states" / "one.json", "--format", "json")
    assert done.code == 4
    assert _nested(done.report) == [("error", "parent/home")]


@pytest.mark.parametrize("name", ["states", "seals", "transcripts"])
def test_a_home_does_not_hide_another_one(name: str, home: Any, call: Callable[..., Any]) -> None:
    home.state("one.json", home.transcript("s1", 2))
    inner = type(home)(home.path.parent / "outer" / "inner")
    inner.state("bad.json", ["transcript:s1:1"])
    outer = inner.path.parent
    assert call("verify", outer).code == 4
    (outer / name).mkdir()
    done = call("verify", outer, "--format", "json")
    assert done.code == 4
    assert _nested(done.report) == [("error", "inner")]
    # A configuration alone cites nothing; in a tree of transcripts it is that of a home.
    (outer / "other").mkdir()
    (outer / "other" / "ctxaudit.toml").touch()
    done = call("verify", outer, "--format", "json")
    assert _nested(done.report) == [("error", "inner")]
    # Nor does one in which all is well.
    done = call("verify", outer, home.path, "--format", "json")
    assert done.code == 4
    assert _nested(done.report) == [("error", "outer/inner")]
    (outer / name).rmdir()
    done = call("verify", outer, "--format", "json")
    # Without anything of a home or a transcript, it is taken for an empty home.
    assert [target for _, target in _nested(done.report)] == ["inner", "other"]
