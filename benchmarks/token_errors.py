"""How far each counter is off, by kind of text: the table in `docs/tokens.md`.

Guarantees: the texts are files of this folder or computed from a fixed seed, so every run gives
the same table. What is compared are counts of plain text, without messages around it.

Reference is the exact count of the vocabulary that is named above a table: `o200k_base` stands for
a GPT-4o or later model, `cl100k_base` for GPT-4. No count of a current Claude model is published
that could be computed offline, so none is a reference.

Example:
    python -m benchmarks.token_errors
"""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import shake_256
from pathlib import Path

from provenance.messages.calibrated_tokens import CalibratedCounter
from provenance.messages.exact_tokens import ENCODINGS, ExactCounter
from provenance.messages.tokens import HeuristicCounter, TokenCounter

__all__ = ["ErrorRow", "corpora", "main", "measure", "table_of"]

_DATA = Path(__file__).parent / "data"
_REFERENCES = ("o200k_base", "cl100k_base")
_SEED = b"ctxaudit token errors 1:"


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """One kind of text against one reference.

    Attributes:
        kind: of text.
        reference: tokens of the second half of the text by the reference.
        errors: by counter, its count of the second half over the reference, less 1.
    """

    kind: str
    reference: int
    errors: Mapping[str, float]


def corpora() -> dict[str, str]:
    """Give the text of each kind."""
    return {
        "English": _file("english.txt"),
        "Chinese": _file("chinese.txt"),
        "JSON with hex ids": _json_records(),
        "code (Python)": _file("code.txt"),
        "hex": _noise(b"hex", 2_000).hex(),
        "base64": b64encode(_noise(b"base64", 3_000)).decode(),
    }


def measure(reference: str) -> list[ErrorRow]:
    """Measure all counters on the second halves; what calibrates reads the first halves.

    Args:
        reference: name of a vocabulary, one of `ENCODINGS`.
    """
    truth = ExactCounter(reference)
    halves = {kind: _halves(text) for kind, text in corpora().items()}
    mixed = _calibrated(truth, [first for first, _ in halves.values()])
    others = {name: ExactCounter(name) for name in ENCODINGS if name != reference}
    rows = []
    for kind, (first, second) in halves.items():
        expected = truth.count_text(second)
        counters: dict[str, TokenCounter] = {
            "heuristic": HeuristicCounter(),
            "calibrated, same kind": _calibrated(truth, [first]),
            "calibrated, all six": mixed,
            reference: truth,
            **others,
        }
        errors = {
            name: counter.count_text(second) / expected - 1 for name, counter in counters.items()
        }
        rows.append(ErrorRow(kind, expected, errors))
    return rows


def table_of(reference: str, rows: Sequence[ErrorRow]) -> str:
    """Write the rows as a table of Markdown."""
    names = list(rows[0].errors)
    head = ["text", f"tokens ({reference})", *names]
    lines = [_line(head), "|---|" + "---:|" * (len(head) - 1)]
    for row in rows:
        errors = (_percent(row.errors[name]) for name in names)
        lines.append(_line([row.kind, f"{row.reference:,}", *errors]))
    return "\n".join(lines)


def main() -> int:
    """Print one table a reference."""
    tables = [table_of(reference, measure(reference)) for reference in _REFERENCES]
    sys.stdout.write("\n\n".join(tables) + "\n")
    return 0


def _calibrated(truth: ExactCounter, texts: Sequence[str]) -> CalibratedCounter:
    base = HeuristicCounter()
    counter = CalibratedCounter(base)
    counter.learn(
        counted=sum(map(base.count_text, texts)), reported=sum(map(truth.count_text, texts))
    )
    return counter


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def _file(name: str) -> str:
    return (_DATA / name).read_text(encoding="utf-8")


def _noise(name: bytes, size: int) -> bytes:
    # Random numbers of the standard library may change with its version, a digest does not.
    return shake_256(_SEED + name).digest(size)


def _json_records() -> str:
    noise = _noise(b"json", 40 * 12)
    records = [
        {
            "id": noise[at : at + 8].hex(),
            "station": f"bridge-{noise[at + 8] % 7}",
            "centimetres": noise[at + 9] + noise[at + 10] / 256,
            "agrees": noise[at + 11] < 230,
            "parent": None,
        }
        for at in range(0, len(noise), 12)
    ]
    return json.dumps(records)


def _percent(error: float) -> str:
    return f"{error * 100:+.1f} %" if error else "0 %"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
