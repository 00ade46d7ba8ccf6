"""Verifies pointers of one part: its roots, its limits, and every policy that has a say.

Guarantees: what a policy denies or refuses is never opened. The answers are the resolver's, held
against the part's pins, in the order of the pointers; nothing is kept between two calls.

Example:
    >>> from provenance.fs import TrustedRoot
    >>> root = TrustedRoot("/nowhere")
    >>> with PartVerifier(AuditPart(transcripts=root, artifacts=root)) as verifier:
    ...     [str(answer.reason) for answer in verifier.verify(["transcript:s1:1"])]
    ['transcript_missing']
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType

from provenance.audit.lock import NO_PINS
from provenance.audit.part import AuditPart
from provenance.findings import Finding
from provenance.fs import TrustedRoot
from provenance.pointers import SourcePointer, SourcePointerError, parse_source_pointer
from provenance.policy import Verdict
from provenance.resolution import Reason, SourceResolution, resolution_for
from provenance.resolver import SourcePointerResolver

__all__ = ["PartVerifier"]

# Nothing lies below a device; for the kind of pointer that a part has no root for.
_NO_ROOT = "/dev/null"


class PartVerifier:
    """A resolver for one part; a context manager that closes its handles."""

    def __init__(
        self,
        part: AuditPart,
        *,
        tenant: str | None = None,
        max_excerpt_chars: int = 0,
        on_finding: Callable[[Finding], None] | None = None,
    ) -> None:
        """Name the part and who asks."""
        self._part = part
        self._tenant = tenant
        self._resolver = SourcePointerResolver(
            part.transcripts or TrustedRoot(_NO_ROOT),
            part.artifacts or TrustedRoot(_NO_ROOT),
            authorize=self._is_allowed if part.policies else None,
            max_excerpt_chars=max_excerpt_chars,
            limits=part.limits,
            on_finding=on_finding,
            sealed_ledger=part.sealed_ledger,
        )
        self._refuses = any(policy.refuse for policy in part.policies)

    def verify(self, pointers: Sequence[str], *, jobs: int = 1) -> list[SourceResolution]:
        """Answer for each pointer, in order.

        Args:
            pointers: texts, as cited.
            jobs: processes that verify.
        """
        refused = {text for text in pointers if self._is_refused(text)} if self._refuses else set()
        asked = [text for text in pointers if text not in refused] if refused else pointers
        answers = iter(self._resolver.resolve_many(asked, jobs=jobs))
        if self._part.pins != NO_PINS:
            answers = map(self._part.pins.hold, answers)
        return [
            resolution_for(text, Reason.REFUSED_BY_POLICY, source_type="artifact")
            if text in refused
            else next(answers)
            for text in pointers
        ]

    def _is_allowed(self, pointer: SourcePointer) -> bool:
        return self._part.verdict(pointer, self._tenant) is Verdict.ALLOW

    def _is_refused(self, text: str) -> bool:
        try:
            pointer = parse_source_pointer(text)
        except SourcePointerError:
            return False
        return self._part.verdict(pointer, self._tenant) is Verdict.REFUSE

    def __enter__(self) -> PartVerifier:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._resolver.close()
