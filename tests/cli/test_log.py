"""Proofs of single sources: made from a home, checked with nothing but the key."""

from __future__ import annotations

import base64
import hashlib
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
    predicate = statement["predicate"]
    root = statement["subject"][1]["digest"]["ctxauditSealRoot"]
    other_signature = base64.b64encode(bytes(64)).decode()
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
            _with(attestation, signatures=[{"keyid": "x", "sig": other_signature}]),
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
    disagreeing = {
        "another root": {"subject": [statement["subject"][0], {"name": ".", "digest": {}}]},
        "no root": {"subject": statement["subject"][:1]},
        "one more": {"subject": [*statement["subject"], {"name": "x", "digest": {}}]},
        "a home that does not hold": {
            "predicate": predicate | {"seals": [predicate["seals"][0] | {"errors": 1}]}
        },
        "a log that does not hold": {
            "predicate": predicate | {"seals": [predicate["seals"][0] | {"is_sound": False}]}
        },
        "another head": {
            "predicate": predicate | {"seals": [predicate["seals"][0] | {"root": root[::-1]}]}
        },
    }
    for name, change in disagreeing.items():
        signed[name] = json.dumps(statement | change).encode(), PAYLOAD_TYPE
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


def test_a_key_id_is_a_hint(call: Call, sealed: SealedHome, attested: tuple[Path, Path]) -> None:
    """DSSE lets it be left out; what counts is that one of the signatures is the key's."""
    attestation, _ = attested
    whole = attestation.read_bytes()
    (signature,) = json.loads(whole)["signatures"]
    other = {"keyid": "another", "sig": base64.b64encode(bytes(64)).decode()}
    mine = {"sig": signature["sig"]}
    for signatures in (
        [mine],
        [mine | {"keyid": ""}],
        [mine | {"keyid": "x"}],
        [signature, signature],
        [other, mine],
        [{"keyid": signature["keyid"], "sig": other["sig"]}, mine],
    ):
        attestation.write_bytes(whole)
        attestation.write_bytes(_with(attestation, signatures=signatures))
        assert call("attest", "check", attestation, "--key", sealed.public).code == 0
    for signatures, code in (
        ([{"sig": other["sig"]}], "attestation_signature_invalid"),
        ([other], "attestation_key_unknown"),
        ([mine | {"more": "x"}], "attestation_invalid"),
        ([{"keyid": signature["keyid"]}], "attestation_invalid"),
        ([mine] * 17, "attestation_invalid"),
    ):
        attestation.write_bytes(whole)
        attestation.write_bytes(_with(attestation, signatures=signatures))
        done = call("attest", "check", attestation, "--key", sealed.public)
        assert (done.code, code in done.err) == (14, True), (code, done.err)


