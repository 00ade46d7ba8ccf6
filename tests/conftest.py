"""What every test shares: Hypothesis profiles, a plain environment, the place of the checkout."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine makes an example slow, not wrong: no deadline, and no check of how fast data is
# generated. A failure prints the blob that reproduces it, so no run needs a fixed seed.
_PATIENT = settings(deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("default", _PATIENT, max_examples=100)
settings.register_profile("ci", _PATIENT, max_examples=200, derandomize=False)
settings.register_profile("thorough", _PATIENT, max_examples=5_000, derandomize=False)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default")
)

# What the shell of whoever runs the tests says about terminals and Python decides no test.
_DECIDES = ("COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR", "PYTHONIOENCODING", "PYTHONUNBUFFERED")
for _name in [*os.environ]:
    ours = _name.startswith("CTXAUDIT_") and not _name.startswith("CTXAUDIT_TEST_")
    if ours or _name in _DECIDES:
        del os.environ[_name]
os.environ["TERM"] = "xterm-256color"
# A run starts several hundred interpreters. Without compiled modules each of them compiles the
# package again, which is most of its time, and every worker rewrites every test again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Thousands of collected tests are no garbage: they are looked through neither while they are made
# nor at each full collection afterwards, and a test that forks copies none of their pages.
gc.disable()

_CHECKOUT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The folder that holds pyproject.toml."""
    return _CHECKOUT


def pytest_collection_finish() -> None:
    """Look for garbage again from here on, among what the tests themselves make."""
    gc.enable()
    gc.collect()
    gc.freeze()
