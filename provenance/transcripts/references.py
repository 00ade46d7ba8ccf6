"""What records say exists elsewhere, each resolved to one of the five states.

Guarantees: a path in a record is of the machine that wrote it, and hostile: it is never opened as
it stands. Where its components run through the transcript's own place, the rest is opened below the
trusted root, one component after the other, no link followed; a path that climbs, or leads nowhere
near, is refused unopened. References are kept in bounded number; those beyond are counted.

Example:
    >>> place_below(("-p",), "s1", "/home/u/.claude/projects/-p/s1/tool-results/a.txt")
    ('-p', 's1', 'tool-results', 'a.txt')
    >>> place_below(("-p",), "s1", "/etc/passwd") is None
    True
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from provenance.findings import Severity
from provenance.fs.directory import UnsafeComponent, check_component
from provenance.fs.failures import FILE_FAILURES
from provenance.fs.reading import OpenFile
from provenance.fs.reasons import reason_of
from provenance.fs.root import TrustedRoot
from provenance.resolution import (
    INCONCLUSIVE_REASONS,
    REASON_STATUS,
    Reason,
    SourceResolutionStatus,
)
from provenance.transcripts.records import OutputFile, Record, Reference

__all__ = ["ReferenceBook", "ResolvedReference", "place_below"]

_AVAILABLE = SourceResolutionStatus.AVAILABLE
_MISSING = SourceResolutionStatus.MISSING
_DENIED = SourceResolutionStatus.DENIED
_CORRUPT = SourceResolutionStatus.CORRUPT
_UNSUPPORTED = SourceResolutionStatus.UNSUPPORTED

_MOST_WAITING = 100_000
_MOST_LISTED = 1_000
_BLOCK_BYTES = 256 << 10
# A file whose length disagrees is decoded to count its characters; a longer one is not.
_MOST_DECODED = 64 << 20
_REDACTION = "REDACTED"
_OUTPUTS = "tool-results"
_is_drive = re.compile(r"[A-Za-z]:[\\/]").match
_is_file_problem = (*FILE_FAILURES, UnsafeComponent)


class ResolvedReference(NamedTuple):
    """One reference and its state.

    Attributes:
        kind: which sort of reference, in the format's own words.
        status: one of the five states.
        message: one line: what was looked for and what is there; no text of the transcript.
        ordinal: of the record that refers.
        line: of that record.
        native_id: of that record.
        session: of that record.
        member: of that record.
        is_conclusive: False where the check could not come to an end.
        is_normal: its absence is usual in this format, so that nothing is said of it.
        is_slice: it may stand in the part of the log that is not in this file: information.
    """

    kind: str
    status: SourceResolutionStatus
    message: str
    ordinal: int
    line: int | None = None
    native_id: str | None = None
    session: str | None = None
    member: str | None = None
    is_conclusive: bool = True
    is_normal: bool = False
    is_slice: bool = False

    @property
    def code(self) -> str:
        """The code of the finding about it, `reference_<state>`; of no use where available."""
        return f"reference_{self.status}" if self.is_conclusive else "reference_not_checked"

    @property
    def is_fault(self) -> bool:
        """Whether it is a finding: it leads nowhere, and that is not normal."""
        return self.status is not _AVAILABLE and not self.is_normal

    @property
    def severity(self) -> Severity:
        """How much its state weighs."""
        if self.status in (_DENIED, _CORRUPT):
            return Severity.ERROR
        if self.status is _MISSING:
            return Severity.INFO if self.is_normal or self.is_slice else Severity.ERROR
        return Severity.INFO


class Known(Protocol):
    """What is known of a log once all its records were seen."""

    is_slice: bool

    def ordinal_of(self, native_id: str) -> int | None:
        """Give the place of a record."""

    def has_call(self, call_id: str) -> bool:
        """Say whether a tool call of this id was seen."""


class _Waiting(NamedTuple):
    reference: Reference
    place: ResolvedReference  # with its state still open


class ReferenceBook:
    """Takes the references of one source and resolves them."""

    def __init__(
        self,
        root: TrustedRoot | None,
        folder_names: Sequence[str],
        stem: str,
        *,
        root_name: str = "",
    ) -> None:
        """Take where the source lies.

        Args:
            root: below it files are looked for; None: nowhere.
            folder_names: the folders from the root down to the source.
            stem: what the source is called, and often its session.
            root_name: what the root is called, where it may stand in a path.
        """
        self.counts: Counter[str] = Counter()
        self.fault_counts: Counter[str] = Counter()
        self.listed: list[ResolvedReference] = []
        self.not_checked = 0
        self._root = root
        self._folder_names = tuple(folder_names)
        self._stem = stem
        self._root_name = root_name
        self._waiting: list[_Waiting] = []
        # What is normal must not keep out what is a fault.
        self._listed_by_weight: Counter[tuple[str, Severity]] = Counter()

    def add(self, reference: Reference, record: Record) -> None:
        """Take one reference of a record; what needs other records waits for `settle`."""
        place = ResolvedReference(
            reference.kind,
            _AVAILABLE,
            "",
            record.ordinal,
            record.line,
            record.native_id,
            record.session,
            record.member,
        )
        if reference.unsupported is not None:
            self._note(
                place._replace(
                    status=_UNSUPPORTED,
                    message=f"{reference.kind}: nothing here can look for it: "
                    f"{reference.unsupported}",
                )
            )
        elif reference.file is not None:
            place = place._replace(is_normal=reference.is_optional)
            self._note(self._look_for(reference.file, place))
        elif reference.members:
            self._note(_of_members(reference, place))
        elif len(self._waiting) >= _MOST_WAITING:
            self.not_checked += 1
        else:
            self._waiting.append(_Waiting(reference, place))

    def settle(self, known: Known, damaged: Collection[int] = ()) -> None:
        """Resolve what waited, once all records were seen.

        Args:
            known: what the records of the log were.
            damaged: ordinals before which something could not be read, if any.
        """
        for reference, place in self._waiting:
            self._note(_of_records(reference, place, known, damaged))
        self._waiting = []

    def _note(self, resolved: ResolvedReference) -> None:
        conclusive = resolved.is_conclusive
        self.counts[str(resolved.status) if conclusive else "inconclusive"] += 1
        if resolved.is_fault:
            self.fault_counts[resolved.code] += 1
        weight = resolved.code, resolved.severity
        self._listed_by_weight[weight] += 1
        if self._listed_by_weight[weight] <= _MOST_LISTED:
            self.listed.append(resolved)

    def _place_of(self, wanted: OutputFile, session: str) -> tuple[str, ...] | None:
        folders, path = self._folder_names, wanted.path
        if wanted.beside is not None and not path.startswith("/"):
            parts = tuple(part for part in path.split("/") if part)
            if wanted.beside not in folders or not all(map(_is_plain, parts)):
                return None
            return (*folders[: folders.index(wanted.beside)], *parts)
        if wanted.beside is not None and wanted.beside in folders:
            # The agent's folder is named in the path; it may be the root, which has no name here.
            above = folders[: folders.index(wanted.beside)]
            for anchor in (*above[-1:], self._root_name):
                head, found, rest = path.rpartition(f"/{anchor}/")
                parts = tuple(part for part in rest.split("/") if part)
                if found and anchor and head and all(map(_is_plain, parts)):
                    return (*above, *parts)
        return place_below(folders, session.partition(".agent-")[0], path, stem=self._stem)

    def _look_for(self, wanted: OutputFile, place: ResolvedReference) -> ResolvedReference:
        """Find a file below the root and compare it with what is said of it."""
        kind = place.kind
        # 1. A path that was blacked out leads nowhere.
        if _REDACTION in wanted.path:
            return place._replace(
                status=_MISSING, message=f"{kind}: expected a file, got a path that was redacted"
            )
        # 2. Where it would lie below the root; nothing is opened to find out.
        session = place.session or self._stem
        names = None if self._root is None else self._place_of(wanted, session)
        own = {session.partition(".agent-")[0], self._stem}
        if names is not None and _is_of_another_session(names, own):
            return place._replace(
                status=_DENIED,
                message=f"{kind}: expected an output of this session, got one of another's folder; "
                "it was not opened",
            )
        if names is None and place.is_normal and wanted.beside is not None:
            # Its folder lies outside what was named, as a rule; nobody says that it has to be here.
            return place._replace(
                status=_MISSING,
                message=f"{kind}: expected a file of the agent's own folder, which is not below "
                "the root; it was not looked for",
            )
        if names is None or self._root is None:
            return place._replace(
                status=_DENIED,
                message=f"{kind}: expected a path below the root, got one that leads out of it; "
                "it was not opened",
            )
        # 3. Opened from the root, component by component: no link, no mount.
        try:
            with self._root.open_file(*names) as file:
                return _compare(wanted, file, place)
        except UnsafeComponent:
            return place._replace(
                status=_DENIED, message=f"{kind}: expected a path of plain names, got another"
            )
        except FILE_FAILURES as failure:
            reason = reason_of(
                failure, not_a_file=Reason.ARTIFACT_NOT_A_FILE, absent=Reason.ARTIFACT_MISSING
            )
            return place._replace(
                status=REASON_STATUS[reason],
                message=f"{kind}: {failure}",
                is_conclusive=reason not in INCONCLUSIVE_REASONS,
            )


def _is_plain(part: str) -> bool:
    try:
        check_component(part)
    except UnsafeComponent:
        return False
    return True


def place_below(
    folder_names: Sequence[str], session: str, path: str, *, stem: str | None = None
) -> tuple[str, ...] | None:
    """Give where a path of another machine would lie below the root; None: nowhere, or it climbs.

    Args:
        folder_names: the folders from the root down to the transcript.
        session: the transcript's session; a folder of that name lies beside it.
        path: as it stands in the record.
        stem: what the transcript's file is called, if that is another name.
    """
    separator = r"[\\/]+" if _is_drive(path) else "/+"
    parts = [part for part in re.split(separator, path) if part]
    for part in parts:
        try:
            check_component(part)
        except UnsafeComponent:
            return None
    if not parts:
        return None
    # The deepest folder that both have in common, by its last place in the path.
    for depth in range(len(folder_names) - 1, -1, -1):
        for index in range(len(parts) - 1, -1, -1):
            if parts[index] == folder_names[depth] and index + 1 < len(parts):
                return (*folder_names[:depth], *parts[index:])
    for anchor in (session, stem):
        if anchor is not None and anchor in parts[:-1]:
            return (*folder_names, *parts[parts.index(anchor) :])
    return None


def _is_of_another_session(names: Sequence[str], own: Collection[str]) -> bool:
    """Say whether a path leads into the folder of outputs of a session that is not the own one."""
    if _OUTPUTS not in names:
        return False
    index = names.index(_OUTPUTS)
    return index > 0 and names[index - 1] not in own


def _compare(wanted: OutputFile, file: OpenFile, place: ResolvedReference) -> ResolvedReference:
    size, kind = file.size, place.kind
    if not _has_size(wanted, file):
        said = wanted.size if wanted.size is not None else "about " + _middle(wanted)
        return place._replace(status=_CORRUPT, message=f"{kind}: expected {said} bytes, got {size}")
    if wanted.head is not None and file.read_at(0, len(wanted.head)) != wanted.head:
        return place._replace(
            status=_CORRUPT,
            message=f"{kind}: expected the bytes that the record shows, got others",
        )
    if wanted.sha256 is not None and _sha256(file) != wanted.sha256.lower():
        return place._replace(
            status=_CORRUPT,
            message=f"{kind}: expected the digest that the record says, got another",
        )
    if not file.is_unchanged():
        return place._replace(
            status=_CORRUPT,
            message=f"{kind}: expected no change during the read, got one",
            is_conclusive=False,
        )
    return place._replace(message=f"{kind}: a file of {size} bytes, as announced")


def _has_size(wanted: OutputFile, file: OpenFile) -> bool:
    size = file.size
    if wanted.size is not None:
        low = high = wanted.size
    elif wanted.size_range is not None:
        low, high = wanted.size_range
    else:
        return True
    if low <= size <= high:
        return True
    # Some writers count characters (UTF-16 units) where they say bytes.
    if size < low or size > _MOST_DECODED or size > 3 * high:
        return False
    try:
        text = file.read_at(0, size).decode()
    except UnicodeDecodeError:
        return False
    units = len(text.encode("utf-16-le")) // 2
    return low <= units <= high


def _middle(wanted: OutputFile) -> str:
    low, high = wanted.size_range or (0, 0)
    return str((low + high) // 2)


def _sha256(file: OpenFile) -> str:
    digest = hashlib.sha256()
    offset = 0
    while piece := file.read_at(offset, _BLOCK_BYTES):
        digest.update(piece)
        offset += len(piece)
    return digest.hexdigest()


def _of_members(reference: Reference, place: ResolvedReference) -> ResolvedReference:
    present = sum(is_present for _, is_present in reference.members)
    return _of_parts(place, "part", present, len(reference.members), "")


def _of_records(
    reference: Reference, place: ResolvedReference, known: Known, damaged: Collection[int]
) -> ResolvedReference:
    """Say which of the records and calls that are named are there."""
    covers = _covers(reference, damaged)
    # What a slice left out, and what a format points to elsewhere, is no fault of the file.
    place = place._replace(is_normal=reference.is_optional, is_slice=known.is_slice)
    if reference.calls:
        present = sum(map(known.has_call, reference.calls))
        return _of_parts(place, "call", present, len(reference.calls), covers)
    if reference.records:
        present = sum(known.ordinal_of(one) is not None for one in reference.records)
        return _of_parts(place, "record", present, len(reference.records), covers)
    return place._replace(message=f"{reference.kind}: {covers or 'nothing is named'}")


def _of_parts(
    place: ResolvedReference, noun: str, present: int, wanted: int, covers: str
) -> ResolvedReference:
    then = f"; {covers}" if covers else ""
    noun = noun if wanted == 1 else f"{noun}s"
    every = "present" if wanted == 1 else "all present"
    if present == wanted:
        return place._replace(message=f"{place.kind}: {wanted} {noun}, {every}{then}")
    then = then.replace("stands for", "it would stand for", 1)
    return place._replace(
        status=_MISSING, message=f"{place.kind}: expected {wanted} {noun}, got {present}{then}"
    )


def _covers(reference: Reference, damaged: Collection[int]) -> str:
    if reference.covers is None:
        return ""
    first, last = reference.covers
    holes = sum(first <= ordinal <= last for ordinal in damaged)
    state = "all present" if not holes else f"with damage in {holes} places"
    return f"stands for records {first} to {last}, {state}"
