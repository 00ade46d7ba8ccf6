r"""A source: one file, or one folder of files, that holds transcripts of some format.

Guarantees: a source is a handle that was opened below a trusted root, with its name; nothing here
looks a name up again. What an adapter is shown to tell its format by is bounded.

Example:
    >>> head = Head(name="a.jsonl", data=b'{"type":"x"}\n{"type":"y"}\nnot json\n')
    >>> [first["type"] for first in head.objects]
    ['x', 'y']
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

import msgspec

from provenance.errors import DataError
from provenance.fs.directory import Directory
from provenance.fs.reading import OpenFile
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.transcripts.damage import judge

__all__ = ["HEAD_BYTES", "Head", "Source", "SourceUnreadable", "read_head"]

# So much of a file is looked at to tell its format.
HEAD_BYTES = 64 << 10
# So many records of it are parsed; a first line may be damaged, or of a kind that tells nothing.
_HEAD_RECORDS = 40
_CHUNK_BYTES = 256 << 10
# So much of a compressed file is read for its head: a first block is at most half of it.
_HEAD_PACKED_BYTES = 256 << 10
# A first line may be as long as any record.
_LONGEST_HEAD_BYTES = 64 << 20
_LINES = (".jsonl", ".jsonl.zst")


class SourceUnreadable(DataError):
    """A source as a whole cannot be read; `fault` is the code of the finding that says why.

    `container_invalid`: it is damaged, or holds something else; `container_over_limit`: a bound of
    ours (proves nothing); `container_unsupported`: what reads it is not installed.
    """

    code = "source_unreadable"

    def __init__(self, fault: str, message: str) -> None:
        """Take the code of the finding, and one line: expected, got."""
        super().__init__(message)
        self.fault = fault


class FirstObjects:
    """The objects on the first lines of a file, each parsed when somebody comes to it."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._left = iter(lines)
        self._found: list[dict[str, Any]] = []

    def __iter__(self) -> Iterator[dict[str, Any]]:
        number = 0
        while number < len(self._found) or self._find():
            yield self._found[number]
            number += 1

    def __bool__(self) -> bool:
        return bool(self._found) or self._find()

    def __len__(self) -> int:
        while self._find():
            pass
        return len(self._found)

    def _find(self) -> bool:
        """Parse on to the next object; False where there is none."""
        if len(self._found) < _HEAD_RECORDS:
            for line in self._left:
                try:
                    value = msgspec.json.decode(line)
                except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
                    # What is whole on a damaged line tells as much.
                    judged = judge(line, limits=DEFAULT_LIMITS, is_record=lambda value: True)
                    self._found += [item[2] for item in judged.found[:_HEAD_RECORDS]]
                    if judged.found:
                        return True
                    continue
                if isinstance(value, dict):
                    self._found.append(value)
                    return True
        return False


@dataclass(frozen=True)
class Head:
    """What a format is told by.

    Attributes:
        name: of the file or folder, without where it lies.
        data: the first bytes of the file, unpacked where it is compressed; empty for a folder.
        names: of what lies in the folder, sorted; empty for a file.
        is_whole: `data` is all of the file.
    """

    name: str
    data: bytes = b""
    names: Sequence[str] = ()
    is_whole: bool = True

    @cached_property
    def objects(self) -> FirstObjects:
        """The JSON objects that stand on the first lines; lines that hold none are passed over."""
        lines = self.data.split(b"\n", 4 * _HEAD_RECORDS)
        if not self.is_whole or len(lines) > 4 * _HEAD_RECORDS:
            lines.pop()  # cut off, or too far down
        return FirstObjects(lines)


