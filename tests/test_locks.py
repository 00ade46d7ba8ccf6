"""The lock file: one form that is written, and nothing but a lock file is read."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenance.locks import (
    LOCK_SCHEMA,
    LockError,
    LockFile,
    Pin,
    canonical_pointer,
    encode_lock,
    parse_lock,
)
from provenance.schemas import load_schema

GOLDEN = Path(__file__).parent / "data/locks/golden.lock"
RUN = "20260302T110000Z-0123456789abcdef"


def _pin(pointer: str = "transcript:s1:3", **changes: Any) -> Pin:
    values = {
        "pointer": pointer,
        "sha256": "ab" * 32,
        "bytes": 9,
        "pinned_at": "2026-03-02T11:00:00Z",
        "run": RUN,
    }
    return Pin(**(values | changes))


def _document(*entries: dict[str, Any], **frame: Any) -> bytes:
    return json.dumps({"schema": LOCK_SCHEMA, "entries": list(entries)} | frame).encode()


def _entry(pointer: Any = "transcript:s1:3", **changes: Any) -> dict[str, Any]:
    return json.loads(_pin().line()) | {"pointer": pointer} | changes


_names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)
_hex = "0123456789abcdef"
_digests = st.text(_hex, min_size=64, max_size=64)
_pointers = st.one_of(
    st.builds("transcript:{}:{}".format, _names, st.integers(1, 10**18 - 1)),
    st.builds(
        "artifact:{}:{}:{}".format,
        _names,
        _names,
        _digests | st.text(_hex, min_size=12, max_size=12),
    ),
)
_pins = st.builds(
    Pin,
    pointer=_pointers,
    sha256=_digests,
    bytes=st.integers(0, 2**63 - 1),
    pinned_at=st.datetimes().map(lambda at: f"{at.isoformat(timespec='seconds')}Z"),
    run=st.just(RUN),
)
_locks = st.lists(_pins, max_size=8, unique_by=lambda pin: pin.pointer).map(
    lambda pins: LockFile(tuple(sorted(pins, key=lambda pin: pin.pointer)))
)


@given(_locks)
def test_what_is_written_is_read_back(lock: LockFile) -> None:
    data = encode_lock(lock)
    again = parse_lock(data)
    assert again == lock
    assert again.by_pointer == {pin.pointer: pin for pin in lock.pins}
    assert encode_lock(again) == data
    assert data.count(b"\n") == len(lock.pins) + 2
    jsonschema.validate(json.loads(data), json.loads(load_schema("lock")))


@settings(max_examples=40)
@given(_locks, st.randoms(use_true_random=False), st.sampled_from(["\n", "\r\n", " ", "\t"]))
def test_white_space_and_the_order_of_keys_are_free(
    lock: LockFile, choice: random.Random, space: str
) -> None:
    def shuffled(members: dict[str, Any]) -> dict[str, Any]:
        keys = list(members)
        choice.shuffle(keys)
        return {key: members[key] for key in keys}

    document = json.loads(encode_lock(lock))
    document["entries"] = [shuffled(entry) for entry in document["entries"]]
    text = json.dumps(shuffled(document), indent=choice.choice([None, 2])).replace("\n", space)
    assert parse_lock(text.encode()) == lock


@given(st.binary(max_size=200))
def test_any_bytes_are_a_lock_or_an_error_that_holds_none_of_them(data: bytes) -> None:
    try:
        parse_lock(data)
    except LockError as error:
        said = str(error)
    else:
        return
    assert said.isascii()
    assert "\n" not in said


@settings(max_examples=60)
@given(_locks, st.data())
def test_one_changed_byte_never_gives_the_same_pins_under_another_form(
    lock: LockFile, data: st.DataObject
) -> None:
    written = bytearray(encode_lock(lock))
    place = data.draw(st.integers(0, len(written) - 1))
    written[place] = data.draw(st.integers(0, 255))
    try:
        found = parse_lock(bytes(written))
    except LockError:
        return
    # White space instead of white space, or another pin.
    assert found != lock or written.split() == encode_lock(lock).split()


def test_the_golden_file() -> None:
    lock = LockFile(
        (
            _pin("artifact:run-1:build.log:0123456789ab", sha256="0123456789ab" + "0" * 52),
            _pin("transcript:run-1:10", bytes=2**63 - 1),
            _pin("transcript:run-1:9", bytes=0),
        )
    )
    assert encode_lock(lock) == GOLDEN.read_bytes()
    assert parse_lock(GOLDEN.read_bytes()) == lock


def test_what_a_seal_hashes_is_canonical_json() -> None:
    pin = _pin()
    assert pin.canonical() == json.dumps(json.loads(pin.line()), sort_keys=True).replace(" ", "")
    assert pin.canonical() != pin.line()  # the file has the pointer first, for readers
    assert next(iter(json.loads(pin.line()))) == "pointer"


def test_an_empty_lock_is_one() -> None:
    assert parse_lock(encode_lock(LockFile())) == LockFile()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pointer": "transcript:s1:03"}, "pointer"),
        ({"pointer": "memory:x:y"}, "pointer"),
        ({"pointer": "artifact:s1:a:" + "AB" * 32}, "canonical form"),
        ({"pointer": 3}, "pointer: expected text"),
        ({"sha256": "ab" * 6}, "sha256"),
        ({"sha256": "AB" * 32}, "sha256"),
        ({"sha256": None}, "sha256: expected text"),
        ({"bytes": -1}, "bytes"),
        ({"bytes": True}, "bytes"),
        ({"bytes": "9"}, "bytes"),
        ({"bytes": 2**63}, "bytes"),
        ({"pinned_at": "2026-03-02"}, "pinned_at"),
        ({"pinned_at": "2026-02-30T11:00:00Z"}, "pinned_at"),
        ({"pinned_at": "2026-03-02T11:00:00+00:00"}, "pinned_at"),
        ({"run": "../x"}, "run"),
        ({"run": RUN + "\n"}, "run"),
        ({"note": 1}, "another one too"),
    ],
)
def test_a_field_that_is_wrong_is_named(changes: dict[str, Any], said: str) -> None:
    good = _entry("transcript:s1:1")
    assert parse_lock(_document(good, _entry()))
    with pytest.raises(LockError, match=rf"^entry 2: .*{said}"):
        parse_lock(_document(good, _entry(**changes)))


@pytest.mark.parametrize("key", ["pointer", "sha256", "bytes", "pinned_at", "run"])
def test_a_key_that_is_not_there_is_named(key: str) -> None:
    entry = _entry()
    del entry[key]
    with pytest.raises(LockError, match=rf"^entry 1: expected the key {key}, got none$"):
        parse_lock(_document(entry))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "expected JSON"),
        (b"[]", "expected an object"),
        (b"\xff", "expected UTF-8"),
        (b"\xef\xbb\xbf{}", "expected JSON"),
        (b"{}", "expected the key schema"),
        (_document(schema="ctxaudit.lock/2"), "schema"),
        (_document(entries={}), "expected a list"),
        (_document(more=1), "another one too"),
        (_document() + b"x", "expected JSON"),
        (b'{"schema":"ctxaudit.lock/1","schema":"ctxaudit.lock/1","entries":[]}', "distinct keys"),
        (_document()[:-1], "expected JSON"),
        (b'{"schema":"ctxaudit.lock/1","entries":[1]}', "entry 1: expected an object"),
        (b'{"schema":"ctxaudit.lock/1","entries":[1.5]}', "whole numbers"),
        (b'{"schema":"ctxaudit.lock/1","entries":[NaN]}', "whole numbers"),
        (b'{"schema":"ctxaudit.lock/1","entries":[' + b"9" * 100_000 + b"]}", "whole numbers"),
        (b"[" * 200_000, "very many"),
        (b'{"a":' * 200_000, "very many"),
    ],
)
def test_what_is_no_lock_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(LockError, match=said) as caught:
        parse_lock(data)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"[]", "file: expected an object, got something else"),
        (b"{}", "file: expected the key schema, got none"),
        (
            _document(more=1),
            "file: expected the keys schema, entries, got another one too",
        ),
        (_document(entries={}), "entries: expected a list, got something else"),
        (_document(1), "entry 1: expected an object, got something else"),
        (
            b'{"schema":"a","schema":"a"}',
            "file: expected distinct keys, got one twice",
        ),
        (
            b"9" * 20,
            "file: expected whole numbers of a file's size alone, got another number",
        ),
        (b"[" * 200_000, "file: expected 3 levels of JSON, got very many"),
        (
            b'{"schema":"ctxaudit.lock/1","entries":[' + b"[]," * 2**20 + b"1]}",
            "file: expected pins alone, got more members than they have",
        ),
        (
            _document(_entry(pointer="artifact:s:f:xyz")),
            "entry 1: pointer: expected a source pointer in its canonical form, got another",
        ),
        (
            _document(_entry(sha256="x")),
            "entry 1: sha256: expected 64 lower-case hex digits, got something else",
        ),
        (
            _document(_entry(bytes=-1)),
            "entry 1: bytes: expected a whole number of 0 or more, got something else",
        ),
        (
            _document(_entry(pinned_at="x")),
            "entry 1: pinned_at: expected a time like 2026-01-31T23:59:59Z, got another",
        ),
        (
            _document(_entry(run="x")),
            "entry 1: run: expected <time>-<16 hex digits>, got something else",
        ),
    ],
)
def test_what_is_said_of_a_lock(data: bytes, said: str) -> None:
    with pytest.raises(LockError) as refused:
        parse_lock(data)
    assert str(refused.value) == said


def test_a_key_that_stands_twice_in_an_entry_is_refused() -> None:
    line = _pin().line()
    twice = line.replace('"bytes":9', '"bytes":9,"bytes":9')
    with pytest.raises(LockError, match="distinct keys"):
        parse_lock(b'{"schema":"ctxaudit.lock/1","entries":[' + twice.encode() + b"]}")


def test_order_and_repetition_are_checked() -> None:
    first, second = _entry("transcript:s1:1"), _entry("transcript:s1:2")
    assert len(parse_lock(_document(first, second)).pins) == 2
    with pytest.raises(LockError, match=r"^entry 2: pointer: expected them in order"):
        parse_lock(_document(second, first))
    with pytest.raises(LockError, match=r"^entry 2: pointer: expected distinct ones"):
        parse_lock(_document(first, first))
    with pytest.raises(LockError, match="in order"):
        LockFile((_pin("transcript:s1:2"), _pin("transcript:s1:1")))


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize(
    "mark", [b"<<<<<<< HEAD", b"=======", b">>>>>>> theirs", b"||||||| 0123abc"]
)
def test_marks_of_a_merge_conflict_are_named(mark: bytes, end: bytes) -> None:
    lines = encode_lock(LockFile((_pin("transcript:s1:1"), _pin()))).split(b"\n")
    data = end.join([*lines[:2], mark, *lines[2:]])
    with pytest.raises(
        LockError, match=r"^expected a lock file, got merge conflict markers in line 3$"
    ):
        parse_lock(data)


def test_what_looks_like_a_mark_inside_a_line_is_none() -> None:
    # No name of a pointer can hold one; a longer text elsewhere is another fault.
    data = _document(note="x <<<<<<< y")
    with pytest.raises(LockError, match="another one too"):
        parse_lock(data)


def test_the_size_comes_first() -> None:
    data = encode_lock(LockFile((_pin(),)))
    assert parse_lock(data, max_bytes=len(data)).pins
    with pytest.raises(LockError, match=f"^file: expected at most {len(data) - 1} bytes"):
        parse_lock(b"\xff" * len(data), max_bytes=len(data) - 1)


def test_a_pin_is_checked_when_it_is_built_and_frozen() -> None:
    with pytest.raises(LockError):
        replace(_pin(), sha256="ab" * 6)
    with pytest.raises(AttributeError):
        _pin().sha256 = "x"  # type: ignore[misc]


def test_the_canonical_form_of_a_pointer() -> None:
    assert canonical_pointer("artifact:s:f:" + "AB" * 32) == "artifact:s:f:" + "ab" * 32
    assert canonical_pointer("artifact:s:f:xyz") is None


@pytest.mark.parametrize(
    "filler", [b"{},", b"[],", b"1,", b'"",', b"{", b"[", b'{"a":1},'], ids=ascii
)
def test_very_many_small_members_are_refused_before_they_are_parsed(
    filler: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b'{"schema":"ctxaudit.lock/1","entries":[' + filler * (2**21 // len(filler)) + b"1]}"

    def parsed(*_: object, **__: object) -> object:
        raise AssertionError("it was parsed")

    monkeypatch.setattr("provenance.locks.json.loads", parsed)
    with pytest.raises(LockError, match="more members"):
        parse_lock(data)


def test_a_large_lock_of_the_shortest_pins_is_read() -> None:
    run = "20260101T000000Z-0123456789abcdef"
    pins = [
        Pin(f"transcript:a:{number}", "ab" * 32, 0, "2026-01-01T00:00:00Z", run)
        for number in range(1, 6_001)
    ]
    lock = LockFile(tuple(sorted(pins, key=lambda pin: pin.pointer)))
    data = encode_lock(lock)
    assert len(data) > 2**20
    assert parse_lock(data) == lock
    assert parse_lock(data.replace(b"\n", b"")) == lock


def test_a_merge_that_kept_both_sides_says_what_to_do() -> None:
    run = "20260101T000000Z-0123456789abcdef"
    one = Pin("transcript:a:1", "ab" * 32, 0, "2026-01-01T00:00:00Z", run).line()
    for lines in (f"{one}\n{one}", f"{one},\n{one}"):
        text = f'{{"schema":"ctxaudit.lock/1","entries":[\n{lines}\n]}}\n'
        with pytest.raises(LockError, match="after a merge take either side"):
            parse_lock(text.encode())
