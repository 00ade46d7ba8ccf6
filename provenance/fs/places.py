"""Whether a file that is to be written would lie in what is audited.

Guarantees: decided by device and inode of the folders that are there, so that no link, `..` or
second spelling gets around it. Nothing is opened. Operator-named paths come from a person's command
line; nothing from a pointer, a transcript or a state file ever reaches this.

Example:
    >>> place_of("/nowhere/report.json", ["/nowhere/logs"]) is Place.OUTSIDE
    True
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from enum import StrEnum

__all__ = ["Place", "is_in_use", "is_readable_kind", "named_place", "place_of"]

_Identity = tuple[int, int]


class Place(StrEnum):
    """Where a file would lie, as seen from some targets."""

    OUTSIDE = "outside"
    TARGET = "target"
    BELOW = "below"


def place_of(path: str | os.PathLike[str], targets: Iterable[str | os.PathLike[str]]) -> Place:
    """Say whether a file that is to be written is a target, lies below one, or neither.

    Args:
        path: the file, there or not; links in it are followed, as writing does.
        targets: files and folders; below a file lies nothing. What is not there counts by its name
            alone.
    """
    try:
        written = os.path.realpath(path)
    except (OSError, ValueError):
        return Place.OUTSIDE  # nothing can be written there
    folders: set[_Identity | str] = set()
    files: set[_Identity | str] = set()
    for target in targets:
        found = _stat(target)
        if found is None:
            files.add(_name_of(target))
        elif stat.S_ISDIR(found.st_mode):
            folders.add((found.st_dev, found.st_ino))
        else:
            files.add((found.st_dev, found.st_ino))
    if not (files | folders).isdisjoint({written, *_identities((written,))}):
        return Place.TARGET
    return Place.OUTSIDE if folders.isdisjoint(_identities(_above(written))) else Place.BELOW


def named_place(path: str | os.PathLike[str]) -> tuple[str, str | None]:
    """Say where to look for what a person named: a folder, and a file in it.

    Links are followed, as for any name on a command line. The second is None where a folder was
    named. What is not there counts as a file.
    """
    found = _stat(path)
    if found is not None and stat.S_ISDIR(found.st_mode):
        return os.fspath(path), None
    try:
        folder, name = os.path.split(os.path.realpath(path))
    except (OSError, ValueError):
        folder, name = os.path.split(os.fspath(path))
    return folder or ".", name or "."


def is_readable_kind(path: str | os.PathLike[str]) -> bool:
    """Say whether it is a file or folder; False for a pipe or device, True where nothing is."""
    found = _stat(path)
    return found is None or stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)


def is_in_use(path: str | os.PathLike[str]) -> bool:
    """Say whether anything has this name; a link that leads nowhere has."""
    return os.path.lexists(path)


def _above(path: str) -> Iterator[str]:
    """Give the folders that a path without links lies in, from the nearest up."""
    folder = os.path.dirname(path)
    while folder != path:
        yield folder
        path, folder = folder, os.path.dirname(folder)


def _identities(paths: Iterable[str]) -> Iterator[_Identity]:
    for path in paths:
        found = _stat(path)
        if found is not None:
            yield found.st_dev, found.st_ino


def _stat(path: str | os.PathLike[str]) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def _name_of(target: str | os.PathLike[str]) -> str:
    try:
        return os.path.realpath(target)
    except (OSError, ValueError):
        return os.fspath(target)
