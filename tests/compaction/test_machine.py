"""Histories that grow in every way they can, compacted again and again."""

from __future__ import annotations

import contextlib
import functools
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from provenance.artifacts import ArtifactStore
from provenance.compaction import (
    CompactionConfig,
    CompactionResult,
    MessageViewLimitExceeded,
    SummaryOutcome,
    compact_context,
)
from provenance.compaction.notices import spilled_ends
from provenance.compaction.summary import SUMMARY_HEAD
from provenance.messages import (
    ProviderRule,
    blocks_of,
    check_provider_rules,
    repair_tool_protocol,
)
from provenance.messages.shapes import BlockKind, field, result_text
from provenance.messages.tokens import estimate_tokens
from provenance.resolution import SourceResolutionStatus
from provenance.resolver import SourcePointerResolver
from tests.compaction.builders import PROVIDERS, assert_sound, untouched
from tests.messages.builders import (
    asks,
    assistant,
    chat_call,
    gives,
    text_block,
    thinking_block,
    tool_result,
    tool_use,
    user,
)

texts = st.one_of(
    st.text(min_size=1, max_size=60).filter(lambda text: text.strip() != ""),
    st.sampled_from(["emoji 👩‍👩‍👧‍👦 here", "文档很长" * 20, "line\n" * 30]),
)
results = st.one_of(
    texts,
    st.integers(10, 900).map(lambda size: "r" * size),
    st.integers(5, 100).map(lambda lines: "".join(f"row {n}\n" for n in range(lines))),
)


def _refuse(_text: str, /, *, tool: str | None, call_id: str | None) -> Any:
    raise OSError("full")


def _noticed(messages: list[Any]) -> set[str]:
    """Where the results that now read as notices were stored."""
    texts = [
        result_text(block) or ""
        for message in messages
        for block in blocks_of(message)
        if block.kind is BlockKind.TOOL_RESULT
    ]
    return {ends.pointer for text in texts if (ends := spilled_ends(text)) is not None}


