"""Kills, full disks and lines without an end: what is left, and what it costs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.attacks.namespaces import run_with_mounts
from tests.trees import run_python

_KILLS = """
import json, os, random, select, signal, sys
from pathlib import Path
from provenance.fs import TrustedRoot
from provenance.limits import DEFAULT_LIMITS
from provenance.resolution import Reason
from provenance.transcripts import TailAction, TranscriptWriter, repair_tail, verify_events

folder, kills = Path(sys.argv[1]), int(sys.argv[2])
seed = random.SystemRandom().randrange(2**32)
rnd = random.Random(seed)
path = folder / "s1.jsonl"
repairs = {action: 0 for action in TailAction}
said = {}


def write_until_killed(told):
    with TranscriptWriter(folder, "s1") as writer:
        for number in range(10**6):
            # From one page to many: the kernel may stop a write between two pages.
            event = writer.append({"content": "x" * rnd.choice([1, 50, 5_000, 300_000])})
            os.write(told, b"%d %s\\n" % (event.sequence, event.sha256.encode()))


for kill in range(kills):
    if kill % 25 == 0:  # a fresh transcript, or the verification would grow with the square
        path.unlink(missing_ok=True)
        said = {}
    heard, told = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(heard)
        try:
            write_until_killed(told)
        finally:
            os._exit(1)
    os.close(told)
    got = b""
    acknowledged = rnd.randrange(4)
    while got.count(b"\\n") < acknowledged:
        got += os.read(heard, 65_536)
    select.select([heard], [], [], rnd.random() * 0.004)
    os.kill(child, signal.SIGKILL)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    while piece := os.read(heard, 65_536):
        got += piece
    os.close(heard)
    for line in got.decode().split("\\n")[:-1]:
        sequence, digest = line.split(" ")
        assert int(sequence) not in said, (seed, "given twice", sequence)
        said[int(sequence)] = digest
    before = path.read_bytes() if path.exists() else None
    if before is None:
        continue
    done = repair_tail(folder, "s1")
    repairs[done.action] += 1
    after = path.read_bytes()
    aside = (folder / done.aside).read_bytes() if done.aside else b""
    assert after + aside == before or after == before + b"\\n", (seed, "bytes were lost")
    # What was acknowledged is there; what was not may be there too, whole.
    with TrustedRoot(folder) as root:
        verdict = verify_events(
            root, "s1", range(1, done.records + 2), limits=DEFAULT_LIMITS, excerpt_chars=0
        )
    assert not verdict.findings
    last = verdict.outcomes[done.records + 1].reason
    assert last is Reason.TRANSCRIPT_EVENT_MISSING, (seed, last)
    for sequence, digest in said.items():
        assert verdict.outcomes[sequence].sha256 == digest, (seed, sequence)
    assert done.records - max(said, default=0) in (0, 1) or not said
    said |= {n: verdict.outcomes[n].sha256 for n in range(1, done.records + 1)}
print(json.dumps({"seed": seed, **repairs}))
"""


@pytest.mark.attack
def test_killed_at_random_moments_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    done = run_python(_KILLS, tmp_path, "250")
    counts = json.loads(done.stdout)
    assert sum(value for name, value in counts.items() if name != "seed") > 200


_FULL_DISK = """
import json, os, subprocess, sys
from pathlib import Path
from provenance.fs import TrustedRoot, WriteFailed
from provenance.limits import DEFAULT_LIMITS
from provenance.resolution import Reason
from provenance.transcripts import TailAction, TranscriptWriter, repair_tail, verify_events

