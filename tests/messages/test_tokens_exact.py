"""Exact counts: those of tiktoken, offline, special tokens as plain text."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from provenance.errors import CallerError, MachineError
from provenance.messages.exact_tokens import (
    ENCODINGS,
    ExactCounter,
    MissingTokensExtra,
    UnknownEncodingError,
)
from provenance.messages.tokens import TokenCounter, count_request

_HAS_LIBRARY = find_spec("bpe_openai") is not None
needs_library = pytest.mark.skipif(not _HAS_LIBRARY, reason="the extra `tokens` is not installed")
_OPENAI = ["cl100k_base", "o200k_base"]
_ALL = [*(pytest.param(name, marks=needs_library) for name in _OPENAI), "claude_legacy"]


def _reference(checkout: Path) -> list[dict[str, Any]]:
    text = (checkout / "tests/data/tokens/reference.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


@pytest.mark.parametrize("encoding", _ALL)
def test_counts_are_those_of_tiktoken(encoding: str, checkout: Path) -> None:
    counter = ExactCounter(encoding)
    rows = _reference(checkout)
    assert len(rows) > 100
    wrong = [row["text"] for row in rows if counter.count_text(row["text"]) != row[encoding]]
    assert wrong == []


@needs_library
@pytest.mark.parametrize("encoding", _OPENAI)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the library, when it is imported
@given(text=st.text())
@example(text="<|endoftext|>")
@example(text="a<|endofprompt|>b<|fim_prefix|>")
@example(text="👩‍👩‍👧🇩🇪")
@example(text=" \n \t\u3000 x")
def test_counts_are_those_of_the_library_that_users_know(encoding: str, text: str) -> None:
    assert ExactCounter(encoding).count_text(text) == len(_library(encoding).encode_ordinary(text))


@cache
def _library(encoding: str) -> Any:
    """Each call of `get_encoding` builds tables of all tokens again."""
    return pytest.importorskip("bpe_openai").get_encoding(encoding)


@pytest.mark.parametrize("encoding", _ALL)
@pytest.mark.parametrize(
    "special", ["<|endoftext|>", "<|endofprompt|>", "<|fim_prefix|>", "<EOT>", "<META_START>"]
)
def test_a_special_token_is_plain_text(encoding: str, special: str) -> None:
    assert ExactCounter(encoding).count_text(special) > 1


@pytest.mark.parametrize("encoding", _ALL)
def test_half_a_surrogate_pair_counts_as_the_replacement_character(encoding: str) -> None:
    counter = ExactCounter(encoding)
    assert counter.count_text("a\ud800b") == counter.count_text("a\ufffdb")
    assert counter.count_text("\udc00") == counter.count_text("\ufffd")
    assert counter.count_text("\ud83d\ude42") == counter.count_text("🙂")


@pytest.mark.parametrize("encoding", _ALL)
def test_more_tokens_than_the_library_allows_at_once_are_counted(encoding: str) -> None:
    # The library's documented class refuses more than 200,000.
    assert ExactCounter(encoding).count_text("no and " * 150_000) >= 300_000


@pytest.mark.parametrize("encoding", _ALL)
def test_a_text_without_spaces_is_counted_in_reasonable_time(encoding: str) -> None:
    # Quadratic merging would take minutes here, and the suite's guard ends that.
    assert ExactCounter(encoding).count_text("a" * 400_000) > 0


@pytest.mark.parametrize("encoding", _ALL)
def test_messages_blocks_and_requests(encoding: str) -> None:
    counter = ExactCounter(encoding)
    block = {"type": "text", "text": "“a”\n"}
    text = json.dumps(block, ensure_ascii=False)
    assert counter.count_block(block) == counter.count_text(text)
    message = {"role": "user", "content": [block, block]}
    assert counter.count_message(message) == 4 + 2 * counter.count_text(text)
    plain = {"role": "assistant", "content": "hello world", "tool_calls": [block]}
    assert counter.count_message(plain) == 4 + 2 + counter.count_text(text)
    assert counter.count_messages([message, plain]) == (
        counter.count_message(message) + counter.count_message(plain)
    )
    assert count_request([plain], system="hello world", counter=counter).system == 2
    assert isinstance(counter, TokenCounter)


@given(st.recursive(st.none() | st.floats() | st.text(), st.lists))
def test_any_json_value_is_counted(value: object) -> None:
    assert ExactCounter("claude_legacy").count_block(value) >= 1


@needs_library
@pytest.mark.parametrize(("short", "full"), [("o200k", "o200k_base"), ("cl100k", "cl100k_base")])
def test_two_names_have_a_short_form(short: str, full: str) -> None:
    assert ExactCounter(short).encoding == full
    assert repr(ExactCounter(short)) == f"ExactCounter('{full}')"


@needs_library
def test_the_default_is_the_newest() -> None:
    assert ExactCounter().encoding == "o200k_base"


@pytest.mark.parametrize(
    "encoding", ["", "claude", "O200K_BASE", "voyage3_base", None, [], "x" * 99]
)
def test_another_name_is_refused_and_the_names_are_said(encoding: Any) -> None:
    with pytest.raises(UnknownEncodingError) as caught:
        ExactCounter(encoding)
    message = str(caught.value)
    assert all(name in message for name in ENCODINGS)
    assert len(message) < 120
    assert isinstance(caught.value, CallerError | ValueError)


_WITHOUT = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "bpe_openai":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
import socket
socket.socket = None  # nothing may ask the network instead
from provenance.messages.exact_tokens import ExactCounter, MissingTokensExtra
from provenance.messages.tokens import estimate_tokens
assert estimate_tokens([{"role": "user", "content": "x" * 200}]) == 54
assert ExactCounter("claude_legacy").count_text("hello world") == 2
for name in ("o200k_base", "cl100k"):
    try:
        ExactCounter(name)
    except MissingTokensExtra as error:
        print(error.code, error)
"""


def test_without_the_library_the_error_names_the_extra(checkout: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT], cwd=checkout, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"missing_extra encoding {name}: expected the extra ctxaudit-provenance[tokens],"
        " got none installed"
        for name in ("o200k_base", "cl100k_base")
    ]
    assert issubclass(MissingTokensExtra, MachineError)
    assert issubclass(MissingTokensExtra, ImportError)


def test_nothing_is_loaded_before_a_counter_is_made(checkout: Path) -> None:
    code = (
        "import sys, provenance.messages.exact_tokens\n"
        "print([name for name in sys.modules if name.startswith('bpe_openai')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=checkout, capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


_BESIDE = """
import sys, warnings
from provenance.messages.exact_tokens import ExactCounter
ours = ExactCounter("o200k_base")
print("bpe_openai" in sys.modules)
warnings.simplefilter("ignore")
import bpe_openai
theirs = bpe_openai.get_encoding("o200k_base")
print(ours.count_text("hello world"), len(theirs.encode_ordinary("hello world")))
"""


@needs_library
def test_the_library_can_still_be_imported_by_others(checkout: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _BESIDE], cwd=checkout, capture_output=True, text=True, check=False
    )
    assert (done.stdout.split(), done.stderr) == (["False", "2", "2"], "")


@needs_library
def test_after_the_library_its_own_module_is_used(checkout: Path) -> None:
    code = "import warnings; warnings.simplefilter('ignore'); import bpe_openai\n"
    code += "bpe_openai.get_encoding('cl100k_base')\n" + _BESIDE
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=checkout, capture_output=True, text=True, check=False
    )
    assert (done.stdout.split(), done.stderr) == (["True", "2", "2"], "")
