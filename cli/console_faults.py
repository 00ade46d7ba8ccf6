"""Findings of many files, in words: a group for each code, the worst first, with its first places.

Guarantees: pure. Every text is one line in which nothing steers a terminal. A group says how many
there are in how many files, also where not all of them are listed; a number that is not known to
be exact says so. The number of lines does not grow with the number of files.

Example:
    >>> from provenance.audit_report import AuditReport
    >>> from provenance.findings import Location
    >>> finding = Finding("torn_line", Severity.ERROR, "a.jsonl", Location(line=5, ordinal=4))
    >>> group = fault_groups(AuditReport(findings=(finding,)))[0]
    >>> group.code, group.count, group.places[0].where
    ('torn_line', '1', 'a.jsonl:5')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice

from provenance.audit import find_explanation
from provenance.audit_report import AuditReport
from provenance.findings import Finding, Severity

from .console_words import cut
from .streams import one_line

__all__ = [
    "HINT",
    "FaultGroup",
    "Place",
    "Weight",
    "fault_groups",
    "first_sentence",
    "folder_of",
    "owner_of",
    "shortened",
    "weights",
]

# Below the groups: their lines have no room for what to do.
HINT = "What a code means, and what to do about it: ctxaudit explain CODE"
_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
# A screen has some sixty lines: these are for the groups, whatever their number.
_LINES = 26
_MOST_PLACES = 5
_ID_CHARACTERS = 80
_SHORT_ID = 16
_MESSAGE_CHARACTERS = 300
_MEANING_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Weight:
    """How often a code was noticed with one severity.

    Attributes:
        code: of the finding.
        severity: its weight.
        count: how often; at least that, where it is not exact.
        is_exact: False where a code has several severities and not all of it is listed.
    """

    code: str
    severity: Severity
    count: int
    is_exact: bool

    def __str__(self) -> str:
        """Give the number in words."""
        return f"{self.count:,}" if self.is_exact else f"{self.count:,} or more"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fault is.

    Attributes:
        where: `file:line`, which terminals and editors open; the file alone without a line.
        record: its place among the records, in words; empty where it has none.
        native_id: the id in the format's own words; empty where it has none.
        message: what was expected and found there; empty where a table has no room for it.
    """

    where: str
    record: str
    native_id: str
    message: str

    def variants(self) -> tuple[str, ...]:
        """Give the place in words, from the longest to the shortest."""
        found = []
        for native_id in (self.native_id, shortened(self.native_id), ""):
            details = ", ".join(part for part in (self.record, native_id) if part)
            found.append(f"{self.where} ({details})" if details else self.where)
        return (*found, self.where)


@dataclass(frozen=True, slots=True)
class FaultGroup:
    """All findings of one code and severity.

    Attributes:
        severity: `error` or `warning`.
        code: of the findings.
        count: how many, and in how many files where there are several; in words.
        meaning: one line.
        places: the first few, of several files where there are several.
    """

    severity: str
    code: str
    count: str
    meaning: str
    places: tuple[Place, ...]


