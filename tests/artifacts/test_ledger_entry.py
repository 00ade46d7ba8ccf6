"""The codec of a ledger line: what it writes it reads, and it reads nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.artifacts.ledger_entry import (
    MAX_NOTE_CHARS,
    LedgerEntry,
    LedgerError,
    LedgerEvent,
    encode_entry,
    parse_entry,
)
from tests.artifacts.strategies import ledger_entries

_KEYS = [
    "blake3", "bytes", "call_id", "event", "filename", "reason", "recorded_at", "schema",
    "segment_bytes", "segment_lines", "segments", "sha256", "tool",
]  # fmt: skip

_STORED: dict[str, Any] = {
    "schema": "ctxaudit.artifact/1",
    "event": "stored",
    "filename": "tool_result_001.txt",
    "sha256": "a" * 64,
    "blake3": "b" * 64,
    "bytes": 5,
    "segment_bytes": 4,
    "segments": ["c" * 64, "d" * 64],
    "segment_lines": [0, 1],
    "tool": "bash",
    "call_id": None,
    "recorded_at": "2026-01-02T03:04:05.000006Z",
    "reason": None,
}


def _line(**changes: Any) -> bytes:
    return json.dumps({**_STORED, **changes}).encode()


@given(ledger_entries())
def test_what_is_written_is_read_back(entry: LedgerEntry) -> None:
    line = encode_entry(entry)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert parse_entry(line[:-1]) == entry


@given(ledger_entries())
def test_a_line_is_compact_sorted_json_with_exactly_the_keys(entry: LedgerEntry) -> None:
    line = encode_entry(entry)
    value = json.loads(line)
    assert list(value) == _KEYS
    plain = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert line == plain.encode() + b"\n"


@given(ledger_entries(), st.data())
def test_order_and_white_space_are_free(entry: LedgerEntry, data: st.DataObject) -> None:
    value = json.loads(encode_entry(entry))
    keys = data.draw(st.permutations(list(value)))
    loose = json.dumps({key: value[key] for key in keys}, indent=1).replace("\n", "\r")
    assert parse_entry(loose.encode()) == entry


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_any_bytes_give_an_entry_or_one_error(line: bytes) -> None:
    try:
        parse_entry(line)
    except LedgerError:
        return


@given(st.data())
def test_a_damaged_line_gives_an_entry_that_prints_or_one_error(data: st.DataObject) -> None:
    line = bytearray(_line())
    for _ in range(data.draw(st.integers(1, 3))):
        line[data.draw(st.integers(0, len(line) - 1))] = data.draw(st.integers(0, 255))
    try:
        entry = parse_entry(bytes(line))
    except LedgerError:
        return
    assert parse_entry(encode_entry(entry)[:-1]) == entry


_WHATEVER = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@given(st.sampled_from(_KEYS), _WHATEVER)
def test_any_value_of_any_type_gives_an_entry_or_one_error(key: str, value: object) -> None:
    try:
        entry = parse_entry(_line(**{key: value}))
    except LedgerError:
        return
    assert parse_entry(encode_entry(entry)[:-1]) == entry


def test_a_good_line_is_read() -> None:
    entry = parse_entry(_line())
    assert entry.event is LedgerEvent.STORED
    assert entry.segments == ("c" * 64, "d" * 64)
    assert entry.segment_lines == (0, 1)
    assert entry.schema == "ctxaudit.artifact/1"


@pytest.mark.parametrize("event", ["renamed", "removed"])
def test_other_events_need_the_name_alone(event: str) -> None:
    short = {"schema": "ctxaudit.artifact/1", "event": event, "filename": "a.txt"}
    assert parse_entry(json.dumps(short).encode()).sha256 is None
    assert parse_entry(_line(event=event)).bytes == 5
    assert parse_entry(_line(event=event, segments=[], segment_lines=[])).bytes == 5
    with pytest.raises(LedgerError, match="segments"):
        parse_entry(_line(event=event, segments=["c" * 64], segment_lines=[1]))


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": "ctxaudit.artifact/2"},
        {"schema": None},
        {"event": "Stored"},
        {"event": "stolen"},
        {"event": ["stored"]},
        {"event": {}},
        {"filename": "../x"},
        {"filename": ""},
        {"filename": "é"},
        {"filename": 7},
        {"filename": "a" * 201},
        {"sha256": "A" * 64},
        {"sha256": "a" * 63},
        {"sha256": "a" * 64 + "\n"},
        {"sha256": None},
        {"blake3": None},
        {"bytes": None},
        {"bytes": True},
        {"bytes": 5.0},
        {"bytes": -1},
        {"bytes": "5"},
        {"bytes": 9},
        {"bytes": 2**63},
        {"segment_bytes": 0},
        {"segment_bytes": None},
        {"segments": None},
        {"segments": ["c" * 64]},
        {"segments": "cd"},
        {"segments": {"0": "c" * 64}},
        {"segments": ["c" * 64, "D" * 64]},
        {"segments": ["c" * 64, None]},
        {"segment_lines": [0]},
        {"segment_lines": [0, True]},
        {"segment_lines": [5, 0]},
        {"segment_lines": [0, 2]},
        {"segment_lines": [-1, 0]},
        {"recorded_at": None},
        {"recorded_at": "2026-01-02T03:04:05"},
        {"recorded_at": "2026-13-02T03:04:05Z"},
        {"recorded_at": "2026-01-02 03:04:05Z"},
        {"recorded_at": "٢٠٢٦-01-02T03:04:05Z"},
        {"recorded_at": 0},
        {"tool": 1},
        {"tool": "a" * (MAX_NOTE_CHARS + 1)},
        {"call_id": "\ud800"},
        {"reason": []},
        {"comment": "one more"},
    ],
    ids=repr,
)
def test_a_line_that_breaks_one_rule_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(LedgerError):
        parse_entry(_line(**changes))


@pytest.mark.parametrize("key", _KEYS)
def test_a_stored_line_without_a_key_is_refused_unless_it_is_a_note(key: str) -> None:
    value = {name: item for name, item in _STORED.items() if name != key}
    line = json.dumps(value).encode()
    if key in ("tool", "call_id", "reason"):
        assert parse_entry(line).call_id is None
    else:
        with pytest.raises(LedgerError):
            parse_entry(line)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b" ",
        b"null",
        b"[]",
        b'"stored"',
        b"{}",
        b"\xef\xbb\xbf" + _line(),
        _line() + b"x",
        _line() + _line(),
        _line()[:-1],
        _line().replace(b'"bash"', b'"\xff"'),
        _line().replace(b'"bash"', b'"b\\ud800"'),
        _line().replace(b'"bytes": 5', b'"bytes": NaN'),
        _line().replace(b'"bytes": 5', b'"bytes": Infinity'),
        _line().replace(b'"bytes": 5', b'"bytes": 5e0'),
        _line().replace(b'"bytes": 5', b'"bytes": 05'),
        _line().replace(b'"bytes": 5', b'"bytes": ' + b"9" * 5_000),
        _line().replace(b'"bytes": 5', b'"bytes": 5, "bytes": 5'),
        _line().replace(b'"bytes": 5', b'"bytes": 5, "\\u0062ytes": 5'),
        _line().replace(b'"tool"', b'"extra": ' + b"[" * 200_000 + b"]" * 200_000 + b', "tool"'),
        _line().replace(b'"bash"', b'{"a":' * 200_000 + b"1" + b"}" * 200_000),
        b"[" * 1_000_000,
        _line().decode().encode("utf-16"),
    ],
    ids=lambda line: repr(line[:30]),
)
def test_what_is_no_such_object_is_refused(line: bytes) -> None:
    with pytest.raises(LedgerError) as caught:
        parse_entry(line)
    assert "tool_result" not in str(caught.value)


def test_an_invalid_entry_cannot_be_built() -> None:
    with pytest.raises(LedgerError, match="filename"):
        LedgerEntry(event=LedgerEvent.REMOVED, filename="../x")
    with pytest.raises(LedgerError, match="sha256"):
        LedgerEntry(event=LedgerEvent.STORED, filename="x")
