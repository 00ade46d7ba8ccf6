"""What stands in the place of something that was sealed and is gone: a link, a folder, a pipe.

Guarantees: folders are listed and nothing is opened but them. A name that holds a regular file, or
nothing, is not told: what is in a file is for those who read it. Each folder is listed once.

Example:
    >>> from provenance.fs import TrustedRoot
    >>> Places(TrustedRoot("/nowhere")).instead("transcripts", "run-1.jsonl") is None
    True
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from provenance.artifacts.ledger import LEDGER_NAME
from provenance.audit.part import AuditPart
from provenance.audit.state_versions import STATE_STORE
from provenance.errors import CtxauditError
from provenance.fs import TrustedRoot
from provenance.locks import LOCK_FILE
from provenance.sealing.history import (
    RECEIPT_PREFIX,
    SPOILED,
    STORE_PREFIX,
    History,
    HomeLeaves,
    shown_name,
)

__all__ = ["Places", "find_instead"]

_KINDS = {
    "file": "a file",
    "directory": "a folder",
    "link": "a link",
    "other": "a pipe, socket or device",
}


class Places:
    """The names below a root, as far as they are asked for."""

    def __init__(self, root: TrustedRoot) -> None:
        """Take the root; nothing is looked at yet."""
        self._root = root
        self._listed: dict[tuple[str, ...], Mapping[str, str]] = {}

    def instead(self, *names: str) -> str | None:
        """Say what stands in the place of a regular file; None: such a file, or nothing.

        Args:
            names: of the folders below the root, and of the file.
        """
        for depth, name in enumerate(names[:-1]):
            kind = self._list(names[:depth]).get(name)
            if kind is None:
                return None
            if kind != "directory":
                return f"{_KINDS[kind]} in the place of {'/'.join(names[: depth + 1])}/"
        kind = self._list(names[:-1]).get(names[-1])
        return None if kind in (None, "file") else f"{_KINDS[kind]} in its place"

    def _list(self, names: tuple[str, ...]) -> Mapping[str, str]:
        if names not in self._listed:
            try:
                with self._root.open_directory(*names) as folder:
                    listed = {entry.name: entry.kind for entry in folder.entries()}
            except CtxauditError:
                listed = {}  # that it cannot be read is told by whoever has to read it
            self._listed[names] = listed
        return self._listed[names]


def find_instead(
    home: TrustedRoot, part: AuditPart, sealed: History, now: HomeLeaves
) -> dict[tuple[str, str], str]:
    """Say of all that was sealed and of which nothing is left what stands there, as `HomeLeaves`.

    Args:
        home: its root.
        part: its roots for transcripts and artifacts.
        sealed: what a log has of it.
        now: what was found, and what was not looked at: that is not looked at here either.
    """
    of_home = Places(home)
    transcripts = of_home if part.transcript_folder else _places(part.transcripts)
    folders = tuple(part.transcript_folder.split("/")[:-1])
    ledgers = of_home if part.artifacts is home else _places(part.artifacts)
    found: dict[tuple[str, str], str | None] = {}
    for session in sealed.events.keys() - now.events.keys():
        if transcripts is not None and ("event", session) not in now.skipped:
            place = transcripts.instead(*folders, f"{session}.jsonl")
            found["event", session] = place
    for session in sealed.ledgers.keys() - now.ledgers.keys():
        if ledgers is not None and ("ledger", session) not in now.skipped:
            found["ledger", session] = ledgers.instead(session, LEDGER_NAME)
    for name in sealed.states:
        if all(digest == SPOILED for digest in now.states.get(name, ())):
            found["state", shown_name(name)] = of_home.instead(*_state_place(name))
    if sealed.lock and not now.lock and ("lock", "") not in now.skipped:
        found["lock", ""] = of_home.instead(LOCK_FILE)
    return dict(_told(found))


def _told(found: Mapping[tuple[str, str], str | None]) -> Iterator[tuple[tuple[str, str], str]]:
    for key, what in found.items():
        if what is not None:
            yield key, what


def _places(root: TrustedRoot | None) -> Places | None:
    return None if root is None else Places(root)


def _state_place(name: bytes) -> tuple[str, ...]:
    if name.startswith(STORE_PREFIX):
        return "states", STATE_STORE
    if name.startswith(RECEIPT_PREFIX):
        return "receipts", os.fsdecode(name.removeprefix(RECEIPT_PREFIX))
    return "states", os.fsdecode(name)
