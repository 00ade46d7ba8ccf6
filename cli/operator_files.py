"""What a person named: standard input, and how to speak of a file without its folder.

Guarantees: input is bounded before it is in memory. An interrupt while reading loses nothing of
what was read before it.

Example:
    >>> label_of("/srv/agents/policy.toml")
    'policy.toml'
"""

from __future__ import annotations

import select
import sys
from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING

import click

from provenance.errors import CtxauditError
from provenance.fs import TrustedRoot, read_operator_file
from provenance.fs.failures import translate

if TYPE_CHECKING:
    from provenance.policy import Policy

__all__ = ["is_folder", "label_of", "read_policy", "read_stdin", "stdin_blocks"]

_BLOCK = 1 << 16


def label_of(path: str) -> str:
    """Give the last part of a path; where it lies is this machine's affair."""
    return PurePath(path).name or "file"


def is_folder(path: str) -> bool:
    """Say whether a folder that can be opened has this path."""
    try:
        TrustedRoot(path).open_directory().close()
    except CtxauditError:
        return False
    return True


def read_policy(path: str | None) -> Policy | None:
    """Read the operator's policy file.

    Raises:
        click.UsageError: it cannot be read or is not understood.
    """
    if path is None:
        return None
    from provenance.policy import MAX_POLICY_BYTES, parse_policy

    try:
        return parse_policy(read_operator_file(path, max_bytes=MAX_POLICY_BYTES).decode("utf-8"))
    except UnicodeDecodeError:
        fault = "file: expected UTF-8, got another encoding"
    except CtxauditError as error:
        fault = str(error)
    raise click.UsageError(f"--policy: {label_of(path)}: {fault}", click.get_current_context())


def stdin_blocks() -> Iterator[bytes]:
    """Give standard input in blocks, to its end; nothing where it is closed."""
    if sys.stdin is None:
        return
    while (block := _next_block()) != b"":
        if block is None:
            select.select([sys.stdin], [], [])  # non-blocking and empty: wait for more
        else:
            yield block


def _next_block() -> bytes | None:
    try:
        return sys.stdin.buffer.read(_BLOCK)
    except OSError as error:
        raise click.UsageError(f"-: {translate(error)}", click.get_current_context()) from None


def read_stdin(*, max_bytes: int) -> tuple[bytes, bool]:
    """Read standard input to its end.

    Args:
        max_bytes: the largest input that is taken.

    Returns:
        What was read, and whether an interrupt ended the reading.

    Raises:
        click.UsageError: there is more.
    """
    parts: list[bytes] = []
    size = 0
    try:
        for block in stdin_blocks():
            parts.append(block)
            size += len(block)
            if size > max_bytes:
                raise click.UsageError(f"-: expected at most {max_bytes} bytes, got more")
    except KeyboardInterrupt:
        data = b"".join(parts)
        return data[: data.rfind(b"\n") + 1], True  # a line that was cut is another pointer
    return b"".join(parts), False
