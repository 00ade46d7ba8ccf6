"""An old home with three artifacts, and after each test a look at what was left open."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixtures import no_handle_is_left, open_folder
from tests.retention.homes import OldHome

__all__ = ["no_handle_is_left", "open_folder"]


@pytest.fixture
def home(tmp_path: Path) -> OldHome:
    """Three artifacts that nothing cites."""
    made = OldHome(tmp_path / "home")
    for name in ("a.txt", "b.txt", "c.txt"):
        made.spill(name, f"the text of {name}\n")
    return made
