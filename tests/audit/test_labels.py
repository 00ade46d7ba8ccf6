"""Labels of targets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.audit.labels import target_labels


@pytest.mark.parametrize(
    ("target", "label"),
    [
        ("home", "home"),
        ("./home/", "home"),
        ("a/b/home", "a/b/home"),
        ("/srv/agents/home", "home"),
        ("/srv/agents/home/", "home"),
        ("../home", "home"),
        ("a/../../home", "home"),
        (".", "."),
        ("..", "target"),
        ("/", "target"),
        ("-", "-"),
        ("", "."),
    ],
)
def test_one(target: str, label: str) -> None:
    assert target_labels((target,)) == (label,)


@given(st.lists(st.sampled_from(["/a/x", "/b/x", "x", "x#2", "y", "."]) | st.text(max_size=5)))
def test_all_differ_and_none_is_absolute(targets: list[str]) -> None:
    labels = target_labels(targets)
    assert len(set(labels)) == len(targets)
    assert not any(label.startswith("/") for label in labels)
