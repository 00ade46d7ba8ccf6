"""The examples of docs/embedding.md, as they stand there, with models that need no network."""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from provenance.compaction import CompactionConfig, Receipt
from provenance.messages import validate_tool_protocol

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "embedding.md"
_NAMES = ("loop", "pydantic-ai", "langchain", "openai-agents")
_STEPS = 6


def _examples() -> dict[str, str]:
    text = _PAGE.read_text(encoding="utf-8")
    return dict(re.findall(r"^```python ([a-z-]+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL))


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch):
    """The limits of the page are those of real windows; here they are a twentieth."""
    monkeypatch.setattr(
        "provenance.compaction.CompactionConfig",
        lambda *, soft_limit: CompactionConfig(
            soft_limit=soft_limit // 20, max_tool_result_tokens=400
        ),
    )


@pytest.fixture(autouse=True)
def event_loop() -> Iterator[None]:
    """The synchronous calls of the frameworks take the thread's loop, and leave it open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()
    asyncio.set_event_loop(None)


def read_gauge(pit: int) -> str:
    """Read a gauge."""
    return f"pit {pit}: the float stands\n" * 150


def _run(name: str, **given: Any) -> dict[str, Any]:
    # Not inherited: a block has the __future__ imports of its own page, none.
    code = compile(_examples()[name], f"docs/embedding.md ({name})", "exec", dont_inherit=True)
    exec(code, given)
    return given


def _require_compacted(receipts: list[Receipt]) -> None:
    assert len(receipts) == _STEPS + 1
    assert any(receipt.removed for receipt in receipts)


def test_each_way_in_has_an_example_and_nothing_else_is_there():
    assert tuple(_examples()) == _NAMES
    untold = re.findall(r"^```python *$", _PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert not untold


@pytest.mark.parametrize("name", _NAMES)
def test_an_example_has_ten_lines_besides_its_imports(name: str):
    source = _examples()[name]
    body = [
        one for one in ast.parse(source).body if not isinstance(one, ast.Import | ast.ImportFrom)
    ]
    lines = source.splitlines()[body[0].lineno - 1 :]
    assert sum(bool(line.strip()) for line in lines) <= 10


def test_a_bare_loop():
    sent: list[list[dict[str, Any]]] = []

    def model(messages: list[dict[str, Any]]) -> dict[str, Any]:
        validate_tool_protocol(messages)
        sent.append(messages)
        if len(sent) > _STEPS:
            return {"role": "assistant", "content": "All stuck."}
        calls = [
            {"type": "tool_use", "id": f"c{len(sent)}_{pit}", "name": "read_gauge", "input": {}}
            for pit in (1, 2)
        ]
        return {"role": "assistant", "content": calls}

    def run_tools(answer: dict[str, Any]) -> list[dict[str, Any]]:
        if isinstance(answer["content"], str):
            return []
        results = [
            {"type": "tool_result", "tool_use_id": call["id"], "content": read_gauge(1)}
            for call in answer["content"]
        ]
        return [{"role": "user", "content": results}]

    done = _run("loop", model=model, run_tools=run_tools, state=object())
    assert done["log"][-1]["content"] == "All stuck."
    assert len(done["log"]) == 2 + 2 * _STEPS
    _require_compacted(done["receipts"])


def test_pydantic_ai(capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("pydantic_ai", reason="needs the extra pydantic-ai")
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    sent: list[Any] = []

    def answer(messages: list[Any], info: Any) -> ModelResponse:
        sent.append(messages)
        if len(sent) > _STEPS:
            return ModelResponse(parts=[TextPart("All stuck.")])
        return ModelResponse(parts=[ToolCallPart("read_gauge", {"pit": pit}) for pit in (1, 2)])

    done = _run("pydantic-ai", model=FunctionModel(answer), read_gauge=read_gauge)
    assert capsys.readouterr().out == "All stuck.\n"
    _require_compacted(done["receipts"])


def test_langchain(capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("langchain", reason="needs the extra langchain")
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    class Model(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **_: Any) -> Model:
            return self

    calling = [
        AIMessage(
            "",
            tool_calls=[
                {"name": "read_gauge", "args": {"pit": pit}, "id": f"c{step}_{pit}"}
                for pit in (1, 2)
            ],
        )
        for step in range(_STEPS)
    ]
    model = Model(messages=iter([*calling, AIMessage("All stuck.")]))
    done = _run("langchain", model=model, read_gauge=read_gauge)
    assert capsys.readouterr().out == "All stuck.\n"
    _require_compacted(done["receipts"])


def test_openai_agents(capsys: pytest.CaptureFixture[str]):
    agents = pytest.importorskip("agents", reason="needs the extra openai-agents")
    agents.set_tracing_disabled(True)
    from tests.embedding.test_openai_agents import PitModel

    tool = agents.function_tool(lambda step, pit: read_gauge(pit), name_override="read_gauge")
    done = _run("openai-agents", model=PitModel(_STEPS), read_gauge=tool)
    assert capsys.readouterr().out == "All stuck.\n"
    _require_compacted(done["receipts"])
