"""Whether a file that is to be written would lie in what is audited."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from provenance.fs.places import Place, is_in_use, place_of


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder with a folder in it, links to both, and a file beside them."""
    logs = tmp_path / "logs"
    (logs / "deep").mkdir(parents=True)
    (logs / "s1.jsonl").write_text("{}\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to("logs")
    (tmp_path / "deep-link").symlink_to("logs/deep")
    (tmp_path / "other" / "report-link").symlink_to("../logs/report.json")
    (logs / "way-out").symlink_to("../other")
    return logs


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("logs/report.json", Place.BELOW),
        ("logs/deep/report.json", Place.BELOW),
        ("logs/./deep/../report.json", Place.BELOW),
        ("other/../logs/report.json", Place.BELOW),
        ("link/report.json", Place.BELOW),
        ("deep-link/report.json", Place.BELOW),
        ("deep-link/../report.json", Place.BELOW),
        ("other/report-link", Place.BELOW),
        ("logs/s1.jsonl", Place.BELOW),
        ("logs/no/such/folder/report.json", Place.BELOW),
        ("logs", Place.TARGET),
        ("link", Place.TARGET),
        ("report.json", Place.OUTSIDE),
        ("logs.json", Place.OUTSIDE),
        ("other/report.json", Place.OUTSIDE),
        ("logs/../report.json", Place.OUTSIDE),
        ("link/../report.json", Place.OUTSIDE),
        # It is spelled below the target, and leads out of it: so does what is written.
        ("logs/way-out/report.json", Place.OUTSIDE),
    ],
)
@pytest.mark.parametrize("target", ["logs", "link", "logs/deep/..", "./logs/"])
def test_below_a_folder(
    logs: Path, monkeypatch: pytest.MonkeyPatch, path: str, place: Place, target: str
) -> None:
    monkeypatch.chdir(logs.parent)
    assert place_of(path, [target]) is place
    assert place_of(logs.parent / path, ["other/nothing", target]) is place


def test_of_a_file_only_itself_is_meant(logs: Path) -> None:
    target = logs / "s1.jsonl"
    link, same = logs.parent / "l", logs.parent / "h"
    link.symlink_to(target)
    os.link(target, same)
    for path in (target, link, same, logs.parent / "link" / "s1.jsonl"):
        assert place_of(path, [target]) is Place.TARGET
        assert place_of(path, [link]) is Place.TARGET
    for path in (logs / "report.json", logs / "s1.jsonl.json", logs.parent / "s1.jsonl"):
        assert place_of(path, [target]) is Place.OUTSIDE


def test_what_is_not_there_counts_by_its_name(logs: Path) -> None:
    assert place_of(logs / "gone.jsonl", [logs / "deep" / ".." / "gone.jsonl"]) is Place.TARGET
    assert place_of(logs / "gone.jsonl", [logs / "other.jsonl"]) is Place.OUTSIDE


def test_odd_names_are_no_error(logs: Path) -> None:
    assert place_of("a\0b", [logs]) is Place.OUTSIDE
    assert place_of(logs / "a", ["a\0b", logs]) is Place.BELOW
    assert place_of("/", ["/"]) is Place.TARGET
    assert place_of(logs / "x", ["/"]) is Place.BELOW
    loop = logs / "loop"
    loop.symlink_to("loop")
    assert place_of(loop, [logs]) is Place.BELOW


def test_a_name_is_in_use_though_it_leads_nowhere(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("nowhere")
    for name in ("logs", "logs/s1.jsonl", "link", "loop", "dangling"):
        assert is_in_use(tmp_path / name), name
    for name in ("nowhere", "logs/nowhere", "logs/s1.jsonl/below", "a\0b", "x" * 9_000):
        assert not is_in_use(tmp_path / name), name
