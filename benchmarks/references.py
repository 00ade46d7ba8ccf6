"""What the same work costs in plain Python: the peers that have no program of their own.

Guarantees: each does what its row says and no more, written the way an experienced person would
write it by hand, without a trick that the row's text does not name.

Example:
    digest = check_transcript_strictly(path, "s1", cited_every=10)
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

__all__ = [
    "check_transcript_strictly",
    "count_json_lines",
    "hash_file",
    "spill_by_hand",
    "verify_artifacts_by_hand",
]

_MAX_RECORD_BYTES = 1 << 20
_BOM = "\ufeff"


def check_transcript_strictly(path: Path, session_id: str, *, cited_every: int) -> str:
    """Check every record with the standard library and hash the cited ones.

    A record is within the limit, UTF-8, JSON without NaN, Infinity, BOM or duplicate keys, an
    object whose envelope is right. Cited are every `cited_every`-th event and the last one.

    Returns:
        SHA-256 over the SHA-256 digests of the cited records, each in order.
    """
    loads = json.loads
    evidence = hashlib.sha256()
    prefix = f"transcript:{session_id}:"
    number = 0
    last = b""
    with path.open("rb") as file:
        while line := file.readline(_MAX_RECORD_BYTES + 2):
            number += 1
            if line[-1] != 0x0A:
                raise ValueError(f"line {number}: torn or too long")
            text = line.decode()
            if text[0] == _BOM:
                raise ValueError(f"line {number}: BOM")
            record = loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
            if type(record) is not dict:
                raise ValueError(f"line {number}: not an object")
            sequence = record["sequence"]
            if type(sequence) is not int or sequence != number:
                raise ValueError(f"line {number}: sequence")
            if record["session_id"] != session_id:
                raise ValueError(f"line {number}: session_id")
            if record["event_id"] != f"{prefix}{number}":
                raise ValueError(f"line {number}: event_id")
            if record["schema_version"] != 1:
                raise ValueError(f"line {number}: schema_version")
            if datetime.fromisoformat(record["recorded_at"]).tzinfo is None:
                raise ValueError(f"line {number}: recorded_at")
            if number % cited_every == 0:
                evidence.update(hashlib.sha256(line.rstrip(b"\r\n")).digest())
            last = line
    if number % cited_every:
        evidence.update(hashlib.sha256(last.rstrip(b"\r\n")).digest())
    return evidence.hexdigest()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("duplicate key")
    return record


def _refuse_constant(word: str) -> None:
    raise ValueError(f"not JSON: {word}")


def count_json_lines(root: Path) -> int:
    """Parse each line of each `.jsonl` below a folder, and forget it. Gives the lines."""
    loads = json.loads
    count = 0
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".jsonl"):
                with open(f"{folder}/{name}", "rb") as file:
                    for line in file:
                        loads(line)
                        count += 1
    return count


def hash_file(path: Path) -> str:
    """Hash one file the way the standard library offers it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def verify_artifacts_by_hand(root: Path, items: Iterable[tuple[str, str, str]]) -> int:
    """Open, size, read and hash each (folder, name, digest); no guard. Gives the matches."""
    sha256 = hashlib.sha256
    matches = 0
    for folder, name, digest in items:
        fd = os.open(f"{root}/{folder}/{name}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            content = os.read(fd, os.fstat(fd).st_size)
        finally:
            os.close(fd)
        matches += sha256(content).hexdigest() == digest
    return matches


def spill_by_hand(folder: Path, contents: Iterable[bytes]) -> int:
    """Publish each content: write, fsync, link, fsync of the directory. Gives the count.

    The bytes go to an unnamed file where the system has them, else to a temporary name.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    unnamed = getattr(os, "O_TMPFILE", None)
    count = 0
    try:
        for content in contents:
            count += 1
            name = f"tool_result_{count:03d}.txt"
            if unnamed is None:
                _publish_named(directory, name, content)
            else:
                _publish_unnamed(directory, name, content, flags=unnamed | os.O_WRONLY)
            os.fsync(directory)
    finally:
        os.close(directory)
    return count


def _publish_unnamed(directory: int, name: str, content: bytes, *, flags: int) -> None:
    fd = os.open(".", flags | os.O_CLOEXEC, 0o600, dir_fd=directory)
    try:
        os.write(fd, content)
        os.fsync(fd)
        os.link(f"/proc/self/fd/{fd}", name, dst_dir_fd=directory, follow_symlinks=True)
    finally:
        os.close(fd)


def _publish_named(directory: int, name: str, content: bytes) -> None:
    temporary = f".{name}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    fd = os.open(temporary, flags, 0o600, dir_fd=directory)
    try:
        os.write(fd, content)
        os.fsync(fd)
    finally:
        os.close(fd)
    os.link(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    os.unlink(temporary, dir_fd=directory)
