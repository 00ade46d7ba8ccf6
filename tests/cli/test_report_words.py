"""What a reader is told of places, waivers and denials, in the formats that an audit writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.outputs import FORMATS

_WAIVERS = """[[waiver]]
pointer = "transcript:gone:1"
reason = "lost with the disk"
owner = "ops"
expires = 2999-12-31
[[waiver]]
pointer = "transcript:gone:2"
reason = "it ran out"
owner = "sec"
expires = 2020-01-01
[[waiver]]
code = "torn_line"
target = "transcripts/x.jsonl"
reason = "nobody needs it"
owner = "dev"
expires = 2999-12-31
"""


@pytest.fixture
def waivers(tmp_path: Path) -> Path:
    """Write a waiver that is used, one that is over and one that nothing needs."""
    file = tmp_path / "waivers.toml"
    file.write_text(_WAIVERS)
    return file


@pytest.mark.parametrize("kind", FORMATS)
def test_every_report_lists_every_waiver(
    home: Any, call: Callable[..., Any], waivers: Path, kind: str
) -> None:
    home.state("one.json", ["transcript:gone:1", "transcript:gone:2"])
    done = call("verify", home.path, "--waivers", waivers, "--format", kind)
    assert done.code == 14
    for word in ("lost with the disk", "it ran out", "nobody needs it"):
        assert word in done.out
    for word in ("ops", "sec", "dev", "2999-12-31", "2020-01-01", "expired", "unused"):
        assert word in done.out


def test_what_is_said_of_the_waivers_leads_to_no_file_of_the_home(
    home: Any, call: Callable[..., Any], waivers: Path
) -> None:
    home.state("one.json", ["transcript:gone:1"])
    (home.path / "waivers.toml").write_text("# the home's own\n")
    given = ("verify", home.path, "--waivers", waivers, "--format")
    lines = call(*given, "github").out.splitlines()
    (told,) = [line for line in lines if "title=waiver_expired" in line]
    assert told.startswith("::error title=waiver_expired::waivers.toml: waiver 2: ")
    results = json.loads(call(*given, "sarif").out)["runs"][0]["results"]
    for one in results:
        if one["ruleId"].startswith("waiver_"):
            (place,) = one["locations"]
            assert place["physicalLocation"]["artifactLocation"]["uri"] == "home/"
            assert "region" not in place["physicalLocation"]
            assert place["logicalLocations"] == [{"name": "waivers.toml", "kind": "target"}]


def test_pins_of_the_operators_lock_lead_to_no_file_of_the_home(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    home.state("one.json", home.transcript("s1", 2))
    lock = tmp_path / "other.lock"
    assert call("pin", home.path, "--lock", lock).code == 0
    home.state("one.json", [])
    (home.path / "transcripts" / "s1.jsonl").unlink()
    out = call("verify", home.path, "--lock", lock, "--format", "github").out
    (first, *_) = [line for line in out.splitlines() if "transcript_missing" in line]
    assert "file=" not in first


def test_a_transcript_that_ends_early_is_named_without_a_line(
    home: Any, call: Callable[..., Any]
) -> None:
    home.state("one.json", home.transcript("s1", 8))
    file = home.path / "transcripts" / "s1.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:6]) + lines[6][:20])
    for kind in ("console", "html"):
        out = call("verify", home.path, "--format", kind).out
        assert "transcripts/s1.jsonl, on the way to record 8" in out
        assert "line 8" not in out


def test_of_several_homes_and_of_a_root_the_place_is_the_right_one(
    home: Any, call: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bad = home.artifact("s1", "a.txt", "text")
    home.state("one.json", [*home.transcript("s1", 2), bad])
    file = home.path / "transcripts" / "s1.jsonl"
    file.write_bytes(b"{}\n" + file.read_bytes())
    (home.path / "s1" / "tool-results" / "a.txt").write_text("other")
    other = type(home)(tmp_path / "other")
    other.state("one.json", [])
    out = call("verify", "home", "other").out
    assert "look at: home/transcripts/s1.jsonl, on the way to record 2" in out
    assert "look at: home/s1/tool-results/a.txt" in out
    out = call("verify", "home", "--transcript-root", "home/transcripts").out
    assert "look at: s1.jsonl, on the way to record 2" in out
    assert "look at: s1/tool-results/a.txt" in out


@pytest.mark.parametrize("kind", ["console", "json", "ndjson", "html", "markdown"])
def test_the_operators_reason_is_told_and_a_targets_is_not(
    home: Any, call: Callable[..., Any], tmp_path: Path, kind: str
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'default = "allow"\n[[rule]]\neffect = "deny"\nsession = "hr"\nwhy = "personnel files"\n'
    )
    home.config('[[rule]]\neffect = "deny"\nsession = "s2"\nwhy = "words of the target"\n')
    home.state("one.json", ["transcript:hr:1", "transcript:s2:1"])
    given = ("verify", home.path, "--policy", policy, "--as-tenant", "acme", "--format", kind)
    absent = call(*given).out
    assert absent.count("personnel files") == 1
    assert "words of the target" not in absent
    if kind != "ndjson":
        assert ("acme" in absent) is (kind != "markdown")
    home.transcript("hr", 2)
    present = call(*given).out
    assert present.count("personnel files") == 1
