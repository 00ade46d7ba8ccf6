"""Both back ends in turn, and after each test a look at what was left open."""

from __future__ import annotations

from tests.fixtures import backend, no_handle_is_left, open_folder

__all__ = ["backend", "no_handle_is_left", "open_folder"]
