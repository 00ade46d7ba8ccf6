r"""Ed25519 keys in the text forms of signed notes, and what they do: sign and verify.

Guarantees: the signatures are the library's (`cryptography`), which is loaded at the first key and
not before. A key's text is accepted in one spelling only, with the key id that its own bytes give.
No message and no `repr` holds a secret.

Example:
    >>> signer = generate_signer("example.com/log")
    >>> parse_verifier(signer.verifier.text) == signer.verifier
    True
    >>> note = parse_note(sign_note("hello\n", signer))
    >>> judge_signature(note, signer.verifier)
    <SignatureVerdict.VALID: 'valid'>
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from provenance.errors import CallerError, DataError
from provenance.sealing.note import (
    NoteError,
    NoteSignature,
    SignedNote,
    is_key_name,
    parse_base64,
    parse_note,
    print_note,
)

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = [
    "MAX_KEY_BYTES",
    "KeyNameError",
    "KeyTextError",
    "SignatureVerdict",
    "Signer",
    "Verifier",
    "generate_signer",
    "judge_signature",
    "parse_note",
    "parse_signer",
    "parse_verifier",
    "sign_note",
]

# A name of 255 characters and 50 of base64; a key file is one line.
MAX_KEY_BYTES = 4_096
_ED25519 = b"\x01"  # the signature type of C2SP signed-note
_KEY_BYTES = 32
_PRIVATE = "PRIVATE+KEY+"
# The y coordinates of the eight points of small order (RFC 8032, section 5.1): under such a key a
# signature of anything is valid for anybody. The library takes them, as the standard allows.
_P = 2**255 - 19
_Y8 = int.from_bytes(
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"
)
_WEAK = frozenset({0, 1, _P - 1, _Y8, _P - _Y8})
_is_id = re.compile(r"[0-9a-f]{8}").fullmatch


class KeyTextError(DataError, ValueError):
    """A text that is no key; the message holds nothing of it."""

    code = "invalid_key"


class KeyNameError(CallerError, ValueError):
    """A name that no key may have."""

    code = "invalid_key_name"


class SignatureVerdict(StrEnum):
    """What the signatures of a note say about one key."""

    VALID = "valid"
    INVALID = "invalid"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Verifier:
    """A public key with its name.

    Attributes:
        name: of the key, as in signature lines.
        public: 32 bytes (RFC 8032).
    """

    name: str
    public: bytes

    @property
    def key_id(self) -> bytes:
        """Four bytes that go with the name in each signature."""
        message = self.name.encode("utf-8") + b"\n" + _ED25519 + self.public
        return hashlib.sha256(message).digest()[:4]

    @property
    def text(self) -> str:
        """The key as it is published, without a line end."""
        encoded = base64.b64encode(_ED25519 + self.public).decode("ascii")
        return f"{self.name}+{self.key_id.hex()}+{encoded}"

    @property
    def label(self) -> str:
        """Name and id: what tells keys apart in messages and reports."""
        return f"{self.name}+{self.key_id.hex()}"

    @property
    def is_weak(self) -> bool:
        """Whether anybody can sign for it: a point of small order, in whatever spelling."""
        return (int.from_bytes(self.public, "little") & (2**255 - 1)) % _P in _WEAK

    def is_signature(self, signature: bytes, message: bytes) -> bool:
        """Say whether `signature` is this key's over `message`."""
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - loaded at use
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
            Ed25519PublicKey,
        )

        if self.is_weak:
            return False
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        return True


@dataclass(frozen=True, slots=True)
class Signer:
    """A private key with its name; `seed` is never shown."""

    name: str
    seed: bytes = field(repr=False)

    @property
    def verifier(self) -> Verifier:
        """The public half."""
        return Verifier(self.name, self.private_key().public_key().public_bytes_raw())

    @property
    def text(self) -> str:
        """The key as it stands in its file, without a line end: a secret."""
        encoded = base64.b64encode(_ED25519 + self.seed).decode("ascii")
        return f"{_PRIVATE}{self.name}+{self.verifier.key_id.hex()}+{encoded}"

    def private_key(self) -> Ed25519PrivateKey:
        """Give the library's key."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
            Ed25519PrivateKey,
        )

        return Ed25519PrivateKey.from_private_bytes(self.seed)

    def sign(self, message: bytes) -> bytes:
        """Sign: 64 bytes."""
        return self.private_key().sign(message)


def generate_signer(name: str) -> Signer:
    """Make a new key.

    Raises:
        KeyNameError: no key may have this name.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
        Ed25519PrivateKey,
    )

    if not is_key_name(name):
        raise KeyNameError("name: expected printable text without spaces and plus, got another")
    return Signer(name, Ed25519PrivateKey.generate().private_bytes_raw())


def parse_verifier(text: str) -> Verifier:
    """Read a public key: `<name>+<8 hex digits>+<base64>`; one line end may follow.

    Raises:
        KeyTextError: it is none, or its id is another key's.
    """
    line = text.removesuffix("\n")
    if line.startswith(_PRIVATE):
        raise KeyTextError("key: expected a public key, got a private one")
    name, key_id, public = _parts(line)
    verifier = Verifier(name, public)
    if verifier.key_id != key_id:
        raise KeyTextError("key: expected the id of its own bytes, got another")
    if verifier.is_weak:
        raise KeyTextError("key: expected a point of large order, got one anybody can sign for")
    return verifier


def parse_signer(text: str) -> Signer:
    """Read a private key: `PRIVATE+KEY+<name>+<8 hex digits>+<base64>`; a line end may follow.

    Raises:
        KeyTextError: it is none, or its id is another key's.
    """
    line = text.removesuffix("\n")
    if not line.startswith(_PRIVATE):
        raise KeyTextError("key: expected a private key (PRIVATE+KEY+...), got another text")
    name, key_id, seed = _parts(line.removeprefix(_PRIVATE))
    signer = Signer(name, seed)
    if signer.verifier.key_id != key_id:
        raise KeyTextError("key: expected the id of its own bytes, got another")
    return signer


def sign_note(text: str, signer: Signer) -> bytes:
    """Write a note with one signature; `text` ends with a line end."""
    signature = signer.sign(text.encode("utf-8"))
    line = NoteSignature(signer.name, signer.verifier.key_id, signature)
    return print_note(SignedNote(text, (line,)))


def judge_signature(note: SignedNote, verifier: Verifier) -> SignatureVerdict:
    """Say what a note's signatures say about one key; those of other keys are passed over."""
    key_id = verifier.key_id
    found = [one for one in note.signatures if (one.name, one.key_id) == (verifier.name, key_id)]
    if not found:
        return SignatureVerdict.ABSENT
    message = note.text.encode("utf-8")
    # A key that signed twice must be right each time: a bad one is nobody's oversight.
    if all(verifier.is_signature(one.signature, message) for one in found):
        return SignatureVerdict.VALID
    return SignatureVerdict.INVALID


def _parts(line: str) -> tuple[str, bytes, bytes]:
    name, _, rest = line.partition("+")
    key_id, plus, encoded = rest.partition("+")
    if not plus or not is_key_name(name) or _is_id(key_id) is None:
        raise KeyTextError("key: expected <name>+<8 hex digits>+<base64>, got another text")
    try:
        typed = parse_base64(encoded)
    except NoteError:
        raise KeyTextError("key: expected standard base64, got another text") from None
    if typed[:1] != _ED25519 or len(typed) != 1 + _KEY_BYTES:
        raise KeyTextError("key: expected an Ed25519 key of 32 bytes, got another kind")
    return name, bytes.fromhex(key_id), typed[1:]
