"""`--sandbox`: the option, and the audit that it asks for.

Guarantees: where it was asked for, nothing is verified without it: a machine that cannot confine a
process is refused as usage, and a confined process that fails is a failure of the tool. SIGTERM
and SIGHUP end the confined process first, and leave none of its files behind.

Example:
    >>> audit_runner(len, sandbox=False).__name__
    'len'
"""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, TypeVar

import click

from .compact_endings import Endings
from .exit_codes import ExitCode
from .options import option

if TYPE_CHECKING:
    from provenance.audit_report import AuditReport

__all__ = ["SandboxFault", "audit_runner", "sandbox_option"]

_F = TypeVar("_F", bound=Callable[..., object])


class SandboxFault(click.ClickException):
    """The confined process gave no report."""

    exit_code = ExitCode.TOOL_FAILED


class _Ended(BaseException):
    """A signal that asks to end; no failure, so that nothing on the way takes it for one."""


class _Endings(Endings):
    """Ends the run where it waits; the signal does what it does once all is cleaned up."""

    def __init__(self) -> None:
        super().__init__(None)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        is_first = self._waiting is None
        super()._hear(number, frame)
        if is_first:
            raise _Ended(number)


def sandbox_option(command: _F) -> _F:
    """Add `--sandbox`."""
    return option(
        "--sandbox",
        is_flag=True,
        help="Read in processes that the kernel lets do nothing else (Linux, Landlock); where it "
        "cannot, exit 2.",
    )(command)


def audit_runner(
    plain: Callable[..., AuditReport],
    *,
    sandbox: bool,
    precheck: Callable[[], None] | None = None,
) -> Callable[..., AuditReport]:
    """Give what runs an audit.

    Args:
        plain: what runs it here.
        sandbox: whether it is confined.
        precheck: looks at the targets and raises a usage error; confined, too.
    """
    if sandbox:
        return lambda *arguments, **options: _run_sandboxed(precheck, arguments, options)
    if precheck is not None:
        precheck()
    return plain


def _run_sandboxed(
    precheck: Callable[[], None] | None,
    arguments: tuple[object, ...],
    options: dict[str, object],
) -> AuditReport:
    from provenance.audit.sandboxed import SandboxFailed, run_sandboxed_audit
    from provenance.fs.confinement import SandboxUnavailable

    def fault() -> str | None:
        if precheck is not None:
            try:
                precheck()
            except click.UsageError as error:
                return error.message
        return None

    run: Callable[..., AuditReport] = run_sandboxed_audit
    try:
        with _Endings():
            return run(*arguments, precheck=fault, **options)
    except _Ended as ended:  # where the signal does not end the process by itself
        raise SystemExit(128 + int(ended.args[0])) from None
    except SandboxUnavailable as error:
        raise click.UsageError(f"--sandbox: {error}", click.get_current_context()) from None
    except SandboxFailed as error:
        raise SandboxFault(f"--sandbox: {error}") from None
