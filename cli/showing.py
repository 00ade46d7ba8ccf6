"""Carries out `ctxaudit show`.

Guarantees: what is shown are the bytes that were verified: the excerpt of that very reading, or a
second reading that is verified itself. Text is escaped line by line, so that nothing in it steers
a terminal, and bounded, so that nothing floods one.

Example:
    $ ctxaudit show transcript:deploy-2041:8 --home sample_state
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import click

from provenance.artifacts import ArtifactStore
from provenance.audit.part import AuditPart
from provenance.audit.request import AuditRequest
from provenance.audit.verifying import PartVerifier
from provenance.evidence import EvidenceUnavailable
from provenance.pointers import (
    SourcePointer,
    SourcePointerError,
    SourcePointerKind,
    parse_source_pointer,
)
from provenance.policy import Verdict
from provenance.resolution import SourceResolution, SourceResolutionStatus, resolution_for
from provenance.transcripts import is_native, read_event_bytes, read_foreign_record

from .exit_codes import ExitCode
from .operator_files import note_absent_folder, read_policy
from .roots import choose_home, part_below
from .streams import one_line, talk, write_bytes, write_text
from .verdict import code_of

__all__ = ["ShowOrder", "show"]

_EXCERPT_CHARACTERS = 2_000
_MOST_LINES = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOrder:
    """The options of one `ctxaudit show`; `lines` are first and last, counted from 1."""

    pointer: str
    home: str | None
    transcript_root: str | None
    artifact_root: str | None
    policy: str | None
    tenant: str | None
    lines: tuple[int, int | None] | None
    raw: bool
    quiet: bool


def show(order: ShowOrder) -> ExitCode:
    """Print the evidence, or say why there is none; gives the exit code.

    Raises:
        click.UsageError: roots or policy cannot be used; raw bytes would go to a terminal.
    """
    if order.raw and sys.stdout is not None and sys.stdout.isatty():
        raise click.UsageError("--raw: expected a pipe or file as standard output, got a terminal")
    request = AuditRequest(
        transcript_root=order.transcript_root,
        artifact_root=order.artifact_root,
        policy=read_policy(order.policy),
        tenant=order.tenant,
    )
    part = _part(order, request)
    resolution = _resolve(part, order)
    if resolution.status is not SourceResolutionStatus.AVAILABLE:
        return _refuse(resolution)
    pointer = parse_source_pointer(order.pointer)
    try:
        if order.raw:
            for block in _raw(part, pointer):
                write_bytes(block)
        else:
            write_text("".join(_shown(part, pointer, resolution, order)))
    except EvidenceUnavailable as failure:
        # It was available a moment ago; the second reading says otherwise.
        return _refuse(
            resolution_for(order.pointer, failure.reason, source_type=resolution.source_type)
        )
    return ExitCode.OK


def _part(order: ShowOrder, request: AuditRequest) -> AuditPart:
    try:
        pointer = parse_source_pointer(order.pointer)
    except SourcePointerError:
        return AuditPart()  # it leads nowhere, so that no root is needed to say so
    if not order.quiet:
        for option, path in (
            ("--home", order.home),
            ("--transcript-root", order.transcript_root),
            ("--artifact-root", order.artifact_root),
        ):
            note_absent_folder(option, path)
    # What the operator's policy denies is not looked for, not even by its folder.
    policies = () if request.policy is None else (request.policy,)
    verdict = AuditPart(policies=policies).verdict(pointer, order.tenant)
    home = choose_home(
        order.home,
        transcript_root=order.transcript_root,
        artifact_root=order.artifact_root,
        session_id=pointer.session_id if verdict is Verdict.ALLOW else None,
    )
    return part_below(home, request)


def _resolve(part: AuditPart, order: ShowOrder) -> SourceResolution:
    # A record fits into its limit, so that all lines of an event are in its excerpt.
    whole = order.lines is not None and order.pointer.startswith("transcript:")
    characters = part.limits.max_foreign_record_bytes if whole else _EXCERPT_CHARACTERS
    with PartVerifier(part, tenant=order.tenant, max_excerpt_chars=characters) as verifier:
        (resolution,) = verifier.verify([order.pointer])
    if part.transcripts is None and part.artifacts is None:
        return resolution  # no pointer, so that there is nothing to look for
    kind = resolution.source_type
    if (kind == SourcePointerKind.TRANSCRIPT and part.transcripts is None) or (
        kind == SourcePointerKind.ARTIFACT and part.artifacts is None
    ):
        raise click.UsageError(f"--{kind}-root: expected one for {kind} pointers, got none")
    return resolution


def _refuse(resolution: SourceResolution) -> ExitCode:
    state = resolution.status if resolution.conclusive else "inconclusive"
    talk(
        f"ctxaudit show: {resolution.pointer}: {state} ({resolution.reason}); "
        f"see ctxaudit explain {resolution.reason}"
    )
    return code_of(resolution)


def _raw(part: AuditPart, pointer: SourcePointer) -> Iterator[bytes]:
    if pointer.sequence is not None and part.transcripts is not None:
        read = (
            read_event_bytes
            if is_native(part.transcripts, pointer.session_id)
            else read_foreign_record
        )
        yield read(part.transcripts, pointer.session_id, pointer.sequence, limits=part.limits)
    elif part.artifacts is not None:
        with ArtifactStore(part.artifacts, limits=part.limits) as store:
            yield from store.iterate(pointer)


def _shown(
    part: AuditPart, pointer: SourcePointer, resolution: SourceResolution, order: ShowOrder
) -> Iterator[str]:
    yield f"pointer   {one_line(resolution.pointer)}\n"
    yield f"status    {resolution.status} ({resolution.strength})\n"
    yield f"sha256    {resolution.evidence_sha256}\n"
    if resolution.native_id is not None:
        yield f"native id {one_line(resolution.native_id)}\n"
    excerpt = resolution.excerpt or ""
    if order.lines is None:
        cut = len(excerpt) >= _EXCERPT_CHARACTERS
        yield f"excerpt   {len(excerpt)} characters{', more with --lines' if cut else ''}\n\n"
        yield _escaped(excerpt.split("\n"))
        return
    first, last = order.lines
    if last is None or last - first >= _MOST_LINES:
        last = first + _MOST_LINES - 1
    if pointer.sequence is None and part.artifacts is not None:
        with ArtifactStore(part.artifacts, limits=part.limits) as store:
            window = store.read(pointer, first - 1, last - first + 1)
        lines, total = window.text.removesuffix("\n").split("\n"), window.total_lines
        if window.text == "":
            lines = []
    else:
        every = excerpt.removesuffix("\n").split("\n")
        lines, total = every[first - 1 : last], len(every)
    yield (
        f"lines     {first} to {first + len(lines) - 1} of {total}\n\n"
        if lines
        else (f"lines     none of {total}\n\n")
    )
    yield _escaped(lines)


def _escaped(lines: list[str]) -> str:
    return "".join(_line(line) + "\n" for line in lines)


def _line(text: str) -> str:
    return "\t".join(one_line(part) for part in text.removesuffix("\r").split("\t"))
