"""From what was named on the command line to what is checked below which roots.

Guarantees: a target that cannot be read, or whose roots nobody named, is refused before anything is
verified; nothing that was named is left out silently. What a target holds never chooses roots.

Example:
    >>> from provenance.audit.notes import Notes
    >>> read_targets(AuditRequest(targets=("/nowhere/a",)), Notes())
    Traceback (most recent call last):
    provenance.audit.request.TargetError: a: expected a file or folder, got nothing of that name
"""

from __future__ import annotations

from collections.abc import Callable

from provenance.audit.notes import Notes
from provenance.audit.request import STDIN, AuditRequest
from provenance.audit.target_files import read_file, scan_loose
from provenance.audit.target_folders import read_folder
from provenance.audit.target_plan import AuditPlan, PlanMaker

__all__ = ["AuditPlan", "read_targets"]

_BYTE_ORDER_MARK = "\ufeff"


def read_targets(
    request: AuditRequest, notes: Notes, *, on_wait: Callable[[], None] | None = None
) -> AuditPlan:
    """Read every target; findings about what they hold go to `notes`.

    An interrupt (`KeyboardInterrupt`) ends the reading: the plan holds what was read until then.
    `on_wait` hears several times a second that a lock is waited for, and may raise one.

    Raises:
        TargetError: a target cannot be used; nothing was verified.
    """
    maker = PlanMaker(request, notes, on_wait=on_wait)
    try:
        for target, label in zip(request.targets, maker.labels, strict=True):
            if target == STDIN:
                _read_stdin(request, maker)
            elif not read_folder(target, label, request, notes, maker):
                read_file(target, label, request, maker)
        return maker.plan()
    except KeyboardInterrupt:
        return maker.interrupted_plan()
    except BaseException:
        maker.close()
        raise


def _read_stdin(request: AuditRequest, maker: PlanMaker) -> None:
    text = request.stdin.decode("utf-8", "surrogateescape")
    if request.scan:
        scan_loose(text, STDIN, maker)
        return
    lines = (line.removesuffix("\r") for line in text.removeprefix(_BYTE_ORDER_MARK).split("\n"))
    maker.add_loose(((pointer, None) for pointer in lines if pointer), STDIN)
