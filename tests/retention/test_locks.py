"""Only a lock file that is whole says what it pins; how one is read is tested with the lock."""

from __future__ import annotations

import pytest

from provenance.locks import LockFile, Pin, encode_lock
from provenance.retention.locks import LockUnreadable, require_lock

_PIN = Pin(
    "transcript:s1:1", "0" * 64, 5, "2026-01-01T00:00:00Z", "20260101T000000Z-0123456789abcdef"
)


def test_a_whole_one_is_read() -> None:
    require_lock(encode_lock(LockFile((_PIN,))))
    require_lock(encode_lock(LockFile()))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<<<<<<< ours\n",
        encode_lock(LockFile((_PIN,)))[:-5],
        encode_lock(LockFile((_PIN,))).replace(b"lock/1", b"lock/2"),
        encode_lock(LockFile((_PIN,))).replace(b"transcript:s1:1", b"transcript:s1"),
    ],
)
def test_what_is_no_whole_lock_file_is_refused(data: bytes) -> None:
    with pytest.raises(LockUnreadable):
        require_lock(data)
