"""Joining policies: each has to allow, and the one that decided is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from provenance.decisions import AuthorizationDecision, decide_together
from provenance.pointers import parse_source_pointer
from provenance.policy import Policy, PolicyOrigin, Verdict, parse_policy

_POINTER = parse_source_pointer("artifact:run-1:a:0123456789AB")
_DENY = parse_policy('default = "allow"\n[[rule]]\neffect = "deny"\nsession = "run-*"\nwhy = "no"')
_ALLOW = parse_policy('default = "deny"\n[[rule]]\neffect = "allow"\nwhy = "yes"')
_REFUSE = parse_policy('default = "allow"\nrefuse = ["prefix-digests"]')


def _target(policy: Policy) -> Policy:
    return replace(policy, origin=PolicyOrigin.TARGET)


@pytest.mark.parametrize(
    ("policies", "verdict", "origin", "rule", "why"),
    [
        ((), "allow", None, None, ""),
        ((_ALLOW,), "allow", "operator", 1, "yes"),
        ((_DENY,), "deny", "operator", 1, "no"),
        ((_REFUSE,), "refuse", "operator", None, "prefix-digests"),
        ((_ALLOW, _target(_DENY)), "deny", "target", 1, "no"),
        ((_ALLOW, _target(_REFUSE)), "refuse", "target", None, "prefix-digests"),
        ((_DENY, _target(_ALLOW)), "deny", "operator", 1, "no"),
        ((_REFUSE, _target(_DENY)), "deny", "target", 1, "no"),
        ((_DENY, _target(_DENY)), "deny", "operator", 1, "no"),
    ],
)
def test_a_denial_goes_first_then_a_refusal(
    policies: tuple[Policy, ...], verdict: str, origin: str | None, rule: int | None, why: str
) -> None:
    decision = decide_together(policies, _POINTER, tenant="acme")
    assert decision == AuthorizationDecision(
        "artifact:run-1:a:0123456789AB",  # as it was cited
        "acme",
        Verdict(verdict),
        None if origin is None else PolicyOrigin(origin),
        rule,
        why,
    )


def test_the_object_has_its_keys_in_order() -> None:
    found = decide_together((_DENY,), _POINTER, tenant=None).to_dict()
    assert list(found.items()) == [
        ("schema", "ctxaudit.decision/1"),
        ("pointer", "artifact:run-1:a:0123456789AB"),
        ("tenant", None),
        ("verdict", "deny"),
        ("policy", "operator"),
        ("rule", 1),
        ("why", "no"),
    ]
