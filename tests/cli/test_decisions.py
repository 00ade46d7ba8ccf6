"""`verify --decisions`: a line for each authorization, the same whether anything exists or not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from provenance.artifacts import ArtifactStore
from provenance.schemas import load_schema

from .sealed_homes import SealedHome

_SCHEMA = json.loads(load_schema("decision"))
_POLICY = """
default = "allow"
refuse = ["prefix-digests", "hard-links"]
[[rule]]
effect = "deny"
session = "hr-*"
why = "not yours"
[[rule]]
effect = "allow"
tenant = "acme"
"""
_POINTERS = (
    "artifact:run-1:a:0123456789ab",
    "transcript:hr-1:1",
    "transcript:run-1:1",
    "transcript:run-2:1",
    "no pointer",
    "memory:1",
)


@pytest.fixture
def traced(
    call: Callable[..., Any], tmp_path: Path
) -> Callable[..., tuple[int, list[dict[str, Any]]]]:
    """Verify with the policy; gives the exit code and the lines of the trace, which are valid."""

    def traced(home: Path, *options: str) -> tuple[int, list[dict[str, Any]]]:
        (tmp_path / "policy.toml").write_text(_POLICY)
        file = tmp_path / "decisions.ndjson"
        done = call(
            "verify", home, "--policy", tmp_path / "policy.toml", "--decisions", file, *options
        )
        assert done.err == ""
        lines = [json.loads(line) for line in file.read_text(encoding="ascii").splitlines()]
        for line in lines:
            jsonschema.validate(line, _SCHEMA)
        return done.code, lines

    return traced


def _said(lines: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [
        (one["pointer"], one["verdict"], one["policy"], one["rule"], one["why"]) for one in lines
    ]


_EXPECTED = [
    ("artifact:run-1:a:0123456789ab", "refuse", "operator", None, "prefix-digests"),
    ("transcript:hr-1:1", "deny", "operator", 1, "not yours"),
    ("transcript:run-1:1", "allow", "operator", None, ""),
    ("transcript:run-2:1", "allow", "operator", None, ""),
]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_line_for_each_decision_whether_anything_exists_or_not(
    home: Any, traced: Callable[..., Any], jobs: str
) -> None:
    home.state("one.json", _POINTERS)
    code, empty = traced(home.path, "--jobs", jobs)
    assert code == 14  # "no pointer" is none
    assert _said(empty) == _EXPECTED
    for session in ("hr-1", "run-1", "run-2"):
        home.transcript(session, 2)
    home.artifact("run-1", "a", "text")
    os.link(home.path / "transcripts/run-2.jsonl", home.path.parent / "other")
    _, full = traced(home.path, "--jobs", jobs)
    assert full == empty


def test_a_tenant_is_named(home: Any, traced: Callable[..., Any]) -> None:
    home.state("one.json", _POINTERS[2:3])
    _, (line,) = traced(home.path, "--as-tenant", "acme")
    assert (line["tenant"], line["rule"], line["schema"]) == ("acme", 2, "ctxaudit.decision/1")


def test_the_targets_policy_is_told_apart_and_its_rules_keep_their_numbers(
    home: Any, traced: Callable[..., Any]
) -> None:
    home.state("one.json", _POINTERS[:4])
    home.config('[[rule]]\neffect = "allow"\n[[rule]]\neffect = "deny"\nsession = "run-2"')
    _, lines = traced(home.path)
    assert _said(lines) == [
        *_EXPECTED[:3],
        ("transcript:run-2:1", "deny", "target", 2, ""),
    ]


def test_without_a_policy_all_is_allowed_and_nobody_decided(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    home.state("one.json", home.transcript("s1", 1))
    file = tmp_path / "decisions.ndjson"
    assert call("verify", home.path, "--decisions", file).code == 0
    (line,) = [json.loads(line) for line in file.read_text().splitlines()]
    jsonschema.validate(line, _SCHEMA)
    assert (line["verdict"], line["policy"]) == ("allow", None)


def test_a_run_that_decides_nothing_leaves_an_empty_trace(
    home: Any, traced: Callable[..., Any]
) -> None:
    home.config("")
    assert traced(home.path) == (3, [])


@pytest.mark.parametrize("place", ["home/trace", "absent/trace", ".", "report.json"])
def test_a_place_that_it_must_not_have_is_refused_before_anything_is_read(
    home: Any, call: Callable[..., Any], tmp_path: Path, place: str
) -> None:
    home.state("one.json", home.transcript("s1", 1))
    before = sorted(tmp_path.rglob("*"))
    done = call(
        "verify",
        home.path,
        *(
            "--decisions",
            tmp_path / place,
            "--format",
            "json",
            "--output",
            tmp_path / "report.json",
        ),
    )
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("ctxaudit verify: --decisions: ")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_target_that_cannot_be_used_leaves_nothing(
    call: Callable[..., Any], tmp_path: Path
) -> None:
    assert call("verify", tmp_path / "gone", "--decisions", tmp_path / "trace").code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_trace_that_cannot_be_written_fails_the_tool_and_not_the_report(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this machine")
    home.state("one.json", home.transcript("s1", 1))
    done = call("verify", home.path, "--decisions", "/dev/full", "--format", "json")
    assert done.code == 1
    assert done.report["summary"]["available"] == 1
    assert "--decisions: full: file: expected to write, got ENOSPC" in done.err


@pytest.mark.attack
def test_an_interrupt_leaves_a_whole_trace(
    home: Any, environment: Callable[..., Any], tmp_path: Path
) -> None:
    count = 3_000
    home.state("one.json", home.transcript("s1", 1) + [f"transcript:n{n}:1" for n in range(count)])
    trace = tmp_path / "trace"
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "cli", "verify", str(home.path), "--format", "ndjson"),
            *("--decisions", str(trace)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment({}),
    )
    assert process.stdout is not None
    process.stdout.readline()  # the first result: verifying has begun
    process.send_signal(signal.SIGINT)
    rest = process.stdout.read()
    process.stdout.close()
    assert process.wait() in (130, 12)
    lines = trace.read_text().splitlines()
    assert all(json.loads(line)["verdict"] == "allow" for line in lines)
    results = 1 + sum(b'"pointer"' in line and b'"run"' not in line for line in rest.splitlines())
    assert results <= len(lines) <= count + 1
    assert not [one for one in tmp_path.iterdir() if one.name.startswith(".ctxaudit")]


_CITED = (
    "artifact:hr-1:salaries.txt:0123456789ab",
    "artifact:run-1:notes.txt:" + "0" * 64,
    "transcript:hr-1:1",
    "transcript:run-1:1",
)
_WAYS = (
    (),
    ("--all",),
    ("--seal",),
    ("--seal", "--all"),
    ("--seal", "--fast"),
    ("--seal", "--fast", "--all", "--jobs", "2"),
)


@pytest.mark.parametrize("ways", _WAYS)
def test_the_trace_has_the_cited_pointers_alone_whatever_is_there(
    call: Callable[..., Any], tmp_path: Path, ways: tuple[str, ...]
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('default = "allow"\n[[rule]]\neffect = "deny"\nsession = "hr-*"\n')
    traces = []
    for name in ("full", "empty"):
        (tmp_path / name).mkdir()
        home = SealedHome.make(tmp_path / name)
        home.state(list(reversed(_CITED)))
        if name == "full":
            home.append("hr-1", 2)
            home.append("run-1", 2)
            with ArtifactStore(home.path) as store:
                stored = store.spill("hr-1", "secret " * 50, tool="bash").pointer
                store.spill("run-1", "words " * 50, tool="bash")
        home.seal()
        options = [str(home.public) if one == "" else one for one in _with_key(ways)]
        trace = tmp_path / f"{name}.ndjson"
        call("verify", home.path, "--policy", policy, "--decisions", trace, *options)
        traces.append(trace.read_text())
    full, empty = traces
    assert full == empty
    assert stored not in full
    pinned = ["transcript:s1:1", "transcript:s1:4"]
    said = [json.loads(line)["pointer"] for line in full.splitlines()]
    assert said == sorted([*_CITED, *pinned])


@pytest.mark.parametrize("is_there", [True, False])
def test_a_digest_that_is_cited_in_short_has_one_line(
    call: Callable[..., Any], tmp_path: Path, is_there: bool
) -> None:
    home = SealedHome.make(tmp_path)
    (artifact,) = [one for one in home.cited if one.startswith("artifact")]
    short = artifact[: artifact.rindex(":") + 13]
    home.state([short])
    if not is_there:
        (home.path / "s1" / "tool-results" / artifact.split(":")[2]).unlink()
    trace = tmp_path / "trace"
    call("verify", home.path, "--seal", home.public, "--decisions", trace)
    said = [json.loads(line)["pointer"] for line in trace.read_text().splitlines()]
    assert said == [short, "transcript:s1:1", "transcript:s1:4"]


def test_the_lines_of_several_homes_are_in_the_order_of_the_report(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    other = type(home)(tmp_path / "a-home")
    home.state("one.json", ["transcript:b:1", "transcript:d:1"])
    other.state("one.json", ["transcript:c:1", "transcript:a:1", "transcript:d:1"])
    trace = tmp_path / "trace"
    done = call(
        *("verify", home.path, other.path, "--pointer", "transcript:aa:1"),
        *("--transcript-root", home.path, "--decisions", trace, "--format", "json"),
    )
    said = [json.loads(line)["pointer"] for line in trace.read_text().splitlines()]
    assert said == [one["pointer"] for one in done.report["results"]]
    assert len(said) == 6


def _with_key(ways: tuple[str, ...]) -> list[str]:
    """Put an empty text, for the key, after --seal."""
    return [part for one in ways for part in ((one, "") if one == "--seal" else (one,))]
