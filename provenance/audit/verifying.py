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
from provenance.pointers import SourcePointer, SourcePointerKind
from provenance.policy import Verdict
from provenance.resolution import Reason, SourceResolution, resolution_for
from provenance.resolver import SourcePointerResolver

__all__ = ["PartVerifier"]

# Nothing lies below a device; for the kind of pointer that a part has no root for.
_NO_ROOT = "/dev/null"
_TRANSCRIPT = str(SourcePointerKind.TRANSCRIPT)


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
        """Name the part and who asks; `withheld` holds what the target alone keeps back.

        Args:
            part: its roots, limits and policies.
            tenant: who asks.
            max_excerpt_chars: length of excerpts; 0 gives none.
            on_finding: hears what is unusual beside the states.
        """
        self._part = part
        self._tenant = tenant
        self._refused: set[str] = set()
        # What the target's policy alone kept from the last answers.
        self.withheld: set[str] = set()
        self._resolver = SourcePointerResolver(
            part.transcripts or TrustedRoot(_NO_ROOT),
            part.artifacts or TrustedRoot(_NO_ROOT),
            authorize=self._is_allowed if part.policies else None,
            max_excerpt_chars=max_excerpt_chars,
            limits=part.limits,
            on_finding=on_finding,
            sealed_ledger=part.sealed_ledger,
            formats=part.formats,
        )

    def verify(self, pointers: Sequence[str], *, jobs: int = 1) -> list[SourceResolution]:
        """Answer for each pointer, in order.

        Args:
            pointers: texts, as cited.
            jobs: processes that verify.
        """
        self._refused.clear()
        self.withheld.clear()
        answers = self._resolver.resolve_many(pointers, jobs=jobs)
        return [self._judged(answer) for answer in answers]

    def _judged(self, answer: SourceResolution) -> SourceResolution:
        """Turn a denial into the refusal that it was, and hold what verified against its pin."""
        if answer.pointer in self._refused:
            kind = answer.source_type
            return resolution_for(answer.pointer, Reason.REFUSED_BY_POLICY, source_type=kind)
        if answer.reason is Reason.REFUSED_BY_POLICY and (
            self._part.target_refuses_more
            or (self._part.formats is not None and answer.source_type == _TRANSCRIPT)
        ):
            self.withheld.add(answer.pointer)  # told by the open file
        return answer if self._part.pins == NO_PINS else self._part.pins.hold(answer)

    def _is_allowed(self, pointer: SourcePointer) -> bool:
        verdict = self._part.verdict(pointer, self._tenant)
        if verdict is Verdict.REFUSE:
            self._refused.add(pointer.raw)
        if self._part.is_withheld(pointer, self._tenant):
            self.withheld.add(pointer.raw)
        return verdict is Verdict.ALLOW

    def __enter__(self) -> PartVerifier:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._resolver.close()
