"""The public names of the library: one table, one list, one set of imports for type checkers."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

import provenance

_HOME: dict[str, str] = provenance._HOME


def _typed_imports(source: str) -> dict[str, str]:
    """Read the name -> module pairs below `if TYPE_CHECKING:`."""
    found: dict[str, str] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for statement in node.body:
                assert isinstance(statement, ast.ImportFrom)
                assert statement.module is not None
                for alias in statement.names:
                    assert alias.asname is None, f"{alias.name}: renamed for type checkers only"
                    found[alias.name] = statement.module
    return found


def test_table_and_typed_imports_and_all_agree(checkout: Path) -> None:
    source = (checkout / "provenance" / "__init__.py").read_text(encoding="utf-8")
    assert _typed_imports(source) == _HOME
    assert sorted(provenance.__all__) == sorted([*_HOME, "__version__"])
    assert len(set(provenance.__all__)) == len(provenance.__all__)


@pytest.mark.parametrize("name", sorted(_HOME))
def test_a_public_name_is_the_object_of_its_module(name: str) -> None:
    module = import_module(_HOME[name])
    assert getattr(provenance, name) is getattr(module, name)
    assert name in module.__all__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'SourcePionter'"):
        getattr(provenance, "SourcePionter")  # noqa: B009 - a type checker refuses it, as it should
    assert not hasattr(provenance, "_private")


def test_dir_shows_every_public_name() -> None:
    assert set(provenance.__all__) <= set(dir(provenance))
