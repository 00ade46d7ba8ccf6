"""The version, in the one place that everything else reads it from.

Guarantees: `__version__` is a plain literal, so that the build reads it without importing anything.

Example:
    >>> __version__.count(".")
    2
"""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
