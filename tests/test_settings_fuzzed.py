"""Policies, waivers and a target's own settings: whatever the tables hold, one line or a value."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from provenance.audit.home_config import read_home_config
from provenance.limits import DEFAULT_LIMITS
from provenance.located_toml import TomlError
from provenance.policy import PolicyError, parse_policy
from provenance.waiver_file import WaiverError, parse_waivers

_KEYS = st.sampled_from(
    [
        *("waiver", "reason", "owner", "expires", "pointer", "code", "target"),
        *("default", "rule", "effect", "kind", "session", "name", "tenant", "why", "refuse"),
        *("policy", "limits", "formats", "max_nesting", "waivers", "a.b", "", "\x00", "x" * 90),
    ]
)
_TEXTS = st.sampled_from(
    [
        *("allow", "deny", "*", "[", "[!", "[]", "[^a]", "transcript", "artifact", "a/b", ""),
        *("hard-links", "prefix-digests", "2027-01-31", "transcript:s1:3", "torn_line", "\u200b"),
    ]
) | st.text(max_size=5)
_LEAVES = (
    _TEXTS
    | st.booleans()
    | st.integers(-5, 2**70)
    | st.floats()
    | st.dates(min_value=date(1000, 1, 1))
    | st.datetimes()
)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=12,
)
_TABLES = st.dictionaries(_KEYS, _VALUES, max_size=6)
# Nearly right ones: tables of the known keys under the known names.
_NEAR = st.fixed_dictionaries(
    {},
    optional={
        "default": st.sampled_from(["allow", "deny"]) | _VALUES,
        "rule": st.lists(_TABLES, max_size=3) | _VALUES,
        "waiver": st.lists(_TABLES, max_size=3) | _VALUES,
        "refuse": st.lists(_TEXTS, max_size=3) | _VALUES,
        "policy": _TABLES | _VALUES,
        "limits": _TABLES | _VALUES,
        "expires": _VALUES,
    },
)


def _inline(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            text = value.encode("utf-8", "replace").decode()
            return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
        case list():
            return "[\n" + ",\n".join(map(_inline, value)) + "]"
        case dict():
            return "{" + ", ".join(f"{_inline(k)} = {_inline(v)}" for k, v in value.items()) + "}"
        case date():
            return value.isoformat()
        case _:
            return str(value)


def _written(table: dict[str, Any], *, is_inline: bool) -> str:
    """Write a table; lists of tables as `[[name]]` where that is asked for and can be."""
    plain, below = [], []
    for key, value in table.items():
        is_tables = isinstance(value, list) and value and all(isinstance(x, dict) for x in value)
        if is_tables and not is_inline:
            for one in value:
                lines = [f"{_inline(k)} = {_inline(v)}" for k, v in one.items()]
                below.append("\n".join([f"[[{_inline(key)}]]", *lines]))
        else:
            plain.append(f"{_inline(key)} = {_inline(value)}")
    return "\n".join([*plain, *below])


def _fault(parse: Callable[[str], object], error: type[TomlError], text: str) -> TomlError | None:
    try:
        parse(text)
    except error as fault:
        return fault
    return None


def assert_our_own_words(message: str) -> None:
    """No class of ours and no term of pydantic's stands in a message."""
    for word in ("instance of", "Table", "Input should", "dictionary", "validation", "valid list"):
        assert word not in message.rpartition(", got ")[0]


@pytest.mark.parametrize("value", ["1", "[1]", "[[]]", '"x"', "true", "[1.5]", "{ a = 1 }"])
def test_a_value_of_another_kind_is_refused_in_our_own_words(value: str) -> None:
    said = []
    for key, parse, error in (
        ("waiver", parse_waivers, WaiverError),
        ('default = "deny"\nrule', parse_policy, PolicyError),
        ('default = "deny"\nrefuse', parse_policy, PolicyError),
        ("default", parse_policy, PolicyError),
    ):
        found = _fault(parse, error, f"{key} = {value}")
        assert found is not None
        said.append(str(found))
    for key in ("rule", "policy", "limits", "refuse", "default"):
        config = read_home_config(f"{key} = {value}", limits=DEFAULT_LIMITS)
        said += [finding.message for finding in config.findings]
    for message in said:
        assert ": expected " in message
        assert_our_own_words(message)


def test_a_list_of_no_tables_is_refused_by_its_place() -> None:
    found = _fault(parse_waivers, WaiverError, "waiver = [1]")
    assert str(found) == "line 1: waiver 1: expected a table, got 1"
    found = _fault(parse_policy, PolicyError, 'default = "deny"\nrule = [1]')
    assert str(found) == "line 2: rule 1: expected a table, got 1"


@given(table=_TABLES | _NEAR, is_inline=st.booleans())
@settings(max_examples=150)
@example(table={"expires": date(2027, 1, 1)}, is_inline=True)
@example(table={"expires": "x", "waiver": [{"expires": 1}]}, is_inline=False)
@example(table={"reason": "x"}, is_inline=True)
@example(table={"waiver": {"expires": 1}}, is_inline=True)
@example(table={"waiver": [{"expires": {"a": 1}}]}, is_inline=True)
def test_whatever_the_tables_hold_there_is_one_line(table: dict[str, Any], is_inline: bool) -> None:
    text = _written(table, is_inline=is_inline)
    tomllib.loads(text)
    for parse, error in ((parse_policy, PolicyError), (parse_waivers, WaiverError)):
        found = _fault(parse, error, text)
        if found is not None:
            assert "\n" not in str(found)
            assert_our_own_words(str(found))
            assert found.line is not None
            assert 1 <= found.line <= text.count("\n") + 1
    config = read_home_config(text, limits=DEFAULT_LIMITS)
    for finding in config.findings:
        assert finding.location.line is not None
        assert "\n" not in finding.message
        assert_our_own_words(finding.message)
