"""What the operator asks of one audit, and the error for what cannot be asked.

Guarantees: everything that decides a verdict stands in this one frozen value; a target's own files
may only tighten it.

Example:
    >>> AuditRequest(targets=("home",)).jobs
    1
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from provenance.audit.lock import NamedLock
from provenance.errors import CallerError
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.policy import Policy
from provenance.resolution import Strength
from provenance.sealing.sealed_log import SealTrust
from provenance.waivers import WaiverEntry

__all__ = ["CITING_FOLDERS", "STDIN", "AuditRequest", "TargetError"]

# The target that stands for standard input.
STDIN = "-"
# Where a home keeps the files that cite: one that is named stands for that home.
CITING_FOLDERS = frozenset({"receipts", "states"})


class TargetError(CallerError, ValueError):
    """A target or its roots cannot be used; the message names it without its folder."""

    code = "unusable_target"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """One audit.

    Attributes:
        targets: state homes, state files, transcripts, folders of them, texts; `-` for `stdin`.
        pointers: pointers to check beside those that the targets cite.
        stdin: what was read from standard input, if `-` is among the targets.
        scan: file targets and standard input are texts to look for pointers in.
        as_format: read file targets as this transcript format; None: tell by their content.
        only_transcripts: look for transcripts alone, in a state home too.
        transcript_root: the operator's, before any home's own.
        artifact_root: the operator's, before any home's own.
        policy: the operator's policy; None allows what lies under the roots.
        tenant: who asks, for policies that tell tenants apart.
        min_strength: the weakest `available` that is good enough; None: any.
        check_all: check also what nothing cites.
        sessions: check transcripts of these sessions only, as `fnmatch` patterns; empty: all.
        since: leave out transcripts that ended before this time; None: none.
        expected_hash: the content hash of the one transcript that is named, 64 hex digits.
        lock: the lock file that the operator named; a home's own has to fit too.
        fast: hold artifacts against BLAKE3 instead of SHA-256 where a seal covers their ledger
            line; every report says for how many.
        seal: the key, from outside of every target, that has to have sealed the homes; None: seals
            are not looked at, and nothing is `sealed`.
        waivers: the operator's, the only ones that count.
        waivers_file: what findings about the waivers themselves call their file.
        jobs: processes that verify.
        limits: bounds on what is read.
        excerpt_characters: how much of each available source stands in its result; 0: nothing.
    """

    targets: tuple[str, ...] = ()
    pointers: tuple[str, ...] = ()
    stdin: bytes = b""
    scan: bool = False
    as_format: str | None = None
    only_transcripts: bool = False
    transcript_root: str | None = None
    artifact_root: str | None = None
    policy: Policy | None = None
    tenant: str | None = None
    min_strength: Strength | None = None
    check_all: bool = False
    sessions: tuple[str, ...] = ()
    since: datetime | None = None
    expected_hash: str | None = None
    lock: NamedLock | None = None
    fast: bool = False
    seal: SealTrust | None = None
    waivers: tuple[WaiverEntry, ...] = ()
    waivers_file: str = "--waivers"
    jobs: int = 1
    limits: Limits = DEFAULT_LIMITS
    excerpt_characters: int = 0
