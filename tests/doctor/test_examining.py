"""`doctor` on real trees: each thing that is unsafe, and its nearest harmless neighbour."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest

from provenance.artifacts import ArtifactStore
from provenance.doctor import Note, examine
from tests.attacks.namespaces import run_with_mounts
from tests.trees import is_root, run_python, without_privileges

_NOW = datetime(2026, 6, 1, tzinfo=UTC)
# What the machine of whoever runs the tests is like is not what is tested here.
_TARGETS = ("machine", "process")


@pytest.fixture
def root(open_folder: Path) -> Path:
    """A home in a folder that others may pass: nothing about it is unsafe."""
    home = open_folder / "home"
    (home / "transcripts").mkdir(parents=True)
    (home / "transcripts/s1.jsonl").write_text('{"recorded_at":"2026-01-01T00:00:00Z"}\n')
    with ArtifactStore(home, clock=lambda: _NOW) as store:
        store.spill("s1", "text")
    for path in [open_folder, home, *home.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return home


def _examine(path: Path, now: datetime = _NOW, **options: int) -> dict[str, Note]:
    report = examine((str(path),), clock=lambda: now, stopwatch=lambda: 0.0, **options)
    ignored = ("temporary_elsewhere", "space_low", "inodes_low", "file_system_overlay")
    return {
        note.code: note
        for note in report.notes
        if note.target not in _TARGETS and note.code not in ignored
    }


def test_a_sound_home(root: Path) -> None:
    assert _examine(root) == {}


def test_nothing_is_written(root: Path) -> None:
    def seen() -> dict[str, tuple[int, int]]:
        return {str(p): (p.stat().st_mtime_ns, p.stat().st_ctime_ns) for p in root.rglob("*")}

    before = seen()
    _examine(root)
    assert seen() == before


def test_modes_below_the_root(root: Path) -> None:
    (root / "transcripts/s1.jsonl").chmod(0o646)
    (root / "s1").chmod(0o777)
    found = _examine(root)
    assert found.keys() == {"world_writable"}
    assert (found["world_writable"].count, found["world_writable"].places) == (
        2,
        ("s1", "transcripts/s1.jsonl"),
    )


def test_a_group_that_may_write(root: Path) -> None:
    path = root / "transcripts/s1.jsonl"
    path.chmod(0o664)
    alone = path.stat().st_gid == path.stat().st_uid
    assert _examine(root).keys() == (set() if alone else {"group_writable"})
    if not is_root():
        pytest.skip("not root: no group can be given; a group that is not one's own NOT tested")
    os.chown(path, -1, 50)
    assert _examine(root).keys() == {"group_writable"}


def test_the_root_itself_and_the_way_to_it(root: Path) -> None:
    root.chmod(0o777)
    assert _examine(root).keys() == {"root_writable_by_others"}
    root.chmod(0o755)
    root.parent.chmod(0o777)
    found = _examine(root)
    assert found.keys() == {"way_writable"}
    assert "the folder above the root" in found["way_writable"].message
    assert "2 levels above" in _examine(root / "s1")["way_writable"].message
    root.parent.chmod(0o1777)
    assert _examine(root) == {}
    if is_root():
        os.chown(root.parent, 1001, 1001)
        assert _examine(root).keys() == {"way_foreign_owner"}


def test_a_root_that_is_reached_through_links(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    assert _examine(link).keys() == {"root_through_link"}
    # What guards the link guards the root.
    shared = root.parent / "shared"
    shared.mkdir(mode=0o755)
    shared.chmod(0o777)
    (shared / "home").symlink_to(link)
    found = _examine(shared / "home")
    assert found.keys() == {"root_through_link", "way_writable"}
    assert "on the way to a link" in found["way_writable"].message
    loop = root.parent / "loop"
    loop.symlink_to(loop)
    assert _examine(loop).keys() == {"entry_unreadable"}


def test_owners(root: Path) -> None:
    if not is_root():
        pytest.skip("not root: nothing can be given away; owners NOT tested")
    os.chown(root / "transcripts/s1.jsonl", 1001, 1001)
    found = _examine(root)
    assert (found.keys(), found["mixed_owners"].places) == (
        {"mixed_owners"},
        ("transcripts/s1.jsonl",),
    )
    # All of it another's: that is the agent's home, and we are its auditor.
    for path in [root, *root.rglob("*")]:
        os.chown(path, 1001, 1001)
    assert _examine(root) == {}


def test_links_hard_links_and_specials(root: Path) -> None:
    (root / "s1/link").symlink_to("/etc")
    assert _examine(root).keys() == {"link_inside"}
    (root / "s1/link").unlink()
    os.link(root / "transcripts/s1.jsonl", root.parent / "second")
    assert _examine(root).keys() == {"hard_link"}
    (root.parent / "second").unlink()
    os.mkfifo(root / "fifo", 0o644)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "socket"))
        (root / "socket").chmod(0o755)
        found = _examine(root)
    assert found.keys() == {"special_file"}
    assert found["special_file"].count == 2


@pytest.mark.parametrize(
    "text",
    [
        "PRIVATE+KEY+home+1234abcd+AQID",
        "-----BEGIN PRIVATE KEY-----\nAA\n",
        "-----BEGIN OPENSSH PRIVATE KEY-----\n",
    ],
)
def test_keys(root: Path, text: str) -> None:
    key = root / "s1/some file"
    key.write_text(text)
    key.chmod(0o600)
    assert _examine(root).keys() == {"key_inside"}
    key.chmod(0o640)
    assert _examine(root).keys() == {"key_inside", "key_open"}
    key.write_text(text.replace("PRIVATE", "PUBLIC"))
    assert _examine(root) == {}
    key.write_text("see " + text)
    assert _examine(root) == {}


def test_keys_beside_the_root(root: Path) -> None:
    key = root.parent / "seal.key"
    key.write_text("PRIVATE+KEY+home+1234abcd+AQID")
    key.chmod(0o600)
    assert _examine(root) == {}
    key.chmod(0o644)
    found = _examine(root)
    assert (found.keys(), found["key_open"].places) == ({"key_open"}, ("../seal.key",))


def test_a_clock_that_is_behind_the_logs(root: Path) -> None:
    assert _examine(root, datetime(2026, 5, 31, 23, 58, tzinfo=UTC)).keys() == {"clock_behind"}
    assert _examine(root, datetime(2026, 5, 31, 23, 59, 30, tzinfo=UTC)) == {}


def test_the_walk_is_bounded_and_says_so(root: Path) -> None:
    assert _examine(root, most_entries=6) == {}
    found = _examine(root, most_entries=5)
    assert found.keys() == {"walk_cut_short"}
    assert "5 that were looked at" in found["walk_cut_short"].message


def test_a_tree_without_end(root: Path) -> None:
    folder = root
    for _ in range(70):
        folder = folder / "d"
        folder.mkdir(mode=0o755)
    assert _examine(root).keys() == {"walk_cut_short"}


def test_names_that_are_no_text(root: Path) -> None:
    path = os.fsencode(root) + b"/s1/\xff\x1b\n"
    os.symlink("x", path)
    assert _examine(root)["link_inside"].places == ("s1/\\udcff\x1b\n",)


def test_a_root_that_is_gone(root: Path) -> None:
    found = _examine(root / "nothing")
    assert found.keys() == {"entry_unreadable"}
    assert str(root) not in str(found)


def test_folders_without_locks(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOTSUP, "x")

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert _examine(root).keys() == {"file_system_no_locks"}


def test_without_root_what_may_not_be_read_is_told(root: Path) -> None:
    (root / "s1").chmod(0o700)
    done = run_python(
        "import sys\n"
        "from datetime import *\n"
        "from provenance.doctor import examine\n"
        "clock = lambda: datetime(2026, 6, 1, tzinfo=UTC)\n"
        "report = examine((sys.argv[1],), clock=clock, stopwatch=lambda: 0.0)\n"
        "print({note.code: note.places for note in report.notes}.get('entry_unreadable'))",
        root,
        prefix=without_privileges(),
    )
    assert done.stdout == ("('s1',)\n" if is_root() else "None\n")


@pytest.mark.attack
def test_mounts_and_file_systems(tmp_path: Path) -> None:
    said = run_with_mounts(
        """
