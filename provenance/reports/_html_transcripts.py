"""Transcripts that were checked whole, and what their records say exists elsewhere.

Guarantees: every transcript of the report has a row up to a bound, and what is left out is counted.

Example:
    >>> _counts({"b": 1, "a": 2})
    '2 a, 1 b'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from provenance.audit_report import CheckedReference, CheckedTranscript
from provenance.reports._html_page import Page
from provenance.reports._html_rows import STATES
from provenance.reports._html_text import count, link, tag, text

__all__ = ["references", "transcripts"]

_MOST_TRANSCRIPTS = 2_000
_MOST_REFERENCES = 500
_MOST_NAMES = 5
_TITLES = ("File", "Records", "Time", "Findings", "Content")


def transcripts(page: Page) -> Iterator[str]:
    """Write a row for each transcript that was checked from its first record to its last."""
    found = page.report.transcripts
    if not found:
        return
    # Those with findings first; else in the order of the report.
    ordered = sorted(found, key=lambda one: not one.findings)
    yield '<section id="transcripts" aria-labelledby="transcripts-title">'
    yield '<h2 id="transcripts-title">Transcripts checked whole</h2>'
    yield f'<p class="lead">{count(len(found), "transcript")}, '
    yield f"{count(sum(one.records for one in found), 'record')}.</p>"
    yield '<table class="t transcripts" role="table"><thead role="rowgroup"><tr role="row">'
    yield "".join(f'<th role="columnheader" scope="col">{title}</th>' for title in _TITLES)
    yield '</tr></thead><tbody role="rowgroup">'
    numbers = {group.code: group.number for group in page.groups}
    yield from (_transcript(one, numbers) for one in ordered[:_MOST_TRANSCRIPTS])
    yield "</tbody></table>"
    if len(found) > _MOST_TRANSCRIPTS:
        more = count(len(found) - _MOST_TRANSCRIPTS, "more transcript")
        yield f'<p class="more">{more}: see the JSON report.</p>'
    yield "</section>\n"


def references(page: Page) -> Iterator[str]:
    """Write what records refer to, by state, those that lead to nothing first."""
    counts = page.report.reference_counts
    found = page.report.references
    if not found and not counts:
        return
    yield '<section id="references" aria-labelledby="references-title">'
    yield '<h2 id="references-title">What records refer to</h2><p class="lead">'
    yield _counts({state: counts[state] for state in STATES if counts.get(state)}) or "None counted"
    yield '.</p><ul class="places">'
    ordered = sorted(found, key=lambda one: STATES.index(_state(one)))
    yield from map(_reference, ordered[:_MOST_REFERENCES])
    yield "</ul>"
    more = max(sum(counts.values()), len(found)) - min(len(found), _MOST_REFERENCES)
    if more:
        yield f'<p class="more">{more:,} more: see the JSON report.</p>'
    yield "</section>\n"


def _transcript(one: CheckedTranscript, numbers: Mapping[str, int]) -> str:
    names = ", ".join(tag("code", text(name)) for name in one.sessions[:_MOST_NAMES])
    if len(one.sessions) > _MOST_NAMES:
        names += f" and {len(one.sessions) - _MOST_NAMES:,} more"
    times = [text(time) for time in (one.first_time, one.last_time) if time]
    digest = f"SHA-256 {tag('code', text(one.sha256))}" if one.sha256 is not None else "not read"
    found = [
        f"<li>{number:,}&#xd7; "
        f"{link(f'c{numbers.get(code, 0)}', text(code), is_there=code in numbers)}</li>"
        for code, number in _ranked(one.findings)
    ]
    unknown = sum(one.unknown_types.values())
    records = f"{one.records:,}" + (f", {unknown:,} of unknown type" if unknown else "")
    calls = f"{count(one.calls, 'call')}, {count(one.call_results, 'result')}"
    cells = (
        f"{records}<small>{calls}</small>",
        " to<br>".join(times) or "not said",
        f'<ul class="plain">{"".join(found)}</ul>' if found else "none",
        f"<small>{digest}</small>",
    )
    kind = f"<small>{text(one.format)}, {'session' if len(one.sessions) == 1 else 'sessions'} "
    return (
        f'<tr role="row"><th role="rowheader" scope="row">{tag("code", text(one.target))}'
        f"{kind}{names or 'none'}</small></th>"
        + "".join(f'<td role="cell">{cell}</td>' for cell in cells)
        + "</tr>"
    )


def _reference(one: CheckedReference) -> str:
    state, place = _state(one), one.location
    where = [tag("code", text(one.target))]
    if place.line is not None:
        where.append(f"line {place.line}")
    if place.ordinal is not None:
        where.append(f"record {place.ordinal}")
    if place.native_id is not None:
        where.append(tag("code", text(place.native_id)))
    return (
        f'<li><span class="b {state}">{state}</span> {text(one.kind)}, {", ".join(where)}<br>'
        f"{text(one.message)}</li>"
    )


def _state(one: CheckedReference) -> str:
    return str(one.status) if one.conclusive else "inconclusive"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {text(name)}" for name, number in _ranked(counts))


def _ranked(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
