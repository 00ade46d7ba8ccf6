"""Checking a source of any format from its first record to its last.

Guarantees: every fault has its code, its place and its weight; what is listed is bounded and what
is counted is exact. The answer is about bytes that did not change while they were read, or says
that they did.

Example:
    >>> from provenance.transcripts.adapters.native import Native
    >>> SourceCheck("native").records
    0
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from provenance.errors import CtxauditError
from provenance.findings import Severity
from provenance.fs.failures import FILE_FAILURES
from provenance.fs.reading import FileFacts
from provenance.fs.reasons import reason_of
from provenance.fs.root import TrustedRoot
from provenance.resolution import Reason
from provenance.transcripts.adapters.protocol import TranscriptFormat
from provenance.transcripts.faults import Tally
from provenance.transcripts.records import Fault, Record
from provenance.transcripts.references import ReferenceBook, ResolvedReference
from provenance.transcripts.scan import hash_prefix
from provenance.transcripts.sources import Source, SourceUnreadable

__all__ = ["HIDING", "FaultLog", "SourceCheck", "check_source", "guarded", "holds_still"]

# A report with more of one kind is not read to its end; the counts stay exact.
_MOST_LISTED = 1_000
_MOST_DAMAGED = 10_000
# Damage that hides records: a summary that stands for what comes before it stands for less.
HIDING = frozenset({"torn_line", "spliced_line", "nul_line", "invalid_line", "record_over_limit"})

_T = TypeVar("_T")


class FaultLog:
    """Keeps the first faults of each code and severity, and counts them all."""

    def __init__(self) -> None:
        """Begin with none."""
        self.listed: list[Fault] = []
        self.counts: Counter[str] = Counter()
        self._weights: Counter[tuple[str, Severity]] = Counter()

    def add(self, fault: Fault) -> None:
        """Take one fault."""
        self.counts[fault.code] += 1
        weight = fault.code, fault.severity
        self._weights[weight] += 1
        if self._weights[weight] <= _MOST_LISTED:
            self.listed.append(fault)

    def extend(self, faults: Iterable[Fault]) -> None:
        """Take several."""
        for fault in faults:
            self.add(fault)


@dataclass(slots=True)
class SourceCheck:
    """What one source holds.

    Attributes:
        format: the name of its format.
        sessions: in the format's own words.
        records: how many there are.
        calls: tool calls.
        call_results: results of tool calls.
        unknown_types: kinds that the adapter does not know, with their number.
        first_time: the time of the first record that has one.
        last_time: the time of the last one.
        sha256: of the whole file, 64 hex digits; None for a folder, and where it could not be read.
        faults: the first of each code.
        fault_counts: how often each code was met, exact.
        references: the first of each state.
        reference_counts: how many references have each state, or are `inconclusive`.
        reference_faults: how many of them are a finding, by its code.
    """

    format: str
    sessions: tuple[str, ...] = ()
    records: int = 0
    calls: int = 0
    call_results: int = 0
    unknown_types: Mapping[str, int] = field(default_factory=dict)
    first_time: str | None = None
    last_time: str | None = None
    sha256: str | None = None
    faults: list[Fault] = field(default_factory=list)
    fault_counts: Counter[str] = field(default_factory=Counter)
    references: list[ResolvedReference] = field(default_factory=list)
    reference_counts: Counter[str] = field(default_factory=Counter)
    reference_faults: Counter[str] = field(default_factory=Counter)

    def add(self, fault: Fault) -> None:
        """Take one fault more."""
        self.fault_counts[fault.code] += 1
        self.faults.append(fault)


def check_source(
    source: Source,
    transcript_format: TranscriptFormat,
    *,
    root: TrustedRoot | None,
    on_record: Callable[[Record], None] | None = None,
    wanted: Callable[[str], bool] | None = None,
) -> SourceCheck:
    """Check a whole source.

    Args:
        source: opened below the root.
        transcript_format: what it is of.
        root: where files that records name are looked for; None: they are refused.
        on_record: hears of each record; of those of a pass that did not hold, too.
        wanted: says of a session whether its records count; None: all do.
    """
    check, is_torn = _one_pass(source, transcript_format, root, on_record, wanted)
    for _ in range(source.limits.read_attempts):
        if _is_steady(source, check, is_torn=is_torn):
            return check
        if source.file is not None:
            source.file.refresh()
        check, is_torn = _one_pass(source, transcript_format, root, on_record, wanted)
    if _is_steady(source, check, is_torn=is_torn):
        return check
    if is_torn:
        # Somebody is writing that line at this moment.
        check.faults.remove(_last_torn(check))
        check.fault_counts -= Counter(torn_line=1)
    check.add(
        Fault(
            "source_changed_during_read",
            Severity.ERROR,
            "file: expected no change during the read, got one each time",
        )
    )
    return check


def _one_pass(
    source: Source,
    transcript_format: TranscriptFormat,
    root: TrustedRoot | None,
    on_record: Callable[[Record], None] | None,
    wanted: Callable[[str], bool] | None,
) -> tuple[SourceCheck, bool]:
    """Read a source once; also say whether its end is a line that was cut short."""
    source.forget_pass()
    log = FaultLog()
    tallies: dict[str | None, Tally] = {}
    book = ReferenceBook(root, source.folder_names, source.stem, root_name=source.root_name)
    damaged: list[int] = []
    separate = transcript_format.has_separate_sessions
    last = 0
    is_torn = False
    for item in guarded(transcript_format.records(source)):
        if wanted is not None and item.session is not None and not wanted(item.session):
            continue
        is_torn = isinstance(item, Fault) and item.code == "torn_line"
        if isinstance(item, Fault):
            log.add(item)
            if item.code in HIDING and len(damaged) < _MOST_DAMAGED:
                damaged.append(item.ordinal or last)
            continue
        key = item.session if separate else None
        tally = tallies.get(key)
        if tally is None:
            tally = tallies[key] = Tally()
        tally.add(item)
        last = item.ordinal
        for reference in transcript_format.references(item):
            book.add(reference, item)
        if on_record is not None:
            on_record(item)
    for tally in tallies.values():
        log.extend(tally.faults())
    if not separate:
        book.settle(tallies.get(None, Tally()), damaged)
    else:
        book.settle(_Joined(tallies.values()), damaged)
    check = SourceCheck(
        transcript_format.name,
        sessions=tuple(dict.fromkeys(one for tally in tallies.values() for one in tally.sessions)),
        records=sum(tally.records for tally in tallies.values()),
        calls=sum(tally.calls for tally in tallies.values()),
        call_results=sum(tally.results for tally in tallies.values()),
        unknown_types=sum((tally.unknown_kinds for tally in tallies.values()), Counter()),
        first_time=next((t.first_time for t in tallies.values() if t.first_time), None),
        last_time=next(
            (t.last_time for t in reversed(list(tallies.values())) if t.last_time), None
        ),
        faults=log.listed,
        fault_counts=log.counts,
        references=book.listed,
        reference_counts=book.counts,
        reference_faults=book.fault_counts,
    )
    if book.not_checked:
        check.add(
            Fault(
                "reference_not_checked",
                Severity.WARNING,
                f"references: expected at most a bounded number, got {book.not_checked} more",
            )
        )
    return check, is_torn and any(fault.code == "torn_line" for fault in log.listed)


def _last_torn(check: SourceCheck) -> Fault:
    return [fault for fault in check.faults if fault.code == "torn_line"][-1]


class _Joined:
    """Several logs of one source, for references between them."""

    def __init__(self, tallies: Iterable[Tally]) -> None:
        self._tallies = tuple(tallies)
        self.is_slice = any(tally.is_slice for tally in self._tallies)

    def ordinal_of(self, native_id: str) -> int | None:
        for tally in self._tallies:
            if (found := tally.ordinal_of(native_id)) is not None:
                return found
        return None

    def has_call(self, call_id: str) -> bool:
        return any(tally.has_call(call_id) for tally in self._tallies)


def guarded(items: Iterator[_T]) -> Iterator[_T | Fault]:
    """Give what an adapter gives, and end with a fault where it cannot go on."""
    try:
        yield from items
    except SourceUnreadable as error:
        yield Fault(error.fault, Severity.ERROR, str(error))
    except FILE_FAILURES as failure:
        reason = reason_of(failure, not_a_file=Reason.TRANSCRIPT_NOT_A_FILE)
        yield Fault(str(reason), Severity.ERROR, str(failure))
    except CtxauditError as error:
        yield Fault("container_invalid", Severity.ERROR, str(error))


def _is_steady(source: Source, check: SourceCheck, *, is_torn: bool) -> bool:
    """Say whether what was read is what the file holds; its digest goes into the check.

    Where it has grown since, a last line that was cut short was being written.
    """
    try:
        if not holds_still(source):
            return False
        if is_torn and source.file is not None and not source.file.is_unchanged():
            return False
        file = source.file
        if file is not None:
            digest = source.pass_sha256 or hash_prefix(file, file.size)
            if not file.is_unchanged() and source.pass_sha256 is None:
                return False
            check.sha256 = None if digest is None else digest.hex()
    except FILE_FAILURES as failure:
        reason = reason_of(failure, not_a_file=Reason.TRANSCRIPT_NOT_A_FILE)
        check.add(Fault(str(reason), Severity.ERROR, str(failure)))
    return True


def holds_still(source: Source) -> bool:
    """Say whether what was read of a file is what it holds still.

    Raises:
        ReadFailed: the device or file system refused.
    """
    file = source.file
    if file is None or file.is_unchanged():
        return True
    # Only grown, and the bytes that were read are the same again: what rests on them holds.
    digest, size = source.pass_digest
    facts = file.facts
    if digest is None or not _has_only_grown(facts, file.now()):
        return False
    return hash_prefix(file, size) == digest


def _has_only_grown(before: FileFacts, now: FileFacts) -> bool:
    return (before.device, before.inode) == (now.device, now.inode) and now.size >= before.size
