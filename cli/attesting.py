"""Writes the attestation of a run, and carries out `ctxaudit attest check`.

Guarantees: an attestation in a file is whole or not there. What a checked one says is printed only
after its signature is verified.

Example:
    $ ctxaudit attest check run.dsse.json --key audit.key.pub --report report.json
"""

from __future__ import annotations

import hashlib

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
from .operator_files import label_of
from .streams import OutputFailed, one_line, talk, write_text

__all__ = ["AttestedOptions", "check_attestation", "write_attestation"]


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
        data = read_operator_file(path, max_bytes=MAX_ENVELOPE_BYTES)
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
        for block in iterate_operator_file(path):
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
        *(("seal", _seal(seal)) for seal in found.seals),
        ("options", _options(statement)),
        ("report", f"{found.report.sha256} {said}"),
    ]
    return "".join(f"{name:<10} {one_line(value)}\n" for name, value in rows)


def _seal(seal: AttestedSeal) -> str:
    sound = "sound" if seal.is_sound else "NOT sound"
    return f"{seal.target}: {seal.size} entries, root {seal.root}, {sound}"


def _options(statement: Statement) -> str:
    options = statement.predicate.options
    said = [] if options.min_strength is None else [f"--min-strength {options.min_strength}"]
    said += [] if options.fail_on is None else [f"--fail-on {','.join(options.fail_on)}"]
    said += ["--exit-zero"] if options.exit_zero else []
    said += options.weakened_by_environment
    return " ".join(said) or "none that weaken or tighten"
