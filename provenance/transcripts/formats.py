r"""Which formats of transcripts there are, and which one a source is of.

Guarantees: a format is told by what a source holds, never by its name alone. Formats from outside
come after our own; one that raises, or takes the name of another, is left out and named in
`rejected_formats`.

Example:
    >>> head = Head("a.jsonl", b'{"type":"user","uuid":"u","sessionId":"s"}\n')
    >>> find_format(head).name
    'claude-code'
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from provenance.errors import CallerError
from provenance.transcripts.adapters.protocol import FORMAT_GROUP, TranscriptFormat
from provenance.transcripts.outside import guard
from provenance.transcripts.sources import Head

__all__ = [
    "NATIVE",
    "FormatError",
    "find_format",
    "format_named",
    "format_names",
    "has_formats_from_outside",
    "is_candidate",
    "known_formats",
    "rejected_formats",
]

NATIVE = "native"


class FormatError(CallerError, ValueError):
    """No format has this name."""

    code = "format_unknown"


# Module and class of each format of ours, in the order they are asked: each loads its own
# container, and none is needed before there is something to tell. A native record may lack all that
# is its own, so that one comes last.
_ADAPTERS = "provenance.transcripts.adapters"
_OURS = (
    ("claude_code", "ClaudeCode"),
    ("codex", "Codex"),
    ("gemini_cli", "GeminiCli"),
    ("openai_agents", "OpenAIAgents"),
    ("openhands", "OpenHands"),
    ("inspect_log", "InspectLog"),
    ("dsh", "Dsh"),
    ("native", "Native"),
)


@cache
def _load() -> tuple[Mapping[str, TranscriptFormat], tuple[str, ...]]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - 20 ms

    formats: dict[str, TranscriptFormat] = {}
    for name, class_name in _OURS:
        found = getattr(import_module(f"{_ADAPTERS}.{name}"), class_name)()
        formats[found.name] = found
    native = formats.pop(NATIVE)
    taken = {*formats, NATIVE}
    rejected: list[str] = []
    for point in sorted(entry_points(group=FORMAT_GROUP), key=lambda point: point.name):
        try:
            found = guard(point.load())
        except (Exception, SystemExit):  # noqa: BLE001 - somebody else's module
            found = None
        if found is None or found.name in taken:
            rejected.append(point.name)
            continue
        formats[found.name] = found
        taken.add(found.name)
    formats[NATIVE] = native
    return formats, tuple(rejected)


def known_formats() -> Mapping[str, TranscriptFormat]:
    """Give the formats by name, in the order they are asked."""
    return _load()[0]


def rejected_formats() -> tuple[str, ...]:
    """Give the entry points from outside that are of no use, by name."""
    return _load()[1]


def has_formats_from_outside() -> bool:
    """Say whether anybody else's package brings a format; none of it is loaded for that."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - 20 ms

    return bool(entry_points(group=FORMAT_GROUP))


def format_names() -> tuple[str, ...]:
    """Give the names of the formats, sorted."""
    return tuple(sorted(known_formats()))


def format_named(name: str) -> TranscriptFormat:
    """Give a format by its name.

    Raises:
        FormatError: there is none.
    """
    found = known_formats().get(name)
    if found is None:
        raise FormatError(f"format: expected one of {', '.join(format_names())}, got {name!r:.60}")
    return found


def find_format(head: Head) -> TranscriptFormat | None:
    """Give the format that a source is of, by its first bytes; None where nobody knows it."""
    return next((one for one in known_formats().values() if one.identify(head)), None)


def is_candidate(name: str) -> bool:
    """Say whether a file's name is one that transcripts have; it is then looked into."""
    return name.lower().endswith(_suffixes())


@cache
def _suffixes() -> tuple[str, ...]:
    return tuple({suffix for one in known_formats().values() for suffix in one.suffixes})
