"""Carries out `policy test`: one line for each pointer, what decided and where that stands.

Guarantees: the decisions are those of `verify` with this policy, made by the same code; nothing is
opened but the policy. What can be told of an open file alone is said not to be decided here.

Example:
    $ ctxaudit policy test policy.toml transcript:run-1:3
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from provenance.audit.request import STDIN
from provenance.limits import DEFAULT_LIMITS
from provenance.located_toml import line_of, table_lines
from provenance.pointers import (
    SourcePointerError,
    UnsupportedSourcePointerError,
    parse_source_pointer,
)
from provenance.policy import Decision, Policy, Verdict, parse_policy, parse_toml
from provenance.resolution import Reason

from .exit_codes import ExitCode, worst
from .interrupts import Interrupts
from .operator_files import read_settings, read_stdin
from .streams import one_line, talk, write_text

__all__ = ["PolicyOrder", "carry_out"]

_CODES = {
    None: ExitCode.OK,
    Reason.POLICY_DENIED: ExitCode.DENIED,
    Reason.REFUSED_BY_POLICY: ExitCode.DENIED,
    Reason.UNSUPPORTED_SCHEME: ExitCode.UNSUPPORTED,
    Reason.MALFORMED_POINTER: ExitCode.CORRUPT,
}
_REASONS = {
    Verdict.ALLOW: None,
    Verdict.DENY: Reason.POLICY_DENIED,
    Verdict.REFUSE: Reason.REFUSED_BY_POLICY,
}
_VERDICT_WIDTH = len("unsupported")


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyOrder:
    """The options, as they were given; `command` is what the operator called."""

    policy: str
    pointers: tuple[str, ...]
    tenant: str | None
    is_json: bool
    is_quiet: bool
    command: str


@dataclass(frozen=True, slots=True)
class _Answer:
    """What is said of one pointer; without a decision it is none, and `reason` says why."""

    pointer: str
    decision: Decision | None
    line: int | None
    reason: Reason | None

    def to_dict(self, tenant: str | None) -> dict[str, object]:
        decision = self.decision
        return {
            "pointer": self.pointer,
            "tenant": tenant,
            "verdict": None if decision is None else str(decision.verdict),
            "rule": None if decision is None else decision.rule,
            "line": self.line,
            "why": "" if decision is None else decision.why,
            "reason": None if self.reason is None else str(self.reason),
        }

    def words(self) -> str:
        decision = self.decision
        if decision is None:
            verdict = "unsupported" if self.reason is Reason.UNSUPPORTED_SCHEME else "malformed"
            return f"{verdict:{_VERDICT_WIDTH}}  {one_line(self.pointer)}"
        if decision.verdict is Verdict.REFUSE:
            what = "refuse"
        elif decision.rule is None:
            what = "default"
        else:
            what = f"rule {decision.rule}"
        where = "" if self.line is None else f", line {self.line}"
        why = f": {one_line(decision.why)}" if decision.why else ""
        return f"{decision.verdict:{_VERDICT_WIDTH}}  {one_line(self.pointer)}  {what}{where}{why}"


def carry_out(order: PolicyOrder, interrupts: Interrupts) -> ExitCode:
    """Decide on each pointer; gives the exit code.

    Raises:
        click.UsageError: the policy cannot be used.
    """
    policy, text = read_settings("POLICY", order.policy, lambda text: (parse_policy(text), text))
    codes = set()
    tester = _Tester(policy, text, order.tenant)
    for pointer in _pointers(order, interrupts):
        answer = tester.answer(pointer)
        codes.add(_CODES[answer.reason])
        said = json.dumps(answer.to_dict(order.tenant)) if order.is_json else answer.words()
        write_text(said + "\n")
    if policy.traits and not order.is_quiet:
        names = ", ".join(sorted(policy.traits))
        talk(f"{order.command}: refused once the file is open, and not decided here: {names}")
    return worst(codes) if codes else ExitCode.NOTHING_VERIFIED


class _Tester:
    def __init__(self, policy: Policy, text: str, tenant: str | None) -> None:
        self._policy = policy
        self._tenant = tenant
        self._rules: Mapping[int, int] = table_lines(text, "rule")
        self._default = line_of(text, ("default",))
        refused = parse_toml(text).get("refuse")
        # The one of them that is decided from the pointer.
        names = refused if isinstance(refused, list) else []
        place = names.index("prefix-digests") if "prefix-digests" in names else 0
        self._refuse = line_of(text, ("refuse", place))

    def answer(self, pointer: str) -> _Answer:
        try:
            parsed = parse_source_pointer(pointer)
        except UnsupportedSourcePointerError:
            return _Answer(pointer, None, None, Reason.UNSUPPORTED_SCHEME)
        except SourcePointerError:
            return _Answer(pointer, None, None, Reason.MALFORMED_POINTER)
        decision = self._policy.decide(parsed, tenant=self._tenant)
        return _Answer(pointer, decision, self._line(decision), _REASONS[decision.verdict])

    def _line(self, decision: Decision) -> int | None:
        if decision.verdict is Verdict.REFUSE:
            return self._refuse
        return self._default if decision.rule is None else self._rules.get(decision.rule - 1)


def _pointers(order: PolicyOrder, interrupts: Interrupts) -> Iterator[str]:
    for pointer in order.pointers:
        if pointer != STDIN:
            yield pointer
            continue
        data, stopped = read_stdin(
            max_bytes=DEFAULT_LIMITS.max_document_bytes, interrupts=interrupts
        )
        for line in data.decode("utf-8", "surrogateescape").split("\n"):
            if line.removesuffix("\r"):
                yield line.removesuffix("\r")
        if stopped:
            raise KeyboardInterrupt
