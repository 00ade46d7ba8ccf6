"""Options that choose among transcripts: their format, their sessions, since when.

Guarantees: a value is checked while the command line is parsed, without loading the formats: the
names of our own are known here, and a test compares them with those there are.

Example:
    >>> Since().convert("2026-11-01", None, None).isoformat()
    '2026-11-01T00:00:00+00:00'
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

import click
from click.shell_completion import CompletionItem

from .completing import complete_formats
from .options import option

__all__ = [
    "OWN_FORMATS",
    "ContentHash",
    "FormatName",
    "Since",
    "format_option",
    "selection_options",
]

_F = TypeVar("_F", bound=Callable[..., object])

# As `provenance.transcripts.formats` has them; formats from outside have other names.
OWN_FORMATS = (
    "claude-code",
    "codex",
    "dsh",
    "gemini-cli",
    "inspect",
    "native",
    "openai-agents",
    "openhands",
)

if TYPE_CHECKING:
    _TextType = click.ParamType[str]
    _TimeType = click.ParamType[datetime]
else:  # older click has no type argument here
    _TextType = _TimeType = click.ParamType


class FormatName(_TextType):
    """The name of a transcript format, ours or one from outside."""

    name = "format"
    beside: tuple[str, ...] = ()
    """Names that are taken beside those of the formats."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Give the name back if a format has it."""
        if value not in OWN_FORMATS:
            # Only for a format from outside are all of them loaded.
            from provenance.transcripts.formats import format_names

            names = (*format_names(), *self.beside)
            if value not in names:
                self.fail(f"expected one of {', '.join(names)}, got {value!r}", param, ctx)
        return value

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Let the shell complete the names."""
        return complete_formats(incomplete)


class Since(_TimeType):
    """A day or an instant, ISO 8601; without a zone it is UTC."""

    name = "date"

    def convert(
        self, value: str | datetime, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """Give the instant that a text stands for."""
        if isinstance(value, datetime):
            return value
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"expected a date like 2026-11-01, got {value!r}", param, ctx)
        return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


class ContentHash(_TextType):
    """A SHA-256 as 64 hex digits, with or without `sha256:` before them."""

    name = "hash"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Give the 64 digits in lower case."""
        match = re.fullmatch(r"(?:sha256:)?([0-9a-fA-F]{64})", value)
        if match is None:
            self.fail("expected sha256:<64 hex digits>, got another text", param, ctx)
        return match[1].lower()


def format_option(command: _F) -> _F:
    """Add the format that transcripts are taken for."""
    return option(
        "--as",
        "as_format",
        type=FormatName(),
        metavar="FORMAT",
        help=f"Transcripts are of this format: {', '.join(OWN_FORMATS)}. Default: by content.",
    )(command)


def selection_options(command: _F) -> _F:
    """Add which transcripts count."""
    command = option(
        "--since",
        type=Since(),
        metavar="DATE",
        help="Leave out transcripts whose last record is older.",
    )(command)
    return option(
        "--session",
        multiple=True,
        metavar="PATTERN",
        help="Check transcripts of these sessions only; * and ? stand for others; repeatable.",
    )(command)
