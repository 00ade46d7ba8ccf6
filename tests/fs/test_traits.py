"""What a policy refuses of open files and their folders: judged by the handles that are read."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from provenance.fs import BackendName, TrustedRoot
from provenance.fs.failures import TraitRefused
from provenance.fs.traits import refusals_of
from provenance.policy import FileTrait


def _tree(folder: Path) -> Path:
    root = folder / "root"
    (root / "s" / "tool-results").mkdir(parents=True)
    for place in (root, root / "s", root / "s" / "tool-results"):
        place.chmod(0o755)
    file = root / "s" / "tool-results" / "a"
    file.write_bytes(b"text")
    file.chmod(0o644)
    return root


def _read(root: Path, trait: FileTrait, backend: BackendName) -> bytes:
    with TrustedRoot(root, backend=backend).guarded({trait}) as guarded:
        with guarded.open_file("s", "tool-results", "a") as file:
            long = file.read_at(0, 10)
        with guarded.open_directory("s", "tool-results") as folder:
            found = folder.read_small("a", below=100)
        assert found is not None
        assert found[0] == long
        return long


@pytest.mark.parametrize("trait", FileTrait)
def test_an_ordinary_file_is_read(tmp_path: Path, trait: FileTrait, backend: BackendName) -> None:
    assert _read(_tree(tmp_path), trait, backend) == b"text"


def test_a_file_with_two_names_is_refused_and_one_that_has_lost_the_other_is_not(
    tmp_path: Path, backend: BackendName
) -> None:
    root = _tree(tmp_path)
    os.link(root / "s" / "tool-results" / "a", tmp_path / "other")
    with pytest.raises(TraitRefused, match="several hard links"):
        _read(root, FileTrait.HARD_LINKS, backend)
    assert _read(root, FileTrait.WORLD_WRITABLE, backend) == b"text"
    (tmp_path / "other").unlink()
    assert _read(root, FileTrait.HARD_LINKS, backend) == b"text"


@pytest.mark.parametrize("place", [".", "s", "s/tool-results", "s/tool-results/a"])
@pytest.mark.parametrize("mode", [0o020, 0o002, 0o1002])
def test_whatever_others_may_write_to_is_refused(
    tmp_path: Path, place: str, mode: int, backend: BackendName
) -> None:
    root = _tree(tmp_path)
    where = root / place
    where.chmod((where.stat().st_mode & 0o777) | mode)
    with pytest.raises(TraitRefused, match="no write permission for group or others"):
        _read(root, FileTrait.WORLD_WRITABLE, backend)
    assert _read(root, FileTrait.HARD_LINKS, backend) == b"text"


def test_what_others_may_only_read_is_not_refused(tmp_path: Path, backend: BackendName) -> None:
    root = _tree(tmp_path)
    (root / "s" / "tool-results" / "a").chmod(0o755)
    assert _read(root, FileTrait.WORLD_WRITABLE, backend) == b"text"


def test_what_another_user_owns_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: BackendName
) -> None:
    root = _tree(tmp_path)
    assert _read(root, FileTrait.FOREIGN_OWNER, backend) == b"text"
    uid = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: uid + 1)
    with pytest.raises(TraitRefused, match="our own user as owner"):
        _read(root, FileTrait.FOREIGN_OWNER, backend)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("place", [".", "s", "s/tool-results", "s/tool-results/a"])
def test_each_owner_on_the_way_counts(tmp_path: Path, place: str, backend: BackendName) -> None:
    root = _tree(tmp_path)
    os.chown(root / place, 12345, -1)
    with pytest.raises(TraitRefused):
        _read(root, FileTrait.FOREIGN_OWNER, backend)


def test_the_folder_above_a_subroot_is_judged_too(tmp_path: Path) -> None:
    home = _tree(tmp_path)
    home.chmod(0o777)
    plain = TrustedRoot(home).subroot("s", "tool-results")
    with plain, plain.guarded({FileTrait.WORLD_WRITABLE}) as guarded:
        plain.open_file("a").close()
        with pytest.raises(TraitRefused):
            guarded.open_file("a")
        with pytest.raises(TraitRefused), guarded.subroot("b") as below:
            below.open_file("a")
    TrustedRoot(home).close()
    plain._above[0].close()  # type: ignore[index]


def test_a_guard_is_kept_by_folders_and_travels_to_other_processes(tmp_path: Path) -> None:
    root = _tree(tmp_path)
    os.link(root / "s" / "tool-results" / "a", tmp_path / "other")
    with TrustedRoot(root).guarded({FileTrait.HARD_LINKS}) as guarded:
        assert guarded.guarded({FileTrait.HARD_LINKS}) is guarded
        assert guarded.guarded(()) is guarded
        assert guarded.unguarded.unguarded is guarded.unguarded
        with (
            guarded.open_directory("s") as one,
            one.duplicate() as two,
            two.open_directory("tool-results") as folder,
            pytest.raises(TraitRefused),
        ):
            folder.open_file("a")
        with pickle.loads(pickle.dumps(guarded)) as copy, pytest.raises(TraitRefused):
            copy.open_file("s", "tool-results", "a")
        with guarded.subroot("s") as below, pytest.raises(TraitRefused):
            below.open_file("tool-results", "a")
        more = guarded.guarded({FileTrait.WORLD_WRITABLE})
        with more, pytest.raises(TraitRefused):
            more.open_file("s", "tool-results", "a")


def test_nothing_is_judged_where_nothing_is_refused() -> None:
    assert refusals_of(()) is None
