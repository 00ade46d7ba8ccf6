"""What one state cites that `pin --state` names: in the home, in its store, or in a file.

Guarantees: a name means every state of the home that has it: a file, and the current version in the
state store. Only where there is neither, it is the operator's file. One that cannot be read is a
usage error, so that nothing is pinned for half of it.

Example:
    >>> from provenance.audit.request import TargetError
    >>> try:
    ...     cite_state("/nowhere/state.json", TrustedRoot("/nowhere"), AuditPart())
    ... except TargetError as error:
    ...     print(error)
    --state: state.json: expected a state of the home, or a file, got neither
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from provenance.audit.part import AuditPart
from provenance.audit.request import TargetError
from provenance.audit.state_versions import STATE_STORE
from provenance.audit.states import citations_of, parse_state, read_home_state, state_names
from provenance.durable import DurableContextState
from provenance.errors import CtxauditError
from provenance.findings import Finding
from provenance.fs import SourceAbsent, TrustedRoot, read_operator_file
from provenance.pointers import is_name

__all__ = ["cite_state"]


def cite_state(named: str, home: TrustedRoot, part: AuditPart) -> None:
    """Cite what one state cites: of the home by its name, in a file or the store, or a file.

    Raises:
        TargetError: there is no such state, or it cannot be read.
    """
    found = [*_states_in_files(named, home, part), *_states_in_the_store(named, home, part)]
    if not found:
        label = PurePath(named).name
        try:
            data = read_operator_file(
                named, max_bytes=part.limits.max_document_bytes, named_pipes=False
            )
            found.append((parse_state(data, limits=part.limits), named))
        except SourceAbsent:
            raise TargetError(
                f"--state: {label}: expected a state of the home, or a file, got neither"
            ) from None
        except CtxauditError as error:
            raise TargetError(f"--state: {label}: {error}") from None
    for state, place in found:
        for pointer, citation in citations_of(state, place):
            part.cite(pointer, citation)


def _states_in_files(
    named: str, home: TrustedRoot, part: AuditPart
) -> Iterator[tuple[DurableContextState, str]]:
    for name in state_names(named):
        try:
            with home.open_directory("states") as folder:
                folder.open_file(name).close()
                state = read_home_state(folder, name, target=f"states/{name}", limits=part.limits)
        except SourceAbsent:
            continue
        except CtxauditError as error:
            raise TargetError(f"--state: {name}: {error}") from None
        if isinstance(state, Finding):
            raise TargetError(f"--state: {name}: {state.message}")
        yield state, f"states/{name}"


def _states_in_the_store(
    named: str, home: TrustedRoot, part: AuditPart
) -> Iterator[tuple[DurableContextState, str]]:
    if not is_name(named):
        return
    try:
        with home.open_directory("states") as folder:
            if folder.identity(STATE_STORE) is None:
                return
    except CtxauditError:
        return  # nor is there a state in a file; or it said why
    from provenance.stores import StateAbsent, open_snapshot  # noqa: PLC0415 - loads SQLite

    try:
        with open_snapshot(home, limits=part.limits) as reader:
            kept = reader.get(named)
    except (SourceAbsent, StateAbsent):
        return
    except CtxauditError as error:
        raise TargetError(f"--state: {named}: {error}") from None
    yield kept.state, f"states/{STATE_STORE}:{named}@{kept.version}"
