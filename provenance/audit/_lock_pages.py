"""Pages for findings about lock files and about `--fast`.

Guarantees: a page for each code that these give.

Example:
    >>> LOCK_PAGES["lock_unreadable"][0]
    'The lock file of the home cannot be read, so nobody knows what was pinned.'
"""

from __future__ import annotations

from provenance.audit._page import Page

__all__ = ["LOCK_PAGES"]

LOCK_PAGES: dict[str, Page] = {
    "lock_unreadable": (
        "The lock file of the home cannot be read, so nobody knows what was pinned.",
        (
            "A merge left its conflict markers, entries stand twice or out of order, it was edited "
            "by hand, it is a link, or may not be read."
        ),
        (
            "Read the message: it names the entry or line. Take the file from its history and run "
            "`ctxaudit pin` again; `ctxaudit schema lock` prints the schema."
        ),
    ),
    "checked_by_blake3": (
        "Artifacts were held against the BLAKE3 of sealed ledger lines, and not hashed by SHA-256.",
        "The operator asked for it with --fast, and a seal covers those ledger lines.",
        "Nothing; or run without --fast, so that the digest of each pointer is computed.",
    ),
}
