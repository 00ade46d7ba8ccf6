"""Carries out `ctxaudit state put`.

Guarantees: the state is read and judged before the store is opened; what is printed is on the disk.

Example:
    $ ctxaudit state put home run-1 state.json --replaces 3 --author ops
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import click

from provenance.audit.states import parse_state
from provenance.errors import CtxauditError
from provenance.fs import read_operator_file
from provenance.limits import DEFAULT_LIMITS
from provenance.stores import DurableStateStore

from .interrupts import Interrupts
from .operator_files import is_folder, label_of, read_stdin
from .states import refused
from .streams import OutputFailed, write_text

__all__ = ["PutOrder", "put_state"]

_STDIN = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class PutOrder:
    """The options of one `ctxaudit state put`."""

    home: str
    name: str
    file: str
    replaces: int | None
    author: str
    note: str | None
    confirmed_by: str | None
    conflict_keys: Mapping[str, str | None]
    is_json: bool


def put_state(ctx: click.Context, interrupts: Interrupts, order: PutOrder) -> None:
    """Store the state in a file as the next version, and print which one it is.

    Raises:
        click.UsageError: the file is no state, another version is current, or the state may not
            follow it.
        StateFailed: the store or the machine refuses.
    """
    label = _STDIN if order.file == _STDIN else label_of(order.file)
    try:
        state = parse_state(_read(ctx, interrupts, order.file), limits=DEFAULT_LIMITS)
    except CtxauditError as error:
        raise click.UsageError(f"{label}: {error}", ctx) from None
    # A home that is not there is a mistyped one: a store made in its place would go unnoticed.
    if not is_folder(order.home):
        raise click.UsageError(
            f"{label_of(order.home)}: expected a folder that is there, got none", ctx
        )
    # An interrupt comes before or after, so that what is stored is also said.
    with (
        interrupts.held_back(),
        refused(ctx, label_of(order.home)),
        DurableStateStore(order.home) as store,
    ):
        made = store.put(
            order.name,
            state,
            replaces=order.replaces,
            author=order.author,
            note=order.note,
            confirmed_by=order.confirmed_by,
            conflict_keys=order.conflict_keys,
        )
        if order.is_json:
            document = {"name": made.name, "version": made.version, "sha256": made.sha256}
            text = json.dumps(document) + "\n"
        else:
            text = f"{made.name} version {made.version} {made.sha256}\n"
        try:
            write_text(text)
        except OutputFailed as error:
            # Whoever tries again has to know that he is not the first.
            raise OutputFailed(
                f"{error.message}; {made.name} version {made.version} is stored"
            ) from None


def _read(ctx: click.Context, interrupts: Interrupts, file: str) -> bytes:
    if file != _STDIN:
        return read_operator_file(
            file, max_bytes=DEFAULT_LIMITS.max_document_bytes, named_pipes=False
        )
    data, is_interrupted = read_stdin(
        max_bytes=DEFAULT_LIMITS.max_document_bytes, interrupts=interrupts
    )
    if is_interrupted:
        raise click.Abort
    return data
