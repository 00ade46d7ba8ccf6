"""A state home in which something else stands in every place where evidence belongs.

Guarantees: `build` says for each pointer which reason is right. Whatever lies outside the roots
holds the word in `SECRET`, and what is inside does not.

Example:
    >>> SECRET in outside_text()
    True
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

from tests.trees import is_root, pointer_of, transcript_line, write_artifact, write_transcript

__all__ = ["SECRET", "build", "outside_text", "snapshot"]

SECRET = "kept-from-you"

Maker = Callable[[Path], None]


def outside_text() -> str:
    """What every file outside the roots says."""
    return f"outside, {SECRET}"


def build(home: Path) -> dict[str, str]:
    """Build the home; gives the right reason for each pointer.

    Below `home` there are `transcripts`, `artifacts` and `outside`.
    """
    transcripts, artifacts, outside = (
        home / name for name in ("transcripts", "artifacts", "outside")
    )
    secret = outside_text().encode()
    expected: dict[str, str] = {}
    write_artifact(outside, "double", "log.txt", secret)
    (outside / "double.jsonl").write_bytes(transcript_line("double", 1, content=SECRET) + b"\n")

    # What is as it should be, and what is plainly not there.
    for event in write_transcript(transcripts, "good", 3):
        expected[event] = "verified_transcript_event"
    expected[write_artifact(artifacts, "good", "log.txt", b"good")] = "verified_artifact"
    expected[write_artifact(artifacts, "good", "Log.txt", b"Good")] = "verified_artifact"
    expected[write_artifact(artifacts, "good", "x" * 200, b"long name")] = "verified_artifact"
    expected["transcript:good:4"] = "transcript_event_missing"
    expected["transcript:Good:1"] = "transcript_missing"
    expected["transcript:nobody:1"] = "transcript_missing"
    expected[pointer_of("good", "LOG.txt", b"good")] = "artifact_missing"
    expected[pointer_of("Good", "log.txt", b"good")] = "artifact_missing"
    expected[pointer_of("good", "log.txt", b"other")] = "artifact_digest_mismatch"
    expected[pointer_of("transcripts", "log.txt", b"x")] = "ownership_boundary"
    (artifacts / "no-folder").mkdir()
    expected[pointer_of("no-folder", "log.txt", b"x")] = "artifact_missing"
    (artifacts / "no-file" / "tool-results").mkdir(parents=True)
    expected[pointer_of("no-file", "log.txt", b"x")] = "artifact_missing"
    (artifacts / "file").write_bytes(b"where a folder belongs")
    expected[pointer_of("file", "log.txt", b"x")] = "artifact_missing"
    (artifacts / "half").mkdir()
    (artifacts / "half" / "tool-results").write_bytes(b"where a folder belongs")
    expected[pointer_of("half", "log.txt", b"x")] = "artifact_missing"

    for kind, (double, make) in _links(home).items():
        for component in ("session", "folder", "file"):
            session = f"{kind}.{component}"
            place = _place(artifacts, session, component)
            make(place, double[component])
            expected[pointer_of(session, "log.txt", secret)] = "ownership_boundary"
            expected[f"artifact:{session}:log.txt:{'0' * 12}"] = "ownership_boundary"
        session = f"{kind}.transcript"
        make(transcripts / f"{session}.jsonl", double["transcript"])
        expected[f"transcript:{session}:1"] = "ownership_boundary"

    for kind, other in _others().items():
        for component in ("session", "folder", "file"):
            session = f"{kind}.{component}"
            place = _place(artifacts, session, component)
            if kind == "directory" and component != "file":
                continue
            other(place)
            reason = "artifact_not_a_file" if component == "file" else "artifact_missing"
            expected[pointer_of(session, "log.txt", b"")] = reason
        other(transcripts / f"{kind}.jsonl")
        expected[f"transcript:{kind}:1"] = "transcript_not_a_file"
    return expected


def _place(artifacts: Path, session: str, component: str) -> Path:
    """Make what stands before a component; give the component's own path."""
    place = artifacts / session
    if component == "session":
        return place
    place = place / "tool-results"
    if component == "file":
        place.mkdir(parents=True)
        return place / "log.txt"
    place.parent.mkdir()
    return place


