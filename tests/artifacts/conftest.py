"""Stores in fresh folders, and after each test a look at what was left open."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from provenance.artifacts import ArtifactStore
from tests.fixtures import backend, no_handle_is_left
from tests.trees import is_root

__all__ = ["backend", "no_handle_is_left"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A root that does not exist yet."""
    return tmp_path / "home"


@pytest.fixture
def store(home: Path) -> Iterator[ArtifactStore]:
    """A store of text whose clock stands still."""
    with ArtifactStore(home, clock=lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)) as opened:
        yield opened


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one mebibyte, where this process may mount one."""
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if not is_root() or mount is None or umount is None:
        pytest.skip("not root: no small file system can be mounted, a full disk was NOT tested")
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=1m,mode=0700", "none", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"mount was refused, a full disk was NOT tested: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run([umount, "-l", str(folder)], check=True)
