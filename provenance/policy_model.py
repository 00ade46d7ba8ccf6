"""The tables of a policy file, as they are written: types alone, no rule about what they mean.

Guarantees: pure and strict; an unknown key is an error. Apart from `provenance/policy.py` because
it loads pydantic, and only a program that reads a policy needs it.

Example:
    >>> from provenance.located_toml import TomlError
    >>> validated({"default": "deny"}, error=TomlError).rule
    []
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from provenance.located_toml import TomlError, fault_of

__all__ = ["PolicyTable", "RuleTable", "validated"]

_MAX_RULES = 10_000


class RuleTable(BaseModel):
    """One `[[rule]]`."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    effect: Literal["allow", "deny"]
    kind: str = "*"
    session: str = "*"
    name: str = "*"
    tenant: str = "*"
    why: str = ""


class PolicyTable(BaseModel):
    """The whole file."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    default: Literal["allow", "deny"]
    rule: Annotated[list[RuleTable], Field(max_length=_MAX_RULES)] = []
    refuse: list[Literal["hard-links", "foreign-owner", "world-writable", "prefix-digests"]] = []


def validated(table: Mapping[str, object], *, error: type[TomlError]) -> PolicyTable:
    """Give the table with its types checked.

    Args:
        table: as a TOML parser gives it.
        error: what is raised, naming the first key that is wrong.

    Raises:
        TomlError: `error`, with the key.
    """
    try:
        return PolicyTable.model_validate(dict(table))
    except ValidationError as fault:
        raise fault_of(fault, error=error) from None
