"""Session ids of other agents, as pointers can name them."""

from __future__ import annotations

import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.pointers import parse_source_pointer
from provenance.transcripts.sessions import session_name


@pytest.mark.parametrize("name", ["chat-1", "a", "A.b_c-9", "9" * 200, "s.agent-a7", "x-00"])
def test_a_name_of_the_grammar_stays(name: str) -> None:
    assert session_name(name) == name


@pytest.mark.parametrize(
    "name",
    ["", "a/b", "..", ".a", "-a", "é", "a b", "a\n", "9" * 201, "a:b", "C:\\x", "²", "a\ud83d"],
)
def test_any_other_text_becomes_its_digest(name: str) -> None:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    assert session_name(name) == f"x-{digest[:32]}"


@given(st.text(alphabet=st.characters(), max_size=20) | st.from_regex(r"[A-Za-z0-9._-]{1,8}"))
def test_a_pointer_can_name_every_session(name: str) -> None:
    found = session_name(name)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}", found)
    assert parse_source_pointer(f"transcript:{found}:1").session_id == found
    assert session_name(found) == found


@given(st.sets(st.text(alphabet=st.characters(), max_size=6), min_size=2, max_size=6))
def test_no_two_sessions_meet(names: set[str]) -> None:
    assert len({session_name(name) for name in names}) == len(names)
