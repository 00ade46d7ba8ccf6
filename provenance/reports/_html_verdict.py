"""The top of the page: what the run ended with, in words, what to do, and the numbers.

Guarantees: what weakens the verdict and what was not checked stands above everything that is
counted. Each state is explained where its number stands.

Example:
    >>> list(_tiles_of({"missing": 2}))[2]
    ('missing', 2)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from provenance.findings import Severity
from provenance.reports._html_page import FindingGroup, Page, is_about_transcripts, is_softened
from provenance.reports._html_rows import STATES, Row, describe_or_blank
from provenance.reports._html_text import count, link, prose, tag, text
from provenance.resolution import Strength

__all__ = ["numbers", "verdict"]

_NOT_CHECKED = "The run did not come to these; nothing is known about them."
# The worst first; who has done these knows how to go on.
_MOST_STEPS = 8
# Codes of a run that found fault; of the others 3, 4 and 130 say that nothing is settled.
_BAD = frozenset({1, 12, 13, 14})


def verdict(page: Page) -> Iterator[str]:
    """Write the verdict, what the reader has to know before, and what to do."""
    code = page.exit_code
    tone = "bad" if code in _BAD else "care" if code or is_softened(page) else "good"
    words = page.verdict.removeprefix(f"Exit code {code}. ")
    yield f'<section id="verdict" class="verdict {tone}" aria-labelledby="verdict-words">'
    yield f'<p class="code">Exit code <b>{code}</b></p>'
    yield f'<h1 id="verdict-words">{text(words)}</h1>'
    notes = tuple(_notes(page))
    if notes:
        yield '<ul class="notes">' + "".join(f"<li>{note}</li>" for note in notes) + "</ul>"
    yield '<h2 id="to-do">What to do</h2>'
    steps = tuple(_steps(page))
    if steps:
        yield _list(steps[:_MOST_STEPS])
        if len(steps) > _MOST_STEPS:
            yield f'<details class="rest"><summary>{len(steps) - _MOST_STEPS:,} more</summary>'
            yield _list(steps[_MOST_STEPS:], start=_MOST_STEPS + 1) + "</details>"
    else:
        yield f"<p>{_nothing_to_do(page)}</p>"
    yield "</section>\n"


def numbers(page: Page) -> Iterator[str]:
    """Write how many sources are in which state, and what each state means."""
    if is_about_transcripts(page.report):
        return
    summary = page.report.summary
    shown = {state: getattr(summary, state) for state in STATES}
    yield '<section id="numbers" aria-labelledby="numbers-title">'
    yield '<h2 id="numbers-title">Sources by state</h2>'
    yield f'<p class="lead">{count(summary.total, "source")}'
    if summary.uncited:
        yield f"; {count(summary.uncited, 'more file', 'more files')} that nothing cites"
    yield ".</p>"
    if summary.total:
        yield _bar({**shown, "not-checked": summary.not_checked}, summary.total)
    yield '<ul class="tiles">'
    for state, number in _tiles_of(shown):
        meaning = describe_or_blank(page.describe, state)[0]
        yield _tile(state, number, prose(meaning.removeprefix("Inconclusive: ").capitalize()))
    if summary.not_checked:
        yield _tile("not-checked", summary.not_checked, _NOT_CHECKED)
    yield "</ul>"
    yield from _proofs(page)
    yield "</section>\n"


def _proofs(page: Page) -> Iterator[str]:
    """Say how much the available sources prove, weakest first."""
    counts = Counter(str(row.source.resolution.strength or "") for row in page.rows)
    shown = [strength for strength in map(str, Strength) if counts[strength]]
    if not shown:
        return
    yield '<div class="proofs"><p>How much the available ones prove:</p><ul>'
    for strength in shown:
        meaning = describe_or_blank(page.describe, strength)[0]
        yield f"<li><b>{counts[strength]:,} {strength}</b> {prose(meaning)}</li>"
    yield "</ul></div>"


def _tiles_of(shown: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    for state in STATES:
        yield state, shown.get(state, 0)


def _tile(state: str, number: int, meaning: str) -> str:
    empty = "" if number else " none"
    name = state.replace("-", " ")
    return (
        f'<li class="tile{empty}"><b class="number">{number:,}</b> '
        f'<span class="b {state}">{name}</span><p>{meaning}</p></li>'
    )


def _bar(shown: Mapping[str, int], total: int) -> str:
    """Draw the shares; whoever does not see it has the numbers below."""
    parts, at = [], 0.0
    for state, number in shown.items():
        if number:
            width = 100 * number / total
            parts.append(f'<rect class="{state}" x="{at:.3f}%" width="{width:.3f}%" height="12"/>')
            at += width
    return f'<svg class="bar" height="12" aria-hidden="true">{"".join(parts)}</svg>'


def _notes(page: Page) -> Iterator[str]:
    report = page.report
    if report.is_interrupted:
        yield "The run was <b>interrupted</b>: what was not checked is counted as that."
    if report.not_checked:
        yield f"<b>Not checked:</b> {count(report.not_checked, 'source')}."
    if report.transcripts_not_checked:
        number = count(report.transcripts_not_checked, "file")
        yield f"<b>Not looked at:</b> {number} that may be transcripts."
    if report.weakened_by_environment:
        names = ", ".join(tag("code", text(name)) for name in report.weakened_by_environment)
        yield f"<b>Set by the environment, and weakens the verdict:</b> {names}."
    waived = sum(row.source.waiver is not None for row in page.rows)
    waived += max(sum(report.waived_counts.values()), sum(group.waived for group in page.groups))
    if waived:
        yield (
            f'<b>Waived:</b> {count(waived, "fault")}; <a href="#waivers">who answers for it, and '
            "until when</a>."
        )
    if page.has_excerpts:
        yield "This page holds <b>excerpts of the evidence</b>: hand it on as you would hand that."


def _list(steps: Sequence[str], *, start: int = 1) -> str:
    items = "".join(f"<li>{step}</li>" for step in steps)
    return f'<ol class="steps" start="{start}">{items}</ol>'


def _steps(page: Page) -> Iterator[str]:
    """Say what to do, once for each reason and finding that is no good news."""
    # Nothing settles a waiver that is over but a person's decision: that comes before the rest.
    for group in page.groups:
        if group.code == "waiver_expired":
            yield _group_step(page, group)
    sources: dict[str, list[Row]] = {}
    for row in page.rows:
        if row.is_fault and row.source.waiver is None:
            reason = str(row.source.resolution.reason or row.state)
            sources.setdefault(reason, []).append(row)
    for reason, found in sources.items():
        first = link(f"r{found[0].number}", text(reason), is_there=found[0].is_listed)
        yield _step(page, reason, first, count(len(found), "source"))
    for group in page.groups:
        is_quiet = group.severity is Severity.INFO or group.waived == group.count
        if not is_quiet and group.code not in sources and group.code != "waiver_expired":
            yield _group_step(page, group)
    if page.exit_code not in (0, *_BAD, 11):
        yield prose(describe_or_blank(page.describe, str(page.exit_code))[2])


def _group_step(page: Page, group: FindingGroup) -> str:
    first = link(f"c{group.number}", text(group.code), is_there=True)
    return _step(page, group.code, first, count(group.count, "finding"))


def _step(page: Page, code: str, place: str, number: str) -> str:
    remedy = describe_or_blank(page.describe, code)[2]
    said = prose(remedy) if remedy else "There is no page for this code."
    return f"{said} <small>{number}: {place}</small>"


def _nothing_to_do(page: Page) -> str:
    if is_softened(page):
        return "Nothing that counts is wrong; see below what was waived or left out of it."
    return "Nothing: what was checked is as it was cited."
