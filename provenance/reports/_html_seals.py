"""The logs of seals that a run held its homes against, on the page.

Guarantees: each log once, with the key that the operator brought, whether the log is sound, and how
much that is sealed was not compared.

Example:
    >>> from provenance.reports._html_text import text
    >>> text("ctxaudit.example/a+0123abcd")
    'ctxaudit.example/a+0123abcd'
"""

from __future__ import annotations

from collections.abc import Iterator

from provenance.audit_report import CheckedSeal
from provenance.reports._html_page import Page
from provenance.reports._html_text import text

__all__ = ["seals"]


def seals(page: Page) -> Iterator[str]:
    """Write the table of logs; nothing where no seal was asked for."""
    if not page.report.seals:
        return
    yield '<section id="seals" aria-labelledby="seals-title">'
    yield '<h2 id="seals-title">Seals</h2>'
    yield (
        '<p class="lead">The signed logs that the homes were held against. Where a log is not '
        "sound, nothing in its home is called sealed.</p>"
    )
    for seal in page.report.seals:
        if seal.denied:
            yield f'<p class="lead"><b>{text(seal.target)}: {text(seal.not_compared)}.</b></p>'
    yield '<table class="t seals" role="table"><thead role="rowgroup"><tr role="row">'
    for title in ("Home", "Key", "Seals", "Entries", "Root", "Log"):
        yield f'<th role="columnheader" scope="col">{title}</th>'
    yield '</tr></thead><tbody role="rowgroup">'
    for seal in page.report.seals:
        yield _row(seal)
    yield "</tbody></table></section>\n"


def _row(seal: CheckedSeal) -> str:
    sound = "sound" if seal.is_sound else "<b>not sound</b>"
    cells = (
        f"<code>{text(seal.key)}</code>",
        f"{seal.seals:,}",
        f"{seal.size:,}",
        "none" if seal.root is None else f"<code>{text(seal.root)}</code>",
        sound,
    )
    return (
        f'<tr role="row"><th role="rowheader" scope="row">{text(seal.target)}</th>'
        + "".join(f'<td role="cell">{cell}</td>' for cell in cells)
        + "</tr>"
    )
