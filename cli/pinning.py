"""Carries out `ctxaudit pin`.

Guarantees: what changes is printed before it is written. Where anything is in the way (a source
that is not available, a file that cannot be read, other bytes than pinned) the lock file stays as
it is, each of these is named, and the exit code is that of the worst.

Example:
    $ ctxaudit pin home --update --dry-run
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import click

from provenance.audit.lock import unreadable_lock
from provenance.audit.pin_plan import Change, ChangeKind, PinPlan, plan_pins
from provenance.audit.pinning import (
    Gathered,
    LockPlace,
    PinRequest,
    gather,
    locked_place,
    read_cited,
)
from provenance.audit.request import TargetError
from provenance.clock import utc_now
from provenance.errors import CtxauditError, MachineError
from provenance.locks import LOCK_FILE, LockError

from .exit_codes import ExitCode, worst
from .interrupts import Interrupts
from .operator_files import label_of, note_absent_folder
from .places import named, require_lock_place
from .streams import talk, write_text
from .verdict import code_of, fault_of_code

__all__ = ["PinOrder", "pin"]

# Of sources in the way: enough to see what is wrong; `verify` lists them all.
_MOST_NAMED = 20
_SHOWN_DIGITS = 12


class PinFailed(click.ClickException):
    """The machine could not lock the folder or write the file; the old one is as it was."""

    exit_code = ExitCode.TOOL_FAILED


@dataclass(frozen=True, slots=True, kw_only=True)
class PinOrder:
    """The options of one `ctxaudit pin`."""

    request: PinRequest
    update: bool
    dry_run: bool
    available_only: bool
    quiet: bool


def pin(order: PinOrder, interrupts: Interrupts) -> ExitCode:
    """Pin, or say what is in the way; gives the exit code.

    Raises:
        click.UsageError: the home, the state or the named lock cannot be used.
        PinFailed: the lock file could not be written.
    """
    if not order.quiet:
        note_absent_folder("--transcript-root", order.request.transcript_root)
        note_absent_folder("--artifact-root", order.request.artifact_root)
    _require_place(order.request)
    try:
        gathered = gather(order.request)
        obstacle = _obstacle(gathered, order)
        if obstacle is not ExitCode.OK:
            return obstacle
        with interrupts.held_back(), locked_place(order.request) as place:
            return _pin(place, gathered, order)
    except TargetError as error:
        raise click.UsageError(str(error), click.get_current_context()) from None
    except (MachineError, LockError) as error:
        raise PinFailed(f"pin: {_label(order)}: {error}") from None


def _require_place(request: PinRequest) -> None:
    if request.lock is not None:
        require_lock_place(
            request.lock,
            home=request.home,
            roots=named(
                transcript_root=request.transcript_root, artifact_root=request.artifact_root
            ),
        )


def _obstacle(gathered: Gathered, order: PinOrder) -> ExitCode:
    """Name what is in the way; OK where nothing is."""
    for finding in gathered.findings:
        talk(f"ctxaudit pin: {finding.target}: {finding.message} ({finding.code})")
    _name_unavailable(gathered)
    codes = [fault_of_code(finding.code) for finding in gathered.findings]
    if not order.available_only:
        codes += map(code_of, gathered.unavailable)
    code = worst(codes)
    if code is ExitCode.OK and not gathered.confirmed:
        # With --available-only, what was left out says more than that nothing is left.
        code = worst(map(code_of, gathered.unavailable))
        code = ExitCode.NOTHING_VERIFIED if code is ExitCode.OK else code
        if gathered.altered and not order.update:
            # What is cited no more was written otherwise: that is more than that nothing is cited.
            plan = plan_pins(gathered.before, gathered.altered, at=utc_now())
            return _refuse(list(plan.changes), order)
        if not gathered.unavailable:
            talk("ctxaudit pin: expected a state that cites something, got none")
    if code is not ExitCode.OK:
        talk(f"ctxaudit pin: {_label(order)}: nothing written")
    return code


def _name_unavailable(gathered: Gathered) -> None:
    for one in gathered.unavailable[:_MOST_NAMED]:
        state = one.status if one.conclusive else "inconclusive"
        talk(f"ctxaudit pin: {one.pointer}: {state} ({one.reason})")
    more = len(gathered.unavailable) - _MOST_NAMED
    if more > 0:
        talk(f"ctxaudit pin: {more} more are not available; ctxaudit verify lists them")


def _pin(place: LockPlace, gathered: Gathered, order: PinOrder) -> ExitCode:
    # 1. The lock as it is now: another run may have written it meanwhile.
    try:
        present = place.read()
    except MachineError:
        raise
    except CtxauditError as error:
        finding = unreadable_lock(_label(order), error)
        talk(f"ctxaudit pin: {finding.target}: {finding.message} ({finding.code})")
        return fault_of_code(finding.code)
    # 2. What changes. Only a run over the whole home knows what nothing rests on any more; and what
    # it read before the folder was held may be cited again.
    unused: frozenset[str] = frozenset()
    if order.request.state is None and gathered.unused:
        cited, findings = read_cited(order.request)
        if findings:
            return _obstacle(replace(gathered, findings=findings), order)
        unused = gathered.droppable(present, cited)
    plan = plan_pins(
        present,
        (*gathered.confirmed, *gathered.altered),
        at=utc_now(),
        droppable=unused if order.update else (),
    )
    differing = [change for change in plan.changes if change.kind is ChangeKind.CHANGED]
    if differing and not order.update:
        return _refuse(differing, order)
    if order.update and not order.quiet:
        _name_gone(gathered)
    # 3. Said first, then written.
    write_text("".join(map(_line, plan.changes)))
    if plan.changes and not order.dry_run:
        place.write(plan.lock)
    if not order.quiet:
        talk(f"ctxaudit pin: {_label(order)}: {_summary(plan, gathered, order, len(unused))}")
    return ExitCode.OK


def _refuse(differing: list[Change], order: PinOrder) -> ExitCode:
    for change in differing[:_MOST_NAMED]:
        old, new = _differing(change)
        talk(f"ctxaudit pin: {change.pointer}: expected the pinned {old}, got {new}")
    talk(
        f"ctxaudit pin: {_label(order)}: {len(differing)} pinned otherwise, nothing written; "
        "--update replaces them"
    )
    return ExitCode.CORRUPT


def _line(change: Change) -> str:
    return f"{change.kind} {change.pointer} {' '.join(_digits(change))}\n"


def _digits(change: Change) -> Iterator[str]:
    return ("-" if one is None else one.sha256[:_SHOWN_DIGITS] for one in (change.old, change.new))


def _differing(change: Change) -> Iterable[str]:
    """Give what was pinned and what was found, by what tells them apart."""
    old, new = change.old, change.new
    if old is None or new is None or old.sha256 != new.sha256:
        return _digits(change)
    return f"{old.bytes:,} bytes", f"{new.bytes:,} bytes"


def _name_gone(gathered: Gathered) -> None:
    for one in gathered.gone[:_MOST_NAMED]:
        state = one.status if one.conclusive else "inconclusive"
        talk(f"ctxaudit pin: {one.pointer}: kept, its source is {state} ({one.reason})")


def _summary(plan: PinPlan, gathered: Gathered, order: PinOrder, droppable: int) -> str:
    counts = [f"{plan.count(kind)} {kind}" for kind in ChangeKind]
    counts.append(f"{plan.unchanged} unchanged")
    if gathered.unavailable:
        counts.append(f"{len(gathered.unavailable)} left out")
    if gathered.gone and order.request.state is None:
        counts.append(f"{len(gathered.gone)} kept whose source is not available")
    unused = droppable - plan.count(ChangeKind.REMOVED)
    if unused > 0:
        counts.append(f"{unused} that nothing cites any more")
    done = "written" if plan.changes else "nothing to write"
    return f"{', '.join(counts)}; {'nothing written (--dry-run)' if order.dry_run else done}"


def _label(order: PinOrder) -> str:
    return LOCK_FILE if order.request.lock is None else label_of(order.request.lock)
