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
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import click

from provenance.durable import DurableContextState, diff_states
from provenance.errors import CallerError, CtxauditError, DataError, MachineError
from provenance.fs import SourceAbsent, TrustedRoot
from provenance.stores import (
    StateAbsent,
    StateReader,
    StoreTooNew,
    open_snapshot,
)
from provenance.stores.planning import require_state_name

from .exit_codes import ExitCode
from .operator_files import is_folder, label_of
from .state_json import difference_json, log_json, selections_json
from .state_views import difference_lines, log_lines, selections_lines, state_lines
from .streams import talk, write_bytes, write_text

__all__ = ["StateFailed", "diff_versions", "list_versions", "refused", "show_version"]


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
        for fault in found.faults:
            talk(f"{ctx.command_path}: {label}: {fault}")
            code = ExitCode.CORRUPT
        names = list(found.versions) if name is None else [require_state_name(name)]
        histories = []
        for one in names:
            try:
                histories.append(reader.history(one))
            except StateAbsent:
                raise
            except CtxauditError as error:
                talk(f"{ctx.command_path}: {label}: {error}")
                code = ExitCode.CORRUPT
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
) -> None:
    """Print one version of a state; with its selections where they are asked for.

    Raises:
        click.UsageError, StateFailed: it cannot be read.
    """
    with _opened(ctx, home) as reader:
        require_state_name(name)
        kept = reader.get(name, version)
        current = reader.current_version(name)
        selections = reader.selections(name, version) if has_selections else ()
    if is_json and has_selections:
        _write_json(selections_json(name, version, selections))
    elif is_json:
        # To a terminal goes what this program writes of it, in which nothing steers one.
        write_bytes(kept.state.to_json().encode() if _is_terminal() else kept.document)
    else:
        lines = [*state_lines(kept, current=current or kept.version)]
        if has_selections:
            lines += ["", *selections_lines(selections)]
        write_text("".join(f"{line}\n" for line in lines))


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


def _said(ctx: click.Context, label: str, error: CtxauditError) -> str:
    return f"{ctx.command_path.partition(' ')[2]}: {label}: {error}"


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _write_json(document: object) -> None:
    # ASCII alone: no text of a state steers a terminal.
    write_text(json.dumps(document, indent=2, allow_nan=False) + "\n")
