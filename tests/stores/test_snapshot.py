"""Reading a store from a private copy."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from provenance import DurableStateStore, StoreDamaged, TrustedRoot, iter_state_versions
from provenance.fs import SourceAbsent
from provenance.limits import Limits
from provenance.stores import StoreUnsafe, has_store, open_snapshot, snapshot
from tests.fixtures import no_handle_is_left
from tests.stores.stores import a_state, alter, file_of, filled

__all__ = ["no_handle_is_left"]


def test_every_version_of_every_state_in_order(tmp_path: Path) -> None:
    filled(tmp_path, versions=11)
    filled(tmp_path, versions=2, name="B")
    filled(tmp_path, versions=1, name="a")
    with TrustedRoot(tmp_path) as root:
        found = list(iter_state_versions(root))
    assert [(one.name, one.version) for one in found] == [
        ("B", 1), ("B", 2), ("a", 1), *(("run-1", number) for number in range(1, 12)),
    ]  # fmt: skip
    store = DurableStateStore(tmp_path)
    for one in found:
        kept = store.get(one.name, one.version)
        assert (one.document, one.sha256) == (kept.document, kept.sha256)
        assert hashlib.sha256(one.document).hexdigest() == one.sha256
    assert os.listdir(tmp_path / "states") == ["states.sqlite3"]


def test_a_home_without_a_store(tmp_path: Path) -> None:
    with TrustedRoot(tmp_path) as root:
        assert not has_store(root)
        with pytest.raises(SourceAbsent):
            list(iter_state_versions(root))
        (tmp_path / "states").mkdir()
        assert not has_store(root)
        filled(tmp_path, versions=1)
        assert has_store(root)


def test_a_reader_that_stops_leaves_nothing_open(tmp_path: Path) -> None:
    filled(tmp_path)
    with TrustedRoot(tmp_path) as root:
        versions = iter_state_versions(root)
        assert next(versions).version == 1
        versions.close()  # type: ignore[attr-defined]


def test_what_no_version_is_called_stops_it(tmp_path: Path) -> None:
    filled(tmp_path)
    alter(tmp_path, "UPDATE versions SET name = '..' WHERE version = 3")
    with TrustedRoot(tmp_path) as root, pytest.raises(StoreDamaged, match="name and number"):
        list(iter_state_versions(root))


def test_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    DurableStateStore(tmp_path).put("run", a_state("x" * 3_000_000), replaces=None, author="h")
    with TrustedRoot(tmp_path) as root:
        with (
            pytest.raises(StoreDamaged, match="within the limit"),
            open_snapshot(root, limits=Limits(max_document_bytes=2_000_000)) as reader,
        ):
            reader.get("run")
        monkeypatch.setattr(snapshot, "_MAX_STORE_BYTES", 1_000_000)
        with pytest.raises(StoreDamaged, match="1000000 bytes"), open_snapshot(root):
            pass


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    filled(tmp_path)
    os.rename(file_of(tmp_path), tmp_path / "elsewhere")
    file_of(tmp_path).symlink_to(tmp_path / "elsewhere")
    with TrustedRoot(tmp_path) as root, pytest.raises(StoreUnsafe), open_snapshot(root):
        pass
