"""Reading a log as a reviewer does: every checkpoint, every entry, held against the key.

Guarantees: nothing is trusted before its signature. Roots are computed anew from the entries, from
the first to the last, so that all checkpoints of a log are heads of one growing tree or the log is
not sound. All checkpoints come before all entries. What is trusted ends at the first fault; each
fault has a code, and no text of a file is in its message. Names of strangers are told escaped, each
on one bounded line.

Example:
    >>> from provenance.sealing.keys import Verifier
    >>> log = read_log(TrustedRoot("/nowhere"), Verifier("example.com/a", bytes(32)))
    >>> [str(fault.code) for fault in log.faults], log.is_sound
    (['seals_missing'], False)
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import NoReturn

from provenance.errors import CtxauditError
from provenance.fs import TrustedRoot
from provenance.sealing.checkpoint import Checkpoint, parse_checkpoint
from provenance.sealing.history import HistoryError
from provenance.sealing.keys import SignatureVerdict, Verifier, judge_signature
from provenance.sealing.leaves import EntryError, Leaf, parse_entry
from provenance.sealing.log import (
    SEALS_FOLDER,
    LogListing,
    checkpoint_name,
    leaves_name,
    list_log,
    read_checkpoint,
    read_leaves,
)
from provenance.sealing.merkle import GrowingTree, leaf_hash
from provenance.sealing.sealed_log import LogFault, LogFaultCode, SealedLog

__all__ = ["read_log"]

# So many strangers are named, each by so many characters: enough to find what somebody put there.
_MOST_NAMED = 3
_MOST_CHARACTERS = 80


def read_log(
    home: TrustedRoot, verifier: Verifier | None, *, held: Checkpoint | None = None
) -> SealedLog:
    """Read and judge a whole log.

    Args:
        home: the root of the home, with the log in `seals/`.
        verifier: the key that is trusted; None: signatures are not judged, so that nothing is
            proved; for showing what there is.
        held: a checkpoint that a reviewer holds from another day.
    """
    reader = _Reader(home, verifier, held)
    reader.read()
    return reader.log


class _Stop(Exception):
    """The rest of a log cannot be trusted."""


class _Reader:
    def __init__(
        self, home: TrustedRoot, verifier: Verifier | None, held: Checkpoint | None
    ) -> None:
        self.log = SealedLog()
        self._home = home
        self._seals = home.subroot(SEALS_FOLDER)
        self._verifier = verifier
        self._held = held
        self._tree = GrowingTree()
        self._held_root = self._tree.root() if held is not None and held.size == 0 else None

    def read(self) -> None:
        # 1. What is there?
        try:
            listing = list_log(self._home)
        except CtxauditError as error:
            self._fault(LogFaultCode.UNREADABLE, "", str(error))
            return
        if listing is None or listing.is_empty:
            self._fault(LogFaultCode.MISSING, "", "seals: expected a checkpoint, got none")
            if listing is not None:
                self.log.remains = listing.remains
                self._note_files(listing)
            return
        # 2. Each checkpoint in its turn, until one cannot be trusted.
        signed: list[tuple[Checkpoint, bytes]] = []
        numbers = frozenset(listing.checkpoints)
        try:
            for number in range(1, listing.checkpoints[-1] + 1):
                before = signed[-1][0] if signed else None
                signed.append(self._read_checkpoint(number, numbers, before))
        except _Stop:
            pass
        # 3. The entries of those, as far as they lead to the signed roots.
        try:
            for number, (checkpoint, note) in enumerate(signed, 1):
                self._read_entries(number, checkpoint)
                self.log.checkpoints.append(checkpoint)
                self.log.notes.append(note)
        except _Stop:
            del self.log.faults[1:]  # the first in this order is told: what follows may be of it
        # 4. What the reviewer holds.
        if self._held is not None:
            self._compare_held(self._held)
        # 5. What belongs to no seal.
        self._note_files(listing)
        # 6. Whatever came before: a log that gave nothing to hold on to is no log.
        if not self.log.checkpoints and all(fault.is_warning for fault in self.log.faults):
            self._fault(LogFaultCode.MISSING, "", "seals: expected a checkpoint, got none")

    def _read_checkpoint(
        self, number: int, numbers: Collection[int], before: Checkpoint | None
    ) -> tuple[Checkpoint, bytes]:
        """Give a checkpoint that the key signed and that goes on from the last; and its bytes."""
        file = checkpoint_name(number)
        if number not in numbers:
            self._stop(
                LogFaultCode.CHECKPOINT_MISSING,
                file,
                "file: expected a checkpoint before the next one, got none",
            )
        # a. The checkpoint is one.
        try:
            data = read_checkpoint(self._seals, number)
            checkpoint, note = parse_checkpoint(data)
        except CtxauditError as error:
            self._stop(LogFaultCode.CHECKPOINT_INVALID, file, str(error))
        # b. The key signed it.
        verifier = self._verifier
        if verifier is not None:
            match judge_signature(note, verifier):
                case SignatureVerdict.ABSENT:
                    message = f"signature: expected one of {verifier.label}, got another key's"
                    self._stop(LogFaultCode.KEY_UNKNOWN, file, message)
                case SignatureVerdict.INVALID:
                    message = "signature: expected a valid one of the key, got an invalid one"
                    self._stop(LogFaultCode.SIGNATURE_INVALID, file, message)
                case SignatureVerdict.VALID:
                    pass
        # c. It continues the one before.
        self._require_growth(checkpoint, before, file)
        return checkpoint, data

    def _require_growth(self, checkpoint: Checkpoint, before: Checkpoint | None, file: str) -> None:
        if before is None:
            if checkpoint.size == 0:
                self._stop(LogFaultCode.ROLLED_BACK, file, "size: expected 1 or more, got 0")
            return
        if checkpoint.origin != before.origin:
            self._stop(
                LogFaultCode.OTHER_LOG, file, "origin: expected that of the log, got another"
            )
        if checkpoint.size == before.size and checkpoint.root != before.root:
            self._stop(
                LogFaultCode.FORK, file, "root: expected one for each size, got two for the same"
            )
        if checkpoint.size <= before.size:
            message = f"size: expected more than {before.size}, got {checkpoint.size}"
            self._stop(LogFaultCode.ROLLED_BACK, file, message)

    def _read_entries(self, number: int, checkpoint: Checkpoint) -> None:
        file = leaves_name(number, checkpoint.root)
        count = checkpoint.size - self._tree.size
        leaves: list[Leaf] = []
        invalid: EntryError | None = None
        # a. As many as the checkpoint says.
        try:
            for entry in read_leaves(self._seals, number, checkpoint.root, count=count):
                try:
                    leaves.append(parse_entry(entry))
                except EntryError as error:
                    invalid = invalid or error
                hashed = leaf_hash(entry)
                self.log.hashes.append(hashed)
                self._tree.append(hashed)
                if self._held is not None and self._tree.size == self._held.size:
                    self._held_root = self._tree.root()
        except CtxauditError as error:
            self._drop(LogFaultCode.LEAVES_MISSING, file, str(error))
        # b. Each of them is one.
        if invalid is not None:
            self._drop(LogFaultCode.LEAVES_INVALID, file, str(invalid))
        # c. They lead to the root.
        if self._tree.root() != checkpoint.root:
            self._drop(
                LogFaultCode.INCONSISTENT,
                file,
                "root: expected that of all entries up to here, got another signed",
            )
        # d. Each follows what is there.
        try:
            for leaf in leaves:
                self.log.history.add(leaf)
            self.log.history.end_seal()
        except HistoryError as error:
            self._drop(LogFaultCode.LEAVES_INVALID, file, str(error))

    def _compare_held(self, held: Checkpoint) -> None:
        last = self.log.last
        if last is None or any(not fault.is_warning for fault in self.log.faults):
            return  # the log is not sound anyway
        if held.origin != last.origin:
            self._fault(
                LogFaultCode.OTHER_LOG,
                "",
                "origin: expected that of the checkpoint that is held, got another",
            )
        elif held.size > last.size:
            message = f"size: expected {held.size} or more, as held, got {last.size}"
            self._fault(LogFaultCode.OLDER_THAN_HELD, "", message)
        elif self._held_root != held.root:
            message = f"root: expected that of the checkpoint held at size {held.size}, got another"
            self._fault(LogFaultCode.FORK, "", message)
        elif held.size and held.size not in {one.size for one in self.log.checkpoints}:
            # Seals were put together, or renumbered after one was taken out.
            message = f"file: expected the checkpoint held at size {held.size} as one of them"
            self._fault(LogFaultCode.CHECKPOINT_MISSING, "", f"{message}, got none")

    def _note_files(self, listing: LogListing) -> None:
        used = {(number, one.root.hex()) for number, one in enumerate(self.log.checkpoints, 1)}
        if self.log.faults and self.log.faults[0].code is not LogFaultCode.MISSING:
            return  # what belongs to what was not read, nobody knows
        for number, root in sorted(listing.leaves - used):
            self._fault(
                LogFaultCode.UNFINISHED,
                leaves_name(number, bytes.fromhex(root)),
                "entries: expected a checkpoint for them, got none",
            )
        if listing.strangers:
            self._fault(LogFaultCode.FILE_UNKNOWN, *_strangers(sorted(listing.strangers)))

    def _fault(self, code: LogFaultCode, file: str, message: str) -> None:
        self.log.faults.append(LogFault(code, file, message))

    def _stop(self, code: LogFaultCode, file: str, message: str) -> NoReturn:
        self._fault(code, file, message)
        raise _Stop

    def _drop(self, code: LogFaultCode, file: str, message: str) -> NoReturn:
        """Stop, without the entries that were read of this seal."""
        last = self.log.last
        del self.log.hashes[0 if last is None else last.size :]
        self._stop(code, file, message)


def _strangers(names: Sequence[str]) -> tuple[str, str]:
    """Give the file that is meant (empty: several), and the message that names the first few."""
    shown = ", ".join(
        ascii(name if len(name) <= _MOST_CHARACTERS else name[:_MOST_CHARACTERS] + "...")
        for name in names[:_MOST_NAMED]
    )
    more = len(names) - _MOST_NAMED
    got = shown if more <= 0 else f"{shown} and {more} more"
    file = os.fsencode(names[0]).decode("utf-8", "backslashreplace") if len(names) == 1 else ""
    return file, f"folder: expected checkpoints and entries alone, got {got}"
