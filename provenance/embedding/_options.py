"""What every framework's function takes: options of `compact_context`, and who hears of results.

Guarantees: the names and defaults are those of `compact_context`.

Example:
    >>> options: CompactionOptions = {"config": CompactionConfig(soft_limit=1_000)}
    >>> for_compaction(options)["config"].soft_limit
    1000
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypedDict

from provenance.compaction import (
    CompactionConfig,
    CompactionResult,
    LayerReport,
    SpillFunction,
    Summarizer,
)
from provenance.messages import TokenCounter

__all__ = ["CompactionOptions", "OnResult", "for_compaction"]

OnResult = Callable[[Sequence[Any], CompactionResult[None]], object]
"""Hears of a compaction: the messages before it, and its result, as `verify_receipt` has them."""


class CompactionOptions(TypedDict, total=False):
    """Options of a compaction inside a framework; each may be left out.

    Attributes:
        config: limits and what stays.
        counter: counts tokens; None: four characters a token.
        summarizer: gives the summary of a conversation in JSON; a callable or coroutine function.
        spill: stores a text and gives its pointer, as `ArtifactStore.spill` does for a session.
        observer: hears of each layer that ran.
        on_result: hears of each compaction, also where nothing had to be done; what it raises ends
            the request.
    """

    config: CompactionConfig
    counter: TokenCounter | None
    summarizer: Summarizer | None
    spill: SpillFunction | None
    observer: Callable[[LayerReport], None] | None
    on_result: OnResult | None


_NAMES = frozenset(CompactionOptions.__annotations__) - {"on_result"}


def for_compaction(options: CompactionOptions) -> dict[str, Any]:
    """Give what of the options goes to `compact_context`.

    Raises:
        TypeError: there is an option of another name.
    """
    unknown = sorted(options.keys() - _NAMES - {"on_result"})
    if unknown:
        raise TypeError(
            f"options: expected {', '.join(sorted(_NAMES))}, on_result, got {unknown[0]}"
        )
    return {name: value for name, value in options.items() if name in _NAMES}
