"""Messages whose calls are no list: they cost in a compaction what the estimate says."""

from __future__ import annotations

from typing import Any

import pytest

from provenance.compaction import CompactionConfig, compact_context, verify_receipt
from provenance.messages import estimate_tokens


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("content", [[{"type": "text", "text": "hello"}], "hello", None, []])
@pytest.mark.parametrize("calls", [{"x": "y" * 300}, "z" * 300, 7, [], None])
def test_what_is_no_list_of_calls_is_counted_alike(role: str, content: Any, calls: Any) -> None:
    messages = [
        {"role": "user", "content": "question"},
        {"role": role, "content": content, "tool_calls": calls},
    ]
    config = CompactionConfig(soft_limit=10**6, hard_limit=10**7)
    result = compact_context(messages, object(), config=config)
    assert result.tokens_before == estimate_tokens(messages)
    assert verify_receipt(messages, result) == ()
