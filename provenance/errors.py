"""The one tree of errors that leaves this library.

Guarantees: every error raised on purpose is a `CtxauditError`, carries a stable `code`, says whose
fault it is through its branch (`CallerError`, `DataError`, `MachineError`), and holds no evidence
text, secret or host path in its message.

Example:
    >>> try:
    ...     raise DataError("record 3: sequence: expected 3, got 4")
    ... except CtxauditError as error:
    ...     error.code
    'data_error'
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "CallerError",
    "CtxauditError",
    "DataError",
    "MachineError",
]


class CtxauditError(Exception):
    """Base of every error of this library; `code` is stable and documented."""

    code: ClassVar[str] = "ctxaudit_error"


class CallerError(CtxauditError):
    """The calling program or operator asked for something that cannot be done."""

    code: ClassVar[str] = "caller_error"


class DataError(CtxauditError):
    """Bytes or text from outside break a rule of their format."""

    code: ClassVar[str] = "data_error"


class MachineError(CtxauditError):
    """The machine (disk, kernel, network, descriptors) could not do its part."""

    code: ClassVar[str] = "machine_error"
