"""Retention: removing what nothing cites, and leaving a line that says so.

Example:
    >>> GcOrder().delete
    False
"""

from provenance.retention.collecting import collect_garbage
from provenance.retention.values import DEFAULT_GRACE, CiterKind, GcOrder, GcReport

__all__ = ["DEFAULT_GRACE", "CiterKind", "GcOrder", "GcReport", "collect_garbage"]
