"""`ctxaudit compact --spill`, and what `verify` then says of the receipt."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.exit_codes import ExitCode
from provenance.compaction import Receipt
from provenance.fs import Directory, WriteFailed
from provenance.limits import DEFAULT_LIMITS
from tests.cli.compaction_files import SECRET, compacted_options, history, write
from tests.histories.reading import SAMPLES

Call = Callable[..., Any]


@pytest.fixture
def spilled(call: Call, tmp_path: Path) -> Path:
    """A home with the texts of one compaction and its receipt."""
    home = tmp_path / "home"
    (home / "receipts").mkdir(parents=True)
    file = write(tmp_path / "h.json", history())
    options = compacted_options("--spill", str(home), "--session", "s1", "--spill-dropped")
    receipt, output = home / "receipts" / "one.json", tmp_path / "o.json"
    done = call("compact", file, *options, "--receipt", receipt, "--output", output)
    assert done.code == 0, done.err
    return home


def test_the_receipt_of_a_home_is_available(spilled: Path, call: Call) -> None:
    receipt = spilled / "receipts" / "one.json"
    pointers = Receipt.from_json(receipt.read_bytes()).pointers
    assert pointers
    for target in ((spilled,), (receipt,)):
        done = call("verify", *target, "--format", "json")
        assert done.code == 0, done.err
        assert {one["pointer"] for one in done.report["results"]} == set(pointers)


def test_a_citation_names_the_block_and_holds_no_text(spilled: Path, call: Call) -> None:
    report = call("verify", spilled, "--format", "json").report
    cited = [one for result in report["results"] for one in result["cited_by"]]
    assert {one["file"] for one in cited} == {"receipts/one.json"}
    assert all(one["item"].startswith("message ") and " block " in one["item"] for one in cited)
    assert SECRET not in json.dumps(report)


def test_a_receipt_elsewhere_needs_its_roots(spilled: Path, call: Call, tmp_path: Path) -> None:
    receipt = tmp_path / "elsewhere.json"
    shutil.move(spilled / "receipts" / "one.json", receipt)
    alone = call("verify", receipt)
    assert alone.code == ExitCode.USAGE
    assert "elsewhere.json: expected --transcript-root and --artifact-root" in alone.err
    roots = ("--artifact-root", spilled, "--transcript-root", spilled / "transcripts")
    assert call("verify", receipt, *roots).code == 0


def test_an_artifact_that_was_tampered_with_is_14(spilled: Path, call: Call) -> None:
    artifact = next((spilled / "s1" / "tool-results").iterdir())
    artifact.chmod(0o600)
    artifact.write_bytes(artifact.read_bytes()[:-1] + b"!")
    assert call("verify", spilled).code == ExitCode.CORRUPT
    assert call("verify", spilled / "receipts" / "one.json").code == ExitCode.CORRUPT


def test_an_artifact_that_went_is_12(spilled: Path, call: Call) -> None:
    next((spilled / "s1" / "tool-results").iterdir()).unlink()
    assert call("verify", spilled).code == ExitCode.MISSING


def test_the_pointers_stand_in_the_messages(spilled: Path, tmp_path: Path, call: Call) -> None:
    text = (tmp_path / "o.json").read_text()
    receipt = Receipt.from_json((spilled / "receipts" / "one.json").read_bytes())
    assert any(pointer in text for pointer in receipt.pointers)
    pointer = next(one.pointer for one in receipt.removed if one.kind == "tool_result")
    shown = call("show", pointer, "--home", spilled, "--raw").out
    assert shown == history()[2]["content"][0]["content"]


def test_a_transcript_s_texts_are_stored_under_its_session(call: Call, tmp_path: Path) -> None:
    file = SAMPLES / "claude-code" / "real" / "compact-boundary" / "full.jsonl"
    home = tmp_path / "home"
    options = compacted_options("--spill", str(home), "--format", "json")
    report = json.loads(call("compact", file, *options, "--repair").out)
    assert report["receipt"]["pointers"]
    session = report["session"]
    assert all(one.startswith(f"artifact:{session}:") for one in report["receipt"]["pointers"])
    assert (home / session / "tool-results").is_dir()


@pytest.mark.parametrize("more", [(), ("--quiet",), ("--spill-dropped",), ("--format", "json")])
def test_where_a_text_cannot_be_stored_nothing_is_written(
    more: tuple[str, ...], call: Call, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "s1").write_text("a file where the session's folder belongs")
    file = write(tmp_path / "h.json", history())
    options = compacted_options("--spill", home, "--session", "s1", *more)
    done = call(
        "compact", file, *options, "--output", tmp_path / "o.json", "--receipt", tmp_path / "r.json"
    )
    assert done.code == ExitCode.TOOL_FAILED
    assert re.search(
        r"--spill: expected every text to be stored, \d+ were not: .+; nothing was written$",
        done.err,
    )
    assert SECRET not in done.err
    assert str(tmp_path) not in done.err
    assert done.out == ""
    assert sorted(os.listdir(tmp_path)) == ["h.json", "home"]


def test_one_text_that_cannot_be_stored_is_one(call: Call, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "s1").write_text("no folder")
    file = write(tmp_path / "h.json", history(1))
    done = call(
        "compact", file, *compacted_options("--spill", tmp_path / "home"), "--session", "s1"
    )
    assert "expected every text to be stored, 1 was not: " in done.err


@pytest.mark.parametrize(
    ("home", "said"),
    [
        ("file", "file: expected a folder, got something else"),
        ("file/below", "below: a folder above it: expected a folder, got something else"),
        ("dangling", "dangling: expected a folder, got something else"),
        ("loop", "loop: expected a folder, got links that lead to each other"),
    ],
)
def test_a_home_that_cannot_be_one_is_told_before_anything_runs(
    home: str, said: str, call: Call, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    before = sorted(os.listdir(tmp_path))
    done = call("compact", tmp_path / "absent.json", "--spill", tmp_path / home, "--session", "s1")
    assert done.code == ExitCode.USAGE
    assert f"ctxaudit compact: --spill: {said} (see" in done.err
    assert sorted(os.listdir(tmp_path)) == before


def test_a_home_that_takes_no_file_is_told_before_anything_runs(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: Directory) -> None:
        raise WriteFailed("file: expected to write, got EROFS")

    (tmp_path / "home").mkdir()
    monkeypatch.setattr(Directory, "draft", refuse)
    done = call("compact", tmp_path / "absent", "--spill", tmp_path / "home", "--session", "s1")
    assert done.code == ExitCode.USAGE
    assert "--spill: home: file: expected to write, got EROFS" in done.err


def test_a_home_is_made_with_its_folder_of_receipts(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = SAMPLES / "claude-code" / "real" / "compact-boundary" / "full.jsonl"
    options = ("--repair", *compacted_options("--spill", "home"))
    done = call("compact", file, *options, "--receipt", "home/receipts/1.json")
    assert done.code == 0, done.err
    assert call("verify", "home").code == 0
    # By another path to the same place, in a home that is there.
    receipt = tmp_path / "home" / "receipts" / "2.json"
    assert call("compact", file, *options, "--receipt", receipt).code == 0
    shutil.rmtree("home")
    assert call("compact", file, *options, "--receipt", receipt).code == 0


def test_no_other_folder_is_made(call: Call, tmp_path: Path) -> None:
    file, home = write(tmp_path / "h.json", history()), tmp_path / "home"
    options = compacted_options("--spill", home, "--session", "s1")
    for option, path in (
        ("--receipt", home / "receipts" / "more" / "1.json"),
        ("--receipt", home / "1.json"),
        ("--output", home / "receipts" / "1.json"),
    ):
        done = call("compact", file, *options, option, path)
        assert done.code == ExitCode.USAGE
        assert "1.json: expected a file in a folder that exists" in done.err
    assert not home.exists()


def test_a_receipt_larger_than_a_document_is_read(
    spilled: Path, tmp_path: Path, call: Call
) -> None:
    receipt = spilled / "receipts" / "one.json"
    with receipt.open("ab") as stream:
        stream.write(b" " * DEFAULT_LIMITS.max_document_bytes)
    assert call("verify", spilled).code == 0
    assert call("verify", receipt).code == 0
    args = ("compact", tmp_path / "h.json", "--verify-receipt", receipt)
    done = call(*args, "--result", tmp_path / "o.json")
    assert done.code == 0, done.err
