"""`--decisions FILE`: a line for each authorization of a cited pointer, in the order of the report.

Guarantees: the file is whole or not there, also after an interrupt, and never lies in what is
audited. A line is made of the decision alone, so that the trace is the same whether a source exists
or not. What cannot be written ends the run as a failure of the tool, once all reports are written;
it decides nothing about evidence. Memory does not grow with the number of decisions.

Example:
    $ ctxaudit verify home --policy policy.toml --decisions decisions.ndjson
"""

from __future__ import annotations

import json

from provenance.decisions import AuthorizationDecision
from provenance.errors import CtxauditError
from provenance.fs.operator_output import OperatorOutput

from .operator_files import label_of
from .streams import OutputFailed

__all__ = ["DecisionTrace", "decision_line"]

_PIECE = 1 << 16


def decision_line(decision: AuthorizationDecision) -> str:
    """Write one decision, with its line end; ASCII alone, whatever the pointer holds."""
    return json.dumps(decision.to_dict(), separators=(",", ":")) + "\n"


class DecisionTrace:
    """Takes decisions; does nothing where no file was named."""

    def __init__(self, path: str | None) -> None:
        """Open what will be the file.

        Raises:
            OutputFailed: nothing can be written there.
        """
        self._label = "" if path is None else label_of(path)
        self._held: list[str] = []
        self._size = 0
        self._failure: str | None = None
        try:
            self._output = None if path is None else OperatorOutput(path)
        except CtxauditError as error:
            raise self._failed(str(error)) from None

    @property
    def is_wanted(self) -> bool:
        """Whether anybody asked for a trace."""
        return self._output is not None

    def add(self, decision: AuthorizationDecision) -> None:
        """Take one decision; never raises: what cannot be written is said once all reports are."""
        line = decision_line(decision)
        self._held.append(line)
        self._size += len(line)
        if self._size >= _PIECE:
            self._flush()

    def publish(self) -> None:
        """Give the file its name.

        Raises:
            OutputFailed: it could not be written whole, and is not there.
        """
        output = self._output
        if output is None:
            return
        self._flush()
        with output:
            if self._failure is None:
                try:
                    output.commit()
                except CtxauditError as error:
                    self._failure = str(error)
        if self._failure is not None:
            raise self._failed(self._failure)

    def discard(self) -> None:
        """Leave nothing behind."""
        if self._output is not None:
            self._output.discard()

    def _flush(self) -> None:
        data = "".join(self._held).encode("ascii")
        self._held.clear()
        self._size = 0
        if self._output is None or self._failure is not None:
            return
        try:
            self._output.write(data)
        except CtxauditError as error:
            self._failure = str(error)

    def _failed(self, message: str) -> OutputFailed:
        return OutputFailed(f"--decisions: {self._label}: {message}")
