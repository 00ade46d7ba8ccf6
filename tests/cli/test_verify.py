"""`ctxaudit verify` on homes, states, pointers, texts and transcripts."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from provenance.schemas import load_schema

_MISSING = "transcript:nowhere:1"
_UNSUPPORTED = "memory:notes:1"
_MALFORMED = "transcript:s1:0"
_STATES = ("available", "missing", "denied", "corrupt", "unsupported")


def _validate(report: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(json.loads(load_schema("report"))).validate(report)
    summary = report["summary"]
    assert summary["total"] == sum(
        summary[key] for key in (*_STATES, "inconclusive", "not_checked")
    )
    pointers = [result["pointer"] for result in report["results"]]
    assert pointers == sorted(pointers)


def _altered(home: Any, session: str = "s1", name: str = "altered.txt") -> str:
    pointer = home.artifact(session, name, "before")
    home.artifact(session, name, "after")
    return pointer


@pytest.fixture
def five(home: Any) -> Any:
    """A home with each of the five states."""
    event = home.transcript("s1", 3)[1]
    home.transcript("hr", 1)
    home.state(
        "one.json",
        [event, _MISSING, "transcript:hr:1", _altered(home), _UNSUPPORTED],
    )
    home.config('[[rule]]\neffect = "deny"\nsession = "hr"\n')
    return home


def test_all_five_states_at_once(five: Any, call: Callable[..., Any]) -> None:
    done = call("verify", five.path, "--format", "json")
    assert done.code == 14
    _validate(done.report)
    found = {result["pointer"]: result["status"] for result in done.report["results"]}
    assert set(found.values()) == set(_STATES)
    assert found["transcript:hr:1"] == "denied"
    assert all(done.report["summary"][state] == 1 for state in _STATES)
    for result in done.report["results"]:
        assert (result["evidence_sha256"] is not None) == (result["status"] == "available")
        (citation,) = result["cited_by"]
        assert citation["file"] == "states/one.json"
        assert citation["session"] == "s1"
        assert citation["text"].startswith("Claim ")


@pytest.mark.parametrize("kind", ["console", "json", "ndjson"])
def test_no_format_changes_the_exit_code(five: Any, call: Callable[..., Any], kind: str) -> None:
    assert call("verify", five.path, "--format", kind).code == 14


def test_one_run_several_reports(five: Any, call: Callable[..., Any], tmp_path: Path) -> None:
    json_file, lines_file = tmp_path / "r.json", tmp_path / "r.ndjson"
    done = call(
        *("verify", five.path, "--format", "json", "--output", json_file),
        *("--format", "ndjson", "--output", lines_file, "--format", "console"),
    )
    assert done.code == 14
    report = json.loads(json_file.read_text())
    _validate(report)
    lines = [json.loads(line) for line in lines_file.read_text().splitlines()]
    assert [one for one in lines if "pointer" in one] == report["results"]
    assert "Exit code 14" in done.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "r.json", "r.ndjson"]


def test_streamed_lines_are_the_results_of_the_json_report(
    five: Any, call: Callable[..., Any]
) -> None:
    lines = call("verify", five.path, "--format", "ndjson").lines
    lines = [one for one in lines if "pointer" in one]
    assert lines == call("verify", five.path, "--format", "json").report["results"]


def test_a_report_is_the_same_from_anywhere_and_for_any_number_of_processes(
    five: Any, run: Callable[..., Any], tmp_path: Path
) -> None:
    reports = []
    for target, cwd, jobs in ((five.path, Path("/"), "1"), ("home", tmp_path, "2")):
        done = run("verify", target, "--format", "json", "--jobs", jobs, cwd=cwd)
        assert done.code == 14
        assert str(tmp_path) not in done.out + done.err
        report = done.report
        del report["started_at"], report["finished_at"]
        reports.append(report)
    assert reports[0] == reports[1]


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ([], 0),
        (["unsupported"], 11),
        (["missing"], 12),
        (["missing", "unsupported"], 12),
        (["denied", "missing"], 13),
        (["corrupt"], 14),
        (["malformed"], 14),
        (["inconclusive"], 4),
        (["inconclusive", "unsupported"], 11),
        (["corrupt", "inconclusive", "denied", "missing", "unsupported"], 14),
    ],
)
def test_the_worst_wins(home: Any, call: Callable[..., Any], wanted: list[str], code: int) -> None:
    home.config('[limits]\nmax_artifact_bytes = 100\n[[rule]]\neffect = "deny"\nsession = "hr"')
    pointers = {
        "missing": _MISSING,
        "unsupported": _UNSUPPORTED,
        "denied": "transcript:hr:1",
        "corrupt": _altered(home),
        "malformed": _MALFORMED,
        "inconclusive": home.artifact("s1", "large.txt", "x" * 101),
    }
    good = home.transcript("s1", 2)[0]
    home.state("one.json", [good, *(pointers[name] for name in wanted)])
    done = call("verify", home.path, "--format", "json")
    assert done.code == code
    _validate(done.report)
    assert done.report["summary"]["inconclusive"] == wanted.count("inconclusive")
    assert done.report["summary"]["corrupt"] == ("corrupt" in wanted) + ("malformed" in wanted)


@pytest.mark.parametrize(
    ("states", "code"),
    [
        ("corrupt", 14),
        ("corrupt,denied", 14),
        ("denied", 13),
        # The home denies one itself: that is no state that --fail-on could leave out.
        ("missing,unsupported", 13),
        ("unsupported", 13),
        ("inconclusive", 13),
    ],
)
def test_fail_on_limits_which_states_count(
    five: Any, call: Callable[..., Any], states: str, code: int
) -> None:
    assert call("verify", five.path, "--fail-on", states).code == code
    assert call("verify", five.path, "--fail-on", states, "--exit-zero").code == 0


@pytest.mark.parametrize(
    ("states", "code"), [("missing,unsupported", 12), ("unsupported", 11), ("inconclusive", 0)]
)
def test_fail_on_leaves_out_what_the_operator_denies(
    five: Any, call: Callable[..., Any], tmp_path: Path, states: str, code: int
) -> None:
    (tmp_path / "policy.toml").write_text(
        'default = "allow"\n[[rule]]\neffect = "deny"\nsession = "hr"\n'
    )
    options = "--policy", tmp_path / "policy.toml", "--fail-on", states
    assert call("verify", five.path, *options).code == code


def test_fail_on_corrupt_counts_what_could_not_be_decided(
    home: Any, call: Callable[..., Any]
) -> None:
    home.config("[limits]\nmax_artifact_bytes = 1")
    home.state("one.json", [home.artifact("s1", "large.txt", "xx")])
    assert call("verify", home.path, "--fail-on", "corrupt").code == 4
    assert call("verify", home.path, "--fail-on", "inconclusive,denied").code == 4
    # For the limit is the home's own.
    done = call("verify", home.path, "--fail-on", "denied", "--format", "json")
    assert done.code == 4
    assert [one["code"] for one in done.report["findings"]] == ["limited_by_target"]


@pytest.mark.parametrize(
    "value", ["", "everything", "available", "corrupt,", "Corrupt", "corrupt denied"]
)
def test_fail_on_knows_its_words(five: Any, call: Callable[..., Any], value: str) -> None:
    assert call("verify", five.path, "--fail-on", value).code == 2


def test_nothing_verified_is_never_a_success(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    for args in (
        [home.path],
        [home.path, "--exit-zero"],
        [home.path, "--fail-on", "corrupt"],
        [home.path, "--all"],
        ["-", "--transcript-root", home.path],
    ):
        for kind in ("console", "json", "ndjson"):
            done = call("verify", *args, "--format", kind)
            assert done.code == 3
            if kind == "json":
                _validate(done.report)
    (tmp_path / "notes.md").write_text("no pointers here")
    assert call("verify", "--scan", tmp_path / "notes.md", home.path).code == 3
    home.state("empty.json", [])
    assert call("verify", home.path).code == 3
    home.transcript("uncited", 2)
    done = call("verify", home.path, "--format", "json")
    assert done.code == 3
    assert done.report["summary"]["uncited"] == 1


def test_a_state_in_a_home_that_cannot_be_read(home: Any, call: Callable[..., Any]) -> None:
    home.state("good.json", home.transcript("s1", 1))
    states = home.path / "states"
    (states / "torn.json").write_text('{"schema": "ctxaudit.state/1", "facts": [')
    (states / "other.json").write_text('{"schema": "ctxaudit.state/2"}')
    (states / "latin.json").write_bytes(b'{"schema": "\xe9"}')
    (states / "folder.json").mkdir()
    os.symlink(states / "good.json", states / "link.json")
    os.mkfifo(states / "pipe.json")
    (states / "spaced name.json").write_text("{}")
    (states / "notes.txt").write_text("no state")
    done = call("verify", home.path, "--format", "json")
    assert done.code == 14
    _validate(done.report)
    assert done.report["summary"]["available"] == 1
    unreadable = [f for f in done.report["findings"] if f["code"] == "state_unreadable"]
    assert [finding["target"] for finding in unreadable] == [
        f"states/{name}.json"
        for name in ("folder", "latin", "link", "other", "pipe", "spaced name", "torn")
    ]
    assert done.report["summary"]["findings"]["state_unreadable"] == 7
    assert call("verify", home.path, "--fail-on", "missing").code == 0
    assert call("verify", home.path, "--fail-on", "corrupt").code == 14


def test_states_behind_a_link_are_unreadable(home: Any, call: Callable[..., Any]) -> None:
    home.state("good.json", home.transcript("s1", 1))
    (home.path / "states").rename(home.path.parent / "outside")
    (home.path / "states").symlink_to("../outside")
    done = call("verify", home.path, "--format", "json")
    assert done.code == 14
    assert [f["target"] for f in done.report["findings"]] == ["states"]


def test_transcripts_behind_a_link_are_denied(home: Any, call: Callable[..., Any]) -> None:
    home.state("good.json", home.transcript("s1", 1))
    (home.path / "transcripts").rename(home.path.parent / "outside")
    (home.path / "transcripts").symlink_to("../outside")
    done = call("verify", home.path, "--format", "json")
    assert done.code == 13
    assert done.report["results"][0]["reason"] == "ownership_boundary"
    assert done.report["findings"][0]["code"] == "folder_unreadable"


def test_an_unreadable_target_is_usage(home: Any, call: Callable[..., Any], tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"schema": "ctxaudit.state/1", "facts": 5}')
    for target in (tmp_path / "nowhere", broken, tmp_path / "x.jsonl", home.path / "a" / "b"):
        done = call("verify", target)
        assert done.code == 2
        assert done.out == ""
        assert len(done.err.splitlines()) == 1
        assert target.name in done.err
        assert str(tmp_path) not in done.err
    assert "facts" in call("verify", broken).err


def test_a_state_file_with_roots_or_in_a_home(
    five: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    state = five.path / "states" / "one.json"
    inside = call("verify", state, "--format", "json")
    assert inside.code == 14
    # In its home the home's own rule counts, too.
    assert inside.report["summary"]["denied"] == 1
    assert inside.report["targets"] == ["one.json"]
    assert inside.report["results"][0]["cited_by"][0]["file"] == "one.json"
    lone = tmp_path / "lone.json"
    lone.write_bytes(state.read_bytes())
    refused = call("verify", lone)
    assert refused.code == 2
    assert "--transcript-root" in refused.err
    roots = ("--transcript-root", five.path / "transcripts", "--artifact-root", five.path)
    done = call("verify", lone, *roots, "--format", "json")
    assert done.code == 14
    assert done.report["summary"]["available"] == 2
    needs_both = call("verify", lone, *roots[:2])
    assert needs_both.code == 2
    assert "--artifact-root" in needs_both.err


def test_pointers_as_options_and_on_standard_input(home: Any, call: Callable[..., Any]) -> None:
    first, second = home.transcript("s1", 2)
    root = ("--transcript-root", home.path / "transcripts")
    done = call("verify", "--pointer", first, "--pointer", _MISSING, *root, "--format", "json")
    assert done.code == 12
    assert [result["pointer"] for result in done.report["results"]] == [_MISSING, first]
    assert all(result["cited_by"] == [] for result in done.report["results"])
    done = call(
        "verify",
        "-",
        *root,
        "--format",
        "json",
        stdin=f"{first}\r\n\n{second}\n{first}\n spaced\nno pointer".encode(),
    )
    assert done.code == 14
    assert [result["pointer"] for result in done.report["results"]] == [
        " spaced",
        "no pointer",
        first,
        second,
    ]
    assert call("verify", "--pointer", first).code == 2
    assert call("verify", "--pointer", _UNSUPPORTED, *root).code == 11
    assert call("verify", "--pointer", first, home.path).code == 0


def test_pointers_need_one_home(home: Any, call: Callable[..., Any], tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "states").mkdir(parents=True)
    done = call("verify", "--pointer", "transcript:s:1", home.path, other)
    assert done.code == 2
    assert "one state home" in done.err


def test_standard_input_that_is_no_text(home: Any, call: Callable[..., Any]) -> None:
    root = ("--transcript-root", home.path, "--artifact-root", home.path)
    for kind in ("console", "json", "ndjson"):
        done = call(
            "verify", "-", *root, "--format", kind, stdin=b"\xff\xfe\nx\x00y\n\xed\xa0\x80\n"
        )
        assert done.code == 14
        if kind == "json":
            _validate(done.report)
            assert done.report["summary"]["corrupt"] == 3


def test_a_text_is_scanned(home: Any, call: Callable[..., Any], tmp_path: Path) -> None:
    event = home.transcript("s1", 2)[1]
    notes = tmp_path / "notes.md"
    notes.write_text(
        f"# Notes\n\nAs seen in ({event}).\nAlso {_MISSING}, {event}; transcript:s1:0.\n"
    )
    assert call("verify", notes, home.path).code == 2
    done = call("verify", "--scan", notes, home.path, "--format", "json")
    assert done.code == 12
    results = {result["pointer"]: result for result in done.report["results"]}
    assert set(results) == {event, _MISSING}
    assert results[_MISSING]["cited_by"] == [
        {
            "file": "notes.md",
            "item": "line 4",
            "session": None,
            "text": f"Also {_MISSING}, {event}; transcript:s1:0.",
        }
    ]
    assert len(results[event]["cited_by"]) == 2
    piped = call("verify", "--scan", "-", home.path, stdin=notes.read_bytes())
    assert piped.code == 12
    assert "- line 4" in piped.out


def test_transcripts_alone_are_checked_whole(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    home.transcript("s1", 3)
    folder = home.path / "transcripts"
    done = call("verify", folder, "--format", "json")
    assert done.code == 0
    _validate(done.report)
    (checked,) = done.report["transcripts"]
    assert (checked["target"], checked["records"], checked["sessions"]) == ("s1.jsonl", 3, ["s1"])
    with (folder / "s1.jsonl").open("a") as file:
        file.write("torn")
    for target in (folder, folder / "s1.jsonl"):
        done = call("verify", target, "--format", "json")
        assert done.code == 14
        assert [
            (finding["code"], finding["severity"], finding["location"]["line"])
            for finding in done.report["findings"]
        ] == [("invalid_line", "error", 4), ("transcript_invalid_json", "error", 4)]
        assert call("verify", target).code == 14
    os.symlink(folder / "s1.jsonl", folder / "s2.jsonl")
    (folder / "s1.jsonl").unlink()
    assert call("verify", folder).code == 13
    (folder / "s2.jsonl").unlink()
    (folder / "no session.jsonl").write_text('{"sequence": 1, "session_id": "no session"}')
    done = call("verify", folder, "--format", "json")
    assert done.code == 4
    assert done.report["findings"][0]["code"] == "unaddressable_file"
    copy = tmp_path / "copy.txt"
    copy.write_text("")
    assert call("verify", "--as", "native", copy).code == 2
    (tmp_path / "empty.jsonl").write_text("")
    assert call("verify", tmp_path / "empty.jsonl").code == 3


def test_all_checks_what_nothing_cites(home: Any, call: Callable[..., Any]) -> None:
    home.state("one.json", home.transcript("s1", 2)[:1])
    home.transcript("s2", 2)
    home.artifact("s1", "extra.txt", "extra")
    done = call("verify", home.path, "--format", "json")
    assert done.code == 0
    assert done.report["summary"]["uncited"] == 2
    assert done.report["transcripts"] == []
    done = call("verify", home.path, "--all", "--format", "json")
    assert done.code == 0
    files = ["transcripts/s1.jsonl", "transcripts/s2.jsonl"]
    assert [one["target"] for one in done.report["transcripts"]] == files
    assert [f["code"] for f in done.report["findings"]] == ["artifact_not_in_ledger"]
    (home.path / "transcripts" / "s2.jsonl").write_text("{}\n[]\n")
    assert call("verify", home.path).code == 0
    done = call("verify", home.path, "--all", "--format", "json")
    assert done.code == 14
    assert done.report["findings"][0]["target"] == "transcripts/s2.jsonl"


@pytest.mark.parametrize("harm", ["torn", "cut", "garbage"])
def test_all_checks_cited_transcripts_to_their_end(
    home: Any, call: Callable[..., Any], harm: str
) -> None:
    home.state("one.json", home.transcript("s1", 4)[:1])
    file = home.path / "transcripts/s1.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    rest = {"torn": lines[3] + b'{"torn', "cut": lines[3][:-9], "garbage": b"garbage\n"}[harm]
    file.write_bytes(b"".join(lines[:3]) + rest)
    assert call("verify", home.path).code == 0
    done = call("verify", home.path, "--all", "--format", "json")
    assert done.code == 14
    assert {one["target"] for one in done.report["findings"]} == {"transcripts/s1.jsonl"}
    assert done.report["summary"]["uncited"] == 0


def test_all_holds_artifacts_to_the_ledger(
    home: Any, call: Callable[..., Any], run: Callable[..., Any]
) -> None:
    pointer = call("spill", "--home", home.path, "--session", "s1", stdin=b"text").out.strip()
    done = call("verify", home.path, "--all", "--format", "json")
    assert done.code == 0
    assert [result["pointer"] for result in done.report["results"]] == [pointer]
    (home.path / "s1" / "tool-results" / "tool_result_001.txt").write_text("other")
    assert call("verify", home.path, "--all").code == 14


@pytest.mark.parametrize(
    ("wanted", "code"),
    [("position", 0), ("prefix", 14), ("full", 14), ("pinned", 14), ("sealed", 14)],
)
def test_weak_evidence_counts_as_corrupt(
    home: Any, call: Callable[..., Any], wanted: str, code: int
) -> None:
    pointers = [
        home.transcript("s1", 1)[0],
        home.artifact("s1", "a.txt", "a", digits=12),
        home.artifact("s1", "b.txt", "b"),
    ]
    home.state("one.json", pointers)
    done = call("verify", home.path, "--min-strength", wanted, "--format", "json")
    assert done.code == code
    _validate(done.report)
    order = ["position", "prefix", "full", "pinned", "sealed"]
    weak = [f for f in done.report["findings"] if f["code"] == "evidence_too_weak"]
    assert len(weak) == min(3, order.index(wanted))
    assert done.report["summary"]["available"] == 3
    assert {finding["location"]["native_id"] for finding in weak} <= set(pointers)


def test_retrieval_evidence_is_audited_where_it_is_a_pointer(
    home: Any, call: Callable[..., Any]
) -> None:
    event = home.transcript("s1", 1)[0]
    path = home.state("one.json", [])
    document = json.loads(path.read_text())
    document["retrieval_evidence"] = [
        {
            "memory_id": f"m{number}",
            "source_id": source,
            "source_type": "transcript",
            "source_title": "A title",
            "captured_at": "2026-01-01T00:00:00Z",
            "score": 0.5,
            "source_rank": number,
        }
        for number, source in enumerate([event, "wiki/Page", _UNSUPPORTED], 1)
    ]
    path.write_text(json.dumps(document))
    done = call("verify", home.path, "--format", "json")
    assert done.code == 0
    (result,) = done.report["results"]
    assert result["cited_by"][0]["item"] == "m1"
    assert result["cited_by"][0]["text"] == "A title"


def test_one_pointer_cited_by_several(home: Any, call: Callable[..., Any]) -> None:
    event = home.transcript("s1", 1)[0]
    home.state("a.json", [event, event], session="a")
    home.state("b.json", [event], session="b")
    (result,) = call("verify", home.path, "--format", "json").report["results"]
    assert [(c["file"], c["item"], c["session"]) for c in result["cited_by"]] == [
        ("states/a.json", "f1", "a"),
        ("states/a.json", "f2", "a"),
        ("states/b.json", "f1", "b"),
    ]


def test_two_homes_in_one_run(home: Any, call: Callable[..., Any], tmp_path: Path) -> None:
    event = home.transcript("s1", 1)[0]
    home.state("one.json", [event])
    other = tmp_path / "elsewhere" / "home"
    (other / "states").mkdir(parents=True)
    (other / "states" / "one.json").write_bytes((home.path / "states" / "one.json").read_bytes())
    done = call("verify", home.path, other, "--format", "json")
    assert done.code == 12
    assert done.report["targets"] == ["home", "home#2"]
    assert [(r["status"], r["cited_by"][0]["file"]) for r in done.report["results"]] == [
        ("missing", "home#2/states/one.json"),
        ("available", "home/states/one.json"),
    ]


def test_the_operators_policy(home: Any, call: Callable[..., Any], tmp_path: Path) -> None:
    event = home.transcript("s1", 1)[0]
    home.state("one.json", [event])
    policy = tmp_path / "policy.toml"
    policy.write_text('default = "deny"\n[[rule]]\neffect = "allow"\ntenant = "acme"')
    assert call("verify", home.path, "--policy", policy).code == 13
    assert call("verify", home.path, "--policy", policy, "--as-tenant", "acme").code == 0
    home.config('[[rule]]\neffect = "allow"\nsession = "s1"')
    done = call("verify", home.path, "--policy", policy, "--format", "json")
    assert done.code == 13
    assert done.report["results"][0]["reason"] == "policy_denied"
    # Nobody is told to ask as somebody else.
    done_page = call("explain", "policy_denied").out
    assert "as-tenant" not in done_page
    assert "policy test" in done_page
    assert [f["code"] for f in done.report["findings"]] == ["untrusted_config_ignored"]
    policy.write_text('default = "deny"\nrules = []')
    refused = call("verify", home.path, "--policy", policy)
    assert refused.code == 2
    assert refused.err.startswith("ctxaudit verify: --policy: policy.toml: line 2: rules: expected")
    assert call("verify", home.path, "--policy", tmp_path / "none.toml").code == 2
    policy.write_bytes(b"\xff")
    assert call("verify", home.path, "--policy", policy).code == 2


def test_refused_kinds_of_evidence(home: Any, call: Callable[..., Any], tmp_path: Path) -> None:
    home.state(
        "one.json",
        [home.artifact("s1", "a.txt", "a", digits=12), home.artifact("s1", "b.txt", "b")],
    )
    policy = tmp_path / "policy.toml"
    policy.write_text('default = "allow"\nrefuse = ["prefix-digests"]')
    done = call("verify", home.path, "--policy", policy, "--format", "json")
    assert done.code == 13
    _validate(done.report)
    assert [r["reason"] for r in done.report["results"]] == [
        "refused_by_policy",
        "verified_artifact",
    ]


def test_a_denied_transcript_is_not_checked_whole(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    home.transcript("s1", 1)
    policy = tmp_path / "policy.toml"
    policy.write_text('default = "deny"')
    done = call("verify", home.path / "transcripts", "--policy", policy, "--format", "json")
    assert done.code == 13
    assert done.report["transcripts"][0]["records"] == 0


def test_a_target_cannot_soften_its_own_audit(home: Any, call: Callable[..., Any]) -> None:
    home.state("one.json", [_altered(home), _MISSING])
    home.config(
        'transcript_root = "/"\nfail_on = ["denied"]\nexit_zero = true\n'
        '[[waiver]]\npointer = "transcript:nowhere:1"\n[limits]\nmax_nesting = 100000'
    )
    done = call("verify", home.path, "--format", "json")
    assert done.code == 14
    assert (done.report["summary"]["corrupt"], done.report["summary"]["missing"]) == (1, 1)
    assert done.report["summary"]["findings"] == {"untrusted_config_ignored": 5}


@pytest.mark.parametrize("text", ["[[rule", "dney = 1", '[[rule]]\neffect = "deny"\nsesion = "x"'])
def test_a_broken_configuration_fails_closed(
    home: Any, call: Callable[..., Any], text: str
) -> None:
    home.state("one.json", home.transcript("s1", 1))
    home.config(text)
    done = call("verify", home.path, "--format", "json")
    assert done.code == 14
    assert [f["code"] for f in done.report["findings"]] == ["config_invalid"]


def test_a_configuration_behind_a_link_fails_closed(
    home: Any, call: Callable[..., Any], tmp_path: Path
) -> None:
    home.state("one.json", home.transcript("s1", 1))
    (tmp_path / "outside.toml").write_text("")
    (home.path / "ctxaudit.toml").symlink_to(tmp_path / "outside.toml")
    done = call("verify", home.path, "--format", "json")
    assert done.code == 14
    assert done.report["findings"][0]["code"] == "config_invalid"


def test_tighter_limits_count(home: Any, call: Callable[..., Any]) -> None:
    home.state("one.json", home.transcript("s1", 1))
    home.config("[limits]\nmax_record_bytes = 10")
    done = call("verify", home.path, "--format", "json")
    assert done.code == 14
    assert done.report["results"][0]["reason"] == "transcript_record_too_large"


def test_what_weakens_the_verdict_and_came_from_the_environment_is_told(
    five: Any, call: Callable[..., Any]
) -> None:
    weakened = {"CTXAUDIT_FAIL_ON": "unsupported", "CTXAUDIT_EXIT_ZERO": "1"}
    for kind in ("console", "json", "ndjson"):
        done = call("verify", five.path, "--format", kind, **weakened)
        assert done.code == 0
        assert all(name in done.out for name in weakened)
    report = call("verify", five.path, "--format", "json", **weakened).report
    assert report["weakened_by_environment"] == ["CTXAUDIT_FAIL_ON", "CTXAUDIT_EXIT_ZERO"]
    _validate(report)
    for harmless in ({"CTXAUDIT_EXIT_ZERO": "0"}, {"CTXAUDIT_JOBS": "2"}, {"CTXAUDIT_FAIL_ON": ""}):
        done = call("verify", five.path, "--format", "json", **harmless)
        assert done.code == 14
        assert done.report["weakened_by_environment"] == []
    # An option on the command line counts before the environment.
    done = call("verify", five.path, "--fail-on", "denied", "--format", "json", **weakened)
    assert done.report["weakened_by_environment"] == ["CTXAUDIT_EXIT_ZERO"]


def test_verify_writes_nothing_below_a_target(five: Any, call: Callable[..., Any]) -> None:
    def listing() -> list[tuple[str, int, int]]:
        return sorted(
            (str(path), path.lstat().st_mtime_ns, path.lstat().st_size)
            for path in five.path.rglob("*")
        )

    before = listing()
    call("verify", five.path, "--all", "--jobs", "2")
    assert listing() == before


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["--jobs", "0"],
        ["--jobs", "many"],
        ["--format", "xml"],
        ["--format", "json", "--format", "console"],
        ["--output", "a", "--output", "b"],
        ["--min-strength", "strong"],
        ["--nonsense"],
        ["--policy"],
        ["--as", "no-format"],
        ["--since", "yesterday"],
        [""],
        ["--format", "json", "--output", "no-folder/r.json"],
        ["--format", "json", "--output", "."],
    ],
)
def test_usage_is_one_line_and_two(
    five: Any,
    call: Callable[..., Any],
    args: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call("verify", *([five.path, *args] if args else []))
    assert done.code == 2
    assert done.out == ""
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith("ctxaudit")
