"""A file system of our own making: it folds names, fails, lies and grows as a test wants it.

Guarantees: read-only, in memory, served by a forked process through `/dev/fuse`; nothing else is
needed, and nothing is left when the block ends. The tests that use it run in a mount namespace of
their own (`tests.attacks.namespaces`).

Example:
    >>> Node(data=b"text").mode & 0o777
    292
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import signal
import stat
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

__all__ = ["Node", "mounted"]

_LOOKUP, _FORGET, _GETATTR, _READLINK, _OPEN, _READ, _STATFS, _RELEASE = 1, 2, 3, 5, 14, 15, 17, 18
_FLUSH, _INIT, _OPENDIR, _READDIR, _RELEASEDIR, _INTERRUPT, _DESTROY = 25, 26, 27, 28, 29, 36, 38
_BATCH_FORGET = 42
_HEADER = struct.Struct("<IIQQIIII")
_SILENT = frozenset({_FORGET, _BATCH_FORGET, _INTERRUPT, _DESTROY})
_DIRECT_IO = 1  # every read comes here, none is answered from memory


@dataclass
class Node:
    """One file (`data`), link (`target`) or folder (`children`), and how it misbehaves."""

    data: bytes = b""
    children: dict[str, Node] | None = None
    target: str | None = None
    # the error that each operation answers with: "lookup", "open", "read"
    errors: dict[str, int] = field(default_factory=dict)
    # reads from this offset on fail with EIO
    fails_from: int | None = None
    # what the file system says of the size, where that is not the length of the data
    claimed_size: int | None = None
    # every look at it finds another time
    never_rests: bool = False
    looks: int = 0

    @property
    def mode(self) -> int:
        """The `st_mode`."""
        if self.children is not None:
            return stat.S_IFDIR | 0o755
        if self.target is not None:
            return stat.S_IFLNK | 0o777
        return stat.S_IFREG | 0o444


class _Server:
    def __init__(self, device: int, top: Node, fold: Callable[[str], str]) -> None:
        self._device = device
        self._fold = fold
        self._nodes = [top, top]  # the number of the top is 1

    def serve(self) -> None:
        while True:
            try:
                request = os.read(self._device, 1 << 21)
            except OSError as error:
                if error.errno in (errno.ENODEV, errno.EBADF):
                    return
                continue
            _, code, unique, number, *_ = _HEADER.unpack_from(request)
            if code == _DESTROY:
                return
            if code in _SILENT:
                continue
            try:
                answer, failure = self._answer(code, number, request[_HEADER.size :]), 0
            except OSError as error:
                answer, failure = b"", error.errno or errno.EIO
            reply = struct.pack("<IiQ", 16 + len(answer), -failure, unique) + answer
            with contextlib.suppress(OSError):  # the asker may be gone
                os.write(self._device, reply)

    def _answer(self, code: int, number: int, body: bytes) -> bytes:
        if code == _INIT:
            return struct.pack(
                "<IIIIHHIIHHI", 7, 31, 1 << 17, 0, 8, 6, 1 << 17, 1, 0, 0, 0
            ) + bytes(28)
        if code == _STATFS:
            return bytes(80)
        node = self._nodes[number]
        if code == _LOOKUP:
            return self._look_up(node, body.rstrip(b"\0").decode())
        if code == _GETATTR:
            return struct.pack("<QII", 0, 0, 0) + self._attributes(number)
        if code == _READLINK:
            return (node.target or "").encode()
        if code in (_OPEN, _OPENDIR):
            _fail(node, "open")
            return struct.pack("<QII", 0, _DIRECT_IO if code == _OPEN else 0, 0)
        if code == _READ:
            _, offset, size = struct.unpack_from("<QQI", body)
            return _read(node, offset, size)
        if code == _READDIR:
            _, offset, size = struct.unpack_from("<QQI", body)
            return self._list(node, offset, size)
        if code in (_RELEASE, _RELEASEDIR, _FLUSH):
            return b""
        raise OSError(errno.ENOSYS, "no such operation")

    def _look_up(self, folder: Node, name: str) -> bytes:
        for stored, node in (folder.children or {}).items():
            if self._fold(stored) == self._fold(name):
                _fail(node, "lookup")
                number = self._number(node)
                return struct.pack("<QQQQII", number, 0, 0, 0, 0, 0) + self._attributes(number)
        raise OSError(errno.ENOENT, "no such name")

    def _number(self, node: Node) -> int:
        for number, known in enumerate(self._nodes[1:], 1):
            if known is node:
                return number
        self._nodes.append(node)
        return len(self._nodes) - 1

    def _attributes(self, number: int) -> bytes:
        node = self._nodes[number]
        node.looks += 1
        size = len(node.data) if node.claimed_size is None else node.claimed_size
        time = 1_000_000_000 + (node.looks if node.never_rests else 0)
        times = (time, time, time, 0, 0, 0)
        owner = (os.getuid(), os.getgid())
        return struct.pack(
            "<QQQQQQIIIIIIIIII", number, size, 1, *times, node.mode, 1, *owner, 0, 4096, 0
        )

    def _list(self, folder: Node, offset: int, size: int) -> bytes:
        listed = b""
        names = [".", "..", *(folder.children or {})]
        for position, name in enumerate(names[offset:], offset + 1):
            raw = name.encode()
            entry = struct.pack("<QQII", 1000 + position, position, len(raw), 0) + raw
            entry += bytes(-len(entry) % 8)
            if len(listed) + len(entry) > size:
                break
            listed += entry
        return listed


def _fail(node: Node, operation: str) -> None:
    if operation in node.errors:
        raise OSError(node.errors[operation], operation)


def _read(node: Node, offset: int, size: int) -> bytes:
    _fail(node, "read")
    if node.fails_from is not None and offset + size > node.fails_from:
        raise OSError(errno.EIO, "a bad block")
    return node.data[offset : offset + size]


@contextlib.contextmanager
def mounted(path: str, top: Node, *, fold: Callable[[str], str] = str) -> Iterator[None]:
    """Mount the tree at `path`; two names are one where `fold` makes them equal.

    Raises:
        OSError: the kernel has no FUSE, or this process may not mount.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()},allow_other"
    if libc.mount(b"ctxaudit", os.fsencode(path), b"fuse", 6, options.encode()) != 0:
        number = ctypes.get_errno()
        os.close(device)
        raise OSError(number, os.strerror(number))
    child = os.fork()
    if child == 0:
        try:
            _Server(device, top, fold).serve()
        finally:
            os._exit(0)
    os.close(device)
    try:
        yield
    finally:
        libc.umount2(os.fsencode(path), 2)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
