"""A session's folder: what a dead writer leaves is put right, and writers never collide."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from provenance.artifacts import ArtifactStore, StoreWriteError
from provenance.artifacts.ledger import LEDGER_NAME
from tests.artifacts.trees import artifacts_in, check_session_is_whole, ledger_lines, ledger_of
from tests.trees import CHECKOUT, run_python

# How often a writer is killed here; CTXAUDIT_TEST_KILLS asks for more.
_KILLS = int(os.environ.get("CTXAUDIT_TEST_KILLS", "250"))


def test_a_spill_reads_no_more_of_the_ledger_than_is_new(
    store: ArtifactStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(50):
        store.spill("s1", f"text {number}")
    read = 0
    true_pread = os.pread

    def counting(fd: int, size: int, offset: int) -> bytes:
        nonlocal read
        data = true_pread(fd, size, offset)
        read += len(data)
        return data

    monkeypatch.setattr(os, "pread", counting)
    listed = 0
    true_scandir = os.scandir

    def listing(*arguments: int) -> object:
        nonlocal listed
        listed += 1
        return true_scandir(*arguments)

    monkeypatch.setattr(os, "scandir", listing)
    for number in range(50, 60):
        store.spill("s1", f"text {number}")
    assert (read, listed) == (0, 0)
    with ArtifactStore(home) as another:
        another.spill("s1", "of another")
    size = len(ledger_of(home).read_bytes().splitlines()[-1]) + 1
    read = listed = 0
    store.spill("s1", "after another")
    assert (read, listed) == (size, 0)


class _Order:
    """Notes every fsync and link, in order, by the name of what it is about."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        if not os.path.isdir("/proc/self/fd"):
            pytest.skip("no /proc: what is synced cannot be named")
        self.noted: list[str] = []
        true_fsync, true_link = os.fsync, os.link

        def fsync(fd: int) -> None:
            name = os.path.basename(os.readlink(f"/proc/self/fd/{fd}"))
            known = name in ("tool-results", LEDGER_NAME)
            self.noted.append(f"fsync {name}" if known else "fsync bytes")
            true_fsync(fd)

        def link(source: str, name: str, **options: Any) -> None:
            true_link(source, name, **options)
            self.noted.append(f"link {name}")

        monkeypatch.setattr(os, "fsync", fsync)
        monkeypatch.setattr(os, "link", link)


def test_bytes_are_on_the_disk_before_they_have_a_name_and_the_name_before_it_is_told(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ArtifactStore(home) as store:
        store.spill("s1", "first")
        order = _Order(monkeypatch)
        name = store.spill("s1", "second").filename
        assert order.noted == ["fsync bytes", f"link {name}", "fsync tool-results"]
        del order.noted[:]
        # A repeat makes sure of what another writer may not have come to.
        store.spill("s1", "second")
        assert order.noted == [f"fsync {LEDGER_NAME}", "fsync tool-results"]
        store.spill("s1", "third")
        del order.noted[:]
    assert order.noted == [f"fsync {LEDGER_NAME}"]


@pytest.mark.attack
@pytest.mark.parametrize("fresh", [True, False], ids=["fresh", "used"])
@pytest.mark.parametrize("unnamed", [True, False], ids=["unnamed", "named"])
def test_a_writer_that_dies_at_any_call_leaves_what_can_be_put_right(
    tmp_path: Path, fresh: bool, unnamed: bool
) -> None:
    done = run_python(
        "import sys; from tests.artifacts.crashes import die_at_every_call\n"
        f"die_at_every_call(sys.argv[1], fresh={fresh}, unnamed={unnamed})",
        tmp_path,
    )
    result = json.loads(done.stdout)
    assert result["deaths"] > 30
    assert result["visible"] > 3


@pytest.mark.attack
def test_a_writer_killed_at_random_breaks_no_promise(tmp_path: Path) -> None:
    done = run_python(
        "import sys; from tests.artifacts.crashes import kill_at_random\n"
        f"kill_at_random(sys.argv[1], kills={_KILLS}, seed={os.getpid()})",
        tmp_path / "home",
    )
    result = json.loads(done.stdout)
    assert result["promised"] >= _KILLS
    assert result["artifacts"] >= result["promised"]
    # A death, unlike a power failure, costs no note.
    assert result["odd"] == 0


@pytest.mark.attack
def test_eight_writers_never_collide(home: Path) -> None:
    script = (
        "import sys; from tests.artifacts.crashes import spill_many\n"
        "spill_many(sys.argv[1], worker=int(sys.argv[2]), count=25)"
    )
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(home), str(number)],
            cwd="/",
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(8)
    ]
    outputs = [worker.communicate(timeout=300) for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 8, outputs
    told = [json.loads(output) for output, _ in outputs]
    artifacts = check_session_is_whole(home)
    # Own texts, texts under one name, shared ones once, and one of each process that forked.
    assert len(artifacts) == 8 * 25 + 8 * 25 + 25 + 16
    assert len({pointer for pointers in told for pointer in pointers}) == 8 * 50 + 25
    numbers = sorted(name for name in artifacts if name.startswith("tool_result_"))
    assert numbers == [f"tool_result_{number:03d}.txt" for number in range(1, 217)]
    with ArtifactStore(home) as store:
        for pointers in told:
            for pointer, number in pointers.items():
                assert store.read(pointer).text.startswith(f"{number}\n")
    stored = Counter(line["filename"] for line in ledger_lines(home))
    assert set(stored.values()) == {1}


@pytest.mark.attack
def test_a_full_disk_breaks_nothing_and_loses_nothing(small_disk: Path) -> None:
    home = small_disk / "home"
    kept = {}
    with ArtifactStore(home) as store:
        for number in range(100):
            text = f"{number}\n" * 20_000
            try:
                kept[store.spill("s1", text).pointer] = text
            except StoreWriteError as error:
                assert error.errno in (28, 122)  # noqa: PT017 - a disk may also have a quota
                break
        else:
            pytest.fail("the disk never was full")
        assert kept
        for name in ("log.txt", None):
            with pytest.raises(StoreWriteError):
                store.spill("s1", text, name=name)
            with pytest.raises(StoreWriteError):
                store.spill_stream("s1", [text.encode()], name=name)
        assert {data.decode() for data in artifacts_in(home).values()} == set(kept.values())
        for pointer, text in kept.items():
            assert store.read(pointer, limit=10**6).text == text
        # Fill the last bytes too: now not even a ledger line has room.
        with (small_disk / "filler").open("wb", buffering=0) as filler:
            try:
                while filler.write(b"x" * 4096):
                    pass
            except OSError:
                pass
        with pytest.raises(StoreWriteError):
            store.spill("s1", "a new artifact\n" * 1000)
        (small_disk / "filler").unlink()
        assert store.spill("s1", "there is room again").bytes == 19
    check_session_is_whole(home)
