"""After each test a look at what was left open."""

from __future__ import annotations

from tests.fixtures import no_handle_is_left, open_folder

__all__ = ["no_handle_is_left", "open_folder"]
