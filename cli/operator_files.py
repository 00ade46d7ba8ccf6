"""What a person named: standard input, and how to speak of a file without its folder.

Guarantees: input is bounded before it is in memory. An interrupt while reading loses nothing of
what was read before it.

Example:
    >>> label_of("/srv/agents/policy.toml")
    'policy.toml'
"""

from __future__ import annotations

import hashlib
import os
import select
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, TypeVar

import click

from provenance.audit.request import STDIN
from provenance.errors import CtxauditError
from provenance.fs import TrustedRoot, read_operator_file
from provenance.fs.failures import translate

from .interrupts import Interrupts
from .streams import talk

if TYPE_CHECKING:
    from provenance.audit.lock import NamedLock
    from provenance.policy import Policy
    from provenance.waivers import WaiverEntry

__all__ = [
    "Digests",
    "distinct_targets",
    "is_folder",
    "label_of",
    "note_absent_folder",
    "note_digest",
    "read_lock",
    "read_policy",
    "read_settings",
    "read_stdin",
    "read_waivers",
    "resolved",
    "stdin_blocks",
]

_T = TypeVar("_T")
_BLOCK = 1 << 16
# SHA-256 in hex of what an option named, by the option.
Digests = dict[str, str]


def label_of(path: str) -> str:
    """Give the last part of a path; where it lies is this machine's affair."""
    return PurePath(path).name or "file"


def is_folder(path: str) -> bool:
    """Say whether a folder that can be opened has this path."""
    try:
        with TrustedRoot(path) as root:
            root.open_directory().close()
    except CtxauditError:
        return False
    return True


def note_digest(digests: Digests | None, option: str, data: bytes) -> None:
    """Keep the SHA-256 of a file that an option named, as it was read: for an attestation."""
    if digests is not None:
        digests[option] = hashlib.sha256(data).hexdigest()


def read_policy(path: str | None, digests: Digests | None = None) -> Policy | None:
    """Read the operator's policy file.

    Raises:
        click.UsageError: it cannot be read or is not understood.
    """
    if path is None:
        return None
    from provenance.policy import parse_policy

    return read_settings("--policy", path, parse_policy, digests)


def read_waivers(path: str | None, digests: Digests | None = None) -> tuple[WaiverEntry, ...]:
    """Read the operator's waiver file.

    Raises:
        click.UsageError: it cannot be read or is not understood.
    """
    if path is None:
        return ()
    from provenance.audit.explanations import is_finding_of_audits
    from provenance.transcripts.formats import has_formats_from_outside
    from provenance.waiver_file import parse_waivers

    def is_finding(code: str) -> bool:
        # A format from outside has codes of its own, which nobody lists.
        return is_finding_of_audits(code) or has_formats_from_outside()

    def parse(text: str) -> tuple[WaiverEntry, ...]:
        return parse_waivers(text, is_finding=is_finding)

    return read_settings("--waivers", path, parse, digests)


