"""The numbers of a compaction, and who is compacted.

Guarantees: the defaults are those of spec 03.A. A value that makes no sense is refused when the
configuration is made, and names its field.

Example:
    >>> CompactionConfig().soft_limit, CompactionConfig.preset("subtask").keep_recent_messages
    (80000, 4)
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from types import MappingProxyType
from typing import Literal

from provenance.errors import CallerError
from provenance.frozen import sealed

__all__ = ["CompactionConfig", "CompactionConfigError", "Preset"]

Preset = Literal["main", "subtask", "resume"]
_COUNTS = frozenset({"keep_recent_messages", "summary_keep_recent", "summary_attempts"})


class CompactionConfigError(CallerError, ValueError):
    """A number or name of a configuration makes no sense."""

    code = "invalid_compaction_config"


def _no_tools() -> Mapping[str, str]:
    return MappingProxyType({})


@sealed
@dataclass(frozen=True, slots=True)
class CompactionConfig:
    """How messages are compacted.

    Attributes:
        soft_limit: tokens from which on the layers run; below it a copy comes back.
        hard_limit: tokens that the message view must stay below after the last layer.
        max_tool_result_tokens: a tool result above it is shortened.
        keep_recent_messages: so many of the latest messages stay when old ones are pruned.
        summary_keep_recent: so many of the latest messages are not summarised.
        summary_max_tokens: a longer summary is no summary.
        keep_first: keep message 0 as it is, ahead of the summary.
        read_tools: for each tool that reads a file, the argument that names it.
        spill_read_tools: tools that read a spilled result back; what they give is not spilled
            again.
        spill_dropped: also spill what is deduplicated and pruned, before it goes.
        summary_timeout: seconds that one attempt of the summarizer may take; None: no bound.
        summary_attempts: how often the summarizer is asked at most.
    """

    soft_limit: int = 80_000
    hard_limit: int = 120_000
    max_tool_result_tokens: int = 5_000
    keep_recent_messages: int = 6
    summary_keep_recent: int = 4
    summary_max_tokens: int = 2_000
    keep_first: bool = False
    read_tools: Mapping[str, str] = field(default_factory=_no_tools)
    spill_read_tools: frozenset[str] = frozenset()
    spill_dropped: bool = False
    summary_timeout: float | None = 60.0
    summary_attempts: int = 1

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if one.type == "int":
                _require_count(one.name, value, least=0 if one.name in _COUNTS else 1)
            elif one.type == "bool" and type(value) is not bool:
                raise CompactionConfigError(
                    f"{one.name}: expected True or False, got {type(value).__name__}"
                )
        if self.summary_attempts < 1:
            raise CompactionConfigError("summary_attempts: expected 1 or more, got 0")
        if self.hard_limit < self.soft_limit:
            raise CompactionConfigError(
                f"hard_limit: expected soft_limit ({self.soft_limit}) or more, "
                f"got {self.hard_limit}"
            )
        timeout = self.summary_timeout
        # No thread can wait longer; infinity and NaN are no such time either.
        if timeout is not None and not (
            type(timeout) in (int, float) and 0 < timeout <= threading.TIMEOUT_MAX
        ):
            raise CompactionConfigError(
                "summary_timeout: expected seconds above 0, which a thread can wait, or None, "
                f"got {_shown(timeout)}"
            )
        # Copies: what the caller's own become later decides nothing here.
        object.__setattr__(self, "read_tools", MappingProxyType(_read_tools(self.read_tools)))
        object.__setattr__(self, "spill_read_tools", _names(self.spill_read_tools))

    def __reduce__(self) -> tuple[object, ...]:
        # The read-only view of a mapping can be neither copied nor pickled; the mapping can.
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return partial(type(self), **{**values, "read_tools": dict(self.read_tools)}), ()

    @classmethod
    def preset(cls, who: Preset) -> CompactionConfig:
        """Give the configuration for one who is compacted.

        Args:
            who: `main`: the main conversation, the defaults. `subtask`: a sub-agent, whose task
                stands in its first message and whose history is worth less. `resume`: a session
                that is taken up again, where the summary is all that is left of the beginning.

        Raises:
            CompactionConfigError: nobody has this name.
        """
        match who:
            case "main":
                return cls()
            case "subtask":
                return cls(
                    soft_limit=40_000,
                    hard_limit=60_000,
                    max_tool_result_tokens=2_500,
                    keep_recent_messages=4,
                    summary_keep_recent=2,
                    summary_max_tokens=1_000,
                    keep_first=True,
                )
            case "resume":
                return cls(keep_recent_messages=10, summary_keep_recent=8, keep_first=True)
            case _:
                raise CompactionConfigError(
                    f"preset: expected main, subtask or resume, got {who!r}"
                )


def _require_count(name: str, value: object, *, least: int) -> None:
    if type(value) is not int or value < least:
        raise CompactionConfigError(
            f"{name}: expected a whole number of {least} or more, got {_shown(value)}"
        )


def _shown(value: object) -> str:
    try:
        return repr(value)
    except ValueError:  # an integer of more digits than Python prints
        return f"a longer {type(value).__name__}"


def _read_tools(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise CompactionConfigError(
            "read_tools: expected a mapping from the name of a tool to the name of an argument, "
            f"got {type(value).__name__}"
        )
    tools = dict(value)
    for name in (*tools, *tools.values()):
        if not isinstance(name, str):
            raise CompactionConfigError(
                f"read_tools: expected names of tools and arguments, got {type(name).__name__}"
            )
    return tools


def _names(value: object) -> frozenset[str]:
    # A string is many strings of one character, and no name of a tool that anybody meant.
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
        raise CompactionConfigError(
            f"spill_read_tools: expected a set of names of tools, got {type(value).__name__}"
        )
    names = list(value)
    for name in names:
        if not isinstance(name, str):
            raise CompactionConfigError(
                f"spill_read_tools: expected names of tools, got {type(name).__name__}"
            )
    return frozenset(names)
