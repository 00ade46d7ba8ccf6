"""Lines of transcripts for tests: sound ones in every way to write JSON, and hostile ones.

Guarantees: nothing here uses the code under test; what a line means is known from how it was made,
or decided by the judge that the test compares with.

Example:
    >>> record(3)["event_id"]
    'transcript:s1:3'
"""

from __future__ import annotations

import json
import random
from typing import Any

from hypothesis import strategies as st

__all__ = [
    "SESSION",
    "blocks",
    "compact",
    "json_values",
    "mutated",
    "record",
    "records",
    "render",
    "spaced",
]

SESSION = "s1"

_TEXT = st.one_of(
    st.text(max_size=12),
    st.text(alphabet='":\\/{}[],\u2028\u00e9\U0001f600\ud83d\x7f\x00\n\t au003', max_size=12),
    st.sampled_from(['":', '\\":', '\\\\":', " :", ":", "\\u003a", "\ufeff", "NaN", "x" * 300]),
)
_NUMBERS = st.one_of(
    st.integers(),
    st.integers(min_value=-3, max_value=12),
    st.sampled_from([10**17, 10**18, 10**19, 2**63, 2**64, -(2**63) - 1, 10**30]),
    st.floats(allow_nan=False, allow_infinity=False),
)
_SCALARS = st.one_of(st.none(), st.booleans(), _NUMBERS, _TEXT)


def json_values(max_leaves: int = 8) -> st.SearchStrategy[Any]:
    """Any JSON value, lone surrogates included."""
    return st.recursive(
        _SCALARS,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(_TEXT, inner, max_size=4)
        ),
        max_leaves=max_leaves,
    )


def record(sequence: int, session: str = SESSION, **event: object) -> dict[str, Any]:
    """One sound record."""
    return {
        "schema_version": 1,
        "sequence": sequence,
        "recorded_at": "2026-03-02T09:01:00.123456+00:00",
        "session_id": session,
        "event_id": f"transcript:{session}:{sequence}",
        "type": "message",
        **event,
    }