def read_settings(
    option: str, path: str, parse: Callable[[str], _T], digests: Digests | None = None
) -> _T:
    """Read a TOML file that the operator named.

    Args:
        option: what it was named by, for the message.
        path: as it was named.
        parse: reads its text.
        digests: takes the digest of what was read, under the name of the option.

    Raises:
        click.UsageError: it cannot be read or is not understood.
    """
    from provenance.located_toml import MAX_TOML_CHARACTERS

    try:
        data = read_operator_file(path, max_bytes=MAX_TOML_CHARACTERS, named_pipes=False)
        note_digest(digests, option, data)
        return parse(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        fault = f"line {line}: file: expected UTF-8, got another encoding"
    except CtxauditError as error:
        fault = str(error)
    raise click.UsageError(f"{option}: {label_of(path)}: {fault}", click.get_current_context())


def read_lock(path: str | None, digests: Digests | None = None) -> NamedLock | None:
    """Read the operator's lock file.

    Raises:
        click.UsageError: it cannot be read or is no lock file.
    """
    if path is None:
        return None
    from provenance.audit.lock import NamedLock
    from provenance.limits import DEFAULT_LIMITS
    from provenance.locks import parse_lock

    label = label_of(path)
    try:
        data = read_operator_file(
            path, max_bytes=DEFAULT_LIMITS.max_document_bytes, named_pipes=False
        )
        note_digest(digests, "--lock", data)
        return NamedLock(parse_lock(data), label)
    except CtxauditError as error:
        raise click.UsageError(f"--lock: {label}: {error}", click.get_current_context()) from None


def resolved(path: str) -> str:
    """Give a path without links and detours, to compare with another one; never to open."""
    try:
        return str(Path(path).resolve())
    except (OSError, RuntimeError, ValueError):
        return path


def distinct_targets(targets: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tell the targets apart from those that were named before, by whatever path.

    Returns:
        Each target once, as it was first named, and the repetitions.
    """
    seen: set[object] = set()
    distinct: list[str] = []
    repeated: list[str] = []
    for target in targets:
        identity = _identity(target)
        (repeated if identity in seen else distinct).append(target)
        seen.add(identity)
    return tuple(distinct), tuple(repeated)


def _identity(target: str) -> object:
    if target == STDIN:
        return STDIN
    try:
        with TrustedRoot(target) as root, root.open_directory() as folder:
            found = os.fstat(folder.fd)
            return found.st_dev, found.st_ino
    except CtxauditError:
        return resolved(target)


def note_absent_folder(option: str, path: str | None) -> None:
    """Say on standard error that a root is not there: all in it is missing, or it is a typo."""
    if path is None or is_folder(path):
        return
    try:
        got = "something else" if Path(path).exists() else "nothing of that name"
    except (OSError, ValueError):
        got = "one that cannot be opened"
    talk(f"{option}: expected a folder, got {got}")


def stdin_blocks() -> Iterator[bytes]:
    """Give standard input in blocks, to its end.

    Raises:
        click.UsageError: it is closed; said before the first block is asked for.
    """
    _require_stdin()
    return _blocks()


def _require_stdin() -> None:
    if sys.stdin is None:  # closed by the caller (`<&-`)
        raise click.UsageError(
            "-: expected standard input, got a closed one",
            click.get_current_context(silent=True),
        )


def _blocks() -> Iterator[bytes]:
    while (block := _next_block()) != b"":
        if block is None:
            _await_input()  # non-blocking and empty
        else:
            yield block


def _next_block() -> bytes | None:
    """Read what there is, at most a block; None where nothing is there yet."""
    buffer = sys.stdin.buffer
    # Below the buffered layer: that one gathers a whole block first, and loses it to an interrupt.
    source = getattr(buffer, "raw", buffer)
    try:
        block: bytes | None = source.read(_BLOCK)
    except OSError as error:
        raise click.UsageError(f"-: {translate(error)}", click.get_current_context()) from None
    return block


def _await_input() -> None:
    try:
        select.select([sys.stdin], [], [])
    except (OSError, ValueError):
        return  # no descriptor that could be waited for: reading tells the rest


def read_stdin(*, max_bytes: int, interrupts: Interrupts) -> tuple[bytes, bool]:
    """Read standard input to its end.

    Args:
        max_bytes: the largest input that is taken.
        interrupts: held back but while input is awaited, so that what was received is kept.

    Returns:
        What was read, and whether an interrupt ended the reading.

    Raises:
        click.UsageError: there is more, or it is closed.
    """
    _require_stdin()
    parts: list[bytes] = []
    size = 0
    try:
        while True:
            interrupts.release()
            _await_input()
            interrupts.hold()
            block = _next_block()
            if block == b"":
                return b"".join(parts), False
            parts.append(block or b"")
            size += len(block or b"")
            if size > max_bytes:
                raise click.UsageError(f"-: expected at most {max_bytes} bytes, got more")
    except KeyboardInterrupt:
        interrupts.hold()
        data = b"".join(parts)
        return data[: data.rfind(b"\n") + 1], True  # a line that was cut is another pointer
