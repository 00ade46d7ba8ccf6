"""Counting with the vocabulary that Anthropic published for Claude 1 and 2.

Guarantees: the count is that of the published tokenizer (`@anthropic-ai/tokenizer` 0.0.4, whose
`claude.json` is packaged here unchanged): NFKC, its pattern, then byte pair merges in order of
rank. Time grows with n log n, also in a text without spaces. Special tokens are plain text.

Not guaranteed: characters that are newer than this Python's Unicode tables may be split in
another way.

Example:
    >>> count_legacy_claude("hello world")
    2
"""

from __future__ import annotations

import json
import re
import unicodedata
from base64 import b64decode
from collections.abc import Mapping
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import groupby, pairwise
from pkgutil import get_data

from provenance.errors import MachineError

__all__ = ["VocabularyFileError", "count_legacy_claude"]

_FILE = "claude.json"

# Unicode's White_Space; what `\s` means to `re` has U+001C to U+001F besides.
_SPACE = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"

# Letters and numbers stand below; a test looks at the rest of Unicode.
_PLANES = 0x40000

# Longer pieces are rare and would fill the memory of what was counted before.
_LONGEST_KEPT = 32


class VocabularyFileError(MachineError):
    """The packaged vocabulary cannot be read."""

    code = "vocabulary_file"


def count_legacy_claude(text: str) -> int:
    """Count the tokens of a text.

    Raises:
        UnicodeEncodeError: it has a surrogate without its partner.
        VocabularyFileError: the installed package is incomplete.
    """
    total = 0
    for piece in _pattern().findall(unicodedata.normalize("NFKC", text)):
        total += _count_kept(piece) if len(piece) <= _LONGEST_KEPT else _count_piece(piece)
    return total


def _count_piece(piece: str) -> int:
    data = piece.encode()
    ranks = _ranks()
    return 1 if data in ranks else _merge(data, ranks)


_count_kept = lru_cache(maxsize=65_536)(_count_piece)


def _merge(data: bytes, ranks: Mapping[bytes, int]) -> int:
    """Merge the pair of lowest rank, the leftmost of equal ones, until there is none."""
    size = len(data)
    after = list(range(1, size + 2))  # where the part that starts here ends
    before = list(range(-1, size))
    waiting = [
        (rank, start, start + 2)
        for start in range(size - 1)
        if (rank := ranks.get(data[start : start + 2])) is not None
    ]
    heapify(waiting)
    parts = size
    while waiting:
        _, start, end = heappop(waiting)
        middle = after[start]
        # Both parts must still be there as they were when the pair was noted.
        if middle < 0 or middle >= size or after[middle] != end:
            continue
        parts -= 1
        after[start] = end
        after[middle] = -1
        if end < size:
            before[end] = start
            stop = after[end]
            if (rank := ranks.get(data[start:stop])) is not None:
                heappush(waiting, (rank, start, stop))
        first = before[start]
        if first >= 0 and (rank := ranks.get(data[first:end])) is not None:
            heappush(waiting, (rank, first, end))
    return parts


@lru_cache(maxsize=1)
def _ranks() -> Mapping[bytes, int]:
    try:
        data = get_data("provenance.messages.vocabularies", _FILE)
    except OSError as error:
        raise VocabularyFileError(f"{_FILE}: expected a packaged file, got none") from error
    if data is None:
        raise VocabularyFileError(f"{_FILE}: expected a loader that gives files, got another")
    # A mark, the first rank, then the tokens in the order of their ranks.
    _, first, *tokens = json.loads(data)["bpe_ranks"].split()
    return {b64decode(token): rank for rank, token in enumerate(tokens, int(first))}


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    letter, number = _class_of("L"), _class_of("N")
    return re.compile(
        f"'(?:s|t|re|ve|m|ll|d)| ?[{letter}]+| ?[{number}]+| ?[^{_SPACE}{letter}{number}]+"
        f"|[{_SPACE}]+(?![^{_SPACE}])|[{_SPACE}]+"
    )


def _class_of(category: str) -> str:
    """Write the characters of a Unicode category as ranges for `re`."""
    characters = map(chr, range(_PLANES))
    flags = groupby(unicodedata.category(character)[0] == category for character in characters)
    starts = [0]
    inside = []
    for is_inside, run in flags:
        inside.append(is_inside)
        starts.append(starts[-1] + sum(1 for _ in run))
    return "".join(
        f"\\U{start:08x}-\\U{stop - 1:08x}"
        for is_inside, (start, stop) in zip(inside, pairwise(starts), strict=True)
        if is_inside
    )
