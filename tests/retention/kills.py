"""Collections that die: at every system call in turn, and killed while others spill and cite.

Runs in a fresh interpreter of its own (`python -c`), since it forks: a test process may have
threads. Each function prints one JSON object for the test that started it.
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import shutil
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from provenance.artifacts import ArtifactStore
from provenance.evidence import EvidenceUnavailable
from provenance.resolver import SourcePointerResolver
from provenance.retention import collecting
from tests.retention.homes import OldHome, later

__all__ = ["collect_together", "die_at_every_call", "race"]

_CALLS = ("open", "write", "fsync", "ftruncate", "unlink", "close")
_NAMES = ("a.txt", "b.txt", "c.txt")


class _Death:
    """Ends the process at the n-th of the watched calls: before it, after it, or half done."""

    def __init__(self, at: int, moment: str) -> None:
        self.left = at
        self.moment = moment

    def watch(self) -> None:
        for name in _CALLS:
            setattr(os, name, self._wrapped(name, getattr(os, name)))
        fcntl.flock = self._wrapped("flock", fcntl.flock)  # type: ignore[assignment]

    def _wrapped(self, name: str, call: Callable[..., object]) -> Callable[..., object]:
        def wrapper(*arguments: object, **names: object) -> object:
            self.left -= 1
            if self.left != 0:
                return call(*arguments, **names)
            if self.moment == "half" and name == "write":
                fd, data = arguments
                call(fd, bytes(data)[: len(bytes(data)) // 2])  # type: ignore[call-overload]
            elif self.moment == "after":
                call(*arguments, **names)
            os._exit(9)

        return wrapper


def die_at_every_call(folder: str) -> None:
    """Let a collection die at each of its calls in turn; what it left must be in order."""
    template = OldHome(Path(folder) / "template")
    for name in _NAMES:
        template.spill(name, f"the text of {name}\n")
    template.state("s.json", template.pointers["b.txt"])
    said = {"deaths": 0, "between": 0}
    for moment in ("before", "half", "after"):
        for at in range(1, 2000):
            home = OldHome(Path(folder) / moment, dict(template.pointers))
            shutil.copytree(template.path, home.path)
            child = os.fork()
            if child == 0:
                _die_removing(_Death(at, moment))
                home.gc(delete=True, now=_after_all())
                os._exit(0)
            lived = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            said["between"] += _check(home)
            shutil.rmtree(home.path)
            if lived:
                break
            said["deaths"] += 1
        else:
            raise AssertionError("the collection never lived to the end")
    print(json.dumps(said))


def _die_removing(death: _Death) -> None:
    """Count calls from where the reading ends."""
    remove = collecting.remove_artifacts

    def watched(*arguments: object, **names: object) -> object:
        death.watch()
        return remove(*arguments, **names)  # type: ignore[arg-type]

    collecting.remove_artifacts = watched  # type: ignore[assignment]


def _after_all() -> datetime:
    """A time of collection after which no file was put back: inodes have times of today."""
    return datetime.now(UTC) + timedelta(days=2)


def _check(home: OldHome) -> bool:
    """Everything that is gone has its line; the next spill and collection put right the rest."""
    ledger = (home.path / "s1/tool-results.jsonl").read_bytes()
    removed = [
        json.loads(line)["filename"]
        for line in ledger.split(b"\n")[:-1]
        if b'"event":"removed"' in line
    ]
    gone = set(_NAMES) - home.files()
    assert gone <= set(removed), f"{gone} gone, {removed} recorded"
    assert home.files() >= {"b.txt"}
    with SourcePointerResolver(home.path, home.path) as resolver:
        for name in _NAMES:
            reason = str(resolver.resolve(home.pointers[name]).reason)
            assert reason == ("removed_by_retention" if name in gone else "verified_artifact")
    # A writer comes next, then a collection: nothing is left over, nothing else is lost.
    with ArtifactStore(home.path, clock=lambda: later(1)) as store:
        again = store.spill("s1", "the text of c.txt\n")
        assert store.read(again.pointer).text == "the text of c.txt\n"
    home.age("s1", again.filename, later(1))
    home.gc(delete=True, now=_after_all())
    assert home.files() == {"b.txt"}
    assert home.events("a.txt") == ["stored", "removed"]
    return bool(set(removed) - gone)


def race(folder: str, *, rounds: int, seed: int) -> None:
    """Collect while writers spill old and new texts, collections among themselves, some killed.

    Each writer spills, checks that what it was given can be read, and cites it in its transcript.
    """
    home = Path(folder) / "home"
    chance = random.Random(seed)
    # Far in the future for what was stored at first, and within the grace for what is stored now.
    now = datetime.now(UTC) + timedelta(hours=12)
    old = OldHome(home)
    for number in range(30):
        old.spill(f"old{number}.txt", f"old text {number}\n")
    writers = [_fork(lambda number=number: _write(home, number, rounds)) for number in range(2)]
    collected = killed = 0
    while writers:
        collector = _fork(lambda: _collect(home, now))
        if chance.randrange(3) == 0:
            for _ in range(chance.randrange(200_000)):
                pass
            os.kill(collector, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(collector, 0)[1])
        assert code in (0, -signal.SIGKILL), code
        collected += code == 0
        killed += code != 0
        for writer in list(writers):
            pid, status = os.waitpid(writer, os.WNOHANG)
            if pid:
                assert os.waitstatus_to_exitcode(status) == 0
                writers.remove(writer)
    promised = 0
    with SourcePointerResolver(home / "transcripts", home) as resolver:
        for path in (home / "transcripts").iterdir():
            for line in path.read_text().splitlines():
                assert resolver.resolve(json.loads(line)["content"]).evidence_sha256, line
                promised += 1
    print(json.dumps({"collected": collected, "killed": killed, "promised": promised}))


def collect_together(folder: str) -> None:
    """Several collections at once: together they remove each artifact once."""
    home = OldHome(Path(folder) / "home")
    for number in range(60):
        home.spill(f"{number}.txt", f"text {number}\n", session=f"s{number % 3}")
    for child in [_fork(lambda: _collect(home.path, later(90))) for _ in range(4)]:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    home.gc(delete=True)  # where each gave way to another
    for number in range(60):
        assert home.events(f"{number}.txt", f"s{number % 3}") == ["stored", "removed"]
    print(json.dumps([sorted(home.files(f"s{number}")) for number in range(3)]))


def _fork(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:  # noqa: BLE001 - a forked child must not return
            import traceback

            traceback.print_exc()
            os._exit(1)
    return child


def _write(home: Path, number: int, rounds: int) -> None:
    from provenance.transcripts import TranscriptWriter

    with (
        ArtifactStore(home) as store,
        TranscriptWriter(home / "transcripts", f"w{number}") as log,
    ):
        for turn in range(rounds):
            # Texts that lie there, old and uncited, and texts of its own.
            text = f"old text {turn % 30}\n" if turn % 2 else f"{number} {turn}\n"
            spilled = store.spill("s1", text)
            try:
                assert store.read(spilled.pointer).text == text
            except EvidenceUnavailable as lost:
                raise AssertionError(f"{spilled.pointer} was promised: {lost}") from None
            log.append({"type": "message", "content": spilled.pointer})


def _collect(home: Path, now: datetime) -> None:
    OldHome(home).gc(delete=True, now=now)
