"""`kill -9` at random moments of the durable writes: whole or not at all, and nothing overwritten.

Runs in a fresh interpreter of its own (`python -c`), since it forks hundreds of times: a test
process may have threads, and its memory is large to copy. The moment is chosen by counting what the
victim has done, plus a random number of turns of an idle loop: nothing here is timed.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from pathlib import Path

from provenance.fs import TrustedRoot, atomic_write, is_temporary_name

__all__ = [
    "a_log_holds_whole_lines_and_at_its_end_the_beginning_of_one",
    "a_published_file_is_whole_or_not_there",
    "an_output_is_the_old_or_the_new_one",
    "killed_at_random",
]

_KILLS = 150


def killed_at_random(work: Callable[[], None], choice: random.Random) -> None:
    """Let a child do `work` again and again, saying so each time, and kill it in the midst."""
    said, say = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(said)
            while True:
                work()
                os.write(say, b".")
        finally:
            os._exit(1)
    os.close(say)
    for _ in range(choice.randrange(4)):
        assert os.read(said, 1) == b"."
    for _ in range(choice.randrange(20_000)):
        pass
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(said)
    assert os.WIFSIGNALED(status), "the child ended by itself"


def an_output_is_the_old_or_the_new_one(place: Path) -> None:
    """Replace a report again and again."""
    path = place / "report"
    versions = [b"a" * 300_000, b"b" * 300_001]
    atomic_write(path, versions[0])
    path.chmod(0o640)
    choice = random.Random(1)
    seen = set()
    for _ in range(_KILLS):
        turn = iter(range(10**9))
        killed_at_random(lambda turn=turn: atomic_write(path, versions[next(turn) % 2]), choice)
        data = path.read_bytes()
        assert data in versions
        assert path.stat().st_mode & 0o777 == 0o640
        seen.add(data)
        assert all(is_temporary_name(name) or name == "report" for name in os.listdir(place))
    assert len(seen) == 2


def a_published_file_is_whole_or_not_there(place: Path, *, named: bool) -> None:
    """Publish with drafts that have a name, or with such as have none."""
    if named:
        os.O_TMPFILE = 0
    data = bytes(range(256)) * 1000
    choice = random.Random(2)
    (place / "root").mkdir()
    for number in range(_KILLS):
        turn = iter(range(10**9))

        def publish(number: int = number, turn: object = turn) -> None:
            with TrustedRoot(place / "root") as root, root.open_directory() as folder:
                name = f"f{number}-{next(turn)}"  # type: ignore[call-overload]
                folder.publish(name, (data[:1000], data[1000:]))

        killed_at_random(publish, choice)
        published = [name for name in os.listdir(place / "root") if not is_temporary_name(name)]
        for name in published:
            assert (place / "root" / name).read_bytes() == data
            (place / "root" / name).unlink()
    left = os.listdir(place / "root")
    assert all(is_temporary_name(name) for name in left)
    assert named or not left  # what never had a name leaves nothing


def a_log_holds_whole_lines_and_at_its_end_the_beginning_of_one(place: Path) -> None:
    """Append to a log, and look for where it was cut."""
    line = bytes(range(11, 256)) * 40 + b"\n"
    path = place / "log"
    path.touch()
    choice = random.Random(3)
    before = 0

    def append() -> None:
        with (
            TrustedRoot(place) as root,
            root.open_directory() as folder,
            folder.open_append("log") as log,
            log.lock(),
        ):
            log.append(line)

    for _ in range(_KILLS):
        killed_at_random(append, choice)
        size = path.stat().st_size
        assert size >= before
        # The kernel may stop in the midst of a write that spans pages; whoever appends next has to
        # look (the transcript's writer refuses, the store's ledger is cut), as is done here.
        whole = size // len(line)
        assert path.read_bytes()[before:] == (line * (whole + 1))[before:size]
        before = whole * len(line)
        os.truncate(path, before)
    append()  # and no lock was left
    assert path.stat().st_size == before + len(line)
