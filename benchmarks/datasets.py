"""Generates the files that are measured, from a fixed seed.

Guarantees: the same sizes give the same bytes on every machine; files stand where the resolver
looks for them; what was written has left for the disk before a clock starts.

Example:
    pointer = write_big_artifact(root, "s1", text=ASCII, size=1 << 30)
"""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

__all__ = [
    "ASCII",
    "CHINESE",
    "EVENT_BYTES",
    "SMALL_ARTIFACT_BYTES",
    "TRANSCRIPT_SESSION",
    "SmallArtifacts",
    "write_big_artifact",
    "write_pointers",
    "write_small_artifacts",
    "write_transcript",
]

ASCII = "ascii"
CHINESE = "chinese"
EVENT_BYTES = 328
SMALL_ARTIFACT_BYTES = 4096
TRANSCRIPT_SESSION = "bench-transcript"

_SEED = 20_260_129
_BLOCK = 1 << 20
# Blocks differ in a serial number of this length: 17 digits and a line end, six characters of
# Chinese text.
_SERIAL_BYTES = 18
_ARTIFACTS_A_SESSION = 1000
_FIRST_EVENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp()


@dataclass(frozen=True, slots=True)
class SmallArtifacts:
    """Many artifacts and the lists that each contestant wants of them.

    Attributes:
        root: the artifact root.
        pointers: file of one pointer a line.
        floor_manifest: `FOLDER NAME HEX` lines for the C floor.
        sha256sum_manifest: for `sha256sum -c` and rhash, relative to `root`.
        hashdeep_manifest: for `hashdeep -k`, relative to `root`.
    """

    root: Path
    pointers: Path
    floor_manifest: Path
    sha256sum_manifest: Path
    hashdeep_manifest: Path


