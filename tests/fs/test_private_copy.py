"""A private copy: what all files held at one time, in a folder that nobody else enters."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from provenance.fs import (
    FileTooLarge,
    OpenFile,
    ReadFailed,
    SourceAbsent,
    SourceChanged,
    UnsafeComponent,
    WriteFailed,
)
from provenance.fs import private_copy as module
from provenance.fs.private_copy import private_copy


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that private ones are made in; a test that leaves something in it fails."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    folder = tmp_path / "evidence"
    folder.mkdir()
    (folder / "a").write_bytes(b"first")
    (folder / "b").write_bytes(b"second")
    return folder


@contextmanager
def _opened(folder: Path, *names: str) -> Iterator[dict[str, OpenFile]]:
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(OpenFile(os.open(folder / name, os.O_RDONLY)))
            for name in names
        }


def test_the_copies_hold_the_bytes_and_nothing_is_left(evidence: Path, temporary: Path) -> None:
    before = sorted(os.listdir(evidence))
    with _opened(evidence, "a", "b") as files:
        given = {"one": files["a"], "one-wal": files["b"]}
        with private_copy(given, max_bytes=11, attempts=1) as copy:
            assert copy.path("one").read_bytes() == b"first"
            assert copy.path("one-wal").read_bytes() == b"second"
            assert (copy.sizes, copy.total_bytes) == ({"one": 5, "one-wal": 6}, 11)
            assert copy.folder.parent == temporary
            assert stat.S_IMODE(copy.folder.stat().st_mode) == 0o700
            for name in ("one", "one-wal"):
                assert stat.S_IMODE(copy.path(name).stat().st_mode) == 0o600
            assert copy.read_at("one", 1, 3) == b"irs"
            assert copy.read_at("one", 4, 9) == b"t"
            with pytest.raises(SourceAbsent):
                copy.read_at("two", 0, 1)
    assert os.listdir(temporary) == []
    assert sorted(os.listdir(evidence)) == before


@pytest.mark.parametrize("umask", [0o000, 0o777])
def test_the_mask_of_the_process_does_not_matter(evidence: Path, umask: int) -> None:
    with _opened(evidence, "a") as files:
        old = os.umask(umask)
        try:
            with private_copy(files, max_bytes=5, attempts=1) as copy:
                modes = [
                    stat.S_IMODE(path.stat().st_mode) for path in (copy.folder, copy.path("a"))
                ]
        finally:
            os.umask(old)
    assert modes == [0o700, 0o600]


def test_more_than_a_block_is_copied(evidence: Path) -> None:
    data = os.urandom(module._BLOCK_BYTES * 2 + 17)
    (evidence / "a").write_bytes(data)
    with (
        _opened(evidence, "a") as files,
        private_copy(files, max_bytes=len(data), attempts=1) as copy,
    ):
        assert copy.path("a").read_bytes() == data


def test_the_sum_of_the_sizes_is_bounded(evidence: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("nothing may be written")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", refuse)
    with (
        _opened(evidence, "a", "b") as files,
        pytest.raises(FileTooLarge, match="expected at most 10 bytes together, got 11"),
        private_copy(files, max_bytes=10, attempts=1),
    ):
        pass


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "-wal", "a\0b"])
def test_names_are_plain(name: str, evidence: Path, temporary: Path) -> None:
    with (
        _opened(evidence, "a") as files,
        pytest.raises(UnsafeComponent),
        private_copy({name: files["a"]}, max_bytes=99, attempts=1),
    ):
        pass
    assert os.listdir(temporary) == []


def _changing(monkeypatch: pytest.MonkeyPatch, *changes: object) -> None:
    """Make each of the first copies be followed by a change."""
    copy, left = module._copy, list(changes)

    def copy_then_change(file: OpenFile, target: Path) -> bool:
        done = copy(file, target)
        if left:
            left.pop(0)()  # type: ignore[operator]
        return done

    monkeypatch.setattr(module, "_copy", copy_then_change)


def test_a_file_that_grew_is_copied_again(
    evidence: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _changing(monkeypatch, lambda: (evidence / "a").write_bytes(b"first and more"))
    with (
        _opened(evidence, "a") as files,
        private_copy(files, max_bytes=99, attempts=2) as copy,
    ):
        assert copy.path("a").read_bytes() == b"first and more"
        assert copy.sizes == {"a": 14}
        assert len(os.listdir(temporary)) == 1


def test_a_change_of_one_file_is_a_change_of_all(
    evidence: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first is copied, then it changes; the second is copied and does not.
    _changing(monkeypatch, lambda: (evidence / "a").write_bytes(b"other"))
    os.utime(evidence / "a", ns=(1, 1))
    with (
        _opened(evidence, "a", "b") as files,
        private_copy(files, max_bytes=99, attempts=2) as copy,
    ):
        assert copy.path("a").read_bytes() == b"other"


@pytest.mark.parametrize("attempts", [1, 3])
def test_a_file_that_never_holds_still(
    evidence: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch, attempts: int
) -> None:
    sizes = iter(range(20, 40))
    grow = lambda: (evidence / "a").write_bytes(b"x" * next(sizes))  # noqa: E731
    _changing(monkeypatch, *[grow] * attempts)
    with (
        _opened(evidence, "a") as files,
        pytest.raises(SourceChanged),
        private_copy(files, max_bytes=99, attempts=attempts),
    ):
        pass
    assert next(sizes) == 20 + attempts
    assert os.listdir(temporary) == []


def test_a_file_that_was_cut_is_a_change(evidence: Path, temporary: Path) -> None:
    with _opened(evidence, "a") as files:
        os.truncate(evidence / "a", 2)
        with pytest.raises(SourceChanged), private_copy(files, max_bytes=99, attempts=1):
            pass
        with private_copy(files, max_bytes=99, attempts=2) as copy:
            assert copy.path("a").read_bytes() == b"fi"
    assert os.listdir(temporary) == []


def test_growing_over_the_bound_while_it_is_copied(
    evidence: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _changing(monkeypatch, lambda: (evidence / "a").write_bytes(b"x" * 1000))
    with (
        _opened(evidence, "a") as files,
        pytest.raises(FileTooLarge),
        private_copy(files, max_bytes=999, attempts=3),
    ):
        pass
    assert os.listdir(temporary) == []


def test_names_that_lead_elsewhere_end_it(evidence: Path, temporary: Path) -> None:
    asked = []

    def is_still_named() -> bool:
        asked.append(len(os.listdir(temporary)))
        return False

    with (
        _opened(evidence, "a") as files,
        pytest.raises(SourceChanged, match="by their names"),
        private_copy(files, max_bytes=99, attempts=3, is_still_named=is_still_named),
    ):
        pass
    assert asked == [1]
    assert os.listdir(temporary) == []


@pytest.mark.parametrize("error", [ValueError(), KeyboardInterrupt(), SystemExit()])
def test_it_is_gone_whatever_ends_the_block(
    evidence: Path, temporary: Path, error: BaseException
) -> None:
    with (
        _opened(evidence, "a") as files,
        pytest.raises(type(error)),
        private_copy(files, max_bytes=99, attempts=3) as copy,
    ):
        (copy.folder / "made-by-a-library").write_bytes(b"x")
        raise error
    assert os.listdir(temporary) == []


def test_a_full_disk(evidence: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(fd: int, data: object) -> int:
        raise OSError(errno.ENOSPC, "no path here")

    with _opened(evidence, "a") as files:
        monkeypatch.setattr(os, "write", full)
        with (
            pytest.raises(WriteFailed, match="ENOSPC") as caught,
            private_copy(files, max_bytes=99, attempts=3),
        ):
            pass
    assert caught.value.errno == errno.ENOSPC
    assert str(temporary) not in str(caught.value)
    assert os.listdir(temporary) == []


def test_a_disk_that_cannot_be_read(
    evidence: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.EIO, "no path here")

    with _opened(evidence, "a") as files:
        monkeypatch.setattr(os, "preadv", fail)
        with pytest.raises(ReadFailed), private_copy(files, max_bytes=99, attempts=3):
            pass
    assert os.listdir(temporary) == []


def test_no_folder_to_be_had(evidence: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(evidence / "nowhere"))
    with (
        _opened(evidence, "a") as files,
        pytest.raises(WriteFailed, match="ENOENT"),
        private_copy(files, max_bytes=99, attempts=1),
    ):
        pass
