"""The options of one `ctxaudit compact`, and the numbers of the compaction that they mean.

Guarantees: pure. What is wrong with an option is said with its name; an option that was not given
leaves the number of the preset as it is.

Example:
    >>> configuration(CompactOrder(file="a.json", soft_limit=1_000)).soft_limit
    1000
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from provenance.compaction import CompactionConfig, CompactionConfigError

__all__ = ["GRACE_SECONDS", "CompactOrder", "configuration"]

GRACE_SECONDS = 5.0
"""The program has its own time limit; the library's comes so much later, for what hangs in ours."""

# Fields of the configuration that an option of the same name sets.
_NUMBERS = (
    "soft_limit",
    "hard_limit",
    "max_tool_result_tokens",
    "keep_recent_messages",
    "summary_keep_recent",
    "summary_max_tokens",
)
_OPTIONS = {"keep_recent_messages": "--keep-recent"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactOrder:
    """The options, as they were given; None where one was not."""

    file: str
    output: str | None = None
    receipt: str | None = None
    state: str | None = None
    context: str | None = None
    summarizer: tuple[str, ...] = ()
    summarizer_timeout: float = 60.0
    soft_limit: int | None = None
    hard_limit: int | None = None
    max_tool_result_tokens: int | None = None
    keep_recent_messages: int | None = None
    summary_keep_recent: int | None = None
    summary_max_tokens: int | None = None
    keep_first: bool = False
    preset: str = "main"
    read_tools: Mapping[str, str] = field(default_factory=dict)
    spill: str | None = None
    spill_dropped: bool = False
    tokens: str = "heuristic"
    previous_summary: str | None = None
    repair: bool = False
    provider: str | None = None
    as_format: str | None = None
    session: str | None = None
    verify_receipt: str | None = None
    result: str | None = None
    is_json: bool = False
    is_quiet: bool = False


def configuration(order: CompactOrder) -> CompactionConfig:
    """Give the configuration that the options mean.

    Raises:
        CompactionConfigError: they make no sense together; the message names the option.
    """
    given: dict[str, object] = {
        name: value for name in _NUMBERS if (value := getattr(order, name)) is not None
    }
    if order.keep_first:
        given["keep_first"] = True
    preset = CompactionConfig.preset(order.preset)  # type: ignore[arg-type]
    soft = preset.soft_limit if order.soft_limit is None else order.soft_limit
    hard = preset.hard_limit if order.hard_limit is None else order.hard_limit
    if soft > hard:
        # The one that was given is named; the other one may be the preset's.
        if order.hard_limit is None:
            raise CompactionConfigError(
                f"--soft-limit: expected at most {hard} (--hard-limit), got {soft}"
            )
        raise CompactionConfigError(
            f"--hard-limit: expected {soft} (--soft-limit) or more, got {hard}"
        )
    try:
        return replace(
            preset,
            read_tools=order.read_tools,
            spill_dropped=order.spill_dropped,
            summary_timeout=order.summarizer_timeout + GRACE_SECONDS,
            **given,  # type: ignore[arg-type]
        )
    except CompactionConfigError as error:
        name, colon, rest = str(error).partition(":")
        option = _OPTIONS.get(name, "--" + name.replace("_", "-"))
        raise CompactionConfigError(f"{option}{colon}{rest}") from None
