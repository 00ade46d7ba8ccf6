"""What a policy refuses of an open file and of the folders on the way to it (spec 01.4 and 05).

Guarantees: what is judged is what `fstat` says of the very handle that is read, or of the handle
of the folder that it was opened from; no name is looked up for it. Nothing is judged where nothing
was asked for.

Example:
    >>> refusals_of(()) is None
    True
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection

from provenance.fs.failures import TraitRefused, translate
from provenance.policy import FileTrait

__all__ = ["Refusals", "refusals_of"]

# Write permission for the group or for all: spec 01.4 speaks of both.
_OTHERS_MAY_WRITE = 0o022


class Refusals:
    """Judges open handles; holds nothing but what is refused."""

    __slots__ = ("_links", "_owner", "_writable", "traits")

    def __init__(self, traits: Collection[FileTrait]) -> None:
        """Take what is refused."""
        self.traits = frozenset(traits)
        self._links = FileTrait.HARD_LINKS in self.traits
        self._owner = FileTrait.FOREIGN_OWNER in self.traits
        self._writable = FileTrait.WORLD_WRITABLE in self.traits

    def check_file(self, found: os.stat_result) -> None:
        """Judge an open file.

        Raises:
            TraitRefused: the policy refuses it.
        """
        if self._links and found.st_nlink > 1:
            raise TraitRefused("source: expected one name, got several hard links", "hard_link")
        self._check(found, "source")

    def check_folder(self, fd: int) -> None:
        """Judge an open folder; its links say nothing.

        Raises:
            TraitRefused: the policy refuses it.
            ReadFailed: the file system does not answer.
        """
        if not (self._owner or self._writable):
            return
        try:
            found = os.fstat(fd)
        except OSError as error:
            raise translate(error) from None
        self._check(found, "folder")

    def _check(self, found: os.stat_result, what: str) -> None:
        if self._owner and found.st_uid != os.geteuid():
            raise TraitRefused(
                f"{what}: expected our own user as owner, got another", "foreign_owner"
            )
        if self._writable and stat.S_IMODE(found.st_mode) & _OTHERS_MAY_WRITE:
            raise TraitRefused(
                f"{what}: expected no write permission for group or others, got one",
                "root_writable_by_others",
            )


def refusals_of(traits: Collection[FileTrait]) -> Refusals | None:
    """Give what judges handles; None where nothing is refused."""
    return Refusals(traits) if traits else None
