"""Carries out `verify` and `transcript check`: reads what was named, audits, writes the reports.

Guarantees: no report is written into what is audited. A SIGINT ends the verifying and not the
report. A report in a file is whole or not there. The exit code does not depend on the format.

Example:
    $ ctxaudit verify home --format ndjson
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import click

from provenance.audit import STDIN, AuditRequest, Listener, TargetError, run_audit
from provenance.audit_report import AuditedSource, AuditReport
from provenance.decisions import AuthorizationDecision
from provenance.errors import CtxauditError
from provenance.fs import atomic_write
from provenance.limits import DEFAULT_LIMITS
from provenance.policy import Policy
from provenance.reports import closing_lines, result_line
from provenance.resolution import Strength

from .closing import Asked, closing_words
from .console_plain import write_plain
from .console_view import view_of
from .decision_trace import DecisionTrace
from .exit_codes import ExitCode
from .interrupts import Interrupts
from .keys import read_signer, read_trust
from .operator_files import (
    Digests,
    distinct_targets,
    is_folder,
    label_of,
    note_absent_folder,
    read_lock,
    read_policy,
    read_stdin,
    read_waivers,
)
from .options import Manner
from .outputs import Output
from .places import NamedPath, named, require_places
from .progress import Progress
from .report_texts import Words, report_text
from .sandboxing import audit_runner
from .streams import OutputFailed, talk, write_text
from .verdict import verdict_of

__all__ = ["VerifyOrder", "carry_out"]

_PIECE = 1 << 16
# Enough to recognise a record, too little to hand a whole transcript on by mistake.
_EXCERPT_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOrder:
    """The options of one audit, as they were given; `command` is what the operator called.

    `precheck` raises a usage error for targets that the command does not take.
    """

    targets: tuple[str, ...]
    pointers: tuple[str, ...]
    transcript_root: str | None
    artifact_root: str | None
    policy: str | None
    tenant: str | None
    waivers: str | None = None
    decisions: str | None = None
    min_strength: str | None
    scan: bool
    as_format: str | None
    check_all: bool
    sessions: tuple[str, ...] = ()
    since: datetime | None = None
    expected_hash: str | None = None
    jobs: int
    outputs: tuple[Output, ...]
    fail_on: frozenset[str] | None
    exit_zero: bool
    manner: Manner
    weakened_by_environment: tuple[str, ...]
    command: str = "ctxaudit verify"
    only_transcripts: bool = False
    lock: str | None = None
    fast: bool = False
    seal: str | None = None
    seal_checkpoint: str | None = None
    attest: str | None = None
    attest_output: str | None = None
    excerpts: bool = False
    sandbox: bool = False
    precheck: Callable[[], None] | None = None


def carry_out(order: VerifyOrder, interrupts: Interrupts) -> ExitCode:
    """Audit and report; gives the exit code.

    Args:
        order: what was asked for.
        interrupts: left held back. A SIGINT is let through only while sources are verified and
            while standard input or a lock is awaited: it finds a plan to count by, and a whole
            report.

    Raises:
        click.UsageError: a named file cannot be used.
        OutputFailed: a report could not be written.
    """
    interrupts.hold()
    if order.attest is not None and order.attest_output is None:
        raise click.UsageError(
            "--attest: expected --attest-output beside it, got none", click.get_current_context()
        )
    _require_places(order)
    digests: Digests = {}
    policy, waivers = read_policy(order.policy, digests), read_waivers(order.waivers, digests)
    lock = read_lock(order.lock, digests)
    trust = read_trust(order.seal, order.seal_checkpoint, digests)
    signer = None if order.attest_output is None else read_signer(order.attest, option="--attest")
    order = _without_repetitions(order)
    if not order.manner.quiet:
        note_absent_folder("--transcript-root", order.transcript_root)
        note_absent_folder("--artifact-root", order.artifact_root)
    data, stopped = b"", False
    if STDIN in order.targets:
        data, stopped = read_stdin(
            max_bytes=DEFAULT_LIMITS.max_document_bytes, interrupts=interrupts
        )
    trace = DecisionTrace(order.decisions)
    listener = _Relay(order, interrupts, trace)
    try:
        report = audit_runner(run_audit, sandbox=order.sandbox, precheck=order.precheck)(
            replace(
                _request(order, policy, data),
                lock=lock,
                fast=order.fast,
                seal=trust,
                waivers=waivers,
                waivers_file="" if order.waivers is None else label_of(order.waivers),
            ),
            clock=lambda: datetime.now(UTC),
            stopwatch=time.monotonic,
            listener=listener,
            is_interrupted=stopped,
        )
    except BaseException as error:
        trace.discard()
        if not isinstance(error, TargetError):
            raise
        raise click.UsageError(str(error), click.get_current_context()) from None
    finally:
        interrupts.hold()
        listener.close()
    report = replace(
        report,
        weakened_by_environment=order.weakened_by_environment,
        is_sandboxed=order.sandbox,
    )
    code = verdict_of(report, fail_on=order.fail_on, exit_zero=order.exit_zero)
    try:
        for output in order.outputs:
            _write(output, report, code, order)
        if order.attest_output is not None and signer is not None:
            from .attesting import asked_for, write_attestation

            asked = asked_for(order, digests)
            write_attestation(order.attest_output, report, code, asked, signer)
    finally:
        trace.publish()
    return code


def _without_repetitions(order: VerifyOrder) -> VerifyOrder:
    targets, repeated = distinct_targets(order.targets)
    if not order.manner.quiet:
        for target in repeated:
            name = target if target == STDIN else label_of(target)
            talk(f"{order.command}: {name}: named more than once, counted once")
    return replace(order, targets=targets)


class _Relay(Listener):
    """Passes results on as they come: lines to standard output, numbers to the terminal."""

    def __init__(self, order: VerifyOrder, interrupts: Interrupts, trace: DecisionTrace) -> None:
        self.wants_decisions = trace.is_wanted
        self._trace = trace
        self._streams = Output("ndjson", None) in order.outputs
        self._interrupts = interrupts
        self._progress = Progress.where_wanted(order.manner, clock=time.monotonic)

    def held_back(self) -> AbstractContextManager[None]:
        return self._interrupts.held_back()

    def on_plan(self, total: int) -> None:
        if self._progress is not None:
            self._progress.plan(total)
        self._interrupts.release()

    def on_wait(self) -> None:
        try:
            self._interrupts.release()
        finally:
            self._interrupts.hold()

    def on_decision(self, decision: AuthorizationDecision) -> None:
        self._trace.add(decision)

    def on_sources(self, sources: Sequence[AuditedSource]) -> None:
        if self._streams:
            with self._interrupts.held_back():
                for piece in _pieces(result_line(source) for source in sources):
                    write_text(piece)
        if self._progress is not None:
            self._progress.advance(len(sources))

        self._interrupts.check()

    def on_transcript(self, transcript: object) -> None:
        if self._progress is not None:
            self._progress.advance(1)
        self._interrupts.check()

    def on_verified(self) -> None:
        self._interrupts.hold()

    def close(self) -> None:
        if self._progress is not None:
            self._progress.close()


def _request(order: VerifyOrder, policy: Policy | None, data: bytes) -> AuditRequest:
    return AuditRequest(
        targets=order.targets,
        pointers=order.pointers,
        stdin=data,
        scan=order.scan,
        as_format=order.as_format,
        only_transcripts=order.only_transcripts,
        transcript_root=order.transcript_root,
        artifact_root=order.artifact_root,
        policy=policy,
        tenant=order.tenant,
        min_strength=None if order.min_strength is None else Strength(order.min_strength),
        check_all=order.check_all,
        sessions=order.sessions,
        since=order.since,
        expected_hash=order.expected_hash,
        jobs=order.jobs,
        excerpt_characters=_EXCERPT_CHARACTERS if order.excerpts else 0,
    )


def _require_places(order: VerifyOrder) -> None:
    reports = [NamedPath("--output", one.path) for one in order.outputs if one.path is not None]
    require_places(
        (*reports, *named(attest_output=order.attest_output, decisions=order.decisions)),
        inputs=named(
            policy=order.policy,
            waivers=order.waivers,
            lock=order.lock,
            seal=order.seal,
            seal_checkpoint=order.seal_checkpoint,
            attest=order.attest,
        ),
        targets=order.targets,
        roots=named(transcript_root=order.transcript_root, artifact_root=order.artifact_root),
    )


def _write(output: Output, report: AuditReport, code: ExitCode, order: VerifyOrder) -> None:
    if output.path is not None:
        data = "".join(_text(output.format, report, code, order)).encode(
            "utf-8", "backslashreplace"
        )
        try:
            atomic_write(output.path, data)
        except CtxauditError as error:
            raise OutputFailed(f"--output: {label_of(output.path)}: {error}") from None
    elif output.format == "console" and order.manner.boxes:
        _print_boxes(report, code, order)
    elif output.format == "ndjson":
        for piece in _pieces(closing_lines(report)):
            write_text(piece)
    else:
        for piece in _pieces(_text(output.format, report, code, order)):
            write_text(piece)


def _text(kind: str, report: AuditReport, code: ExitCode, order: VerifyOrder) -> Iterator[str]:
    asked = _asked(order)
    if kind == "console":
        yield write_plain(view_of(report, code, asked), quiet=order.manner.quiet)
    else:
        verdict = closing_words(report, code, asked)
        words = Words(code, verdict, _audited_folder(report, order), order.command)
        yield from report_text(kind, report, words)


def _audited_folder(report: AuditReport, order: VerifyOrder) -> str:
    """Give the label of the one folder that was audited: the names of its files lack it."""
    match order.targets:
        case (target,) if target != STDIN and is_folder(target):
            return report.targets[0]
        case _:
            return ""


def _print_boxes(report: AuditReport, code: ExitCode, order: VerifyOrder) -> None:
    from .console_boxes import print_boxes
    from .terminal import capture

    manner = order.manner
    view = view_of(report, code, _asked(order))
    write_text(capture(manner, lambda console: print_boxes(view, console, quiet=manner.quiet)))


def _asked(order: VerifyOrder) -> Asked:
    softened = [f"--fail-on {','.join(sorted(order.fail_on))}"] if order.fail_on else []
    softened += ["--exit-zero"] if order.exit_zero else []
    return Asked(softened_by=tuple(softened), check_all=order.check_all, command=order.command)


def _pieces(texts: Iterator[str]) -> Iterator[str]:
    """Join short texts into pieces that are worth a system call."""
    held: list[str] = []
    size = 0
    for text in texts:
        held.append(text)
        size += len(text)
        if size >= _PIECE:
            yield "".join(held)
            held, size = [], 0
    if held:
        yield "".join(held)
