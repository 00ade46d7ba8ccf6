"""Globs of policies against `fnmatch` and the pointer grammar."""

from __future__ import annotations

import string
from fnmatch import fnmatchcase

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from provenance.globs import GlobError, can_match_name, is_covered, matches_every_name, parse_glob
from provenance.pointers import is_name

_GLOBS = st.text(alphabet="ab*?[]!-.1^/ ", min_size=1, max_size=8)
_NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,8}", fullmatch=True)
# A glob that lets one of these pass lets all pass: whatever it does not take stands here.
_FIRST = string.ascii_letters + string.digits
_PROBES = (*_FIRST, *(f"a{sign}" for sign in _FIRST + "._-"))
_SIGNS = "".join(map(chr, range(0x180)))

_ALL = ("*", "**", "?*", "*?", "*?*", "[A-Za-z0-9]*", "*[A-Za-z0-9]*", "[!/]*", "*[!/]", "[!._-]*")
_NOT_ALL = ("?", "??*", "*??", "?*?", "a*", "*a*", "[A-Za-z]*", "*[A-Za-z0-9]", "*[!.]", "*.*", "")


def test_the_signs_are_those_of_the_grammar() -> None:
    for sign in _SIGNS:
        escaped = f"[{sign}]" if sign in "*?[" else sign
        assert can_match_name(parse_glob(escaped)) == is_name(sign)
        assert can_match_name(parse_glob(f"a{escaped}")) == is_name(f"a{sign}")


@given(_GLOBS, _NAMES)
def test_what_a_name_matches_can_match_one(glob: str, name: str) -> None:
    try:
        tokens = parse_glob(glob)
    except GlobError:
        return
    if fnmatchcase(name, glob):
        assert can_match_name(tokens)


@given(_GLOBS)
def test_what_can_match_one_does(glob: str) -> None:
    try:
        tokens = parse_glob(glob)
    except GlobError:
        return
    assume(can_match_name(tokens))
    name = ""
    for token in tokens:
        if token is None:
            name += "" if name else "a"
        else:
            letters = sorted(token, key=lambda sign: sign not in string.ascii_letters + "019")
            name += letters[0]
    assert is_name(name)
    assert fnmatchcase(name, glob)


@given(_GLOBS, _NAMES)
@example("[a]x[b]", "axb")
@example("[a]xb", "axb")
@example("[a!]b", "ab")
@example("a[!]]b", "a.b")
@example("*a*", "bab")
@example("a**", "ab")
def test_each_place_matches_what_fnmatch_matches_there(glob: str, name: str) -> None:
    """A glob without stars is one place after the other, and each of them is what it matches."""
    try:
        tokens = parse_glob(glob)
    except GlobError:
        return
    places = "".join("*" if token is None else f"[{_class_of(token)}]" for token in tokens)
    assert fnmatchcase(name, glob) == fnmatchcase(name, places or glob)
    assert "**" not in places


@given(_GLOBS | st.sampled_from(_ALL) | st.sampled_from(_NOT_ALL), _NAMES)
def test_what_matches_every_name_does_so(glob: str, name: str) -> None:
    try:
        tokens = parse_glob(glob)
    except GlobError:
        return
    matches_all = matches_every_name(tokens)
    assert matches_all == all(fnmatchcase(probe, glob) for probe in _PROBES)
    if matches_all:
        assert fnmatchcase(name, glob)
        assert can_match_name(tokens)


@pytest.mark.parametrize(
    ("glob", "all_"), [*[(glob, True) for glob in _ALL], *[(glob, False) for glob in _NOT_ALL]]
)
def test_which_match_every_name(glob: str, all_: bool) -> None:
    assert matches_every_name(parse_glob(glob)) is all_


def _class_of(token: frozenset[str]) -> str:
    # The hyphen last, where it is no range; a sign that no name has for a place without any.
    return "".join(sorted(token - {"-"})) + ("-" if "-" in token else "") or "\0"


@given(_GLOBS, _GLOBS, _NAMES)
@example("*a", "**a", "aa")
def test_what_is_covered_matches_nothing_else(other: str, by: str, name: str) -> None:
    try:
        tokens, covering = parse_glob(other), parse_glob(by)
    except GlobError:
        return
    assert is_covered(tokens, tokens)
    assert is_covered(tokens, parse_glob("*"))
    assert is_covered(tokens, parse_glob(f"*{other}"))
    assert is_covered(tokens, parse_glob(f"{other}*"))
    if is_covered(tokens, covering) and fnmatchcase(name, other):
        assert fnmatchcase(name, by)


@pytest.mark.parametrize(
    ("other", "by", "covered"),
    [
        ("hr-1", "hr-*", True),
        ("hr-*", "hr*", True),
        ("hr-[0-9]", "hr-?", True),
        ("hr-?", "hr-[0-9]", False),
        ("a*b*c", "*b*", True),
        ("a*c", "*b*", False),
        ("*", "?*", False),
        ("a", "", False),
        ("", "a", False),
        ("", "*", True),
        ("ab", "a", False),
        ("a", "ab", False),
        ("*a", "a*", False),
    ],
)
def test_which_is_covered(other: str, by: str, covered: bool) -> None:
    assert is_covered(parse_glob(other), parse_glob(by)) is covered


@pytest.mark.parametrize(
    ("glob", "can"),
    [
        *[(glob, True) for glob in ("*", "?", "hr-*", "*.txt", "[!h]*", "[a-c]", "a.b", "[]a]")],
        *[
            (glob, False)
            for glob in ("hr/*", ".*", "_a", "a b", "*:*", "[/]*", "[!A-Za-z0-9]x", "\u00e9")
        ],
        ("[!!]a", True),
        ("a" * 200, True),
        ("a" * 201, False),
        ("a" * 201 + "*", False),
        ("*" + "." + "a" * 198, True),
        ("*" + "." + "a" * 199, False),
        ("", False),
    ],
)
def test_which_can_match(glob: str, can: bool) -> None:
    assert can_match_name(parse_glob(glob)) is can


@pytest.mark.parametrize(
    ("glob", "said"),
    [
        ("[abc", "expected a class that is closed, got '[abc'"),
        ("[" + "a" * 50, f"expected a class that is closed, got '[{'a' * 39}'"),
        ("[^" + "a" * 50 + "]", f"expected [!...] for what is not in a class, got '[^{'a' * 39}]'"),
        ("a[", "expected a class that is closed, got '['"),
        ("[]", "expected a class that is closed, got '[]'"),
        ("[!]", "expected a class that is closed, got '[!]'"),
        ("x[^r]*", "expected [!...] for what is not in a class, got '[^r]'"),
        ("[z-a]", "expected ranges from low to high, got '[z-a]'"),
    ],
)
def test_what_does_not_mean_what_it_looks_like(glob: str, said: str) -> None:
    with pytest.raises(GlobError) as refused:
        parse_glob(glob)
    assert str(refused.value) == said
