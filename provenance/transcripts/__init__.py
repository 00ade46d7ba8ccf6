"""Transcripts: verifying events of the one log of a session, and appending to it.

Example:
    >>> from provenance.fs import TrustedRoot
    >>> from provenance.limits import Limits
    >>> verdict = verify_events(
    ...     TrustedRoot("/nowhere"), "s1", [1], limits=Limits(), excerpt_chars=0
    ... )
    >>> verdict.outcomes[1].reason.value
    'transcript_missing'
"""

from provenance.transcripts.checking import TranscriptCheck, check_transcript
from provenance.transcripts.event import EventError, EventFieldError, EventTypeError
from provenance.transcripts.foreign import read_foreign_record
from provenance.transcripts.locate import is_native
from provenance.transcripts.reader import (
    EventOutcome,
    SequenceError,
    TranscriptVerdict,
    read_event_bytes,
    verify_events,
)
from provenance.transcripts.repair import Repair, RepairRefused, repair_transcript
from provenance.transcripts.steady import SessionIdError
from provenance.transcripts.tail import (
    DamagedTailError,
    TailAction,
    TailRepair,
    TornTailError,
    repair_tail,
)
from provenance.transcripts.writer import TranscriptEvent, TranscriptWriter, WriterClosedError

__all__ = [
    "DamagedTailError",
    "EventError",
    "EventFieldError",
    "EventOutcome",
    "EventTypeError",
    "Repair",
    "RepairRefused",
    "SequenceError",
    "SessionIdError",
    "TailAction",
    "TailRepair",
    "TornTailError",
    "TranscriptCheck",
    "TranscriptEvent",
    "TranscriptVerdict",
    "TranscriptWriter",
    "WriterClosedError",
    "check_transcript",
    "is_native",
    "read_event_bytes",
    "read_foreign_record",
    "repair_tail",
    "repair_transcript",
    "verify_events",
]
