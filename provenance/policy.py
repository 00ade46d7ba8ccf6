r"""Policy: who may rest on which source (spec 05), decided from the pointer alone.

Guarantees: pure. A policy is read strictly: what is not understood or cannot be enforced is refused
by name, never ignored. Rules are tried in order, the first that matches decides. No decision looks
at a file, so none can tell whether a denied source exists.

Globs are those of `fnmatch.fnmatchcase`: `*`, `?` and `[...]`, case told apart, the whole text. A
transcript event has no name and a caller may be no tenant: only the glob `*` matches those.

Example:
    >>> from provenance.pointers import parse_source_pointer
    >>> policy = parse_policy('default = "allow"\n[[rule]]\neffect = "deny"\nsession = "hr-*"')
    >>> policy.decide(parse_source_pointer("transcript:hr-1:3")).verdict
    <Verdict.DENY: 'deny'>
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from provenance.errors import CallerError
from provenance.pointers import SourcePointer, SourcePointerKind

__all__ = [
    "MAX_POLICY_BYTES",
    "Decision",
    "Policy",
    "PolicyError",
    "Rule",
    "Verdict",
    "parse_policy",
    "parse_toml",
    "policy_from_table",
]

# A policy is written by people; a larger file is a mistake or an attack on the parser.
MAX_POLICY_BYTES = 1 << 20
# Session ids and file names have at most 200 characters; a class like [0-9] needs five for one.
_MAX_GLOB_CHARACTERS = 1_000
_MAX_RULES = 10_000
_SHORT_DIGEST = 12
_KINDS = tuple(str(kind) for kind in SourcePointerKind)
# The other names of spec 05 need facts about the open file that no resolver reports yet.
_ENFORCED = frozenset({"prefix-digests"})


class PolicyError(CallerError, ValueError):
    """A policy is not understood or cannot be enforced; the message names the line or the key."""

    code = "invalid_policy"


class Verdict(StrEnum):
    """What a policy says of one pointer; REFUSE comes from `refuse`, not from a rule."""

    ALLOW = "allow"
    DENY = "deny"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict, the number of the rule that gave it (from 1; None: the default) and its `why`."""

    verdict: Verdict
    rule: int | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; each glob must match, and `*` matches whatever there is."""

    effect: Verdict
    kind: str = "*"
    session: str = "*"
    name: str = "*"
    tenant: str = "*"
    why: str = ""

    def is_match(self, pointer: SourcePointer, tenant: str | None) -> bool:
        """Say whether this rule speaks of `pointer`, asked for by `tenant`."""
        return (
            _is_glob_match(self.session, pointer.session_id)
            and _is_glob_match(self.kind, str(pointer.kind))
            and _is_glob_match(self.name, pointer.artifact_name)
            and _is_glob_match(self.tenant, tenant)
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules in order, what holds where none matches, and kinds of evidence that are refused."""

    default: Verdict
    rules: tuple[Rule, ...] = ()
    refuse: frozenset[str] = frozenset()

    def decide(self, pointer: SourcePointer, *, tenant: str | None = None) -> Decision:
        """Decide on one pointer; what the rules allow can still be refused.

        Args:
            pointer: a parsed pointer.
            tenant: who asks; None where nobody said.
        """
        decision = Decision(self.default)
        for number, rule in enumerate(self.rules, 1):
            if rule.is_match(pointer, tenant):
                decision = Decision(rule.effect, number, rule.why)
                break
        digest = pointer.digest_prefix
        if (
            decision.verdict is Verdict.ALLOW
            and digest is not None
            and len(digest) == _SHORT_DIGEST
            and "prefix-digests" in self.refuse
        ):
            return Decision(Verdict.REFUSE, why="prefix-digests")
        return decision


