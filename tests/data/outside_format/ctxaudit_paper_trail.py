"""Paper trails: one line of text a record, a letter for its kind before it.

    paper-trail 1
    U Name the files.
    C call-1 ls
    R call-1 README.md
    A There is one.

Guarantees: as the protocol of ctxaudit says: the file is read through the handle that is given, in
bounded memory, and nothing that it holds raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from provenance.findings import Severity
from provenance.transcripts.records import Call, CallResult, Fault, Record, Reference, Speaker
from provenance.transcripts.sources import Head, Source

_FIRST = b"paper-trail 1"
_SPEAKERS = {"U": Speaker.USER, "A": Speaker.ASSISTANT, "C": Speaker.ASSISTANT, "R": Speaker.USER}


class PaperTrail:
    """The format `paper-trail`."""

    name = "paper-trail"
    suffixes = (".trail", ".jsonl")
    has_separate_sessions = False

    def identify(self, head: Head) -> bool:
        """Say whether the first line is the one that all of them begin with."""
        return head.data.partition(b"\n")[0] == _FIRST

    def records(self, source: Source) -> Iterator[Record | Fault]:
        """Give a record for each line after the first."""
        ordinal = 0
        for line, (offset, raw) in enumerate(_lines(source), 1):
            if line == 1:
                continue
            if len(raw) > source.limits.max_foreign_record_bytes:
                yield Fault("record_over_limit", Severity.ERROR, "record: too long", line=line)
                continue
            kind, _, rest = raw.decode("utf-8", "replace").partition(" ")
            ordinal += 1
            name, _, text = rest.partition(" ")
            record = Record(
                ordinal=ordinal,
                kind=kind,
                raw=raw,
                value=text if kind in ("C", "R") else rest,
                line=line,
                offset=offset,
                session=source.stem,
                speaker=_SPEAKERS.get(kind),
                is_known=kind in _SPEAKERS,
                say=str,
            )
            if kind == "C" and name:
                record.calls = (Call(name, text or None),)
            elif kind == "R" and name:
                record.results = (CallResult(name),)
            yield record

    def references(self, record: Record) -> Iterable[Reference]:
        """Give nothing: a paper trail names no files."""
        return ()

    def sessions(self, source: Source) -> Iterable[str]:
        """Give the session that the file is named after."""
        return (source.stem,)


def _lines(source: Source) -> Iterator[tuple[int, bytes]]:
    """Give each line with its place; one that is far too long is cut."""
    begun, start = b"", 0
    for chunk in source.chunks():
        begun += chunk
        while (end := begun.find(b"\n")) >= 0:
            yield start, begun[:end]
            begun, start = begun[end + 1 :], start + end + 1
    if begun:
        yield start, begun
