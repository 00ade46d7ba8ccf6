"""Pages for what `ctxaudit doctor` finds about roots, kernel and process.

Guarantees: each code has what it means, how it arises, what it costs in assurance, and a remedy.
The codes `hard_link`, `foreign_owner` and `root_writable_by_others` are those of an audit and have
their pages there.

Example:
    >>> DOCTOR_PAGES["way_writable"][2]
    'chmod the folder so that only its owner may write, or move the root.'
"""

from __future__ import annotations

from provenance.audit._page import Page

__all__ = ["COSTS", "DOCTOR_PAGES"]

# code: meaning, how it arises, what it costs, what to do
_TEXTS: dict[str, tuple[str, str, str, str]] = {
    "way_writable": (
        "Others may write in a folder on the way to the root, so they can put another root there.",
        "A folder above it, or one that holds a link to it, lets group or others write.",
        "Nothing that is found below the root is known to be what was there yesterday.",
        "chmod the folder so that only its owner may write, or move the root.",
    ),
    "way_foreign_owner": (
        "Somebody else owns a folder on the way to the root and can put another root there.",
        "The folder is neither root's, nor ours, nor of who owns the root.",
        "Whoever owns it decides which root is audited.",
        "Move the root below folders that you own.",
    ),
    "root_through_link": (
        "A symbolic link is a part of the path to the root.",
        "The operator's own path may hold links; they are followed.",
        "Whoever may write where the link lies decides what is audited.",
        "Name the folder that the link leads to.",
    ),
    "world_writable": (
        "Anybody on this machine may alter files or folders of the root.",
        "Modes with write permission for others: chmod 777, or a umask of 0.",
        "Transcripts, states and ledgers can be rewritten by any user; only full digests show it.",
        "chmod -R o-w, and look for what was altered: `ctxaudit verify --min-strength full`.",
    ),
    "group_writable": (
        "A group may alter files or folders of the root.",
        "A umask of 002, or a shared folder on purpose.",
        "Each member of the group can rewrite transcripts, states and ledgers.",
        "chmod -R g-w, or keep the group to those whom you would trust with the evidence.",
    ),
    "mixed_owners": (
        "Files below the root belong to somebody else than the root does.",
        "Another account wrote them, or they were copied in by root.",
        "Their owners can alter them, whatever the modes of the root are.",
        "Give them to the owner of the root, if what they hold is right.",
    ),
    "link_inside": (
        "Symbolic links lie below the root; no pointer is followed through them.",
        "Somebody keeps files elsewhere, or wants the audit to read elsewhere.",
        "What they stand for is answered denied, ownership_boundary.",
        "Put plain files and folders there.",
    ),
    "mount_inside": (
        "Another file system is mounted below the root; nothing in it is evidence.",
        "A volume or bind mount of a container, or an attempt to pass off other files.",
        "What lies there is answered denied, ownership_boundary.",
        "Mount the whole root, or name what is mounted as a root of its own.",
    ),
    "special_file": (
        "FIFOs, sockets or devices lie below the root.",
        "A program keeps its socket there, or somebody wants a reader to hang.",
        "They are never read; where one takes the place of evidence, that is corrupt.",
        "Remove them, or move them out of the root.",
    ),
    "entry_unreadable": (
        "Something below the root could not be looked at.",
        "Permissions, a failing disk, or a root that went.",
        "Nothing is known about it, and an audit will not read it either.",
        "Run as the owner of the root, or correct the permissions.",
    ),
    "walk_cut_short": (
        "The root holds more than was looked at; the rest is not judged.",
        "A very large or very deep tree.",
        "What was not looked at may be as unsafe as anything that this command names.",
        "Name folders below it as roots of their own, or raise --max-entries.",
    ),
    "file_system_network": (
        "The root lies on a network file system.",
        "NFS, SMB, Ceph, 9p or another that other machines write to.",
        (
            "No lease guards a reading (quiescence is `stat`), locks may not be shared between "
            "machines, and a power failure elsewhere may take what was synced here."
        ),
        "Copy the root to a local disk before an audit that others rely on.",
    ),
    "file_system_fuse": (
        "The root lies on a file system that a program of some user serves (FUSE).",
        "An sshfs, an encrypted folder, a cloud drive.",
        "That program decides at each read what is in a file; no lease guards a reading.",
        "Copy the root to a local disk before an audit that others rely on.",
    ),
    "file_system_overlay": (
        "The root lies on an overlay: a writable layer above a read-only one.",
        "A container's own file system.",
        "It goes with the container, and the layer below may be changed unseen.",
        "Keep the root on a volume.",
    ),
    "file_system_unknown": (
        "The root lies on a file system that this version does not know.",
        "A rare type, or a system that does not say.",
        "No lease guards a reading (quiescence is `stat`).",
        "Copy the root to a local disk before an audit that others rely on.",
    ),
    "file_system_without_owners": (
        "The root lies on a file system that keeps no owners and modes.",
        "A USB stick: FAT, exFAT, NTFS, HFS.",
        "Modes and owners say what the mount says, so nothing here guards the evidence.",
        "Copy the root to a file system that keeps them.",
    ),
    "file_system_folds_case": (
        "Names that differ in case alone lead to one file here.",
        "A disk of macOS, Windows shares, FAT, or a folder with the casefold flag.",
        "Only the stored spelling counts; two sessions that differ in case cannot both be kept.",
        "Keep roots on a file system that tells names apart.",
    ),
    "file_system_no_locks": (
        "Folders cannot be locked here.",
        "NFS, and some FUSE file systems.",
        "Nothing keeps a removal out of a running audit, so `gc --delete` refuses to work.",
        "Run `gc` on the machine that holds the disk, or keep the root there.",
    ),
    "file_system_read_only": (
        "The root cannot be written.",
        "A read-only mount or image: fine for an audit.",
        "Nothing is lost for `verify`; spill, append, repair and gc cannot work.",
        "Nothing, if it is to be audited; mount it writable for an agent.",
    ),
    "space_low": (
        "Little space is left on the root's file system.",
        "It fills up.",
        "Results that cannot be stored stay in the prompt, and states and seals cannot be written.",
        "Make room; `ctxaudit gc` lists artifacts that nothing cites.",
    ),
    "inodes_low": (
        "The root's file system takes few more files.",
        "Very many small files.",
        "Results that cannot be stored stay in the prompt, whatever space is left.",
        "Remove files; `ctxaudit gc` lists artifacts that nothing cites.",
    ),
    "key_inside": (
        "A private key lies below the root.",
        "Keys were made in the home that they sign.",
        "Whoever can rewrite the home can sign it again, so a seal by this key proves nothing.",
        "Move it out of the root, make a new key, and seal again.",
    ),
    "key_open": (
        "Others may read a private key.",
        "Its mode is not 0600.",
        "Whoever read it can sign in your name.",
        "chmod 600, and if others use this machine make a new key.",
    ),
    "clock_wrong": (
        "The clock of this machine shows a time before this program was written.",
        "No battery, no time service, a container started with a false time.",
        "Expired waivers pass, and times in ledgers, pins and seals are worth nothing.",
        "Set the clock; look at what was written since it was wrong.",
    ),
    "clock_behind": (
        "The clock is behind a time that the root's own logs record.",
        "The clock was set back, or another machine's clock wrote the logs.",
        "Expired waivers may pass; the order of times in ledgers, pins and seals says little.",
        "Compare the clock with a time service.",
    ),
    "clock_jumped": (
        "The clock was set while this command ran.",
        "A time service corrected it, or somebody did.",
        "Times that were written around now are off by the jump.",
        "Run it again; look at the time service if it happens again.",
    ),
    "no_safe_open": (
        "Nothing here opens files below a root safely.",
        "Neither openat2, nor O_NOFOLLOW with mount ids.",
        "No root can be audited on this machine.",
        "Use a Linux kernel from 5.6 on, or let the container see /proc.",
    ),
    "no_openat2": (
        "The kernel has no openat2, or a filter refuses it.",
        "Linux before 5.6, an old seccomp filter, another system.",
        "The answers are the same; each file costs some more system calls.",
        "Nothing; a newer kernel or container runtime is faster.",
    ),
    "no_landlock": (
        "The kernel has no Landlock, or one that cannot forbid all that has to be forbidden.",
        "Linux before 6.2 (ABI 3), or it is not switched on.",
        "A fault in a parser could read whatever this user may: --sandbox is not to be had.",
        "Use a kernel that has it, or audit in a container that sees nothing else.",
    ),
    "no_leases": (
        "Files cannot be leased while they are read.",
        "Not Linux, or fs.leases-enable is 0.",
        "A writer through a shared mapping is not noticed; results say quiescence `stat`.",
        "Set the sysctl fs.leases-enable to 1, or audit a copy.",
    ),
    "running_as_root": (
        "This runs as root.",
        "A sudo, or a container without a user.",
        (
            "Permissions refuse nothing, so `filesystem_denied` is never found, and a fault in a "
            "parser would have the whole machine."
        ),
        "Run as the user who owns the evidence, or as one who may only read it.",
    ),
    "umask_open": (
        "New files can be written by others.",
        "The umask lets group or others write.",
        "Reports that are written now can be altered by them (the store's own files cannot).",
        "Set umask 077, or 022.",
    ),
    "few_file_handles": (
        "This process may open few files at once.",
        "A low `ulimit -n`.",
        "Reading may fail with EMFILE, which is answered inconclusive.",
        "Run `ulimit -n 1024` before it.",
    ),
    "python_end_of_life": (
        "This Python gets no security fixes any more.",
        "Its five years are over.",
        "Known faults in its parsers stay open to hostile files.",
        "Use a newer Python.",
    ),
    "sqlite_old": (
        "The SQLite library is older than what reading hostile databases needs.",
        "Before 3.31 a schema could not be told untrusted.",
        "A hostile database has more ways to act while it is read.",
        "Use a Python with a newer SQLite.",
    ),
    "extra_missing": (
        "An optional part is not installed.",
        "The package was installed without that extra.",
        "zstd: compressed transcripts are unsupported; tokens: counts are estimates.",
        "Install it: `pip install 'ctxaudit-provenance[zstd,tokens]'`.",
    ),
    "temporary_unsafe": (
        "Anybody may remove or replace what others keep in the folder for temporary files.",
        "It is world-writable without the sticky bit, or it is not there.",
        "Private copies of databases lie there while they are read.",
        "chmod 1777 the folder, or set TMPDIR to one of your own.",
    ),
    "temporary_elsewhere": (
        "Temporary files lie on another file system than the root.",
        "TMPDIR, or /tmp in memory: usual.",
        "Private copies of databases leave the root's disk while they are read, encrypted or not.",
        "Set TMPDIR if the evidence must not leave its disk.",
    ),
}

# These an audit finds as well, and has the pages.
COSTS = {code: texts[2] for code, texts in _TEXTS.items()} | {
    "hard_link": "The file can be altered through its other name, which may lie outside the root.",
    "foreign_owner": "Its owner can alter all of it, and is somebody else than who audits.",
    "root_writable_by_others": "Others can put other files in the place of those below it.",
}

DOCTOR_PAGES: dict[str, Page] = {
    code: (meaning, f"{arises} What it costs: {cost[0].lower()}{cost[1:]}", remedy)
    for code, (meaning, arises, cost, remedy) in _TEXTS.items()
}