def fault_groups(report: AuditReport, *, with_messages: bool = False) -> tuple[FaultGroup, ...]:
    """Group what is wrong by code: errors first, then by the number of files.

    Args:
        report: what was found.
        with_messages: say what was expected at each place in a transcript; elsewhere it is always
            said, since the message alone tells what the finding is about.
    """
    # 1. Sort the findings into groups; information is counted elsewhere.
    listed: dict[tuple[str, Severity], list[Finding]] = {}
    for finding in report.findings:
        if finding.severity is not Severity.INFO:
            listed.setdefault((finding.code, finding.severity), []).append(finding)
    weighed = [weight for weight in weights(report) if weight.severity is not Severity.INFO]
    # 2. In how many files is each?
    files = {transcript.target for transcript in report.transcripts}
    owners = {
        (weight.code, weight.severity): _number_of_files(
            report, weight, listed.get((weight.code, weight.severity), []), files
        )
        for weight in weighed
    }
    weighed.sort(
        key=lambda one: (
            _RANK[one.severity],
            -owners[one.code, one.severity],
            -one.count,
            one.code,
        )
    )
    # 3. The more groups, the fewer places of each.
    room = max(1, min(_MOST_PLACES, _LINES // max(1, len(weighed)) - 1))
    folder = folder_of(report)
    groups = []
    for weight in weighed:
        key = weight.code, weight.severity
        found = listed.get(key, [])
        shown = _spread(found, room)
        count = str(weight)
        if waived := report.waived_counts.get(weight.code, 0):
            count += f" ({waived:,} waived)"
        if len(report.transcripts) > 1:
            count += f" in {owners[key]:,} {'file' if owners[key] == 1 else 'files'}"
        groups.append(
            FaultGroup(
                severity=str(weight.severity),
                code=one_line(weight.code),
                count=count,
                meaning=_meaning(weight.code, found),
                places=tuple(
                    _place(
                        finding,
                        folder,
                        with_message=with_messages or owner_of(finding.target, files) is None,
                    )
                    for finding in shown
                ),
            )
        )
    return tuple(groups)


def weights(report: AuditReport) -> tuple[Weight, ...]:
    """Say how often each code was noticed with each severity, by code.

    Not every finding is listed, and the numbers of a report are by code alone. A code with one
    severity has its whole number; where nothing of a code is listed, it counts as an error, since
    it may be one.
    """
    listed: dict[str, Counter[Severity]] = {}
    for finding in report.findings:
        listed.setdefault(finding.code, Counter())[finding.severity] += 1
    found = []
    for code in sorted({*listed, *report.finding_counts}):
        by_severity = listed.get(code) or Counter({Severity.ERROR: 0})
        unlisted = max(0, report.finding_counts.get(code, 0) - by_severity.total())
        is_exact = not unlisted or len(by_severity) == 1
        for severity in sorted(by_severity, key=_RANK.__getitem__):
            count = by_severity[severity] + (unlisted if len(by_severity) == 1 else 0)
            if count:
                found.append(Weight(code, severity, count, is_exact))
    return tuple(found)


def owner_of(target: str, files: Collection[str]) -> str | None:
    """Give the file of a finding, which may name a member of it; None: it is of no transcript."""
    name = target
    while name not in files:
        name, separator, _ = name.rpartition("/")
        if not separator:
            return None
    return name


def folder_of(report: AuditReport) -> str:
    """Give what to put before the names of files, so that they can be opened: the one folder."""
    if len(report.targets) != 1 or report.targets[0] in ("-", "."):
        return ""
    target = report.targets[0]
    names = [one.target for one in report.transcripts] or [one.target for one in report.findings]
    if all(name == target or name.startswith(f"{target}/") for name in names):
        return ""  # a single file, or names that have it already
    return f"{target}/"


def shortened(native_id: str) -> str:
    """Give the beginning of a long id, enough to search for."""
    return native_id if len(native_id) <= _SHORT_ID else f"{native_id[:8]}..."


def first_sentence(text: str) -> str:
    """Give the first sentence of a page, for a table."""
    head, separator, _ = text.partition(". ")
    sentence = f"{head}." if separator else head
    return cut(sentence, _MEANING_CHARACTERS)


def _number_of_files(
    report: AuditReport, weight: Weight, listed: list[Finding], files: Collection[str]
) -> int:
    shown = len({owner_of(finding.target, files) or finding.target for finding in listed})
    if len(listed) == weight.count or not weight.is_exact:
        return max(1, shown)
    # Not all are listed: the transcripts themselves know what is in them.
    return max(1, shown, sum(weight.code in one.findings for one in report.transcripts))


def _spread(found: list[Finding], room: int) -> list[Finding]:
    """Choose the first of each file, and fill up with what follows them."""
    if len(found) <= room:
        return found
    first: dict[str, int] = {}
    for number, finding in enumerate(found):
        first.setdefault(finding.target, number)
        if len(first) == room:
            break
    chosen = set(first.values())
    others = (number for number in range(len(found)) if number not in chosen)
    chosen.update(islice(others, room - len(chosen)))
    return [found[number] for number in sorted(chosen)]


def _place(finding: Finding, folder: str, *, with_message: bool) -> Place:
    at = finding.location
    line = "" if at.line is None else f":{at.line}"
    return Place(
        where=one_line(folder + finding.target) + line,
        record="" if at.ordinal is None else f"record {at.ordinal}",
        native_id="" if at.native_id is None else cut(one_line(at.native_id), _ID_CHARACTERS),
        message=cut(one_line(finding.message), _MESSAGE_CHARACTERS) if with_message else "",
    )


def _meaning(code: str, found: list[Finding]) -> str:
    page = find_explanation(code)
    if page is not None:
        return first_sentence(page.meaning)
    # The code of a format from outside has no page; its own words say what it is.
    return cut(one_line(found[0].message), _MEANING_CHARACTERS) if found else ""
