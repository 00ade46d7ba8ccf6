"""Configurations: what is refused, and that they can be copied and sent to another process."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from provenance.compaction import CompactionConfig, CompactionConfigError


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("read_tools", None),
        ("read_tools", "read"),
        ("read_tools", [("read", "path")]),
        ("read_tools", {1: "path"}),
        ("read_tools", {"read": None}),
        ("spill_read_tools", None),
        ("spill_read_tools", "fetch"),
        ("spill_read_tools", b"fetch"),
        ("spill_read_tools", 7),
        ("spill_read_tools", ["fetch", 7]),
        ("spill_read_tools", [["fetch"]]),
        ("spill_read_tools", {"fetch": "path"}),
        ("keep_first", 1),
        ("keep_first", None),
        ("keep_first", "no"),
        ("spill_dropped", 0),
        ("spill_dropped", "yes"),
        ("summary_timeout", float("inf")),
        ("summary_timeout", float("nan")),
        ("summary_timeout", -1.0),
        ("summary_timeout", True),
        ("summary_timeout", 1e300),
        pytest.param("summary_timeout", 10**6_000, id="long timeout"),
        pytest.param("soft_limit", -(10**6_000), id="long limit"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_by_its_name(name: str, value: Any) -> None:
    with pytest.raises(CompactionConfigError) as caught:
        CompactionConfig(**{name: value})
    assert str(caught.value).startswith(f"{name}: expected ")
    assert "\n" not in str(caught.value)


def test_what_names_tools_may_be_of_any_kind_that_does() -> None:
    for names in (["fetch"], ("fetch",), {"fetch"}, frozenset({"fetch"}), iter(["fetch"])):
        assert CompactionConfig(spill_read_tools=names).spill_read_tools == {"fetch"}  # type: ignore[arg-type]
    assert CompactionConfig(read_tools=MappingProxyType({"a": "b"})).read_tools == {"a": "b"}
    assert CompactionConfig(summary_timeout=86_400).summary_timeout == 86_400


def test_what_the_caller_changes_later_decides_nothing() -> None:
    tools = {"read": "path"}
    config = CompactionConfig(read_tools=tools)
    tools["more"] = "path"
    assert config.read_tools == {"read": "path"}


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda config: pickle.loads(pickle.dumps(config)), replace],
)
@pytest.mark.parametrize(
    "config",
    [
        CompactionConfig(),
        CompactionConfig.preset("subtask"),
        CompactionConfig(read_tools={"read": "path"}, spill_read_tools=frozenset({"fetch"})),
    ],
)
def test_a_configuration_can_be_copied(
    copied: Callable[[CompactionConfig], CompactionConfig], config: CompactionConfig
) -> None:
    same = copied(config)
    assert same == config
    assert type(same) is CompactionConfig
    with pytest.raises(TypeError):
        same.read_tools["more"] = "path"  # type: ignore[index]
