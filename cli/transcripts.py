"""What was named where transcripts are wanted: one, a folder of them, or something else.

Guarantees: nothing is taken for a transcript that no format knows; a state home is told by what
lies in it. Links below a folder are not followed.

Example:
    >>> named = named_transcripts("/nowhere/a.jsonl")
    Traceback (most recent call last):
    provenance.fs.failures.SourceAbsent: source: expected a file, got nothing of that name
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import NamedTuple

import click

from provenance.audit.home import HOME_MARKERS
from provenance.audit.ledgers import TRANSCRIPT_ENDING, is_ledger
from provenance.audit.request import STDIN
from provenance.errors import CtxauditError
from provenance.fs import SourceAbsent, TrustedRoot
from provenance.fs.failures import FileFailure
from provenance.transcripts.discovery import Candidate, find_candidates
from provenance.transcripts.formats import find_format
from provenance.transcripts.sources import read_head

from .operator_files import is_folder, label_of

__all__ = ["NamedTranscripts", "named_transcripts", "require_transcripts"]


class NamedTranscripts(NamedTuple):
    """What lies where somebody pointed.

    Attributes:
        root: it lies below this one.
        is_home: the root is a state home.
        is_file: one file was named; None of its folder is looked at.
        name: of that file.
    """

    root: TrustedRoot
    is_home: bool = False
    is_file: bool = False
    name: str = ""

    def candidates(
        self,
        root: TrustedRoot,
        on_failure: Callable[[tuple[str, ...], FileFailure], None],
    ) -> Iterator[Candidate]:
        """Give what may be transcripts, in the order of their names.

        Args:
            root: where to look; the root, or a folder of a home.
            on_failure: hears of folders that cannot be listed.
        """
        if self.is_file:
            yield Candidate((self.name,))
            return
        yield from find_candidates(root, on_failure=on_failure)


def named_transcripts(target: str) -> NamedTranscripts:
    """Look at what was named.

    Raises:
        SourceAbsent, BoundaryRefused, AccessRefused, NotARegularFile, ReadFailed: no access.
        UnsafeComponent: it is no name of a file.
    """
    root = TrustedRoot(target)
    try:
        with root.open_directory() as directory:
            names = [entry.name for entry in directory.entries()]
    except SourceAbsent:
        path = PurePath(target)
        root = TrustedRoot(path.parent)
        root.open_file(path.name).close()
        return NamedTranscripts(root, is_file=True, name=path.name)
    return NamedTranscripts(root, is_home=not HOME_MARKERS.isdisjoint(names))


def require_transcripts(
    ctx: click.Context, targets: Sequence[str], *, as_format: str | None, has_hash: bool
) -> None:
    """Refuse targets that `verify` would take for something else than transcripts.

    Raises:
        click.UsageError: one is standard input or another file; or a hash was given and not exactly
            one file.
    """
    for target in targets:
        label = label_of(target)
        if target == STDIN:
            raise click.UsageError("-: expected a file or folder, got standard input", ctx)
        try:
            named = named_transcripts(target)
            is_known = _is_transcript(named, as_format)
        except SourceAbsent:
            raise click.UsageError(
                f"{label}: expected a file or folder, got nothing of that name", ctx
            ) from None
        except CtxauditError as error:
            if target.endswith(TRANSCRIPT_ENDING):
                continue  # a transcript that cannot be read is a finding
            raise click.UsageError(f"{label}: {error}", ctx) from None
        if not is_known:
            raise click.UsageError(
                f"{label}: expected a transcript of a known format (or --as), got another file", ctx
            )
    if has_hash and (len(targets) != 1 or is_folder(targets[0])):
        raise click.UsageError(
            "--expect-hash: expected one file as TARGET, got "
            f"{'a folder' if len(targets) == 1 else f'{len(targets)} targets'}",
            ctx,
        )


def _is_transcript(named: NamedTranscripts, as_format: str | None) -> bool:
    if not named.is_file:
        return True
    if named.name.endswith(TRANSCRIPT_ENDING):
        return not is_ledger(named.root, named.name)
    if as_format is not None:
        return True
    with named.root.open_file(named.name) as file:
        return find_format(read_head(file, named.name)) is not None
