"""What was decided about one pointer before anything was looked up: a line of the decision trace.

Guarantees: pure. A decision is made of the pointer, of who asks and of the policies alone, so that
a trace is the same whether a source exists or not.

Example:
    >>> AuthorizationDecision("transcript:s1:1", None, Verdict.ALLOW).to_dict()["verdict"]
    'allow'
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from provenance.pointers import SourcePointer
from provenance.policy import Policy, PolicyOrigin, Verdict

__all__ = ["DECISION_SCHEMA", "AuthorizationDecision", "decide_together"]

DECISION_SCHEMA = "ctxaudit.decision/1"


@dataclass(frozen=True, slots=True)
class AuthorizationDecision:
    """One decision.

    Attributes:
        pointer: as it was cited.
        tenant: who asked; None where nobody said.
        verdict: `allow`, `deny` (by a rule or the default) or `refuse` (by `refuse`).
        policy: whose policy decided, the operator's or the target's; None: there is none.
        rule: the number of the rule in its file, from 1; None: the default or `refuse` decided.
        why: what the rule says, or the name of what is refused.
    """

    pointer: str
    tenant: str | None
    verdict: Verdict
    policy: PolicyOrigin | None = None
    rule: int | None = None
    why: str = ""

    def to_dict(self) -> dict[str, object]:
        """Give the decision as the JSON object of the trace."""
        return {
            "schema": DECISION_SCHEMA,
            "pointer": self.pointer,
            "tenant": self.tenant,
            "verdict": str(self.verdict),
            "policy": None if self.policy is None else str(self.policy),
            "rule": self.rule,
            "why": self.why,
        }


def decide_together(
    policies: Iterable[Policy], pointer: SourcePointer, *, tenant: str | None
) -> AuthorizationDecision:
    """Ask several policies, each of which has to allow: a denial first, then a refusal.

    Args:
        policies: in the order in which one that allows is named; none of them allows everything.
        pointer: a parsed pointer.
        tenant: who asks.
    """
    asked = [(policy, policy.decide(pointer, tenant=tenant)) for policy in policies]
    for verdict in (Verdict.DENY, Verdict.REFUSE, Verdict.ALLOW):
        for policy, decision in asked:
            if decision.verdict is verdict:
                return AuthorizationDecision(
                    pointer.raw, tenant, verdict, policy.origin, decision.rule, decision.why
                )
    return AuthorizationDecision(pointer.raw, tenant, Verdict.ALLOW)
