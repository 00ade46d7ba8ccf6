"""The state store of a home: what its current versions cite, and whether its histories are whole.

Guarantees: the database is copied through the home's root and only the copy is opened. A version
that cannot be read is a finding and the others are read; a store that cannot be read at all is one
finding. Earlier versions are cited where the operator asks for all, and what the store says of its
versions is held against their documents then. SQLite is loaded where there is
a store, and not before.

Example:
    >>> from provenance.audit.notes import Notes
    >>> part = AuditPart()
    >>> nowhere = TrustedRoot("/nowhere")
    >>> cite_state_versions(nowhere, part, limits=part.limits, notes=Notes(), check_all=False)
    >>> part.citations
    {}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provenance.audit.notes import Notes
from provenance.audit.part import AuditPart
from provenance.audit.states import citations_of, unreadable_state
from provenance.errors import CtxauditError
from provenance.findings import Finding, Severity
from provenance.fs import SourceAbsent, TrustedRoot
from provenance.limits import Limits

if TYPE_CHECKING:
    from provenance.stores import StateReader

__all__ = ["STATE_STORE", "cite_state_versions"]

_FOLDER = "states"
STATE_STORE = "states.sqlite3"


def cite_state_versions(
    home: TrustedRoot, part: AuditPart, *, limits: Limits, notes: Notes, check_all: bool
) -> None:
    """Read the versions in the store of a home into its part.

    Args:
        home: the home's root.
        part: takes the citations.
        limits: bounds on the states.
        notes: takes the findings.
        check_all: also earlier versions, and the traces of selections.
    """
    target = f"{part.prefix}{_FOLDER}/{STATE_STORE}"
    try:
        with home.open_directory(_FOLDER) as folder:
            if folder.identity(STATE_STORE) is None:
                return
    except CtxauditError:
        return  # whoever reads the state files says so
    from provenance.stores import open_snapshot  # noqa: PLC0415 - loads SQLite

    try:
        with open_snapshot(home, limits=limits) as reader:
            _cite(reader, part, target, notes=notes, check_all=check_all)
    except SourceAbsent:
        return  # it went meanwhile
    except CtxauditError as error:
        notes.add(unreadable_state(target, error))


def _cite(
    reader: StateReader, part: AuditPart, target: str, *, notes: Notes, check_all: bool
) -> None:
    from provenance.stores import (  # noqa: PLC0415 - as above
        checked_versions,
        first_gap,
        rows_of_no_version,
    )

    def say_broken(place: str, message: str) -> None:
        notes.add(Finding("state_history_broken", Severity.ERROR, place, message=message))

    found = reader.scan()
    for fault in found.faults:
        notes.add(Finding("state_unreadable", Severity.ERROR, target, message=fault))
    for name, numbers in found.versions.items():
        if (gap := first_gap(numbers)) is not None:
            say_broken(f"{target}:{name}", f"versions: expected version {gap}, got none")
        # Of one version alone nothing follows about what it changed.
        for one in checked_versions(reader, name, numbers if check_all else numbers[-1:]):
            place = f"{target}:{name}@{one.number}"
            if one.error is not None:
                notes.add(unreadable_state(place, one.error))
            if one.kept is None:
                continue
            for fault in one.faults if check_all else ():
                say_broken(place, fault)
            for pointer, citation in citations_of(one.kept.state, place):
                part.cite(pointer, citation)
    if check_all:
        for fault in rows_of_no_version(reader, found.versions):
            say_broken(target, fault)
        reader.selections()
