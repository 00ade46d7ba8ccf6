"""Loading a framework where it is needed, or saying which extra brings it.

Guarantees: nothing is loaded before `load` is called, and a missing framework is one line of text.

Example:
    >>> load("json", "pydantic-ai").__name__
    'json'
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from provenance.errors import MachineError

__all__ = ["MissingEmbeddingExtra", "load"]


class MissingEmbeddingExtra(MachineError, ImportError):
    """The framework is not installed."""

    code = "missing_extra"


def load(module: str, extra: str) -> ModuleType:
    """Import a module of a framework.

    Raises:
        MissingEmbeddingExtra: it cannot be imported; the error names the extra.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingEmbeddingExtra(
            f"{module}: expected the extra ctxaudit-provenance[{extra}], got none installed"
        ) from error
