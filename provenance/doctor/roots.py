"""Judges one root: who may alter or replace it, what lies in it, what it lies on.

Guarantees: pure. What is judged is who else than the root's owner, root and the auditing user can
alter something; a folder with the sticky bit is safe for what those own.

Example:
    >>> list(judge_root(Root(label="home"), user=0))
    []
"""

from __future__ import annotations

import stat
from collections.abc import Iterator

from provenance.doctor.values import Note, Root
from provenance.findings import Severity
from provenance.fs.census import Places
from provenance.fs.surroundings import FileSystem, Step

__all__ = ["judge_root"]

_NETWORK = frozenset(
    {"nfs", "cifs", "smb", "smb2", "ceph", "afs", "9p", "gfs2", "ocfs2", "lustre", "gpfs"}
)
_FUSE = frozenset({"fuse", "virtiofs"})
_WITHOUT_OWNERS = frozenset({"vfat", "exfat", "ntfs", "ntfs3", "hfs", "hfsplus"})
# A state, a seal and a spill of usual size fit in this; a tenth of what is there is a session more.
_LEAST_FREE_BYTES = 64 << 20
_LEAST_FREE_SHARE = 10
_LEAST_FREE_INODES = 1_000


def judge_root(root: Root, *, user: int) -> Iterator[Note]:
    """Give what is unsafe about a root.

    Args:
        root: the facts.
        user: the uid of whoever audits.
    """
    if root.fault:
        yield Note("entry_unreadable", Severity.WARNING, root.label, root.fault, 1, (".",))
    if root.way:
        yield from _judge_way(root, user)
    yield from _judge_census(root)
    if root.file_system is not None:
        yield from _judge_file_system(root, root.file_system)


def _judge_way(root: Root, user: int) -> Iterator[Note]:
    top = root.way[-1]
    trusted = {0, user, top.uid}
    for step in root.way[:-1]:
        if step.is_link:
            continue
        where = _where(step)
        who = _who_may_write(step)
        is_sticky = bool(step.mode & stat.S_ISVTX)
        # In a sticky folder each owner may replace what is his; a folder is a step of its own.
        is_link_of_another = (
            who is not None and is_sticky and step.entry_is_link and step.entry_uid not in trusted
        )
        if step.uid not in trusted or is_link_of_another:
            what = "a link in " * is_link_of_another + where
            yield Note(
                "way_foreign_owner",
                Severity.ERROR,
                root.label,
                f"{what}: expected an owner who is root, we or the root's owner, got another",
            )
        if who is not None and not is_sticky:
            yield Note(
                "way_writable",
                Severity.ERROR if who == "anybody" else Severity.WARNING,
                root.label,
                f"{where}: expected that its owner alone may write, got {who}",
            )
    if any(step.is_link for step in root.way):
        yield Note(
            "root_through_link",
            Severity.INFO,
            root.label,
            "path: expected folders alone, got a symbolic link",
        )
    who = _who_may_write(top)
    if who is not None:
        yield Note(
            "root_writable_by_others",
            Severity.ERROR if who == "anybody" else Severity.WARNING,
            root.label,
            f"root: expected that its owner alone may write, got {who}",
        )
    if top.uid not in (0, user) and user != 0:
        yield Note(
            "foreign_owner",
            Severity.WARNING,
            root.label,
            "root: expected an owner who is root or we, got another",
        )


def _where(step: Step) -> str:
    match step.levels_above:
        case None:
            return "a folder on the way to a link"
        case 1:
            return "the folder above the root"
        case levels:
            return f"the folder {levels} levels above the root"


def _who_may_write(step: Step) -> str | None:
    if step.mode & stat.S_IWOTH:
        return "anybody"
    # A group that is its owner's alone has the owner's number, on systems that make such groups.
    if step.mode & stat.S_IWGRP and step.gid != step.uid:
        return "a group"
    return None


