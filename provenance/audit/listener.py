"""Who hears of an audit while it runs.

Guarantees: nothing here does anything; what hears more overrides it.

Example:
    >>> Listener().on_plan(3)
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from provenance.audit_report import AuditedSource, CheckedTranscript
from provenance.decisions import AuthorizationDecision

__all__ = ["Listener"]


class Listener:
    """Hears of an audit while it runs; this one does nothing with it.

    `wants_decisions`: False spares the telling of authorizations.
    """

    wants_decisions = False

    def held_back(self) -> AbstractContextManager[None]:
        """Give a context in which no interrupt is raised: what is told, counted and kept agrees.

        One that comes meanwhile is raised at its end. Where a program handles interrupts in its
        own way, as it does with this class, they are raised at once.
        """
        return nullcontext()

    def on_plan(self, total: int) -> None:
        """Hear how many sources and transcripts there are to check."""

    def on_wait(self) -> None:
        """Hear that a lock is waited for, several times a second; before `on_plan`.

        Its `KeyboardInterrupt` ends the waiting, and nothing is verified.
        """

    def on_decision(self, decision: AuthorizationDecision) -> None:
        """Hear of an authorization, in the order of the report, once all is verified."""

    def on_sources(self, sources: Sequence[AuditedSource]) -> None:
        """Hear of a batch of results, in the order of their pointers."""

    def on_transcript(self, transcript: CheckedTranscript | None) -> None:
        """Hear of a transcript that was checked whole; None: of a file that is none."""

    def on_verified(self) -> None:
        """Hear that verifying is over, also by an interrupt: one more would cost the report."""
