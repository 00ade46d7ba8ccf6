r"""`ctxaudit.toml` inside a target: it may tighten its own audit and never soften it (spec 05).

Guarantees: pure. Formats, lower limits, deny rules and refusals count. Other roots, allow rules,
waivers, higher limits and whatever else belongs to the operator's options change nothing and give
the finding `untrusted_config_ignored`. A file that is not understood gives `config_invalid`, an
error, so that a tightening which could not be read never passes for success.

Example:
    >>> text = 'transcript_root = "/elsewhere"\n[limits]\nmax_nesting = 20'
    >>> config = read_home_config(text, limits=Limits())
    >>> config.limits.max_nesting, [finding.code for finding in config.findings]
    (20, ['untrusted_config_ignored'])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from provenance.findings import Finding, Location, Severity
from provenance.limits import Limits
from provenance.located_toml import Place, line_of
from provenance.policy import (
    Policy,
    PolicyError,
    PolicyOrigin,
    Rule,
    Verdict,
    parse_toml,
    policy_from_table,
)
from provenance.transcripts.formats import format_names

__all__ = ["CONFIG_FILE", "HomeConfig", "invalid_config", "read_home_config"]

CONFIG_FILE = "ctxaudit.toml"

_LIMITS = (
    "max_record_bytes",
    "max_foreign_record_bytes",
    "max_nesting",
    "max_artifact_bytes",
)
_POLICY_KEYS = frozenset({"default", "rule", "refuse"})
# Options of the operator; in a target they are attempts to choose another audit.
_OPERATOR_KEYS = frozenset(
    {
        "all",
        "allow",
        "as",
        "as_tenant",
        "exit_zero",
        "fail_on",
        "ignore",
        "lock",
        "min_strength",
        "pointer",
        "results",
        "sample",
        "seal",
        "skip",
    }
)
_OPERATOR_WORDS = ("root", "waive")


@dataclass(frozen=True, slots=True)
class HomeConfig:
    """What of a target's own configuration counts.

    Attributes:
        limits: the operator's, or lower ones.
        policy: deny rules and refusals on top of the operator's policy; None: none.
        formats: the only ones whose transcripts are evidence; None: all.
        is_broken: the file was not understood; nothing of it counts.
        findings: what was ignored, what was wrong.
    """

    limits: Limits
    policy: Policy | None = None
    formats: frozenset[str] | None = None
    is_broken: bool = False
    findings: tuple[Finding, ...] = ()


class _Ignored(NamedTuple):
    """One thing that a target may not say: where it stands, and a line on it."""

    place: Place
    message: str


def read_home_config(text: str, *, limits: Limits) -> HomeConfig:
    """Read a target's `ctxaudit.toml`.

    Args:
        text: TOML.
        limits: the operator's limits; the file may lower them.
    """
    below: Place = ()
    try:
        table = parse_toml(text)
        ignored = [key for key in table if _is_operators(key, table[key])]
        known = {key: value for key, value in table.items() if key not in ignored}
        formats = _require_known(known)
        tightened, loose = _tighten(limits, known.get("limits", {}))
        rules = _policy_table(known)
        below = ("policy",) if isinstance(known.get("policy"), Mapping) else ()
        policy, allowing = _deny_only(rules)
    except PolicyError as error:
        located = error.located(text, below=below) if error.place else error
        finding = invalid_config(str(located), line=located.line)
        return HomeConfig(limits, is_broken=True, findings=(finding,))
    options = [
        _Ignored((key,), f"{key[:60]!a}: expected an option of the operator, got it in a target")
        for key in sorted(ignored)
    ]
    allowing = [one._replace(place=(*below, *one.place)) for one in allowing]
    return HomeConfig(
        tightened,
        policy,
        # None named narrows nothing.
        frozenset(formats) or None,
        findings=tuple(
            Finding(
                "untrusted_config_ignored",
                Severity.WARNING,
                CONFIG_FILE,
                Location(line=line_of(text, one.place)),
                one.message,
            )
            for one in (*options, *loose, *allowing)
        ),
    )


def invalid_config(message: str, *, line: int | None = None) -> Finding:
    """Build the finding of a configuration that is not understood or cannot be read."""
    place = Location(line=line)
    return Finding("config_invalid", Severity.ERROR, CONFIG_FILE, place, message)


def _is_operators(key: str, value: object) -> bool:
    name = key.replace("-", "_")
    if key == "policy":
        return not isinstance(value, Mapping)  # the name of another policy file
    return name in _OPERATOR_KEYS or any(word in name for word in _OPERATOR_WORDS)


def _require_known(table: Mapping[str, object]) -> list[str]:
    """Give the formats that a table names, once it is known to hold nothing unknown."""
    for key in table:
        if key not in _POLICY_KEYS and key not in ("formats", "limits", "policy"):
            raise PolicyError(f"{key[:60]!a}: expected a known key, got an unknown one", (key,))
    formats = table.get("formats", [])
    if not isinstance(formats, list) or any(name not in format_names() for name in formats):
        known = ", ".join(format_names())
        raise PolicyError(f"formats: expected a list of {known}, got something else", ("formats",))
    return [str(name) for name in formats]


def _tighten(limits: Limits, table: object) -> tuple[Limits, list[_Ignored]]:
    if not isinstance(table, Mapping):
        raise PolicyError("limits: expected a table, got something else", ("limits",))
    lower: dict[str, int] = {}
    loose = []
    for key, value in table.items():
        if key not in _LIMITS:
            raise PolicyError(
                f"limits: {key[:60]!a}: expected a known limit, got an unknown one",
                ("limits", key),
            )
        if type(value) is not int or value < 1:
            raise PolicyError(
                f"limits: {key}: expected a whole number of 1 or more", ("limits", key)
            )
        present: int | None = getattr(limits, key)
        if present is None or value < present:
            lower[key] = value
        elif value > present:
            message = f"limits: {key}: expected at most {present}, got more"
            loose.append(_Ignored(("limits", key), message))
    return replace(limits, **lower), loose


def _policy_table(table: Mapping[str, object]) -> dict[str, object]:
    """Find the policy at the top of the file or in its own table `policy`."""
    top = {key: table[key] for key in _POLICY_KEYS if key in table}
    own = table.get("policy")
    if not isinstance(own, Mapping):
        return top
    if top:
        raise PolicyError("policy: expected rules in one place, got them in two", ("policy",))
    return dict(own)


def _deny_only(table: dict[str, object]) -> tuple[Policy | None, list[_Ignored]]:
    if not table:
        return None, []
    said_default = "default" in table
    policy = policy_from_table({"default": "allow", **table}, allow_idle=True)
    ignored = [
        _Ignored(
            ("rule", rule.number - 1, "effect"),
            f"rule {rule.number}: effect: expected deny, got allow",
        )
        for rule in policy.rules
        if rule.effect is Verdict.ALLOW
    ]
    if said_default and policy.default is Verdict.ALLOW:
        message = "default: expected deny or none in a target, got allow"
        ignored.append(_Ignored(("default",), message))
    deny: tuple[Rule, ...] = tuple(
        rule for rule in policy.rules if rule.effect is not Verdict.ALLOW
    )
    if not deny and not policy.refuse and policy.default is Verdict.ALLOW:
        return None, ignored
    return replace(policy, rules=deny, origin=PolicyOrigin.TARGET), ignored
