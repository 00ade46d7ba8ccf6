"""Policies in which something is written in vain, and their nearest harmless look-alikes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from provenance.policy import PolicyError, parse_policy

_ALLOW_ALL = '[[rule]]\neffect = "allow"\n'
_DENY = '[[rule]]\neffect = "deny"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'{_DENY}kind = "transcript"\nname = "a*"', "line 5: rule 1: name: expected none beside"),
        (f'{_DENY}kind = "transcript"\nname = "**"', "line 5: rule 1: name: expected none beside"),
        (f'{_DENY}session = "run\\\\-1"', "line 4: rule 1: session: expected a glob for a session"),
        (f'{_DENY}session = "{{run-1,run-2}}"', "line 4: rule 1: session: expected a glob for a s"),
        (f'{_DENY}session = " run-1"', "line 4: rule 1: session: expected a glob for a session id"),
        (f'{_DENY}session = "run-1\\n"', "line 4: rule 1: session: expected a glob for a session "),
        (f'{_DENY}name = "tool-results/*"', "line 4: rule 1: name: expected a glob for a file nam"),
        (f'{_DENY}session = "[abc"', "line 4: rule 1: session: expected a class that is closed, "),
        (f'{_DENY}session = "[z-a]"', "line 4: rule 1: session: expected ranges from low to high"),
        (f'{_DENY}session = "[^r]*"', "line 4: rule 1: session: expected [!...] for what is not "),
        (f'{_DENY}tenant = "[^r]*"', "line 4: rule 1: tenant: expected [!...] for what is not in"),
        (f'{_DENY}kind = "[!"', "line 4: rule 1: kind: expected a class that is closed, got '[!'"),
        (
            f'{_ALLOW_ALL}{_DENY}session = "x"',
            "line 4: rule 2: expected one that something comes to, got one behind rule 1",
        ),
        (
            f'{_ALLOW_ALL}session = "**"\nkind = "?*"\n{_DENY}session = "x"',
            "line 6: rule 2: expected one that something comes to, got one behind rule 1",
        ),
        (
            f'{_ALLOW_ALL}kind = "transcript"\n{_ALLOW_ALL}kind = "a*"\n{_DENY}session = "x"',
            "line 8: rule 3: expected one that something comes to, got one behind rule 2",
        ),
        (
            f'{_ALLOW_ALL}kind = "transcript"\n{_DENY}kind = "t*"\nsession = "x"',
            "line 5: rule 2: expected one that something comes to, got one behind rule 1",
        ),
        (
            f'{_ALLOW_ALL}session = "a*"\n{_DENY}session = "a*"',
            "line 5: rule 2: expected one that something comes to, got one behind rule 1",
        ),
        (f'{_ALLOW_ALL}session = "a*"', "line 1: rule: expected a policy that decides something"),
    ],
)
def test_what_is_written_in_vain_is_refused(text: str, message: str) -> None:
    with pytest.raises(PolicyError) as refused:
        parse_policy(f'default = "allow"\n{text}')
    assert str(refused.value).startswith(message)


def test_with_a_default_that_denies_all_may_be_allowed() -> None:
    assert parse_policy(f'default = "deny"\n{_ALLOW_ALL}').rules


@pytest.mark.parametrize(
    "text",
    [
        f'{_DENY}kind = "artifact"\nname = "a*"',
        f'{_DENY}kind = "*"\nname = "a*"',
        f'{_DENY}kind = "transcript"\nname = "*"',
        f'{_DENY}session = "[!r]*"',
        f'{_DENY}session = "[]a]*"'.replace("[]a]", "[a^]"),
        f'{_DENY}tenant = "any one / at all"',
        f'{_DENY}session = "x"\n{_ALLOW_ALL}',
        f'{_ALLOW_ALL}tenant = "*a"\n{_DENY}session = "x"',
        f'{_ALLOW_ALL}tenant = "**"\n{_DENY}session = "x"',
        f'{_ALLOW_ALL}name = "**"\n{_DENY}session = "x"',
        f'{_ALLOW_ALL}kind = "transcript"\n{_DENY}session = "x"',
        f'{_ALLOW_ALL}session = "a*"\n{_DENY}session = "b*"',
        _DENY,
    ],
)
def test_the_nearest_that_is_not(text: str) -> None:
    assert parse_policy(f'default = "allow"\n{text}').rules


@pytest.mark.parametrize(
    "text", [f'{_DENY}kind = "transcript"\nname = "a"', f'{_DENY}session = "[^r]*"']
)
def test_of_a_target_it_is_a_finding_with_its_line(
    home: Any, call: Callable[..., Any], text: str
) -> None:
    home.state("one.json", home.transcript("s1", 1))
    home.config(text)
    done = call("verify", home.path, "--format", "json")
    assert done.code == 14
    (finding,) = done.report["findings"]
    line = text.count("\n") + 1
    assert (finding["code"], finding["location"]["line"]) == ("config_invalid", line)


def test_an_allow_rule_of_a_target_hides_no_denial(home: Any, call: Callable[..., Any]) -> None:
    home.state("one.json", home.transcript("s1", 1))
    home.config(f'{_ALLOW_ALL}{_DENY}session = "s1"')
    report = call("verify", home.path, "--format", "json").report
    assert report["summary"]["denied"] == 1
    (finding,) = [one for one in report["findings"] if one["code"] == "untrusted_config_ignored"]
    assert finding["location"]["line"] == 2