folder = Path(sys.argv[1])
subprocess.run(
    ["mount", "-t", "tmpfs", "-o", "size=512k", "none", str(folder)], check=True
)
path = folder / "s1.jsonl"
failures = 0
with TranscriptWriter(folder, "s1") as writer:
    said = []
    # Large ones until there is no room, then smaller ones into what is left.
    for size in (100_000, 9_000, 1_000, 10):
        while True:
            before = path.read_bytes() if path.exists() else b""
            try:
                said.append(writer.append({"content": "x" * size}))
            except WriteFailed:
                failures += 1
                assert path.read_bytes() == before
                break
    # Room again: the same writer goes on.
    data = path.read_bytes()
    cut = data[: data.index(b"\\n", len(data) // 4) + 1]
    os.truncate(path, len(cut))
    said = said[: cut.count(b"\\n")]
    said.append(writer.append({"content": "after"}))
with TrustedRoot(folder) as root:
    verdict = verify_events(
        root, "s1", [event.sequence for event in said], limits=DEFAULT_LIMITS, excerpt_chars=0
    )
assert all(verdict.outcomes[event.sequence].sha256 == event.sha256 for event in said)
# A torn tail for whose copy there is no room: the transcript stays as it is.
with path.open("ab") as file:
    file.write(b"{torn" + b"x" * 100_000)
whole = path.read_bytes()
filler = folder / "filler"
with open(filler, "wb", buffering=0) as file:
    try:
        while True:
            file.write(b"x" * 4096)
    except OSError:
        pass
try:
    repair_tail(folder, "s1")
except WriteFailed:
    failures += 1
assert path.read_bytes() == whole
assert sorted(os.listdir(folder)) == ["filler", "s1.jsonl"]
filler.unlink()
# Room for the copy again.
done = repair_tail(folder, "s1")
assert done.action is TailAction.SET_ASIDE
assert path.read_bytes() + (folder / done.aside).read_bytes() == whole
print(json.dumps({"failures": failures}))
"""


@pytest.mark.attack
def test_a_full_disk_leaves_no_torn_line(tmp_path: Path) -> None:
    said = run_with_mounts(_FULL_DISK, tmp_path, what="appending to a full disk")
    assert said == {"failures": 5}


_MEMORY = """
import json, sys
from pathlib import Path
from provenance.fs import TrustedRoot
from provenance.limits import DEFAULT_LIMITS
from provenance.transcripts import (
    TornTailError, TranscriptWriter, check_transcript, repair_tail, verify_events,
)

folder = Path(sys.argv[1])
path = folder / "s1.jsonl"


def peak():
    # Of this program alone; getrusage would still know the one that started it. In KiB.
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


with TranscriptWriter(folder, "s1") as writer:
    writer.append({"content": "event 1"})
# All code is loaded and has run once.
with TrustedRoot(folder) as root:
    verify_events(root, "s1", [1, 2], limits=DEFAULT_LIMITS, excerpt_chars=2_000)
    check_transcript(root, "s1", limits=DEFAULT_LIMITS)
repair_tail(folder, "s1")
piece = b"x" * 1_000_000
with path.open("ab") as file:
    for _ in range(200):
        file.write(piece)
before = peak()
used = {}
with TrustedRoot(folder) as root:
    said = verify_events(root, "s1", [1, 2, 3], limits=DEFAULT_LIMITS, excerpt_chars=2_000)
    used["verify"] = peak() - before
    check = check_transcript(root, "s1", limits=DEFAULT_LIMITS)
    used["check"] = peak() - before
with TranscriptWriter(folder, "s1") as writer:
    try:
        writer.append({"content": "event 2"})
    except TornTailError:
        used["append"] = peak() - before
repaired = repair_tail(folder, "s1")
used["repair"] = peak() - before
print(json.dumps({
    "used": used,
    "reasons": [said.outcomes[number].reason for number in (1, 2, 3)],
    "bad": check.first_bad,
    "aside": repaired.aside_bytes,
}))
"""


def test_a_line_of_200_megabytes_is_refused_in_little_memory(tmp_path: Path) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("no /proc here: the memory of a line of 200 MB NOT measured")
    said = json.loads(run_python(_MEMORY, tmp_path).stdout)
    too_large = "transcript_record_too_large"
    assert said["reasons"] == ["verified_transcript_event", too_large, too_large]
    assert said["bad"] == [2, too_large]
    assert said["aside"] == 200_000_000
    for what in ("verify", "check", "append", "repair"):
        assert said["used"][what] <= 32 * 1024, said["used"]
    for name in tmp_path.iterdir():
        name.unlink()
