"""What this machine offers: each answer agrees with another way to ask."""

from __future__ import annotations

import os
import resource
import sqlite3
import sys
from pathlib import Path

import pytest

from provenance.fs import TrustedRoot, machine
from provenance.fs.machine import look_at_machine


def test_the_facts_agree_with_the_system() -> None:
    found = look_at_machine()
    with TrustedRoot("/") as root:
        assert found.backend == root.backend
    assert found.python == sys.version_info[:3]
    assert found.sqlite == sqlite3.sqlite_version_info
    assert found.is_root == (os.geteuid() == 0)
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert found.max_open_files == (None if soft == resource.RLIM_INFINITY else soft)
    if found.umask is not None:
        before = os.umask(0o027)
        try:
            assert look_at_machine().umask == 0o027
        finally:
            os.umask(before)
    assert found.landlock_abi is None or found.landlock_abi >= 1


def test_what_is_not_there_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine, "EXTRAS", {"x": ("no_such.module",), "y": ("no_such", "json")})
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "nothing"))
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    found = look_at_machine()
    assert found.extras == (("x", False), ("y", True))
    assert (found.temporary_mode, found.has_unnamed_files) == (None, False)
