"""Counting a tree: bounded, nothing followed. (What is unsafe about it: tests/doctor.)"""

from __future__ import annotations

from pathlib import Path

import pytest

from provenance.fs import BackendName, TrustedRoot
from provenance.fs.census import Census, Places, take_census
from tests.fixtures import backend

__all__ = ["backend"]


def _census(path: Path, backend: BackendName = "auto", **options: int) -> Census:
    with TrustedRoot(path, backend=backend) as root:
        return take_census(root, **options)


def test_what_is_there_is_counted(tmp_path: Path, backend: BackendName) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/file").write_bytes(b"12345")
    (tmp_path / "a/link").symlink_to("/")
    found = _census(tmp_path, backend)
    assert (found.entries, found.folders, found.files, found.bytes) == (4, 2, 1, 5)
    assert found.links.first == ["a/link"]
    assert not found.is_cut_short


def test_only_the_first_places_are_kept() -> None:
    places = Places()
    for number in range(10):
        places.add((str(number),))
    assert (places.count, places.first) == (10, ["0", "1", "2", "3", "4"])


@pytest.mark.parametrize("most", range(1, 9))
def test_the_bound_holds_and_what_fits_is_whole(tmp_path: Path, most: int) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        for number in range(2):
            (tmp_path / folder / str(number)).touch()
    found = _census(tmp_path, most_entries=most)
    assert found.entries == min(most, 6)
    assert found.is_cut_short == (most < 6)


@pytest.mark.parametrize(
    ("text", "newest"),
    [
        ('{"recorded_at":"2026-01-01T00:00:00Z"}\n{"recorded_at": "2025-01-01T00:00:00Z"}', "2026"),
        ('{"recorded_at":"2026-01-01T00:00:00+02:00"}', None),
        ('{"recorded_at":"soon"}', None),
        ("x" * 100_000 + '{"recorded_at":"2026-01-01T00:00:00.123456Z"}', "2026"),
        ('{"recorded_at":"2026-01-01T00:00:00Z"}' + "x" * 100_000, None),
    ],
)
def test_the_newest_time_at_the_end_of_a_log(tmp_path: Path, text: str, newest: str | None) -> None:
    (tmp_path / "s.jsonl").write_text(text)
    (tmp_path / "s.txt").write_text('{"recorded_at":"2099-01-01T00:00:00Z"}')
    found = _census(tmp_path).newest_time
    assert found is newest or (found or "").startswith(newest or "none")
