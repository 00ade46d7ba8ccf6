"""TOML with the line of each fault: where keys stand, hostile texts, what a look-up may cost."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance import located_toml
from provenance.located_toml import Place, TomlError, line_of, read_toml, table_lines
from provenance.policy import PolicyError, parse_policy

_POLICY = '''# a policy
default = "deny"

[[rule]]
effect = "allow"
why = """
[[rule]]
effect = "no statement, but text
"""
session = "a"

  [[rule]]  # the second
  effect = "alow"
refuse_it = [
  "x",
  { a = 1 },

  { a = 2, b = [1,
    2] },
]
[table.inner]
dotted."key.one".two = 1
'''


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ((), 1),
        (("default",), 2),
        (("absent",), 1),
        (("rule", 0), 4),
        (("rule", 0, "effect"), 5),
        (("rule", 0, "why"), 6),
        (("rule", 0, "session"), 10),
        (("rule", 0, "name"), 4),
        (("rule", 1), 12),
        (("rule", 1, "effect"), 13),
        (("rule", 1, "session"), 12),
        (("rule", 1, "refuse_it", 0), 15),
        (("rule", 1, "refuse_it", 1, "a"), 16),
        (("rule", 1, "refuse_it", 2, "b"), 18),
        (("table", "inner", "dotted", "key.one", "two"), 22),
        (("table", "inner", "dotted", "other"), 22),
        (("table", "x"), 21),
    ],
)
def test_a_key_stands_on_its_line(place: Place, line: int) -> None:
    tomllib.loads(_POLICY)
    assert line_of(_POLICY, place) == line
    assert line_of(_POLICY.replace("\n", "\r\n"), place) == line


def test_nested_arrays_of_tables() -> None:
    text = "[[a]]\n[[a.b]]\nx = 1\n[[a.b]]\nx = 2\n[[a]]\n[a.c]\ny = 1\n[[a.b]]\nx = 3\n"
    assert line_of(text, ("a", 0, "b", 1, "x")) == 5
    assert line_of(text, ("a", 1, "b", 0, "x")) == 10
    assert line_of(text, ("a", 1, "c", "y")) == 8


def test_the_lines_of_rules() -> None:
    assert table_lines(_POLICY, "rule") == {0: 4, 1: 12}
    inline = 'rule = [\n {effect="deny"},\n {effect="allow"},\n]'
    assert table_lines(inline, "rule") == {0: 2, 1: 3}
    assert table_lines('rule = [{effect="deny"}, {effect="deny"},\n {effect="allow"}]', "rule") == {
        0: 1,
        1: 1,
        2: 2,
    }
    assert table_lines('[rules]\nrule = [{effect="deny"}]', "rule") == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('default = "allow"\nrefuse = [\n "hard-links",\n "links",\n]', "line 4: refuse 2: "),
        ('default = "deny"\n[[rule]]\neffect = "deny"\n\n[[rule]]\neffect = "alow"', "line 6: "),
        ('default = "deny"\n[[rule]]\nsession = "x"', "line 2: rule 1: effect: expected a value"),
        ('\n\ndefualt = "deny"', "line 3: defualt: expected a known key"),
        ("# nothing\n", "line 1: default: expected a value"),
        ('\ndefault = "allow"', "line 2: rule: expected a policy that decides something"),
        ('default = "deny"\n[[rule]]\neffect = "deny"\nkind = "x"', "line 4: rule 1: kind: "),
        ('default = "deny"\n[[rule]]\neffect = "deny"\nname = ""', "line 4: rule 1: name: "),
        ("a = 1\nb = " + "9" * 5_000, "line 2: b: expected TOML, got a value that cannot be read"),
        ("a = 1\nb = 2026-13-45T99:99:99Z", "line 2: b: expected TOML"),
        ("a = 1\na = 2", "line 2: a: expected TOML, got: Cannot overwrite a value"),
        ('a = """\nx', "line 2: file: expected TOML"),
    ],
)
def test_every_error_names_line_and_key(text: str, message: str) -> None:
    with pytest.raises(PolicyError) as refused:
        parse_policy(text)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    "key", ["a." * 40 + "a", "a . " * 400 + "a", '"a"."b".' * 40 + "a", "'x'.b." * 40 + "a"]
)
@pytest.mark.parametrize(
    "frame",
    [
        "{} = 1",
        "[{}]",
        "[[{}]]",
        "x = {{ {} = 1 }}",
        'x = {{ s = """a"""", {} = 1 }}',
        "x = {{ s = '''a''''', {} = 1 }}",
        'x = {{ s = "\\\\", t = \'"\', u = """""", {} = 1 }}',
        '{} = """',
    ],
)
def test_keys_of_very_many_parts_are_refused_before_the_parser_squares_them(
    key: str, frame: str
) -> None:
    with pytest.raises(TomlError, match=r"line 2: key: expected at most 32 parts"):
        read_toml("# it\n" + frame.format(key), error=TomlError)


