"""Files with secrets: never readable by others, never over another file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from provenance.fs import NameTaken, NotARegularFile, SourceAbsent, WriteFailed
from provenance.fs.key_files import SecretExposed, create_key_files, read_secret_file


def test_a_pair_is_written_and_read(tmp_path: Path) -> None:
    old = os.umask(0o777)
    try:
        create_key_files(tmp_path / "k", b"secret", str(tmp_path / "k.pub"), b"public")
    finally:
        os.umask(old)
    assert (tmp_path / "k").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "k.pub").stat().st_mode & 0o777 == 0o644
    assert read_secret_file(tmp_path / "k", max_bytes=6) == b"secret"


@pytest.mark.parametrize("taken", ["k", "k.pub"])
def test_nothing_is_overwritten(tmp_path: Path, taken: str) -> None:
    (tmp_path / taken).symlink_to(tmp_path / "nowhere")
    with pytest.raises(NameTaken):
        create_key_files(tmp_path / "k", b"secret", str(tmp_path / "k.pub"), b"public")
    assert [path.name for path in tmp_path.iterdir()] == [taken]


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write

    def full(fd: int, data: bytes) -> int:
        if b"secret" in bytes(data):
            raise OSError(28, "No space left on device")
        return real(fd, data)

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(WriteFailed, match="ENOSPC"):
        create_key_files(tmp_path / "k", b"secret", str(tmp_path / "k.pub"), b"public")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(WriteFailed):
        create_key_files(tmp_path / "a/k", b"s", str(tmp_path / "a/k.pub"), b"p")
    with pytest.raises(WriteFailed):
        create_key_files("\0", b"s", "\0", b"p")


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o620, 0o601])
def test_what_others_may_reach_is_not_read(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "k"
    path.write_bytes(b"secret")
    path.chmod(mode)
    with pytest.raises(SecretExposed) as caught:
        read_secret_file(path, max_bytes=10)
    assert str(tmp_path) not in str(caught.value)
    path.chmod(0o400)
    assert read_secret_file(path, max_bytes=10) == b"secret"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_another_users_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "k"
    path.touch(mode=0o600)
    os.chown(path, 12_345, 12_345)
    with pytest.raises(SecretExposed, match="owner"):
        read_secret_file(path, max_bytes=10)


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    (tmp_path / "large").touch(mode=0o600)
    (tmp_path / "large").write_bytes(b"x" * 11)
    for name in ("pipe", ".", "large", "\0"):
        with pytest.raises(NotARegularFile):
            read_secret_file(f"{tmp_path}/{name}", max_bytes=10)
    with pytest.raises(SourceAbsent):
        read_secret_file(tmp_path / "none", max_bytes=10)
