"""Which file a place in the store of states lies in: `states/states.sqlite3:NAME@VERSION`.

Guarantees: pure. Only what an audit says of the store is taken apart; a file whose real name holds
a colon keeps it, since what is said of such a file has another form or another code.

Example:
    >>> store_file("home/states/states.sqlite3:run-3@2")
    'home/states/states.sqlite3'
    >>> store_file("home/states/states.sqlite3:old.json") is None
    True
"""

from __future__ import annotations

import re

__all__ = ["store_file"]

# A name as in pointers, which is what the store takes for a state's.
_match_place = re.compile(
    r"((?:[^/]+/)*states/states\.sqlite3):[A-Za-z0-9][A-Za-z0-9._-]{0,199}(@[1-9][0-9]{0,17})?"
).fullmatch
# Findings about states; any other names files of a folder, whatever they are called.
_OF_STATES = frozenset(
    {
        "not_sealed",
        "seal_not_compared",
        "sealed_state_changed",
        "sealed_state_removed",
        "sealed_state_versions_rewritten",
        "state_history_broken",
        "state_unreadable",
    }
)
_OF_THE_STORE_ALONE = frozenset({"sealed_state_versions_rewritten", "state_history_broken"})


def store_file(place: str, code: str | None = None) -> str | None:
    """Give the store that a place lies in; None where it is a file itself.

    Args:
        place: as citations and findings have it.
        code: of the finding; None: a citation, which always names the version.
    """
    found = _match_place(place)
    if found is None or (code is not None and code not in _OF_STATES):
        return None
    file, version = found.groups()
    # A document of a state ends in .json and has no version.
    is_of_store = version is not None or code in _OF_THE_STORE_ALONE
    if not is_of_store and (code is None or place.endswith(".json")):
        return None
    return str(file)
