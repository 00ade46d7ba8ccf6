"""A file of the operator's that is written in pieces: whole, or not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from provenance.fs import WriteFailed
from provenance.fs.operator_output import OperatorOutput


def test_it_is_there_once_it_is_committed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with OperatorOutput(path) as output:
        output.write(b"one ")
        assert not path.exists()
        output.write(b"two")
        output.commit()
    assert path.read_bytes() == b"one two"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_what_is_not_committed_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with pytest.raises(KeyboardInterrupt), OperatorOutput(path) as output:
        output.write(b"new")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
    with OperatorOutput(path) as output:
        output.write(b"new")
        output.commit()
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o640)


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with OperatorOutput(path) as output:
            output.write(b"x")
            output.commit()
        assert os.read(reader, 10) == b"x"
    finally:
        os.close(reader)
    assert path.is_fifo()


@pytest.mark.parametrize("name", ["absent/file", "a\0b", "."])
def test_where_nothing_can_be_written_that_is_said(tmp_path: Path, name: str) -> None:
    with pytest.raises(WriteFailed):
        OperatorOutput(f"{tmp_path}/{name}")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_of_the_disk_leaves_the_old_file() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this machine")
    with OperatorOutput("/dev/full") as output, pytest.raises(WriteFailed, match="ENOSPC"):
        output.write(b"x")
