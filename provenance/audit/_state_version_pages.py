"""Pages for findings in the state store of a home.

Guarantees: a page for each finding code that `state_versions` gives and no other module does.

Example:
    >>> STATE_VERSION_PAGES["state_history_broken"][0]
    'The history of a state is not whole, or does not follow from the versions it is of.'
"""

from __future__ import annotations

from provenance.audit._page import Page

__all__ = ["STATE_VERSION_PAGES"]

STATE_VERSION_PAGES: dict[str, Page] = {
    "state_history_broken": (
        "The history of a state is not whole, or does not follow from the versions it is of.",
        (
            "The store only ever adds versions, each one above the last, with what it changed. "
            "Somebody removed or rewrote rows in `states/states.sqlite3`, or put a part of another "
            "file in its place. With --all, changes and conflict keys are worked out again."
        ),
        (
            "Restore the file from a backup. What the missing versions said is not known; the "
            "versions that are left can be read with `ctxaudit state show HOME NAME --version N`."
        ),
    ),
}
