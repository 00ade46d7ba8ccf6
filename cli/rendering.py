"""Carries out `ctxaudit render`.

Guarantees: a state that cannot be read is refused with the field that is wrong; where roots are
known, the sources are verified first and the text says what was found.

Example:
    $ ctxaudit render sample_state/states/deploy-2041.json
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from provenance.audit.part import AuditPart
from provenance.audit.request import AuditRequest
from provenance.audit.states import parse_state
from provenance.audit.verifying import PartVerifier
from provenance.durable import (
    DurableContextState,
    render_durable_context,
    resolve_durable_sources,
)
from provenance.errors import CtxauditError
from provenance.fs import read_operator_file
from provenance.limits import DEFAULT_LIMITS
from provenance.resolution import SourceResolution

from .operator_files import label_of, note_absent_folder, read_policy
from .roots import part_below
from .streams import talk, write_text

__all__ = ["RenderOrder", "read_state", "render", "rendered"]

_STATES = "states"


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderOrder:
    """The options of one `ctxaudit render`."""

    state: str
    home: str | None
    transcript_root: str | None
    artifact_root: str | None
    policy: str | None
    tenant: str | None
    resolve: bool
    quiet: bool
    fallback_home: str | None = None


def render(ctx: click.Context, order: RenderOrder) -> None:
    """Print the rendered state; an empty state gives no text.

    Raises:
        click.UsageError: the state, a policy or a root cannot be used.
    """
    text = rendered(ctx, read_state(ctx, order.state), order)
    if text:
        write_text(text + "\n")


def rendered(ctx: click.Context, state: DurableContextState, order: RenderOrder) -> str:
    """Give the text of a state that was read, with what is true of its sources now.

    Raises:
        click.UsageError: a policy or a root cannot be used.
    """
    if order.resolve and not order.quiet:
        note_absent_folder("--home", order.home)
        note_absent_folder("--transcript-root", order.transcript_root)
        note_absent_folder("--artifact-root", order.artifact_root)
    part = _part(order) if order.resolve else None
    resolutions = None if part is None else _resolve(ctx, state, part, order)
    if order.resolve and part is None and not order.quiet:
        talk(f"{ctx.command_path}: sources not looked up: expected a home or roots, got none")
    return render_durable_context(state, source_resolutions=resolutions)


def read_state(ctx: click.Context, path: str) -> DurableContextState:
    """Read a state file that the operator named.

    Raises:
        click.UsageError: it cannot be read.
    """
    try:
        data = read_operator_file(
            path, max_bytes=DEFAULT_LIMITS.max_document_bytes, named_pipes=False
        )
        return parse_state(data, limits=DEFAULT_LIMITS)
    except CtxauditError as error:
        raise click.UsageError(f"{label_of(path)}: {error}", ctx) from None


def _part(order: RenderOrder) -> AuditPart | None:
    home = order.home
    if home is None and order.transcript_root is None and order.artifact_root is None:
        folder = Path(order.state).absolute().parent
        home = str(folder.parent) if folder.name == _STATES else order.fallback_home
        if home is None:
            return None
    request = AuditRequest(
        transcript_root=order.transcript_root,
        artifact_root=order.artifact_root,
        policy=read_policy(order.policy),
        tenant=order.tenant,
    )
    return part_below(home, request)


def _resolve(
    ctx: click.Context, state: DurableContextState, part: AuditPart, order: RenderOrder
) -> tuple[SourceResolution, ...]:
    with PartVerifier(part, tenant=order.tenant) as verifier:
        resolutions = resolve_durable_sources(state, _Batch(verifier))
    for resolution in resolutions:
        root = {"transcript": part.transcripts, "artifact": part.artifacts}.get(
            resolution.source_type or "", part
        )
        if root is None:
            kind = resolution.source_type
            raise click.UsageError(
                f"--{kind}-root: expected one for {kind} pointers, got none", ctx
            )
    return resolutions


@dataclass(frozen=True, slots=True)
class _Batch:
    """Lets the library ask a part's verifier as it asks a resolver."""

    verifier: PartVerifier

    def resolve_many(self, pointers: Sequence[str], /) -> tuple[SourceResolution, ...]:
        return tuple(self.verifier.verify(pointers))
