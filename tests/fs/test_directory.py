"""A handle on one directory: names are single components, nothing is followed or overwritten."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from provenance.fs import (
    BackendName,
    BoundaryRefused,
    Directory,
    Entry,
    NameTaken,
    NotARegularFile,
    ReadFailed,
    SourceAbsent,
    TrustedRoot,
    UnsafeComponent,
    WriteFailed,
)
from provenance.fs.directory import check_component, check_new_name
from tests.trees import is_root


@pytest.fixture
def folder(tmp_path: Path, backend: BackendName) -> Iterator[Directory]:
    (tmp_path / "folder").mkdir()
    with (
        TrustedRoot(tmp_path / "folder", backend=backend) as root,
        root.open_directory() as directory,
    ):
        yield directory


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder"


@given(st.text(max_size=260))
@example("..")
@example("a/b")
@example("a\n")
@example("a" * 255)
@example("a" * 256)
@example("")
@example("my state.json")
@example(".hidden")
@example("é")
@example("\udcff")
@example("\ud800")
def test_a_component_is_one_file_name(name: str) -> None:
    try:
        accepted = check_component(name)
    except UnsafeComponent as error:
        message = str(error)
        assert message.isascii()
        return
    assert accepted == name
    assert "/" not in name
    assert "\0" not in name
    assert name not in (".", "..")
    assert 0 < len(os.fsencode(name)) <= 255


@given(st.text(max_size=260))
@example("a" * 255)
@example("a" * 256)
@example("a.")
@example("é")
def test_what_we_make_has_a_plain_name(name: str) -> None:
    try:
        accepted = check_new_name(name)
    except UnsafeComponent as error:
        message = str(error)
        assert message.isascii()
        return
    assert accepted == name == check_component(name)
    assert name.isascii()
    assert name[0].isalnum()


@pytest.mark.parametrize("name", ["my state.json", ".hidden", "-x", "é", "a\nb", "\udcff", "é."])
def test_files_of_others_are_read_whatever_their_name(
    folder: Directory, path: Path, name: str
) -> None:
    (path / name).write_bytes(b"x")
    with folder.open_file(name) as file:
        assert file.read_at(0, 9) == b"x"
    assert folder.read_small(name, below=9) is not None
    (path / name).unlink()
    (path / name).mkdir()
    folder.open_directory(name).close()
    with pytest.raises(UnsafeComponent):
        folder.open_append(name)
    (path / name).rmdir()
    (path / name).symlink_to("/etc/passwd")
    with pytest.raises(BoundaryRefused):
        folder.open_file(name)


def test_every_way_in_checks_the_component(folder: Directory, path: Path) -> None:
    asks: list[Callable[[str], object]] = [
        folder.open_file,
        folder.open_directory,
        lambda name: folder.open_directory(name, create=True),
        folder.open_append,
        lambda name: folder.read_small(name, below=10),
        lambda name: folder.publish(name, [b"x"]),
        folder.identity,
    ]
    for ask in asks:
        for name in ("..", "a/b", "", "x/", "/etc/passwd", "a\0"):
            with pytest.raises(UnsafeComponent):
                ask(name)
    assert list(path.iterdir()) == []


def test_reading_a_small_file(folder: Directory, path: Path) -> None:
    (path / "f").write_bytes(b"0123456789")
    read = folder.read_small("f", below=11)
    assert read is not None
    data, facts = read
    assert data == b"0123456789"
    assert facts.st_size == 10
    assert folder.read_small("f", below=10) is None
    (path / "empty").write_bytes(b"")
    assert (folder.read_small("empty", below=1) or (b"?", None))[0] == b""
    (path / "d").mkdir()
    os.mkfifo(path / "p")
    assert folder.read_small("d", below=10**6) is None
    assert folder.read_small("p", below=10**6) is None
    with pytest.raises(SourceAbsent):
        folder.read_small("nothing", below=10)
    (path / "l").symlink_to("f")
    with pytest.raises(BoundaryRefused):
        folder.read_small("l", below=10)


@pytest.mark.parametrize("change", ["grow", "shrink", "rewrite", "delete"])
def test_a_small_file_that_changes_meanwhile_is_not_taken(
    folder: Directory, path: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = path / "f"
    file.write_bytes(b"0123456789")
    os.utime(file, ns=(1, 1))  # whatever the clock's step is, a write now has another time
    real = os.pread

    def read_and_change(fd: int, size: int, offset: int) -> bytes:
        data = real(fd, size, offset)
        if change == "delete":
            file.unlink()
        elif change == "grow":
            with file.open("ab") as out:
                out.write(b"x")
        elif change == "shrink":
            os.truncate(file, 3)
        else:
            with file.open("r+b") as out:
                out.write(b"X")
        return data

    monkeypatch.setattr("provenance.fs.directory._pread", read_and_change)
    if change == "delete":
        # ctime has the clock's step; the missing name itself is the look-up's to notice.
        before = file.stat().st_ctime_ns
        probe = path / "clock"
        probe.touch()
        while probe.stat().st_ctime_ns <= before:
            probe.chmod(0o600)
    try:
        assert folder.read_small("f", below=100) is None
    except SourceAbsent:
        assert change == "delete"


@pytest.mark.parametrize("field", ["st_size", "st_mtime_ns", "st_ctime_ns", None])
def test_each_fact_of_a_small_file_counts_by_itself(
    folder: Directory, path: Path, field: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path / "f").write_bytes(b"0123456789")
    real, looks = os.fstat, []

    def later(fd: int) -> object:
        found = real(fd)
        looks.append(found)
        names = ("st_mode", "st_size", "st_mtime_ns", "st_ctime_ns", "st_nlink", "st_uid")
        facts = {name: getattr(found, name) for name in names}
        if field is not None and len(looks) > 1:
            facts[field] += 1
        return SimpleNamespace(**facts)

    with monkeypatch.context() as patch:
        patch.setattr("provenance.fs.directory._fstat", later)
        read = folder.read_small("f", below=100)
    assert len(looks) == 2
    assert (read is None) == (field is not None)


def test_a_small_file_with_fewer_bytes_than_it_says_is_not_taken(
    folder: Directory, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path / "f").write_bytes(b"0123456789")
    real = os.pread
    with monkeypatch.context() as patch:
        patch.setattr(
            "provenance.fs.directory._pread", lambda fd, size, offset: real(fd, 5, offset)
        )
        assert folder.read_small("f", below=100) is None


def test_a_small_file_that_cannot_be_read(
    folder: Directory, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path / "f").write_bytes(b"x")

    def refuse(*_: object) -> bytes:
        raise OSError(errno.EIO, "no")

    monkeypatch.setattr("provenance.fs.directory._pread", refuse)
    with pytest.raises(ReadFailed) as caught:
        folder.read_small("f", below=100)
    assert caught.value.errno == errno.EIO


def test_names_that_differ_in_case_are_different_files(folder: Directory, path: Path) -> None:
    for name in ("Log", "log", "LOG"):
        (path / name).write_bytes(name.encode())
    for name in ("Log", "log", "LOG"):
        with folder.open_file(name) as file:
            assert file.read_at(0, 10) == name.encode()
    for name in ("lOG", "loG"):
        with pytest.raises(SourceAbsent):
            folder.open_file(name)


def test_two_spellings_of_one_file_are_both_its_names(folder: Directory, path: Path) -> None:
    # Hard links: the probe finds one file under both spellings, so the list has to decide.
    (path / "Log").write_bytes(b"x")
    os.link(path / "Log", path / "lOG")
    for name in ("Log", "lOG"):
        with folder.open_file(name) as file:
            assert file.size == 1
    (path / "second").write_bytes(b"y")
    with folder.open_file("second") as file:  # also for names that were not there at first
        assert file.read_at(0, 1) == b"y"


def test_the_list_of_names_does_not_go_stale(
    folder: Directory, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As where names fold: the look-up finds the file under a spelling that is no longer stored.
    (path / "log").write_bytes(b"x")
    os.link(path / "log", path / "LOG")
    os.utime(path, ns=(1, 1))
    folder.open_file("log").close()
    real = Directory.entries

    def renamed(self: Directory) -> tuple[Entry, ...]:
        return tuple(entry for entry in real(self) if entry.name != "log")

    with monkeypatch.context() as patch:
        patch.setattr(Directory, "entries", renamed)
        folder.open_file("log").close()  # nothing has changed: not listed again
        os.utime(path, ns=(2, 2))
        with pytest.raises(BoundaryRefused):
            folder.open_file("log")
        assert folder.read_small("LOG", below=10) is not None
        with pytest.raises(BoundaryRefused):
            folder.read_small("log", below=10)


def test_a_dot_at_the_end_is_looked_for_in_the_list(folder: Directory, path: Path) -> None:
    # Some file systems drop it, and would give the file without it.
    (path / "log.").write_bytes(b"with")
    (path / "log").write_bytes(b"without")
    for name, expected in (("log.", b"with"), ("log", b"without"), ("log.", b"with")):
        with folder.open_file(name) as file:
            assert file.read_at(0, 10) == expected
        read = folder.read_small(name, below=10)
        assert read is not None
        assert read[0] == expected
    with pytest.raises(SourceAbsent):
        folder.open_file("log..")


def test_a_folder_is_listed_as_it_is(folder: Directory, path: Path) -> None:
    (path / "b").write_bytes(b"")
    (path / "a").mkdir()
    (path / "link").symlink_to("a")
    os.mkfifo(path / "fifo")
    (path / ".hidden").write_bytes(b"")
    (path / "é").write_bytes(b"")
    os.close(os.open(bytes(path) + b"/\xff", os.O_CREAT, 0o600))
    expected = (
        Entry(".hidden", "file"),
        Entry("a", "directory"),
        Entry("b", "file"),
        Entry("fifo", "other"),
        Entry("link", "link"),
        Entry("é", "file"),
        Entry("\udcff", "file"),
    )
    assert folder.entries() == expected
    assert folder.entries() == expected  # the reading position is not left at the end


def test_publishing_is_exclusive(folder: Directory, path: Path) -> None:
    folder.publish("f", [b"one", b"", b"two"])
    assert (path / "f").read_bytes() == b"onetwo"
    assert stat.S_IMODE((path / "f").stat().st_mode) == 0o600
    folder.publish("empty", [])
    assert (path / "empty").read_bytes() == b""
    (path / "d").mkdir()
    (path / "l").symlink_to("nothing-here")
    os.mkfifo(path / "p")
    for name in ("f", "d", "l", "p"):
        with pytest.raises(NameTaken):
            folder.publish(name, [b"other"])
    assert (path / "f").read_bytes() == b"onetwo"
    assert sorted(entry.name for entry in path.iterdir()) == ["d", "empty", "f", "l", "p"]


def test_a_publishing_that_fails_leaves_nothing(folder: Directory, path: Path) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"first"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        folder.publish("f", chunks())
    assert list(path.iterdir()) == []


def test_appending_makes_a_private_log(folder: Directory, path: Path) -> None:
    before = os.umask(0)
    try:
        with folder.open_append("log") as log:
            log.append(b"one\n")
        with folder.open_append("log") as log:
            log.append(b"two\n")
    finally:
        os.umask(before)
    assert (path / "log").read_bytes() == b"one\ntwo\n"
    assert stat.S_IMODE((path / "log").stat().st_mode) == 0o600


@pytest.mark.parametrize("kind", ["link", "dangling", "fifo", "directory", "hard_link", "missing"])
def test_what_is_not_appended_to(folder: Directory, path: Path, tmp_path: Path, kind: str) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"outside")
    place = path / "log"
    expected: type[Exception] = BoundaryRefused
    if kind == "link":
        place.symlink_to("../outside")
    elif kind == "dangling":
        place.symlink_to("../nothing-here")
    elif kind == "fifo":
        os.mkfifo(place)
        expected = NotARegularFile
    elif kind == "directory":
        place.mkdir()
        expected = NotARegularFile
    elif kind == "hard_link":
        os.link(outside, place)
    else:
        expected = SourceAbsent
    with pytest.raises(expected):
        folder.open_append("log", create=False)
    if kind != "missing":
        with pytest.raises(expected):
            folder.open_append("log")
    assert outside.read_bytes() == b"outside"
    assert not (tmp_path / "nothing-here").exists()


def test_identity_and_mode(folder: Directory, path: Path, tmp_path: Path) -> None:
    (path / "f").write_bytes(b"x")
    (path / "l").symlink_to("f")
    found = (path / "f").stat()
    assert folder.identity("f") == (found.st_dev, found.st_ino)
    assert folder.identity("l") not in (folder.identity("f"), None)
    assert folder.identity("nothing") is None
    assert folder.identity() == (path.stat().st_dev, path.stat().st_ino)
    path.chmod(0o711)
    assert stat.S_IMODE(folder.mode()) == 0o711


def test_a_folder_that_was_deleted_holds_nothing(folder: Directory, path: Path) -> None:
    path.rmdir()
    with pytest.raises(SourceAbsent):
        folder.open_file("f")
    assert folder.entries() == ()
    with pytest.raises((SourceAbsent, WriteFailed)):
        folder.publish("f", [b"x"])
    with pytest.raises((SourceAbsent, WriteFailed)):
        folder.open_append("log")
    with pytest.raises((SourceAbsent, WriteFailed)):
        folder.open_directory("d", create=True)


def test_a_folder_that_takes_no_writing(folder: Directory, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "no", "/secret")

    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(WriteFailed) as caught:
        folder.open_directory("d", create=True)
    assert caught.value.errno == errno.EROFS
    assert "secret" not in str(caught.value)


def test_a_duplicate_is_closed_on_its_own(folder: Directory, path: Path) -> None:
    (path / "f").write_bytes(b"x")
    with folder.duplicate() as copy, copy.open_file("f") as file:
        assert file.size == 1
    with folder.open_file("f") as file:
        assert file.size == 1
    with folder.duplicate() as copy:
        pass
    copy.close()
    with pytest.raises(ReadFailed):
        copy.open_file("f")


def test_a_device_is_not_read(folder: Directory, path: Path) -> None:
    if not is_root():
        pytest.skip("only root makes device nodes")
    os.mknod(path / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    with pytest.raises(NotARegularFile):
        folder.open_file("zero")
    assert folder.read_small("zero", below=10**9) is None
    with pytest.raises(NotARegularFile):
        folder.open_append("zero")


def test_what_was_published_is_taken_back_and_nothing_else(folder: Directory, path: Path) -> None:
    with folder.draft() as draft:
        draft.write(b"ours")
        draft.link_as("f")
        ours = draft.identity()
        assert ours == folder.identity("f")
        assert not folder.take_back("nothing", ours)
        (path / "other").write_bytes(b"theirs")
        assert not folder.take_back("other", ours)
        assert folder.take_back("f", ours)
        assert not folder.take_back("f", ours)
    assert os.listdir(path) == ["other"]


def test_what_cannot_be_taken_back_is_said(
    folder: Directory, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: object, **options: object) -> None:
        raise PermissionError(errno.EACCES, "no")

    (path / "f").write_bytes(b"ours")
    published = folder.identity("f")
    assert published is not None
    monkeypatch.setattr(os, "unlink", refuse)
    with pytest.raises(WriteFailed):
        folder.take_back("f", published)
    assert (path / "f").exists()


def test_only_the_file_that_was_looked_at_is_removed(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    with TrustedRoot(tmp_path) as root, root.open_directory() as folder:
        facts = folder.facts("a")
        assert facts is not None
        (tmp_path / "a").write_text("longer")
        assert not folder.remove_file("a", like=facts)
        now = folder.facts("a")
        assert now is not None
        os.link(tmp_path / "a", tmp_path / "b")
        linked = folder.facts("a")
        assert linked is not None
        assert not folder.remove_file("a", like=linked)
        (tmp_path / "b").unlink()
        (tmp_path / "l").symlink_to("a")
        link = folder.facts("l")
        assert link is not None
        assert not folder.remove_file("l", like=link)
        last = folder.facts("a")
        assert last is not None
        assert folder.remove_file("a", like=last)
        assert not folder.remove_file("a", like=last)
        assert folder.facts("a") is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["l"]
