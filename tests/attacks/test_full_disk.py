"""A disk that is full: nothing torn is left, nothing old is lost, and the errors say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks.namespaces import run_with_mounts

pytestmark = pytest.mark.attack

_SCRIPT = """
import json, os, subprocess, sys
from provenance.fs import NameTaken, TrustedRoot, WriteFailed, atomic_write
place = sys.argv[1]
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=40", "none", place], check=True)
said = {}

def attempt(name, act):
    try:
        act()
        said[name] = "done"
    except WriteFailed as error:
        said[name] = error.errno

with TrustedRoot(place) as root, root.open_directory() as folder:
    folder.publish("old", [b"old"])
    atomic_write(f"{place}/report", b"old report")
    with folder.open_append("log") as log:
        log.append(b"first\\n")
        # Part of it fits: a short write, taken back.
        attempt("append", lambda: log.append(b"x" * (3 << 20)))
        said["log"] = open(f"{place}/log").read()
        said["free again"] = os.statvfs(place).f_bavail > 200
        attempt("publish", lambda: folder.publish("new", [b"x" * 500_000] * 4))
        attempt("output", lambda: atomic_write(f"{place}/report", b"x" * (3 << 20)))
        said["names"] = sorted(os.listdir(place))
        said["contents"] = [open(f"{place}/{name}").read() for name in ("old", "report")]
        log.append(b"second\\n")
        said["log again"] = open(f"{place}/log").read()
        # Full to the last byte.
        with open(f"{place}/filler", "wb", buffering=0) as filler:
            for size in (1 << 16, 4096, 1):
                try:
                    while filler.write(b"y" * size):
                        pass
                except OSError:
                    continue
        attempt("append to the brim", lambda: log.append(b"x" * 5000))
        attempt("publish at the brim", lambda: folder.publish("new", [b"x" * 5000]))
        said["log at the brim"] = open(f"{place}/log").read()
        os.unlink(f"{place}/filler")
        # No inode left: no folder, no log, no file.
        for number in range(100):
            try:
                os.close(os.open(f"{place}/i{number}", os.O_CREAT | os.O_WRONLY))
            except OSError:
                break
        attempt("folder", lambda: folder.open_directory("d", create=True))
        attempt("publish without inodes", lambda: folder.publish("new", [b"x"]))
        attempt("output without inodes", lambda: atomic_write(f"{place}/report", b"new"))
        said["still"] = [open(f"{place}/{name}").read() for name in ("old", "report")]
print(json.dumps(said))
"""


def test_a_full_disk(tmp_path: Path) -> None:
    import errno

    said = run_with_mounts(_SCRIPT, tmp_path, what="a full disk was")
    assert said == {
        "append": errno.ENOSPC,
        "log": "first\n",
        "free again": True,
        "publish": errno.ENOSPC,
        "output": errno.ENOSPC,
        "names": ["log", "old", "report"],
        "contents": ["old", "old report"],
        "log again": "first\nsecond\n",
        "append to the brim": errno.ENOSPC,
        "publish at the brim": errno.ENOSPC,
        "log at the brim": "first\nsecond\n",
        "folder": errno.ENOSPC,
        "publish without inodes": errno.ENOSPC,
        "output without inodes": errno.ENOSPC,
        "still": ["old", "old report"],
    }
