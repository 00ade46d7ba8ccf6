r"""A window of whole lines out of an artifact, cut while its bytes go by.

Guarantees: a line ends with `\n` alone, and keeps it; successive windows put together are the
artifact, character for character. A window never holds more than its bound of bytes: one that
would ends after the last line that fits, or, where not even one line fits, inside it, between two
characters; then `cut_line` and `cut_bytes` say where to go on.

Example:
    >>> cutter = WindowCutter(offset=1, limit=1)
    >>> cutter.feed(b"one\ntwo\nthree")
    >>> window = cutter.finish("0" * 64)
    >>> window.text, window.total_lines, window.next_offset
    ('two\n', 3, 2)
"""

from __future__ import annotations

from dataclasses import dataclass

from provenance.artifacts.failures import WindowError

__all__ = ["MAX_WINDOW_BYTES", "Window", "WindowCutter"]

MAX_WINDOW_BYTES = 1 << 20
"""Most bytes in one window: 2,000 lines of 500 bytes fit, and no answer floods a caller."""

# The longest UTF-8 character: with less than that a window might never get on.
_LEAST_BYTES = 4
_NEWLINE = 0x0A


@dataclass(frozen=True, slots=True)
class Window:
    r"""Some lines of a verified artifact.

    Attributes:
        text: the lines with their ends, exactly as stored.
        offset: number of the first line, from 0, as asked for.
        total_lines: how many lines the artifact has; an unterminated last line counts.
        sha256: digest of the whole artifact, verified while this was read.
        next_offset: the line to go on with; None where no whole line is left.
        truncated: whether the bound on bytes ended the window before its `limit` of lines.
        cut_line: the line whose beginning alone is in `text`; None where all lines are whole.
        cut_bytes: how many bytes of that line were given so far: `skip_bytes` to go on with.
    """

    text: str
    offset: int
    total_lines: int
    sha256: str
    next_offset: int | None = None
    truncated: bool = False
    cut_line: int | None = None
    cut_bytes: int = 0


class WindowCutter:
    """Takes an artifact's bytes in order, keeps those of one window, counts all lines."""

    __slots__ = (
        "_before",
        "_ends_line",
        "_kept",
        "_left",
        "_limit",
        "_max_bytes",
        "_newlines",
        "_offset",
        "_overflow",
        "_skip",
        "_to_skip",
    )

    def __init__(
        self,
        *,
        offset: int,
        limit: int,
        skip_bytes: int = 0,
        max_bytes: int = MAX_WINDOW_BYTES,
    ) -> None:
        """Choose the window.

        Args:
            offset: number of its first line, from 0.
            limit: most lines, at least 1.
            skip_bytes: bytes to leave out at the start of the first line (see `Window.cut_bytes`).
            max_bytes: most bytes, at least 4.

        Raises:
            WindowError: a number out of range.
        """
        _require("offset", offset, least=0)
        _require("limit", limit, least=1)
        _require("skip_bytes", skip_bytes, least=0)
        _require("max_bytes", max_bytes, least=_LEAST_BYTES)
        self._offset = offset
        self._limit = limit
        self._skip = self._to_skip = skip_bytes
        self._max_bytes = max_bytes
        self._before = offset  # line ends still to pass before the window begins
        self._left = limit  # line ends that still belong to it
        self._kept = bytearray()
        self._overflow = False
        self._newlines = 0
        self._ends_line = True

    def feed(self, block: bytes | bytearray) -> None:
        """Take the next bytes."""
        if not block:
            return
        newlines = block.count(b"\n")
        self._newlines += newlines
        self._ends_line = block[-1] == _NEWLINE
        start = 0
        if self._before:
            if newlines < self._before:
                self._before -= newlines
                return
            start = _behind(block, self._before)
            newlines -= self._before
            self._before = 0
        if self._left:
            end = len(block)
            if newlines >= self._left:
                end = _behind(block, self._left, start)
                newlines = self._left
            self._left -= newlines
            self._keep(block, start, end)

    def finish(self, sha256: str) -> Window:
        """Give the window, once every byte was fed; `sha256` is the digest they had.

        Raises:
            WindowError: `skip_bytes` is no place between two characters of the first line.
            UnicodeDecodeError: the window is not UTF-8.
        """
        if self._to_skip:
            raise WindowError("skip_bytes: expected a place within the line")
        kept = self._kept
        if kept and self._skip and kept[0] & 0xC0 == 0x80:
            raise WindowError("skip_bytes: expected a place between two characters")
        total = self._newlines + (not self._ends_line)
        following = self._offset + self._limit
        cut_line, cut_bytes = None, 0
        if self._overflow:
            del kept[self._max_bytes :]
            whole = kept.rfind(b"\n") + 1
            if whole:
                del kept[whole:]
                following = self._offset + kept.count(b"\n")
            else:
                _drop_split_character(kept)
                following = self._offset + 1
                cut_line, cut_bytes = self._offset, self._skip + len(kept)
        return Window(
            text=kept.decode("utf-8"),
            offset=self._offset,
            total_lines=total,
            sha256=sha256,
            next_offset=following if following < total else None,
            truncated=self._overflow,
            cut_line=cut_line,
            cut_bytes=cut_bytes,
        )

    def _keep(self, block: bytes | bytearray, start: int, end: int) -> None:
        if self._to_skip:
            passed = min(self._to_skip, end - start)
            if block.find(b"\n", start, start + passed) >= 0:
                self._left = 0  # `finish` says so, once the bytes are known to be the artifact's
                return
            self._to_skip -= passed
            start += passed
        # One byte more than allowed, to know that there is more.
        room = self._max_bytes + 1 - len(self._kept)
        self._kept += block[start : min(end, start + room)]
        self._overflow = len(self._kept) > self._max_bytes


def _require(name: str, value: object, *, least: int) -> None:
    if type(value) is not int or value < least:
        shown = value if type(value) is int else type(value).__name__
        raise WindowError(f"{name}: expected a whole number of {least} or more, got {shown}")


def _behind(block: bytes | bytearray, count: int, start: int = 0) -> int:
    """Give the position behind the `count`-th line end from `start`; there are that many."""
    low, high = start, len(block)
    # Halving: each byte is counted about twice, however many lines there are.
    while high - low > 1:
        middle = (low + high) // 2
        found = block.count(b"\n", low, middle)
        if found >= count:
            high = middle
        else:
            count -= found
            low = middle
    return high


def _drop_split_character(data: bytearray) -> None:
    """Take away the beginning of a character at the end, if there is one."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue  # inside a character: look for its first byte
        length = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
        if back < length:
            del data[-back:]
        return
