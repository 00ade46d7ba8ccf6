"""The roots that `show`, `render` and `spill` look below, from what the operator named.

Guarantees: without `--home` and roots, the working folder counts as the home only where it looks
like one. A home's own ctxaudit.toml can deny and never allow; where it is not understood, nothing
is shown.

Example:
    >>> choose_home(None, transcript_root="logs", artifact_root=None) is None
    True
"""

from __future__ import annotations

import click

from provenance.artifacts.verify import ARTIFACT_FOLDER
from provenance.audit.home import HOME_MARKERS, HomeReader
from provenance.audit.notes import Notes
from provenance.audit.part import AuditPart
from provenance.audit.request import AuditRequest
from provenance.errors import CtxauditError
from provenance.findings import Severity
from provenance.fs import TrustedRoot

from .streams import talk

__all__ = ["choose_home", "is_home", "part_below"]


def choose_home(
    home: str | None,
    *,
    transcript_root: str | None,
    artifact_root: str | None,
    session_id: str | None = None,
) -> str | None:
    """Give the home to use; None where the operator named roots instead.

    Args:
        home: as the operator named it.
        transcript_root: the same.
        artifact_root: the same.
        session_id: whose artifacts make the working folder a home; None: nobody's do.

    Raises:
        click.UsageError: nothing was named, and the working folder is no home.
    """
    if home is not None or transcript_root is not None or artifact_root is not None:
        return home
    if is_home(".", session_id):
        return "."
    raise click.UsageError(
        "expected --home, --transcript-root or --artifact-root (this folder is no state home)",
        click.get_current_context(),
    )


def part_below(home: str | None, request: AuditRequest) -> AuditPart:
    """Build roots, limits and policies; says aloud what a home's configuration could not have.

    Raises:
        click.UsageError: the home's configuration is not understood.
    """
    if home is None:
        return AuditPart(
            transcripts=_root(request.transcript_root),
            artifacts=_root(request.artifact_root),
            limits=request.limits,
            policies=() if request.policy is None else (request.policy,),
        )
    notes = Notes()
    part = HomeReader(request, notes).part_of(TrustedRoot(home), prefix="")
    for finding in notes.listed():
        said = f"{finding.target}: {finding.message} ({finding.code})"
        if finding.severity is Severity.ERROR:
            raise click.UsageError(said, click.get_current_context())
        talk(f"ctxaudit: {said}")
    return part


def is_home(path: str, session_id: str | None = None) -> bool:
    """Say whether a folder looks like a state home, or holds this session's artifacts."""
    try:
        with TrustedRoot(path) as root:
            with root.open_directory() as folder:
                if not HOME_MARKERS.isdisjoint(entry.name for entry in folder.entries()):
                    return True
            if session_id is not None:
                root.open_directory(session_id, ARTIFACT_FOLDER).close()
                return True
    except CtxauditError:
        return False
    return False


def _root(path: str | None) -> TrustedRoot | None:
    return None if path is None else TrustedRoot(path)
