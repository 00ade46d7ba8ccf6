r"""The report as one HTML page: what is handed to whoever has to judge an agent's run.

Guarantees: one file, ASCII, that asks nothing of any network: a content security policy lets pass
only the style and the script in it, by their digests. Whatever the audited files hold is text on
it, never markup, and every id and address is made of our own words and numbers. It says everything
without the script. The verdict comes first; what is left out is counted. The same report gives the
same page. No text of the evidence stands on it but excerpts that were asked for.

Example:
    >>> from provenance.audit_report import AuditReport
    >>> page = "".join(write_html(
    ...     AuditReport(), version="0", describe=lambda code: None, exit_code=3,
    ...     verdict_words="Exit code 3. Nothing was verified.",
    ... ))
    >>> page[:15], "<h1 id=\"verdict-words\">Nothing was verified.</h1>" in page
    ('<!doctype html>', True)
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator

from provenance.audit_report import AuditReport
from provenance.reports._html_consequences import claims, consequences
from provenance.reports._html_findings import findings, waivers
from provenance.reports._html_page import Page, groups_of
from provenance.reports._html_results import order_rules, results
from provenance.reports._html_rows import Describe, rows_of
from provenance.reports._html_script import SCRIPT
from provenance.reports._html_seals import seals
from provenance.reports._html_sessions import MARKS, sessions
from provenance.reports._html_style import STYLE
from provenance.reports._html_text import tag, text
from provenance.reports._html_transcripts import references, transcripts
from provenance.reports._html_verdict import numbers, verdict

__all__ = ["write_html"]

# In the order of the page, with the names in its contents; some have nothing to say.
_SECTIONS = (
    ("numbers", "States", numbers),
    ("seals", "Seals", seals),
    ("findings", "Findings", findings),
    ("waivers", "Waivers", waivers),
    ("consequences", "Consequences", consequences),
    ("results", "All sources", results),
    ("claims", "Claims", claims),
    ("sessions", "Timelines", sessions),
    ("transcripts", "Transcripts", transcripts),
    ("references", "References", references),
)


def write_html(
    report: AuditReport,
    *,
    version: str,
    describe: Describe,
    exit_code: int,
    verdict_words: str,
    command: str = "ctxaudit verify",
) -> Iterator[str]:
    """Write the page piece by piece; the pieces joined are the document.

    Args:
        report: what was found; an excerpt in it is shown.
        version: of the tool that found it.
        describe: gives what a code means, how it arises and what to do about it.
        exit_code: of the run.
        verdict_words: what it stands for, in words; it may begin with `Exit code N.`.
        command: what the operator called, without targets.
    """
    page = Page(
        report=report,
        rows=rows_of(report),
        groups=groups_of(report),
        describe=describe,
        version=version,
        command=command,
        exit_code=exit_code,
        verdict=verdict_words,
    )
    yield from _head(page)
    yield from _top(page)
    yield '<main id="main" class="wrap">\n'
    yield from verdict(page)
    # The first piece of each tells whether it says anything, and so what the contents name.
    started = [(name, next(pieces, ""), pieces) for name, pieces in _sections(page)]
    yield _contents(name for name, first, _ in started if first)
    for _, first, pieces in started:
        yield first
        yield from pieces
    yield "</main>\n"
    yield (
        '<footer class="wrap">'
        f"<p>Written by ctxaudit {text(version)}. Each answer is true for the moment of the run. "
        "<code>ctxaudit explain CODE</code> says more about a code; "
        "<code>--format json</code> gives everything, for programs.</p></footer>\n"
        f"<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def _head(page: Page) -> Iterator[str]:
    order = "".join(order_rules(page.rows))
    allowed = " ".join(_source(style) for style in (STYLE, order))
    policy = (
        f"default-src 'none'; style-src {allowed}; script-src {_source(SCRIPT)}; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="robots" content="noindex,nofollow">\n'
        f"<title>{_title(page)}</title>\n"
        f"<style>{STYLE}</style>\n<style>{order}</style>\n</head>\n"
    )


def _source(inline: str) -> str:
    """Name an inline style or script in the policy: by its digest alone."""
    digest = hashlib.sha256(inline.encode("ascii")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _title(page: Page) -> str:
    targets = ", ".join(text(target, 60) for target in page.report.targets[:3])
    # No element may stand in a title: what would be one is left as its text.
    plain = targets.replace('<i class="x">', "").replace("</i>", "")
    return f"Exit code {page.exit_code}{': ' + plain if plain else ''} - ctxaudit"


def _top(page: Page) -> Iterator[str]:
    report = page.report
    named = ", ".join(tag("code", text(target)) for target in report.targets) or "pointers"
    facts = [
        ("Audited", named),
        ("Command", tag("code", text(page.command))),
        ("Started", text(report.started_at) or "not said"),
        ("Finished", text(report.finished_at) or "not said"),
    ]
    if report.tenant is not None:
        facts.insert(2, ("Asked as tenant", tag("code", text(report.tenant))))
    yield f'<body>\n<a class="skip" href="#main">To the verdict</a>\n{MARKS}\n'
    yield (
        '<header class="top wrap"><div class="mast"><p class="brand">ctxaudit'
        f"<span>evidence report</span></p><small>version {text(page.version)}</small></div>"
        '<dl class="run">'
    )
    yield "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts)
    yield "</dl></header>\n"


def _sections(page: Page) -> Iterator[tuple[str, Iterator[str]]]:
    for name, _, write in _SECTIONS:
        yield name, write(page)


def _contents(present: Iterable[str]) -> str:
    names = {name: shown for name, shown, _ in _SECTIONS}
    links = "".join(f'<li><a href="#{name}">{names[name]}</a></li>' for name in present)
    return f'<nav aria-label="On this page"><ul>{links}</ul></nav>\n'
