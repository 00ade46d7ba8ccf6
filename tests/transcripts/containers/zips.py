"""ZIP archives written byte by byte, so that each number in them can be a lie.

Guarantees: nothing here uses the code under test.

Example:
    >>> import io, zipfile
    >>> zipfile.ZipFile(io.BytesIO(make_zip([Part("a", b"hello")]))).read("a")
    b'hello'
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from provenance.fs import TrustedRoot
from provenance.fs.reading import OpenFile

__all__ = ["Part", "close_files", "deflate", "end_record", "make_zip", "open_file"]


def deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(9, zlib.DEFLATED, -15)
    return engine.compress(data) + engine.flush()


@dataclass
class Part:
    """One member; what is None follows from the rest."""

    name: str | bytes
    data: bytes = b""
    method: int = 8
    packed: bytes | None = None
    size: int | None = None
    crc: int | None = None
    flags: int = 0x800
    mode: int = 0o100600
    local_name: bytes | None = None
    local_method: int | None = None
    local_flags: int | None = None
    local_numbers: tuple[int, int, int] | None = None
    local_extra: bytes = b""
    extra: bytes = b""
    descriptor: bytes = b""


def make_zip(
    parts: Sequence[Part], *, before: bytes = b"", after: bytes = b"", comment: bytes = b""
) -> bytes:
    body, directory = bytearray(), bytearray()
    for part in parts:
        name = part.name.encode() if isinstance(part.name, str) else part.name
        packed = part.packed
        if packed is None:
            packed = deflate(part.data) if part.method == 8 else part.data
        size = len(part.data) if part.size is None else part.size
        crc = zlib.crc32(part.data) if part.crc is None else part.crc
        offset = len(body)
        local_name = name if part.local_name is None else part.local_name
        numbers = part.local_numbers or (crc, len(packed), size)
        body += struct.pack(
            "<4s5H3I2H",
            b"PK\x03\x04",
            20,
            part.flags if part.local_flags is None else part.local_flags,
            part.method if part.local_method is None else part.local_method,
            0,
            0,
            *numbers,
            len(local_name),
            len(part.local_extra),
        )
        body += local_name + part.local_extra + packed + part.descriptor
        directory += struct.pack(
            "<4s6H3I5H2I",
            b"PK\x01\x02",
            3 << 8 | 20,
            20,
            part.flags,
            part.method,
            0,
            0,
            crc,
            len(packed),
            size,
            len(name),
            len(part.extra),
            0,
            0,
            0,
            part.mode << 16,
            offset,
        )
        directory += name + part.extra
    end = end_record(len(parts), len(directory), len(body), comment)
    return before + bytes(body) + bytes(directory) + end + after


def end_record(count: int, size: int, offset: int, comment: bytes = b"") -> bytes:
    return (
        struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, size, offset, len(comment))
        + comment
    )


_opened: list[OpenFile] = []


@pytest.fixture(autouse=True)
def close_files() -> Iterator[None]:
    """Close what the test opened, before the look at what was left open."""
    yield
    while _opened:
        _opened.pop().close()


def open_file(folder: Path, data: bytes, name: str = "a.zip") -> OpenFile:
    (folder / name).write_bytes(data)
    with TrustedRoot(folder) as root, root.open_directory() as directory:
        _opened.append(directory.open_file(name))
    return _opened[-1]
