"""What a shell offers for a word that is being typed, where click does not know it by itself.

Guarantees: only names that this program brings along; no file below a root is opened for a press of
the tab key, so that nothing hostile is parsed for it. Pointers are therefore not completed.

Example:
    >>> [item.value for item in complete_states(None, None, "corrupt,mis")]
    ['corrupt,missing']
"""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

__all__ = ["complete_codes", "complete_formats", "complete_schemas", "complete_states"]


def _starting(
    incomplete: str, known: Iterable[str], helps: dict[str, str] | None = None
) -> list[CompletionItem]:
    return [
        CompletionItem(name, help=(helps or {}).get(name))
        for name in known
        if name.startswith(incomplete)
    ]


def complete_codes(
    ctx: click.Context | None, param: click.Parameter | None, incomplete: str
) -> list[CompletionItem]:
    """Offer the codes that have a page."""
    from provenance.audit import all_explanations

    pages = {page.code: page.meaning for page in all_explanations()}
    return _starting(incomplete, sorted(pages), pages)


def complete_schemas(
    ctx: click.Context | None, param: click.Parameter | None, incomplete: str
) -> list[CompletionItem]:
    """Offer the names of the schemas."""
    from provenance.schemas import SCHEMA_NAMES

    return _starting(incomplete, SCHEMA_NAMES)


def complete_formats(incomplete: str) -> list[CompletionItem]:
    """Offer the names of the formats of transcripts, also of those from outside."""
    from provenance.transcripts.formats import format_names

    return _starting(incomplete, format_names())


def complete_states(
    ctx: click.Context | None, param: click.Parameter | None, incomplete: str
) -> list[CompletionItem]:
    """Offer a further state after those that stand there, with commas."""
    from .report_options import STATES

    before, comma, last = incomplete.rpartition(",")
    given = before.split(",")
    left = [state for state in STATES if state not in given]
    return [CompletionItem(f"{before}{comma}{state}") for state in left if state.startswith(last)]
