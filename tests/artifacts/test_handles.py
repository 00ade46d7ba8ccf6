"""The handles of a session: opened together, closed together, checked against their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from provenance.artifacts.handles import SessionHandles
from provenance.fs import BoundaryRefused, TrustedRoot


def test_they_are_current_until_a_name_leads_elsewhere(home: Path) -> None:
    with TrustedRoot(home, create=True) as root:
        handles = SessionHandles.open(root, "s1")
        try:
            assert handles.are_current()
            for path in (home / "s1" / "tool-results.jsonl", home / "s1" / "tool-results"):
                path.rename(home / "aside")
                assert not handles.are_current()
                (home / "aside").rename(path)
                assert handles.are_current()
            (home / "s1").rename(home / "s2")
            assert not handles.are_current()
            (home / "s1").symlink_to("s2")
            assert not handles.are_current()
        finally:
            handles.close()
            handles.close()


def test_nothing_stays_open_where_one_is_refused(home: Path) -> None:
    (home / "s1").mkdir(parents=True)
    (home / "s1" / "tool-results.jsonl").symlink_to("nowhere")
    with TrustedRoot(home) as root, pytest.raises(BoundaryRefused):
        SessionHandles.open(root, "s1")
