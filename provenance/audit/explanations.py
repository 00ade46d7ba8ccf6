"""What each code means, how it arises and what to do about it (`ctxaudit explain CODE`).

Guarantees: pure. Every reason, finding code, state, strength, exit code and word of a report or
option has a page; tests compare the pages with the code that gives them.

Example:
    >>> find_explanation("artifact_missing").family
    'reason'
    >>> similar_codes("artefact_missing")[0]
    'artifact_missing'
"""

from __future__ import annotations

from difflib import get_close_matches

from provenance.audit._compaction_pages import COMPACTION_PAGES
from provenance.audit._consequence_pages import CONSEQUENCE_PAGES
from provenance.audit._doctor_pages import DOCTOR_PAGES
from provenance.audit._exit_pages import EXIT_PAGES
from provenance.audit._finding_pages import FINDING_PAGES
from provenance.audit._lock_pages import LOCK_PAGES
from provenance.audit._page import Explanation
from provenance.audit._policy_pages import POLICY_FINDING_PAGES, POLICY_PAGES, WAIVER_PAGES
from provenance.audit._reason_pages import REASON_PAGES
from provenance.audit._seal_pages import SEAL_PAGES
from provenance.audit._shell_pages import SHELL_PAGES
from provenance.audit._state_pages import STATE_PAGES, STRENGTH_PAGES
from provenance.audit._state_version_pages import STATE_VERSION_PAGES
from provenance.audit._transcript_pages import TRANSCRIPT_PAGES
from provenance.audit._word_pages import WORD_PAGES
from provenance.audit.whole_words import STRICT_REASONS

__all__ = [
    "Explanation",
    "all_explanations",
    "find_explanation",
    "is_finding_of_audits",
    "is_of_transcripts",
    "similar_codes",
]

_FAMILIES = {
    "state": STATE_PAGES,
    "reason": REASON_PAGES,
    "strength": STRENGTH_PAGES,
    "finding": (
        FINDING_PAGES
        | WAIVER_PAGES
        | POLICY_FINDING_PAGES
        | STATE_VERSION_PAGES
        | TRANSCRIPT_PAGES
        | LOCK_PAGES
        | SEAL_PAGES
        | DOCTOR_PAGES
    ),
    "exit code": EXIT_PAGES,
    **WORD_PAGES,
    **COMPACTION_PAGES,
    **POLICY_PAGES,
    **{family: WORD_PAGES.get(family, {}) | pages for family, pages in CONSEQUENCE_PAGES.items()},
    **SHELL_PAGES,
}
# Words of commands that take no waivers: what they find is no finding of an audit.
_OF_OTHER_COMMANDS = frozenset(DOCTOR_PAGES) | {
    "attestation_invalid",
    "attestation_key_unknown",
    "attestation_report_mismatch",
    "attestation_signature_invalid",
    "nothing_to_seal",
    "proof_evidence_mismatch",
    "proof_invalid",
    "seal_contended",
    "seal_name_taken",
    "seal_refused",
}
_PAGES = {
    code: Explanation(family, code, *page)
    for family, pages in _FAMILIES.items()
    for code, page in pages.items()
}
_LONGEST_CODE = 100


def all_explanations() -> tuple[Explanation, ...]:
    """Give every page, by family and then in the order of the specification."""
    return tuple(_PAGES.values())


def find_explanation(code: str) -> Explanation | None:
    """Give the page of a code, or None where there is none."""
    return _PAGES.get(code)


def is_of_transcripts(code: str) -> bool:
    """Say whether a finding of this code is only made in a transcript that is checked whole."""
    return code in TRANSCRIPT_PAGES or (code in REASON_PAGES and code.startswith("transcript_"))


def is_finding_of_audits(code: str) -> bool:
    """Say whether an audit makes findings of this code; a format from outside has its own.

    A reason is the code of a finding where a transcript is checked whole, and else none.
    """
    return (
        code in _FAMILIES["finding"] and code not in _OF_OTHER_COMMANDS
    ) or code in STRICT_REASONS


def similar_codes(text: str) -> tuple[str, ...]:
    """Give the codes that somebody who typed `text` may have meant, the likeliest first."""
    return tuple(get_close_matches(text[:_LONGEST_CODE], _PAGES, n=3, cutoff=0.6))
