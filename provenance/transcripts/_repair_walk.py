"""The walk of a repair over the original: which bytes are kept, and which are set aside.

Guarantees: bytes are decided in order, each once. Only what a reader has named as damage is set
aside; where other bytes stand between its records, the file is no file of lines. Whatever a record
was read as is kept byte by byte, with the line end that it has.

Example:
    >>> NotLines("file: expected lines").args
    ('file: expected lines',)
"""

from __future__ import annotations

from provenance.fs.reading import OpenFile
from provenance.fs.whole import SourceChanged
from provenance.transcripts._repair_files import RepairFiles
from provenance.transcripts.lines import Line
from provenance.transcripts.records import Fault, Record

__all__ = ["NotLines", "RepairWalk"]

_BLOCK_BYTES = 1 << 20
_DAMAGE = frozenset({"welded_records", "torn_line", "spliced_line", "nul_line", "invalid_line"})
_OVER_LIMIT = "record_over_limit"
_NO_END = "no_final_newline"
# So many damaged lines in a row are remembered before they are walked over.
_MOST_WAITING = 1_000


class NotLines(Exception):
    """The records do not stand on lines."""


class RepairWalk:
    """Goes through the original behind the reader of its format."""

    def __init__(self, file: OpenFile, files: RepairFiles) -> None:
        """Begin at the first byte of `file`; what is decided goes to `files`."""
        self.records = 0
        self.unread = 0  # lines over our limits, kept as they are
        self._file = file
        self._files = files
        self._offset = 0
        self._line = 1
        # Something of this line was kept, and its line end is still to come.
        self._awaits_end = False
        self._codes: dict[int, str] = {}
        self._last: tuple[int, int] | None = None

    def fault(self, fault: Fault) -> None:
        """Hear what is wrong with a line, before the records on it."""
        line = fault.line
        if line is None:
            if fault.code.startswith("container_"):
                raise NotLines(fault.message)
            return
        if line < self._line or (fault.code not in _DAMAGE and fault.code != _OVER_LIMIT):
            return
        self._codes.setdefault(line, fault.code)
        if len(self._codes) > _MOST_WAITING:
            self._walk(self._file.size, line)

    def keep(self, item: Line | Record) -> bool:
        """Keep a record; False where it stands on the same bytes as the one before."""
        offset, line = item.offset, item.line
        if offset is None or line is None:
            raise _not_lines()
        size = len(item.raw)
        if (offset, size) == self._last:
            return False  # one row that stands for several records
        if offset < self._offset or b"\n" in item.raw:
            raise _not_lines()
        self._go_to(offset, line)
        if self._line != line:
            raise _not_lines()
        if self._awaits_end:
            self._files.add_end(self._code(line), line, self._offset)
        self._files.keep(item.raw)
        self._offset += size
        self._awaits_end = True
        self._last = (offset, size)
        self.records += 1
        return True

    def finish(self) -> None:
        """Decide what follows the last record."""
        self._walk(self._file.size)
        if self._awaits_end:
            self._files.add_end(_NO_END, self._line, self._offset)
            self._awaits_end = False

    def _go_to(self, offset: int, line: int) -> None:
        # Between whole lines stands a line end alone, and there is no need to look.
        if self._awaits_end and line == self._line + 1 and not self._codes:
            gap = offset - self._offset
            if gap in (1, 2):
                self._files.keep(b"\n" if gap == 1 else b"\r\n", ends_line=True)
                self._offset, self._line, self._awaits_end = offset, line, False
                return
        self._walk(offset)
        if self._codes:
            self._codes = {at: code for at, code in self._codes.items() if at >= line}

    def _walk(self, end: int, end_line: int | None = None) -> None:
        """Decide the bytes up to a place, or up to the first byte of a line."""
        while self._offset < end:
            block = self._file.read_at(self._offset, min(_BLOCK_BYTES, end - self._offset))
            if not block:
                raise SourceChanged("file: expected no change while it was read, got a cut")
            start = 0
            while start < len(block):
                if end_line is not None and self._line >= end_line:
                    self._codes = {end_line: self._codes[end_line]}
                    return
                stop = block.find(b"\n", start) + 1 or len(block)
                self._decide(block[start:stop])
                start = stop

    def _decide(self, piece: bytes) -> None:
        """Decide a line without records, or what stands of one before, between or behind them."""
        line, files = self._line, self._files
        ends = piece.endswith(b"\n")
        if self._codes.get(line) == _OVER_LIMIT:
            self.unread += not self._awaits_end
            files.keep(piece, ends_line=ends)
            self._awaits_end = not ends
        elif self._awaits_end and ends:
            end = b"\r\n" if piece.endswith(b"\r\n") else b"\n"
            if rest := piece.removesuffix(end):
                files.set_aside(rest, self._code(line), line, self._offset)
            files.keep(end, ends_line=True)
            self._awaits_end = False
        elif self._awaits_end and piece == b"\r":
            files.keep(piece)  # half a line end, which will be made whole
        else:
            files.set_aside(piece, self._code(line), line, self._offset)
        self._offset += len(piece)
        if ends:
            files.end_change()
            self._line += 1

    def _code(self, line: int) -> str:
        code = self._codes.get(line)
        if code is None:
            raise _not_lines()
        return code


def _not_lines() -> NotLines:
    return NotLines("file: expected a record on each line, got records of another container")
