r"""Signed notes (C2SP `signed-note`): a text, and under it the signatures of named keys.

Guarantees: pure. `parse_note` accepts only what `print_note` writes back byte for byte; nothing is
trimmed, repaired or guessed. That a note parses says nothing about its signatures.

Example:
    >>> note = SignedNote("hello\n", (NoteSignature("example.com/a", b"\0\0\0\1", b"sig"),))
    >>> parse_note(print_note(note)) == note
    True
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

from provenance.errors import DataError

__all__ = [
    "MAX_NOTE_BYTES",
    "NoteError",
    "NoteSignature",
    "SignedNote",
    "is_key_name",
    "parse_base64",
    "parse_note",
    "print_note",
]

# A checkpoint has some 200 bytes; witnesses with post-quantum keys add 5 kB each.
MAX_NOTE_BYTES = 1 << 17
_MOST_SIGNATURES = 64  # the format asks for at least 16
_MAX_NAME_CHARS = 255
_DASH = "\u2014 "
_ID_BYTES = 4


class NoteError(DataError, ValueError):
    """Bytes that are no signed note; the message says which part."""

    code = "invalid_note"


@dataclass(frozen=True, slots=True)
class NoteSignature:
    """One signature line; `key_id` has four bytes."""

    name: str
    key_id: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class SignedNote:
    """A note; `text` ends with a line end and is what is signed."""

    text: str
    signatures: tuple[NoteSignature, ...]


def is_key_name(name: str) -> bool:
    """Say whether a key may have this name: no space of any kind, no plus, no control character."""
    return (
        0 < len(name) <= _MAX_NAME_CHARS
        and "+" not in name
        and name.isprintable()
        and not any(char.isspace() for char in name)
    )


def print_note(note: SignedNote) -> bytes:
    """Write a note."""
    lines = [note.text, "\n"]
    for one in note.signatures:
        encoded = base64.b64encode(one.key_id + one.signature).decode("ascii")
        lines.append(f"{_DASH}{one.name} {encoded}\n")
    return "".join(lines).encode("utf-8")


def parse_note(data: bytes) -> SignedNote:
    """Read a note.

    Raises:
        NoteError: it is none, or not printed as notes are.
    """
    # 1. Size.
    if len(data) > MAX_NOTE_BYTES:
        raise NoteError(f"note: expected at most {MAX_NOTE_BYTES} bytes, got more")
    # 2. UTF-8 without control characters other than the line end.
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise NoteError("note: expected UTF-8, got another encoding") from None
    if any(char < " " and char != "\n" for char in text):
        raise NoteError("note: expected no control characters, got one")
    # 3. The last empty line parts the text from the signatures.
    cut = text.rfind("\n\n")
    if cut < 0:
        raise NoteError("note: expected an empty line before the signatures, got none")
    body, rest = text[: cut + 1], text[cut + 2 :]
    if not rest.endswith("\n"):
        raise NoteError("note: expected a line end after the last signature, got none")
    lines = rest[:-1].split("\n")
    if len(lines) > _MOST_SIGNATURES:
        raise NoteError(f"note: expected at most {_MOST_SIGNATURES} signatures, got more")
    note = SignedNote(body, tuple(_parse_signature(line) for line in lines))
    # 4. It has to print back as it was.
    if print_note(note) != data:
        raise NoteError("note: expected the canonical form, got another spelling")
    return note


def parse_base64(text: str) -> bytes:
    """Read standard base64, padded, in its one spelling.

    Raises:
        NoteError: it is none, or could be spelled in another way.
    """
    try:
        found = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, ValueError):
        raise NoteError("base64: expected standard base64, got another text") from None
    if base64.b64encode(found).decode("ascii") != text:
        raise NoteError("base64: expected the canonical spelling, got another")
    return found


def _parse_signature(line: str) -> NoteSignature:
    if not line.startswith(_DASH):
        raise NoteError("signature: expected a line that begins with a dash, got another")
    name, space, encoded = line.removeprefix(_DASH).partition(" ")
    if not space or not is_key_name(name):
        raise NoteError("signature: expected the name of a key, got another text")
    signed = parse_base64(encoded)
    if len(signed) <= _ID_BYTES:
        raise NoteError("signature: expected more than 4 bytes, got fewer")
    return NoteSignature(name, signed[:_ID_BYTES], signed[_ID_BYTES:])
