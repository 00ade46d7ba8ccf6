"""Looking through a tree: what is looked into, what is passed over, and what is said of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from provenance.fs import TrustedRoot
from provenance.fs.failures import BoundaryRefused, FileFailure, NotARegularFile
from provenance.limits import DEFAULT_LIMITS
from provenance.transcripts.discovery import (
    Candidate,
    find_candidates,
    has_content_hash,
    open_candidate,
)
from tests.fixtures import open_folder
from tests.transcripts.breaking import audit
from tests.trees import run_python, without_privileges

__all__ = ["open_folder"]

_RECORD = b'{"type":"user","uuid":"u","sessionId":"s","message":{}}\n'


def _write(path: Path, data: bytes = _RECORD) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _found(folder: Path) -> list[str]:
    with TrustedRoot(folder) as root:
        return ["/".join(one.names) for one in find_candidates(root)]


def test_names_and_first_bytes_decide_what_is_looked_into(tmp_path: Path) -> None:
    for name in (
        "a.jsonl", "b.JSONL", "c.jsonl.zst", "d.json", "e.db", "f.eval", "g.txt", "h", ".jsonl",
        ".hidden.jsonl", "i.jsonl.bak", "j.sqlite3",
    ):  # fmt: skip
        _write(tmp_path / name)
    for name in ("notes.md", "script", "picture.png", "empty"):
        _write(tmp_path / name, name.encode() if name != "empty" else b"")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link.txt").symlink_to("g.txt")
    assert set(_found(tmp_path)) == {
        "a.jsonl", "b.JSONL", "c.jsonl.zst", "d.json", "e.db", "f.eval", ".jsonl",
        ".hidden.jsonl", "j.sqlite3", "g.txt", "h", "i.jsonl.bak",
    }  # fmt: skip


def test_folders_come_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b/2.jsonl", "b/1.jsonl", "a/z/1.jsonl", "a/1.jsonl", "c.jsonl"):
        _write(tmp_path / name)
    assert _found(tmp_path) == ["c.jsonl", "a/1.jsonl", "a/z/1.jsonl", "b/1.jsonl", "b/2.jsonl"]


def test_outputs_that_were_put_aside_are_none(tmp_path: Path) -> None:
    _write(tmp_path / "p/s/tool-results/a.jsonl")
    _write(tmp_path / "p/s/tool-results/deep/b.jsonl")
    _write(tmp_path / "p/s/subagents/agent-a.jsonl")
    _write(tmp_path / "p/tool-results.jsonl")
    assert _found(tmp_path) == ["p/tool-results.jsonl", "p/s/subagents/agent-a.jsonl"]
    # Where it was named itself, it is looked into.
    assert _found(tmp_path / "p/s/tool-results") == ["a.jsonl", "deep/b.jsonl"]


def test_a_folder_may_be_called_like_a_file(tmp_path: Path) -> None:
    _write(tmp_path / "x.jsonl/y.jsonl")
    _write(tmp_path / "z.json/y.jsonl")
    # It stands where a transcript would, which is said; and it is looked into like any other.
    assert _found(tmp_path) == ["x.jsonl", "x.jsonl/y.jsonl", "z.json/y.jsonl"]
    report = audit(tmp_path)
    assert [(one.target, one.records) for one in report.transcripts] == [
        ("x.jsonl", 0), ("x.jsonl/y.jsonl", 1), ("z.json/y.jsonl", 1),
    ]  # fmt: skip
    assert report.finding_counts["transcript_not_a_file"] == 1


def test_what_is_neither_file_nor_folder_is_told_and_never_waited_for(tmp_path: Path) -> None:
    _write(tmp_path / "a.jsonl")
    os.mkfifo(tmp_path / "b.jsonl")
    os.mkfifo(tmp_path / "b.db")
    report = audit(tmp_path)
    assert {one.target: one.records for one in report.transcripts} == {"a.jsonl": 1, "b.jsonl": 0}
    assert report.finding_counts["transcript_not_a_file"] == 1


def test_links_are_not_followed_and_said(tmp_path: Path) -> None:
    _write(tmp_path / "outside/secret.jsonl")
    tree = tmp_path / "tree"
    _write(tree / "a.jsonl")
    (tree / "out.jsonl").symlink_to("../outside/secret.jsonl")
    (tree / "in.jsonl").symlink_to("a.jsonl")
    (tree / "gone.jsonl").symlink_to("nothing")
    with TrustedRoot(tree) as root:
        found = {one.names[-1]: one.is_link for one in find_candidates(root)}
        assert found == {"a.jsonl": False, "out.jsonl": True, "in.jsonl": True, "gone.jsonl": True}
        with (
            pytest.raises(BoundaryRefused),
            open_candidate(root, Candidate(("out.jsonl",)), limits=DEFAULT_LIMITS),
        ):
            pass
    report = audit(tree)
    assert {one.target: one.records for one in report.transcripts} == {
        "a.jsonl": 1, "gone.jsonl": 0, "in.jsonl": 0, "out.jsonl": 0,
    }  # fmt: skip
    assert report.finding_counts["ownership_boundary"] == 3


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    _write(tmp_path / "outside/secret.jsonl")
    tree = tmp_path / "tree"
    _write(tree / "a.jsonl")
    (tree / "out").symlink_to("../outside")
    (tree / "loop").symlink_to(".")
    (tree / "folder.jsonl").symlink_to("../outside")
    assert _found(tree) == ["a.jsonl", "folder.jsonl"]
    assert sum(one.records for one in audit(tree).transcripts) == 1


def test_a_linked_folder_is_said(tmp_path: Path) -> None:
    _write(tmp_path / "outside/secret.jsonl")
    tree = tmp_path / "tree"
    _write(tree / "a.jsonl")
    (tree / "out").symlink_to("../outside")
    assert "out" in {one.target for one in audit(tree).findings}


def test_deep_trees_end_somewhere(tmp_path: Path) -> None:
    folder, depth = tmp_path, 0
    while depth < 80:
        depth += 1
        folder = folder / "d"
        _write(folder / "a.jsonl")
    found = _found(tmp_path)
    assert len(found) == 64
    assert found[-1] == "d/" * 64 + "a.jsonl"


def test_what_lies_too_deep_is_said(tmp_path: Path) -> None:
    _write(tmp_path / "a.jsonl")
    _write(tmp_path.joinpath(*"d" * 70) / "a.jsonl")
    report = audit(tmp_path)
    assert [one.target for one in report.findings if one.target != "a.jsonl"]


def test_wide_trees(tmp_path: Path) -> None:
    for number in range(400):
        _write(tmp_path / f"f{number % 20:02}/{number:03}.jsonl")
    assert len(_found(tmp_path)) == 400


def test_a_folder_that_cannot_be_listed_is_said(open_folder: Path) -> None:
    _write(open_folder / "a.jsonl")
    _write(open_folder / "shut/b.jsonl")
    (open_folder / "shut").chmod(0)
    script = """
