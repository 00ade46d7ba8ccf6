"""`ctxaudit compact --spill`, and what `verify` then says of the receipt."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.exit_codes import ExitCode
from provenance.compaction import Receipt
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


def test_a_store_that_fails_cuts_nothing_and_it_is_said(call: Call, tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file, and no folder")
    file, output = write(tmp_path / "h.json", history()), tmp_path / "o.json"
    done = call(
        "compact", file, "--soft-limit", "50", "--max-tool-result-tokens", "20",
        "--keep-recent", "99", "--spill", tmp_path / "home", "--session", "s1",
        "--output", output, "--format", "json",
    )  # fmt: skip
    assert done.code == 0
    assert json.loads(done.out)["spill_failures"] > 0
    assert "could not be stored" in done.err
    assert json.loads(output.read_text()) == history()
