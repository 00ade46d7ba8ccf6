"""Carries out `ctxaudit keygen` and `ctxaudit seal`.

Guarantees: one line for whatever goes wrong, without the folder of any file and without any part of
a key.

Example:
    $ ctxaudit seal home --key seal.key
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import click

from provenance.audit.seal_writing import NothingToSeal, SealRefused, seal_home
from provenance.audit.sealed_artifacts import ArtifactFaultCode
from provenance.errors import CallerError, CtxauditError, DataError
from provenance.fs import NameTaken, TrustedRoot
from provenance.fs.key_files import create_key_files
from provenance.sealing.keys import generate_signer

from .exit_codes import ExitCode
from .keys import read_held, read_signer
from .operator_files import is_folder, label_of
from .options import Manner
from .streams import talk, write_text

__all__ = ["make_keys", "seal"]

_LISTED = 20


class SealFailed(click.ClickException):
    """The machine could not write."""

    exit_code = ExitCode.TOOL_FAILED


def make_keys(ctx: click.Context, path: str, name: str | None) -> None:
    """Make a pair of keys in two new files, and print the public one.

    Raises:
        click.UsageError: a name is in use, or no key may have it.
        SealFailed: the disk refused.
    """
    try:
        signer = generate_signer(name or f"ctxaudit/{secrets.token_hex(8)}")
        public = f"{signer.verifier.text}\n"
        create_key_files(path, f"{signer.text}\n".encode(), f"{path}.pub", public.encode())
    except (CallerError, NameTaken) as error:
        raise click.UsageError(f"{label_of(path)}: {error}", ctx) from None
    except CtxauditError as error:
        raise SealFailed(f"keygen: {label_of(path)}: {error}") from None
    write_text(public)


def seal(
    ctx: click.Context,
    path: str,
    key: str | None,
    origin: str | None,
    held: str | None,
    *,
    accept_removed: bool,
    manner: Manner,
) -> ExitCode:
    """Seal a home and print the checkpoint; gives the exit code.

    Raises:
        click.UsageError: the home or the key cannot be used.
        SealFailed: the disk refused.
    """
    label = label_of(path)
    signer = read_signer(key)
    checkpoint = None if held is None else read_held(held, signer.verifier)
    if not is_folder(path):
        raise click.UsageError(f"{label}: expected a folder, got none that can be opened", ctx)
    try:
        with TrustedRoot(path) as home:
            found = seal_home(
                home, signer, origin=origin, held=checkpoint, accept_removed=accept_removed
            )
    except SealRefused as refusal:
        _list(label, refusal.faults)
        if any(code == ArtifactFaultCode.REMOVED for code, _, _ in refusal.faults):
            talk(f"ctxaudit seal: {label}: if a removal is right: --accept-removed seals it")
        said = "nothing was signed (seal_refused); see ctxaudit explain CODE"
        talk(f"ctxaudit seal: {label}: {said}")
        return ExitCode.CORRUPT if refusal.is_conclusive else ExitCode.INCONCLUSIVE
    except NothingToSeal as error:
        talk(f"ctxaudit seal: {label}: {error} ({error.code})")
        return ExitCode.NOTHING_VERIFIED
    except CallerError as error:
        raise click.UsageError(str(error), ctx) from None
    except DataError as error:
        talk(f"ctxaudit seal: {label}: {error} ({error.code})")
        return ExitCode.CORRUPT
    except CtxauditError as error:
        raise SealFailed(f"seal: {label}: {error}") from None
    write_text(found.note.decode("utf-8"))
    _list(label, found.notices)
    if not manner.quiet:
        for name in found.further_versions[:_LISTED]:
            talk(f"ctxaudit seal: {label}: {name}: changed since the last seal, a further version")
        new = f"{found.added} new entries" if found.added else "nothing new, nothing written"
        talk(
            f"ctxaudit seal: {label}: seal {found.number} of {found.checkpoint.origin}: "
            f"{found.checkpoint.size} entries, {new}"
        )
    return ExitCode.OK


def _list(label: str, told: Sequence[tuple[str, str, str]]) -> None:
    for code, place, message in told[:_LISTED]:
        talk(f"ctxaudit seal: {label}: {place}: {message} ({code})")
    if len(told) > _LISTED:
        talk(f"ctxaudit seal: {label}: and {len(told) - _LISTED} more")
