r"""What an answer of Codex cites from its memories: `<oai-mem-citation>` blocks.

Guarantees: linear in the length of the text, and bounded in what it gives; nothing raises. A line
that does not have the syntax cites nothing, as for Codex itself.

    <oai-mem-citation>
    <citation_entries>
    MEMORY.md:12-34|note=[why it was used]
    </citation_entries>
    <rollout_ids>
    019c6e27-e55b-73d1-87d8-4e01f1f75043
    </rollout_ids>
    </oai-mem-citation>

Paths are below the memories folder. `<thread_ids>` is the older name of `<rollout_ids>`; an id is
that of the session that a memory was made from. A block may lack its end (a cut answer).

Example:
    >>> block = "<citation_entries>\nMEMORY.md:1-2|note=[n]\n</citation_entries>"
    >>> cited = find_citations(f"Done.<oai-mem-citation>{block}</oai-mem-citation>")
    >>> cited.paths, cited.sessions
    (('MEMORY.md',), ())
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["CITATION", "MOST_CITATIONS", "Citations", "find_citations"]

CITATION = "oai-mem-citation"
# Of one answer: enough for any that a person reads.
MOST_CITATIONS = 200
_MAX_LINE_CHARS = 4096
_SPACE = " \t\r"

_match_lines = re.compile(r"[0-9]{1,9}-[0-9]{1,9}").fullmatch
_match_id = re.compile(r"[ \t]*+([0-9A-Za-z][0-9A-Za-z_-]{0,199})[ \t\r]*+").fullmatch


class Citations(NamedTuple):
    """What a text cites, each once, in the order of the text.

    Attributes:
        paths: files below the memories folder, as they stand there (hostile).
        sessions: ids of the sessions that memories came from.
        is_cut: there are more than `MOST_CITATIONS` of them.
    """

    paths: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    is_cut: bool = False


def find_citations(text: str) -> Citations:
    """Find what the citation blocks of a text name."""
    if f"<{CITATION}>" not in text:
        return Citations()
    paths: dict[str, None] = {}
    sessions: dict[str, None] = {}
    for block in _between(text, CITATION, may_lack_end=True):
        for line in _lines(block, "citation_entries"):
            if (path := _path_in(line)) is not None:
                paths.setdefault(path)
        for name in ("rollout_ids", "thread_ids"):
            for line in _lines(block, name):
                if match := _match_id(line):
                    sessions.setdefault(match[1])
        if len(paths) + len(sessions) > MOST_CITATIONS:
            kept = tuple(paths)[:MOST_CITATIONS]
            return Citations(kept, tuple(sessions)[: MOST_CITATIONS - len(kept)], is_cut=True)
    return Citations(tuple(paths), tuple(sessions))


def _path_in(line: str) -> str | None:
    """Give the path of an entry, `path:first-last|note=[...]`; None where it is none."""
    place, bar, note = line.rstrip(_SPACE).rpartition("|note=[")
    path, colon, lines = place.rpartition(":")
    if not bar or not colon or not note.endswith("]") or _match_lines(lines) is None:
        return None
    return path.strip(_SPACE) or None


def _between(text: str, name: str, *, may_lack_end: bool = False) -> Iterator[str]:
    """Give what stands between each pair of tags; one step forward each, so linear."""
    begin, end = f"<{name}>", f"</{name}>"
    place = 0
    while (start := text.find(begin, place)) >= 0:
        start += len(begin)
        stop = text.find(end, start)
        if stop < 0:
            if may_lack_end:
                yield text[start:]
            return
        yield text[start:stop]
        place = stop + len(end)


def _lines(block: str, name: str) -> Iterator[str]:
    for part in _between(block, name):
        for line in part.split("\n"):
            if 0 < len(line) <= _MAX_LINE_CHARS:
                yield line
