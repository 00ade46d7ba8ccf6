"""Trusted roots: the operator's path is trusted, what lies below is not."""

from __future__ import annotations

import errno
import os
import pickle
import stat
import threading
from pathlib import Path

import pytest

from provenance.fs import (
    AccessRefused,
    BackendName,
    BoundaryRefused,
    NotARegularFile,
    ReadFailed,
    SourceAbsent,
    TrustedRoot,
    UnsafeComponent,
    UnsafePlatform,
)
from tests.trees import open_handles, run_python, without_privileges, write_artifact


def _read(root: TrustedRoot, *names: str) -> bytes:
    with root.open_file(*names) as file:
        return file.read_at(0, file.size)


def test_opening_below(tmp_path: Path, backend: BackendName) -> None:
    write_artifact(tmp_path, "s1", "log.txt", b"hello")
    (tmp_path / "top.txt").write_bytes(b"top")
    with TrustedRoot(tmp_path, backend=backend) as root:
        assert root.backend == backend
        assert root.path == tmp_path
        assert _read(root, "top.txt") == b"top"
        assert _read(root, "s1", "tool-results", "log.txt") == b"hello"
        with root.open_directory("s1", "tool-results") as folder:
            assert [entry.name for entry in folder.entries()] == ["log.txt"]
        with root.open_directory() as folder:
            assert {entry.name for entry in folder.entries()} == {"s1", "top.txt"}


def test_nothing_is_opened_before_the_first_use(tmp_path: Path, backend: BackendName) -> None:
    before = open_handles()
    root = TrustedRoot(tmp_path, backend=backend)
    root.subroot("a", "b")
    assert open_handles() == before
    assert repr(root) == "TrustedRoot(...)"  # no path in a traceback
    root.close()


def test_a_missing_root_is_missing_and_looked_for_again(
    tmp_path: Path, backend: BackendName
) -> None:
    with TrustedRoot(tmp_path / "later", backend=backend) as root:
        for _ in range(2):
            with pytest.raises(SourceAbsent):
                root.open_file("f")
            with pytest.raises(SourceAbsent):
                root.open_directory()
        (tmp_path / "later").mkdir()
        (tmp_path / "later" / "f").write_bytes(b"here")
        assert _read(root, "f") == b"here"


@pytest.mark.parametrize("make", ["file", "fifo", "dangling"])
def test_a_root_that_is_no_directory_is_missing(
    tmp_path: Path, backend: BackendName, make: str
) -> None:
    place = tmp_path / "root"
    if make == "file":
        place.write_bytes(b"")
    elif make == "fifo":
        os.mkfifo(place)
    else:
        place.symlink_to("nothing-here")
    for create in (False, True) if make == "file" else (False,):
        with TrustedRoot(place, backend=backend, create=create) as root:
            with pytest.raises(SourceAbsent):
                root.open_file("f")
            with pytest.raises(SourceAbsent):
                root.open_directory("d")


def test_the_operators_own_path_may_hold_links(tmp_path: Path, backend: BackendName) -> None:
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "real" / "deep" / "f").write_bytes(b"x")
    (tmp_path / "first").symlink_to("real")
    (tmp_path / "second").symlink_to(tmp_path / "first" / "deep")
    with TrustedRoot(tmp_path / "second", backend=backend) as root:
        assert _read(root, "f") == b"x"


def test_a_path_with_nul_is_missing(backend: BackendName) -> None:
    for create in (False, True):
        root = TrustedRoot("/tmp/\0x", backend=backend, create=create)
        with root, pytest.raises(SourceAbsent):
            root.open_file("f")


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "a/b", "/etc", "a/", "a\0b", "\ud800", "x" * 256, "é" * 128],
)
def test_a_component_is_checked_before_any_system_call(
    tmp_path: Path, backend: BackendName, name: str
) -> None:
    (tmp_path / "a").mkdir()
    with TrustedRoot(tmp_path, backend=backend) as root:
        for names in ((name,), ("a", name), (name, "a")):
            with pytest.raises(UnsafeComponent) as caught:
                root.open_file(*names)
            assert len(str(caught.value)) < 200
            with pytest.raises(UnsafeComponent):
                root.open_directory(*names)
            with pytest.raises(UnsafeComponent):
                root.open_directory(*names, create=True)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


