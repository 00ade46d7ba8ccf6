"""Collects garbage in a state home: artifacts that nothing cites (spec 01.6, 05).

Guarantees: without `delete` nothing is written. Nothing is removed while anything that may cite
cannot be read, while an audit or another collection is at work, or that was stored or used since
the cutoff. What cites is looked at once more between the decision and each batch of removals.

Example:
    >>> from datetime import UTC
    >>> clock = lambda: datetime(2026, 1, 2, tzinfo=UTC)
    >>> report = collect_garbage(TrustedRoot("/nowhere"), GcOrder(), clock=clock)
    >>> report.removable, report.is_dry_run
    ((), True)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import PurePath

from provenance.clock import Clock, require_zoned
from provenance.errors import CtxauditError
from provenance.fs import Directory, FolderGuard, SourceAbsent, TrustedRoot, WriteFailed
from provenance.fs.places import named_place
from provenance.retention.citers import Citers
from provenance.retention.deciding import decide
from provenance.retention.inventory import take_inventory
from provenance.retention.mentions import StoredNames
from provenance.retention.removal import Removed, remove_artifacts
from provenance.retention.values import (
    DEFAULT_GRACE,
    CiterKind,
    Failed,
    GcOrder,
    GcReport,
    Inventory,
    Kept,
    KeptFor,
    Leftover,
    Removable,
    Unreadable,
)

__all__ = ["collect_garbage"]

# No writer is silent for so long and still alive, whatever the operator's cutoff is.
_STALE = timedelta(hours=24)
# So many go between two looks at what cites: a look costs a `stat` of every file in the home.
_BATCH = 4_096
_SEALS = "seals"


def collect_garbage(
    home: TrustedRoot,
    order: GcOrder,
    *,
    clock: Clock,
    on_removal: Callable[[], None] = lambda: None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> GcReport:
    """Find what nothing cites in a home and, where the order says so, remove it.

    Args:
        home: the state home.
        order: what is asked.
        clock: the time of day, with a zone.
        on_removal: hears that from here on something may go.
        is_stopped: asked between sessions; True ends the removal early, with a whole report.
    """
    now = require_zoned(clock())
    cutoff = now - DEFAULT_GRACE if order.cutoff is None else require_zoned(order.cutoff)
    stale_before = min(cutoff, now - _STALE).timestamp()
    run = _Run(home, order, cutoff, stale_before, is_stopped)
    try:
        report = replace(run.look(), started_at=now, is_dry_run=not order.delete)
        if order.delete and not report.unreadable and (report.removable or report.leftovers):
            on_removal()
            return run.remove(report, now)
        return report
    finally:
        run.close()


class _Run:
    def __init__(
        self,
        home: TrustedRoot,
        order: GcOrder,
        cutoff: datetime,
        stale_before: float,
        is_stopped: Callable[[], bool],
    ) -> None:
        self._is_stopped = is_stopped
        self._home = home
        self._order = order
        self._cutoff = cutoff
        self._stale_before = stale_before
        self._inventory = Inventory()
        self._named = tuple(map(named_place, order.cited_by))
        self._roots = tuple(TrustedRoot(folder) for folder, _ in self._named)
        self._citers: tuple[Citers, ...] = ()
        self._cited: dict[tuple[str, str], dict[CiterKind, str]] = {}
        self._stored = StoredNames(())

    def look(self) -> GcReport:
        """Take stock, and read what cites."""
        # 1. What is there? What comes later is young, or stored under a name we do not know.
        self._inventory = take_inventory(
            self._home, limits=self._order.limits, stale_before=self._stale_before
        )
        self._stored = StoredNames(one.name for one in self._inventory.artifacts)
        strange = {one.name for one in self._inventory.artifacts if one.sha256 is None}
        # 2. What cites it?
        limits = self._order.limits
        self._citers = (
            Citers(self._home, self._stored, strange=strange, limits=limits, cited=self._cited),
            *(
                Citers(
                    root,
                    self._stored,
                    prefix=f"{_label(folder)}/" if only is None else "",
                    is_home=False,
                    only=only,
                    limits=limits,
                    cited=self._cited,
                )
                for root, (folder, only) in zip(self._roots, self._named, strict=True)
            ),
        )
        return self._judged()

    def close(self) -> None:
        """Close the handles on what was named beside the home."""
        for root in self._roots:
            root.close()

    def _judged(self) -> GcReport:
        unreadable = _once((*self._inventory.unreadable, *self._read_citers()))
        # 3. What goes?
        removable, kept = decide(self._inventory.artifacts, self._cited, cutoff=self._cutoff)
        return GcReport(
            started_at=self._cutoff,
            cutoff=self._cutoff,
            is_dry_run=True,
            removable=() if unreadable else removable,
            kept=kept,
            leftovers=self._inventory.leftovers,
            unreadable=unreadable,
            undecided=len(removable) if unreadable else 0,
        )

    def _read_citers(self) -> Iterator[Unreadable]:
        for citers in self._citers:
            citers.read()
            yield from citers.unreadable
        try:
            if _has_seals(self._home):
                # A seal covers ledger lines; whoever checks it wants to see what they speak of.
                for artifact in self._inventory.artifacts:
                    if artifact.sha256 is not None:
                        kinds = self._cited.setdefault(artifact.name, {})
                        kinds.setdefault(CiterKind.SEAL, _SEALS)
        except CtxauditError as error:
            yield Unreadable(_SEALS, str(error))

    def remove(self, report: GcReport, now: datetime) -> GcReport:
        """Remove what goes, alone in the home; gives the report of what happened."""
        try:
            with (
                self._home.open_directory() as top,
                FolderGuard.alone(top, timeout_seconds=self._order.lock_timeout_seconds),
            ):
                return self._remove_alone(report, now)
        except CtxauditError as error:
            return replace(report, removable=(), leftovers=(), stopped_by=str(error))

    def _remove_alone(self, report: GcReport, now: datetime) -> GcReport:
        gone: list[Removable] = []
        failed: list[Failed] = []
        kept = list(report.kept)
        waiting = list(report.removable)
        stopped = ""
        unreadable: tuple[Unreadable, ...] = ()
        while waiting and not stopped:
            # 4. Has anything begun to cite since? New files and changed ones are read again.
            again = _once(self._read_citers())
            if again:
                unreadable = again
                break
            waiting, cited = _split(waiting, self._cited)
            kept += cited
            batch, waiting = waiting[:_BATCH], waiting[_BATCH:]
            # 5. The ledger says it, then the files go.
            for session_id, group in groupby(batch, key=lambda one: one.artifact.session_id):
                done, stopped = self._remove_session(session_id, list(group), now)
                gone += done.gone
                failed += done.failed
                kept += [Kept(one.artifact, {}, KeptFor.CHANGED) for one in done.changed]
                if not stopped and self._is_stopped():
                    stopped = "interrupted"
                if stopped:
                    break
        leftovers = () if stopped or unreadable else tuple(self._discard(report.leftovers))
        return replace(
            report,
            removable=tuple(gone),
            kept=tuple(sorted(kept, key=lambda one: one.artifact.name)),
            failed=tuple(failed),
            leftovers=leftovers,
            unreadable=unreadable,
            undecided=len(waiting) if unreadable else 0,
            stopped_by=stopped,
        )

    def _remove_session(
        self, session_id: str, wanted: list[Removable], now: datetime
    ) -> tuple[Removed, str]:
        """Remove artifacts of one session; gives what became of them, and what ends the run."""
        try:
            return remove_artifacts(
                self._home,
                session_id,
                wanted,
                reason=f"gc: nothing cites it, last used before {_day(self._cutoff)}",
                now=now,
                limits=self._order.limits,
                lock_timeout_seconds=self._order.lock_timeout_seconds,
            ), ""
        except CtxauditError as error:
            refused = [Failed(one.artifact, str(error)) for one in wanted]
            # A disk that takes no line takes none of the next session either.
            return Removed(failed=refused), str(error) if isinstance(error, WriteFailed) else ""

    def _discard(self, leftovers: Iterable[Leftover]) -> Iterator[Leftover]:
        """Remove temporary files of dead writers; one that stays is for the next collection."""
        for names, group in groupby(leftovers, key=lambda one: one.folder):
            try:
                with self._home.open_directory(*names) as folder:
                    yield from self._discard_in(folder, group)
            except CtxauditError:
                continue

    def _discard_in(self, folder: Directory, group: Iterable[Leftover]) -> Iterator[Leftover]:
        for one in group:
            if folder.discard_stale_draft(one.filename, before_seconds=self._stale_before):
                yield one


def _once(faults: Iterable[Unreadable]) -> tuple[Unreadable, ...]:
    """Give the first fault of each target, in order."""
    found: dict[str, Unreadable] = {}
    for fault in faults:
        found.setdefault(fault.target, fault)
    return tuple(found.values())


def _split(
    waiting: Iterable[Removable], cited: dict[tuple[str, str], dict[CiterKind, str]]
) -> tuple[list[Removable], list[Kept]]:
    going: list[Removable] = []
    kept: list[Kept] = []
    for one in waiting:
        citers = cited.get(one.artifact.name)
        if citers:
            kept.append(Kept(one.artifact, dict(citers)))
        else:
            going.append(one)
    return going, kept


def _has_seals(home: TrustedRoot) -> bool:
    try:
        with home.open_directory(_SEALS) as folder:
            return bool(folder.entries())
    except SourceAbsent:
        return False


def _label(path: str) -> str:
    return PurePath(path).name or "folder"


def _day(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
