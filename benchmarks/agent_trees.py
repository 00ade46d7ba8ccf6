"""Generates trees of other agents' transcripts: many files, few of them large.

Guarantees: the same sizes give the same bytes on every machine. The first folder of a Claude Code
tree holds a tenth of the files with the largest among them, and is a tree by itself. What was
written has left for the disk before a clock starts.

Example:
    tree = write_projects(folder / "projects", files=200, size=100_000_000)
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.agent_records import SEED, Ids, RolloutWriter, SessionWriter, Texts

__all__ = ["FOLDERS", "AgentTree", "Session", "write_projects", "write_records", "write_rollouts"]

FOLDERS = 10

# Of the logarithm of a file's size: the largest of 10,000 is some 50 times the mean.
_SKEW = 1.3
# One file in so many is of a sub-agent of the session before it.
_FILES_A_SUBAGENT = 8
_BUFFER = 1 << 20


@dataclass(frozen=True, slots=True)
class Session:
    """One session of a tree.

    Attributes:
        name: as a pointer names it.
        records: how many its file holds.
    """

    name: str
    records: int


@dataclass(frozen=True, slots=True)
class AgentTree:
    """A tree that was written.

    Attributes:
        root: its folder.
        files: how many transcripts it holds.
        size: their bytes.
        records: their records.
        first_folder: holds a tenth of the files.
        first_sessions: those in it; without sub-agents.
    """

    root: Path
    files: int
    size: int
    records: int
    first_folder: Path
    first_sessions: Sequence[Session]


def write_projects(root: Path, *, files: int, size: int) -> AgentTree:
    """Write a tree like `~/.claude/projects`, of `files` files and about `size` bytes."""
    ids, texts = Ids(), Texts()
    sizes = _skewed(files, size)
    first: list[Session] = []
    total = records = 0
    folders = [root / f"-home-user-project-{number:02d}" for number in range(FOLDERS)]
    for number, folder in enumerate(folders):
        folder.mkdir(mode=0o700, parents=True)
        session = b""
        # Dealt out by size, so that every folder has large files and small ones.
        for index, wanted in enumerate(sizes[number::FOLDERS]):
            agent = None
            if index % _FILES_A_SUBAGENT == _FILES_A_SUBAGENT - 1:
                agent = ids.short()[:8]
                below = folder / session.decode() / "subagents"
                below.mkdir(mode=0o700, parents=True)
                path = below / f"agent-{agent.decode()}.jsonl"
            else:
                session = ids.uuid()
                path = folder / f"{session.decode()}.jsonl"
            writer = SessionWriter(ids, texts, session=session, agent=agent)
            written, count = _write_file(path, writer.turns(), size=wanted)
            total, records = total + written, records + count
            if number == 0 and agent is None:
                first.append(Session(session.decode(), count))
    os.sync()
    return AgentTree(root, files, total, records, folders[0], tuple(first))


def write_rollouts(root: Path, *, files: int, size: int) -> AgentTree:
    """Write a tree like `~/.codex/sessions`, of `files` rollouts and about `size` bytes."""
    ids, texts = Ids(), Texts()
    total = records = 0
    for index, wanted in enumerate(_skewed(files, size)):
        day = index % 28 + 1
        folder = root / "2026" / f"{index // 28 % 12 + 1:02d}" / f"{day:02d}"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        session = ids.uuid()
        path = folder / f"rollout-2026-01-{day:02d}T10-00-00-{session.decode()}.jsonl"
        writer = RolloutWriter(ids, texts, session=session)
        written, count = _write_file(path, writer.turns(), size=wanted)
        total, records = total + written, records + count
    os.sync()
    return AgentTree(root, files, total, records, root, ())


def write_records(root: Path, *, records: int) -> Path:
    """Write one session of Claude Code with exactly so many records; its folder."""
    root.mkdir(mode=0o700, parents=True)
    ids = Ids()
    session = ids.uuid()
    writer = SessionWriter(ids, Texts(), session=session, agent=None)
    _write_file(root / f"{session.decode()}.jsonl", writer.turns(), records=records)
    os.sync()
    return root


def _skewed(count: int, total: int) -> list[int]:
    """Give sizes that sum up to about `total`, the largest first."""
    rng = random.Random(SEED)
    shares = sorted((rng.lognormvariate(0, _SKEW) for _ in range(count)), reverse=True)
    unit = total / sum(shares)
    return [int(share * unit) for share in shares]


def _write_file(
    path: Path,
    turns: Iterable[list[bytes]],
    *,
    size: int | None = None,
    records: int | None = None,
) -> tuple[int, int]:
    """Write lines until a size or a number of them is reached; the bytes and lines written."""
    written = count = 0
    with open(path, "wb", buffering=_BUFFER, opener=_private) as file:
        for line in _lines(turns):
            file.write(line)
            written += len(line)
            count += 1
            if (size is not None and written >= size) or count == records:
                break
    return written, count


def _lines(turns: Iterable[list[bytes]]) -> Iterator[bytes]:
    for lines in turns:
        yield from lines


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
