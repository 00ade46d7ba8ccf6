"""What a lost source takes with it, and which claims rest on which source.

Guarantees: every consequence of a source that is not available stands below what it follows from,
however long the chain is; nothing is nested deeper than a browser can show. Claims stand by the
file that makes them, those at risk first, and what is left out is counted.

Example:
    >>> from provenance.audit_report import AuditReport
    >>> from provenance.reports._html_page import Page
    >>> page = Page(report=AuditReport(), rows=(), groups=(), describe=lambda code: None,
    ...             version="0", command="", exit_code=0, verdict="")
    >>> "".join(consequences(page))
    ''
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from provenance.audit_report import AuditedSource
from provenance.consequences import Consequence, Kind
from provenance.reports._html_page import Page
from provenance.reports._html_rows import Row
from provenance.reports._html_text import count, link, prose_words, tag, text

__all__ = ["claims", "consequences"]

_MOST_SOURCES = 500
_MOST_STEPS = 500
# What lies deeper stands at this depth with the number of its step: readers get lost in more, and
# browsers flatten what is nested some hundred deep.
_DEEPEST = 8
_MOST_OPEN = 12
_MOST_FILES = 200
_MOST_SOUND = 100
_MOST_AT_RISK = 1_000


class _Claim(NamedTuple):
    item: str | None
    session: str | None
    text: str | None
    pinned: str = ""
    """Of a pin, which has no text: what it pins, so that each is one."""


# One of a kind, and several.
_NAMES: dict[Kind, tuple[str, str]] = {
    "fact": ("fact", "facts"),
    "pending_item": ("pending item", "pending items"),
    "evidence": ("piece of evidence", "pieces of evidence"),
    "summary": ("summary", "summaries"),
    "request": ("request", "requests"),
    "pin": ("pin", "pins"),
    "text": ("place in a text", "places in texts"),
}


def consequences(page: Page) -> Iterator[str]:
    """Write what rests on each source that is not available, through all steps."""
    lost = [(row, found) for row in page.rows if row.is_fault and (found := _steps_of(row.source))]
    if not lost:
        return
    yield '<section id="consequences" aria-labelledby="consequences-title">'
    yield '<h2 id="consequences-title">What the lost sources take with them</h2>'
    yield (
        '<p class="lead">For each source that is not available: what cites it, what was made of '
        "that, and so on. Nothing below is proved any more.</p>"
    )
    for row, found in lost[:_MOST_OPEN]:
        yield from _lost(row, found, is_open=True)
    rest = lost[_MOST_OPEN:_MOST_SOURCES]
    if rest:
        yield f'<details class="rest"><summary>{count(len(rest), "more source")}</summary>'
        for row, found in rest:
            yield from _lost(row, found, is_open=False)
        if len(lost) > _MOST_SOURCES:
            more = count(len(lost) - _MOST_SOURCES, "more source")
            yield f'<p class="more">{more}: see the JSON report.</p>'
        yield "</details>"
    yield "</section>\n"


def _lost(row: Row, found: Sequence[Consequence], *, is_open: bool) -> Iterator[str]:
    waived = ' <span class="b waived">waived</span>' if row.source.waiver is not None else ""
    yield (
        f'<details class="lost"{" open" if is_open else ""}><summary>'
        f'<span class="b {row.state}">{row.state}</span>{waived} '
        f"<code>{text(row.source.resolution.pointer)}</code> "
        f'<span class="meaning">{_sum(found, row.source.consequences_left_out)}</span></summary>'
        f"{_row_link(row)}"
    )
    yield from _tree(found[:_MOST_STEPS])
    more = max(0, len(found) - _MOST_STEPS)
    if more:
        yield f'<p class="more">{more:,} more: see the JSON report.</p>'
    if row.source.consequences_left_out:
        yield (
            f'<p class="more">At least {row.source.consequences_left_out:,} more are known that no '
            "report lists.</p>"
        )
    yield "</details>"


def claims(page: Page) -> Iterator[str]:
    """Write the claims by the file that makes them, each with the sources it rests on."""
    files: dict[str, dict[_Claim, list[Row]]] = {}
    for row in page.rows:
        for cited in row.source.cited_by:
            pinned = row.source.resolution.pointer if cited.kind == "pin" else ""
            claim = _Claim(cited.item, cited.session, cited.text, pinned)
            files.setdefault(cited.file, {}).setdefault(claim, []).append(row)
    if not files:
        return
    yield '<section id="claims" aria-labelledby="claims-title">'
    yield '<h2 id="claims-title">Which claims rest on which source</h2>'
    for file in sorted(files)[:_MOST_FILES]:
        yield from _file(file, files[file], is_open=len(files) <= _MOST_OPEN)
    if len(files) > _MOST_FILES:
        yield f'<p class="more">{count(len(files) - _MOST_FILES, "more file")}: '
        yield "see the JSON report.</p>"
    yield "</section>\n"


def _row_link(row: Row) -> str:
    return f'<p><a href="#r{row.number}">Its row in the table</a></p>' if row.is_listed else ""


def _steps_of(source: AuditedSource) -> tuple[Consequence, ...]:
    """Give what rests on a source; where nobody followed it, what cites it."""
    return source.consequences or tuple(
        Consequence(one.kind, one.file, one.item, one.session, one.text) for one in source.cited_by
    )


def _sum(found: Sequence[Consequence], left_out: int) -> str:
    kinds = Counter(one.kind for one in found)
    said = [f"{number:,} {_name(kind, number)}" for kind, number in kinds.items()]
    if left_out:
        said.append(f"at least {left_out:,} more")
    is_one = len(found) == 1 and not left_out
    return f"{prose_words(said)} {'rests' if is_one else 'rest'} on it"


def _name(kind: Kind, number: int) -> str:
    one, several = _NAMES.get(kind, (kind, kind))
    return text(one if number == 1 else several)


def _tree(found: Sequence[Consequence]) -> Iterator[str]:
    """Nest each below what it follows from; parents stand before their children."""
    below: dict[int | None, list[int]] = {}
    for index, one in enumerate(found):
        parent = one.parent
        if parent is not None and not 0 <= parent < index:
            parent = None  # no such one, or a circle: it still has to be seen
        below.setdefault(parent, []).append(index)
    # A list of what is still to be written, no recursion: a chain may be as long as it likes.
    waiting: list[str | tuple[int, int]] = ["</ul>"]
    waiting += [(index, 1) for index in reversed(below.get(None, []))]
    yield '<ul class="tree">'
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, str):
            yield entry
            continue
        index, depth = entry
        children = [(child, depth + 1) for child in reversed(below.get(index, []))]
        yield f"<li>{_consequence(found[index])}"
        if children and depth < _DEEPEST:
            yield "<ul>"
            waiting.append("</ul></li>")
        else:
            yield "</li>"
        waiting += children


def _consequence(one: Consequence) -> str:
    item = f" {tag('code', text(one.item))}" if one.item is not None else ""
    said = f' <span class="said">{text(one.text)}</span>' if one.text is not None else ""
    session = f", session {tag('code', text(one.session))}" if one.session is not None else ""
    return (
        f'<b class="kind">{_name(one.kind, 1)}</b>{item}{said} <small>step {one.steps}, in '
        f"{tag('code', text(one.file))}{session}</small>"
    )


def _file(file: str, found: dict[_Claim, list[Row]], *, is_open: bool) -> Iterator[str]:
    risky = [pair for pair in found.items() if any(row.is_fault for row in pair[1])]
    sound = [pair for pair in found.items() if not any(row.is_fault for row in pair[1])]
    shown = risky[:_MOST_AT_RISK] + sound[:_MOST_SOUND]
    yield f'<details class="group"{" open" if is_open else ""}><summary><code>{text(file)}</code> '
    yield f'<span class="meaning">{count(len(found), "claim")}, {len(risky):,} at risk</span>'
    yield '</summary><table class="t" role="table"><thead role="rowgroup"><tr role="row">'
    yield '<th role="columnheader" scope="col">Claim</th>'
    yield '<th role="columnheader" scope="col">Rests on</th></tr></thead><tbody role="rowgroup">'
    for claim, rows in shown:
        yield f'<tr role="row"><th role="rowheader" scope="row">{_said(claim)}</th>'
        yield f'<td role="cell"><ul class="plain">{"".join(map(_rests_on, rows))}</ul></td></tr>'
    yield "</tbody></table>"
    for more, words in (
        (len(risky) - _MOST_AT_RISK, "at risk"),
        (len(sound) - _MOST_SOUND, "resting on available sources alone"),
    ):
        if more > 0:
            yield f'<p class="more">{count(more, "more claim")} {words}: see the table above.</p>'
    yield "</details>"


def _said(claim: _Claim) -> str:
    item = tag("code", text(claim.item)) if claim.item is not None else ""
    session = f"session {tag('code', text(claim.session))}" if claim.session is not None else ""
    facts = ", ".join(fact for fact in (item, session) if fact)
    return f"{text(claim.text or '')}<small>{facts}</small>"


def _rests_on(row: Row) -> str:
    pointer = tag("code", text(row.source.resolution.pointer))
    linked = link(f"r{row.number}", pointer, is_there=row.is_listed)
    return f'<li><span class="b {row.state}">{row.state}</span> {linked}</li>'
