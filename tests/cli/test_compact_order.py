"""From options to the numbers of a compaction."""

from __future__ import annotations

import pytest

from cli.compact_order import GRACE_SECONDS, CompactOrder, configuration
from provenance.compaction import CompactionConfig, CompactionConfigError


@pytest.mark.parametrize("preset", ["main", "subtask", "resume"])
def test_without_options_it_is_the_preset(preset: str) -> None:
    made = configuration(CompactOrder(file="x", preset=preset, summarizer_timeout=1.5))
    known = CompactionConfig.preset(preset)  # type: ignore[arg-type]
    assert made.summary_timeout == 1.5 + GRACE_SECONDS
    for name in ("soft_limit", "hard_limit", "keep_first", "summary_keep_recent"):
        assert getattr(made, name) == getattr(known, name)


def test_an_option_sets_its_number_alone() -> None:
    made = configuration(
        CompactOrder(file="x", keep_recent_messages=0, keep_first=True, read_tools={"cat": "path"})
    )
    assert (made.keep_recent_messages, made.keep_first) == (0, True)
    assert dict(made.read_tools) == {"cat": "path"}
    assert made.soft_limit == CompactionConfig().soft_limit


def test_what_makes_no_sense_names_the_option() -> None:
    with pytest.raises(CompactionConfigError, match=r"^--hard-limit: expected 80000 \(--soft-lim"):
        configuration(CompactOrder(file="x", hard_limit=1))
    with pytest.raises(CompactionConfigError, match=r"^--soft-limit: expected at most 60000 \(--h"):
        configuration(CompactOrder(file="x", preset="subtask", soft_limit=60_001))
    assert configuration(CompactOrder(file="x", soft_limit=120_000)).soft_limit == 120_000
    with pytest.raises(CompactionConfigError, match=r"^--keep-recent: expected"):
        configuration(CompactOrder(file="x", keep_recent_messages=-1))