@dataclass
class Source:
    """An open source.

    Attributes:
        name: of the file or folder, without where it lies.
        file: the open file; None for a folder.
        directory: the folder itself, or the one that the file lies in (a database's journal lies
            beside it). Not to be closed by an adapter.
        limits: bounds on what is read; `max_foreign_record_bytes` bounds a record.
        folder_names: names of the folders above it, from the trusted root down.
        root_name: what the folder that is the trusted root is called.
        root_place: of a folder: what the folder above the trusted root and the root itself are
            called, wherever a link to them lies.
    """

    name: str
    directory: Directory
    file: OpenFile | None = None
    limits: Limits = DEFAULT_LIMITS
    folder_names: Sequence[str] = field(default=())
    root_name: str = ""
    root_place: Sequence[str] = field(default=())
    _digest: Any = None
    _hashed_bytes: int = 0

    @property
    def stem(self) -> str:
        """The name up to its first dot: what a file of one session is often called after."""
        return self.name.partition(".")[0] or self.name

    def chunks(self) -> Iterator[bytes]:
        """Give the bytes of the file in pieces, up to the size it had at opening.

        A file that begins as a zstd file does is unpacked, whatever its name.

        Raises:
            ReadFailed: the device or file system refused.
            SourceUnreadable: a compressed file is damaged or over a bound, or what unpacks it is
                not installed; what was whole before is given first.
        """
        if self.file is None:
            return
        pieces = self._hashed(_read_pieces(self.file, self.file.size))
        first = next(pieces, b"")
        yield from _unpacked(first, pieces)

    @property
    def pass_digest(self) -> tuple[bytes | None, int]:
        """The digest of what `chunks` has read since `forget_pass`, and how many bytes that is."""
        if self._digest is None:
            return None, 0
        digest: bytes = self._digest.digest()
        return digest, self._hashed_bytes

    @property
    def pass_sha256(self) -> bytes | None:
        """The digest of the whole file as `chunks` read it last; None if it did not come so far."""
        digest, size = self.pass_digest
        return digest if self.file is not None and size == self.file.size else None

    def forget_pass(self) -> None:
        """Forget what `chunks` has read, before the source is read anew."""
        self._digest = None

    def _hashed(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        self._digest = digest = hashlib.sha256()
        self._hashed_bytes = 0
        for piece in pieces:
            digest.update(piece)
            self._hashed_bytes += len(piece)
            yield piece


def read_head(file: OpenFile, name: str) -> Head:
    """Give what a format is told by, of a file; unpacked where it is compressed.

    Args:
        file: the open file.
        name: of the file, without where it lies.

    Raises:
        ReadFailed: the device or file system refused.
        SourceUnreadable: it is compressed, and nothing of it can be unpacked.
    """
    head = _read_head(file, name, HEAD_BYTES)
    if head.is_whole or not name.endswith(_LINES) or b"\n" in head.data:
        return head
    # A first line that is longer than that (a picture in a prompt): read on behind its end.
    return _read_head(file, name, _LONGEST_HEAD_BYTES)


def _read_head(file: OpenFile, name: str, most: int) -> Head:
    end = min(file.size, max(_HEAD_PACKED_BYTES, most))
    pieces = _read_pieces(file, end)
    first = next(pieces, b"")
    parts: list[bytes] = []
    left = most + 1  # one more tells that there is more
    is_whole = end == file.size
    is_long = most > HEAD_BYTES
    try:
        for piece in _unpacked(first, pieces):
            parts.append(piece[:left])
            left -= len(parts[-1])
            if is_long and b"\n" in piece:
                # The end of the first line; a head's worth behind it is enough.
                is_long, left = False, min(left, HEAD_BYTES)
            if left <= 0:
                is_whole = False
                break
    except SourceUnreadable as error:
        # Where we stopped reading ourselves, its end says nothing of the file.
        if not parts and (is_whole or error.fault != "container_invalid"):
            raise
        is_whole = False
    data = b"".join(parts)[:most]
    return Head(name=name, data=data, is_whole=is_whole)


def _read_pieces(file: OpenFile, end: int) -> Iterator[bytes]:
    offset = 0
    while offset < end:
        piece = file.read_at(offset, min(_CHUNK_BYTES, end - offset))
        if not piece:
            return  # it was cut meanwhile
        offset += len(piece)
        yield piece


def _unpacked(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    from provenance.transcripts.containers import compressed  # noqa: PLC0415 - it needs our error

    pieces = chain((first,) if first else (), rest)
    return compressed.unpack(pieces) if compressed.is_compressed(first) else pieces
