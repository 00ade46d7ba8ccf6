"""Options, and frameworks that are not there."""

from __future__ import annotations

import subprocess
import sys

import pytest

from provenance.embedding import (
    MissingEmbeddingExtra,
    _extras,
    langchain,
    openai_agents,
    pydantic_ai,
)
from provenance.errors import CtxauditError

_WITHOUT = """
import sys
for name in {names}:
    sys.modules[name] = None
"""
_LOADS_NONE = """
import provenance.embedding
import provenance.embedding.langchain
import provenance.embedding.openai_agents
import provenance.embedding.pydantic_ai
names = {"agents", "langchain", "langchain_core", "langgraph", "openai", "pydantic_ai"}
found = sorted(names & {name.partition(".")[0] for name in sys.modules})
assert not found, found
"""
_NAMED = """
import provenance.embedding
from provenance.embedding.{module} import {function}
try:
    {function}()
except ImportError as error:
    print(type(error).__name__, error.code, error, sep="|")
"""


def _run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_loads_no_framework():
    _run("import sys" + _LOADS_NONE)


@pytest.mark.parametrize(
    ("module", "function", "package", "needed", "extra"),
    [
        (
            "pydantic_ai",
            "history_processor",
            "pydantic_ai",
            "pydantic_ai.messages",
            "pydantic-ai",
        ),
        (
            "langchain",
            "compaction_middleware",
            "langchain",
            "langchain.agents.middleware",
            "langchain",
        ),
        (
            "langchain",
            "pre_model_hook",
            "langchain_core",
            "langchain_core.runnables",
            "langchain",
        ),
        ("openai_agents", "input_filter", "agents", "agents.run", "openai-agents"),
    ],
)
def test_what_is_not_installed_is_named_in_one_line(
    module: str, function: str, package: str, needed: str, extra: str
):
    code = _WITHOUT.format(names=[package]) + _NAMED.format(module=module, function=function)
    assert _run(code) == (
        "MissingEmbeddingExtra|missing_extra|"
        f"{needed}: expected the extra ctxaudit-provenance[{extra}], got none installed"
    )


def test_the_error_is_one_of_ours_and_an_import_error():
    with pytest.raises(MissingEmbeddingExtra) as caught:
        _extras.load("no_such_framework.messages", "pydantic-ai")
    assert isinstance(caught.value, CtxauditError)
    assert isinstance(caught.value, ImportError)


@pytest.mark.parametrize("module", [langchain, openai_agents, pydantic_ai])
def test_an_option_of_another_name_is_refused(module):
    with pytest.raises(TypeError, match=r"options: expected .*, got sumarizer\Z"):
        module.compact([], sumarizer=None)
