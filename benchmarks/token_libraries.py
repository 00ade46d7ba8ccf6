"""Libraries that count tokens, side by side: do they agree with tiktoken, and how fast are they?

Guarantees: what is not installed is left out and said. Nothing is downloaded: tiktoken is given the
vocabularies that bpe-openai packages, after their SHA-256 was found to be the one that tiktoken
itself expects of the published file. Only the libraries that agree on a text are timed on it.

The figures of docs/decisions/0015 come from here.

Example:
    python -m pip install bpe-openai quicktok-v1 rs-bpe tiktoken
    python -m benchmarks.token_libraries
"""

from __future__ import annotations

import gzip
import random
import sys
import time
from base64 import b64decode
from collections.abc import Callable, Mapping
from hashlib import sha256
from importlib import import_module
from importlib.resources import files
from statistics import median

from benchmarks.token_errors import corpora

__all__ = ["NAMES", "disagreements", "load", "main", "megabytes_a_second", "texts"]

Count = Callable[[str], int]

NAMES = ("tiktoken", "bpe-openai", "quicktok-v1", "rs-bpe")
_ENCODINGS = ("o200k_base", "cl100k_base")
_BYTES = 500_000
_ROUNDS = 5
_TEXTS = 50_000

# Letters, marks, digits and spaces of many scripts, where the patterns have their corners.
_ALPHABET = (
    "aAzZ09 \n\r\t.,'\"<|>_-éßñ中文好🙂🇩🇪\u200d\u0301\u00a0\u3000\u2028\u0085\u02bc\u017f"
    "K\u0131İǅꙮ\U0001d4b3٣Ⅷ²'stthe in"
)


def load(name: str, encoding: str) -> Count | None:
    """Give the counting function of a library; None if it is not installed.

    Args:
        name: one of `NAMES`.
        encoding: `o200k_base` or `cl100k_base`.
    """
    try:
        return _LOADERS[name](encoding)
    except ImportError:
        return None


def texts(number: int) -> list[str]:
    """Give short texts from a fixed seed, with any character but surrogates."""
    chance = random.Random(6)
    made = []
    for _ in range(number):
        characters = (
            chance.choice(_ALPHABET) if chance.random() < 0.8 else _any_character(chance)
            for _ in range(chance.randrange(1, 40))
        )
        made.append("".join(characters))
    return [*made, "<|endoftext|>", "a<|endofprompt|>b"]


def disagreements(count: Count, reference: Count, some: list[str]) -> list[str]:
    """Give the texts for which the counts differ."""
    return [text for text in some if count(text) != reference(text)]


def megabytes_a_second(count: Count, text: str) -> float:
    """Give the median speed over some rounds, in UTF-8."""
    seconds = []
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        count(text)
        seconds.append(time.perf_counter() - start)
    return len(text.encode()) / median(seconds) / 1e6


def main() -> int:
    """Print agreement and speed."""
    some = texts(_TEXTS)
    for encoding in _ENCODINGS:
        counts = {name: load(name, encoding) for name in NAMES}
        absent = [name for name, count in counts.items() if count is None]
        present = {name: count for name, count in counts.items() if count is not None}
        _say(f"{encoding}; not installed: {', '.join(absent) or 'none'}")
        if (reference := present.get("tiktoken")) is not None:
            for name, count in present.items():
                differ = disagreements(count, reference, some)
                _say(f"  {name}: {len(differ)} of {len(some):,} texts differ from tiktoken")
        _say(f"  {'MB/s':<20}" + "".join(f"{name:>14}" for name in present))
        for kind, text in corpora().items():
            longer = text * (_BYTES // len(text.encode()) + 1)
            _say(f"  {kind:<20}" + _speeds(present, longer))
    return 0


def _speeds(counts: Mapping[str, Count], text: str) -> str:
    numbers = {name: count(text) for name, count in counts.items()}
    if len(set(numbers.values())) > 1:
        return f"they differ: {numbers}"
    return "".join(f"{megabytes_a_second(count, text):>14.1f}" for count in counts.values())


def _any_character(chance: random.Random) -> str:
    return chr(chance.choice((chance.randrange(0xD800), chance.randrange(0xE000, 0x110000))))


def _tiktoken(encoding: str) -> Count:
    tiktoken, public = import_module("tiktoken"), import_module("tiktoken_ext.openai_public")
    setattr(public, "load_tiktoken_bpe", _packaged_ranks)  # noqa: B010 - a module has no such type
    encode: Callable[[str], list[int]] = tiktoken.Encoding(
        **getattr(public, encoding)()
    ).encode_ordinary
    return lambda text: len(encode(text))


def _packaged_ranks(address: str, expected_hash: str | None = None) -> dict[bytes, int]:
    name = address.rsplit("/", 1)[-1]
    data = gzip.decompress(files("bpe_openai.data").joinpath(f"{name}.gz").read_bytes())
    if sha256(data).hexdigest() != expected_hash:
        raise SystemExit(f"{name}: expected the published file, got another")
    lines = (line.split() for line in data.splitlines() if line)
    return {b64decode(token): int(rank) for token, rank in lines}


def _bpe_openai(encoding: str) -> Count:
    count: Count = import_module("bpe_openai._bindings").tokenizer_for_encoding(encoding).count
    return count


def _quicktok(encoding: str) -> Count:
    count: Count = import_module("quicktok").get_encoding(encoding).count
    return count


def _rs_bpe(encoding: str) -> Count:
    count: Count = getattr(import_module("rs_bpe").openai, encoding)().count
    return count


_LOADERS: Mapping[str, Callable[[str], Count]] = {
    "tiktoken": _tiktoken,
    "bpe-openai": _bpe_openai,
    "quicktok-v1": _quicktok,
    "rs-bpe": _rs_bpe,
}


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
