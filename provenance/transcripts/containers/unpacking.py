"""Unpacking one member of an archive piece by piece: stored, deflate and Zstandard.

Guarantees: what is given is never longer than a block at a time, whatever the bytes announce, so
the caller counts before memory fills. A stream that is damaged, torn, or goes on after its end
raises `StreamDamaged`; for a bound, or a library that is not there, see `unpack`.

Example:
    >>> import zlib
    >>> packed = zlib.compress(b"a" * 9, wbits=-15)
    >>> b"".join(unpack(DEFLATED, [packed[:3], packed[3:]]))
    b'aaaaaaaaa'
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from provenance.errors import DataError
from provenance.transcripts.containers import compressed
from provenance.transcripts.sources import SourceUnreadable

__all__ = ["DEFLATED", "METHODS", "STORED", "ZSTANDARD", "StreamDamaged", "unpack"]

# Numbers of the ZIP format (APPNOTE 4.4.5).
STORED = 0
DEFLATED = 8
ZSTANDARD = 93
METHODS = frozenset({STORED, DEFLATED, ZSTANDARD})

_BLOCK_BYTES = 256 << 10
# A frame of no bytes: reading it needs the library and nothing else.
_EMPTY_FRAME = bytes.fromhex("28b52ffd2000010000")


class StreamDamaged(DataError):
    """A compressed stream is no stream of its method, is cut short, or goes on after its end."""

    code = "stream_damaged"


def unpack(method: int, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Unpack a stream that comes in pieces.

    Args:
        method: one of `METHODS`.
        pieces: the packed bytes, in order, each small (a block).

    Raises:
        StreamDamaged: see there; what was given before stays given.
        SourceUnreadable: `container_unsupported`: nothing here reads Zstandard;
            `container_over_limit`: a bound of its reader.
    """
    if method == STORED:
        return iter(pieces)
    if method == DEFLATED:
        return _inflate(pieces)
    if method == ZSTANDARD:
        return _unpack_zstandard(pieces)
    raise ValueError("method: expected one that is read here, got another")


def _inflate(pieces: Iterable[bytes]) -> Iterator[bytes]:
    engine = zlib.decompressobj(-zlib.MAX_WBITS)
    has_ended = False
    try:
        for piece in pieces:
            if has_ended:
                raise _goes_on()
            data = piece
            while data:
                if block := engine.decompress(data, _BLOCK_BYTES):
                    yield block
                data = engine.unconsumed_tail
                has_ended = engine.eof
            if engine.unused_data:
                raise _goes_on()
        # All input is taken; the engine may still hold output.
        while not engine.eof:
            block = engine.decompress(b"", _BLOCK_BYTES)
            if not block:
                raise StreamDamaged("stream: expected its end, got the end of the bytes")
            yield block
    except zlib.error:
        raise StreamDamaged("stream: expected deflate, got other bytes") from None


def _unpack_zstandard(pieces: Iterable[bytes]) -> Iterator[bytes]:
    for _ in compressed.unpack([_EMPTY_FRAME]):
        pass  # without the library no member can be read: that is no fault of this one
    try:
        yield from compressed.unpack(pieces)
    except SourceUnreadable as error:
        if error.fault == "container_over_limit":
            raise
        # Damage, or a dictionary that an archive never holds.
        raise StreamDamaged("stream: expected Zstandard frames, got other bytes") from None


def _goes_on() -> StreamDamaged:
    return StreamDamaged("stream: expected no bytes after its end, got some")
