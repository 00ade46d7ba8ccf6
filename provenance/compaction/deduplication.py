"""Layer 2: of several reads of one file only the latest stays.

Guarantees: an older read goes with its call; its siblings stay. What is no read of a file is not
touched, and a read that failed replaces nothing. Where a tool's arguments say what was read, a part
of a file never replaces the whole of it, nor another part.

Example:
    >>> LAYER
    'file_read_deduplication'
"""

from __future__ import annotations

from collections.abc import Mapping

from provenance.compaction.canonical_form import canonical_block
from provenance.compaction.changes import ChangeLog
from provenance.compaction.config import CompactionConfig
from provenance.compaction.interactions import drop, sides_of
from provenance.compaction.spilling import Spiller
from provenance.compaction.view import View
from provenance.messages.shapes import Block, BlockKind, arguments_of, field, read_path_of

__all__ = ["LAYER", "deduplicate"]

LAYER = "file_read_deduplication"

# What models are asked to say about a call, in words that differ from one to the next.
_SAYS_WHY = frozenset(
    {
        *("comment", "description", "explanation", "intent", "justification", "note", "purpose"),
        *("rationale", "reason", "summary", "thought", "title"),
    }
)
# Names of the module are read faster than those of an enum.
_CALL, _RESULT = BlockKind.TOOL_CALL, BlockKind.TOOL_RESULT
_WHOLE = ""  # of a file; else which part, as the canonical text of the other arguments
_Read = tuple[str, str]  # path, part


def deduplicate(view: View, log: ChangeLog, config: CompactionConfig, spiller: Spiller) -> None:
    """Drop the older reads of files that are read again later."""
    by_call = _reads_by_call(view, config)
    reads: dict[str, dict[str, str]] = {}  # path: part: the latest call
    older: set[str] = set()
    for entry in view.entries:
        for block in entry.blocks:
            if block.kind is not _RESULT or not isinstance(block.call_id, str):
                continue
            path, part = _read_of(block, by_call)
            if path is None:
                continue
            known = reads.setdefault(path, {})
            for before in list(known) if part == _WHOLE else [part]:
                older.update([known.pop(before)] if before in known else [])
            known[part] = block.call_id
    if older:
        gone = sides_of(view, older, view.interactions())
        drop(view, log, gone, layer=LAYER, spiller=spiller)


def _read_of(block: Block, by_call: Mapping[object, _Read]) -> tuple[str | None, str]:
    if _failed(block):
        return None, _WHOLE
    said = read_path_of(block)
    return (said, _WHOLE) if said is not None else by_call.get(block.call_id, (None, _WHOLE))


def _failed(block: Block) -> bool:
    return field(block.value, "is_error") is True


def _reads_by_call(view: View, config: CompactionConfig) -> dict[object, _Read]:
    """Give what each call of a reading tool names: the path, and which part of the file."""
    reads: dict[object, _Read] = {}
    if not config.read_tools:
        return reads
    for entry in view.entries:
        for block in entry.blocks:
            name = None if block.kind is not _CALL else config.read_tools.get(block.name or "")
            if name is None:
                continue
            arguments = dict(arguments_of(block))
            path = arguments.pop(name, None)
            if isinstance(path, str) and path and isinstance(block.call_id, str):
                reads[block.call_id] = (path, _part(arguments))
    return reads


def _part(arguments: Mapping[str, object]) -> str:
    """Give which part of a file is read, and how: all that may say so, beside its path."""
    part = {
        name: value
        for name, value in arguments.items()
        if name not in _SAYS_WHY and not _says_nothing(value)
    }
    return canonical_block(part).decode() if part else _WHOLE


def _says_nothing(value: object) -> bool:
    return value is None or value is False or value in ("", [], (), {})
