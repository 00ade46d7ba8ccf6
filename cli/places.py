"""Where the files of a run may be written: none is an input of it, or another one of its outputs.

Guarantees: said before anything runs, with the names of both options. Files are told apart by
device and inode, and by their path without links where nothing is there yet, so that no link, hard
link or second spelling gets around it. What is audited, and the roots that it is read below, are
never written to.

Example:
    >>> require_places([NamedPath("--output", "/tmp/a.json")], inputs=[])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import NamedTuple

import click

from provenance.audit.request import CITING_FOLDERS, STDIN
from provenance.fs.places import Place, named_place, place_of
from provenance.locks import LOCK_FILE

from .operator_files import is_folder, label_of

__all__ = ["NamedPath", "named", "require_lock_place", "require_places"]


class NamedPath(NamedTuple):
    """A path that the operator named, and the option that named it."""

    option: str
    path: str


def named(**paths: str | None) -> tuple[NamedPath, ...]:
    """Give those of some options that were given; `seal_checkpoint` is `--seal-checkpoint`."""
    return tuple(
        NamedPath("--" + name.replace("_", "-"), path)
        for name, path in paths.items()
        if path is not None
    )


def require_places(
    outputs: Sequence[NamedPath],
    *,
    inputs: Iterable[NamedPath],
    targets: Iterable[str] = (),
    roots: Iterable[NamedPath] = (),
) -> None:
    """Say now, not after an hour, that an output has no place, or one that it must not have.

    Args:
        outputs: what will be written.
        inputs: files that the run reads.
        targets: what is audited; evidence would be lost, and the next audit find the report.
        roots: folders that evidence is read below.

    Raises:
        click.UsageError: no folder, a place in what is audited, that of an input, or one twice.
    """
    audited = [place for target in targets if target != STDIN for place in _read_for(target)]
    read = tuple(inputs)
    below = tuple(roots)
    for number, output in enumerate(outputs):
        fault = _fault(output, audited, below, (*read, *outputs[:number]))
        if fault:
            raise click.UsageError(
                f"{output.option}: {label_of(output.path)}: expected {fault}",
                click.get_current_context(silent=True),
            )


def require_lock_place(
    lock: str,
    *,
    home: str,
    roots: Iterable[NamedPath] = (),
) -> None:
    """Say that a lock would lie where a home, or a root beside it, is read as evidence.

    What is there and is no lock needs no word here: it is read before it is replaced.

    Args:
        lock: what `--lock` of a run that writes it names.
        home: whose evidence it holds; its own lock file may be named.
        roots: folders that evidence is read below.

    Raises:
        click.UsageError: no folder, or a place in the home or below a root.
    """
    if place_of(lock, (str(PurePath(home) / LOCK_FILE),)) is Place.TARGET:
        return
    fault = ""
    if place_of(lock, (home,)) is not Place.OUTSIDE:
        fault = f"{LOCK_FILE} of the home or a place outside it, got another one in it"
    fault = fault or _fault(NamedPath("--lock", lock), (), tuple(roots), ())
    if fault:
        raise click.UsageError(
            f"--lock: {label_of(lock)}: expected {fault}",
            click.get_current_context(silent=True),
        )


def _read_for(target: str) -> tuple[str, ...]:
    """Give a target and, for a file in a home's `states` or `receipts`, that home: all is read."""
    folder, name = named_place(target)
    if name is None or PurePath(folder).name not in CITING_FOLDERS:
        return (target,)
    return target, str(PurePath(folder).parent)


def _fault(
    output: NamedPath,
    audited: Sequence[str],
    roots: Sequence[NamedPath],
    others: Sequence[NamedPath],
) -> str:
    if is_folder(output.path) or not is_folder(str(PurePath(output.path).parent)):
        return "a file in a folder that exists"
    found = place_of(output.path, audited)
    if found is not Place.OUTSIDE:
        got = "of" if found is Place.TARGET else "below"
        return f"a place outside the targets, got one {got} them"
    for root in roots:
        if place_of(output.path, (root.path,)) is not Place.OUTSIDE:
            return f"a place outside {root.option}, got one below it"
    for other in others:
        if place_of(output.path, (other.path,)) is Place.TARGET:
            return f"a file of its own, got that of {other.option}"
    return ""
