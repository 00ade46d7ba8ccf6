"""Short words for numbers, names and times in the console report.

Guarantees: pure. Every text is one bounded line in which nothing steers a terminal. The same moment
reads the same whatever zone it was written in.

Example:
    >>> number(1, "call"), number(1200, "call"), time_of("2026-01-01T01:00:00+01:00")
    ('1 call', '1,200 calls', '2026-01-01T00:00:00Z')
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from .streams import one_line

__all__ = ["LISTED_NAMES", "cut", "listing", "name_of", "number", "ranked", "span_of", "time_of"]

LISTED_NAMES = 5
_NAME_CHARACTERS = 40
_TIME_CHARACTERS = 32


def number(count: int, noun: str) -> str:
    """Give a number of things."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def name_of(text: str) -> str:
    """Give a short name out of a file."""
    return cut(one_line(text), _NAME_CHARACTERS)


def cut(text: str, most: int) -> str:
    """Give a text with at most so many characters."""
    return text if len(text) <= most else text[: most - 3] + "..."


def ranked(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Give what is counted, the most frequent first."""
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def listing(pairs: Iterable[tuple[str, int]], *, most: int = LISTED_NAMES) -> str:
    """Name what is counted, the first few, and count the others."""
    found = list(pairs)
    said = [f"{count:,} {name_of(name)}" for name, count in found[:most]]
    if len(found) > most:
        rest = sum(count for _, count in found[most:])
        said.append(f"{rest:,} of {len(found) - most:,} more")
    return ", ".join(said)


def span_of(times: Iterable[str | None]) -> str:
    """Give the first and last time of all; a time that is none counts where no other does."""
    texts = [text for text in times if text]
    if not texts:
        return "not said"
    known = [(moment, text) for text in texts if (moment := _moment(text)) is not None]
    if not known:
        return f"{time_of(texts[0])} to {time_of(texts[-1])}"
    return f"{time_of(min(known)[1])} to {time_of(max(known)[1])}"


def time_of(text: str | None) -> str:
    """Give a time to the second in UTC, or as it was written where it is none."""
    if text is None:
        return ""
    moment = _moment(text)
    if moment is None:
        return cut(one_line(text), _TIME_CHARACTERS)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
        return found.astimezone(UTC) if found.tzinfo is not None else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
