"""A timeline for each session: which of its records are cited, which of those are as cited.

Guarantees: a session's line goes from its first record to its last, or to the last one that is
cited where nobody counted them. Where marks would lie on each other the worst is drawn. The same
is said in words and links below it. Nothing is drawn that the pointers themselves do not say.

Example:
    >>> _bucket(1, 10), _bucket(10, 10), _bucket(10**18, 10**18)
    (0, 9, 239)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from provenance.audit_report import AuditReport, CheckedTranscript
from provenance.findings import Severity
from provenance.reports._html_page import Page
from provenance.reports._html_rows import STATES, Row, targets_of
from provenance.reports._html_text import attribute, count, link, prose_words, tag, text

__all__ = ["MARKS", "sessions"]

# On a line of some 700 pixels more marks would touch.
_PLACES = 240
_MOST_SESSIONS = 200
_MOST_OPEN = 12
_MOST_LINKS = 200
_MOST_OPEN_LINKS = 40
_NAMED_RECORDS = 5
_RANK = {state: rank for rank, state in enumerate(STATES)}

# Shapes differ, not the colour alone; drawn once and used by every line.
MARKS = (
    '<svg class="marks" width="0" height="0" aria-hidden="true"><defs>'
    '<g id="m-available"><circle r="5"/></g>'
    '<g id="m-missing"><circle class="hollow" r="4.5"/></g>'
    '<g id="m-corrupt"><path class="stroke" d="M-5-5 5 5M5-5-5 5"/></g>'
    '<g id="m-denied"><rect x="-5" y="-5" width="10" height="10"/></g>'
    '<g id="m-unsupported"><path d="M0-6 6 0 0 6-6 0z"/></g>'
    '<g id="m-inconclusive"><path class="stroke" d="M-6 0H6"/></g>'
    '<g id="m-finding"><path d="M0-5 6 5H-6z"/></g>'
    "</defs></svg>"
)


@dataclass(slots=True)
class _Session:
    name: str
    target: str
    events: list[Row] = field(default_factory=list)
    artifacts: list[Row] = field(default_factory=list)
    faults: list[int] = field(default_factory=list)
    transcript: CheckedTranscript | None = None

    def rank(self) -> tuple[int, str, str]:
        states = [_RANK[row.state] for row in self.events + self.artifacts]
        worst = min(states, default=len(STATES))
        return (0 if self.faults else worst, self.name, self.target)


def sessions(page: Page) -> Iterator[str]:
    """Write the timelines, those with faults first."""
    found = sorted(_sessions_of(page), key=_Session.rank)
    if not found:
        return
    yield '<section id="sessions" aria-labelledby="sessions-title">'
    yield '<h2 id="sessions-title">Timeline of each session</h2>'
    yield '<p class="lead">Each mark is a record that is cited, or one with a finding.</p>'
    used = [state for state in STATES if any(row.state == state for row in page.rows)]
    yield '<ul class="legend" aria-hidden="true">'
    for state in [*used, *(["finding"] if any(one.faults for one in found) else [])]:
        yield f'<li><svg class="mark" width="16" height="16"><use href="#m-{state}" class="{state}"'
        yield f' x="8" y="8"/></svg> {state}</li>'
    yield "</ul>"
    for one in found[:_MOST_OPEN]:
        yield from _session(one)
    rest = found[_MOST_OPEN:_MOST_SESSIONS]
    if rest:
        yield f'<details class="rest"><summary>{count(len(rest), "more session")}</summary>'
        for one in rest:
            yield from _session(one)
        if len(found) > _MOST_SESSIONS:
            more = count(len(found) - _MOST_SESSIONS, "more session")
            yield f'<p class="more">{more}, none worse than these.</p>'
        yield "</details>"
    yield "</section>\n"


def _sessions_of(page: Page) -> list[_Session]:
    found: dict[tuple[str, str], _Session] = {}

    def session(target: str, name: str) -> _Session:
        return found.setdefault((target, name), _Session(name, target))

    for row in page.rows:
        if row.session is not None:
            one = session(row.target, row.session)
            (one.artifacts if row.ordinal is None else one.events).append(row)
    alone = _alone(page.report)
    target_of = targets_of(page.report)
    for finding in page.report.findings:
        place = finding.location
        ordinal = place.ordinal if place.ordinal is not None else place.line
        if finding.severity is Severity.INFO or ordinal is None:
            continue
        target = target_of(finding.target)
        stem = finding.target.rpartition("/")[2].removesuffix(".jsonl")
        if finding.target in alone:
            session(target, alone[finding.target].sessions[0]).faults.append(ordinal)
        elif (target, stem) in found:
            found[target, stem].faults.append(ordinal)
    for transcript in alone.values():
        key = (target_of(transcript.target), transcript.sessions[0])
        if key in found:
            found[key].transcript = transcript
    return list(found.values())


def _alone(report: AuditReport) -> dict[str, CheckedTranscript]:
    """Give the transcripts that hold one session, which no other file of the target holds too."""
    target_of = targets_of(report)
    files = Counter(
        (target_of(one.target), name) for one in report.transcripts for name in set(one.sessions)
    )
    return {
        one.target: one
        for one in report.transcripts
        if len(one.sessions) == 1 and files[target_of(one.target), one.sessions[0]] == 1
    }


def _session(one: _Session) -> Iterator[str]:
    yield f'<article class="session"><h3><code>{text(one.name)}</code>'
    yield f" in {tag('code', text(one.target))}</h3>" if one.target else "</h3>"
    words = _words(one)
    yield f"<p>{words}.</p>"
    if one.events or one.faults:
        records = one.transcript.records if one.transcript is not None else 0
        last = max([records, *(row.ordinal or 1 for row in one.events), *one.faults])
        yield _drawing(one, last, f"Timeline of session {attribute(one.name)}: {words}")
        times = ("", "")
        if one.transcript is not None:
            times = (one.transcript.first_time or "", one.transcript.last_time or "")
        counted = "" if records == last else " (the last one cited)"
        yield f'<p class="axis"><span>record 1 {text(times[0])}</span>'
        yield f"<span>record {last:,}{counted} {text(times[1])}</span></p>"
    yield from _links("Cited records", sorted(one.events, key=lambda row: row.ordinal or 0))
    yield from _links("Cited artifacts", sorted(one.artifacts, key=lambda row: row.number))
    yield "</article>"


def _words(one: _Session) -> str:
    parts = []
    for rows, noun in ((one.events, "record"), (one.artifacts, "artifact")):
        if rows:
            shown = [_of_state(state, rows) for state in STATES]
            parts.append(f"{count(len(rows), noun)} cited: {prose_words(filter(None, shown))}")
    if one.faults:
        faults = sorted(set(one.faults))
        number = count(len(faults), "record with a finding", "records with findings")
        parts.append(number + _ordinals(faults))
    return "; ".join(parts)


def _of_state(state: str, rows: list[Row]) -> str:
    found = [row for row in rows if row.state == state]
    if not found:
        return ""
    ordinals = sorted(row.ordinal for row in found if row.ordinal is not None)
    return f"{len(found):,} {state}" + (_ordinals(ordinals) if state != "available" else "")


def _ordinals(ordinals: list[int]) -> str:
    """Name the first few records, in brackets."""
    if not ordinals:
        return ""
    more = ", ..." if len(ordinals) > _NAMED_RECORDS else ""
    return f" (record {', '.join(map(str, ordinals[:_NAMED_RECORDS]))}{more})"


def _drawing(one: _Session, last: int, words: str) -> str:
    worst: dict[int, Row] = {}
    for row in one.events:
        place = _bucket(row.ordinal or 1, last)
        if place not in worst or _RANK[row.state] < _RANK[worst[place].state]:
            worst[place] = row
    places = min(last, _PLACES)
    marks = [
        f'<use href="#m-{row.state}" class="{row.state}" x="{_x(place, places)}" y="12"/>'
        # The worst last, so that it lies on top where marks touch.
        for place, row in sorted(worst.items(), key=lambda pair: (-_RANK[pair[1].state], pair[0]))
    ]
    marks += [
        f'<use href="#m-finding" class="finding" x="{_x(place, places)}" y="32"/>'
        for place in sorted({_bucket(ordinal, last) for ordinal in one.faults})
    ]
    height = 42 if one.faults else 24
    return (
        f'<svg class="line" role="img" height="{height}" aria-label="{words}">'
        f'<line class="axis" x1="0" x2="100%" y1="12" y2="12"/>{"".join(marks)}</svg>'
    )


def _bucket(ordinal: int, last: int) -> int:
    return ordinal - 1 if last <= _PLACES else (ordinal - 1) * _PLACES // last


def _x(place: int, places: int) -> str:
    # From 1 to 99 %: a mark at the very end would be cut.
    return f"{1 + 98 * place / max(places - 1, 1):.2f}%"


def _links(title: str, rows: list[Row]) -> Iterator[str]:
    if not rows:
        return
    is_open = len(rows) <= _MOST_OPEN_LINKS and any(row.is_fault for row in rows)
    yield f"<details{' open' if is_open else ''}><summary>{title} <b>{len(rows):,}</b></summary>"
    yield '<ul class="links">'
    for row in rows[:_MOST_LINKS]:
        pointer = row.source.resolution.pointer
        name = f"record {row.ordinal}" if row.ordinal is not None else pointer.split(":")[2]
        yield f'<li><span class="b {row.state}">{row.state}</span> '
        yield link(f"r{row.number}", tag("code", text(name)), is_there=row.is_listed) + "</li>"
    yield "</ul>"
    if len(rows) > _MOST_LINKS:
        yield f'<p class="more">{len(rows) - _MOST_LINKS:,} more: see the table.</p>'
    yield "</details>"
