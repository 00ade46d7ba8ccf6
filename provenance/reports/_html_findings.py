"""Findings and waivers on the page.

Guarantees: every code that was counted stands here with its meaning and what to do. What is not
listed is counted. A waiver stands beside each fault that it covers, and all waivers stand together.

Example:
    >>> from datetime import date
    >>> waiver_note(Waiver("known", "ops", date(2027, 1, 31)))
    '<p class="waiver"><b>Waived</b> by ops until 2027-01-31: known</p>'
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from provenance.findings import Finding, Severity
from provenance.reports._html_page import FindingGroup, Page
from provenance.reports._html_rows import describe_or_blank
from provenance.reports._html_text import count, prose, tag, text
from provenance.waivers import Waiver, WaiverState

__all__ = ["findings", "waiver_note", "waivers"]

# Of one code; a reader who needs each of thousands takes the JSON report.
_MOST_PLACES = 200
_SHOWN_PLACES = 5
_STATE_BADGES = {
    WaiverState.USED: '<span class="b waived">in force</span>',
    WaiverState.UNUSED: '<span class="b info">unused</span>',
    WaiverState.EXPIRED: '<span class="b error">expired</span>',
    WaiverState.NOT_KNOWN: '<span class="b info">not known whether used</span>',
}
# So many groups are open from the start: more would hide each other.
_MOST_OPEN = 12


def findings(page: Page) -> Iterator[str]:
    """Write the findings by code, the gravest first."""
    if not page.groups:
        return
    yield '<section id="findings" aria-labelledby="findings-title">'
    yield '<h2 id="findings-title">Findings</h2>'
    yield '<p class="lead">What was noticed beside the states of the sources, by code.</p>'
    facts = [group for group in page.groups if group.severity is Severity.INFO]
    for group in page.groups[: len(page.groups) - len(facts)]:
        yield from _group(page, group)
    if facts:
        more = count(len(facts), "more code")
        yield f'<details class="rest"><summary>{more}, for information</summary>'
        for group in facts:
            yield from _group(page, group)
        yield "</details>"
    yield "</section>\n"


def waivers(page: Page) -> Iterator[str]:
    """Write every waiver that was given, with how much it covers."""
    covered: dict[Waiver, int] = dict.fromkeys(page.report.waivers, 0)
    for row in page.rows:
        if row.source.waiver is not None:
            covered[row.source.waiver] = covered.get(row.source.waiver, 0) + 1
    for finding in page.report.findings:
        if finding.waiver is not None:
            covered[finding.waiver] = covered.get(finding.waiver, 0) + 1
    if not covered:
        return
    states = dict(page.report.given_waivers)
    yield '<section id="waivers" aria-labelledby="waivers-title">'
    yield '<h2 id="waivers-title">Waivers</h2>'
    yield (
        '<p class="lead">What is wrong and does not count, since somebody answers for it. A waiver '
        "that has expired covers nothing: what it covered counts again.</p>"
    )
    yield '<table class="t waivers" role="table"><thead role="rowgroup"><tr role="row">'
    for title in ("Covers", "State", "Reason", "Owner", "Last day", "Faults"):
        yield f'<th role="columnheader" scope="col">{title}</th>'
    yield '</tr></thead><tbody role="rowgroup">'
    for waiver, number in sorted(covered.items(), key=lambda pair: _waiver_key(pair[0])):
        state = _STATE_BADGES[states.get(waiver, WaiverState.USED)]
        cells = (
            state,
            text(waiver.reason),
            text(waiver.owner),
            waiver.expires.isoformat(),
            f"{number:,}",
        )
        yield f'<tr role="row"><th role="rowheader" scope="row">{_covers(waiver)}</th>'
        yield "".join(f'<td role="cell">{cell}</td>' for cell in cells) + "</tr>"
    yield "</tbody></table></section>\n"


def waiver_note(waiver: Waiver) -> str:
    """Write the waiver of one fault."""
    return (
        f'<p class="waiver"><b>Waived</b> by {text(waiver.owner)} until '
        f"{waiver.expires.isoformat()}: {text(waiver.reason)}</p>"
    )


def _group(page: Page, group: FindingGroup) -> Iterator[str]:
    meaning, arises, remedy = describe_or_blank(page.describe, group.code)
    is_open = group.severity is not Severity.INFO and group.number <= _MOST_OPEN
    yield f'<details class="group" id="c{group.number}"{" open" if is_open else ""}><summary>'
    yield f'<span class="b {group.severity}">{group.severity}</span> '
    yield f'<code>{text(group.code)}</code> <b class="times">{group.count:,}&#xd7;</b>'
    if group.waived:
        yield f' <span class="b waived">{group.waived:,} waived</span>'
    yield f' <span class="meaning">{prose(meaning) or "There is no page for this code."}</span>'
    yield "</summary>"
    if remedy:
        yield f"<p><b>How it arises.</b> {prose(arises)}</p>"
        yield f"<p><b>What to do.</b> {prose(remedy)}</p>"
    if group.listed:
        yield from _places(group.listed[:_SHOWN_PLACES])
    rest = group.listed[_SHOWN_PLACES:_MOST_PLACES]
    if rest:
        yield f"<details><summary>{count(len(rest), 'more', 'more')}</summary>"
        yield from _places(rest)
        yield "</details>"
    more = group.count - min(len(group.listed), _MOST_PLACES)
    if more:
        yield f'<p class="more">{count(more, "more", "more")}: see the JSON report.</p>'
    yield "</details>"


def _places(found: Iterable[Finding]) -> Iterator[str]:
    yield '<ul class="places">'
    yield from map(_place, found)
    yield "</ul>"


def _place(finding: Finding) -> str:
    place = finding.location
    where = [tag("code", text(finding.target))]
    if place.line is not None:
        where.append(f"line {place.line}")
    if place.ordinal is not None:
        where.append(f"record {place.ordinal}")
    if place.native_id is not None:
        where.append(tag("code", text(place.native_id)))
    note = waiver_note(finding.waiver) if finding.waiver is not None else ""
    return f"<li>{', '.join(where)}<br>{text(finding.message)}{note}</li>"


def _covers(waiver: Waiver) -> str:
    said = tag("code", text(waiver.pointer if waiver.pointer is not None else waiver.code or ""))
    return said if waiver.target is None else f"{said} in {tag('code', text(waiver.target))}"


def _waiver_key(waiver: Waiver) -> tuple[str, ...]:
    return (
        waiver.expires.isoformat(),
        waiver.pointer or "",
        waiver.code or "",
        waiver.target or "",
        waiver.owner,
        waiver.reason,
    )
