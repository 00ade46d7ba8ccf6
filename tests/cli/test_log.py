"""Proofs of single sources: made from a home, checked with nothing but the key."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from provenance.sealing.keys import generate_signer
from tests.cli.sealed_homes import SealedHome

Call = Callable[..., Any]
EVENT = "transcript:s1:2"


@pytest.fixture(scope="session")
def _once(tmp_path_factory: pytest.TempPathFactory) -> SealedHome:
    return SealedHome.make(tmp_path_factory.mktemp("proved"), seals=2)


@pytest.fixture
def sealed(_once: SealedHome, tmp_path: Path) -> SealedHome:
    return _once.copy_into(tmp_path)


@pytest.fixture
def proof(call: Call, sealed: SealedHome, tmp_path: Path) -> Path:
    path = tmp_path / "event.tlog-proof"
    done = call("log", "prove", EVENT, "--home", sealed.path, "--output", path)
    assert (done.code, done.out) == (0, "")
    return path


def test_a_proof_is_checked_without_the_home(
    call: Call, sealed: SealedHome, proof: Path, tmp_path: Path
) -> None:
    done = call("log", "check", proof, "--key", sealed.public)
    assert done.code == 0
    assert f"source    {EVENT}\n" in done.out
    assert done.out.endswith("evidence  not compared\n")
    # The bytes of the event, with or without the end of its line.
    line = sealed.lines("transcripts/s1.jsonl")[1]
    evidence = tmp_path / "event.json"
    for data in (line, line.rstrip(b"\n")):
        evidence.write_bytes(data)
        done = call("log", "check", proof, "--key", sealed.public, "--evidence", evidence)
        assert done.code == 0
        assert done.out.endswith("evidence  matches\n")
    evidence.write_bytes(line.replace(b"words", b"swords"))
    done = call("log", "check", proof, "--key", sealed.public, "--evidence", evidence)
    assert (done.code, done.out) == (14, "")
    assert "proof_evidence_mismatch" in done.err


def test_a_proof_of_an_artifact(call: Call, sealed: SealedHome, tmp_path: Path) -> None:
    pointer = sealed.cited[1]
    path = tmp_path / "artifact.tlog-proof"
    done = call("log", "prove", pointer, "--home", sealed.path)
    path.write_text(done.out, encoding="utf-8")
    _, session, name, _ = pointer.split(":")
    file = sealed.path / session / "tool-results" / name
    done = call("log", "check", path, "--key", sealed.public, "--evidence", file)
    assert done.code == 0
    assert f"source    {pointer}\n" in done.out
    for asked in (pointer, pointer[: -64 + 12]):
        assert call("log", "check", path, "--key", sealed.public, "--pointer", asked).code == 0
    done = call("log", "check", path, "--key", sealed.public, "--pointer", EVENT)
    assert done.code == 14
    done = call("log", "check", path, "--key", sealed.public, "--home", sealed.path)
    assert done.code == 0


def test_with_a_home_the_source_is_verified_there(
    call: Call, sealed: SealedHome, proof: Path
) -> None:
    check = ("log", "check", proof, "--key", sealed.public, "--home", sealed.path)
    assert call(*check).code == 0
    lines = sealed.lines("transcripts/s1.jsonl")
    altered = [lines[0], lines[1].replace(b"words", b"swords"), *lines[2:]]
    sealed.write_lines("transcripts/s1.jsonl", altered)
    done = call(*check)
    assert done.code == 14
    assert "proof_evidence_mismatch" in done.err
    sealed.write_lines("transcripts/s1.jsonl", lines[:1])
    assert call(*check).code == 12


@pytest.mark.parametrize("step", [1, 7])
def test_no_altered_proof_is_one(
    call: Call, sealed: SealedHome, proof: Path, tmp_path: Path, step: int
) -> None:
    data = proof.read_bytes()
    path = tmp_path / "altered"
    for at in range(step, len(data), 23):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        done = call("log", "check", path, "--key", sealed.public)
        assert (done.code, done.out) == (14, ""), at
        assert done.err.count("\n") == 1


def test_another_key_and_another_entry(
    call: Call, sealed: SealedHome, proof: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.pub"
    other.write_text(generate_signer("ctxaudit.example/tests").verifier.text)
    done = call("log", "check", proof, "--key", other)
    assert done.code == 14
    assert "seal_key_unknown" in done.err
    head, extra, *rest = proof.read_bytes().split(b"\n")
    entry = base64.b64decode(extra.removeprefix(b"extra "))
    forged = base64.b64encode(entry.replace(b" 2 ", b" 3 "))
    proof.write_bytes(b"\n".join([head, b"extra " + forged, *rest]))
    done = call("log", "check", proof, "--key", sealed.public)
    assert done.code == 14
    assert "proof_invalid" in done.err
    proof.write_bytes(b"\n".join([head, *rest]))
    assert call("log", "check", proof, "--key", sealed.public).code == 14


def test_only_what_verifies_and_is_sealed_is_proved(call: Call, sealed: SealedHome) -> None:
    def prove(pointer: str) -> Any:
        done = call("log", "prove", pointer, "--home", sealed.path)
        if done.code:
            assert done.out == ""
        return done

    assert prove("transcript:s1:99").code == 12
    assert prove("transcript:s1").code == 2
    sealed.append("s1", 1)
    done = prove("transcript:s1:7")
    assert (done.code, "not_sealed" in done.err) == (12, True)
    lines = sealed.lines("transcripts/s1.jsonl")
    lines[1] = lines[1].replace(b"words", b"swords")
    sealed.write_lines("transcripts/s1.jsonl", lines)
    done = prove(EVENT)
    assert (done.code, "seal_mismatch" in done.err) == (14, True)
    # A log that was altered proves nothing.
    leaves = sealed.leaves(1)
    leaves.write_bytes(leaves.read_bytes().replace(b"s2 1", b"s2 9"))
    done = prove("transcript:s1:1")
    assert (done.code, "seal_inconsistent" in done.err) == (14, True)


def test_places_and_names_that_cannot_be_used(
    call: Call, sealed: SealedHome, proof: Path, tmp_path: Path
) -> None:
    inside = sealed.path / "proof"
    assert call("log", "prove", EVENT, "--home", sealed.path, "--output", inside).code == 2
    assert not inside.exists()
    assert call("log", "prove", EVENT, "--home", tmp_path / "none").code == 2
    assert call("log", "check", tmp_path / "none", "--key", sealed.public).code == 2
    assert call("log", "check", proof, "--key", tmp_path / "none").code == 2
    both = ("--evidence", proof, "--home", sealed.path)
    assert call("log", "check", proof, "--key", sealed.public, *both).code == 2
    assert call("log").code == 2


# --- attestations -------------------------------------------------------------------------------


@pytest.fixture
def attested(call: Call, sealed: SealedHome, tmp_path: Path) -> tuple[Path, Path]:
    attestation, report = tmp_path / "run.dsse.json", tmp_path / "report.json"
    done = call(
        "verify",
        sealed.path,
        "--seal",
        sealed.public,
        "--attest",
        sealed.key,
        "--attest-output",
        attestation,
        "--format",
        "json",
        "--output",
        report,
    )
    assert done.code == 0, done.err
    return attestation, report


def test_an_attestation_is_of_its_report(
    call: Call, sealed: SealedHome, attested: tuple[Path, Path], checkout: Path
) -> None:
    import jsonschema

    attestation, report = attested
    done = call("attest", "check", attestation, "--key", sealed.public, "--report", report)
    assert done.code == 0
    assert "exit code  0\n" in done.out
    assert done.out.endswith(" matches\n")
    envelope = json.loads(attestation.read_bytes())
    assert envelope["payloadType"] == "application/vnd.in-toto+json"
    statement = json.loads(base64.b64decode(envelope["payload"]))
    schema = json.loads(call("schema", "attestation").out)
    jsonschema.validate(statement, schema)
    root = sealed.checkpoint(2).read_text(encoding="utf-8").split("\n")[2]
    digest = {"ctxauditSealRoot": base64.b64decode(root).hex()}
    assert statement["subject"][1] == {"name": ".", "digest": digest}
    text = json.dumps(statement)
    assert str(sealed.path.parent) not in text
    assert "words" not in text
    # The signature is over the encoding that DSSE defines, with the key of the seals.
    from provenance.sealing.keys import parse_verifier

    payload = base64.b64decode(envelope["payload"])
    kind = b"application/vnd.in-toto+json"
    message = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
    verifier = parse_verifier(sealed.public.read_text())
    (signature,) = envelope["signatures"]
    assert verifier.is_signature(base64.b64decode(signature["sig"]), message)
    # Another report is another report.
    report.write_bytes(report.read_bytes() + b" ")
    done = call("attest", "check", attestation, "--key", sealed.public, "--report", report)
    assert done.code == 14
    assert "attestation_report_mismatch" in done.err


def _with(attestation: Path, **changes: Any) -> bytes:
    return json.dumps(json.loads(attestation.read_bytes()) | changes).encode()


def test_what_is_no_attestation(
    call: Call, sealed: SealedHome, attested: tuple[Path, Path], tmp_path: Path
) -> None:
    from provenance.reports.attestation import PAYLOAD_TYPE
    from provenance.sealing.envelope import sign_envelope
    from tests.cli.sealed_homes import SIGNER

    attestation, _ = attested
    whole = attestation.read_bytes()
    payload = base64.b64decode(json.loads(whole)["payload"])
    passed = payload.replace(b'"exit_code":0', b'"exit_code":3')
    (signature,) = json.loads(whole)["signatures"]
    statement = json.loads(payload)
    cases = {
        "damaged": (whole[:-20], "attestation_invalid"),
        "no object": (b"[]", "attestation_invalid"),
        "twice": (
            whole.replace(b'{"payload"', b'{"payload": "", "payload"', 1),
            "attestation_invalid",
        ),
        "type": (_with(attestation, payloadType="text/plain"), "attestation_invalid"),
        "more": (_with(attestation, more=1), "attestation_invalid"),
        "none": (_with(attestation, signatures=[]), "attestation_invalid"),
        "two": (_with(attestation, signatures=[signature] * 2), "attestation_invalid"),
        "payload": (
            _with(attestation, payload=base64.b64encode(passed).decode()),
            "attestation_signature_invalid",
        ),
        "signature": (
            _with(
                attestation, signatures=[signature | {"sig": base64.b64encode(bytes(64)).decode()}]
            ),
            "attestation_signature_invalid",
        ),
        "keyid": (
            _with(attestation, signatures=[signature | {"keyid": "x"}]),
            "attestation_key_unknown",
        ),
        "base64": (
            _with(attestation, payload=json.loads(whole)["payload"].rstrip("=") + "\n"),
            "attestation_invalid",
        ),
        "deep": (b'{"a":' * 100_000, "attestation_invalid"),
    }
    signed = {
        "another type": (json.dumps(statement).encode(), "text/plain"),
        "another predicate": (
            json.dumps(statement | {"predicateType": "https://slsa.dev/provenance/v1"}).encode(),
            PAYLOAD_TYPE,
        ),
        "another field": (json.dumps(statement | {"more": 1}).encode(), PAYLOAD_TYPE),
        "key twice": (
            payload.replace(b'"exit_code":0', b'"exit_code":14,"exit_code":0'),
            PAYLOAD_TYPE,
        ),
        "a text for a number": (
            payload.replace(b'"exit_code":0', b'"exit_code":"0"'),
            PAYLOAD_TYPE,
        ),
        "no subject": (json.dumps(statement | {"subject": []}).encode(), PAYLOAD_TYPE),
        "not JSON": (b"\xff", PAYLOAD_TYPE),
    }
    for name, (data, kind) in signed.items():
        cases[name] = (sign_envelope(data, kind, SIGNER), "attestation_invalid")
    path = tmp_path / "case"
    for name, (data, code) in cases.items():
        path.write_bytes(data)
        done = call("attest", "check", path, "--key", sealed.public)
        assert (done.code, done.out) == (14, ""), name
        assert code in done.err, (name, done.err)
        assert done.err.count("\n") == 1, name
    other = tmp_path / "other.pub"
    other.write_text(generate_signer("ctxaudit.example/tests").verifier.text)
    done = call("attest", "check", attestation, "--key", other)
    assert (done.code, "attestation_key_unknown" in done.err) == (14, True)
    assert call("attest", "check", tmp_path / "none", "--key", sealed.public).code == 2
    assert call("attest").code == 2


def test_an_attestation_has_a_place_and_a_key_or_there_is_no_run(
    call: Call, sealed: SealedHome, tmp_path: Path
) -> None:
    out = tmp_path / "a"
    assert call("verify", sealed.path, "--attest", sealed.key).code == 2
    assert call("verify", sealed.path, "--attest-output", out).code == 2
    inside = sealed.path / "a"
    both = ("--attest", sealed.key, "--attest-output")
    assert call("verify", sealed.path, *both, inside).code == 2
    assert not inside.exists()
    same = ("--format", "json", "--output", out)
    assert call("verify", sealed.path, *both, out, *same).code == 2
    assert call("verify", sealed.path, "--attest", sealed.public, "--attest-output", out).code == 2
    assert not out.exists()
    key = sealed.key.read_text()
    assert call("verify", sealed.path, "--attest-output", out, CTXAUDIT_SEAL_KEY=key).code == 0
    assert call("attest", "check", out, "--key", sealed.public).code == 0


def test_a_failing_run_is_attested_as_that(call: Call, sealed: SealedHome, tmp_path: Path) -> None:
    sealed.write_lines("transcripts/s1.jsonl", sealed.lines("transcripts/s1.jsonl")[:1])
    out = tmp_path / "a"
    options = ("--attest", sealed.key, "--attest-output", out)
    done = call("verify", sealed.path, *options, "--exit-zero", "--fail-on", "corrupt")
    assert done.code == 3 or done.code == 0
    done = call("attest", "check", out, "--key", sealed.public)
    assert "options    --fail-on corrupt --exit-zero\n" in done.out