import json, os, subprocess, sys
from datetime import *
from pathlib import Path
from provenance.doctor import examine
place = Path(sys.argv[1])

def look(path):
    clock = lambda: datetime(2026, 6, 1, tzinfo=UTC)
    report = examine((str(path),), clock=clock, stopwatch=lambda: 0.0)
    return {n.code: list(n.places) for n in report.notes if n.target == path.name}

def mount(*arguments):
    subprocess.run(["mount", *arguments], check=True)

said = {}
home = place / "home"
for name in ("plain", "bind", "a b"):
    (home / name).mkdir(parents=True)
(home / "file").write_text("x")
mount("--bind", str(home / "plain"), str(home / "bind"))
mount("-t", "tmpfs", "none", str(home / "a b"))
mount("--bind", str(home / "file"), str(home / "file"))
said["inside"] = look(home)["mount_inside"]
small = place / "small"
small.mkdir()
mount("-t", "tmpfs", "-o", "size=1m,nr_inodes=50,mode=0755", "none", str(small))
said["small"] = sorted(look(small).keys() & {"space_low", "inodes_low", "mount_inside"})
mount("-o", "remount,ro", str(small))
said["read-only"] = sorted(look(small).keys() & {"space_low", "file_system_read_only"})
print(json.dumps(said))
""",
        tmp_path,
        what="mounts below a root were",
    )
    assert said == {
        "inside": ["a b", "bind", "file"],
        "small": ["inodes_low", "space_low"],
        "read-only": ["file_system_read_only"],
    }
