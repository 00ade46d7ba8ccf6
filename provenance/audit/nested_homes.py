"""State homes that lie below what was named: in a tree only their transcripts are checked.

Guarantees: a folder is taken for a home by what only a home has: its lock file, its configuration,
checkpoints of its log, its state store, or a document among its states or receipts that says what
it is. The name of a folder alone never decides, for agents have folders called `states` too. In
another home a configuration does not either, for it cites nothing. A home that another target names
is none that is passed over, by whatever path it was named.

Example:
    >>> from provenance.fs import Entry
    >>> is_home(TrustedRoot("/nowhere"), ("a",), (Entry("ctxaudit.lock", "file"),))
    True
    >>> is_home(TrustedRoot("/nowhere"), ("a",), (Entry("states", "directory"),))
    False
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence

from provenance.audit.home_config import CONFIG_FILE
from provenance.audit.request import CITING_FOLDERS
from provenance.audit.state_versions import STATE_STORE
from provenance.errors import CtxauditError
from provenance.findings import Finding, Severity
from provenance.fs import Directory, Entry, TrustedRoot
from provenance.limits import DEFAULT_LIMITS
from provenance.locks import LOCK_FILE

__all__ = ["NestedHomes", "is_home"]

# As `provenance.sealing.log`, which loads what signs; a test compares.
_SEALS = "seals"
_TRANSCRIPTS = "transcripts"
_is_log_file = re.compile(r"[0-9]{6}(?:\.checkpoint|-[0-9a-f]{64}\.leaves)").fullmatch
# Keys with what only a state or a receipt has there, found as well where the rest does not parse.
_says_what_it_is = re.compile(
    r'"schema"\s*:\s*"ctxaudit\.(?:state|receipt)/|"source_pointer"\s*:\s*"'
).search
_escapes = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|/)").sub
_MESSAGE = (
    "folder: expected no state home below what was named, got one; it was not checked as one: name "
    "it itself"
)
_Identity = tuple[int, int]
_Look = Callable[[Directory, Entry], bool]


class NestedHomes:
    """Collects the homes that lie below folders which were named, until all targets are known."""

    def __init__(self) -> None:
        """Start with none."""
        self._found: list[tuple[_Identity | None, str]] = []
        self._named: set[_Identity] = set()

    def is_audited(self, home: TrustedRoot) -> None:
        """Note a home that is audited itself."""
        identity = _identity_of(home, ())
        if identity is not None:
            self._named.add(identity)

    def look(
        self,
        root: TrustedRoot,
        names: tuple[str, ...],
        entries: Sequence[Entry],
        *,
        target: str,
        in_home: bool,
    ) -> None:
        """Look at one folder of a tree: is it a home?

        Args:
            root: what was named.
            names: the folder, below the root.
            entries: what is in it.
            target: what to call it.
            in_home: what was named is a home itself.
        """
        if is_home(root, names, entries, in_home=in_home):
            self._found.append((_identity_of(root, names), target))

    def findings(self) -> Iterator[Finding]:
        """Give a finding for each home that nobody audits."""
        for identity, target in self._found:
            if identity not in self._named:
                yield Finding("home_not_checked", Severity.ERROR, target, message=_MESSAGE)


def is_home(
    root: TrustedRoot, names: tuple[str, ...], entries: Sequence[Entry], *, in_home: bool = False
) -> bool:
    """Say whether a folder is recognisably a state home.

    Args:
        root: what it lies below.
        names: the folder.
        entries: what is in it.
        in_home: it lies in another home.
    """
    present = {entry.name for entry in entries}
    if LOCK_FILE in present or (CONFIG_FILE in present and not in_home):
        return True
    if _SEALS in present and _holds(root, (*names, _SEALS), _is_of_log):
        return True
    # What is no folder cannot be looked into; agents keep no transcripts beside such a link.
    kinds = {entry.name: entry.kind for entry in entries}
    if _TRANSCRIPTS in present and any(kinds.get(one) == "link" for one in CITING_FOLDERS):
        return True
    return any(
        folder in present and _holds(root, (*names, folder), _is_citing)
        for folder in sorted(CITING_FOLDERS, reverse=True)
    )


def _holds(root: TrustedRoot, names: tuple[str, ...], look: _Look) -> bool:
    try:
        with root.open_directory(*names) as folder:
            return any(look(folder, entry) for entry in folder.entries())
    except CtxauditError:
        return False  # a folder that cannot be listed is told by whoever walks the tree


def _identity_of(root: TrustedRoot, names: tuple[str, ...]) -> _Identity | None:
    try:
        with root.open_directory(*names) as folder:
            found = os.fstat(folder.fd)
    except (CtxauditError, OSError):
        return None
    return found.st_dev, found.st_ino


def _is_of_log(folder: Directory, entry: Entry) -> bool:
    del folder
    return _is_log_file(entry.name) is not None


def _is_citing(folder: Directory, entry: Entry) -> bool:
    """Say whether this is a state store, or a document that says it is a state or a receipt."""
    if entry.name == STATE_STORE:
        return True
    if not entry.name.endswith(".json"):
        return False
    try:
        with folder.open_file(entry.name) as file:
            if file.size > DEFAULT_LIMITS.max_document_bytes:
                return True  # nobody reads it; whoever is asked about a home has to be told of it
            data = file.read_at(0, file.size)
    except CtxauditError:
        return False
    # JSON has several spellings of one text.
    text = _escapes(_plain, data.decode("utf-8", "replace"))
    return _says_what_it_is(text) is not None


def _plain(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else "/"
