"""Pages for policies, waivers and what they are made of.

Guarantees: a page for each finding about waivers, each verdict of a policy and each kind of
evidence that one can refuse.

Example:
    >>> sorted(WAIVER_PAGES)
    ['waiver_expired', 'waiver_unused']
"""

from __future__ import annotations

from provenance.audit._page import Page

__all__ = ["POLICY_FINDING_PAGES", "POLICY_PAGES", "WAIVER_PAGES"]

POLICY_FINDING_PAGES: dict[str, Page] = {
    "denied_by_target": (
        "The policy of the target itself keeps sources back that the operator's lets be read.",
        (
            "Rules, the default, `refuse` or `formats` in the target's `ctxaudit.toml`. What is "
            "kept back is `denied`, which may hide that it is missing or corrupt; so this counts "
            "as denied (13) whatever --fail-on leaves out."
        ),
        (
            "Ask the owner of the home for the evidence, forbid it in your own policy "
            "(`--policy`), or waive it: this code, and the target as the report names it."
        ),
    ),
    "limited_by_target": (
        "Under the operator's limits this evidence has another answer than under the target's own.",
        (
            "Lower limits in the target's `ctxaudit.toml`. What is over them is not looked at and "
            "may be missing or corrupt; so this counts as inconclusive (4) at least, whatever "
            "--fail-on leaves out."
        ),
        "Take the limits out of the target's `ctxaudit.toml`, in a copy, and verify again.",
    ),
}

WAIVER_PAGES: dict[str, Page] = {
    "waiver_expired": (
        "A waiver is over: what it covered counts again, and the run fails until it is looked at.",
        (
            "Its last day, in UTC, is past (on that day it still counts). It is told whether or "
            "not the fault is still there."
        ),
        "Mend the fault and remove the waiver, or have its owner decide anew and set a new date.",
    ),
    "waiver_unused": (
        "A waiver covered nothing in this run.",
        "The fault is mended, the pointer or target is spelled otherwise, or it was not audited.",
        "Remove it, or compare its pointer, code and target with the report, letter by letter.",
    ),
}

POLICY_PAGES: dict[str, dict[str, Page]] = {
    "decision": {
        "allow": (
            "The policies let the source be looked up.",
            "The first rule that matches allows, or none matches and the default does.",
            "Nothing.",
        ),
        "deny": (
            "A policy forbids the source; nothing is looked up, not even whether it exists.",
            "The first rule that matches denies, or none matches and the default does.",
            "See `ctxaudit policy test`: it names the rule and its line.",
        ),
        "refuse": (
            "The list `refuse` of a policy excludes this kind of evidence, which rules allow.",
            "A short digest is told by the pointer; the others are once the file is open.",
            "Cite stronger evidence, or mend the file: see `ctxaudit explain refused_by_policy`.",
        ),
    },
    "waiver state": {
        "used": (
            "The waiver covered something in this run.",
            "What it names is at fault, and its last day is not past.",
            "Nothing until its last day.",
        ),
        "unused": (
            "The waiver covered nothing in this run.",
            "See `ctxaudit explain waiver_unused`.",
            "Remove it, or compare it with the report, letter by letter.",
        ),
        "expired": (
            "The waiver is over and covers nothing.",
            "See `ctxaudit explain waiver_expired`.",
            "Mend the fault and remove the waiver, or have its owner decide anew.",
        ),
        "not_known": (
            "Nobody knows whether the waiver is needed.",
            "The run did not come to everything: it was interrupted.",
            "Run it again.",
        ),
    },
    "refusal": {
        "hard-links": (
            "Evidence in a file with more than one name is refused.",
            "A list `refuse` names it. The link count of the very handle that is read decides.",
            "Copy the file, replace it by the copy, and remove the other name.",
        ),
        "foreign-owner": (
            "Evidence is refused where the file, a folder on the way or the root is another's.",
            "A list `refuse` names it. The owners of the very handles that are opened decide.",
            "Audit as the user who owns the evidence, or have it owned by the one who audits.",
        ),
        "world-writable": (
            "Evidence is refused where group or others may write to it, a folder or the root.",
            "A list `refuse` names it. Who may write to a folder may replace what lies in it.",
            "Run chmod go-w on the root and all below it.",
        ),
        "prefix-digests": (
            "Artifact pointers with 12 digits of a digest are refused.",
            "A list `refuse` names it: two inputs with equal 12 digits are found in minutes.",
            "Cite the full digest.",
        ),
    },
}
