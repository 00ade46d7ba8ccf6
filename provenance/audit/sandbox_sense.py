"""Whether what a confined process says can be: values that no audit of this request would give.

Guarantees: pure. A waiver is one that the operator gave, for what it covers; an answer has a state
and the digest, strength and reason that belong to it; counts are no negative numbers and fit what
is listed. Not guaranteed: that what can be, is so (`docs/sandbox.md`).

Example:
    >>> from datetime import date
    >>> sense = Sense(AuditRequest(), today=date(2026, 1, 1))
    >>> sense.take_plan(-1)
    Traceback (most recent call last):
    provenance.audit.sandbox_wire.WireError: report: expected a number of 0 or more, got less
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date

from provenance.audit.request import AuditRequest
from provenance.audit.sandbox_wire import WireError
from provenance.audit_report import AuditedSource, AuditReport
from provenance.findings import Finding
from provenance.pointers import canonical_text
from provenance.resolution import (
    INCONCLUSIVE_REASONS,
    REASON_STATUS,
    Quiescence,
    Reason,
    SourceResolution,
    SourceResolutionStatus,
    Strength,
)
from provenance.waivers import NEVER_WAIVED, Waiver, WaiverState

__all__ = ["Sense"]

_AVAILABLE, _DENIED = SourceResolutionStatus.AVAILABLE, SourceResolutionStatus.DENIED
_VERIFIED = {
    Reason.VERIFIED_TRANSCRIPT_EVENT: "transcript",
    Reason.VERIFIED_ARTIFACT: "artifact",
}
_TYPES = frozenset({"transcript", "artifact", None})
_GUARDS = frozenset({*Quiescence, None})
_REASONS: Mapping[str, Reason] = {str(reason): reason for reason in Reason}
_digest = re.compile(r"[0-9a-f]{64}")
_time = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")
# What an excerpt may have beside its characters, where it was cut.
_CUT_MARK = 3


class Sense:
    """What was said so far in one run, and whether the next thing fits."""

    def __init__(self, request: AuditRequest, *, today: date) -> None:
        """Take what was asked, and the day in UTC before the process was started."""
        self._request = request
        self._today = today
        self._waivers = tuple(entry.waiver for entry in request.waivers)
        self._live = frozenset(one for one in self._waivers if one.expires >= today)
        self._total: int | None = None
        self._told = 0
        self._told_sum = 0

    def take_plan(self, total: int) -> None:
        """Hear how much there is to check; once.

        Raises:
            WireError: it cannot be.
        """
        _require_counts((total,))
        _require(self._total is None, "one plan", "two")
        self._total = total

    def take_sources(self, sources: Iterable[AuditedSource]) -> None:
        """Hear of answers.

        Raises:
            WireError: one of them cannot be, or nothing was announced.
        """
        _require(self._total is not None, "a plan before the first answer", "none")
        for source in sources:
            self._require_source(source)
            self._told += 1
            self._told_sum += hash(source)

    def require_report(self, report: AuditReport) -> None:
        """Hear the whole.

        Raises:
            WireError: it cannot be, or is not what was told before.
        """
        request = self._request
        # 1. Its own fields.
        _require(
            all(map(_time.fullmatch, (report.started_at, report.finished_at))),
            "its times in UTC",
            "something else",
        )
        _require(report.tenant == request.tenant, "the tenant who asks", "another")
        _require(
            not report.is_sandboxed and not report.weakened_by_environment,
            "nothing that this process says itself",
            "that",
        )
        counts = (report.finding_counts, report.waived_counts, report.reference_counts)
        _require_counts((report.not_checked, report.transcripts_not_checked, report.uncited))
        for count in counts:
            _require_counts(count.values())
        # 2. Answers: those that were told, and as many as were announced.
        for source in report.sources:
            self._require_source(source)
        _require(
            (len(report.sources), sum(map(hash, report.sources))) == (self._told, self._told_sum),
            "the answers that were told before",
            "others",
        )
        if self._total is not None:
            said = len(report.sources) + report.not_checked + report.transcripts_not_checked
            _require(said <= self._total, "no more than was announced", "more")
        # 3. Findings, each counted.
        for finding in report.findings:
            self._require_finding(finding)
        self._require_finding_counts(report)
        # 4. Waivers: the operator's, all of them.
        self._require_waivers(report)
        # 5. Transcripts and seals.
        for one in report.transcripts:
            _require_counts((one.records, one.calls, one.call_results))
            for numbers in (one.unknown_types, one.findings, one.references):
                _require_counts(numbers.values())
            _require_digest_or_none(one.sha256)
        _require(request.seal is not None or not report.seals, "no seal, none was asked for", "one")
        for seal in report.seals:
            _require_counts((seal.seals, seal.size, seal.errors, seal.denied))
            _require_digest_or_none(seal.root)

    def _require_source(self, source: AuditedSource) -> None:
        answer = source.resolution
        is_available = answer.status is _AVAILABLE
        if is_available:
            self._require_verified(answer)
        else:
            _require_not_verified(answer)
        _require(
            answer.source_type in _TYPES and answer.quiescence in _GUARDS,
            "a known kind of source and guard",
            "another",
        )
        _require_counts((source.consequences_left_out,))
        _require(
            not source.denied_why
            or (answer.status is _DENIED and self._request.policy is not None),
            "words of a policy for what it denies",
            "them elsewhere",
        )
        waiver = source.waiver
        if waiver is not None:
            _require(
                not is_available
                and waiver in self._live
                and waiver.pointer is not None
                and canonical_text(waiver.pointer) == canonical_text(answer.pointer),
                "a waiver of the operator for this source",
                "another",
            )

    def _require_verified(self, answer: SourceResolution) -> None:
        request = self._request
        reason = _REASONS.get(answer.reason or "")
        _require(
            reason in _VERIFIED and _VERIFIED[reason] == answer.source_type and answer.conclusive,
            "a reason of what is available",
            "another",
        )
        _require(
            answer.evidence_sha256 is not None
            and _digest.fullmatch(answer.evidence_sha256) is not None,
            "a digest of what is available",
            "none",
        )
        strengths = set(Strength) - ({Strength.SEALED} if request.seal is None else set())
        _require(answer.strength in strengths, "a strength of what is available", "another")
        _require(
            answer.checked_by is None or (answer.checked_by == "blake3" and request.fast),
            "a check that was asked for",
            "another",
        )
        most = request.excerpt_characters
        _require(
            len(answer.excerpt or "") <= (most + _CUT_MARK if most else 0),
            "no more of the evidence than was asked for",
            "more",
        )
        _require_counts((answer.evidence_bytes or 0,))

    def _require_finding(self, finding: Finding) -> None:
        place, waiver = finding.location, finding.waiver
        _require_counts((place.line or 0, place.ordinal or 0))
        if waiver is not None:
            _require(
                finding.code not in NEVER_WAIVED
                and waiver in self._live
                and waiver.pointer is None
                and (waiver.code, waiver.target) == (finding.code, finding.target),
                "a waiver of the operator for this finding",
                "another",
            )

    def _require_finding_counts(self, report: AuditReport) -> None:
        counts, waived = report.finding_counts, report.waived_counts
        listed = Counter(one.code for one in report.findings)
        listed_waived = Counter(one.code for one in report.findings if one.waiver is not None)
        waivable = {one.code for one in self._live if one.pointer is None} - NEVER_WAIVED
        _require(
            all(number <= counts.get(code, 0) for code, number in listed.items())
            and all(number <= waived.get(code, 0) for code, number in listed_waived.items()),
            "as many findings as are listed or more",
            "fewer",
        )
        _require(
            all(
                number == 0 or (code in waivable and number <= counts.get(code, 0))
                for code, number in waived.items()
            ),
            "waived findings of codes that the operator waives",
            "others",
        )

    def _require_waivers(self, report: AuditReport) -> None:
        _require(report.waivers == self._waivers, "the waivers of the operator", "others")
        states = report.waiver_states
        _require(
            len(states) == len(self._waivers)
            and all(map(self._is_possible, self._waivers, states)),
            "a possible state of each waiver",
            "another",
        )

    def _is_possible(self, waiver: Waiver, state: WaiverState) -> bool:
        if waiver.expires < self._today:
            return state is WaiverState.EXPIRED
        # At midnight one may be over there that was not yet here.
        return state is not WaiverState.EXPIRED or waiver.expires == self._today


def _require_not_verified(answer: SourceResolution) -> None:
    reason = _REASONS.get(answer.reason or "")
    _require(
        reason is not None
        and REASON_STATUS[reason] is answer.status
        and not (answer.conclusive and reason in INCONCLUSIVE_REASONS),
        "a reason of this state",
        "another",
    )
    of_evidence = (
        answer.evidence_sha256,
        answer.strength,
        answer.excerpt,
        answer.evidence_bytes,
        answer.checked_by,
    )
    _require(
        all(value is None for value in of_evidence), "nothing of what is not available", "some"
    )


def _require_digest_or_none(text: str | None) -> None:
    _require(text is None or _digest.fullmatch(text) is not None, "a digest", "another text")


def _require_counts(numbers: Iterable[int]) -> None:
    _require(all(number >= 0 for number in numbers), "a number of 0 or more", "less")


def _require(is_so: bool, expected: str, got: str) -> None:  # noqa: FBT001
    if not is_so:
        raise WireError(f"report: expected {expected}, got {got}")
