r"""Standard output and standard error, as a tool in a pipeline has to treat them.

Guarantees: a reader that has left (`| head`) ends the output without a word and never the run; any
other failed write raises `OutputFailed`, so that neither a full disk nor a standard output that is
closed can pass for success. No character of any text makes a write fail, whatever the encoding of
the terminal.

Example:
    >>> one_line("a\x1b[31m\nb")
    'a\\x1b[31m\\nb'
"""

from __future__ import annotations

import errno
import io
import os
import re
import select
import sys
from typing import TextIO

import click

from .exit_codes import ExitCode

__all__ = [
    "OutputFailed",
    "one_line",
    "prepare",
    "require_output",
    "settle",
    "talk",
    "write_bytes",
    "write_text",
]

# A line for people; what is longer than this says nothing more.
_LINE_CHARACTERS = 1_000
# `##[set-output name=x]y`, `##vso[...]`: a command of the program that runs a build, wherever it
# stands in a line of its log. As in the reports; a test compares.
_runner_command = re.compile(r"##(?=[A-Za-z]{0,20}\[)")


class OutputFailed(click.ClickException):
    """What was to be said could not be written; the exit code must not be a verdict."""

    exit_code = ExitCode.TOOL_FAILED


def prepare() -> None:
    """Make both streams accept any text: what they cannot encode is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def write_text(text: str) -> None:
    """Write data to standard output and hand it on at once.

    Raises:
        OutputFailed: the write failed for another reason than a reader that has left.
    """
    stream = require_output()
    try:
        if isinstance(stream, io.TextIOWrapper):
            _write_all(stream, text.encode(stream.encoding, stream.errors or "strict"))
        else:
            stream.write(text)
    except (OSError, ValueError) as error:
        _give_up(stream, error)


def write_bytes(data: bytes) -> None:
    """Write raw bytes to standard output and hand them on at once; raises as `write_text`."""
    stream = require_output()
    try:
        _write_all(stream, data)
    except (OSError, ValueError) as error:
        _give_up(stream, error)


def talk(message: str) -> None:
    """Say one line to the person at the terminal; failing to is no failure of the run."""
    stream = sys.stderr
    if stream is None:
        return
    try:
        stream.write(one_line(message) + "\n")
        stream.flush()
    except (OSError, ValueError):
        _detach(stream)


def settle() -> bool:
    """Hand on what is still buffered; False where that failed and nobody was told yet."""
    stream = sys.stdout
    if stream is None:
        return True
    try:
        stream.flush()
    except BrokenPipeError:
        _detach(stream)
    except (OSError, ValueError):
        _detach(stream)
        return False
    return True


def one_line(text: str) -> str:
    """Give `text` as one bounded line in which nothing steers a terminal or a build."""
    shown = text if len(text) <= _LINE_CHARACTERS else text[:_LINE_CHARACTERS] + "..."
    line = "".join(
        char if char.isprintable() else ascii(char)[1:-1]  # str.isprintable: no Cc, Cf, Cs, Zl
        for char in shown
    )
    return line if "##" not in line else _runner_command.sub("## ", line)


def require_output() -> TextIO:
    """Give standard output.

    Raises:
        OutputFailed: it is closed.
    """
    if sys.stdout is None:  # closed by the caller (`>&-`)
        raise OutputFailed("standard output: expected to write, got a closed one")
    return sys.stdout


def _write_all(stream: TextIO, data: bytes) -> None:
    """Write to the descriptor until all is written.

    With `PYTHONUNBUFFERED`, as container images like to set it, Python's own text layer drops what
    a short write leaves over: a signal while a pipe is full is enough. And its buffered layer gives
    up where somebody made the pipe non-blocking.
    """
    stream.flush()
    raw = getattr(stream.buffer, "raw", stream.buffer)
    if not isinstance(raw, io.RawIOBase):
        stream.buffer.write(data)
        stream.buffer.flush()
        return
    view = memoryview(data)
    while view:
        count = raw.write(view)
        if count is None:
            select.select([], [raw], [])  # non-blocking and full: wait for room
        else:
            view = view[count:]


def _give_up(stream: TextIO, error: OSError | ValueError) -> None:
    _detach(stream)
    if isinstance(error, BrokenPipeError):
        return
    number = error.errno if isinstance(error, OSError) else None
    name = errno.errorcode.get(number or 0, "a closed file")
    raise OutputFailed(f"standard output: expected to write, got {name}") from None


def _detach(stream: TextIO) -> None:
    """Let the interpreter flush the rest into nothing when it ends."""
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        return
    sink = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(sink, number)
    finally:
        os.close(sink)
