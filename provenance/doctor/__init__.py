"""What is unsafe about roots and machine, what it costs in assurance, and what to do.

Example:
    >>> Note.__name__
    'Note'
"""

from provenance.doctor.examining import examine
from provenance.doctor.values import DoctorReport, Note, Root

__all__ = ["DoctorReport", "Note", "Root", "examine"]