def _judge_census(root: Root) -> Iterator[Note]:
    census, label = root.census, root.label
    alone = "expected that the owner alone may write"
    for code, severity, places, message in (
        ("world_writable", Severity.ERROR, census.world_writable, f"{alone}, got anybody"),
        ("group_writable", Severity.WARNING, census.group_writable, f"{alone}, got a group"),
        (
            "mixed_owners",
            Severity.WARNING,
            census.foreign_owner,
            "expected the root's owner, got another",
        ),
        ("link_inside", Severity.WARNING, census.links, "expected a plain file, got a link"),
        ("hard_link", Severity.WARNING, census.hard_links, "expected one name, got several"),
        ("mount_inside", Severity.WARNING, _mounts(root), "expected no mount, got one"),
        (
            "special_file",
            Severity.WARNING,
            census.specials,
            "expected a file or folder, got something else",
        ),
        ("key_inside", Severity.ERROR, census.keys, "expected no private key, got one"),
        ("key_open", Severity.ERROR, _open_keys(root), "mode: expected 0600, got a wider one"),
        (
            "entry_unreadable",
            Severity.WARNING,
            census.unreadable,
            "expected to look, got a refusal",
        ),
    ):
        if places.count:
            first = tuple(places.first)
            yield Note(code, severity, label, message, places.count, first)
    if census.is_cut_short:
        yield Note(
            "walk_cut_short",
            Severity.WARNING,
            label,
            f"entries: expected fewer, got more than the {census.entries:,} that were looked at",
        )


def _open_keys(root: Root) -> Places:
    inside, beside = root.census.open_keys, root.open_keys_beside
    return Places(inside.count + beside.count, [*inside.first, *beside.first][:5])


def _mounts(root: Root) -> Places:
    """Join what the kernel lists with what refused to be opened."""
    shown = {name.encode("utf-8", "backslashreplace").decode() for name in root.mounts}
    found = root.census.mounts
    names = sorted(shown | set(found.first))
    unlisted = found.count - len(set(found.first) & shown)
    return Places(len(shown) + max(0, unlisted), names[:5])


def _judge_file_system(root: Root, on: FileSystem) -> Iterator[Note]:
    label, kind = root.label, f"file system: expected a local one, got {on.name}"
    if on.name in _NETWORK:
        yield Note("file_system_network", Severity.WARNING, label, kind)
    elif on.name in _FUSE:
        yield Note("file_system_fuse", Severity.WARNING, label, kind)
    elif on.name == "overlay":
        yield Note("file_system_overlay", Severity.INFO, label, kind)
    elif on.name in _WITHOUT_OWNERS:
        yield Note("file_system_without_owners", Severity.WARNING, label, kind)
    elif on.name.startswith("unknown"):
        yield Note("file_system_unknown", Severity.INFO, label, "file system: expected a known one")
    if on.folds_case:
        yield Note(
            "file_system_folds_case",
            Severity.WARNING,
            label,
            "names: expected that case tells them apart, got one file for two spellings",
        )
    if not on.locks_folders:
        yield Note(
            "file_system_no_locks", Severity.WARNING, label, "folder: expected a lock, got none"
        )
    if on.is_read_only:
        yield Note(
            "file_system_read_only", Severity.INFO, label, "file system: expected a writable one"
        )
        return  # what is full cannot fill up
    least = max(_LEAST_FREE_BYTES, root.census.bytes // _LEAST_FREE_SHARE)
    if on.free_bytes is not None and on.free_bytes < least:
        yield Note(
            "space_low",
            Severity.WARNING,
            label,
            f"free bytes: expected {least:,} or more, got {on.free_bytes:,}",
        )
    least = max(_LEAST_FREE_INODES, root.census.files // _LEAST_FREE_SHARE)
    if on.free_inodes is not None and on.free_inodes < least:
        yield Note(
            "inodes_low",
            Severity.WARNING,
            label,
            f"free inodes: expected {least:,} or more, got {on.free_inodes:,}",
        )
