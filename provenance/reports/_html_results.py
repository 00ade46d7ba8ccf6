"""The table of sources: filter and order work by style alone, and better with the script.

Guarantees: the rows stand with the worst first, so that nobody needs a filter to find it. Without
the script radio buttons choose the state that is shown and the order (`order_rules`); the script
moves the rows themselves, and adds a search. Every id is made of our own words and numbers.

Example:
    >>> list(order_rules(()))
    []
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from provenance.audit_report import Citation
from provenance.reports._html_findings import waiver_note
from provenance.reports._html_page import Page, is_about_transcripts
from provenance.reports._html_rows import STATES, Row, describe_or_blank
from provenance.reports._html_text import count, lines, prose, tag, text
from provenance.reports.places import place_of
from provenance.resolution import Strength

__all__ = ["order_rules", "results"]

_SHOWN_CLAIMS = 3
_MOST_CLAIMS = 100
# More rows than these are laid out only when they come into sight (content-visibility).
_FEW = 300
_ORDERS = (
    ("state", "Worst first"),
    ("pointer", "Pointer"),
    ("strength", "Weakest proof"),
    ("claims", "Most claims"),
)
_TITLES = (
    ("State", "state", "ascending"),
    ("Source", "pointer", "none"),
    ("What was found", "strength", "none"),
    ("What rests on it", "claims", "none"),
)
_STRENGTHS = frozenset(map(str, Strength))


def order_rules(rows: Iterable[Row]) -> Iterator[str]:
    """Write what the order by pointer and by claims needs of each row, as style."""
    for row in rows:
        if not row.is_listed:
            continue
        claims = len(row.source.cited_by)
        number = f";--c:{-claims}" if claims != 1 else ""
        yield f"#r{row.number}{{--p:{row.number}{number}}}"


def results(page: Page) -> Iterator[str]:
    """Write the table with what stands above it."""
    if is_about_transcripts(page.report):
        return
    yield '<section id="results" aria-labelledby="results-title">'
    yield '<h2 id="results-title">All sources</h2>'
    rows = tuple(row for row in page.rows if row.is_listed)
    if not rows:
        yield "<p>No source was checked.</p></section>\n"
        return
    if len(rows) < len(page.rows):
        yield f'<p class="lead">The worst {len(rows):,} of {len(page.rows):,}; '
        yield "the JSON report has all.</p>"
    yield from _controls(rows)
    many = " many" if len(rows) > _FEW else ""
    yield (
        f'<table class="results{many}" role="table" aria-labelledby="results-title">'
        '<thead role="rowgroup"><tr role="row">'
    )
    for title, key, sort in _TITLES:
        yield (
            f'<th role="columnheader" scope="col" data-o="{key}" aria-sort="{sort}">{title}</th>'
        )
    yield '</tr></thead><tbody role="rowgroup">\n'
    meanings: dict[str, str] = {}
    for row in rows:
        reason = str(row.source.resolution.reason or "")
        if reason not in meanings:
            meanings[reason] = prose(describe_or_blank(page.describe, reason)[0])
        yield _row(row, reason, meanings[reason])
    yield "</tbody></table></section>\n"


def _controls(rows: tuple[Row, ...]) -> Iterator[str]:
    numbers = dict.fromkeys(STATES, 0)
    for row in rows:
        numbers[row.state] += 1
    waived = sum(row.source.waiver is not None for row in rows)
    faults = len(rows) - numbers["available"]
    chips = [("all", "All", len(rows))]
    if 0 < faults < len(rows):
        chips.append(("fault", "Not available", faults))
    chips += [(state, state.capitalize(), numbers[state]) for state in STATES if numbers[state]]
    if waived:
        chips.append(("waived", "Waived", waived))
    # A form, so that the buttons are a group of their own; nothing is ever sent (form-action).
    yield '<form class="controls"><fieldset class="chips"><legend>Show</legend>'
    for key, name, number in chips:
        checked = " checked" if key == "all" else ""
        yield (
            f'<label><input type="radio" name="f" id="f-{key}" value="{key}"{checked}>'
            f"<span>{name} <b>{number:,}</b></span></label>"
        )
    yield '</fieldset><fieldset class="chips"><legend>Order by</legend>'
    for key, name in _ORDERS:
        checked = " checked" if key == "state" else ""
        yield (
            f'<label><input type="radio" name="o" id="o-{key}" value="{key}"{checked}>'
            f"<span>{name}</span></label>"
        )
    yield (
        '</fieldset><p class="search" hidden><label for="q">Search</label>'
        '<input type="search" id="q" autocomplete="off" spellcheck="false"></p></form>'
        '<p id="shown" class="lead" role="status"></p>'
    )


def _row(row: Row, reason: str, meaning: str) -> str:
    source = row.source
    answer = source.resolution
    strength = str(answer.strength or "")
    known = f' data-g="{strength}"' if strength in _STRENGTHS else ""
    waived = " data-w" if source.waiver is not None else ""
    badge = ' <span class="b waived">waived</span>' if waived else ""
    place = place_of(answer.pointer, reason, source.folder) if row.is_fault else ""
    return (
        f'<tr role="row" id="r{row.number}" data-s="{row.state}"{known}{waived}>'
        f'<td role="cell"><span class="b {row.state}">{row.state}</span>{badge}</td>'
        f'<th role="rowheader" scope="row"><code>{text(answer.pointer)}</code>'
        f"{f'<small>Look at {text(place)}</small>' if place else ''}</th>"
        f'<td role="cell">{meaning}<small>{_facts(row, reason, strength)}</small>'
        f"{_why(source.denied_why)}"
        f"{waiver_note(source.waiver) if source.waiver is not None else ''}"
        f"{_excerpt(answer.excerpt)}</td>"
        f'<td role="cell">{_claims(source.cited_by)}</td></tr>\n'
    )


def _facts(row: Row, reason: str, strength: str) -> str:
    answer = row.source.resolution
    facts = [tag("code", text(reason))] if reason else []
    if strength:
        facts.append(f"proof: {text(strength)}")
    if answer.native_id is not None:
        facts.append(f"record {tag('code', text(answer.native_id))}")
    if answer.evidence_sha256 is not None:
        facts.append(f"SHA-256 {tag('code', text(answer.evidence_sha256))}")
    return " &#xb7; ".join(facts)


def _why(said: str) -> str:
    return f'<p class="waiver"><b>Denied</b> by the policy: {text(said)}</p>' if said else ""


def _excerpt(excerpt: str | None) -> str:
    if excerpt is None:
        return ""
    number = count(len(excerpt), "character")
    return (
        f'<details class="excerpt"><summary>Excerpt, the first {number}</summary>'
        f'<pre tabindex="0">{lines(excerpt)}</pre></details>'
    )


def _claims(claims: tuple[Citation, ...]) -> str:
    if not claims:
        return '<span class="none">nothing that was read</span>'
    items = [_claim(claim) for claim in claims[:_MOST_CLAIMS]]
    first = f'<ul class="claims">{"".join(items[:_SHOWN_CLAIMS])}</ul>'
    if len(claims) <= _SHOWN_CLAIMS:
        return first
    more = len(claims) - len(items)
    rest = "".join(items[_SHOWN_CLAIMS:])
    said = f'<p class="more">{more:,} more: see the JSON report.</p>' if more else ""
    return (
        f"{first}<details><summary>{len(claims) - _SHOWN_CLAIMS:,} more</summary>"
        f'<ul class="claims">{rest}</ul>{said}</details>'
    )


def _claim(claim: Citation) -> str:
    said = f"{text(claim.text)} " if claim.text is not None else ""
    item = f"{tag('code', text(claim.item))} in " if claim.item is not None else ""
    return f"<li>{said}<small>{item}{tag('code', text(claim.file))}</small></li>"
