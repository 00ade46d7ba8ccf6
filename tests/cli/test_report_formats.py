"""Every report from the command line: several in one run, on homes whose names are hostile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from cli.exit_codes import ExitCode
from cli.outputs import FORMATS
from cli.report_texts import Words, report_text
from provenance.audit_report import AuditReport
from provenance.compaction import Receipt
from provenance.compaction.changes import ChangedBlock, InsertedBlock

_LOST = f"artifact:s1:gone.txt:{'0' * 64}"


@pytest.fixture
def lost(home: Any) -> Any:
    """A home with a good event, a lost artifact, and a summary that its text went into."""
    (good,) = home.transcript("s1", 1)
    home.state("one.json", [good, _LOST])
    digest = "a" * 64
    removed = ChangedBlock(3, 0, "tool_result", "c1", "conversation_summary", digest, 9, _LOST)
    summary = InsertedBlock(0, 0, "conversation_summary", "b" * 64, (digest,))
    receipt = Receipt(9, 2, 90, 10, ("conversation_summary",), (removed,), (summary,))
    (home.path / "receipts").mkdir()
    (home.path / "receipts" / "one.json").write_text(receipt.to_json())
    return home


def test_every_format_in_one_run_is_what_it_is_alone(
    lost: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    args: list[str | Path] = ["verify", lost.path]
    for kind in FORMATS:
        args += ["--format", kind, "--output", tmp_path / f"r.{kind}"]
    done = call(*args)
    assert (done.code, done.out) == (12, "")
    assert sorted(path.name for path in tmp_path.glob("r.*")) == sorted(f"r.{k}" for k in FORMATS)
    for kind in FORMATS:
        alone = call("verify", lost.path, "--format", kind)
        assert alone.code == 12
        if kind in {"console", "ndjson", "github", "markdown"}:  # they hold no time
            assert (tmp_path / f"r.{kind}").read_text(encoding="utf-8") == alone.out


def test_the_three_that_the_readme_shows(
    lost: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    done = call(
        *("verify", lost.path, "--format", "junit", "--output", tmp_path / "j.xml"),
        *("--format", "markdown", "--output", tmp_path / "m.md", "--format", "console"),
    )
    assert done.code == 12
    assert "Exit code 12" in done.out
    root = ET.fromstring((tmp_path / "j.xml").read_text(encoding="utf-8"))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("2", "1", "0")
    assert (tmp_path / "m.md").read_text(encoding="utf-8").startswith("# ctxaudit: `home`\n")


def test_consequences_stand_in_every_format(lost: Any, call: Callable[..., Any]) -> None:
    for kind in FORMATS:
        out = call("verify", lost.path, "--format", kind).out
        assert "receipts/one.json" in out, kind
        assert "message 0 block 0" in out, kind
        if kind not in {"json", "ndjson"}:
            assert ("step 2" if kind == "html" else "2 steps away") in out, kind
    (source,) = [
        one
        for one in call("verify", lost.path, "--format", "json").report["results"]
        if one["status"] == "missing"
    ]
    told = [(one["kind"], one["steps"], one["parent"]) for one in source["consequences"]]
    assert told == [("fact", 1, None), ("text", 1, None), ("summary", 2, 1)]


def test_an_annotation_leads_to_the_file_from_where_the_command_ran(
    lost: Any, run: Callable[..., Any], tmp_path: Path
) -> None:
    lines = run("verify", "home", "--format", "github", cwd=tmp_path).out.splitlines()
    assert lines[0].startswith(
        "::error file=home/states/one.json,title=missing%3A artifact_missing::"
    )
    assert lines[-1].startswith("::notice title=ctxaudit::Exit code 12.")
    assert len(lines) == 2


def test_a_folder_with_a_name_that_is_markup_and_commands(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    name = "evil`|<b>\n::set-output name=a::b,c.json"
    home.state(name, ["x\n::error::[a](b)<img>`|"], session="@all <!-- [x](y)")
    for kind in FORMATS:
        done = call("verify", home.path, "--format", kind)
        assert done.code == 14
        for line in done.out.splitlines():
            assert not line.lstrip().startswith(("::set-output", "::error::[")), kind
        assert str(tmp_path) not in done.out
    ET.fromstring(call("verify", home.path, "--format", "junit").out)


def test_an_empty_home_is_no_empty_success(home: Any, call: Callable[..., Any]) -> None:
    (home.path / "states").mkdir()
    done = call("verify", home.path, "--format", "junit")
    assert done.code == 3
    root = ET.fromstring(done.out)
    assert (root.get("tests"), root.get("errors")) == ("1", "1")
    assert "Nothing was verified" in call("verify", home.path, "--format", "markdown").out
    assert "Nothing was verified" in call("verify", home.path, "--format", "github").out


def test_no_such_format() -> None:
    with pytest.raises(ValueError, match="expected one of the reports"):
        report_text("console", AuditReport(), Words(ExitCode.OK, ""))
