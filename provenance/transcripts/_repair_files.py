"""The two files that a repair writes: the copy, and the list of changes with what was set aside.

Guarantees: neither has a name before it is whole. Nothing is written while nothing was changed; at
the first change the unchanged beginning is copied. A digest runs over the original's bytes in their
order, wherever they went.

The list is JSON Lines: `repair` (the schema), then `bytes` (at most 192 KiB of what was set aside,
base64) and `change` (what they belong to) for each change in order, and `end` (the digests).

Example:
    >>> Change("torn_line", "set_aside", 3, 90, 12, "00" * 32, 3).length
    12
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import NamedTuple

from provenance.fs.directory import Directory
from provenance.fs.drafts import Draft
from provenance.fs.reading import OpenFile
from provenance.fs.whole import SourceChanged

__all__ = ["REPAIR_SCHEMA", "Change", "RepairFiles"]

REPAIR_SCHEMA = "ctxaudit.repair/1"
# A report with more is not read to its end; the list on the disk has all.
_MOST_LISTED = 1_000
_BLOCK_BYTES = 1 << 20
_PART_BYTES = 192 << 10  # a multiple of 3: base64 without padding but at the end


class Change(NamedTuple):
    """One change.

    Attributes:
        kind: the code of the damage, as a check reports it.
        action: `set_aside`, or `line_end_added`.
        line: of the original, counted from 1.
        offset: where the bytes begin in the original, or before which byte the line end was put in.
        length: in bytes.
        sha256: of the bytes that were set aside, 64 hex digits; None for a line end.
        new_line: the line of the new file that was being written: of the record that the line end
            belongs to, or that the bytes stood on or before.
    """

    kind: str
    action: str
    line: int
    offset: int
    length: int
    sha256: str | None
    new_line: int


class RepairFiles:
    """Takes what is decided of each byte of the original; a context manager.

    Attributes:
        lines: that the new file has so far.
        aside_bytes: that were set aside.
        added_bytes: line ends that were put in.
        counts: the number of changes by kind.
        listed: the first changes.
    """

    def __init__(self, file: OpenFile, folder: Directory) -> None:
        """Take the original and the folder for the new files; nothing is opened yet."""
        self.lines = 0
        self.aside_bytes = 0
        self.added_bytes = 0
        self.counts: Counter[str] = Counter()
        self.listed: list[Change] = []
        self.is_changed = False
        self.copy: Draft
        self.changes: Draft
        self._file = file
        self._folder = folder
        self._stack = ExitStack()
        self._kept = 0  # bytes of the original
        self._original = hashlib.sha256()
        self._copied = hashlib.sha256()
        self._list = hashlib.sha256()
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        # What is being set aside.
        self._part = bytearray()
        self._open: Change | None = None
        self._digest = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """Of the copy, as far as it is written."""
        return self._copied.hexdigest()

    @property
    def changes_sha256(self) -> str:
        """Of the list, as far as it is written."""
        return self._list.hexdigest()

    def keep(self, data: bytes, *, ends_line: bool = False) -> None:
        """Keep bytes of the original.

        Args:
            data: the bytes that follow.
            ends_line: a line of the new file ends with them.
        """
        if self._open is not None:
            self.end_change()
        if self.is_changed:
            self._original.update(data)
            self._write(data)
        self._kept += len(data)
        self.lines += ends_line

    def add_end(self, kind: str, line: int, offset: int) -> None:
        """Put in a line end that the original lacks."""
        self.end_change()
        self._begin_changes()
        self._write(b"\n")
        self.lines += 1
        self.added_bytes += 1
        self._say(Change(kind, "line_end_added", line, offset, 1, None, self.lines))

    def set_aside(self, data: bytes, kind: str, line: int, offset: int) -> None:
        """Set bytes of the original aside; those that follow on the same line are one change."""
        if self._open is None:
            self._begin_changes()
            self._open = Change(kind, "set_aside", line, offset, 0, None, self.lines + 1)
            self._digest = hashlib.sha256()
        self._original.update(data)
        self._digest.update(data)
        self._part += data
        self.aside_bytes += len(data)
        self._open = self._open._replace(length=self._open.length + len(data))
        while len(self._part) > _PART_BYTES:
            self._write_part(_PART_BYTES)

    def end_change(self) -> None:
        """Say that what follows is another change."""
        change = self._open
        if change is None:
            return
        self._open = None
        self._write_part(len(self._part), change)
        self._say(change._replace(sha256=self._digest.hexdigest()))

    def differ_from(self, digest: bytes) -> bool:
        """Say whether what was written is not all of the original, by its digest."""
        self.end_change()
        if not self.is_changed:
            return self._kept != self._file.size
        whole = self._kept + self.aside_bytes == self._file.size
        return not whole or self._original.digest() != digest

    def close_list(self, source_sha256: str) -> None:
        """Write what is still to be written."""
        self._hand_on()
        self._write_line(
            {
                "type": "end",
                "source_bytes": self._file.size,
                "source_sha256": source_sha256,
                "repaired_sha256": self.sha256,
                "aside_bytes": self.aside_bytes,
                "added_bytes": self.added_bytes,
                "counts": dict(sorted(self.counts.items())),
            }
        )

    def _begin_changes(self) -> None:
        if self.is_changed:
            return
        self.is_changed = True
        self.copy = self._stack.enter_context(self._folder.draft())
        self.changes = self._stack.enter_context(self._folder.draft())
        self._write_line({"type": "repair", "schema": REPAIR_SCHEMA})
        offset = 0
        while offset < self._kept:
            block = self._file.read_at(offset, min(_BLOCK_BYTES, self._kept - offset))
            if not block:
                raise SourceChanged("file: expected no change while it was read, got a cut")
            self._original.update(block)
            self._write(block)
            offset += len(block)

    def _write(self, data: bytes) -> None:
        self._waiting.append(data)
        self._waiting_bytes += len(data)
        if self._waiting_bytes >= _BLOCK_BYTES:
            self._hand_on()

    def _hand_on(self) -> None:
        data = b"".join(self._waiting)
        self._waiting, self._waiting_bytes = [], 0
        self._copied.update(data)
        self.copy.write(data)

    def _write_part(self, size: int, change: Change | None = None) -> None:
        change = change or self._open
        if change is None or not size:
            return
        data = bytes(self._part[:size])
        offset = change.offset + change.length - len(self._part)
        del self._part[:size]
        self._write_line(
            {
                "type": "bytes",
                "offset": offset,
                "length": len(data),
                "base64": b64encode(data).decode(),
            }
        )

    def _say(self, change: Change) -> None:
        self.counts[change.kind] += 1
        if len(self.listed) < _MOST_LISTED:
            self.listed.append(change)
        self._write_line({"type": "change", **change._asdict()})

    def _write_line(self, value: Mapping[str, object]) -> None:
        line = json.dumps(value, separators=(",", ":")).encode() + b"\n"
        self._list.update(line)
        self.changes.write(line)

    def __enter__(self) -> RepairFiles:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()
