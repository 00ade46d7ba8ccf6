r"""Unpacking a zstd file piece by piece (RFC 8878): any number of frames, one after the other.

Guarantees: bounded memory, whatever the file says of itself: pieces of at most 256 KiB are given,
and a frame that asks for a larger window than our bound is refused before anything is set aside for
it. What a file unpacks to is bounded too, so that a small file cannot keep us busy for days. What
was whole before the damage is given first, then `SourceUnreadable` says what is wrong: its fault
is `container_invalid` (damaged, or something else), `container_over_limit` (a bound of ours) or
`container_unsupported` (the library is not there, or a dictionary that the file does not hold).

The library is the standard one where Python has it (3.14), else its backport, which the extra
`zstd` installs; it is imported when the first frame is met.

Example:
    >>> is_compressed(b"\x28\xb5\x2f\xfd"), is_compressed(b'{"type":"session_meta"}')
    (True, False)
    >>> list(unpack([b"\x50\x2a\x4d\x18\x02\x00\x00\x00hi"]))
    []
"""

from __future__ import annotations

import importlib
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, cast

from provenance.transcripts.sources import SourceUnreadable

__all__ = ["DEFAULT_BOUNDS", "UnpackBounds", "is_compressed", "unpack"]

_MAGIC = b"\x28\xb5\x2f\xfd"
# A frame that holds no data of the file; tools put notes of their own there.
_SKIPPABLE_TAIL = b"\x2a\x4d\x18"
# So much is handed to the library at once. What is left over after a frame is copied, so small
# pieces keep a file of many tiny frames cheap.
_PACKED_PIECE_BYTES = 32 << 10
_PIECE_BYTES = 256 << 10
# Of one skippable frame; 4 bytes hold its length.
_SKIPPED_PIECE_BYTES = 256 << 10
_LIBRARIES = ("compression.zstd", "backports.zstd")
_EXTRA = "ctxaudit-provenance[zstd]"


@dataclass(frozen=True, slots=True)
class UnpackBounds:
    """Bounds on what one file may cost.

    Attributes:
        max_window_log: largest window of a frame, as a power of two: so much memory it takes.
            27 (128 MiB) is what every zstd decoder must be asked to exceed.
        free_bytes: so much may come out of any file, however small. 256 MiB take a second.
        max_ratio: beyond that, so many bytes may come out for each byte that was read. Text with
            many repeats reaches 100; what is made to explode reaches 30,000.
    """

    max_window_log: int = 27
    free_bytes: int = 256 << 20
    max_ratio: int = 250


DEFAULT_BOUNDS = UnpackBounds()


class _Frame(Protocol):
    """What is used of the library's `ZstdDecompressor`, which takes one frame."""

    eof: bool
    needs_input: bool
    unused_data: bytes

    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


def is_compressed(head: bytes) -> bool:
    """Say whether some bytes begin as a zstd file does; no text of JSON begins so."""
    return head.startswith(_MAGIC) or _is_skippable(head[:4])


def unpack(chunks: Iterable[bytes], *, bounds: UnpackBounds = DEFAULT_BOUNDS) -> Iterator[bytes]:
    """Give what a zstd file holds, in pieces.

    Args:
        chunks: the file's bytes, in pieces of any size.
        bounds: on memory, and on what comes out.

    Raises:
        SourceUnreadable: after the last whole piece; see the module.
    """
    packed = _Packed(chunks)
    unpacked = 0
    library: Any = None
    while True:
        begin = packed.count
        magic = packed.take(4)
        if not magic:
            return
        if _is_skippable(magic):
            _skip_frame(packed)
            continue
        if magic != _MAGIC:
            if _may_begin_a_frame(magic):
                raise _cut()
            raise _invalid(f"expected a frame or the end at byte {begin}, got other bytes")
        header = _read_header(packed, bounds)
        library = library or _find_library()
        for piece in _unpack_frame(packed, magic + header, library, bounds):
            unpacked += len(piece)
            if unpacked > max(bounds.free_bytes, bounds.max_ratio * packed.count):
                raise SourceUnreadable(
                    "container_over_limit",
                    f"compressed file: expected at most {bounds.free_bytes} bytes inside, or "
                    f"{bounds.max_ratio} for each byte of the file, got more",
                )
            yield piece


