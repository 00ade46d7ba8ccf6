"""Collections that are killed, that race, and that find the disk full."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.attacks.namespaces import run_with_mounts
from tests.trees import run_python

pytestmark = pytest.mark.attack


def test_killed_at_each_call_what_is_gone_has_its_line(tmp_path: Path) -> None:
    done = run_python(
        "import sys\nfrom tests.retention.kills import *\ndie_at_every_call(sys.argv[1])", tmp_path
    )
    said = json.loads(done.stdout)
    assert said["deaths"] > 30
    assert said["between"] > 3, "no death between the line and the removal"


def test_what_is_spilled_while_it_collects_is_never_lost(tmp_path: Path) -> None:
    done = run_python(
        "import sys\nfrom tests.retention.kills import *\nrace(sys.argv[1], rounds=120, seed=7)",
        tmp_path,
    )
    said = json.loads(done.stdout)
    assert said["promised"] == 240
    assert said["collected"] >= 1


def test_several_collections_at_once_remove_each_artifact_once(tmp_path: Path) -> None:
    done = run_python(
        "import sys\nfrom tests.retention.kills import *\ncollect_together(sys.argv[1])", tmp_path
    )
    assert json.loads(done.stdout) == [[], [], []]


def test_on_a_full_disk_nothing_goes(tmp_path: Path) -> None:
    said = run_with_mounts(
        """
import json, os, subprocess, sys
from pathlib import Path
from tests.retention.homes import OldHome
place = Path(sys.argv[1]) / "disk"
place.mkdir()
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(place)], check=True)
home = OldHome(place / "home")
for name in ("a.txt", "b.txt"):
    home.spill(name, name)
# The ledger ends near a page's end, so that the line needs a new page.
ledger = home.path / "s1/tool-results.jsonl"
size = len(ledger.read_bytes())
line = b'{"event":"renamed","filename":"x.txt","schema":"ctxaudit.artifact/1"}'
ledger.write_bytes(ledger.read_bytes() + line + b" " * (4096 - size - len(line) - 1) + b"\\n")
with open(place / "filler", "wb", buffering=0) as filler:
    try:
        while filler.write(b"y" * 512):
            pass
    except OSError:
        pass
before = ledger.read_bytes()
report = home.gc(delete=True)
said = {"stopped": report.stopped_by, "failed": len(report.failed), "gone": len(report.removable)}
said["files"] = sorted(home.files())
said["same"] = ledger.read_bytes() == before
os.unlink(place / "filler")
report = home.gc(delete=True)
said["then"] = len(report.removable)
print(json.dumps(said))
""",
        tmp_path,
        what="a full disk was",
    )
    assert "ENOSPC" in said.pop("stopped")
    assert said == {
        "failed": 2,
        "gone": 0,
        "files": ["a.txt", "b.txt"],
        "same": True,
        "then": 2,
    }


def test_on_a_disk_that_may_not_be_written_nothing_goes(tmp_path: Path) -> None:
    said = run_with_mounts(
        """
import json, subprocess, sys
from pathlib import Path
from tests.retention.homes import OldHome
place = Path(sys.argv[1]) / "disk"
place.mkdir()
subprocess.run(["mount", "-t", "tmpfs", "none", str(place)], check=True)
home = OldHome(place / "home")
home.spill("a.txt", "a")
home.spill("b.txt", "b", session="s2")
subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
report = home.gc(delete=True)
print(json.dumps({"why": report.stopped_by, "failed": [one.message for one in report.failed]}))
""",
        tmp_path,
        what="a read-only disk was",
    )
    why = "log: expected to write, got EROFS"
    assert said == {"why": why, "failed": [why]}
