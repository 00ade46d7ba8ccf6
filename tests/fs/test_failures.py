"""Each number of the operating system has one meaning, and no message tells more than that."""

from __future__ import annotations

import errno
import os
import pickle

import pytest

from provenance.errors import CtxauditError
from provenance.fs.failures import (
    AccessRefused,
    BoundaryRefused,
    LockTimeout,
    NameTaken,
    NotARegularFile,
    ReadFailed,
    SourceAbsent,
    UnsafePlatform,
    WriteFailed,
    translate,
)

_MEANINGS = {
    SourceAbsent: (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG),
    BoundaryRefused: (errno.ELOOP, errno.EXDEV),
    AccessRefused: (errno.EACCES, errno.EPERM),
    NotARegularFile: (errno.ENXIO, errno.EISDIR),
    ReadFailed: (
        errno.EIO,
        errno.EMFILE,
        errno.ENFILE,
        errno.ESTALE,
        errno.ENOSPC,
        errno.ENOMEM,
        errno.EBADF,
        errno.EAGAIN,
        errno.EINVAL,
        errno.ETIMEDOUT,
        0,
        99_999,
    ),
}


@pytest.mark.parametrize(
    ("number", "kind"),
    [(number, kind) for kind, numbers in _MEANINGS.items() for number in numbers],
)
def test_meaning(number: int, kind: type[Exception]) -> None:
    failure = translate(OSError(number, "at /secret/path", "/secret/path"))
    assert type(failure) is kind
    assert "/" not in str(failure)
    assert "secret" not in str(failure)
    assert isinstance(failure, CtxauditError)
    if isinstance(failure, ReadFailed):
        assert failure.errno == number


def test_every_number_has_a_meaning() -> None:
    for number in errno.errorcode:
        assert type(translate(OSError(number, os.strerror(number)))) in _MEANINGS


def test_an_error_without_a_number_is_a_failed_read() -> None:
    failure = translate(OSError("no number"))
    assert isinstance(failure, ReadFailed)
    assert failure.errno == 0


@pytest.mark.parametrize("kind", [ReadFailed, WriteFailed])
def test_the_number_survives_a_pickle(kind: type[ReadFailed] | type[WriteFailed]) -> None:
    copy = pickle.loads(pickle.dumps(kind("source: expected x, got y", errno.EIO)))
    assert type(copy) is kind
    assert copy.errno == errno.EIO
    assert str(copy) == "source: expected x, got y"


def test_codes_are_distinct() -> None:
    kinds = [*_MEANINGS, NameTaken, LockTimeout, UnsafePlatform, WriteFailed]
    assert len({kind.code for kind in kinds}) == len(kinds)
