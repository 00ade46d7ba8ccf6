r"""DSSE envelopes, by securesystemslib, with the keys of seals.

Guarantees: an envelope is opened only if it has exactly the fields of the format, once each, the
payload type that was expected, and a valid signature of the key that was given. Its `keyid` is a
hint and decides nothing but the words of a refusal. The payload is handed out after that and not
before. The library is loaded when an envelope is made or opened.

Example:
    >>> from provenance.sealing.keys import generate_signer
    >>> signer = generate_signer("example.com/a")
    >>> data = sign_envelope(b"{}", "text/x", signer)
    >>> open_envelope(data, "text/x", signer.verifier)
    b'{}'
"""

from __future__ import annotations

import json
from typing import NoReturn

from provenance.errors import DataError
from provenance.sealing.keys import Signer, Verifier
from provenance.sealing.note import NoteError, parse_base64

__all__ = ["MAX_ENVELOPE_BYTES", "EnvelopeError", "open_envelope", "parse_json", "sign_envelope"]

# A statement has some kilobytes; a report with 10,000 targets some hundred.
MAX_ENVELOPE_BYTES = 16 << 20
_MOST_SIGNATURES = 16
_ED25519 = "ed25519"  # key type and scheme, in the library's words


class EnvelopeError(DataError, ValueError):
    """An envelope that proves nothing; `fault` says why."""

    code = "attestation_invalid"

    def __init__(self, message: str, fault: str = "attestation_invalid") -> None:
        super().__init__(message)
        self.fault = fault


def sign_envelope(payload: bytes, payload_type: str, signer: Signer) -> bytes:
    """Put a payload into an envelope and sign it; gives one line of JSON with its end."""
    from securesystemslib.dsse import Envelope  # noqa: PLC0415 - loads every signer there is
    from securesystemslib.signer import (  # type: ignore[attr-defined] # noqa: PLC0415
        CryptoSigner,
        SSlibKey,
    )

    verifier = signer.verifier
    key = SSlibKey(verifier.label, _ED25519, _ED25519, {"public": verifier.public.hex()})
    envelope = Envelope(payload, payload_type, {})
    envelope.sign(CryptoSigner(signer.private_key(), key))
    return (json.dumps(envelope.to_dict(), sort_keys=True) + "\n").encode("ascii")


def open_envelope(data: bytes, payload_type: str, verifier: Verifier) -> bytes:
    """Give the payload of an envelope that the key signed.

    Raises:
        EnvelopeError: it is none, of another type, or not signed by the key.
    """
    # 1. The envelope is one, in the one spelling of its fields.
    document = parse_json(data)
    if set(document) != {"payload", "payloadType", "signatures"}:
        raise EnvelopeError("envelope: expected payload, payloadType and signatures, got others")
    payload, signatures = document["payload"], document["signatures"]
    if not isinstance(payload, str) or not isinstance(signatures, list):
        raise EnvelopeError("envelope: expected a text and a list, got other values")
    if not 0 < len(signatures) <= _MOST_SIGNATURES:
        raise EnvelopeError(f"signatures: expected 1 to {_MOST_SIGNATURES}, got another number")
    _decoded(payload, "payload")
    for one in signatures:
        if not isinstance(one, dict) or not {"sig"} <= set(one) <= {"keyid", "sig"}:
            raise EnvelopeError("signature: expected sig and perhaps keyid, got others")
        if not isinstance(one.get("keyid", ""), str) or not isinstance(one["sig"], str):
            raise EnvelopeError("signature: expected texts, got other values")
        _decoded(one["sig"], "sig")
    # 2. It is of the type that is understood.
    if document["payloadType"] != payload_type:
        raise EnvelopeError(f"payloadType: expected {payload_type}, got another")
    # 3. The key signed it: one of the signatures is its own, whatever name stands beside it.
    if verifier.is_weak:
        raise EnvelopeError("key: expected a point of large order, got one anybody can sign for")
    for one in signatures:
        alone = document | {"signatures": [{"keyid": verifier.label, "sig": one["sig"]}]}
        verified = _verified(alone, verifier)
        if verified is not None:
            return verified
    # What names the key, or nobody, passes for its signature and is none.
    if any(one.get("keyid", "") in ("", verifier.label) for one in signatures):
        raise EnvelopeError(
            "signature: expected a valid one of the key, got an invalid one",
            "attestation_signature_invalid",
        )
    raise EnvelopeError(
        f"signature: expected one of {verifier.label}, got another key's",
        "attestation_key_unknown",
    )


def _verified(document: dict[str, object], verifier: Verifier) -> bytes | None:
    """Give the payload if the one signature is the key's; else None."""
    from securesystemslib.dsse import Envelope  # noqa: PLC0415
    from securesystemslib.exceptions import (  # noqa: PLC0415
        UnverifiedSignatureError,
        VerificationError,
    )
    from securesystemslib.signer import SSlibKey  # type: ignore[attr-defined] # noqa: PLC0415

    key = SSlibKey(verifier.label, _ED25519, _ED25519, {"public": verifier.public.hex()})
    try:
        envelope = Envelope.from_dict(document)
        envelope.verify([key], 1)
    except (UnverifiedSignatureError, VerificationError):
        return None
    except (KeyError, TypeError, ValueError):
        raise EnvelopeError("envelope: expected what the format defines, got another") from None
    payload: bytes = envelope.payload
    return payload


def parse_json(data: bytes) -> dict[str, object]:
    """Read an object of strict JSON: no key twice, no NaN, finite.

    Raises:
        EnvelopeError: it is none.
    """
    if len(data) > MAX_ENVELOPE_BYTES:
        raise EnvelopeError(f"file: expected at most {MAX_ENVELOPE_BYTES} bytes, got more")
    try:
        found = json.loads(
            data.decode("utf-8"), object_pairs_hook=_object, parse_constant=_no_constant
        )
    except EnvelopeError:
        raise
    except (ValueError, RecursionError):
        raise EnvelopeError("file: expected JSON in UTF-8, got something else") from None
    if not isinstance(found, dict):
        raise EnvelopeError("file: expected an object, got another value")
    return found


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise EnvelopeError("JSON: expected distinct keys, got one twice")
    return found


def _no_constant(_: str) -> NoReturn:
    raise EnvelopeError("JSON: expected finite numbers, got another")


def _decoded(text: str, name: str) -> bytes:
    try:
        return parse_base64(text)
    except NoteError:
        raise EnvelopeError(f"{name}: expected canonical base64, got another text") from None
