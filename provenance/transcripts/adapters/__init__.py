"""The formats of transcripts that are read in place, one module each behind one protocol."""

from provenance.transcripts.adapters.protocol import FORMAT_GROUP, TranscriptFormat

__all__ = ["FORMAT_GROUP", "TranscriptFormat"]