class _RuleTable(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    effect: Literal["allow", "deny"]
    kind: str = "*"
    session: str = "*"
    name: str = "*"
    tenant: str = "*"
    why: str = ""


class _PolicyTable(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    default: Literal["allow", "deny"]
    rule: Annotated[list[_RuleTable], Field(max_length=_MAX_RULES)] = []
    refuse: list[Literal["hard-links", "foreign-owner", "world-writable", "prefix-digests"]] = []


def parse_policy(text: str) -> Policy:
    """Read a policy file.

    Args:
        text: TOML, at most `MAX_POLICY_BYTES` characters.

    Raises:
        PolicyError: the text is no TOML, has an unknown key or value, lacks `default`, asks for
            what cannot be enforced, or decides nothing at all.
    """
    return policy_from_table(parse_toml(text))


def parse_toml(text: str) -> dict[str, object]:
    """Read bounded TOML; every way to fail is a `PolicyError` that names the line.

    Raises:
        PolicyError: too large, no TOML, or nested deeper than the parser can follow.
    """
    if len(text) > MAX_POLICY_BYTES:
        raise PolicyError(f"file: expected at most {MAX_POLICY_BYTES} characters, got more")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"file: expected TOML, got: {error}") from None
    except (ValueError, RecursionError):
        # A number of thousands of digits, a date that is none, brackets without end.
        raise PolicyError("file: expected TOML, got a value that cannot be read") from None


def policy_from_table(table: Mapping[str, object], *, allow_idle: bool = False) -> Policy:
    """Build a policy from the table that a policy file holds.

    Args:
        table: as `parse_toml` gives it.
        allow_idle: accept a policy that would allow everything.

    Raises:
        PolicyError: as `parse_policy`.
    """
    try:
        parsed = _PolicyTable.model_validate(dict(table))
    except ValidationError as error:
        raise PolicyError(_first_fault(error)) from None
    unenforced = sorted(frozenset(parsed.refuse) - _ENFORCED)
    if unenforced:
        raise PolicyError(
            f"refuse: expected what this version enforces (prefix-digests), got {unenforced[0]!r}"
        )
    if not (allow_idle or parsed.rule or parsed.refuse or parsed.default == "deny"):
        raise PolicyError("rule: expected a policy that decides something, got none")
    rules = tuple(
        _rule_from(table, f"rule {number}: ") for number, table in enumerate(parsed.rule, 1)
    )
    return Policy(Verdict(parsed.default), rules, frozenset(parsed.refuse))


def _rule_from(table: _RuleTable, where: str) -> Rule:
    for key in ("kind", "session", "name", "tenant"):
        glob: str = getattr(table, key)
        if not 1 <= len(glob) <= _MAX_GLOB_CHARACTERS:
            raise PolicyError(
                f"{where}{key}: expected 1 to {_MAX_GLOB_CHARACTERS} characters, got {len(glob)}"
            )
        try:
            fnmatchcase("", glob)
        except re.error:
            raise PolicyError(f"{where}{key}: expected a glob, got {glob[:40]!a}") from None
    if not any(_is_glob_match(table.kind, kind) for kind in _KINDS):
        raise PolicyError(
            f"{where}kind: expected a glob for transcript or artifact, got {table.kind[:40]!a}"
        )
    return Rule(
        Verdict(table.effect), table.kind, table.session, table.name, table.tenant, table.why
    )


def _is_glob_match(glob: str, text: str | None) -> bool:
    if glob == "*":
        return True
    return text is not None and fnmatchcase(text, glob)


def _first_fault(error: ValidationError) -> str:
    """Say the first fault in our words: key, expected, got."""
    faults = error.errors(include_url=False, include_context=False)
    # A misspelt key explains why the right one is missing, so it comes first.
    fault = next((one for one in faults if one["type"] == "extra_forbidden"), faults[0])
    key = ""
    for part in fault["loc"]:
        if isinstance(part, int):
            key += f" {part + 1}"  # tables are counted from 1 by whoever reads the file
        else:
            key += f": {part}" if key else str(part)
    match fault["type"]:
        case "extra_forbidden":
            return f"{ascii(key)[1:-1][:80]}: expected a known key, got an unknown one"
        case "missing":
            return f"{key}: expected a value, got none"
        case _:
            wanted = fault["msg"].replace("Input should be", "expected", 1)
            return f"{key}: {wanted}, got {ascii(fault['input'])[:60]}"
