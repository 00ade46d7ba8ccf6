"""Names for targets that mean the same on every machine.

Guarantees: pure. No label holds the path of a folder that was not typed as part of a relative
name; labels of different targets differ.

Example:
    >>> target_labels(("/srv/agents/home", "b/home", "home", "-"))
    ('home', 'b/home', 'home#2', '-')
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath

__all__ = ["label_of_files", "target_labels"]


def target_labels(targets: Sequence[str]) -> tuple[str, ...]:
    """Give each target its label, in order."""
    used: set[str] = set()
    labels = []
    for target in targets:
        base = label = _label(target)
        number = 1
        while label in used:
            number += 1
            label = f"{base}#{number}"
        used.add(label)
        labels.append(label)
    return tuple(labels)


def label_of_files(files: Iterable[str], labels: Sequence[str]) -> str:
    """Give the one target that all of some files of a report belong to; empty: there is none.

    Args:
        files: their names, with the label of their target in front where there are several.
        labels: of all targets of the run.
    """
    if len(labels) == 1:
        return labels[0]
    found = {_label_of_file(file, labels) for file in files}
    return found.pop() if len(found) == 1 else ""


def _label_of_file(file: str, labels: Sequence[str]) -> str:
    held = (label for label in labels if file == label or file.startswith(label + "/"))
    return max(held, key=len, default="")


def _label(target: str) -> str:
    path = PurePath(target)
    if path.is_absolute() or ".." in path.parts:
        # Where it lies is this machine's affair; `..` and `/` have no name that is not.
        return path.name if path.name not in ("", "..") else "target"
    return path.as_posix()
