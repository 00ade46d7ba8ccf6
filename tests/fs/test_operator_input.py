"""Files that the operator named: what lies in a folder is never waited for, a shell's pipe is."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest

from provenance.fs import BoundaryRefused, NotARegularFile, SourceAbsent, read_operator_file
from provenance.fs.operator_input import open_operator_input
from provenance.fs.operator_stream import iterate_operator_file


def _read(path: str | Path) -> bytes:
    data = read_operator_file(path, max_bytes=1 << 20, named_pipes=False)
    assert b"".join(iterate_operator_file(path, named_pipes=False)) in (data, b"")
    return data


def test_a_plain_file_and_a_link_to_one(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"text")
    (tmp_path / "link").symlink_to("a")
    assert _read(tmp_path / "a") == _read(tmp_path / "link") == b"text"


@pytest.mark.parametrize("is_link", [False, True])
def test_a_pipe_that_lies_in_a_folder_is_refused_at_once(tmp_path: Path, is_link: bool) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    if is_link:
        (tmp_path / "link").symlink_to(path)
        path = tmp_path / "link"
    with pytest.raises(NotARegularFile, match="expected a regular file"):
        _read(path)
    with pytest.raises(NotARegularFile):
        list(iterate_operator_file(path, named_pipes=False))


def test_a_socket_a_device_and_a_folder_are_refused(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "s"))
        for path in (tmp_path / "s", "/dev/null", "/dev/zero", tmp_path):
            with pytest.raises(NotARegularFile):
                _read(path)


def test_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for path, failure in (
        (tmp_path / "none", SourceAbsent),
        (tmp_path / "a", BoundaryRefused),
        ("a\0b", NotARegularFile),
    ):
        with pytest.raises(failure):
            open_operator_input(path, named_pipes=False)


def test_a_pipe_that_the_shell_opened_is_read_to_its_end() -> None:
    reading, writing = os.pipe()
    data = b"x" * 300_000  # more than a pipe holds: reading has to wait

    def feed() -> None:
        with os.fdopen(writing, "wb") as file:
            file.write(data)

    thread = threading.Thread(target=feed)
    thread.start()
    try:
        assert _read(f"/dev/fd/{reading}") == data
    finally:
        os.close(reading)
        thread.join()
