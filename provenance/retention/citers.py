"""Reads every file of a home for what it cites, and what has changed since.

Guarantees: each regular file below the home is read to its end, artifacts too; a state, receipt,
lock file or transcript must also be whole, since one that is cut no longer says what it cited. What
cannot be read is told by name and never counts as citing nothing. Links are not followed. What was
once cited stays cited, also where the file that cited it goes meanwhile.

Example:
    >>> home = TrustedRoot("/nowhere")
    >>> citers = Citers(home, StoredNames([("s1", "log.txt")]))
    >>> citers.read()
    >>> citers.cited, citers.unreadable
    ({}, ())
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from provenance.artifacts.ledger import LEDGER_NAME
from provenance.artifacts.recovery import TORN_NAME
from provenance.artifacts.verify import ARTIFACT_FOLDER, RESERVED_SESSIONS
from provenance.audit.ledgers import LINES_ENDINGS
from provenance.audit.receipts import parse_receipt_file
from provenance.audit.states import parse_state
from provenance.errors import CtxauditError, DataError
from provenance.fs import (
    Directory,
    Entry,
    FileFacts,
    OpenFile,
    SourceAbsent,
    SourceChanged,
    TrustedRoot,
    read_whole,
)
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.pointers import is_name
from provenance.retention.locks import LOCK_NAME, require_lock
from provenance.retention.mentions import MentionFinder, StoredNames
from provenance.retention.packed import is_packed, unpacked
from provenance.retention.texts import text_only
from provenance.retention.values import CiterKind, Unreadable
from provenance.retention.versions import STORE_FILES, cited_by_versions
from provenance.transcripts.checking import check_transcript
from provenance.transcripts.formats import is_candidate

__all__ = ["Citers"]

_BLOCK_BYTES = 1 << 20
_HEAD_BYTES = 100
# As deep as a tree of transcripts is looked into.
_MOST_LEVELS = 64
_TRANSCRIPTS, _STATES, _RECEIPTS, _SEALS = "transcripts", "states", "receipts", "seals"
_PLACES = {
    _TRANSCRIPTS: CiterKind.TRANSCRIPT,
    _STATES: CiterKind.STATE,
    _RECEIPTS: CiterKind.RECEIPT,
    _SEALS: CiterKind.SEAL,
    LOCK_NAME: CiterKind.LOCK,
}
# Where a link or a device may stand for a file that cites.
_CITING = frozenset({*_PLACES, "snapshots"})
# What SQLite keeps beside a database; the first and the last are read with it.
_JOURNALS = ("-wal", "-shm", "-journal")
_NO_SESSIONS = RESERVED_SESSIONS | _CITING

Names = tuple[str, ...]


class _Unread(DataError):
    code = "citer_unreadable"


class Citers:
    """What cites the artifacts of one home; `read` may be called again to look for changes.

    `cited` holds, for each artifact that is cited, each kind of citer with the first such file.
    """

    def __init__(
        self,
        home: TrustedRoot,
        stored: StoredNames,
        *,
        prefix: str = "",
        is_home: bool = True,
        only: str | None = None,
        strange: Collection[tuple[str, str]] = (),
        limits: Limits = DEFAULT_LIMITS,
        cited: dict[tuple[str, str], dict[CiterKind, str]] | None = None,
    ) -> None:
        """Name the home, and the artifacts that are asked about.

        Args:
            home: a home, or another folder whose files cite the artifacts of one.
            stored: the artifacts.
            prefix: stands before the names of files.
            is_home: it is the home of the artifacts; False: nothing below it is one of them.
            only: the one file of it that is read; None: all.
            strange: what lies among the artifacts and is not known to be the store's.
            limits: bounds on states, receipts, lock files and transcripts.
            cited: where to note what is cited; None: a dictionary of its own.
        """
        self.cited = {} if cited is None else cited
        self._home = home
        self._stored = stored
        self._prefix = prefix
        self._is_home = is_home
        self._only = only
        self._strange = strange
        self._limits = limits
        self._unreadable: list[Unreadable] = []
        self._seen: dict[Names, FileFacts] = {}

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """What may cite and could not be read the last time."""
        return tuple(self._unreadable)

    def read(self) -> None:
        """Read every file that is new or has changed since the last time."""
        self._unreadable = []
        if self._only is not None:
            self._read_named(self._only)
            return
        self._read_versions()
        waiting: list[Names] = [()]
        while waiting:
            waiting += self._read_folder(waiting.pop())

    def _read_named(self, name: str) -> None:
        try:
            with self._home.open_directory() as folder:
                self._read_file(folder, (name,))
        except CtxauditError as error:
            self._refuse((name,), error)

    def _read_versions(self) -> None:
        try:
            for label, data in cited_by_versions(self._home):
                finder = MentionFinder(self._stored)
                finder.feed(data)
                self._note(finder, CiterKind.STATE_VERSION, f"{_STATES}/{label}")
        except CtxauditError as error:
            self._refuse((_STATES,), error)

    def _read_folder(self, names: Names) -> Iterable[Names]:
        """Read the files of a folder; gives the folders in it."""
        found: list[Names] = []
        try:
            with self._home.open_directory(*names) as folder:
                for entry in folder.entries():
                    place = (*names, entry.name)
                    match entry.kind:
                        case "file":
                            self._read_file(folder, place)
                        case "directory":
                            found.append(place)
                        case _:
                            self._pass_over(place, entry)
        except SourceAbsent as error:
            if not names and not self._is_home:
                self._refuse(names, error)  # named by the operator
            return ()  # it went meanwhile
        except CtxauditError as error:
            self._refuse(names, error)
            return ()
        if len(names) >= _MOST_LEVELS and found:
            self._refuse(found[0], _Unread("folder: expected fewer levels above it, got more"))
            return ()
        return found[::-1]

    def _pass_over(self, names: Names, entry: Entry) -> None:
        """Follow no link and open no device; say so where a file that cites may stand."""
        if self._is_home and _is_foreign(names):
            return
        if entry.kind == "link" or names[0] in _CITING or is_candidate(entry.name):
            kind = "a link" if entry.kind == "link" else "something else"
            self._refuse(names, _Unread(f"file: expected a regular file, got {kind}"))

    def _read_file(self, folder: Directory, names: Names) -> None:
        if _is_bookkeeping(names, is_home=self._is_home):
            return
        try:
            with folder.open_file(names[-1]) as file:
                if self._seen.get(names) == file.facts:
                    return
                kind = _kind_of(names, is_home=self._is_home)
                for _ in range(self._limits.read_attempts):
                    facts = file.refresh()
                    self._note(self._mentions(file, folder, names), kind, "/".join(names))
                    if file.is_unchanged():
                        break
                else:
                    raise SourceChanged("file: expected no change during the read, got one")
                self._require_whole(file, names)
                self._seen[names] = facts
        except SourceAbsent as error:
            if self._only is not None:
                self._refuse(names, error)
        except CtxauditError as error:
            self._refuse(names, error)

    def _mentions(self, file: OpenFile, folder: Directory, names: Names) -> MentionFinder:
        finder = MentionFinder(self._stored)
        is_artifact = self._is_home and _is_artifact(names)
        is_own = is_artifact and (names[0], names[-1]) not in self._strange
        if is_own or _is_journal(folder, names[-1]):
            pieces = _pieces(file)  # the store takes any bytes, and they are nobody's container
        elif is_packed(file.read_at(0, _BLOCK_BYTES)):
            pieces = unpacked(file, folder, names[-1], limits=self._limits)
        else:
            pieces = text_only(_pieces(file))
        for piece in pieces:
            finder.feed(piece)
        if is_artifact:
            finder.found.discard((names[0], names[-1]))  # a text that names itself
        return finder

    def _require_whole(self, file: OpenFile, names: Names) -> None:
        """Refuse a file that cites and is damaged: what it lost may have cited more."""
        if names == (LOCK_NAME,):
            require_lock(self._whole(file), limits=self._limits)
            return
        if len(names) != 2 or names[1].startswith("."):
            return  # as an audit reads a home: what is hidden is no state
        match names[0], names[1].rpartition(".")[2]:
            case (place, "json") if place == _STATES:
                parse_state(self._whole(file), limits=self._limits)
            case (place, "json") if place == _RECEIPTS:
                parse_receipt_file(self._whole(file), limits=self._limits)
            case (place, "jsonl") if place == _TRANSCRIPTS:
                self._require_transcript(names[1].removesuffix(".jsonl"))
            case _:
                return

    def _whole(self, file: OpenFile) -> bytes:
        return read_whole(file, max_bytes=self._limits.max_document_bytes)

    def _require_transcript(self, session_id: str) -> None:
        if not is_name(session_id):
            raise _Unread("file name: expected one that a pointer can cite, got another")
        with self._home.subroot(_TRANSCRIPTS) as transcripts:
            check = check_transcript(transcripts, session_id, limits=self._limits)
        if check.first_bad is not None:
            line, reason = check.first_bad
            where = "" if line is None else f"line {line + 1}: "
            raise _Unread(f"{where}expected a sound transcript, got {reason}")

    def _note(self, finder: MentionFinder, kind: CiterKind, target: str) -> None:
        for name in finder.found:
            self.cited.setdefault(name, {}).setdefault(kind, self._prefix + target)

    def _refuse(self, names: Names, error: CtxauditError) -> None:
        target = "/".join(names) or "."
        shown = target.encode("utf-8", "backslashreplace").decode()
        self._unreadable.append(Unreadable(self._prefix + shown, str(error)))


def _pieces(file: OpenFile) -> Iterator[bytes]:
    offset = 0
    while piece := file.read_at(offset, _BLOCK_BYTES):
        offset += len(piece)
        yield piece


def _is_journal(folder: Directory, name: str) -> bool:
    """Say whether this lies beside a database, with which it is read."""
    for ending in _JOURNALS:
        if name.endswith(ending):
            try:
                with folder.open_file(name.removesuffix(ending)) as file:
                    from provenance.fs.database_copy import is_database  # noqa: PLC0415 - loads SQLite

                    return is_database(file.read_at(0, _HEAD_BYTES))
            except CtxauditError:
                return False
    return False


def _is_artifact(names: Names) -> bool:
    return len(names) == 3 and names[1] == ARTIFACT_FOLDER and names[0] not in _NO_SESSIONS


def _is_foreign(names: Names) -> bool:
    """Say whether a link or device stands for an artifact, or for a folder of them."""
    folder = (*names, "") if len(names) == 2 else names
    return _is_artifact(folder)


def _is_bookkeeping(names: Names, *, is_home: bool) -> bool:
    """Say whether this is the store's own word about its files, or is read in another way."""
    match names:
        case (folder, name) if folder == _STATES:
            return name in STORE_FILES
        case (folder, name) if is_home and folder not in _NO_SESSIONS:
            return name in (LEDGER_NAME, TORN_NAME)
        case _:
            return False


def _kind_of(names: Names, *, is_home: bool) -> CiterKind:
    if is_home and _is_artifact(names):
        return CiterKind.ARTIFACT
    place = _PLACES.get(names[0])
    if place is not None and (len(names) == 2 or names[0] == LOCK_NAME or place == CiterKind.SEAL):
        return place
    return CiterKind.TRANSCRIPT if names[-1].endswith(LINES_ENDINGS) else CiterKind.FILE
