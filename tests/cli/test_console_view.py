"""The console report, plain and in boxes."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from cli.console_boxes import print_boxes
from cli.console_plain import write_plain
from cli.console_view import view_of
from cli.exit_codes import ExitCode
from cli.options import Manner
from cli.terminal import capture
from provenance.audit_report import (
    AuditedSource,
    AuditReport,
    CheckedReference,
    CheckedTranscript,
    Citation,
)
from provenance.consequences import Consequence
from provenance.findings import Finding, Location, Severity
from provenance.resolution import (
    INCONCLUSIVE_REASONS,
    REASON_STATUS,
    Reason,
    SourceResolution,
    SourceResolutionStatus,
    resolution_for,
)


def _source(reason: Reason, pointer: str = "transcript:s1:1", *claims: Citation) -> AuditedSource:
    status = REASON_STATUS[reason]
    available = status is SourceResolutionStatus.AVAILABLE
    resolution = SourceResolution(
        pointer,
        status,
        "transcript",
        "0" * 64 if available else None,
        reason=reason,
        strength="position" if available else None,
        conclusive=reason not in INCONCLUSIVE_REASONS,
    )
    return AuditedSource(resolution, claims)


_REASONS = st.sampled_from(list(Reason))


_TEXTS = st.text(max_size=30) | st.sampled_from(
    ("\x1b[2J", "a\nb", "\u202etxt", "\x9b1m", "x" * 999)
)
_COUNTS = st.dictionaries(_TEXTS, st.integers(0, 9), max_size=3)
_TRANSCRIPTS = st.builds(
    CheckedTranscript,
    _TEXTS,
    _TEXTS,
    st.lists(_TEXTS, max_size=2).map(tuple),
    st.integers(0, 9),
    st.integers(0, 9),
    st.integers(0, 9),
    _COUNTS,
    st.none() | _TEXTS,
    st.none() | _TEXTS,
    st.none(),
    _COUNTS,
    _COUNTS,
)
_REFERENCES = st.builds(
    CheckedReference,
    _TEXTS,
    st.builds(Location, st.integers(1, 9), _TEXTS, st.none() | st.integers(1, 9)),
    _TEXTS,
    st.sampled_from(SourceResolutionStatus),
    st.booleans(),
    _TEXTS,
)


@given(
    st.lists(
        st.tuples(_REASONS, _TEXTS, st.lists(st.builds(Citation, _TEXTS, _TEXTS, _TEXTS, _TEXTS))),
        max_size=5,
    ),
    st.lists(
        st.builds(
            Finding,
            _TEXTS,
            st.sampled_from(Severity),
            _TEXTS,
            st.builds(Location, st.none(), _TEXTS, st.none()),
            _TEXTS,
        ),
        max_size=3,
    ),
    st.lists(_TRANSCRIPTS, max_size=13),
    st.lists(_REFERENCES, max_size=3),
    st.booleans(),
)
def test_no_text_of_an_audited_file_steers_the_terminal(
    sources: list[tuple[Reason, str, list[Citation]]],
    findings: list[Finding],
    transcripts: list[CheckedTranscript],
    references: list[CheckedReference],
    quiet: bool,
) -> None:
    report = AuditReport(
        targets=("\x1b[31m\n",),
        sources=tuple(_source(reason, text, *cited) for reason, text, cited in sources),
        findings=tuple(findings),
        transcripts=tuple(transcripts),
        references=tuple(references),
    )
    view = view_of(report, ExitCode.CORRUPT)
    text = write_plain(view, quiet=quiet)
    assert all(line.isprintable() for line in text.split("\n"))
    assert text.split("\n")[-2].startswith("Exit code 14. ")
    manner = Manner(boxes=True, color=False, quiet=quiet)
    drawn = capture(manner, lambda console: print_boxes(view, console, quiet=quiet))
    assert all(line.isprintable() for line in drawn.split("\n"))


def test_long_lists_are_counted_and_the_worst_comes_first() -> None:
    claims = tuple(Citation("f", str(number), None, "x" * 500) for number in range(9))
    report = AuditReport(
        sources=(
            *(
                _source(Reason.VERIFIED_TRANSCRIPT_EVENT, f"transcript:s1:{number}")
                for number in range(1, 81)
            ),
            _source(Reason.ARTIFACT_TOO_LARGE, "artifact:s:f:0123456789ab"),
            _source(Reason.TRANSCRIPT_MISSING, "transcript:s2:1", *claims),
            _source(Reason.ARTIFACT_DIGEST_MISMATCH, "artifact:s:g:0123456789ab"),
        )
    )
    view = view_of(report, ExitCode.CORRUPT)
    assert [row.state for row in view.rows[:4]] == [
        "corrupt",
        "missing",
        "inconclusive",
        "available",
    ]
    assert (len(view.rows), view.more_available) == (53, 30)
    assert view.rows[1].more_claims == 4
    assert max(map(len, view.rows[1].claims)) < 200
    assert [state for state, _ in view.legend] == [
        "corrupt",
        "missing",
        "inconclusive",
        "available",
    ]
    text = write_plain(view, quiet=False)
    assert "... and 30 more" in text
    assert "look at: s/tool-results/g" in text
    assert "rests on it: ... and 4 more" in text


def test_boxes_take_no_markup_from_anybody() -> None:
    source = _source(
        Reason.TRANSCRIPT_MISSING, "[red]x[/red]:y", Citation("[b]f", ":smile:", None, "[/]")
    )
    manner = Manner(boxes=True, color=True, quiet=False)
    view = view_of(AuditReport(targets=("[link=x]",), sources=(source,)), ExitCode.MISSING)
    drawn = capture(manner, lambda console: print_boxes(view, console, quiet=False))
    for text in ("[red]x[/red]:y", "[b]f", ":smile:", "[/]", "[link=x]"):
        assert text in drawn
    assert "\x1b[" in drawn
    plain = capture(
        replace(manner, color=False), lambda console: print_boxes(view, console, quiet=False)
    )
    assert "\x1b" not in plain


def _unreadable(count: int) -> AuditReport:
    finding = Finding("state_unreadable", Severity.ERROR, "states/a.json", message="why")
    return AuditReport(findings=(finding,) * count, finding_counts={"state_unreadable": count})


def test_many_findings_are_told_by_code() -> None:
    few = view_of(_unreadable(20), ExitCode.CORRUPT)
    assert (len(few.findings), few.groups) == (20, ())
    assert [code for code, _ in few.advice] == ["state_unreadable"]
    many = view_of(_unreadable(21), ExitCode.CORRUPT)
    assert (many.findings, many.more_findings, len(many.groups)) == ((), 0, 1)
    assert many.groups[0].places[0].message == "why"


def test_sources_are_counted_where_there_may_be_some() -> None:
    checked = CheckedTranscript("a.jsonl", "codex", ("s1",), 1, 0, 0)
    alone = AuditReport(transcripts=(checked,))
    assert view_of(alone, ExitCode.OK).counts == ""
    for report in (
        AuditReport(),
        replace(alone, uncited=1),
        replace(alone, not_checked=1),
        replace(alone, sources=(_source(Reason.TRANSCRIPT_MISSING),)),
    ):
        assert " source" in view_of(report, ExitCode.OK).counts


def test_what_rests_on_a_source_beyond_those_that_cite_it_is_told_and_counted() -> None:
    cited = tuple(Citation("states/a.json", f"f{number}", kind="fact") for number in range(7))
    direct = tuple(Consequence("fact", one.file, one.item) for one in cited)
    event = Consequence("text", "transcripts/s1.jsonl", "transcript:s1:2")
    beyond = tuple(
        Consequence("pending_item", "states/b.json", f"p{number}", steps=2, parent=7)
        for number in range(4)
    )
    source = AuditedSource(
        resolution_for("p", Reason.ARTIFACT_MISSING), cited, None, (*direct, event, *beyond), 3
    )
    (row,) = view_of(AuditReport(sources=(source,)), ExitCode.MISSING).rows
    assert row.claims[5:] == (
        "transcripts/s1.jsonl transcript:s1:2 (text, speaks of it)",
        "states/b.json p0 (pending item, 2 steps away)",
        "states/b.json p1 (pending item, 2 steps away)",
    )
    # Two that cite it, two beyond, and three that were never listed.
    assert row.more_claims == 7


def test_what_cites_a_source_is_not_counted_twice_where_the_list_was_cut() -> None:
    cited = tuple(Citation("states/a.json", f"f{number}", kind="fact") for number in range(9))
    direct = tuple(Consequence("fact", one.file, one.item) for one in cited[:6])
    source = AuditedSource(resolution_for("p", Reason.ARTIFACT_MISSING), cited, None, direct, 3)
    (row,) = view_of(AuditReport(sources=(source,)), ExitCode.MISSING).rows
    assert (len(row.claims), row.more_claims) == (5, 4)
