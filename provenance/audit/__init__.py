"""What is to be checked, checking it, and saying what every code means.

Example:
    >>> AuditRequest(targets=("home",)).check_all
    False
"""

from provenance.audit.explanations import (
    Explanation,
    all_explanations,
    find_explanation,
    is_of_transcripts,
    similar_codes,
)
from provenance.audit.request import STDIN, AuditRequest, TargetError
from provenance.audit.run import Listener, run_audit

__all__ = [
    "STDIN",
    "AuditRequest",
    "Explanation",
    "Listener",
    "TargetError",
    "all_explanations",
    "find_explanation",
    "is_of_transcripts",
    "run_audit",
    "similar_codes",
]