@pytest.mark.parametrize(
    "text",
    [
        '"' * 200_000,
        "'" * 200_000,
        '"' + '\\"' * 100_000,
        '"""' + '\\"' * 100_000,
        "a" * 200_000,
        "a " * 100_000,
        ".a" * 100_000,
        ("a." * 30 + "\n") * 5_000,
        "a" + " " * 200_000 + ".",
    ],
)
def test_a_look_at_hostile_text_takes_time_that_grows_with_its_length(text: str) -> None:
    # Were it to grow with the square, this would take minutes.
    with pytest.raises(TomlError):
        read_toml(text, error=TomlError)


@pytest.mark.parametrize(
    "text",
    [
        'x = "' + "a." * 100 + '"',
        "x = '''\n" + "a." * 100 + "\n'''",
        'x = """' + "a." * 100 + '\\""""',
        "# " + "a." * 100,
        ".".join("abcdefghij") + " = 1",
    ],
)
def test_dots_elsewhere_are_text(text: str) -> None:
    assert read_toml(text, error=TomlError) == tomllib.loads(text)


def test_a_look_up_that_costs_too_much_names_the_key_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "x = [\n" + " 1,\n" * 300 + "]\ny = 2"
    assert line_of(text, ("y",)) == 303
    monkeypatch.setattr(located_toml, "_MOST_PARSED", 20_000)
    assert line_of(text, ("y",)) is None
    assert str(TomlError("y: expected z", ("y",)).located(text)) == "y: expected z"


def test_parsing_for_a_line_is_bounded_whatever_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = 0
    loads = tomllib.loads

    def counted(text: str) -> dict[str, Any]:
        nonlocal parsed
        parsed += len(text)
        return loads(text)

    monkeypatch.setattr(tomllib, "loads", counted)
    monkeypatch.setattr(located_toml, "_MOST_PARSED", 100_000)
    for text in ("x = [\n" + "1,\n" * 30_000 + "]\ny = 1", "a = '''\n" + "b\n" * 30_000 + "'''"):
        parsed = 0
        line_of(text, ("y",))
        assert parsed <= 100_000


_KEYS = st.text("ab", min_size=1, max_size=2)
_VALUES = st.recursive(
    st.integers(0, 9) | st.text("ab\n#[]=.", max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=6,
)


def _written(value: object, *, split: bool) -> str:
    match value:
        case dict():
            inner = ", ".join(f"{key} = {_written(one, split=False)}" for key, one in value.items())
            return f"{{{inner}}}"
        case list():
            inner = ",".join(_written(one, split=split) for one in value)
            return f"[\n{inner}\n]" if split else f"[{inner}]"
        case str() if split:
            return f"'''\n{value}'''"
        case str():
            return '"' + value.replace("\n", "\\n") + '"'
        case _:
            return str(value)


@given(st.lists(st.dictionaries(_KEYS, _VALUES, max_size=4), max_size=4), st.booleans())
def test_every_key_of_a_written_text_is_found_where_it_was_written(
    tables: list[dict[str, Any]], split: bool
) -> None:
    text = ""
    expected: dict[Place, int] = {}
    for number, table in enumerate(tables):
        expected["t", number] = text.count("\n") + 1
        text += "[[t]]\n"
        for key, value in table.items():
            expected["t", number, key] = text.count("\n") + 1
            text += f"{key} = {_written(value, split=split)}\n"
    assert tomllib.loads(text).get("t", []) == tables
    for place, line in expected.items():
        assert line_of(text, place) == line


@given(st.text(max_size=100), st.lists(st.text("ab", max_size=2) | st.integers(0, 3), max_size=4))
def test_nothing_else_is_raised(text: str, place: list[str | int]) -> None:
    said = ""
    try:
        read_toml(text, error=TomlError)
    except TomlError as error:
        said = str(error)
    assert "\n" not in said
    line = line_of(text, tuple(place))
    assert line is None or 1 <= line <= text.count("\n") + 1


@pytest.mark.parametrize(
    ("text", "place", "line"),
    [
        ('refuse = [\n "a",\n "b"]', ("refuse", 1), 3),
        ('refuse = [ # [\n "a]", # ,\n\n "b",\n]', ("refuse", 1), 4),
        ('refuse = [\n """\n,]\n""", "b"\n]', ("refuse", 0), 2),
        ('refuse = [\n """\n,]\n""", "b"\n]', ("refuse", 1), 4),
        ("x = [\n [1,\n 2],\n [3]]", ("x", 1), 4),
        ("x = [\n {a = 1, b = [\n 1]}, {a = 2}]", ("x", 1, "a"), 3),
        ('"a=[" = [\n 1,\n 2]', ("a=[", 1), 3),
        ("x = { y = [\n 1,\n 2] }", ("x", "y", 1), 1),
        ("x = [\n" + " {a = 1},\n" * 400 + " {a = 2}]", ("x", 400, "a"), 402),
    ],
)
def test_an_element_stands_on_the_line_that_it_begins_on(
    text: str, place: Place, line: int
) -> None:
    tomllib.loads(text)
    assert line_of(text, place) == line
