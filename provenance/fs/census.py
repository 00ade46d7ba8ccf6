"""Counts what lies below a root and who may alter it, without opening more than folders.

Guarantees: nothing is followed, nothing is written. The walk is bounded in entries and depth, and
says where it stopped. Of each kind of thing the first places are kept and all are counted, so
memory does not grow with the tree.

Example:
    >>> from provenance.fs.root import TrustedRoot
    >>> take_census(TrustedRoot("/nowhere")).entries
    0
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from provenance.fs.directory import Directory, Entry
from provenance.fs.failures import FILE_FAILURES, BoundaryRefused, SourceAbsent
from provenance.fs.reading import FileFacts
from provenance.fs.root import TrustedRoot

__all__ = ["MOST_ENTRIES", "Census", "Places", "open_keys_in", "take_census"]

MOST_ENTRIES = 250_000
"""So many entries are looked at: some ten seconds on a slow disk. More are counted as not seen."""

_MOST_LEVELS = 64
_SHOWN = 5
# A private key in the note format of C2SP, in PEM, of OpenSSH; as long as that is asked for.
_is_private_key = re.compile(rb"PRIVATE\+KEY\+|-----BEGIN [A-Z ]*PRIVATE KEY-----").match
_MOST_KEY_BYTES = 1 << 14
_LARGEST_MODE_OF_A_KEY = 0o600
# Keys lie in small folders; a large one beside a root is somebody's home.
_MOST_BESIDE = 1_000
# Of a log, so much of the end is read for the newest time in it.
_TAIL_BYTES = 1 << 16
_times = re.compile(rb'"recorded_at" ?: ?"([0-9T:.+Z-]{20,40})"').findall


@dataclass(slots=True)
class Places:
    """How many there are of something, and the first of them by name."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, names: tuple[str, ...]) -> None:
        """Count one more."""
        self.count += 1
        if len(self.first) < _SHOWN:
            text = "/".join(names) or "."
            self.first.append(text.encode("utf-8", "backslashreplace").decode())


@dataclass(slots=True)
class Census:
    """What was found below a root; each thing in its places.

    Attributes:
        entries: how many were looked at.
        folders: of them.
        files: of them.
        bytes: of the files.
        world_writable: files and folders that anybody may alter.
        group_writable: those that a group may alter which is not the owner's own.
        foreign_owner: not owned by who owns the root.
        links: symbolic links.
        hard_links: files with several names.
        mounts: other file systems, and binds.
        specials: FIFOs, sockets, devices.
        keys: private keys.
        open_keys: those that others may read.
        unreadable: what could not be looked at.
        is_cut_short: there is more than was looked at.
        newest_time: the newest `recorded_at` at the ends of logs, as it stands there.
    """

    entries: int = 0
    folders: int = 0
    files: int = 0
    bytes: int = 0
    world_writable: Places = field(default_factory=Places)
    group_writable: Places = field(default_factory=Places)
    foreign_owner: Places = field(default_factory=Places)
    links: Places = field(default_factory=Places)
    hard_links: Places = field(default_factory=Places)
    mounts: Places = field(default_factory=Places)
    specials: Places = field(default_factory=Places)
    keys: Places = field(default_factory=Places)
    open_keys: Places = field(default_factory=Places)
    unreadable: Places = field(default_factory=Places)
    is_cut_short: bool = False
    newest_time: str | None = None


def take_census(root: TrustedRoot, *, most_entries: int = MOST_ENTRIES) -> Census:
    """Look at everything below a root, once.

    Args:
        root: where to begin.
        most_entries: where to stop.
    """
    census = Census()
    waiting: list[tuple[str, ...]] = [()]
    owner: int | None = None
    while waiting:
        names = waiting.pop()
        try:
            with root.open_directory(*names) as folder:
                if owner is None:
                    owner = folder.facts_of_self().uid
                found = list(_look_at(folder, names, census, owner, most_entries))
        except SourceAbsent:
            continue  # no such root, or it went meanwhile
        except BoundaryRefused:
            census.mounts.add(names)  # it was listed as a folder, so it is no link
            continue
        except FILE_FAILURES:
            census.unreadable.add(names)
            continue
        if len(names) >= _MOST_LEVELS and found:
            census.is_cut_short = True
        else:
            waiting += found[::-1]
        if census.is_cut_short and census.entries >= most_entries:
            break
    return census


def open_keys_in(root: TrustedRoot) -> Places:
    """Give the private keys that others may read among the files of one folder, not below it."""
    census = Census()
    try:
        with root.open_directory() as folder:
            for entry in folder.entries()[:_MOST_BESIDE]:
                facts = folder.facts(entry.name) if entry.kind == "file" else None
                if facts is not None and not entry.name.endswith(".jsonl"):
                    _read_a_little(folder, entry.name, ("..", entry.name), facts, census)
    except FILE_FAILURES:
        return census.open_keys  # the folder is not what was asked about
    return census.open_keys


def _look_at(
    folder: Directory,
    names: tuple[str, ...],
    census: Census,
    owner: int | None,
    most_entries: int,
) -> Iterator[tuple[str, ...]]:
    for entry in folder.entries():
        if census.entries >= most_entries:
            census.is_cut_short = True
            return
        census.entries += 1
        place = (*names, entry.name)
        try:
            facts = folder.facts(entry.name)
        except FILE_FAILURES:
            census.unreadable.add(place)
            continue
        if facts is None:
            continue  # it went meanwhile
        _judge(entry, place, facts, census, owner)
        if entry.kind == "directory":
            census.folders += 1
            yield place
        elif entry.kind == "file":
            census.files += 1
            census.bytes += facts.size
            _read_a_little(folder, entry.name, place, facts, census)


def _judge(
    entry: Entry, place: tuple[str, ...], facts: FileFacts, census: Census, owner: int | None
) -> None:
    if facts.uid != owner:
        census.foreign_owner.add(place)
    if entry.kind == "link":
        census.links.add(place)
        return  # its mode means nothing
    if entry.kind == "other":
        census.specials.add(place)
    if facts.mode & stat.S_IWOTH:
        census.world_writable.add(place)
    elif facts.mode & stat.S_IWGRP and facts.gid != facts.uid:
        census.group_writable.add(place)
    if entry.kind == "file" and facts.nlink > 1:
        census.hard_links.add(place)


def _read_a_little(
    folder: Directory, name: str, place: tuple[str, ...], facts: FileFacts, census: Census
) -> None:
    is_log = name.endswith(".jsonl")
    if not is_log and not 0 < facts.size <= _MOST_KEY_BYTES:
        return
    try:
        with folder.open_file(name) as file:
            if is_log:
                _note_times(file.read_at(max(0, file.size - _TAIL_BYTES), _TAIL_BYTES), census)
            elif _is_private_key(file.read_at(0, 64)):
                census.keys.add(place)
                if stat.S_IMODE(facts.mode) & ~_LARGEST_MODE_OF_A_KEY:
                    census.open_keys.add(place)
    except BoundaryRefused:
        census.mounts.add(place)  # a file is mounted over it
    except SourceAbsent:
        return
    except FILE_FAILURES:
        census.unreadable.add(place)


def _note_times(tail: bytes, census: Census) -> None:
    for text in _times(tail):
        told = text.decode("ascii")
        # All our writers use UTC, in which the order of the texts is that of the times.
        if told.endswith("Z") and (census.newest_time is None or told > census.newest_time):
            census.newest_time = told