def test_whatever_decides_a_verdict_is_attested_and_no_path(
    call: Call, sealed: SealedHome, tmp_path: Path
) -> None:
    from provenance.reports.attestation import Statement

    policy, waivers, out = (tmp_path / name for name in ("secret.toml", "hidden.toml", "out"))
    policy.write_text('default = "allow"\n[[rule]]\neffect = "deny"\nsession = "other"\n')
    waivers.write_text(
        '[[waiver]]\ncode = "hard_link"\ntarget = "*"\nreason = "r"\nowner = "o"\n'
        "expires = 2099-01-01\n"
    )
    given: dict[str, tuple[object, ...]] = {
        "policy": ("--policy", policy),
        "waivers": ("--waivers", waivers),
        "lock": ("--lock", sealed.path / "ctxaudit.lock"),
        "seal_checkpoint": ("--seal-checkpoint", sealed.checkpoint(1)),
        "as_format": ("--as", "native"),
        "since": ("--since", "2020-01-02"),
        "pointers": ("--pointer", "transcript:s1:1"),
        "check_all": ("--all",),
        "fast": ("--fast",),
        "scan": ("--scan",),
        "sessions": ("--session", "s1"),
        "transcript_root": ("--transcript-root", sealed.path / "transcripts"),
        "artifact_root": ("--artifact-root", sealed.path),
        "tenant": ("--as-tenant", "acme-corp"),
    }

    def attested_by(*options: object) -> tuple[dict[str, Any], str]:
        fixed = ("--seal", sealed.public, "--attest", sealed.key, "--attest-output", out)
        done = call("verify", sealed.path, *fixed, *options)
        assert done.code not in (1, 2), done.err
        statement = json.loads(base64.b64decode(json.loads(out.read_bytes())["payload"]))
        checked = call("attest", "check", out, "--key", sealed.public)
        assert checked.code == 0, checked.err
        (line,) = (one for one in checked.out.splitlines() if one.startswith("options"))
        text = json.dumps(statement)
        for hidden in ("secret.toml", "hidden.toml", "acme-corp", str(tmp_path)):
            assert hidden not in text
        found: dict[str, Any] = statement["predicate"]["options"]
        return found, line

    plain, said = attested_by()
    assert said.endswith("none that weaken or tighten")
    for name, options in given.items():
        found, said = attested_by(*options)
        assert {key for key in found if found[key] != plain[key]} == {name}
        assert str(options[0]) in said
    digest = hashlib.sha256(policy.read_bytes()).hexdigest()
    assert attested_by("--policy", policy)[0]["policy"] == digest
    assert f"--policy sha256:{digest}" in attested_by("--policy", policy)[1]
    # A field that is added to the options is one of those above, or is named here.
    fields = set(Statement.model_json_schema()["$defs"]["Options"]["properties"])
    elsewhere = {"min_strength", "fail_on", "exit_zero", "weakened_by_environment"}
    of_transcript_check = {"expected_hash", "only_transcripts"}
    assert fields - set(given) == elsewhere | of_transcript_check


def test_a_home_that_does_not_hold_is_no_subject(
    call: Call, sealed: SealedHome, tmp_path: Path
) -> None:
    lines = sealed.lines("transcripts/s2.jsonl")
    lines[0] = lines[0].replace(b"words", b"swords")
    sealed.write_lines("transcripts/s2.jsonl", lines)
    out = tmp_path / "out"
    fixed = ("--seal", sealed.public, "--attest", sealed.key, "--attest-output", out)
    assert call("verify", sealed.path, *fixed).code == 14
    statement = json.loads(base64.b64decode(json.loads(out.read_bytes())["payload"]))
    assert [one["name"] for one in statement["subject"]] == ["ctxaudit-report.json"]
    (seal,) = statement["predicate"]["seals"]
    assert (seal["is_sound"], seal["errors"]) == (True, 1)
    done = call("attest", "check", out, "--key", sealed.public)
    assert done.code == 0
    assert ", sound, 1 errors\n" in done.out


def test_waived_findings_are_attested(call: Call, sealed: SealedHome, tmp_path: Path) -> None:
    sealed.state(sealed.cited, claim="Another claim.")
    waivers, out = tmp_path / "w.toml", tmp_path / "out"
    waivers.write_text(
        '[[waiver]]\ncode = "sealed_state_changed"\ntarget = "states/a.json"\nreason = "r"\n'
        'owner = "o"\nexpires = 2099-01-01\n'
    )
    fixed = ("--seal", sealed.public, "--attest", sealed.key, "--attest-output", out)
    done = call("verify", sealed.path, *fixed, "--waivers", waivers)
    statement = json.loads(base64.b64decode(json.loads(out.read_bytes())["payload"]))
    assert statement["predicate"]["waived_findings"] == {"sealed_state_changed": 1}, done.out
    assert len(statement["subject"]) == 1
    done = call("attest", "check", out, "--key", sealed.public)
    assert "waived     0 sources, 1 findings\n" in done.out


def test_the_schema_is_that_of_the_model(call: Call) -> None:
    from provenance.reports.attestation import Statement

    printed = json.loads(call("schema", "attestation").out)
    model = Statement.model_json_schema()
    for name in ("$defs", "properties", "required", "additionalProperties"):
        assert printed[name] == model[name]


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
