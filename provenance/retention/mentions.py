r"""Which stored artifacts a stream of bytes mentions, whatever the bytes are.

Guarantees: nothing that cites an artifact is missed for these spellings: a pointer with a digest of
any length and in either case, or with none, whole or as the beginning of something else; the path
`tool-results/<file>` in any session, also with `.` on the way; letters written as JSON escapes
(also escaped twice, or with an escaped backslash) or as `%XX` of a URL, and the wide letters of
UTF-16. Finding too much is wanted: it keeps a file, and a miss would lose one. Only names that were
asked for are kept, so memory is bounded by them. Time is linear in the bytes.

Not seen through: Base64 and other encodings of whole texts, HTML entities, a way through `..`.

Example:
    >>> stored = StoredNames([("s1", "log.txt")])
    >>> finder = MentionFinder(stored)
    >>> finder.feed(b'{"content":"see artifact:s1:log.txt:01234')
    >>> finder.feed(b'56789ab"}')
    >>> finder.found
    {('s1', 'log.txt')}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

__all__ = ["MentionFinder", "StoredNames"]

_NAME = rb"[A-Za-z0-9][A-Za-z0-9._-]{0,199}"
# The look-ahead lets one pointer begin inside another. The digest does not matter: what was meant
# lies under the name.
_pointers = re.compile(rb"artifact:(?=(" + _NAME + rb"):(" + _NAME + rb"))").finditer
# As other agents cite what they put aside; a slash may be escaped, or be Windows's.
_paths = re.compile(
    rb"tool-results[\\/]{1,16}(?:\.[\\/]{1,16}){0,16}(?=(" + _NAME + rb"))"
).finditer
# An ASCII character as a JSON escape; escaped again, there are twice as many backslashes. The bound
# keeps a run of them from costing its square.
_escapes = re.compile(rb"\\{1,16}u00([2-7][0-9A-Fa-f])")
_percents = re.compile(rb"%([2-7][0-9A-Fa-f])")
# An escape of an escape, and that of another one.
_PASSES = 3
# What a name in running text may have behind it.
_CLOSING = ".-_"
# The longest pointer has 476 characters, each an escape of at most 21 bytes, in
# letters of two.
_OVERLAP_BYTES = 1 << 15

Name = tuple[str, str]


class StoredNames:
    """The artifacts that are asked about: session and file name."""

    __slots__ = ("_by_file", "_names")

    def __init__(self, names: Iterable[Name]) -> None:
        self._names = frozenset(names)
        self._by_file: dict[str, list[Name]] = {}
        for name in self._names:
            self._by_file.setdefault(name[1], []).append(name)

    def by_pointer(self, session_id: str, filename: str) -> Iterable[Name]:
        """Give the artifacts that a pointer may name; a sentence may end behind it."""
        for shorter in _shorter(filename):
            name = (session_id, shorter)
            if name in self._names:
                yield name

    def by_file(self, filename: str) -> Iterable[Name]:
        """Give the artifacts that a path may mean: of that file name, in any session."""
        for shorter in _shorter(filename):
            yield from self._by_file.get(shorter, ())


def _shorter(filename: str) -> Iterator[str]:
    """Give a name, and without each sign that a sentence may have put behind it."""
    yield filename
    while filename and filename[-1] in _CLOSING:
        filename = filename[:-1]
        yield filename


class MentionFinder:
    """Takes the bytes of one file in pieces; `found` holds the artifacts that it mentions."""

    __slots__ = ("_stored", "_tail", "found")

    def __init__(self, stored: StoredNames) -> None:
        self._stored = stored
        self._tail = b""
        self.found: set[Name] = set()

    def feed(self, block: bytes) -> None:
        """Take the next piece, of any size."""
        data = self._tail + block if self._tail else block
        self._look(data)
        plain = data.replace(b"\0", b"") if b"\0" in data else data
        if plain is not data:
            self._look(plain)
        for _ in range(_PASSES):
            if b"\\u00" not in plain and b"%" not in plain:
                break
            decoded = _escapes.sub(_char, plain) if b"\\u00" in plain else plain
            decoded = _percents.sub(_char, decoded) if b"%" in decoded else decoded
            if decoded == plain:
                break
            plain = decoded
            self._look(plain)
        self._tail = data[-_OVERLAP_BYTES:]

    def _look(self, data: bytes) -> None:
        for match in _pointers(data):
            self.found.update(self._stored.by_pointer(match[1].decode(), match[2].decode()))
        for match in _paths(data):
            self.found.update(self._stored.by_file(match[1].decode()))


def _char(match: re.Match[bytes]) -> bytes:
    return bytes((int(match[1], 16),))
