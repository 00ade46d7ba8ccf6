"""Policy files: strict reading, order of rules, globs, refusals."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.pointers import parse_source_pointer
from provenance.policy import (
    MAX_POLICY_BYTES,
    Decision,
    Policy,
    PolicyError,
    Rule,
    Verdict,
    parse_policy,
    parse_toml,
)

_EVENT = parse_source_pointer("transcript:hr-1:3")
_FULL = parse_source_pointer("artifact:run-1:log.txt:" + "ab" * 32)
_SHORT = parse_source_pointer("artifact:run-1:log.txt:0123456789ab")


def test_the_first_rule_that_matches_decides() -> None:
    policy = parse_policy(
        """
        default = "allow"
        [[rule]]
        effect = "allow"
        session = "hr-1"
        why = "an exception"
        [[rule]]
        effect = "deny"
        session = "hr-*"
        why = "not yours"
        """
    )
    assert policy.decide(_EVENT) == Decision(Verdict.ALLOW, 1, "an exception")
    other = parse_source_pointer("transcript:hr-2:3")
    assert policy.decide(other) == Decision(Verdict.DENY, 2, "not yours")
    assert policy.decide(_FULL) == Decision(Verdict.ALLOW)


@pytest.mark.parametrize("default", ["allow", "deny"])
def test_the_default_holds_where_no_rule_matches(default: str) -> None:
    policy = parse_policy(f'default = "{default}"\n[[rule]]\neffect = "deny"\nsession = "other"')
    assert policy.decide(_EVENT) == Decision(Verdict(default))


def test_a_default_alone_may_deny_everything() -> None:
    assert parse_policy('default = "deny"').decide(_EVENT).verdict is Verdict.DENY


@pytest.mark.parametrize(
    ("rule", "event", "artifact"),
    [
        ('kind = "transcript"', True, False),
        ('kind = "artifact"', False, True),
        ('kind = "a*"', False, True),
        ('kind = "*"', True, True),
        ('session = "hr-?"', True, False),
        ('session = "HR-1"', False, False),
        ('session = "[!h]*"', False, True),
        ('session = "hr"', False, False),
        ('name = "*.txt"', False, True),
        ('name = "*"', True, True),
        ('name = "?*"', False, True),
        ('tenant = "acme"', False, False),
        ('tenant = "*"', True, True),
    ],
)
def test_globs(rule: str, event: bool, artifact: bool) -> None:
    policy = parse_policy(f'default = "allow"\n[[rule]]\neffect = "deny"\n{rule}')
    assert (policy.decide(_EVENT).verdict is Verdict.DENY) is event
    assert (policy.decide(_FULL).verdict is Verdict.DENY) is artifact


def test_tenants() -> None:
    policy = parse_policy('default = "deny"\n[[rule]]\neffect = "allow"\ntenant = "team-*"')
    assert policy.decide(_EVENT, tenant="team-a").verdict is Verdict.ALLOW
    assert policy.decide(_EVENT, tenant="other").verdict is Verdict.DENY
    assert policy.decide(_EVENT).verdict is Verdict.DENY


def test_short_digests_can_be_refused_and_a_denial_goes_first() -> None:
    policy = parse_policy('default = "allow"\nrefuse = ["prefix-digests"]')
    assert policy.decide(_SHORT) == Decision(Verdict.REFUSE, why="prefix-digests")
    assert policy.decide(_FULL).verdict is Verdict.ALLOW
    assert policy.decide(_EVENT).verdict is Verdict.ALLOW
    denying = parse_policy('default = "deny"\nrefuse = ["prefix-digests"]')
    assert denying.decide(_SHORT).verdict is Verdict.DENY


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "default: expected a value, got none"),
        ('[[rule]]\neffect = "deny"', "default: expected a value, got none"),
        ('default = "allow"', "rule: expected a policy that decides something"),
        ('default = "maybe"', "default: expected 'allow' or 'deny', got 'maybe'"),
        ("default = true", "default: expected 'allow' or 'deny', got True"),
        ('defualt = "deny"', "defualt: expected a known key"),
        ('default = "deny"\nrules = []', "rules: expected a known key"),
        ('default = "deny"\n[[rule]]\nsession = "x"', "rule 1: effect: expected a value"),
        (
            'default = "deny"\n[[rule]]\neffect = "deny"\n[[rule]]\neffect = "no"',
            "rule 2: effect: expected 'allow' or 'deny', got 'no'",
        ),
        (
            'default = "deny"\n[[rule]]\neffect = "deny"\npath = "x"',
            "rule 1: path: expected a known",
        ),
        ('default = "deny"\n[[rule]]\neffect = "deny"\nsession = 1', "rule 1: session: "),
        (
            'default = "deny"\n[[rule]]\neffect = "deny"\nsession = ""',
            "rule 1: session: expected 1",
        ),
        (
            'default = "deny"\n[[rule]]\neffect = "deny"\nkind = "transcripts"',
            "rule 1: kind: expected a glob for transcript or artifact, got 'transcripts'",
        ),
        (
            'default = "deny"\n[[rule]]\neffect = "deny"\nname = "' + "*" * 33 + '"',
            "line 4: rule 1: name: expected at most 32 of `*`, got more",
        ),
        ('default = "deny"\nrefuse = ["anything"]', "refuse 1: expected 'hard-links', "),
        ('default = "deny"\nrefuse = "prefix-digests"', "refuse: "),
        ("default = \n", "line 1: default: expected TOML"),
        ('default = "deny"\n\n[[rule]\n', "line 3: file: expected TOML"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(PolicyError) as refused:
        parse_policy(text)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


_DENIED = 'default = "deny"\n[[rule]]\neffect = "deny"\n'


def _rules(*rules: str, default: str = "deny") -> str:
    return f'default = "{default}"\n' + "".join(f"[[rule]]\n{rule}\n" for rule in rules)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            _DENIED + 'session = "hr/*"',
            (
                "line 4: rule 1: session: expected a glob for a session id (letters, digits, `.`, "
                "`_`, `-`; at most 200), got 'hr/*'"
            ),
        ),
        (
            _DENIED + 'name = "/' + "n" * 50 + '"',
            (
                "line 4: rule 1: name: expected a glob for a file name (letters, digits, `.`, `_`, "
                f"`-`; at most 200), got '/{'n' * 39}'"
            ),
        ),
        (
            _DENIED + f'session = "{"s" * 1_001}"',
            "line 4: rule 1: session: expected 1 to 1000 characters, got 1001",
        ),
        (
            _DENIED + 'session = "[a"',
            "line 4: rule 1: session: expected a class that is closed, got '[a'",
        ),
        (
            _DENIED + f'tenant = "{"*" * 33}"',
            "line 4: rule 1: tenant: expected at most 32 of `*`, got more",
        ),
        (
            _DENIED + f'kind = "{"k" * 50}"',
            f"line 4: rule 1: kind: expected a glob for transcript or artifact, got '{'k' * 40}'",
        ),
        (
            _DENIED + 'kind = "transcript"\nname = "a.txt"',
            (
                "line 5: rule 1: name: expected none beside kind 'transcript', since an event has "
                "no name, got 'a.txt'"
            ),
        ),
        (
            _rules('effect = "deny"\nsession = "a"', 'effect = "allow"\nsession = "a"'),
            (
                "line 5: rule 2: expected one that something comes to, got one behind rule 1, "
                "which matches all of it"
            ),
        ),
        (
            _rules('effect = "deny"', 'effect = "allow"\nsession = "a"'),
            (
                "line 4: rule 2: expected one that something comes to, got one behind rule 1, "
                "which matches all of it"
            ),
        ),
        (
            # All of one kind, then all of the other: whatever comes after them is never reached.
            _rules(
                'effect = "deny"\nkind = "transcript"\nsession = "**"',
                'effect = "deny"\nkind = "artifact"',
                'effect = "allow"\nsession = "a"',
            ),
            (
                "line 9: rule 3: expected one that something comes to, got one behind rule 2, "
                "which matches all of it"
            ),
        ),
        (
            _rules(
                'effect = "deny"\nkind = "transcript"',
                'effect = "allow"\nkind = "trans*"\nsession = "a"',
            ),
            (
                "line 5: rule 2: expected one that something comes to, got one behind rule 1, "
                "which matches all of it"
            ),
        ),
        *(
            (
                _rules(f'effect = "allow"\n{all_}', 'effect = "deny"', default="allow"),
                (
                    f"line {5 + all_.count(chr(10))}: rule 2: expected one that something comes "
                    "to, got one behind rule 1, which matches all of it"
                ),
            )
            for all_ in (
                *(f'session = "{glob}"' for glob in ("**", "?*", "*?", "[A-Za-z0-9]*", "*[!/]*")),
                'session = "?*"\nkind = "*"\nname = "*"',
            )
        ),
        *(
            (
                _rules(
                    'effect = "allow"\nkind = "transcript"\nsession = "*?"',
                    f'effect = "allow"\nname = "{name}"',
                    'effect = "deny"',
                    default="allow",
                ),
                (
                    "line 9: rule 3: expected one that something comes to, got one behind rule 2, "
                    "which matches all of it"
                ),
            )
            for name in ("**", "?*", "[!/]*")
        ),
        (
            # Only artifacts have names.
            _rules('effect = "deny"\nkind = "artifact"', 'effect = "allow"\nname = "a"'),
            (
                "line 5: rule 2: expected one that something comes to, got one behind rule 1, "
                "which matches all of it"
            ),
        ),
        (
            _rules(
                'effect = "deny"\nsession = "?*"\ntenant = "a"', 'effect = "allow"\ntenant = "a"'
            ),
            (
                "line 6: rule 2: expected one that something comes to, got one behind rule 1, "
                "which matches all of it"
            ),
        ),
        (
            _rules('effect = "allow"\nsession = "a"', default="allow"),
            (
                "line 1: rule: expected a policy that decides something, got one that allows "
                "everything"
            ),
        ),
    ],
)
def test_what_is_said_of_a_policy(text: str, said: str) -> None:
    with pytest.raises(PolicyError) as refused:
        parse_policy(text)
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ('session = "hr-*"', 'session = "hr-1"'),
        ('session = "hr*"', 'session = "hr-*"\nname = "a"'),
        ('kind = "artifact"\nname = "*.txt"', 'name = "a.txt"'),
        ('session = "hr-*"', 'session = "hr-1"\ntenant = "a"\nkind = "transcript"'),
    ],
)
@pytest.mark.parametrize("default", ["allow", "deny"])
def test_a_rule_behind_a_wider_one_is_in_vain(first: str, second: str, default: str) -> None:
    rules = f'effect = "allow"\n{first}', f'effect = "deny"\n{second}'
    with pytest.raises(PolicyError, match=r"^line .*: rule 2: .* behind rule 1, which matches all"):
        parse_policy(_rules(*rules, default=default))
    assert len(parse_policy(_rules(*reversed(rules), default=default)).rules) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ('session = "hr-*"\ntenant = "a"', 'session = "hr-1"'),
        ('session = "hr-*"\ntenant = "a*"', 'session = "hr-1"\ntenant = "ab"'),
        ('session = "hr-*"\nkind = "artifact"', 'session = "hr-1"'),
        ('session = "hr-*"\nname = "*.txt"', 'session = "hr-1"'),
        ('name = "?*"\nsession = "hr-*"', 'session = "hr-1"'),
    ],
)
def test_a_rule_behind_another_one_is_reached(first: str, second: str) -> None:
    text = _rules(f'effect = "allow"\n{first}', f'effect = "deny"\n{second}', default="allow")
    assert len(parse_policy(text).rules) == 2


@pytest.mark.parametrize(
    "text",
    [
        _DENIED + f'session = "{"[a]" * 200 + "*" * 32}"',
        _DENIED + f'tenant = "{"t" * 1_000}"',
        _DENIED + 'kind = "artifact"\nname = "a.txt"',
        _DENIED + 'tenant = "no name/of a session"',
        # Not all of a kind: what is named after it is reached.
        _rules('effect = "deny"\nname = "a"', 'effect = "allow"\nsession = "a"'),
        _rules('effect = "deny"\ntenant = "a"', 'effect = "allow"\nsession = "a"'),
        _rules('effect = "deny"\nname = "a"\ntenant = "a"', 'effect = "allow"\nsession = "a"'),
        _rules('effect = "deny"\nsession = "??*"', 'effect = "allow"\nsession = "a"'),
        _rules('effect = "deny"\nsession = "*[a-z0-9]"', 'effect = "allow"\nsession = "A"'),
        # Every file name, and no event: those come to what follows.
        _rules('effect = "deny"\nname = "?*"', 'effect = "allow"\nsession = "a"'),
        # A caller may be no tenant.
        _rules('effect = "deny"\ntenant = "?*"', 'effect = "allow"\nsession = "a"'),
        _rules('effect = "deny"\nkind = "transcript"', 'effect = "allow"\nsession = "a"'),
    ],
)
def test_what_is_just_a_policy(text: str) -> None:
    policy = parse_policy(text)
    assert [rule.number for rule in policy.rules] == list(range(1, len(policy.rules) + 1))


def test_a_rule_without_a_number_is_known_by_its_place() -> None:
    rules = (Rule(Verdict.DENY, session="x"), Rule(Verdict.DENY, session=_EVENT.session_id))
    assert Policy(Verdict.ALLOW, rules).decide(_EVENT).rule == 2


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 100_000,
        "a = " + "9" * 5_000,
        "a = 2026-13-45T99:99:99Z",
        'a = "\ud800"',
        "\0",
        'a."b\\u0000" = 1',
        "# " + "x" * MAX_POLICY_BYTES,
    ],
)
def test_hostile_toml_is_refused_and_nothing_else_is_raised(text: str) -> None:
    with pytest.raises(PolicyError):
        parse_policy(text)


@given(st.text(max_size=200))
def test_any_text_is_a_table_or_a_policy_error(text: str) -> None:
    try:
        parse_toml(text)
        parse_policy(text)
    except PolicyError as error:
        refused = str(error)
    else:
        return
    assert "\n" not in refused


_NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,8}", fullmatch=True)
_GLOBS = st.text(alphabet="ab*?[]!-.1", min_size=1, max_size=8)


@given(_GLOBS, _NAMES)
def test_a_glob_matches_as_fnmatchcase_does(glob: str, session: str) -> None:
    rule = Rule(Verdict.DENY, session=glob)
    pointer = parse_source_pointer(f"transcript:{session}:1")
    assert rule.is_match(pointer, None) == fnmatchcase(session, glob)


@given(st.lists(st.tuples(st.sampled_from(list(Verdict)[:2]), _GLOBS), max_size=5), _NAMES)
def test_deciding_is_looking_for_the_first_match(
    rules: list[tuple[Verdict, str]], session: str
) -> None:
    policy = Policy(Verdict.DENY, tuple(Rule(effect, session=glob) for effect, glob in rules))
    expected = next((effect for effect, glob in rules if fnmatchcase(session, glob)), Verdict.DENY)
    assert policy.decide(parse_source_pointer(f"transcript:{session}:1")).verdict is expected


def test_a_glob_full_of_stars_takes_no_time_to_speak_of() -> None:
    policy = Policy(Verdict.ALLOW, (Rule(Verdict.DENY, session="*a" * 200 + "b"),))
    pointer = parse_source_pointer("transcript:" + "a" * 200 + ":1")
    assert policy.decide(pointer).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    ("glob", "session", "matches"),
    [
        ("*", "a", True),
        ("a", "a", True),
        ("A", "a", False),
        ("a*", "a", True),
        ("?", "a", True),
        ("??", "a", False),
        ("[", "[", False),  # a session cannot be called so, and the bracket is no class
        ("[a", "a", False),
        ("[]", "a", False),
        ("[!]", "a", False),
        ("[!b]", "a", True),
        ("[^b]", "a", False),  # `^` is a letter like any other
        ("[a-c]", "b", True),
        ("[c-a]", "b", False),
        ("[!c-a]", "b", True),
        ("[a-]", "-", False),
        ("a[.]b", "a.b", True),
        ("a.b", "axb", False),
        ("a\\*", "a*", False),
        ("a\n", "a", False),
        ("(a|b)", "a", False),
        ("^a$", "a", False),
    ],
)
def test_the_edges_of_globs(glob: str, session: str, matches: bool) -> None:
    try:
        pointer = parse_source_pointer(f"transcript:{session}:1")
    except ValueError:
        assert not matches
        return
    assert Rule(Verdict.DENY, session=glob).is_match(pointer, None) is matches


def test_what_is_refused_once_a_file_is_open_is_not_decided_by_the_pointer() -> None:
    policy = parse_policy(
        'default = "allow"\nrefuse = ["hard-links", "foreign-owner", "world-writable"]'
    )
    assert policy.decide(_SHORT).verdict is Verdict.ALLOW
    assert {str(trait) for trait in policy.traits} == {
        "hard-links",
        "foreign-owner",
        "world-writable",
    }
    assert parse_policy('default = "allow"\nrefuse = ["prefix-digests"]').traits == frozenset()


def test_a_rule_keeps_the_number_that_it_has_in_its_file() -> None:
    policy = Policy(Verdict.ALLOW, (Rule(Verdict.DENY, session="hr-*", number=7),))
    assert policy.decide(_EVENT).rule == 7
