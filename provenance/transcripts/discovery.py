"""Looking through a tree for transcripts: which files and folders may be some, and what they are.

Guarantees: everything is opened from the trusted root, component by component; links are never
followed. A tree of any size is walked with one folder's list in memory; a name alone decides only
what is looked into. The format is told from the very handle that is read afterwards.

Example:
    >>> from provenance.fs.root import TrustedRoot
    >>> list(find_candidates(TrustedRoot("/nowhere")))
    []
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from provenance.fs.directory import Directory, Entry
from provenance.fs.drafts import is_temporary_name
from provenance.fs.failures import FILE_FAILURES, FileFailure, SourceAbsent
from provenance.fs.root import TrustedRoot
from provenance.limits import Limits
from provenance.transcripts.adapters.protocol import TranscriptFormat
from provenance.transcripts.content_hash import CONTENT_HASH_FILE
from provenance.transcripts.formats import NATIVE, find_format, format_named, is_candidate
from provenance.transcripts.sources import Head, Source, read_head

__all__ = ["Candidate", "Opened", "find_candidates", "has_content_hash", "open_candidate"]

# Deeper trees are no agent's; each level costs a handle.
_MOST_LEVELS = 64
# Outputs that were put aside; what looks like a transcript there is a tool's result.
_OUTPUTS = "tool-results"
# The ledger of such a folder lies beside it.
_LEDGER = "tool-results.jsonl"
# What a transcript is called where a digest of it is kept beside it.
_USUAL_NAMES = ("full.jsonl", "transcript.jsonl")


# An object of JSON, or the marks of Zstandard, SQLite and zip.
_begins_as_one = re.compile(
    rb"(?:\xef\xbb\xbf)?[ \t\r\n]*\{|\x28\xb5\x2f\xfd|SQLite format 3\0|PK\x03\x04"
).match
_SNIFFED_BYTES = 64


class Candidate(NamedTuple):
    """What may hold transcripts.

    Attributes:
        names: its components below the root; empty for the root itself.
        is_folder: a folder of files that make one source.
        is_link: a link stands where a transcript may have been; it is not followed.
        has_hash: a `content_hash.txt` in its folder speaks of it; None: it may, or of another one.
    """

    names: tuple[str, ...]
    is_folder: bool = False
    is_link: bool = False
    has_hash: bool | None = False


class Opened(NamedTuple):
    """A candidate that was opened and told.

    Attributes:
        format: what it is of; None: no format knows it.
        source: open until the context ends.
        is_damaged: no record was found where its format is told, so that it may be damaged.
    """

    format: TranscriptFormat | None
    source: Source
    is_damaged: bool


def find_candidates(
    root: TrustedRoot,
    *,
    on_failure: Callable[[tuple[str, ...], FileFailure], None] | None = None,
    on_passed_over: Callable[[tuple[str, ...], str], None] | None = None,
    on_folder: Callable[[tuple[str, ...], Sequence[Entry]], None] | None = None,
) -> Iterator[Candidate]:
    """Walk a tree, folders in the order of their names, and give what may hold transcripts.

    Args:
        root: where to begin.
        on_failure: hears of folders that cannot be listed.
        on_passed_over: hears of what was not looked into, and why: the code of the finding.
        on_folder: hears of each folder that was listed, and what is in it.
    """
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        names = waiting.pop()
        try:
            with root.open_directory(*names) as directory:
                entries = directory.entries()
                sniffed = {entry.name for entry in entries if _may_be_one(directory, entry)}
        except SourceAbsent:
            continue  # it went meanwhile
        except FILE_FAILURES as failure:
            if on_failure is not None:
                on_failure(names, failure)
            continue
        if on_folder is not None:
            on_folder(names, entries)
        name = names[-1] if names else ""
        if find_format(Head(name, names=[entry.name for entry in entries])) is not None:
            yield Candidate(names, is_folder=True)
            continue
        yield from _files(names, entries, sniffed)
        folders = [
            (*names, entry.name)
            for entry in reversed(entries)
            if entry.kind == "directory" and entry.name != _OUTPUTS
        ]
        if len(names) < _MOST_LEVELS:
            waiting += folders
        elif folders and on_passed_over is not None:
            on_passed_over(names, "folder_too_deep")
        links = [entry.name for entry in entries if entry.kind == "link"]
        for link in links:
            if on_passed_over is not None and not is_candidate(link):
                on_passed_over((*names, link), "link_not_followed")


def _may_be_one(directory: Directory, entry: Entry) -> bool:
    """Say whether a file of any other name begins as transcripts and their containers do."""
    if entry.kind != "file" or is_candidate(entry.name) or is_temporary_name(entry.name):
        return False
    try:
        with directory.open_file(entry.name) as file:
            return _begins_as_one(file.read_at(0, _SNIFFED_BYTES)) is not None
    except FILE_FAILURES:
        return False  # its name is none that transcripts have


def _files(
    names: tuple[str, ...], entries: Sequence[Entry], sniffed: Collection[str]
) -> Iterator[Candidate]:
    has_outputs = any(entry.name == _OUTPUTS for entry in entries)
    files = [
        entry
        for entry in entries
        if (entry.kind != "directory" or entry.name.endswith(".jsonl"))
        and (is_candidate(entry.name) or entry.name in sniffed)
        and not (has_outputs and entry.name == _LEDGER)
    ]
    has_hash = any(entry.name == CONTENT_HASH_FILE for entry in entries)
    spoken_of = _hashed_name([entry.name for entry in files]) if has_hash else None
    for number, entry in enumerate(files):
        is_unclear = has_hash and spoken_of is None and number == 0
        yield Candidate(
            (*names, entry.name),
            is_link=entry.kind == "link",
            has_hash=None if is_unclear else entry.name == spoken_of,
        )


def _hashed_name(names: Sequence[str]) -> str | None:
    """Give the file that a content hash beside it speaks of; None where that is not clear."""
    for usual in _USUAL_NAMES:
        if usual in names:
            return usual
    logs = [name for name in names if name.endswith(".jsonl")] or names
    return logs[0] if len(logs) == 1 else None


def has_content_hash(root: TrustedRoot) -> bool:
    """Say whether a digest lies in a folder, for the one transcript in it that was named."""
    try:
        with root.open_directory() as directory:
            return directory.identity(CONTENT_HASH_FILE) is not None
    except FILE_FAILURES:
        return False


@contextlib.contextmanager
def open_candidate(
    root: TrustedRoot,
    candidate: Candidate,
    *,
    limits: Limits,
    as_format: str | None = None,
) -> Iterator[Opened]:
    """Open a candidate and tell its format.

    Args:
        root: the tree's root.
        candidate: which one.
        limits: bounds on what is read.
        as_format: take it for this format; None: tell by its content.

    Raises:
        SourceAbsent, BoundaryRefused, AccessRefused, NotARegularFile, ReadFailed: the answer.
        SourceUnreadable: it is compressed, and what unpacks it is not installed.
        FormatError: no format has this name.
    """
    names = candidate.names
    with contextlib.ExitStack() as stack:
        if candidate.is_folder:
            directory = stack.enter_context(root.open_directory(*names))
            yield _opened_folder(names, directory, limits, as_format, root)
            return
        directory = stack.enter_context(root.open_directory(*names[:-1]))
        file = stack.enter_context(directory.open_file(names[-1]))
        source = Source(names[-1], directory, file, limits, names[:-1], root.path.name)
        head = read_head(file, names[-1])
        if as_format is not None:
            yield Opened(format_named(as_format), source, is_damaged=False)
            return
        found = find_format(head)
        # A file of lines none of which is a record near its start: damaged, or no transcript.
        is_damaged = found is None and names[-1].endswith(".jsonl") and not head.objects
        if is_damaged:
            found = format_named(NATIVE)
        yield Opened(found, source, is_damaged)


def _opened_folder(
    names: tuple[str, ...],
    directory: Directory,
    limits: Limits,
    as_format: str | None,
    root: TrustedRoot,
) -> Opened:
    name = names[-1] if names else ""
    source = Source(name, directory, None, limits, names[:-1], root.path.name, root.place)
    if as_format is not None:
        return Opened(format_named(as_format), source, is_damaged=False)
    listed = [entry.name for entry in directory.entries()]
    return Opened(find_format(Head(name, names=listed)), source, is_damaged=False)
