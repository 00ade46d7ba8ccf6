"""Writers that die: at every system call in turn, and killed from outside at random instants.

Runs in a fresh interpreter of its own (`python -c`), since it forks: a test process may have
threads. Each function prints one JSON object for the test that started it.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from provenance.artifacts import ArtifactStore, LedgerFaultKind, read_ledger
from provenance.artifacts.ledger import LedgerFault
from provenance.fs import TrustedRoot, is_temporary_name
from tests.artifacts.trees import check_session_is_whole, ledger_lines

__all__ = ["die_at_every_call", "kill_at_random", "spill_many"]

_KILLS_A_SESSION = 25
_CALLS = ("mkdir", "open", "write", "fsync", "link", "ftruncate", "unlink", "close")


def _text(number: int) -> str:
    return f"{number}\n" * (200 + number % 7)


def _is_whole(data: bytes) -> bool:
    """Say whether these are all the bytes of one `_text`."""
    number = data.partition(b"\n")[0]
    return data == _text(int(number)).encode()


class _Death:
    """Ends the process at the n-th of the watched calls: before it, after it, or half done."""

    def __init__(self, at: int, moment: str) -> None:
        self.left = at
        self.moment = moment

    def watch(self) -> None:
        for name in _CALLS:
            setattr(os, name, self._wrapped(name, getattr(os, name)))

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


def _visible(home: Path) -> dict[str, bytes]:
    """Everything a reader can see now: only whole artifacts, only whole lines but the last."""
    folder = home / "s1" / "tool-results"
    found = {}
    for path in folder.iterdir() if folder.is_dir() else ():
        if not is_temporary_name(path.name):
            found[path.name] = path.read_bytes()
            assert _is_whole(found[path.name]), f"{path.name} is not whole"
    with TrustedRoot(home) as root:
        for item in read_ledger(root, "s1"):
            if isinstance(item, LedgerFault):
                assert item.kind is LedgerFaultKind.TORN, item
            elif item.event == "stored":
                assert item.filename in found, f"{item.filename} is in the ledger alone"
    return found


def _die(home: Path, at: int, moment: str, *, unnamed: bool) -> bool:
    """Spill one artifact in a process that dies; True where it lived to the end."""
    child = os.fork()
    if child == 0:
        if not unnamed and hasattr(os, "O_TMPFILE"):
            del os.O_TMPFILE
        store = ArtifactStore(home)
        _Death(at, moment).watch()
        store.spill("s1", _text(1), tool="bash", call_id="c1", name="log.txt")
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def die_at_every_call(home: str, *, fresh: bool, unnamed: bool) -> None:
    """Let a writer die at each of its calls in turn, in a store of its own each time."""
    deaths = 0
    visible = 0
    for moment in ("before", "half", "after"):
        for at in range(1, 1000):
            root = Path(home) / moment / str(at)
            if not fresh:
                with ArtifactStore(root) as store:
                    store.spill("s1", _text(0))
            lived = _die(root, at, moment, unnamed=unnamed)
            before = _visible(root)
            visible += "log.txt" in before
            with ArtifactStore(root) as store:
                store.spill("s1", _text(2))
                again = store.spill("s1", _text(1), name="log.txt")
                assert store.read(again.pointer).text == _text(1)
            assert again.filename == "log.txt"
            _discard_young_drafts(root)
            assert len(check_session_is_whole(root)) == (2 if fresh else 3)
            if "log.txt" in before:
                # What is visible was recorded with its notes, or is so now.
                (line,) = [line for line in ledger_lines(root) if line["filename"] == "log.txt"]
                assert (line["tool"], line["call_id"], line["reason"]) == ("bash", "c1", None)
            if lived:
                break
            deaths += 1
        else:
            raise AssertionError("the writer never lived to the end")
    print(json.dumps({"deaths": deaths, "visible": visible}))


def _discard_young_drafts(home: Path) -> None:
    """Draft files of a file system without unnamed ones: they go when they are a day old."""
    for path in (home / "s1" / "tool-results").iterdir():
        if is_temporary_name(path.name):
            assert path.stat().st_nlink == 1, "a published draft keeps its second name"
            path.unlink()


def kill_at_random(home: str, *, kills: int, seed: int) -> None:
    """Kill a writer at random instants, as often as asked; it spills into one session."""
    chance = random.Random(seed)
    totals = Counter({"kills": kills})
    # A session of its own for each few: everything in it is looked at after each kill.
    for batch in range(0, kills, _KILLS_A_SESSION):
        root = Path(home) / str(batch)
        promised: dict[str, int] = {}
        for _ in range(min(_KILLS_A_SESSION, kills - batch)):
            # The number that it died over may be there already.
            _kill_one(root, chance, promised, start=max(promised.values(), default=0) + 2)
            _visible(root)
        with ArtifactStore(root) as store:
            store.spill("s1", _text(10**6))
            totals["artifacts"] += len(check_session_is_whole(root))
            for pointer, number in promised.items():
                assert store.read(pointer).text == _text(number)
        totals["promised"] += len(promised)
        totals["odd"] += sum(line["reason"] is not None for line in ledger_lines(root))
    print(json.dumps(totals))


def _kill_one(root: Path, chance: random.Random, promised: dict[str, int], *, start: int) -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with ArtifactStore(root) as store:
            for number in itertools.count(start):
                spilled = store.spill("s1", _text(number), tool="bash", call_id=str(number))
                os.write(writer, f"{number} {spilled.pointer}\n".encode())
    os.close(writer)
    # Let it spill a few times, then a random bit longer; what that hits is up to chance.
    lines = b""
    for _ in range(chance.randrange(1, 4)):
        lines += os.read(reader, 1 << 16)
    until = time.perf_counter_ns() + chance.randrange(1_500_000)
    while time.perf_counter_ns() < until:
        pass
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while data := os.read(reader, 1 << 16):
        lines += data
    os.close(reader)
    for line in lines.decode().split("\n")[:-1]:
        told, _, pointer = line.partition(" ")
        promised[pointer] = int(told)


def spill_many(home: str, *, worker: int, count: int) -> None:
    """Spill texts of our own and texts that every worker spills; print the pointers."""
    pointers = {}
    with ArtifactStore(home) as store:
        for number in range(count):
            own = worker * 1000 + number
            pointers[store.spill("s1", _text(own), call_id=f"{worker}").pointer] = own
            shared = 10**6 + number
            pointers[store.spill("s1", _text(shared), name=f"shared {number}").pointer] = shared
            third = 2 * 10**6 + own
            pointers[store.spill("s1", _text(third), name="one name").pointer] = third
        # A store of a parent that forked works in both: no lock of theirs is shared.
        child = os.fork()
        spilled = store.spill("s1", _text(3 * 10**6 + worker * 2 + (child == 0)))
        if child == 0:
            os._exit(0 if spilled.bytes else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for pointer, number in pointers.items():
        assert ArtifactStore(home).read(pointer).text == _text(number)
    print(json.dumps(pointers))
