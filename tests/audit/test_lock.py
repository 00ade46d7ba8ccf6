"""Locks in an audit: they take `available` away, and what they cannot read they say."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from provenance.audit.lock import HeldPins, read_home_lock
from provenance.audit.part import AuditPart
from provenance.audit_report import Citation
from provenance.findings import Finding, Severity
from provenance.fs import TrustedRoot
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.locks import LOCK_FILE, LockFile, Pin, encode_lock
from provenance.resolution import (
    Outcome,
    Reason,
    SourceResolution,
    SourceResolutionStatus,
    Strength,
    resolution_for,
    verified,
)

SHA = "ab" * 32
RUN = "20260302T110000Z-0123456789abcdef"
EVENT = "transcript:s1:3"
FOUND = verified(
    EVENT,
    "transcript",
    Outcome(Reason.VERIFIED_TRANSCRIPT_EVENT, SHA, strength=Strength.POSITION, size=9),
)


def _lock(pointer: str = EVENT, sha256: str = SHA, size: int = 9) -> LockFile:
    return LockFile((Pin(pointer, sha256, size, "2026-03-02T11:00:00Z", RUN),))


def test_the_pinned_bytes_are_pinned() -> None:
    held = HeldPins(_lock()).hold(FOUND)
    assert held == replace(FOUND, strength=Strength.PINNED)
    assert held.evidence_bytes == 9


@pytest.mark.parametrize("lock", [_lock(sha256="cd" * 32), _lock(size=8)], ids=["sha", "length"])
@pytest.mark.parametrize("place", ["own", "named"])
def test_other_bytes_are_corrupt(lock: LockFile, place: str) -> None:
    pins = HeldPins(**{"own": _lock(), "named": _lock()} | {place: lock})
    held = pins.hold(FOUND)
    assert held.status is SourceResolutionStatus.CORRUPT
    assert held.reason is Reason.PINNED_DIGEST_MISMATCH
    assert held.evidence_sha256 is held.strength is held.excerpt is None
    assert held.conclusive


def test_a_pointer_that_is_not_pinned_is_as_it_was() -> None:
    assert HeldPins().hold(FOUND) is FOUND
    assert HeldPins(_lock("transcript:s1:4")).hold(FOUND) is FOUND


def test_the_operators_lock_alone_raises_the_strength() -> None:
    elsewhere = _lock("transcript:s1:4")
    assert HeldPins(_lock(), elsewhere).hold(FOUND) is FOUND
    assert HeldPins(elsewhere, _lock()).hold(FOUND).strength is Strength.PINNED


def test_a_stronger_proof_stays() -> None:
    sealed = replace(FOUND, strength=Strength.SEALED)
    assert HeldPins(_lock()).hold(sealed) is sealed


@pytest.mark.parametrize("reason", [reason for reason in Reason if "verified" not in reason])
def test_a_lock_makes_nothing_available(reason: Reason) -> None:
    found = resolution_for(EVENT, reason, source_type="transcript")
    assert HeldPins(_lock(), _lock()).hold(found) is found


def test_a_pointer_in_another_spelling_is_held_too() -> None:
    pointer = f"artifact:s1:f:{SHA}"
    outcome = Outcome(Reason.VERIFIED_ARTIFACT, SHA, strength=Strength.FULL, size=9)
    found = verified(pointer.replace(SHA, SHA.upper()), "artifact", outcome)
    assert HeldPins(_lock(pointer)).hold(found).strength is Strength.PINNED
    assert HeldPins(_lock(pointer, size=1)).hold(found).reason is Reason.PINNED_DIGEST_MISMATCH


def test_an_answer_without_a_length_fits_no_pin() -> None:
    bare = SourceResolution(
        EVENT, SourceResolutionStatus.AVAILABLE, "transcript", SHA, strength=Strength.POSITION
    )
    assert HeldPins(_lock()).hold(bare).reason is Reason.PINNED_DIGEST_MISMATCH


def test_pinned_pointers_count_as_cited_once_under_the_text_that_cites_them() -> None:
    canonical = f"artifact:s1:f:{SHA}"
    spelled = canonical.replace(SHA, SHA.upper())
    part = AuditPart()
    part.cite(spelled, Citation("states/a.json", "f1"))
    pins = (*_lock(canonical).pins, *_lock().pins)
    for _ in range(2):
        part.cite_pinned(LockFile(pins), "ctxaudit.lock")
    assert list(part.citations) == [spelled, EVENT]
    assert [one.file for one in part.citations[spelled]] == ["states/a.json", "ctxaudit.lock"]
    assert part.citations[EVENT] == [Citation("ctxaudit.lock", "pin", kind="pin")]


def _read(home: Path, limits: Limits = DEFAULT_LIMITS) -> LockFile | Finding | None:
    with TrustedRoot(home) as root:
        return read_home_lock(root, limits=limits)


def test_a_home_without_a_lock_has_none(tmp_path: Path) -> None:
    assert _read(tmp_path) is None
    (tmp_path / LOCK_FILE).write_bytes(encode_lock(_lock()))
    assert _read(tmp_path) == _lock()


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (lambda path: path.symlink_to(path.parent / "elsewhere"), "no link"),
        (lambda path: path.mkdir(), "regular file"),
        (os.mkfifo, "regular file"),
        (lambda path: path.write_bytes(b""), "expected JSON"),
        (lambda path: path.write_bytes(b"<<<<<<< ours\n"), "conflict markers in line 1"),
        (lambda path: path.write_bytes(encode_lock(_lock()) * 9), "at most 1000 bytes"),
        (lambda path: path.write_bytes(b"[" * 999), "very many|expected JSON"),
    ],
    ids=["link", "folder", "fifo", "empty", "conflict", "huge", "deep"],
)
def test_what_is_no_lock_is_a_finding(tmp_path: Path, plant: object, said: str) -> None:
    (tmp_path / "elsewhere").write_bytes(encode_lock(_lock()))
    plant(tmp_path / LOCK_FILE)  # type: ignore[operator]
    found = _read(tmp_path, Limits(max_document_bytes=1000))
    assert isinstance(found, Finding)
    assert (found.code, found.severity, found.target) == (
        "lock_unreadable",
        Severity.ERROR,
        LOCK_FILE,
    )

    assert re.search(said, found.message)
    assert str(tmp_path) not in found.message
