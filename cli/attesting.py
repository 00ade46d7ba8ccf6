"""Writes the attestation of a run, and carries out `ctxaudit attest check`.

Guarantees: an attestation in a file is whole or not there. What a checked one says is printed only
after its signature is verified.

Example:
    $ ctxaudit attest check run.dsse.json --key audit.key.pub --report report.json
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import click

from provenance._version import __version__
from provenance.audit_report import AuditReport
from provenance.errors import CtxauditError
from provenance.fs import atomic_write, read_operator_file
from provenance.fs.operator_stream import iterate_operator_file
from provenance.reports import write_json
from provenance.reports.attestation import (
    PAYLOAD_TYPE,
    AttestedOptions,
    AttestedSeal,
    Statement,
    StatementError,
    parse_statement,
    statement_of,
)
from provenance.sealing.envelope import (
    MAX_ENVELOPE_BYTES,
    EnvelopeError,
    open_envelope,
    sign_envelope,
)
from provenance.sealing.keys import Signer

from .exit_codes import ExitCode
from .keys import read_verifier
from .operator_files import Digests, label_of
from .streams import OutputFailed, one_line, talk, write_text

if TYPE_CHECKING:
    from .auditing import VerifyOrder

__all__ = ["asked_for", "check_attestation", "write_attestation"]

# Of these it is known that they were given, and not what they said.
_SPELLED = {
    "check_all": "--all",
    "fast": "--fast",
    "scan": "--scan",
    "sessions": "--session",
    "expected_hash": "--expect-hash",
    "transcript_root": "--transcript-root",
    "artifact_root": "--artifact-root",
    "tenant": "--as-tenant",
    "only_transcripts": "transcripts only",
}


def asked_for(order: VerifyOrder, digests: Digests) -> AttestedOptions:
    """Give what of an order is attested.

    Args:
        order: as it was given.
        digests: of the files that it named, by option.
    """
    return AttestedOptions(
        min_strength=order.min_strength,
        fail_on=None if order.fail_on is None else tuple(sorted(order.fail_on)),
        exit_zero=order.exit_zero,
        policy=digests.get("--policy"),
        waivers=digests.get("--waivers"),
        lock=digests.get("--lock"),
        seal_checkpoint=digests.get("--seal-checkpoint"),
        as_format=order.as_format,
        since=None if order.since is None else order.since.isoformat(),
        pointers=len(order.pointers),
        check_all=order.check_all,
        fast=order.fast,
        scan=order.scan,
        sessions=bool(order.sessions),
        expected_hash=order.expected_hash is not None,
        transcript_root=order.transcript_root is not None,
        artifact_root=order.artifact_root is not None,
        tenant=order.tenant is not None,
        only_transcripts=order.only_transcripts,
    )


def write_attestation(
    path: str, report: AuditReport, code: ExitCode, asked: AttestedOptions, signer: Signer
) -> None:
    """Sign what a run found, and write it to a file.

    Raises:
        OutputFailed: it could not be written.
    """
    # As the report itself is written, so that the digests are those of its file.
    text = "".join(write_json(report, version=__version__))
    statement = statement_of(
        report,
        asked,
        exit_code=code.value,
        report_json=text.encode("utf-8", "backslashreplace"),
        version=__version__,
    )
    try:
        atomic_write(path, sign_envelope(statement, PAYLOAD_TYPE, signer))
    except CtxauditError as error:
        raise OutputFailed(f"--attest-output: {label_of(path)}: {error}") from None


def check_attestation(ctx: click.Context, path: str, key: str, report: str | None) -> ExitCode:
    """Check an attestation and print what it says; gives the exit code.

    Raises:
        click.UsageError: a file cannot be read.
    """
    verifier = read_verifier(key, option="--key")
    label = label_of(path)
    try:
        data = read_operator_file(path, max_bytes=MAX_ENVELOPE_BYTES, named_pipes=False)
    except CtxauditError as error:
        raise click.UsageError(f"{label}: {error}", ctx) from None
    try:
        statement = parse_statement(open_envelope(data, PAYLOAD_TYPE, verifier))
    except EnvelopeError as error:
        return _fail(label, str(error), error.fault)
    except StatementError as error:
        return _fail(label, str(error), error.code)
    said = "not compared"
    if report is not None:
        if _sha256(ctx, report) != statement.predicate.report.sha256:
            message = "report: expected the attested digest, got another"
            return _fail(label, message, "attestation_report_mismatch")
        said = "matches"
    write_text(_text(statement, verifier.label, said))
    return ExitCode.OK


def _sha256(ctx: click.Context, path: str) -> str:
    sha256 = hashlib.sha256()
    try:
        for block in iterate_operator_file(path, named_pipes=False):
            sha256.update(block)
    except CtxauditError as error:
        raise click.UsageError(f"--report: {label_of(path)}: {error}", ctx) from None
    return sha256.hexdigest()


def _fail(label: str, message: str, code: str) -> ExitCode:
    talk(f"ctxaudit attest check: {label}: {message} ({code})")
    return ExitCode.CORRUPT


def _text(statement: Statement, key: str, said: str) -> str:
    found = statement.predicate
    rows = [
        ("key", key),
        ("tool", f"{found.tool.name} {found.tool.version}"),
        ("time", f"{found.started_at} to {found.finished_at}"),
        ("targets", ", ".join(found.targets) or "none"),
        ("exit code", str(found.exit_code)),
        (
            "sources",
            f"{found.summary.get('available', 0)} available of {found.summary.get('total', 0)}",
        ),
        (
            "waived",
            _waived(statement),
        ),
        *(("seal", _seal(seal)) for seal in found.seals),
        ("options", _options(statement)),
        ("report", f"{found.report.sha256} {said}"),
    ]
    return "".join(f"{name:<10} {one_line(value)}\n" for name, value in rows)


def _waived(statement: Statement) -> str:
    found = statement.predicate
    findings = sum(found.waived_findings.values())
    return f"{found.summary.get('waived', 0)} sources, {findings} findings"


def _seal(seal: AttestedSeal) -> str:
    sound = "sound" if seal.is_sound else "NOT sound"
    errors = f", {seal.errors} errors" if seal.errors else ""
    return f"{seal.target}: {seal.size} entries, root {seal.root}, {sound}{errors}"


def _options(statement: Statement) -> str:
    options = statement.predicate.options
    said = [] if options.min_strength is None else [f"--min-strength {options.min_strength}"]
    said += [] if options.fail_on is None else [f"--fail-on {','.join(options.fail_on)}"]
    said += ["--exit-zero"] if options.exit_zero else []
    for name in ("policy", "waivers", "lock", "seal_checkpoint"):
        digest = getattr(options, name)
        said += [] if digest is None else [f"{_spelled(name)} sha256:{digest}"]
    said += [] if options.as_format is None else [f"--as {options.as_format}"]
    said += [] if options.since is None else [f"--since {options.since}"]
    said += ["--pointer"] * bool(options.pointers)
    said += [_SPELLED[name] for name in _SPELLED if getattr(options, name)]
    said += options.weakened_by_environment
    return " ".join(said) or "none that weaken or tighten"


def _spelled(name: str) -> str:
    return f"--{name.replace('_', '-')}"
