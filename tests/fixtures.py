"""Fixtures of the tests that open files: both back ends, and a look at what was left open."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from provenance.fs import BackendName, TrustedRoot, UnsafePlatform
from tests.trees import open_handles


@pytest.fixture(params=["openat2", "walk"])
def backend(request: pytest.FixtureRequest) -> BackendName:
    """Each back end in turn; skipped where this kernel lacks one."""
    name = cast("BackendName", request.param)
    with TrustedRoot("/", backend=name) as root:
        try:
            assert root.backend == name
        except UnsafePlatform:
            pytest.skip(f"{name}: not on this kernel")
    return name


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users may enter; every other session of pytest closes its own again."""
    folder = Path(tempfile.mkdtemp(prefix="ctxaudit-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def no_handle_is_left() -> Iterator[None]:
    before = open_handles()
    yield
    left = {number: what for number, what in open_handles().items() if number not in before}
    assert not left, f"handles left open: {left}"