def write_big_artifact(root: Path, session_id: str, *, text: str, size: int) -> tuple[Path, str]:
    """Write one artifact of `size` bytes (a multiple of 1 MiB); gives its path and pointer."""
    folder = root / session_id / "tool-results"
    folder.mkdir(mode=0o700, parents=True)
    path = folder / "tool_result_001.txt"
    block = _chinese_block() if text == CHINESE else _ascii_block()
    digest = hashlib.sha256()
    with open(path, "wb", opener=_private) as file:
        for serial in range(size // _BLOCK):
            piece = b"%017d\n" % serial + block[_SERIAL_BYTES:]
            digest.update(piece)
            file.write(piece)
    os.sync()
    return path, f"artifact:{session_id}:{path.name}:{digest.hexdigest()}"


def write_small_artifacts(folder: Path, *, count: int) -> SmallArtifacts:
    """Write `count` artifacts of 4 KiB, 1,000 a session, each with bytes of its own."""
    root = folder / "artifacts"
    lists = SmallArtifacts(
        root,
        folder / "pointers.txt",
        folder / "floor.txt",
        folder / "sha256sum.txt",
        folder / "hashdeep.txt",
    )
    block = _ascii_block()
    with (
        lists.pointers.open("w") as pointers,
        lists.floor_manifest.open("w") as floor,
        lists.sha256sum_manifest.open("w") as sums,
        lists.hashdeep_manifest.open("w") as known,
    ):
        known.write("%%%% HASHDEEP-1.0\n%%%% size,sha256,filename\n")
        for index in range(count):
            session_id = f"bench-{index // _ARTIFACTS_A_SESSION:05d}"
            target = root / session_id / "tool-results"
            if index % _ARTIFACTS_A_SESSION == 0:
                target.mkdir(mode=0o700, parents=True)
            name = f"tool_result_{index % _ARTIFACTS_A_SESSION + 1:03d}.txt"
            start = index * 61 % (_BLOCK - SMALL_ARTIFACT_BYTES)
            content = b"%017d\n" % index + block[start : start + SMALL_ARTIFACT_BYTES - 18]
            with open(target / name, "wb", opener=_private) as file:
                file.write(content)
            digest = hashlib.sha256(content).hexdigest()
            place = f"{session_id}/tool-results"
            pointers.write(f"artifact:{session_id}:{name}:{digest}\n")
            floor.write(f"{place} {name} {digest}\n")
            sums.write(f"{digest}  {place}/{name}\n")
            known.write(f"{SMALL_ARTIFACT_BYTES},{digest},./{place}/{name}\n")
    os.sync()
    return lists


def write_transcript(root: Path, *, events: int) -> Path:
    """Write the transcript of `TRANSCRIPT_SESSION`: `events` lines of 328 bytes, end included."""
    root.mkdir(parents=True, exist_ok=True)
    path = root / f"{TRANSCRIPT_SESSION}.jsonl"
    with open(path, "wb", buffering=_BLOCK, opener=_private) as file:
        file.writelines(_lines(events))
    os.sync()
    return path


def write_pointers(path: Path, pointers: Iterable[str]) -> Path:
    """Write one pointer a line."""
    with path.open("w") as file:
        file.writelines(f"{pointer}\n" for pointer in pointers)
    return path


def _lines(events: int) -> Iterator[bytes]:
    """Make envelope lines as the writer does (sorted keys, compact, non-ASCII kept).

    Every third event is a message, a call or its result; one in twenty holds non-ASCII text, so
    that nearly every block does.
    """
    rng = random.Random(_SEED)
    filler = "".join(rng.choices(_LETTERS, k=_BLOCK)).replace("\n", " ")
    for sequence in range(1, events + 1):
        moment = datetime.fromtimestamp(_FIRST_EVENT + sequence, UTC).isoformat()
        recorded = moment.replace("+00:00", "Z")
        words = "naïve 中文 \\n" if sequence % 20 == 0 else 'said \\"yes\\"\\n'
        envelope = (
            f'"event_id":"transcript:{TRANSCRIPT_SESSION}:{sequence}",'
            f'{{0}}"recorded_at":"{recorded}",{{1}}"schema_version":1,'
            f'"sequence":{sequence},"session_id":"{TRANSCRIPT_SESSION}",'
        )
        kind = sequence % 3
        if kind == 0:
            head = f'{{"content":"{words}'
            tail = '",' + envelope.format("", '"role":"user",') + '"type":"message"}\n'
        elif kind == 1:
            head = f'{{"arguments":{{"depth":[1,2.5,null],"path":"{words}'
            rest = f'"}},"call_id":"call-{sequence}",'
            tail = rest + envelope.format('"name":"grep",', "") + '"type":"function_call"}\n'
        else:
            head = f'{{"call_id":"call-{sequence - 1}","content":"{words}'
            tail = '",' + envelope.format("", "") + '"type":"function_call_result"}\n'
        start = sequence * 37 % (_BLOCK - EVENT_BYTES)
        first, last = head.encode(), tail.encode()
        padding = filler[start : start + EVENT_BYTES - len(first) - len(last)]
        yield first + padding.encode() + last


_LETTERS = "abcdefghijklmnopqrstuvwxyz    0123456789.,/_-\n"
_PUNCTUATION = "\uff0c\u3002\u3001\uff1b"


def _ascii_block() -> bytes:
    rng = random.Random(_SEED)
    return "".join(rng.choices(_LETTERS, k=_BLOCK)).encode()


def _chinese_block() -> bytes:
    """Make 1 MiB of lines of 40 ideographs with punctuation, cut at a character."""
    rng = random.Random(_SEED)
    letters = [chr(code) for code in range(0x4E00, 0x9FA6)]
    lines: list[bytes] = []
    size = 0
    while True:
        line = "".join(rng.choices(letters, k=40)) + rng.choice(_PUNCTUATION) + "\n"
        encoded = line.encode()
        if size + len(encoded) > _BLOCK:
            return b"".join(lines) + b"." * (_BLOCK - size)
        lines.append(encoded)
        size += len(encoded)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
