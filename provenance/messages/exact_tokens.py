"""Exact token counts, offline, with the vocabularies that providers have published.

Guarantees: no count and no import reaches the network; vocabularies come from installed packages.
What looks like a special token (`<|endoftext|>`) is counted as the plain text it is. A surrogate
without its partner counts as U+FFFD, as tiktoken has it.

Exact is the count of a text. What a provider adds around messages, blocks and tools is not
published: a message is counted as 4, plus its text, plus the JSON of its blocks.

Example:
    >>> ExactCounter("claude_legacy").count_text("hello world")
    2
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType

from provenance.errors import CallerError, MachineError
from provenance.messages._json_text import json_text
from provenance.messages._legacy_claude import count_legacy_claude
from provenance.messages._parts import many_messages, parts_of
from provenance.messages.tokens import MESSAGE_TOKENS

__all__ = ["ENCODINGS", "ExactCounter", "MissingTokensExtra", "UnknownEncodingError"]

ENCODINGS = ("cl100k_base", "claude_legacy", "o200k_base")

_ALIASES = {"cl100k": "cl100k_base", "o200k": "o200k_base"}
_EXTRA = "ctxaudit-provenance[tokens]"
_PACKAGE = "bpe_openai"
_BINDINGS = "bpe_openai._bindings"


class UnknownEncodingError(CallerError, ValueError):
    """There is no vocabulary of that name."""

    code = "unknown_encoding"


class MissingTokensExtra(MachineError, ImportError):
    """The library that counts is not installed."""

    code = "missing_extra"


class ExactCounter:
    """Counts as the tokenizer of one model family does.

    Safe to share between threads. The vocabulary is loaded once in a process, when the first
    counter that needs it is made.
    """

    __slots__ = ("_count", "_encoding")

    def __init__(self, encoding: str = "o200k_base") -> None:
        """Load a vocabulary.

        Args:
            encoding: one of `ENCODINGS`: `o200k_base` (GPT-4o and later), `cl100k_base` (GPT-4,
                GPT-3.5), `claude_legacy` (published for Claude 1 and 2; newer Claude models have
                another one, which is not published). `o200k` and `cl100k` are short for the two.

        Raises:
            UnknownEncodingError: it is another one.
            MissingTokensExtra: the extra `tokens` is not installed; `claude_legacy` needs none.
        """
        self._encoding = name = _parse_name(encoding)
        self._count = count_legacy_claude if name == "claude_legacy" else _load_openai(name)

    @property
    def encoding(self) -> str:
        """The full name of the vocabulary."""
        return self._encoding

    def __repr__(self) -> str:
        return f"ExactCounter({self._encoding!r})"

    def count_text(self, text: str, /) -> int:
        """Count plain text."""
        try:
            return self._count(text)
        except UnicodeEncodeError:
            # Halves that belong together become one character again, a half alone U+FFFD.
            return self._count(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))

    def count_block(self, block: object, /) -> int:
        """Count the JSON of a block (default separators, non-ASCII kept)."""
        return self.count_text(json_text(block))

    def count_message(self, message: object, /) -> int:
        """Give 4, plus its text, plus each of its blocks."""
        text, blocks = parts_of(message)
        return MESSAGE_TOKENS + self.count_text(text) + sum(map(self.count_block, blocks))

    def count_messages(self, messages: Iterable[object], /) -> int:
        """Give the sum over the messages."""
        return sum(map(self.count_message, many_messages(messages)))


def _parse_name(encoding: object) -> str:
    if isinstance(encoding, str):
        name = _ALIASES.get(encoding, encoding)
        if name in ENCODINGS:
            return name
    raise UnknownEncodingError(
        f"encoding: expected {', '.join(ENCODINGS)}, got {str(encoding)[:40]!a}"
    )


@cache
def _load_openai(name: str) -> Callable[[str], int]:
    try:
        bindings = _bindings()
    except ImportError as error:
        raise MissingTokensExtra(
            f"encoding {name}: expected the extra {_EXTRA}, got none installed"
        ) from error
    count: Callable[[str], int] = bindings.tokenizer_for_encoding(name).count
    return count


def _bindings() -> ModuleType:
    """Load the compiled module alone (docs/decisions/0015).

    The package around it reads three vocabularies into dictionaries when it is imported, which
    takes ten times as long and twice the memory, and nothing here needs them. It refuses more than
    200,000 tokens, too. It can still be imported afterwards, and uses the same compiled module.
    """
    if (loaded := sys.modules.get(_BINDINGS)) is not None:
        return loaded
    package = find_spec(_PACKAGE)
    folders = None if package is None else package.submodule_search_locations
    spec = None if folders is None else PathFinder.find_spec(_BINDINGS, list(folders))
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"expected the module {_BINDINGS}, got none", name=_BINDINGS)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return sys.modules.setdefault(_BINDINGS, module)
