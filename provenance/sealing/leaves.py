r"""What a seal covers: one line of ASCII for each thing, which is the entry of a leaf.

Guarantees: pure. Each kind has a domain of its own, no two things have one entry, and an entry is
read in one spelling only (docs/seals.md defines them byte by byte). An entry holds names and
digests, never evidence.

Example:
    >>> leaf = EventLeaf("s1", 3, "a" * 64)
    >>> leaf.entry[:32]
    b'ctxaudit.leaf/1 event s1 3 aaaaa'
    >>> parse_entry(leaf.entry) == leaf
    True
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

from provenance.errors import DataError
from provenance.pointers import is_name

__all__ = [
    "DOMAIN",
    "MAX_ENTRY_BYTES",
    "REMOVED",
    "EntryError",
    "EventLeaf",
    "Leaf",
    "LedgerLeaf",
    "LockLeaf",
    "PoolLeaf",
    "StateLeaf",
    "parse_entry",
]

DOMAIN: Final = "ctxaudit.leaf/1"
# A file name of 255 bytes takes 765 at most, a pointer 1,400.
MAX_ENTRY_BYTES = 8_192
REMOVED: Final = "-"
"""In the place of a digest: what the entry is about was removed on purpose, and sealed as that."""
_NOTHING = "-"
_LEDGER_EVENTS = frozenset({"stored", "renamed", "removed"})
_is_digest = re.compile(r"[0-9a-f]{64}").fullmatch
# Nearly all entries are events; this is all that an entry of one can be.
_is_event = re.compile(
    rb"ctxaudit\.leaf/1 event ([A-Za-z0-9][A-Za-z0-9._-]{0,199}) ([1-9][0-9]{0,17}) ([0-9a-f]{64})"
).fullmatch
_is_count = re.compile(r"[1-9][0-9]{0,17}").fullmatch
_is_pool = re.compile(r"[a-z]{1,32}").fullmatch
# What stands for itself in a name; every other byte is % and two upper-case hex digits.
_PLAIN = "-._~"


class EntryError(DataError, ValueError):
    """Bytes that are no entry; the message holds nothing of them."""

    code = "invalid_entry"


@dataclass(frozen=True, slots=True)
class EventLeaf:
    """An event of a transcript: the n-th record of a session, by the digest of its bytes."""

    session: str
    ordinal: int
    sha256: str

    @property
    def key(self) -> tuple[str, ...]:
        """What it is about, without what is said of it."""
        return ("event", self.session, str(self.ordinal))

    @property
    def entry(self) -> bytes:
        """The bytes of the leaf."""
        return f"{DOMAIN} event {self.session} {self.ordinal} {self.sha256}".encode("ascii")


@dataclass(frozen=True, slots=True)
class PoolLeaf:
    """Something in another agent's log that events of a session refer to and do not hold.

    Attributes:
        session: whose.
        pool: which sort, in lower-case letters.
        number: its place in it, counted from 1.
        sha256: of its bytes.
    """

    session: str
    pool: str
    number: int
    sha256: str

    @property
    def key(self) -> tuple[str, ...]:
        """What it is about, without what is said of it."""
        return ("pool", self.session, self.pool, str(self.number))

    @property
    def entry(self) -> bytes:
        """The bytes of the leaf."""
        return _join("pool", self.session, self.pool, str(self.number), self.sha256)


@dataclass(frozen=True, slots=True)
class LedgerLeaf:
    """A line of an artifact ledger.

    Attributes:
        session: whose artifacts.
        line: its number, counted from 1.
        sha256: of its bytes, without the line end.
        event: `stored`, `renamed` or `removed`; None: the line is no valid entry.
        filename: the artifact; None without an event.
        artifact_sha256: its digest as the line has it; None where it has none.
    """

    session: str
    line: int
    sha256: str
    event: str | None = None
    filename: str | None = None
    artifact_sha256: str | None = None

    @property
    def key(self) -> tuple[str, ...]:
        """What it is about, without what is said of it."""
        return ("ledger", self.session, str(self.line))

    @property
    def entry(self) -> bytes:
        """The bytes of the leaf."""
        rest = (self.event, self.filename, self.artifact_sha256)
        return _join(
            "ledger",
            self.session,
            str(self.line),
            self.sha256,
            *(_NOTHING if one is None else one for one in rest),
        )


@dataclass(frozen=True, slots=True)
class StateLeaf:
    """A version of a state.

    Attributes:
        name: of the state; of a file in `states/`: its name, in bytes.
        version: counted from 1, in the order in which versions were sealed.
        sha256: of the version's bytes; `REMOVED` where the state was gone when it was sealed.
    """

    name: bytes
    version: int
    sha256: str

    @property
    def key(self) -> tuple[str, ...]:
        """What it is about, without what is said of it."""
        return ("state", _quote(self.name), str(self.version))

    @property
    def entry(self) -> bytes:
        """The bytes of the leaf."""
        return _join("state", _quote(self.name), str(self.version), self.sha256)


@dataclass(frozen=True, slots=True)
class LockLeaf:
    """A version of an entry of the lock file.

    Attributes:
        pointer: what is pinned, as UTF-8.
        version: counted from 1, in the order in which versions were sealed.
        sha256: of the entry's canonical JSON; `REMOVED` where it was gone when it was sealed.
    """

    pointer: bytes
    version: int
    sha256: str

    @property
    def key(self) -> tuple[str, ...]:
        """What it is about, without what is said of it."""
        return ("lock", _quote(self.pointer), str(self.version))

    @property
    def entry(self) -> bytes:
        """The bytes of the leaf."""
        return _join("lock", _quote(self.pointer), str(self.version), self.sha256)


Leaf = EventLeaf | PoolLeaf | LedgerLeaf | StateLeaf | LockLeaf


def parse_entry(entry: bytes) -> Leaf:
    """Read an entry.

    Raises:
        EntryError: it is none, or not in the one spelling.
    """
    if (event := _is_event(entry)) is not None:
        session, ordinal, sha256 = event.groups()
        return EventLeaf(session.decode("ascii"), int(ordinal), sha256.decode("ascii"))
    if len(entry) > MAX_ENTRY_BYTES:
        raise EntryError(f"entry: expected at most {MAX_ENTRY_BYTES} bytes, got more")
    try:
        domain, *fields = entry.decode("ascii").split(" ")
    except UnicodeDecodeError:
        raise EntryError("entry: expected ASCII, got another byte") from None
    if domain != DOMAIN:
        raise EntryError(f"entry: expected {DOMAIN} at its start, got another text")
    match fields:
        case ["ledger", session, line, sha256, *rest] if len(rest) == 3:
            leaf: Leaf = _ledger(LedgerLeaf(_session(session), _count(line), _digest(sha256)), rest)
        case ["pool", session, pool, number, sha256]:
            leaf = PoolLeaf(_session(session), _pool(pool), _count(number), _digest(sha256))
        case ["state", name, version, sha256]:
            leaf = StateLeaf(unquote_to_bytes(name), _count(version), _version_digest(sha256))
        case ["lock", pointer, version, sha256]:
            leaf = LockLeaf(unquote_to_bytes(pointer), _count(version), _version_digest(sha256))
        case _:
            raise EntryError("entry: expected the fields of a known kind, got others")
    if leaf.entry != entry:
        raise EntryError("entry: expected the canonical spelling, got another")
    return leaf


def _ledger(line: LedgerLeaf, rest: list[str]) -> LedgerLeaf:
    event, filename, artifact = rest
    if event == _NOTHING:
        if (filename, artifact) != (_NOTHING, _NOTHING):
            raise EntryError("entry: expected no file name without an event, got one")
        return line
    if event not in _LEDGER_EVENTS or not is_name(filename):
        raise EntryError("entry: expected an event of the ledger and a file name, got others")
    digest = None if artifact == _NOTHING else _digest(artifact)
    return replace(line, event=event, filename=filename, artifact_sha256=digest)


def _join(*fields: str) -> bytes:
    return " ".join((DOMAIN, *fields)).encode("ascii")


def _quote(name: bytes) -> str:
    return quote_from_bytes(name, safe=_PLAIN)


def _session(text: str) -> str:
    if not is_name(text):
        raise EntryError("entry: expected a session of the pointer grammar, got another text")
    return text


def _pool(text: str) -> str:
    if _is_pool(text) is None:
        raise EntryError("entry: expected a pool in lower-case letters, got another text")
    return text


def _count(text: str) -> int:
    if _is_count(text) is None:
        raise EntryError("entry: expected a number of 1 or more, got another text")
    return int(text)


def _digest(text: str) -> str:
    if _is_digest(text) is None:
        raise EntryError("entry: expected 64 lower-case hex digits, got another text")
    return text


def _version_digest(text: str) -> str:
    return text if text == REMOVED else _digest(text)