def _links(home: Path) -> dict[str, tuple[dict[str, Path], Callable[[Path, Path], None]]]:
    """Kinds of links: what they lead to for each component, and how they are made."""

    def below(folder: Path, session: str) -> dict[str, Path]:
        return {
            "session": folder / session,
            "folder": folder / session / "tool-results",
            "file": folder / session / "tool-results" / "log.txt",
            "transcript": folder / f"{session}.jsonl",
        }

    outside = below(home / "outside", "double")
    sibling = below(home / "artifacts", "good") | {
        "transcript": home / "transcripts" / "good.jsonl"
    }

    def absolute(place: Path, target: Path) -> None:
        place.symlink_to(target)

    def relative(place: Path, target: Path) -> None:
        place.symlink_to(os.path.relpath(target, place.parent))

    def slash(place: Path, target: Path) -> None:
        place.symlink_to(f"{target}/" if target.is_dir() else target)

    def chain(place: Path, target: Path) -> None:
        (home / "outside" / f"to-{place.parent.name}-{place.name}").symlink_to(target)
        place.symlink_to(home / "outside" / f"to-{place.parent.name}-{place.name}")

    def through_proc(place: Path, target: Path) -> None:
        place.symlink_to(f"/proc/self/root{target}")

    def fixed(text: str) -> Callable[[Path, Path], None]:
        return lambda place, target: place.symlink_to(text)

    def itself(place: Path, target: Path) -> None:
        place.symlink_to(place.name)

    return {
        "absolute": (outside, absolute),
        "relative": (outside, relative),
        "slash": (outside, slash),
        "chain": (outside, chain),
        "proc-root": (outside, through_proc),
        "sibling": (sibling, relative),
        "dangling": (outside, fixed("nothing-of-that-name")),
        "itself": (outside, itself),
        "here": (outside, fixed(".")),
        "up": (outside, fixed("..")),
        "far-up": (outside, fixed("../" * 40 + "etc")),
        "proc-cwd": (outside, fixed("/proc/self/cwd")),
        "proc-exe": (outside, fixed("/proc/self/exe")),
        "proc-fd": (outside, fixed("/proc/self/fd/0")),
        "empty-name": (outside, fixed("/")),
    }


def _others() -> dict[str, Maker]:
    """What is neither link nor regular file."""

    def bind_socket(place: Path) -> None:
        # Bound by a short relative name: the address of a socket holds 107 bytes only.
        before = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
        os.chdir(place.parent)
        try:
            with socket.socket(socket.AF_UNIX) as bound:
                bound.bind(place.name)
        finally:
            os.fchdir(before)
            os.close(before)

    def device(kind: int, major: int, minor: int) -> Maker:
        return lambda place: os.mknod(place, kind | 0o666, os.makedev(major, minor))

    others: dict[str, Maker] = {"fifo": os.mkfifo, "socket": bind_socket, "directory": os.mkdir}
    if is_root():
        others |= {
            "null": device(stat.S_IFCHR, 1, 3),
            "zero": device(stat.S_IFCHR, 1, 5),
            "no-char-device": device(stat.S_IFCHR, 250, 77),
            "no-block-device": device(stat.S_IFBLK, 250, 77),
        }
    return others


def snapshot(home: Path) -> dict[str, tuple[int, ...]]:
    """Everything below a folder, with its facts; equal snapshots mean that nothing was written."""
    facts = {}
    for folder, folders, files in os.walk(home):
        for name in (*folders, *files):
            found = os.lstat(os.path.join(folder, name))
            facts[os.path.join(folder, name)] = (
                found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns,
            )  # fmt: skip
    return facts
