r"""Policy: who may rest on which source (spec 05), decided from the pointer alone.

Guarantees: pure. A policy is read strictly: what is not understood or cannot be enforced is refused
by name, never ignored: rules that can match nothing, rules behind one that matches everything, and
a policy that allows everything. Rules are tried in order, the first that matches decides. No
decision looks at a file, so none can tell whether a denied source exists.

Globs are those of `fnmatch.fnmatchcase`: `*`, `?` and `[...]`, case told apart, the whole text. A
transcript event has no name and a caller may be no tenant: only the glob `*` matches those.

Example:
    >>> from provenance.pointers import parse_source_pointer
    >>> policy = parse_policy('default = "allow"\n[[rule]]\neffect = "deny"\nsession = "hr-*"')
    >>> policy.decide(parse_source_pointer("transcript:hr-1:3")).verdict
    <Verdict.DENY: 'deny'>
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from provenance.globs import (
    GlobError,
    Token,
    can_match_name,
    is_covered,
    matches_every_name,
    parse_glob,
)
from provenance.located_toml import MAX_TOML_CHARACTERS, Place, TomlError, read_toml
from provenance.pointers import SourcePointer, SourcePointerKind

if TYPE_CHECKING:
    from provenance.policy_model import PolicyTable, RuleTable

__all__ = [
    "MAX_POLICY_BYTES",
    "Decision",
    "FileTrait",
    "Policy",
    "PolicyError",
    "PolicyOrigin",
    "Rule",
    "Verdict",
    "parse_policy",
    "parse_toml",
    "policy_from_table",
]

MAX_POLICY_BYTES = MAX_TOML_CHARACTERS
# Session ids and file names have at most 200 characters; a class like [0-9] needs five for one.
_MAX_GLOB_CHARACTERS = 1_000
# Each makes a glob slower to compile; nobody needs more than a few.
_MAX_GLOB_STARS = 32
# What comparing rules with each other may cost: a list that is longer is no work of a person.
_MOST_COMPARED = 200
_MOST_STEPS = 2_500
_SHORT_DIGEST = 12
_KINDS = tuple(str(kind) for kind in SourcePointerKind)
_NAMED_KIND = str(SourcePointerKind.ARTIFACT)


class PolicyError(TomlError):
    """A policy is not understood or cannot be enforced; the message names the line and the key."""

    code = "invalid_policy"


class Verdict(StrEnum):
    """What a policy says of one pointer; REFUSE comes from `refuse`, not from a rule."""

    ALLOW = "allow"
    DENY = "deny"
    REFUSE = "refuse"


class PolicyOrigin(StrEnum):
    """Whose policy it is."""

    OPERATOR = "operator"
    TARGET = "target"


class FileTrait(StrEnum):
    """What `refuse` may name that no pointer tells: facts about the open file and its folders."""

    HARD_LINKS = "hard-links"
    FOREIGN_OWNER = "foreign-owner"
    WORLD_WRITABLE = "world-writable"


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict, the number of the rule that gave it (from 1; None: the default) and its `why`."""

    verdict: Verdict
    rule: int | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; each glob must match, and `*` matches whatever there is.

    `number` is its place in its file, from 1; 0: where it stands in the policy says it.
    """

    effect: Verdict
    kind: str = "*"
    session: str = "*"
    name: str = "*"
    tenant: str = "*"
    why: str = ""
    number: int = 0

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
    origin: PolicyOrigin = PolicyOrigin.OPERATOR

    @property
    def traits(self) -> frozenset[FileTrait]:
        """What is refused once the file is open."""
        return frozenset(trait for trait in FileTrait if trait in self.refuse)

    def decide(self, pointer: SourcePointer, *, tenant: str | None = None) -> Decision:
        """Decide on one pointer; what the rules allow can still be refused.

        Args:
            pointer: a parsed pointer.
            tenant: who asks; None where nobody said.
        """
        decision = Decision(self.default)
        for place, rule in enumerate(self.rules, 1):
            if rule.is_match(pointer, tenant):
                decision = Decision(rule.effect, rule.number or place, rule.why)
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


def parse_policy(text: str) -> Policy:
    """Read a policy file.

    Args:
        text: TOML, at most `MAX_POLICY_BYTES` characters.

    Raises:
        PolicyError: the text is no TOML, has an unknown key or value, lacks `default`, or decides
            nothing at all; with the line and the key.
    """
    table = parse_toml(text)
    try:
        return policy_from_table(table)
    except PolicyError as error:
        raise error.located(text) from None


def parse_toml(text: str) -> dict[str, object]:
    """Read bounded TOML; every way to fail is a `PolicyError` that names the line.

    Raises:
        PolicyError: as `read_toml`.
    """
    return read_toml(text, error=PolicyError)


def policy_from_table(table: Mapping[str, object], *, allow_idle: bool = False) -> Policy:
    """Build a policy from the table that a policy file holds.

    Args:
        table: as `parse_toml` gives it.
        allow_idle: accept a policy that would allow everything, and rules that are never reached:
            of a target's rules only those that deny count.

    Raises:
        PolicyError: as `parse_policy`.
    """
    from provenance.policy_model import validated  # noqa: PLC0415 - loads pydantic

    parsed = validated(table, error=PolicyError)
    rules = tuple(_rule_from(rule, number) for number, rule in enumerate(parsed.rule, 1))
    if not allow_idle:
        _require_reach(rules, parsed)
    return Policy(Verdict(parsed.default), rules, frozenset(parsed.refuse))


def _require_reach(rules: Sequence[Rule], parsed: PolicyTable) -> None:
    """Refuse rules that no pointer comes to, and a policy that allows every pointer.

    Raises:
        PolicyError: with the rule.
    """
    decided: dict[str, int] = {}  # kinds, by the rule that matches all of one
    seen: dict[tuple[str, ...], int] = {}
    reached: list[_Reach] = []
    for rule in rules:
        # An event has no name, so that any other glob for it leaves artifacts alone.
        kinds = [
            kind
            for kind in _KINDS
            if _is_glob_match(rule.kind, kind) and (rule.name == "*" or kind == _NAMED_KIND)
        ]
        session, name = _simplest(rule.session), _simplest(rule.name)
        globs = (*kinds, session, name, rule.tenant)
        before = seen.setdefault(globs, rule.number)
        if all(kind in decided for kind in kinds):
            before = max(decided[kind] for kind in kinds)
        reach = _Reach(rule, kinds)
        if before == rule.number and rule.number <= _MOST_COMPARED:
            behind = (one for one in reached if reach.is_behind(one))
            before = next((one.rule.number for one in behind), before)
        reached.append(reach)
        if before != rule.number:
            raise PolicyError(
                f"rule {rule.number}: expected one that something comes to, got one behind "
                f"rule {before}, which matches all of it",
                ("rule", rule.number - 1),
            )
        if session == name == rule.tenant == "*":
            decided = dict.fromkeys(kinds, rule.number) | decided
    # With `default = "deny"` a rule that allows everything is somebody's will.
    denies = parsed.default == "deny" or any(rule.effect is Verdict.DENY for rule in rules)
    if not (denies or parsed.refuse):
        raise PolicyError(
            "rule: expected a policy that decides something, got one that allows everything",
            ("default",),
        )


class _Reach:
    """What a rule matches, to be compared with what another one does."""

    def __init__(self, rule: Rule, kinds: Sequence[str]) -> None:
        self.rule = rule
        self._kinds = frozenset(kinds)
        self._session = parse_glob(rule.session)
        self._name = parse_glob(rule.name)

    def is_behind(self, before: _Reach) -> bool:
        """Say whether all that this rule matches is matched by another one, as far as is known."""
        return (
            self._kinds <= before._kinds
            and before.rule.tenant in ("*", self.rule.tenant)
            and _is_covered(self._session, before._session)
            and (before.rule.name == "*" or _is_covered(self._name, before._name))
        )


def _is_covered(other: tuple[Token, ...], by: tuple[Token, ...]) -> bool:
    return len(other) * len(by) <= _MOST_STEPS and is_covered(other, by)


def _simplest(glob: str) -> str:
    """Give `*` for a glob that matches every session id and file name, else the glob."""
    return "*" if matches_every_name(parse_glob(glob)) else glob


def _rule_from(table: RuleTable, number: int) -> Rule:
    place: Place = ("rule", number - 1)
    for key in ("kind", "session", "name", "tenant"):
        glob: str = getattr(table, key)
        tokens = _tokens_of(glob, f"rule {number}: {key}", (*place, key))
        if key in ("session", "name") and not can_match_name(tokens):
            what = "a session id" if key == "session" else "a file name"
            raise PolicyError(
                f"rule {number}: {key}: expected a glob for {what} (letters, digits, `.`, `_`, "
                f"`-`; at most 200), got {glob[:40]!a}",
                (*place, key),
            )
    if not any(_is_glob_match(table.kind, kind) for kind in _KINDS):
        raise PolicyError(
            f"rule {number}: kind: expected a glob for transcript or artifact, "
            f"got {table.kind[:40]!a}",
            (*place, "kind"),
        )
    if table.name != "*" and not _is_glob_match(table.kind, _NAMED_KIND):
        raise PolicyError(
            f"rule {number}: name: expected none beside kind {table.kind[:40]!a}, since an event "
            f"has no name, got {table.name[:40]!a}",
            (*place, "name"),
        )
    return Rule(
        Verdict(table.effect),
        table.kind,
        table.session,
        table.name,
        table.tenant,
        table.why,
        number,
    )


def _tokens_of(glob: str, where: str, place: Place) -> tuple[Token, ...]:
    if not 1 <= len(glob) <= _MAX_GLOB_CHARACTERS:
        raise PolicyError(
            f"{where}: expected 1 to {_MAX_GLOB_CHARACTERS} characters, got {len(glob)}", place
        )
    if glob.count("*") > _MAX_GLOB_STARS:
        raise PolicyError(f"{where}: expected at most {_MAX_GLOB_STARS} of `*`, got more", place)
    try:
        return parse_glob(glob)
    except GlobError as fault:
        raise PolicyError(f"{where}: {fault}", place) from None


def _is_glob_match(glob: str, text: str | None) -> bool:
    if glob == "*":
        return True
    return text is not None and fnmatchcase(text, glob)