class _Packed:
    """The file's bytes, in the pieces that are asked for."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._held: deque[memoryview] = deque()
        self.count = 0  # of the bytes that were taken

    def piece(self, size: int) -> bytes:
        """Take some bytes, at most `size`; none at the end."""
        while not self._held:
            chunk = next(self._chunks, None)
            if chunk is None:
                return b""
            if chunk:
                self._held.append(memoryview(chunk))
        view = self._held.popleft()
        if len(view) > size:
            self._held.appendleft(view[size:])
            view = view[:size]
        self.count += len(view)
        return bytes(view)

    def take(self, size: int) -> bytes:
        """Take `size` bytes; fewer only at the end."""
        parts: list[bytes] = []
        while size and (part := self.piece(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def give_back(self, data: bytes) -> None:
        if data:
            self._held.appendleft(memoryview(data))
            self.count -= len(data)


def _unpack_frame(
    packed: _Packed,
    begun: bytes,
    library: Any,  # noqa: ANN401 - a module of which there are two
    bounds: UnpackBounds,
) -> Iterator[bytes]:
    options = {library.DecompressionParameter.window_log_max: bounds.max_window_log}
    failure = cast("type[Exception]", library.ZstdError)
    try:
        frame = cast("_Frame", library.ZstdDecompressor(options=options))
        piece = frame.decompress(begun, _PIECE_BYTES)
        while True:
            if piece:
                yield piece
            if frame.eof:
                packed.give_back(frame.unused_data)
                return
            data = b""
            if frame.needs_input:
                data = packed.piece(_PACKED_PIECE_BYTES)
                if not data:
                    raise _cut()
            piece = frame.decompress(data, _PIECE_BYTES)
    except failure:
        raise _invalid("expected a sound frame, got damaged data or a wrong checksum") from None


def _read_header(packed: _Packed, bounds: UnpackBounds) -> bytes:
    """Take what stands before a frame's blocks (RFC 8878, 3.1.1.1), and judge what it asks for."""
    descriptor = packed.take(1)
    if not descriptor:
        raise _cut()
    flags = descriptor[0]
    is_single_segment = bool(flags & 0x20)
    dictionary_size = (0, 1, 2, 4)[flags & 3]
    content_size = (int(is_single_segment), 2, 4, 8)[flags >> 6]
    size = int(not is_single_segment) + dictionary_size + content_size
    fields = packed.take(size)
    if len(fields) < size:
        raise _cut()
    if is_single_segment:
        window = int.from_bytes(fields[dictionary_size:], "little")
        window += 256 if content_size == 2 else 0
    else:
        base = 1 << (10 + (fields[0] >> 3))
        window = base + base // 8 * (fields[0] & 7)
    if window > 1 << bounds.max_window_log:
        raise SourceUnreadable(
            "container_over_limit",
            f"compressed file: expected a window of at most {1 << bounds.max_window_log} bytes, "
            f"got {window}",
        )
    start = int(not is_single_segment)
    if any(fields[start : start + dictionary_size]):
        raise SourceUnreadable(
            "container_unsupported",
            "compressed file: expected a frame without a dictionary, got one that needs it",
        )
    return descriptor + fields


def _skip_frame(packed: _Packed) -> None:
    length = packed.take(4)
    if len(length) < 4:
        raise _cut()
    left = int.from_bytes(length, "little")
    while left:
        piece = packed.piece(min(left, _SKIPPED_PIECE_BYTES))
        if not piece:
            raise _cut()
        left -= len(piece)


def _is_skippable(magic: bytes) -> bool:
    return len(magic) == 4 and magic[0] >> 4 == 5 and magic[1:] == _SKIPPABLE_TAIL


def _may_begin_a_frame(text: bytes) -> bool:
    """Say whether these few bytes, the last of a file, are a frame's first ones."""
    return len(text) < 4 and (
        _MAGIC.startswith(text) or (text[0] >> 4 == 5 and _SKIPPABLE_TAIL.startswith(text[1:]))
    )


def _find_library() -> Any:  # noqa: ANN401 - a module of which there are two
    for name in _LIBRARIES:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise SourceUnreadable(
        "container_unsupported", f"compressed file: expected the extra {_EXTRA}, got none installed"
    )


def _invalid(message: str) -> SourceUnreadable:
    return SourceUnreadable("container_invalid", f"compressed file: {message}")


def _cut() -> SourceUnreadable:
    return _invalid("expected the end of a frame, got the end of the file")
