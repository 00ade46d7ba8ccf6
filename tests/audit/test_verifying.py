"""Verifying the pointers of one part."""

from __future__ import annotations

import hashlib
from pathlib import Path

from provenance.audit.part import AuditPart
from provenance.audit.verifying import PartVerifier
from provenance.fs import TrustedRoot
from provenance.policy import parse_policy


def _artifact(root: Path, name: str, text: str) -> str:
    folder = root / "s" / "tool-results"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return f"artifact:s:{name}:{hashlib.sha256(text.encode()).hexdigest()}"


def test_answers_keep_the_order_with_refusals_among_them(tmp_path: Path) -> None:
    full = _artifact(tmp_path, "a", "text")
    short = full[:-52]
    root = TrustedRoot(tmp_path)
    part = AuditPart(
        root, root, policies=(parse_policy('default = "allow"\nrefuse = ["prefix-digests"]'),)
    )
    with PartVerifier(part, max_excerpt_chars=10) as verifier:
        answers = verifier.verify([short, "no pointer", full, short])
    assert [(answer.pointer, str(answer.reason)) for answer in answers] == [
        (short, "refused_by_policy"),
        ("no pointer", "malformed_pointer"),
        (full, "verified_artifact"),
        (short, "refused_by_policy"),
    ]
    assert [answer.excerpt for answer in answers] == [None, None, "text", None]


def test_tenants_are_told_apart(tmp_path: Path) -> None:
    pointer = _artifact(tmp_path, "a", "text")
    root = TrustedRoot(tmp_path)
    policy = parse_policy('default = "deny"\n[[rule]]\neffect = "allow"\ntenant = "acme"')
    part = AuditPart(root, root, policies=(policy,))
    for tenant, status in (("acme", "available"), ("other", "denied"), (None, "denied")):
        with PartVerifier(part, tenant=tenant) as verifier:
            (answer,) = verifier.verify([pointer])
        assert str(answer.status) == status


def test_a_kind_without_a_root_has_nothing(tmp_path: Path) -> None:
    with PartVerifier(AuditPart(transcripts=TrustedRoot(tmp_path))) as verifier:
        (answer,) = verifier.verify(["artifact:s:a:0123456789ab"])
    assert str(answer.status) == "missing"
