"""The result of a run as an in-toto Statement, for others to rely on (`ctxaudit attest check`).

Guarantees: pure. The statement names the JSON report of the run by its SHA-256, and the root of
each home that was found to be as it was sealed; it holds no evidence and no path, and files that
the operator named by their digests alone. What is read back is held against the published schema's
model, strictly: unknown fields, other types, other predicates and a statement that does not agree
with itself are refused.

Example:
    >>> from provenance.audit_report import AuditReport
    >>> asked = AttestedOptions()
    >>> statement = statement_of(
    ...     AuditReport(), asked, exit_code=3, report_json=b"{}", version="0"
    ... )
    >>> parse_statement(statement).predicate.exit_code
    3
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from provenance.audit_report import AuditReport
from provenance.errors import DataError
from provenance.located_toml import expected_by
from provenance.reports.json_report import REPORT_SCHEMA
from provenance.sealing.envelope import EnvelopeError, parse_json

__all__ = [
    "PAYLOAD_TYPE",
    "PREDICATE_TYPE",
    "REPORT_SUBJECT",
    "AttestedOptions",
    "AttestedSeal",
    "Statement",
    "StatementError",
    "parse_statement",
    "statement_of",
]

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
# A name, not an address: nothing is to be fetched there. docs/seals.md defines it.
PREDICATE_TYPE = "urn:ctxaudit:attestation:1"
REPORT_SUBJECT = "ctxaudit-report.json"
_ATTESTATION_SCHEMA = "ctxaudit.attestation/1"

_Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
_Count = Annotated[int, Field(ge=0)]


class StatementError(DataError, ValueError):
    """A payload that is no statement of ours; the message names the field."""

    code = "attestation_invalid"


@dataclass(frozen=True, slots=True)
class AttestedOptions:
    """What of the command line decided the verdict, or what was looked at.

    Attributes:
        min_strength: the weakest evidence that was good enough; None: any.
        fail_on: the states that counted; None: all.
        exit_zero: a verdict on evidence became 0.
        policy: SHA-256 of the operator's policy file; None: there was none. So are `waivers`,
            `lock` and `seal_checkpoint`.
        as_format: the transcript format that was forced; None: told by content.
        since: ISO 8601: transcripts that ended before were left out.
        pointers: how many pointers were named beside the targets.
        check_all: also what nothing cites. So, whether each was given: `fast`, `scan`, `sessions`
            (only some were checked), `expected_hash`, `transcript_root`, `artifact_root`, `tenant`,
            `only_transcripts`.
    """

    min_strength: str | None = None
    fail_on: tuple[str, ...] | None = None
    exit_zero: bool = False
    policy: str | None = None
    waivers: str | None = None
    lock: str | None = None
    seal_checkpoint: str | None = None
    as_format: str | None = None
    since: str | None = None
    pointers: int = 0
    check_all: bool = False
    fast: bool = False
    scan: bool = False
    sessions: bool = False
    expected_hash: bool = False
    transcript_root: bool = False
    artifact_root: bool = False
    tenant: bool = False
    only_transcripts: bool = False


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Subject(_Model):
    """What the statement is about."""

    name: str
    digest: dict[str, _Digest]


class Tool(_Model):
    """Who says it."""

    name: Literal["ctxaudit"]
    version: str


class Options(_Model):
    """See `AttestedOptions`."""

    min_strength: str | None
    fail_on: list[str] | None
    exit_zero: bool
    policy: _Digest | None
    waivers: _Digest | None
    lock: _Digest | None
    seal_checkpoint: _Digest | None
    as_format: str | None
    since: str | None
    pointers: _Count
    check_all: bool
    fast: bool
    scan: bool
    sessions: bool
    expected_hash: bool
    transcript_root: bool
    artifact_root: bool
    tenant: bool
    only_transcripts: bool
    weakened_by_environment: list[str]


class AttestedSeal(_Model):
    """See `CheckedSeal`."""

    target: str
    key: str
    origin: str | None
    seals: _Count
    size: _Count
    root: _Digest | None
    is_sound: bool
    errors: _Count

    @property
    def is_unaltered(self) -> bool:
        """Whether the home was found to be what its sound log says."""
        return self.is_sound and self.root is not None and not self.errors


class AttestedReport(_Model):
    """The JSON report of the run."""

    schema_: Literal["ctxaudit.report/1"] = Field(alias="schema")
    sha256: _Digest


class Predicate(_Model):
    """What was found."""

    schema_: Literal["ctxaudit.attestation/1"] = Field(alias="schema")
    tool: Tool
    started_at: str
    finished_at: str
    exit_code: _Count
    is_interrupted: bool
    targets: list[str]
    options: Options
    summary: dict[str, _Count]
    findings: dict[str, _Count]
    waived_findings: dict[str, _Count]
    seals: list[AttestedSeal]
    report: AttestedReport


class Statement(_Model):
    """An in-toto Statement of version 1 with our predicate."""

    type_: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: list[Subject]
    predicate_type: Literal["urn:ctxaudit:attestation:1"] = Field(alias="predicateType")
    predicate: Predicate


def statement_of(
    report: AuditReport, asked: AttestedOptions, *, exit_code: int, report_json: bytes, version: str
) -> bytes:
    """Write the statement of a run, as JSON.

    Args:
        report: what was found.
        asked: what decided the verdict.
        exit_code: of the run.
        report_json: the JSON report, as `--format json` writes it.
        version: of the tool.
    """
    summary = report.summary.to_dict()
    digest = hashlib.sha256(report_json).hexdigest()
    subjects: list[dict[str, object]] = [{"name": REPORT_SUBJECT, "digest": {"sha256": digest}}]
    subjects += [
        {"name": seal.target, "digest": {"ctxauditSealRoot": seal.root}}
        for seal in report.seals
        if seal.is_sound and not seal.errors
    ]
    predicate: dict[str, object] = {
        "schema": _ATTESTATION_SCHEMA,
        "tool": {"name": "ctxaudit", "version": version},
        "started_at": report.started_at,
        "finished_at": report.finished_at,
        "exit_code": exit_code,
        "is_interrupted": report.is_interrupted,
        "targets": list(report.targets),
        "options": {
            **asdict(asked),
            "fail_on": None if asked.fail_on is None else list(asked.fail_on),
            "weakened_by_environment": list(report.weakened_by_environment),
        },
        "summary": {key: value for key, value in summary.items() if isinstance(value, int)},
        "findings": dict(sorted(report.finding_counts.items())),
        "waived_findings": dict(sorted(report.waived_counts.items())),
        "seals": [seal.to_dict() | {"errors": seal.errors} for seal in report.seals],
        "report": {"schema": REPORT_SCHEMA, "sha256": digest},
    }
    statement = {
        "_type": STATEMENT_TYPE,
        "subject": subjects,
        "predicateType": PREDICATE_TYPE,
        "predicate": predicate,
    }
    return json.dumps(statement, sort_keys=True, separators=(",", ":")).encode("ascii")


def parse_statement(payload: bytes) -> Statement:
    """Read a statement.

    Raises:
        StatementError: it is none of ours, or does not agree with itself.
    """
    try:
        document = parse_json(payload)
    except EnvelopeError as error:
        raise StatementError(f"payload: {error}") from None
    kind = document.get("predicateType")
    if kind != PREDICATE_TYPE:
        raise StatementError(f"predicateType: expected {PREDICATE_TYPE}, got another")
    try:
        statement = Statement.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise StatementError(
            f"{field[:100]!a}: expected {expected_by(first)}, got another"
        ) from None
    found = statement.predicate
    expected = [(REPORT_SUBJECT, {"sha256": found.report.sha256})]
    expected += [
        (seal.target, {"ctxauditSealRoot": seal.root or ""})
        for seal in found.seals
        if seal.is_unaltered
    ]
    if [(one.name, one.digest) for one in statement.subject] != expected:
        raise StatementError(
            "subject: expected the report's digest, then the roots of the homes that hold, as the "
            "predicate has them, got others"
        )
    return statement
