"""Which report goes where: `--format` and `--output`, paired by position.

Guarantees: pure. The first format belongs to the first output, and so on; the one format that is
left goes to standard output, and so does what is paired with `-`.

Example:
    >>> pair_outputs(("json", "console"), ("report.json",))
    (Output(format='json', path='report.json'), Output(format='console', path=None))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import click

__all__ = ["FORMATS", "Output", "pair_outputs"]

FORMATS = ("console", "json", "ndjson", "sarif", "junit", "github", "markdown", "html")


@dataclass(frozen=True, slots=True)
class Output:
    """One report; `path` None is standard output."""

    format: str
    path: str | None


def pair_outputs(formats: Sequence[str], outputs: Sequence[str]) -> tuple[Output, ...]:
    """Pair the two repeated options.

    Raises:
        click.UsageError: more outputs than formats, two reports for one place.
    """
    named = tuple(formats) or FORMATS[:1]
    if len(outputs) > len(named):
        raise click.UsageError(
            f"--output: expected at most one for each --format ({len(named)}), got {len(outputs)}"
        )
    paths: list[str | None] = [None if path == "-" else path for path in outputs]
    paths += [None] * (len(named) - len(paths))
    if paths.count(None) > 1:
        raise click.UsageError(
            "--format: expected one report for standard output, got "
            f"{paths.count(None)}; give the others an --output"
        )
    files = [path for path in paths if path is not None]
    if len(set(files)) < len(files):
        raise click.UsageError("--output: expected a file for each report, got one twice")
    return tuple(Output(kind, path) for kind, path in zip(named, paths, strict=True))
