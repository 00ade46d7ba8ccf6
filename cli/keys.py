"""Keys as the operator names them: in files, or in an environment variable.

Guarantees: a key file that others may read is refused; no message holds any part of a key, nor the
folder it lies in.

Example:
    >>> NAME_OF_KEY_VARIABLE
    'CTXAUDIT_SEAL_KEY'
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from provenance.errors import CtxauditError
from provenance.fs import read_operator_file
from provenance.fs.key_files import read_secret_file
from provenance.sealing.keys import MAX_KEY_BYTES, parse_signer, parse_verifier
from provenance.sealing.note import MAX_NOTE_BYTES
from provenance.sealing.sealed_log import HeldCheckpointError, SealTrust, parse_held

from .operator_files import Digests, label_of, note_digest

if TYPE_CHECKING:
    from provenance.sealing.checkpoint import Checkpoint
    from provenance.sealing.keys import Signer, Verifier

__all__ = ["NAME_OF_KEY_VARIABLE", "read_held", "read_signer", "read_trust", "read_verifier"]

# Holds the text of the key, not the name of a file: what a secret store hands to a job.
NAME_OF_KEY_VARIABLE = "CTXAUDIT_SEAL_KEY"


def read_verifier(path: str, *, option: str) -> Verifier:
    """Read a public key.

    Raises:
        click.UsageError: it cannot be read or is none.
    """
    try:
        return parse_verifier(
            _text(read_operator_file(path, max_bytes=MAX_KEY_BYTES, named_pipes=False))
        )
    except CtxauditError as error:
        raise _refusal(option, path, error) from None


def read_signer(path: str | None, *, option: str = "--key") -> Signer:
    """Read a private key from a file, or from the variable where no file is named.

    Raises:
        click.UsageError: it cannot be read, others may read it, or it is none.
    """
    try:
        if path is not None:
            return parse_signer(_text(read_secret_file(path, max_bytes=MAX_KEY_BYTES)))
        text = os.environ.get(NAME_OF_KEY_VARIABLE)
        if text is not None:
            return parse_signer(text)
    except CtxauditError as error:
        if path is not None:
            raise _refusal(option, path, error) from None
        raise click.UsageError(
            f"{NAME_OF_KEY_VARIABLE}: {error}", click.get_current_context()
        ) from None
    raise click.UsageError(
        f"{option}: expected a key file, or the key itself in {NAME_OF_KEY_VARIABLE}, got neither",
        click.get_current_context(),
    )


def read_trust(
    key: str | None, held: str | None, digests: Digests | None = None
) -> SealTrust | None:
    """Read what `--seal` and `--seal-checkpoint` name; None: no seal is asked for.

    Raises:
        click.UsageError: a file cannot be read, or the checkpoint is not of the key.
    """
    if key is None:
        if held is not None:
            raise click.UsageError(
                "--seal-checkpoint: expected --seal beside it, got none",
                click.get_current_context(),
            )
        return None
    verifier = read_verifier(key, option="--seal")
    return SealTrust(verifier, None if held is None else read_held(held, verifier, digests))


def read_held(path: str, verifier: Verifier, digests: Digests | None = None) -> Checkpoint:
    """Read the checkpoint that `--seal-checkpoint` names.

    Raises:
        click.UsageError: it cannot be read, or is not of the key.
    """
    try:
        data = read_operator_file(path, max_bytes=MAX_NOTE_BYTES, named_pipes=False)
        note_digest(digests, "--seal-checkpoint", data)
        return parse_held(data, verifier)
    except (CtxauditError, HeldCheckpointError) as error:
        raise _refusal("--seal-checkpoint", path, error) from None


def _text(data: bytes) -> str:
    # What is no UTF-8 is no key either, and says so.
    return data.decode("utf-8", "replace")


def _refusal(option: str, path: str, error: Exception) -> click.UsageError:
    return click.UsageError(f"{option}: {label_of(path)}: {error}", click.get_current_context())
