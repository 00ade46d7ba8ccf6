r"""Writing a sound copy of a damaged transcript, with a list of what was changed.

Guarantees: the original is only read. What is written are two new files (0600), each whole or not
there at all, and never over one that exists: the copy, and beside it, with `.changes` at the end of
its name, the list of changes with the bytes that were set aside. Each byte of the original is in
exactly one of the two, and a digest taken over both in the original's order is held against that of
the original before anything gets its name. The bytes of a record never change; sequence numbers
do not either. Memory is bounded by the longest allowed record.

Example:
    >>> repair_transcript("/nowhere/a.jsonl", "/nowhere/b.jsonl")
    Traceback (most recent call last):
    provenance.fs.failures.SourceAbsent: source: expected a file, got nothing of that name
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from provenance.errors import DataError
from provenance.fs.directory import Directory, check_component
from provenance.fs.drafts import Draft
from provenance.fs.failures import FILE_FAILURES, NameTaken
from provenance.fs.reading import OpenFile
from provenance.fs.root import TrustedRoot
from provenance.fs.whole import SourceChanged
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.transcripts._repair_files import Change, RepairFiles
from provenance.transcripts._repair_walk import NotLines, RepairWalk
from provenance.transcripts.adapters.protocol import TranscriptFormat
from provenance.transcripts.containers.compressed import is_compressed
from provenance.transcripts.discovery import Candidate, open_candidate
from provenance.transcripts.formats import NATIVE
from provenance.transcripts.lines import Line, read_json_lines
from provenance.transcripts.records import Fault, Record
from provenance.transcripts.scan import hash_prefix
from provenance.transcripts.sources import Source, SourceUnreadable

__all__ = ["CHANGES_ENDING", "Change", "Repair", "RepairRefused", "repair_transcript"]

# Not one that transcripts have: a tree that is checked later must not take the list for one.
CHANGES_ENDING = ".changes"
_LINE_ENDING = ".jsonl"
_MAGIC_BYTES = 4


class RepairRefused(DataError):
    """There is nothing here that can be repaired line by line; nothing was written."""

    code = "repair_refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """What a repair found and did.

    Attributes:
        format: the name of the transcript's format.
        source_bytes: of the original.
        source_sha256: of the original, 64 hex digits.
        records: the whole records that were kept.
        lines: of the new file.
        aside_bytes: so many bytes of the original are in the list of changes.
        added_bytes: so many line ends were put in.
        counts: the number of changes by kind, exact.
        changes: the first thousand changes, in the original's order; all are in the list.
        sha256: of the new file, 64 hex digits; None where there was nothing to change.
        changes_sha256: of the list of changes; the same.
        first_misnumbered: in a native transcript, the first line of the new file whose sequence
            number is not its place: pointers to it and to what follows stay corrupt.
    """

    format: str
    source_bytes: int
    source_sha256: str
    records: int
    lines: int
    aside_bytes: int = 0
    added_bytes: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    sha256: str | None = None
    changes_sha256: str | None = None
    first_misnumbered: int | None = None

    @property
    def is_written(self) -> bool:
        """Whether there was anything to change, so that two files were written."""
        return self.sha256 is not None


def repair_transcript(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    as_format: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Repair:
    """Write a copy of a transcript of lines in which each line is a whole record.

    Welded records get lines of their own; a record that lacks its line end gets it; torn, spliced,
    NUL-filled, blank and other lines that are none are set aside, and what stands whole on such a
    line is kept where the format recognises it. A record over our limits is kept as it is. Where
    there is nothing to change, nothing is written.

    Args:
        path: the transcript, as the operator named it.
        output: the new file, as the operator named it; its folder has to exist.
        as_format: take the transcript for this format; None: tell by its content.
        limits: bounds on a record; those of other agents' transcripts, for native ones too.

    Raises:
        RepairRefused: it is no file of lines, of no known format, or holds no whole record.
        NameTaken: a file of one of the two new names exists.
        SourceChanged: the original changed while it was read; nothing was left behind.
        WriteFailed: the disk refused.
        SourceAbsent, BoundaryRefused, AccessRefused, NotARegularFile, ReadFailed: no access.
        FormatError: no format has this name.
        UnsafeComponent: a name is none of a file.
    """
    old, new = PurePath(path), PurePath(output)
    check_component(old.name)
    names = check_component(new.name), check_component(new.name + CHANGES_ENDING)
    with ExitStack() as stack:
        root = stack.enter_context(TrustedRoot(old.parent))
        try:
            opened = stack.enter_context(
                open_candidate(root, Candidate((old.name,)), limits=limits, as_format=as_format)
            )
        except SourceUnreadable as error:
            raise RepairRefused(str(error)) from None
        folder = stack.enter_context(stack.enter_context(TrustedRoot(new.parent)).open_directory())
        if opened.format is None:
            raise RepairRefused("file: expected a transcript of a known format, got another file")
        if folder.identity(names[0]) is not None:
            raise NameTaken("output: expected a free name, got one in use")
        return _repair(opened.source, opened.format, folder, names)


def _repair(
    source: Source, transcript_format: TranscriptFormat, folder: Directory, names: tuple[str, str]
) -> Repair:
    # 1. Lines, and nothing else.
    file = _require_lines(source, transcript_format)
    with RepairFiles(file, folder) as files:
        walk = RepairWalk(file, files)
        # 2. One pass: what the format's own reader finds is kept, all else is set aside.
        misnumbered = _Numbering() if transcript_format.name == NATIVE else None
        try:
            for item in _items(source, transcript_format):
                if isinstance(item, Fault):
                    walk.fault(item)
                elif walk.keep(item) and misnumbered is not None:
                    misnumbered.take(item.value, files.lines + 1)
            walk.finish()
        except SourceUnreadable as error:
            raise RepairRefused(str(error)) from None
        except NotLines as error:
            _require_unchanged(file)
            raise RepairRefused(str(error)) from None
        # 3. It was one and the same file all the time, and all of it is in the two new ones.
        digest = source.pass_sha256 or hash_prefix(file, file.size)
        _require_unchanged(file)
        if digest is None or files.differ_from(digest):
            raise SourceChanged("file: expected the same bytes at a second reading, got others")
        if files.is_changed and not walk.records and not walk.unread:
            raise RepairRefused("file: expected at least one whole record, got none")
        # 4. Both get their names; the list first, so that no copy is without it.
        if files.is_changed:
            files.close_list(digest.hex())
            files.changes.sync()
            files.copy.sync()
            _publish(files.changes, folder, names[1], files.changes_sha256)
            _publish(files.copy, folder, names[0], files.sha256)
            folder.sync()
        return Repair(
            format=transcript_format.name,
            source_bytes=file.size,
            source_sha256=digest.hex(),
            records=walk.records,
            lines=files.lines,
            aside_bytes=files.aside_bytes,
            added_bytes=files.added_bytes,
            counts=dict(files.counts),
            changes=tuple(files.listed),
            sha256=files.sha256 if files.is_changed else None,
            changes_sha256=files.changes_sha256 if files.is_changed else None,
            first_misnumbered=None if misnumbered is None else misnumbered.first,
        )


def _require_lines(source: Source, transcript_format: TranscriptFormat) -> OpenFile:
    file = source.file
    if file is None:
        raise RepairRefused("source: expected one file of lines, got a folder")
    is_of_lines = any(ending.endswith(_LINE_ENDING) for ending in transcript_format.suffixes)
    if not is_of_lines or transcript_format.has_separate_sessions:
        raise RepairRefused(
            f"file: expected a transcript of lines, got {transcript_format.name}, which has none"
        )
    if is_compressed(file.read_at(0, _MAGIC_BYTES)):
        raise RepairRefused("file: expected a transcript of lines, got a compressed one")
    return file


def _require_unchanged(file: OpenFile) -> None:
    if not file.is_unchanged():
        raise SourceChanged("file: expected no change while it was read, got one")


def _items(source: Source, transcript_format: TranscriptFormat) -> Iterator[Line | Record | Fault]:
    if transcript_format.name != NATIVE:
        yield from transcript_format.records(source)
        return
    # The strict rules count lines, so a check keeps no event of a damaged one; a repair does.
    yield from read_json_lines(source.chunks(), limits=source.limits, is_record=_is_event)


def _is_event(value: dict[str, Any]) -> bool:
    event_id = value.get("event_id")
    if isinstance(event_id, str):
        return event_id.startswith("transcript:")
    return isinstance(value.get("sequence"), int) and isinstance(value.get("session_id"), str)


class _Numbering:
    """Finds the first event whose number is not that of its line."""

    def __init__(self) -> None:
        self.first: int | None = None

    def take(self, value: Mapping[str, Any], line: int) -> None:
        sequence = value.get("sequence")
        if self.first is None and type(sequence) is int and sequence != line:
            self.first = line


def _publish(draft: Draft, folder: Directory, name: str, sha256: str) -> None:
    """Give a draft its name; an equal file that an earlier run left when it died counts."""
    try:
        draft.link_as(name)
    except NameTaken:
        try:
            with folder.open_file(name) as file:
                found = hash_prefix(file, file.size)
        except FILE_FAILURES:
            found = None
        if found is None or found.hex() != sha256:
            raise NameTaken("output: expected two free names, got one in use") from None