def test_no_component_is_no_file(tmp_path: Path) -> None:
    with TrustedRoot(tmp_path) as root:
        with pytest.raises(ValueError, match="names"):
            root.open_file()
        with pytest.raises(ValueError, match="names"):
            root.subroot()
    with pytest.raises(ValueError, match="backend"):
        TrustedRoot(tmp_path, backend="open")  # type: ignore[arg-type]


def test_a_trailing_slash_never_reaches_the_kernel(tmp_path: Path, backend: BackendName) -> None:
    # `O_NOFOLLOW` follows the last link of "link/": joined by nobody, it cannot be asked for.
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "f").write_bytes(b"secret")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "link").symlink_to("../outside/")
    with TrustedRoot(tmp_path / "root", backend=backend) as root:
        with pytest.raises(BoundaryRefused):
            root.open_file("link", "f")
        with pytest.raises(UnsafeComponent):
            root.open_file("link/", "f")


def test_folders_are_made_private_and_files_are_in_their_place(
    tmp_path: Path, backend: BackendName
) -> None:
    before = os.umask(0)
    try:
        with TrustedRoot(tmp_path / "a" / "b", backend=backend, create=True) as root:
            root.open_directory("s1", "tool-results", create=True).close()
            root.open_directory("s1", "tool-results", create=True).close()
            with root.subroot("s2") as below:
                below.open_directory("x", create=True).close()
    finally:
        os.umask(before)
    for name in ("a", "a/b", "a/b/s1", "a/b/s1/tool-results", "a/b/s2", "a/b/s2/x"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o700, name


def test_a_root_is_made_at_a_relative_path_and_not_behind_a_dangling_link(
    tmp_path: Path, backend: BackendName, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in ("new", "deep/er", "."):
        with TrustedRoot(path, backend=backend, create=True) as root:
            root.open_directory().close()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["deep", "new"]
    (tmp_path / "dangling").symlink_to("nothing-here")
    for path in ("dangling", "dangling/below"):
        root = TrustedRoot(path, backend=backend, create=True)
        with root, pytest.raises(SourceAbsent):
            root.open_directory()
    assert not (tmp_path / "nothing-here").exists()


@pytest.mark.parametrize("kind", ["link", "file", "fifo"])
def test_making_a_folder_follows_no_link_and_replaces_nothing(
    tmp_path: Path, backend: BackendName, kind: str
) -> None:
    (tmp_path / "outside").mkdir()
    root_path = tmp_path / "root"
    root_path.mkdir()
    if kind == "link":
        (root_path / "s1").symlink_to("../outside")
    elif kind == "file":
        (root_path / "s1").write_bytes(b"x")
    else:
        os.mkfifo(root_path / "s1")
    expected = BoundaryRefused if kind == "link" else (SourceAbsent, NotARegularFile)
    with TrustedRoot(root_path, backend=backend) as root, pytest.raises(expected):
        root.open_directory("s1", "tool-results", create=True)
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_subroot_is_opened_below_with_nothing_followed(
    tmp_path: Path, backend: BackendName
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "f").write_bytes(b"x")
    (tmp_path / "link").symlink_to("real")
    with TrustedRoot(tmp_path, backend=backend) as root:
        with root.subroot("real") as below:
            assert below.path == tmp_path / "real"
            assert below.backend == backend
            assert _read(below, "f") == b"x"
        with root.subroot("link") as below, pytest.raises(BoundaryRefused):
            below.open_file("f")
        with root.subroot("nothing") as below, pytest.raises(SourceAbsent):
            below.open_file("f")
        with root.subroot("..") as below, pytest.raises(UnsafeComponent):
            below.open_file("f")


def test_it_keeps_its_directory_when_the_path_is_taken_by_another(
    tmp_path: Path, backend: BackendName
) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "f").write_bytes(b"first")
    with TrustedRoot(tmp_path / "root", backend=backend) as root:
        assert _read(root, "f") == b"first"
        (tmp_path / "root").rename(tmp_path / "moved")
        (tmp_path / "root").mkdir()
        (tmp_path / "root" / "f").write_bytes(b"second")
        assert _read(root, "f") == b"first"
        root.close()
        assert _read(root, "f") == b"second"


def test_closing_closes_and_the_next_use_opens_again(tmp_path: Path, backend: BackendName) -> None:
    (tmp_path / "f").write_bytes(b"x")
    before = open_handles()
    root = TrustedRoot(tmp_path, backend=backend)
    assert _read(root, "f") == b"x"
    assert open_handles() != before
    root.close()
    root.close()
    assert open_handles() == before
    assert _read(root, "f") == b"x"
    root.close()


def test_another_process_opens_it_anew(tmp_path: Path, backend: BackendName) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_bytes(b"x")
    with TrustedRoot(tmp_path, backend=backend) as root:
        assert _read(root, "d", "f") == b"x"
        for original in (root, root.subroot("d")):
            copy = pickle.loads(pickle.dumps(original))
            with copy:
                assert copy.path == original.path
                names = ("f",) if original is not root else ("d", "f")
                assert _read(copy, *names) == b"x"
                assert copy.backend == backend
            original.close()
            if copy is not root:
                above = copy._above
                if above is not None:
                    above[0].close()


def test_threads_share_one_handle(tmp_path: Path, backend: BackendName) -> None:
    write_artifact(tmp_path, "s1", "log.txt", b"hello")
    got: list[bytes] = []
    with TrustedRoot(tmp_path, backend=backend) as root:
        barrier = threading.Barrier(8)

        def work() -> None:
            barrier.wait()
            got.extend(_read(root, "s1", "tool-results", "log.txt") for _ in range(20))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        top = sum(1 for what in open_handles().values() if what == str(tmp_path))
    assert got == [b"hello"] * 160
    assert top == 1


def test_permissions_refuse(open_folder: Path, backend: BackendName) -> None:
    command = without_privileges()
    write_artifact(open_folder / "root", "s1", "log.txt", b"hello")
    (open_folder / "root" / "s1" / "tool-results").chmod(0o755)
    (open_folder / "root" / "closed").mkdir(mode=0o000)
    secret = open_folder / "root" / "s1" / "tool-results" / "log.txt"
    secret.chmod(0o000)
    script = """
import sys
from provenance.errors import CtxauditError
from provenance.fs import TrustedRoot
for path, names in (
    (sys.argv[1], ("s1", "tool-results", "log.txt")),
    (sys.argv[1], ("closed", "f")),
    (sys.argv[1] + "/closed", ("f",)),
):
    try:
        with TrustedRoot(path, backend=sys.argv[2]) as root:
            root.open_file(*names)
        print("opened")
    except CtxauditError as error:
        print(error.code)
"""
    done = run_python(script, open_folder / "root", backend, prefix=command)
    (open_folder / "root" / "closed").chmod(0o700)
    assert done.stdout.split() == ["filesystem_denied"] * 3


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.EIO, errno.ESTALE])
def test_a_machine_that_fails_proves_nothing(
    tmp_path: Path, backend: BackendName, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise OSError(number, "at /secret")

    with TrustedRoot(tmp_path, backend=backend) as root, monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(ReadFailed) as caught:
            root.open_file("f")
        assert caught.value.errno == number
        assert "secret" not in str(caught.value)


def test_a_root_that_may_not_be_made_is_refused(open_folder: Path, backend: BackendName) -> None:
    command = without_privileges()
    (open_folder / "locked").mkdir(mode=0o555)
    script = """
import sys
from provenance.fs import AccessRefused, TrustedRoot
try:
    TrustedRoot(sys.argv[1], backend=sys.argv[2], create=True).open_directory()
except AccessRefused as error:
    print(error.code)
"""
    done = run_python(script, open_folder / "locked" / "new", backend, prefix=command)
    assert done.stdout == f"{AccessRefused.code}\n"


@pytest.mark.parametrize("flag", ["O_NOFOLLOW", "O_DIRECTORY"])
def test_without_the_flags_nothing_is_opened_at_all(
    tmp_path: Path, flag: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: object, **named: object) -> int:
        raise AssertionError("something was opened")

    with monkeypatch.context() as patch:
        patch.delattr(os, flag)
        patch.setattr(os, "open", refuse)
        with pytest.raises(UnsafePlatform, match=r"^platform: expected"):
            TrustedRoot(tmp_path).open_file("f")


def test_its_place_is_told_links_resolved(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to("a/b")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("a/b", "link", "a/../a/b/"):
        assert TrustedRoot(tmp_path / name).place == ("a", "b")
    assert TrustedRoot("/").place == ()
    assert TrustedRoot("a\0b").place == ()
    assert len(TrustedRoot(tmp_path / "loop").place) in (0, 2)  # newer Pythons name it