class Growing(RuleBasedStateMachine):
    """One conversation of one agent, in one shape, with one store."""

    shape = "anthropic"

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        self.root.chmod(0o700)
        self.store = ArtifactStore(self.root)
        self.history: list[Any] = []
        self.pending: list[str] = []
        self.count = 0
        self.summary: str | None = None
        self.state = object()

    def teardown(self) -> None:
        self.folder.cleanup()

    def _ids(self, count: int) -> list[str]:
        self.count += count
        return [f"c{number}" for number in range(self.count - count, self.count)]

    @initialize(text=texts)
    def begins(self, text: str) -> None:
        self.history.append(user(text))

    @rule(text=texts)
    def user_says(self, text: str) -> None:
        self.history.append(user(text))

    @rule(text=texts)
    def assistant_says(self, text: str) -> None:
        self.history.append(assistant(text))

    @rule(count=st.integers(1, 6), thinks=st.booleans(), path=st.sampled_from(["a", "b"]))
    def calls(self, count: int, thinks: bool, path: str) -> None:
        ids = self._ids(count)
        self.pending += ids
        if self.shape == "anthropic":
            before = [thinking_block()] if thinks else [text_block("I look.")]
            blocks = [*before, *(tool_use(one, path=path) for one in ids)]
            self.history.append({"role": "assistant", "content": blocks})
        elif self.shape == "chat":
            calls = [chat_call(one, path=path) for one in ids]
            self.history.append({"role": "assistant", "content": None, "tool_calls": calls})
        else:
            if thinks:
                self.history.append({"type": "reasoning", "id": f"rs_{ids[0]}", "summary": []})
            self.history += asks(self.shape, *ids)

    @precondition(lambda self: self.pending)
    @rule(data=st.data(), text=results, mixed=st.booleans(), as_list=st.booleans())
    def some_answer(self, data: st.DataObject, text: str, mixed: bool, as_list: bool) -> None:
        ids = data.draw(st.lists(st.sampled_from(self.pending), min_size=1, unique=True))
        self._answer(ids, text, mixed=mixed, as_list=as_list)

    @precondition(lambda self: self.pending)
    @rule(text=results)
    def all_answer(self, text: str) -> None:
        self._answer(list(self.pending), text, mixed=False, as_list=False)

    @precondition(lambda self: not self.pending)
    @rule(turns=st.integers(1, 5), thinks=st.booleans(), texts=st.lists(results, min_size=1))
    def works(self, turns: int, thinks: bool, texts: list[str]) -> None:
        for number in range(turns):
            self.calls(1 + number % 2, thinks, "ab"[number % 2])
            self.all_answer(texts[number % len(texts)])

    def _answer(self, ids: list[str], text: str, *, mixed: bool, as_list: bool) -> None:
        self.pending = [one for one in self.pending if one not in ids]
        if self.shape != "anthropic":
            self.history += gives(self.shape, *ids, content=text)
            return
        content = [text_block(text), text_block("more")] if as_list else text
        blocks = [tool_result(one, content) for one in ids]
        if mixed:
            blocks.append(text_block("and this"))
        self.history.append({"role": "user", "content": blocks})

    @rule()
    def is_interrupted(self) -> None:
        self.history, _ = repair_tool_protocol(self.history)
        self.pending = []

    @precondition(lambda self: not self.pending)
    @rule(
        percent=st.sampled_from([0, 20, 50, 80, 95, 100, 110]),
        may_grow=st.booleans(),
        cap=st.sampled_from([10, 60, 5_000]),
        recent=st.integers(0, 6),
        keep_first=st.booleans(),
        spill=st.sampled_from(["none", "store", "broken"]),
        dropped=st.booleans(),
        says=st.sampled_from(["short", "brief", "[]<tool_use>", "", "long " * 3_000, None]),
    )
    def is_compacted(
        self,
        percent: int,
        may_grow: bool,
        cap: int,
        recent: int,
        keep_first: bool,
        spill: str,
        dropped: bool,
        says: str | None,
    ) -> None:
        soft = max(1, estimate_tokens(self.history) * percent // 100)
        config = CompactionConfig(
            soft_limit=soft,
            hard_limit=10**6 if may_grow else soft + 200,
            max_tool_result_tokens=cap,
            keep_recent_messages=recent,
            summary_keep_recent=recent,
            keep_first=keep_first,
            read_tools={"read": "path"},
            spill_dropped=dropped,
            summary_timeout=None,
        )
        stores: dict[str, Any] = {
            "none": None,
            "store": functools.partial(self.store.spill, "s1"),
            "broken": _refuse,
        }
        same = untouched(self.history)

        def summarizer(_conversation: str) -> str:
            if says is None:
                raise RuntimeError("no model")
            return says

        def run(messages: list[Any]) -> CompactionResult[object]:
            return compact_context(
                messages,
                self.state,
                summarizer=summarizer,
                config=config,
                spill=stores[spill],
                previous_summary=self.summary,
            )

        result: CompactionResult[object] | None = None
        with contextlib.suppress(MessageViewLimitExceeded):
            result = run(self.history)
        assert same()
        if result is None:
            return
        assert result.durable_state is self.state
        assert result.tokens_after < config.hard_limit
        assert_sound(self.history, result)
        if result.tokens_before < soft:
            assert result.messages == self.history
            assert result.summary_outcome is SummaryOutcome.NOT_NEEDED
        if result.tokens_after < soft:
            again = run(result.messages)
            assert again.messages == result.messages
            assert again.receipt.removed == ()
        if says is None:
            assert result.summary in {None, self.summary}
        if result.summary is not None:
            said = f"{SUMMARY_HEAD}\n{result.summary}"
            assert said in [field(message, "content") for message in result.messages]
        if spill == "broken":
            # It stores nothing now; what an earlier compaction stored is still where it was.
            assert set(result.receipt.pointers) <= _noticed(self.history)
        self._keeps_to_the_rules_of_the_provider(result.messages)
        self.history = result.messages
        self.summary = result.summary or self.summary
        self._every_pointer_resolves(result)

    def _keeps_to_the_rules_of_the_provider(self, messages: list[Any]) -> None:
        provider = PROVIDERS[self.shape]
        before = {problem.rule for problem in check_provider_rules(self.history, provider)}
        after = {problem.rule for problem in check_provider_rules(messages, provider)}
        if not before:
            assert not after
        # Whatever else is wrong with a history: thinking keeps with what it led to.
        assert ProviderRule.THINKING_PLACE in before or ProviderRule.THINKING_PLACE not in after

    def _every_pointer_resolves(self, result: CompactionResult[object]) -> None:
        pointers = sorted(_noticed(result.messages) | set(result.receipt.pointers))
        if not pointers:
            return
        with SourcePointerResolver(
            self.root, self.root, authorize=lambda _pointer: True
        ) as resolver:
            for one in resolver.resolve_many(pointers):
                assert one.status is SourceResolutionStatus.AVAILABLE


class GrowingChat(Growing):
    shape = "chat"


class GrowingResponses(Growing):
    shape = "responses"


_SETTINGS = settings(
    max_examples=60,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestAnthropic = Growing.TestCase
TestChat = GrowingChat.TestCase
TestResponses = GrowingResponses.TestCase
for _case in (TestAnthropic, TestChat, TestResponses):
    _case.settings = _SETTINGS
