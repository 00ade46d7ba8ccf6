"""Reading a large file while somebody else looks at the last block.

Guarantees: at most three blocks are in memory; each block is inspected on the reading thread and
then consumed, in order, on the caller's. Exactly the size that the file had when it was opened is
read; a file that grows for ever ends here all the same.

Example:
    >>> BLOCK_BYTES
    2097152
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable

from provenance.fs.reading import OpenFile

__all__ = ["BLOCK_BYTES", "Consume", "stream"]

# Measured: 1 to 4 MiB are alike, smaller ones pay for the hand-over between the threads.
BLOCK_BYTES = 2 << 20
_BUFFERS = 3
# On one thread a block should still be in the second-level cache when it is hashed.
_BLOCK_ALONE_BYTES = 256 << 10

Inspect = Callable[[bytearray], bool]
Consume = Callable[[memoryview], object]


class _NoThread(Exception):
    """The machine gives no thread; nothing was read yet."""


def stream(file: OpenFile, *, inspect: Inspect, consume: Consume, threads: bool = True) -> bool:
    """Read the whole file once.

    Args:
        file: the open file; its size at opening bounds what is read.
        inspect: sees each block first (on the reading thread); False ends the reading.
        consume: sees each block that passed.
        threads: False reads, inspects and consumes on the caller's thread alone.

    Returns:
        True where every byte was consumed; False where `inspect` ended it or the file was shorter.

    Raises:
        ReadFailed: the device or file system refused.
    """
    if threads:
        pipeline = _Pipeline(file, inspect, consume)
        # No thread to be had (a limit, an interpreter that ends): the bytes are read all the same.
        with contextlib.suppress(_NoThread):
            return pipeline.run()
    return _stream_alone(file, inspect, consume)


def _fill(file: OpenFile, buffer: bytearray, offset: int, size: int) -> bytearray | None:
    """Fill a buffer for the block at `offset`; None where the file is shorter than it was."""
    if size < len(buffer):
        buffer = bytearray(size)
    return buffer if file.read_into(memoryview(buffer), offset) == size else None


def _stream_alone(file: OpenFile, inspect: Inspect, consume: Consume) -> bool:
    spare = bytearray(min(_BLOCK_ALONE_BYTES, file.size))
    for offset in range(0, file.size, _BLOCK_ALONE_BYTES):
        block = _fill(file, spare, offset, min(_BLOCK_ALONE_BYTES, file.size - offset))
        if block is None or not inspect(block):
            return False
        consume(memoryview(block))
    return True


class _Pipeline:
    """One reading thread, one consuming caller, three buffers going round."""

    def __init__(self, file: OpenFile, inspect: Inspect, consume: Consume) -> None:
        self._file = file
        self._inspect = inspect
        self._consume = consume
        self._free: queue.SimpleQueue[bytearray | None] = queue.SimpleQueue()
        self._full: queue.SimpleQueue[bytearray | None] = queue.SimpleQueue()
        self._whole = False
        self._error: BaseException | None = None

    def run(self) -> bool:
        reader = threading.Thread(target=self._read, name="ctxaudit-reader", daemon=True)
        for _ in range(_BUFFERS):
            self._free.put(bytearray(BLOCK_BYTES))
        try:
            reader.start()
        except RuntimeError as error:
            raise _NoThread from error
        try:
            while (block := self._full.get()) is not None:
                self._consume(memoryview(block))
                self._free.put(block)
        finally:
            self._free.put(None)  # whatever happened here, the reader must come to an end
            reader.join()
        if self._error is not None:
            raise self._error
        return self._whole

    def _read(self) -> None:
        try:
            self._whole = self._read_blocks()
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
            self._error = error
        finally:
            self._full.put(None)

    def _read_blocks(self) -> bool:
        size = self._file.size
        for offset in range(0, size, BLOCK_BYTES):
            buffer = self._free.get()
            if buffer is None:
                return False
            block = _fill(self._file, buffer, offset, min(BLOCK_BYTES, size - offset))
            if block is None or not self._inspect(block):
                return False
            self._full.put(block)
        return True
