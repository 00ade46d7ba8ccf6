"""The last sentences of a console report: the exit code, and what it stands for in this very run.

Guarantees: pure. What is said follows the report and not the code alone: a code that an option made
better says so and what it would be without, and "corrupt" is said where something is.

Example:
    >>> from provenance.audit_report import AuditReport
    >>> closing_words(AuditReport(), ExitCode.NOTHING_VERIFIED)
    'Exit code 3. Nothing was verified: there was nothing to verify.'
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from provenance.audit import find_explanation, is_of_transcripts
from provenance.audit_report import AuditReport
from provenance.findings import Severity

from .console_faults import weights
from .exit_codes import ExitCode
from .streams import one_line
from .verdict import code_of, faults_of_findings, verdict_of

__all__ = ["Asked", "closing_words"]

_CORRUPT = "Corrupt: some evidence is not what was cited."
_ALL_AVAILABLE = "Every source that was checked is available."
_ALL_WAIVED = "Every source that was checked is available, or covered by a waiver."
_FAULTS_WAIVED = "Every fault that was found is covered by a waiver."
_ALL_SOUND = "Every transcript that was checked is sound."
# Errors that count as corrupt, although no evidence is: each with what it is.
_NOT_CORRUPT = {
    "evidence_too_weak": "some evidence proves less than --min-strength asks for",
    "state_unreadable": "a state cannot be read, so nobody knows what it rests on",
    "state_history_broken": "the history of a state is not whole",
    "lock_unreadable": "a home's lock file cannot be read, so nobody knows what was pinned",
    "receipt_unreadable": "a receipt cannot be read, so nobody knows where texts went",
    "config_invalid": "a home's own ctxaudit.toml is not understood",
    "waiver_expired": "a waiver is over, so that nobody answers for what it covered",
    "reference_corrupt": "what a record says exists elsewhere is not as it says",
}
# What begins like this was found by holding a home against its seals.
_OF_SEALS = ("seal_", "sealed_", "seals_", "not_sealed")
# What the states of sources do not say where records refer to what is not there.
_REFERENCE = {
    ExitCode.MISSING: (
        "reference_missing",
        "Missing: something that a record says exists elsewhere is not there.",
    ),
    ExitCode.DENIED: (
        "reference_denied",
        "Denied: something that a record says exists elsewhere may not be read here.",
    ),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What of the command line the console report speaks of.

    Attributes:
        softened_by: the options as given with which a fault may not count for the exit code.
        check_all: whether what nothing cites was checked, too.
        command: what the operator called.
    """

    softened_by: tuple[str, ...] = ()
    check_all: bool = False
    command: str = "ctxaudit verify"


def closing_words(report: AuditReport, code: ExitCode, asked: Asked | None = None) -> str:
    """Say what a run ended with.

    Args:
        report: what was found.
        code: the exit code of the run.
        asked: None where nothing was asked for that could change it.
    """
    options = () if asked is None else asked.softened_by
    strict = verdict_of(report)
    if not options or strict is code:
        return f"Exit code {code.value}. {_sentence(report, code)}"
    given = f"{' and '.join(options)} {'was' if len(options) == 1 else 'were'} given"
    without = f"without {'it' if len(options) == 1 else 'them'} {strict.value}"
    if code is ExitCode.OK:
        return f"Exit code 0, since {given}; {without}. {_sentence(report, strict)}"
    return (
        f"Exit code {code.value}, since {given}; {without}. "
        f"{_sentence(report, code)} {_sentence(report, strict)}"
    )


def _sentence(report: AuditReport, code: ExitCode) -> str:
    if code is ExitCode.OK:
        return _ok(report)
    if code is ExitCode.CORRUPT:
        return _corrupt(report)
    if code in _REFERENCE and not _is_any_source(report, code):
        name, sentence = _REFERENCE[code]
        if {found for found, weight in faults_of_findings(report) if weight is code} == {name}:
            return sentence
    page = find_explanation(str(code.value))
    return "" if page is None else page.meaning


def _ok(report: AuditReport) -> str:
    waived = any(source.waiver is not None for source in report.sources)
    said = [_ALL_WAIVED if waived else _ALL_AVAILABLE] if report.sources else []
    if any(one.waiver is not None and one.severity is Severity.ERROR for one in report.findings):
        said.append(_FAULTS_WAIVED)
    elif report.transcripts:
        said.append(_sound(report))
    return " ".join(said) or _ALL_SOUND


def _sound(report: AuditReport) -> str:
    """Say that nothing is an error, and what a reader might take for one."""
    sentence = _ALL_SOUND
    warnings = sum(one.count for one in weights(report) if one.severity == "warning")
    if warnings:
        sentence = f"{sentence[:-1]}, with {warnings:,} warning{'s' if warnings > 1 else ''}."
    counts = report.reference_counts
    absent = counts.get("missing", 0)
    if absent:
        sentence += (
            f" {absent:,} of {sum(counts.values()):,} references in them lead to what is not "
            "there, as is normal for such a transcript."
        )
    return sentence


def _is_any_source(report: AuditReport, code: ExitCode) -> bool:
    return any(code_of(source.resolution) is code for source in report.sources)


def _corrupt(report: AuditReport) -> str:
    if _is_any_source(report, ExitCode.CORRUPT):
        return _CORRUPT
    codes = sorted(
        {found for found, code in faults_of_findings(report) if code is ExitCode.CORRUPT}
    )
    whole = _of_transcripts(report, codes)
    found = [
        _words_of(code) for code in codes if not code.startswith(_OF_SEALS) and code not in whole
    ]
    if any(code.startswith(_OF_SEALS) for code in codes):
        found.append("the home or its log is not what was sealed")
    if not whole.isdisjoint(codes):
        found.insert(0, "a transcript that was checked whole has a fault")
    return f"Counts as corrupt: {'; '.join(found)}."


def _words_of(code: str) -> str:
    """Say what a finding is, in the words of this page or of its own (`ctxaudit explain`)."""
    if code in _NOT_CORRUPT:
        return _NOT_CORRUPT[code]
    page = find_explanation(code)
    if page is None:
        return f"there is the finding {one_line(code)}"
    words = page.meaning.rstrip(".")
    is_word = words[:2].istitle() and not words[1:2].isspace()
    return f"{words[:1].lower() if is_word or words[:2] == 'A ' else words[:1]}{words[1:]}"


def _of_transcripts(report: AuditReport, codes: Iterable[str]) -> frozenset[str]:
    """Give the codes of what was found in transcripts that were checked whole."""
    listed = {code for one in report.transcripts for code in one.findings}
    return frozenset(
        code
        for code in codes
        if code not in _NOT_CORRUPT and (code in listed or is_of_transcripts(code))
    )