import sys
from provenance.fs import TrustedRoot
from provenance.transcripts.discovery import find_candidates
with TrustedRoot(sys.argv[1]) as root:
    failures = []
    found = list(find_candidates(root, on_failure=lambda names, why: failures.append((names, why))))
print([one.names for one in found], [(names, type(why).__name__) for names, why in failures])
"""
    done = run_python(script, open_folder, prefix=without_privileges(), PYTHONDONTWRITEBYTECODE="1")
    (open_folder / "shut").chmod(0o755)
    assert done.stdout.strip() == "[('a.jsonl',)] [(('shut',), 'AccessRefused')]"


def test_failures_need_no_listener(tmp_path: Path) -> None:
    heard: list[FileFailure] = []
    with TrustedRoot(tmp_path / "nothing") as root:
        assert list(find_candidates(root)) == []
        assert list(find_candidates(root, on_failure=lambda names, why: heard.append(why))) == []
    _write(tmp_path / "file")
    with TrustedRoot(tmp_path / "file") as root:
        assert list(find_candidates(root)) == []


# --- formats ------------------------------------------------------------------------------------


def test_each_file_is_told_by_what_it_holds(tmp_path: Path) -> None:
    files = {
        "claude.jsonl": (_RECORD, "claude-code"),
        "codex.jsonl": (
            b'{"timestamp":"t","type":"session_meta","payload":{"id":"i","instructions":null}}\n',
            "codex",
        ),
        "native.jsonl": (b'{"sequence":1,"event_id":"transcript:native:1"}\n', "native"),
        "gemini.json": (b'{"sessionId":"s","projectHash":"h","messages":[]}', "gemini-cli"),
        # A damaged start tells nothing; the first record that is whole does.
        "torn.jsonl": (b'{"type":"us\n' + _RECORD, "claude-code"),
        # Nothing whole at all: damaged lines of ours, so that it is not passed over.
        "damaged.jsonl": (b'{"type":"us', "native"),
    }
    for name, (data, _) in files.items():
        _write(tmp_path / name, data)
    report = audit(tmp_path)
    assert {one.target: one.format for one in report.transcripts} == {
        name: told for name, (_, told) in files.items()
    }


def test_what_nobody_knows_is_said_where_it_is_called_like_a_transcript(tmp_path: Path) -> None:
    _write(tmp_path / "a.jsonl")
    _write(tmp_path / "strange.jsonl", b'{"hello":"world"}\n')
    _write(tmp_path / "package.json", b'{"name":"x"}')
    _write(tmp_path / "other.db", b"SQLite")
    report = audit(tmp_path)
    assert [one.target for one in report.transcripts] == ["a.jsonl"]
    assert [(one.code, one.target) for one in report.findings] == [
        ("unknown_format", "other.db"),
        ("unknown_format", "strange.jsonl"),
        ("other_file", "package.json"),
    ]


def test_the_name_of_a_format_decides_where_it_is_given(tmp_path: Path) -> None:
    _write(tmp_path / "strange.jsonl", b'{"hello":"world"}\n')
    report = audit(tmp_path / "strange.jsonl", as_format="claude-code")
    (checked,) = report.transcripts
    assert (checked.format, checked.records) == ("claude-code", 1)
    assert dict(checked.unknown_types) == {"(none)": 1}


def test_a_folder_of_files_is_one_source(tmp_path: Path) -> None:
    sample = Path(__file__).parents[1] / "data/transcripts/openhands/conversation"
    for path in sample.rglob("*.json"):
        _write(tmp_path / "one" / path.relative_to(sample), path.read_bytes())
    _write(tmp_path / "two/a.jsonl")
    with TrustedRoot(tmp_path) as root:
        found = [(one.names, one.is_folder) for one in find_candidates(root)]
    assert ("two", "a.jsonl") in [names for names, _ in found]
    assert sum(is_folder for _, is_folder in found) == 1
    assert {one.format for one in audit(tmp_path).transcripts} == {"openhands", "claude-code"}


def test_opening_tells_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").mkdir()
    with (
        TrustedRoot(tmp_path) as root,
        pytest.raises(NotARegularFile),
        open_candidate(root, Candidate(("a.jsonl",)), limits=DEFAULT_LIMITS),
    ):
        pass


def test_a_digest_lies_in_the_folder_or_not(tmp_path: Path) -> None:
    with TrustedRoot(tmp_path) as root, TrustedRoot(tmp_path / "nothing") as nothing:
        assert not has_content_hash(root)
        _write(tmp_path / "content_hash.txt", b"")
        assert has_content_hash(root)
        assert not has_content_hash(nothing)


@pytest.mark.parametrize("jobs", [2, 3])
def test_several_processes_say_what_one_says(jobs: int, tmp_path: Path) -> None:
    samples = Path(__file__).parents[1] / "data/transcripts/claude-code"
    for tree in (samples, samples / "synthetic/shared-uuid"):
        alone, together = audit(tree), audit(tree, jobs=jobs)
        assert together.transcripts == alone.transcripts
        assert together.findings == alone.findings
        assert together.references == alone.references
        assert together.finding_counts == alone.finding_counts
