"""Carries out `ctxaudit state log`, `show` and `diff`, and says why a state store cannot be used.

Guarantees: a home is read from a private copy of its store, so that reading writes nothing and a
hostile file does nothing. Whatever is wrong is one line and a documented exit code: 12 what is not
there, 11 what a newer ctxaudit wrote, 14 what is damaged.

Example:
    $ ctxaudit state log home run-1
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import click

from provenance.durable import DurableContextState, diff_states
from provenance.errors import CallerError, CtxauditError, DataError, MachineError
from provenance.fs import SourceAbsent, TrustedRoot
from provenance.stores import (
    StateAbsent,
    StateReader,
    StoredState,
    StoreOpenToOthers,
    StoreTooNew,
    check_version,
    checked_versions,
    open_snapshot,
    rows_of_no_version,
)
from provenance.stores.planning import require_state_name

from .exit_codes import ExitCode
from .operator_files import is_folder, label_of
from .state_json import difference_json, log_json, selections_json
from .state_views import difference_lines, log_lines, selections_lines, state_lines
from .streams import talk, write_bytes, write_text

__all__ = ["StateFailed", "diff_versions", "list_versions", "refused", "show_version"]

_MOST_TOLD = 20


class StateFailed(click.ClickException):
    """The machine could not do its part."""

    exit_code = ExitCode.TOOL_FAILED


class StateMissing(StateFailed):
    """There is no such store, state or version."""

    exit_code = ExitCode.MISSING


class StateUnsupported(StateFailed):
    """A newer ctxaudit wrote the store."""

    exit_code = ExitCode.UNSUPPORTED


class StateCorrupt(StateFailed):
    """The store, or what was asked of it, is damaged."""

    exit_code = ExitCode.CORRUPT


@contextmanager
def refused(ctx: click.Context, label: str) -> Iterator[None]:
    """Turn what a store refuses into a line and an exit code.

    Raises:
        click.UsageError: what was asked for can never be.
        StateFailed: everything else.
    """
    try:
        yield
    except (StateAbsent, SourceAbsent) as error:
        raise StateMissing(_said(ctx, label, error)) from None
    except StoreTooNew as error:
        raise StateUnsupported(_said(ctx, label, error)) from None
    except CallerError as error:
        raise click.UsageError(f"{label}: {error}", ctx) from None
    except StoreOpenToOthers as error:
        raise StateFailed(_said(ctx, label, error)) from None
    except DataError as error:
        raise StateCorrupt(_said(ctx, label, error)) from None
    except MachineError as error:
        raise StateFailed(_said(ctx, label, error)) from None


def list_versions(
    ctx: click.Context, home: str, name: str | None, *, is_json: bool, has_changes: bool
) -> ExitCode:
    """Print the versions of one state, or of all; what cannot be read is told, the rest printed.

    Raises:
        click.UsageError, StateFailed: nothing can be read.
    """
    label, code = label_of(home), ExitCode.OK
    with _opened(ctx, home) as reader:
        found = reader.scan()
        faults = list(found.faults)
        names = list(found.versions) if name is None else [require_state_name(name)]
        histories = []
        for one in names:
            try:
                histories.append(reader.history(one))
            except StateAbsent:
                raise
            except CtxauditError as error:
                faults.append(str(error))
            for checked in checked_versions(reader, one, found.versions.get(one, ())):
                faults += checked.faults if checked.error is None else [str(checked.error)]
        if name is None:
            faults += rows_of_no_version(reader, found.versions)
    if faults:
        code = ExitCode.CORRUPT
        _tell(ctx, label, faults)
    if is_json:
        _write_json(log_json(histories))
    else:
        write_text("".join(f"{line}\n" for line in log_lines(histories, has_changes=has_changes)))
    return code


def show_version(
    ctx: click.Context,
    home: str,
    name: str,
    version: int | None,
    *,
    is_json: bool,
    has_selections: bool,
    is_all: bool = False,
) -> ExitCode:
    """Print one version of a state; with its selections where they are asked for.

    Args:
        ctx: of the command.
        home: the state home.
        name: the state.
        version: None: the current one.
        is_json: print JSON.
        has_selections: also the traces of that version.
        is_all: of all versions, and those from before there was any.

    Raises:
        click.UsageError, StateFailed: it cannot be read.
    """
    kept: StoredState | None = None
    faults: tuple[str, ...] = ()
    of_version = version
    with _opened(ctx, home) as reader:
        require_state_name(name)
        current = reader.current_version(name)
        # A trace may be older than the first version of its state.
        if version is not None or current is not None or not has_selections:
            kept = reader.get(name, version)
            faults, of_version = check_version(reader, kept), kept.version
        selections = reader.selections(name, None if is_all else of_version)
        if kept is None and not selections:
            raise StateAbsent("name: expected a state or selections of that name, got neither")
    if faults:
        _tell(ctx, label_of(home), faults)
    if has_selections and is_json:
        _write_json(selections_json(name, None if is_all else of_version, selections))
    elif is_json and kept is not None:
        # To a terminal goes what this program writes of it, in which nothing steers one.
        write_bytes(kept.state.to_json().encode() if _is_terminal() else kept.document)
    else:
        lines = [] if kept is None else [*state_lines(kept, current=current or kept.version)]
        if has_selections:
            lines += [*([""] if lines else []), *selections_lines(selections)]
        write_text("".join(f"{line}\n" for line in lines))
    return ExitCode.CORRUPT if faults else ExitCode.OK


def diff_versions(
    ctx: click.Context,
    home: str,
    name: str,
    before: int | None,
    after: int | None,
    *,
    is_json: bool,
) -> None:
    """Print what changed between two versions.

    Args:
        ctx: of the command.
        home: the state home.
        name: the state.
        before: a version; 0: before there was any; None: the one before `after`.
        after: a version; None: the current one.
        is_json: print JSON.

    Raises:
        click.UsageError, StateFailed: one of them cannot be read.
    """
    with _opened(ctx, home) as reader:
        require_state_name(name)
        later = reader.get(name, after)
        number = later.version - 1 if before is None else before
        earlier = DurableContextState() if number == 0 else reader.get(name, number).state
    difference = diff_states(earlier, later.state)
    if is_json:
        _write_json(difference_json(name, number, later.version, difference))
    else:
        lines = difference_lines(name, number, later.version, difference)
        write_text("".join(f"{line}\n" for line in lines))


@contextmanager
def _opened(ctx: click.Context, home: str) -> Iterator[StateReader]:
    label = label_of(home)
    if not is_folder(home):
        raise click.UsageError(f"{label}: expected a state home, got no folder", ctx)
    with refused(ctx, label), TrustedRoot(home) as root, ExitStack() as opened:
        try:
            reader = opened.enter_context(open_snapshot(root))
        except SourceAbsent:
            raise StateAbsent("states: expected a state store, got none") from None
        yield reader


def _tell(ctx: click.Context, label: str, faults: Sequence[str]) -> None:
    """Tell what is wrong, each thing once; a hostile store has very many."""
    told = list(dict.fromkeys(faults))
    for fault in told[:_MOST_TOLD]:
        talk(f"{ctx.command_path}: {label}: {fault}")
    if len(told) > _MOST_TOLD:
        talk(f"{ctx.command_path}: {label}: {len(told) - _MOST_TOLD} more; verify --all lists them")


def _said(ctx: click.Context, label: str, error: CtxauditError) -> str:
    return f"{ctx.command_path.partition(' ')[2]}: {label}: {error}"


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _write_json(document: object) -> None:
    # ASCII alone: no text of a state steers a terminal.
    write_text(json.dumps(document, indent=2, allow_nan=False) + "\n")
