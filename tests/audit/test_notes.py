"""Collecting findings."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from provenance.audit.notes import Notes
from provenance.findings import Finding, Location, Severity

_findings = st.builds(
    Finding,
    st.sampled_from(["a", "b", "hard_link", "foreign_owner"]),
    st.sampled_from(Severity),
    st.sampled_from(["s/tool-results/x", "s/tool-results/y", "t/tool-results/x", "z.jsonl"]),
    st.builds(Location, line=st.none() | st.integers(1, 100)),
)


@given(st.lists(_findings, max_size=80))
def test_the_order_of_arrival_decides_nothing_that_is_counted(findings: list[Finding]) -> None:
    forward, backward = Notes(), Notes()
    forward.extend(findings)
    backward.extend(reversed(findings))
    assert forward.counts() == backward.counts()
    plain = Counter(f.code for f in findings if f.code in ("a", "b"))
    assert {code: n for code, n in forward.counts().items() if code in ("a", "b")} == plain


@given(st.lists(_findings, max_size=80))
def test_errors_come_first_and_a_kind_is_listed_twenty_times_at_most(
    findings: list[Finding],
) -> None:
    notes = Notes()
    notes.extend(findings)
    listed = notes.listed()
    ranks = [list(reversed(Severity)).index(finding.severity) for finding in listed]
    assert ranks == sorted(ranks)
    assert max(Counter((f.code, f.target) for f in listed).values(), default=0) <= 20
    assert {(f.code) for f in listed} == {f.code for f in findings}


def test_a_fact_is_told_once_a_session_by_its_first_file() -> None:
    def fact(target: str) -> Finding:
        return Finding("hard_link", Severity.INFO, target)

    for order in (("s/t/b", "s/t/a", "u/t/c"), ("u/t/c", "s/t/a", "s/t/b", "s/t/a")):
        notes = Notes()
        notes.extend(map(fact, order))
        assert [finding.target for finding in notes.listed()] == ["s/t/a", "u/t/c"]
        assert notes.counts() == {"hard_link": 2}


def test_a_prefix_is_put_before_the_target() -> None:
    notes = Notes()
    notes.add(Finding("a", Severity.INFO, "x"), prefix="home/")
    assert notes.listed()[0].target == "home/x"
