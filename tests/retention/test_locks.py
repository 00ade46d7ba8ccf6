"""A lock file that is not whole says nothing about what it pins."""

from __future__ import annotations

import json

import pytest

from provenance.retention.locks import LockUnreadable, require_lock

_ENTRY = {"pointer": "artifact:s1:a.txt:0123456789ab", "sha256": "0" * 64, "bytes": 1}
_LOCK = {"schema": "ctxaudit.lock/1", "entries": [_ENTRY]}


@pytest.mark.parametrize("value", [_LOCK, {**_LOCK, "entries": []}, {**_LOCK, "run": "x"}])
def test_a_lock_file_may_hold_more_than_we_need(value: object) -> None:
    require_lock(json.dumps(value).encode())


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (b"", "file"),
        (b"[]", "file"),
        (b"\xff", "file"),
        (json.dumps(_LOCK).encode()[:-1], "file"),
        (b"<<<<<<< ours\n" + json.dumps(_LOCK).encode(), "file"),
        (json.dumps({**_LOCK, "schema": "ctxaudit.lock/2"}).encode(), "schema"),
        (json.dumps({"entries": []}).encode(), "schema"),
        (json.dumps({**_LOCK, "entries": {}}).encode(), "entries"),
        (json.dumps({**_LOCK, "entries": [[]]}).encode(), "entries: 1"),
        (json.dumps({**_LOCK, "entries": [_ENTRY, {"pointer": "x"}]}).encode(), "entries: 2"),
        (b"[" * 200_000, "file"),
    ],
)
def test_what_is_no_whole_lock_file_is_refused(data: bytes, field: str) -> None:
    with pytest.raises(LockUnreadable, match=f"^{field}"):
        require_lock(data)