def compact(value: object) -> bytes:
    """As our own writer prints."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def spaced(value: object) -> bytes:
    """As `json.dumps` prints when nothing is asked of it."""
    return json.dumps(value).encode()


_EVENTS = st.one_of(
    st.fixed_dictionaries({"content": _TEXT}),
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["message", "function_call", "odd"]),
            "content": json_values(),
            "arguments": json_values(),
            "call_id": _SCALARS,
            "role": _SCALARS,
        },
    ),
    st.dictionaries(_TEXT, json_values(), max_size=3),
)
# Around the line's number `n`, which is put in later.
_FAULTS: list[dict[str, object]] = [
    {"sequence": True},
    {"sequence": "n"},
    {"sequence": "n.0"},
    {"sequence": "n+1"},
    {"sequence": None},
    {"sequence": 10**40},
    {"session_id": "s2"},
    {"session_id": 1},
    {"event_id": "transcript:s1:0n"},
    {"event_id": None},
    {"schema_version": 2},
    {"schema_version": True},
    {"schema_version": 1.0},
    {"recorded_at": "2026-03-02T09:01:00"},
    {"recorded_at": "2026-02-30T09:01:00Z"},
    {"recorded_at": "20260302T0901Z"},
    {"recorded_at": "2024-02-29 09:01:00,5+0530"},
    {"recorded_at": 1},
    {"recorded_at": None},
]
_ENVELOPE = ("schema_version", "sequence", "recorded_at", "session_id", "event_id")


@st.composite
def records(draw: st.DrawFn, sequence: int) -> dict[str, Any]:
    """A record for line `sequence`, mostly sound."""
    made = record(sequence) | draw(_EVENTS)
    kind = draw(st.integers(min_value=0, max_value=9))
    if kind == 0:
        for name in draw(st.lists(st.sampled_from(_ENVELOPE), max_size=3)):
            made.pop(name, None)
    elif kind == 1:
        fault = dict(draw(st.sampled_from(_FAULTS)))
        replaced = {"n": str(sequence), "n.0": float(sequence), "n+1": sequence + 1}
        for name, value in fault.items():
            fault[name] = replaced.get(value, value) if isinstance(value, str) else value
            if isinstance(value, str) and value.endswith(":0n"):
                fault[name] = f"transcript:{SESSION}:0{sequence}"
        made |= fault
    items = list(made.items())
    draw(st.randoms(use_true_random=False)).shuffle(items)
    return dict(items)


_SHORT = {
    '"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f",
}  # fmt: skip


def render(value: object, rnd: random.Random, *, twice: float = 0.0, wild: float = 0.2) -> str:
    """Write JSON in one of the many ways its grammar allows.

    Args:
        value: what to write.
        rnd: decides.
        twice: how likely a member of an object is written a second time.
        wild: how likely each place gets white space or an escape that nobody needs.
    """

    def space() -> str:
        return rnd.choice([" ", "  ", "\t", "\r"]) if rnd.random() < wild else ""

    def text(value: str) -> str:
        return '"' + "".join(map(char, value)) + '"'

    def char(value: str) -> str:
        code = ord(value)
        if (
            rnd.random() < wild / 4
            or 0xD800 <= code <= 0xDFFF
            or (code < 32 and value not in _SHORT)
        ):
            if code > 0xFFFF:
                code -= 0x10000
                return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04X}"
            return f"\\u{code:04{rnd.choice('xX')}}"
        if value == "/" and rnd.random() < wild:
            return "\\/"
        return _SHORT.get(value, value)

    def anything(value: object) -> str:
        if isinstance(value, dict):
            members = [
                f"{space()}{text(key)}{space()}:{anything(item)}" for key, item in value.items()
            ]
            for member in list(members):
                if rnd.random() < twice:
                    members.insert(rnd.randrange(len(members) + 1), member)
            inside = ",".join(members) if members else space()
            return f"{space()}{{{inside}}}{space()}"
        if isinstance(value, list):
            inside = ",".join(map(anything, value)) if value else space()
            return f"{space()}[{inside}]{space()}"
        if isinstance(value, str):
            return space() + text(value) + space()
        return space() + json.dumps(value) + space()

    return anything(value)


_TOKENS = [
    b"\xff", b"\x00", b"\r", b"\xef\xbb\xbf", b"NaN", b"-Infinity", b"\\", b'"', b"{", b"}", b"[",
    b"]", b":", b",", b"1", b"0", b"\xe2\x80\xa8", b"\xc0\xaf", b"\xed\xa0\x80", b"\\ud83d",
    b"\\u003a", b"\\u003A", b"e5", b".5", b"-", b"\n", b"}{", b'"a":1,', b'"\\u0061":1,"a":2,',
    b"1e999", b"9" * 5000, b"null", b"tru", b" ", b"\t", b"/*", b"\xc2\x85", b"\xf0\x9f\x98",
]  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn, data: bytes) -> bytes:
    """The same bytes, damaged in a few places."""
    for _ in range(draw(st.integers(min_value=1, max_value=3))):
        place = draw(st.integers(min_value=0, max_value=len(data)))
        token = draw(st.sampled_from(_TOKENS))
        drop = draw(st.sampled_from([0, 0, 1, len(token), 7]))
        data = data[:place] + token + data[place + drop :]
    return data


@st.composite
def blocks(draw: st.DrawFn, first: int = 1) -> bytes:
    """Whole lines from number `first` on, in one way of writing or in several, sound or not."""
    rnd = draw(st.randoms(use_true_random=False))
    style = draw(st.sampled_from(["compact", "compact", "spaced", "wild", "mixed"]))
    twice = draw(st.sampled_from([0.0, 0.0, 0.0, 0.05]))
    lines = []
    for sequence in range(first, first + draw(st.integers(min_value=1, max_value=16))):
        made = draw(records(sequence))
        way = rnd.choice(["compact", "spaced", "wild"]) if style == "mixed" else style
        if way == "compact":
            line = compact(made)
        elif way == "spaced":
            line = spaced(made)
        else:
            line = render(made, rnd, twice=twice).encode("utf-8", "surrogatepass")
        lines.append(line + rnd.choice([b"", b"", b"", b"\r"]) * (style == "mixed"))
    data = b"\n".join(lines) + draw(st.sampled_from([b"\n", b"\n", b""]))
    return draw(mutated(data)) if draw(st.integers(min_value=0, max_value=2)) == 0 else data
