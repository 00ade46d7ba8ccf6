"""The example in each module's docstring says what the module really does."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

_CHECKOUT = Path(__file__).resolve().parent.parent
_MODULES = sorted(
    ".".join(path.relative_to(_CHECKOUT).with_suffix("").parts)
    for package in ("provenance", "cli")
    for path in (_CHECKOUT / package).rglob("*.py")
    if path.name not in ("__init__.py", "__main__.py")
)


@pytest.mark.parametrize("name", _MODULES)
def test_the_module_keeps_its_own_examples(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module = import_module(name)
    assert module.__doc__ is not None
    assert "Guarantees: " in module.__doc__
    assert "Example:" in module.__doc__
    assert _run_examples(module).failures == 0
    assert list(tmp_path.iterdir()) == []


def test_the_library_as_a_whole_keeps_its_example() -> None:
    outcome = _run_examples(import_module("provenance"))
    assert outcome.failures == 0
    assert outcome.tries > 0


def _run_examples(module: ModuleType) -> doctest.DocTestRunner:
    """As `doctest.testmod`, which starts a debugger for each docstring without an example too."""
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for found in doctest.DocTestFinder().find(module, module.__name__):
        if found.examples:
            runner.run(found)
    return runner
