r"""Checkpoints (C2SP `tlog-checkpoint`): the signed head of a log.

Guarantees: pure. A checkpoint is accepted in one spelling only. Ours have no extension lines; those
of others are kept.

Example:
    >>> text = Checkpoint("example.com/log", 0, b"\0" * 32).text
    >>> parse_checkpoint_text(text).size
    0
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass

from provenance.sealing.merkle import HASH_BYTES
from provenance.sealing.note import NoteError, SignedNote, parse_base64, parse_note

__all__ = [
    "Checkpoint",
    "is_origin",
    "parse_checkpoint",
    "parse_checkpoint_text",
    "parse_tree_number",
]

# As many digits as a 64-bit count may have.
_is_number = re.compile(r"0|[1-9][0-9]{0,17}").fullmatch
_MAX_ORIGIN_CHARS = 255


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A tree head.

    Attributes:
        origin: which log it is of.
        size: number of leaves.
        root: 32 bytes, of the tree of that size.
        extensions: further lines, each without its end.
    """

    origin: str
    size: int
    root: bytes
    extensions: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What is signed: lines, each with its end."""
        encoded = base64.b64encode(self.root).decode("ascii")
        return "".join(
            f"{line}\n" for line in (self.origin, str(self.size), encoded, *self.extensions)
        )


def is_origin(text: str) -> bool:
    """Say whether a log may be called so: one printable line."""
    return 0 < len(text) <= _MAX_ORIGIN_CHARS and text.isprintable() and text.strip() == text


def parse_tree_number(text: str) -> int:
    """Read a size or index: ASCII digits without leading zeros.

    Raises:
        NoteError: it is none.
    """
    if _is_number(text) is None:
        raise NoteError("number: expected decimal digits without leading zeros, got another text")
    return int(text)


def parse_checkpoint(data: bytes) -> tuple[Checkpoint, SignedNote]:
    """Read a signed checkpoint; the signatures are the caller's to judge.

    Raises:
        NoteError: it is none.
    """
    note = parse_note(data)
    return parse_checkpoint_text(note.text), note


def parse_checkpoint_text(text: str) -> Checkpoint:
    """Read the text of a checkpoint.

    Raises:
        NoteError: it is none.
    """
    lines = text.split("\n")
    if len(lines) < 4 or lines[-1] != "":
        raise NoteError("checkpoint: expected origin, size and root hash, got fewer lines")
    origin, size, root, *extensions = lines[:-1]
    if not is_origin(origin):
        raise NoteError("checkpoint: expected an origin on the first line, got another text")
    if "" in extensions:
        raise NoteError("checkpoint: expected no empty extension line, got one")
    hashed = parse_base64(root)
    if len(hashed) != HASH_BYTES:
        raise NoteError(f"checkpoint: expected a root hash of 32 bytes, got {len(hashed)}")
    return Checkpoint(origin, parse_tree_number(size), hashed, tuple(extensions))
