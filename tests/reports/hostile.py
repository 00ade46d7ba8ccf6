"""Reports whose every text wants to be something else: for the golden files and the properties.

Example:
    >>> hostile_report().summary.total
    10
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from hypothesis import strategies as st

from provenance.audit_report import (
    AuditedSource,
    AuditReport,
    CheckedReference,
    CheckedSeal,
    CheckedTranscript,
    Citation,
)
from provenance.consequences import Consequence
from provenance.findings import Finding, Location, Severity
from provenance.resolution import (
    INCONCLUSIVE_REASONS,
    REASON_STATUS,
    Quiescence,
    Reason,
    SourceResolution,
    SourceResolutionStatus,
    Strength,
    resolution_for,
)
from provenance.waivers import Waiver, WaiverState

__all__ = ["HOSTILE", "REPORTS", "TEXTS", "describe", "hostile_report"]

_TIME = "2026-01-01T00:00:00.000Z"
_UNTIL = date(2026, 12, 31)
_OVER = date(2025, 12, 31)

HOSTILE = (
    "",
    " ",
    "\n",
    "`",
    "``",
    "a`b",
    "` |",
    "```\n# up",
    "\\`",
    "a|b\n|-|-|",
    "<script>alert(1)</script>",
    "</summary></details><img src=x onerror=alert(1)>",
    "<!-- ",
    "]]></failure><testcase/>",
    '" onload="x',
    "&lt;&#0;&quot;",
    "![i](http://host/x.png)",
    "[l](javascript:alert(1))",
    "<http://host>",
    "https://host/path",
    "www.host.example",
    "@everyone and #1",
    "- [ ] do",
    "# head",
    "> quote",
    "***bold*** ~~gone~~",
    "::error::x",
    "::set-output name=a::b",
    "x\n::add-mask::y",
    "x\r\n::stop-commands::z",
    ":",
    "::",
    ":::",
    "%0A::warning::w",
    "##[set-env name=PATH]x",
    "##vso[task.setvariable variable=a]b",
    "a,file=b,line=1::c",
    "a=b",
    "{0} {{1}}",
    "\x00\x01\x1b[31m\x7f\x85",
    "\u2028\u2029\u202e\u200b\ufeff",
    "\ud800",
    "\udcff",
    "\ufffe\uffff",
    "\U0001fffe",
    "/etc/passwd",
    "../../up",
    "C:\\x",
    "line 7",
    "-",
    "--pointer",
    "caf\u00e9/\U0001f600.jsonl",
    "x" * 3_000,
    "`" * 700,
)


def describe(code: str) -> tuple[str, str, str] | None:
    """Give texts that no page of ours changes."""
    if code == "artifact_missing":
        return "It is not there. Nobody knows why.", "It arises.", "Do something."
    return None


_GIVEN = (
    (
        Waiver("lost </skipped> with `disk`", "@ops|all", _UNTIL, pointer="transcript:s1:4"),
        WaiverState.USED,
    ),
    (
        Waiver("it\nran ::error::out", "ops", _OVER, pointer="transcript:s1:9", target="home"),
        WaiverState.EXPIRED,
    ),
    (
        Waiver("no <more> needed", "ops", _UNTIL, code="torn_line", target="other/x.jsonl"),
        WaiverState.UNUSED,
    ),
)


def hostile_report() -> AuditReport:
    """Give one report that has everything in it, for the golden files."""
    gone = resolution_for("artifact:s1:a.txt:0123456789ab", Reason.ARTIFACT_MISSING)
    citations = (
        Citation(
            "states/a|b`.json",
            "f`1\n::error::x",
            "run-1",
            "It <b>is</b> @so\u202e ##[add-mask]x.",
            "fact",
        ),
        Citation("receipts/r.json", "message 1 block 0"),
    )
    consequences = (
        Consequence("fact", citations[0].file, citations[0].item, "run-1", citations[0].text),
        Consequence("text", "receipts/r.json", "message 1 block 0"),
        Consequence("summary", "receipts/r.json", "message 0 block 0", steps=2, parent=1),
        Consequence("summary", "receipts/s]]>.json", "message 0 block 0", steps=3, parent=2),
        Consequence("request", "snapshots/q.json", None, "run-1", steps=4, parent=3),
    )
    sources = [
        AuditedSource(gone, citations, None, consequences, 7),
        AuditedSource(
            resolution_for("artifact:s1:b.txt:0123456789ab", Reason.ARTIFACT_DIGEST_MISMATCH),
            (Citation("notes.md", "line 7", None, "see ::set-output name=a::b"),),
            None,
            (Consequence("text", "notes.md", "line 7", None, "see ::set-output name=a::b"),),
        ),
        AuditedSource(
            resolution_for("transcript:s1:4", Reason.TRANSCRIPT_MISSING),
            (),
            Waiver("lost </skipped> with `disk`", "@ops|all", _UNTIL, pointer="transcript:s1:4"),
        ),
        AuditedSource(
            resolution_for("transcript:s1:5", Reason.POLICY_DENIED),
            (Citation("ctxaudit.lock", "pin", kind="pin"),),
            denied_why="hr ::error::x ##[add-mask]y",
        ),
        AuditedSource(resolution_for("transcript:s1:6", Reason.SOURCE_READ_FAILED)),
        AuditedSource(resolution_for("x<y>\n::error::[a](b)\x00\ud800", Reason.MALFORMED_POINTER)),
        AuditedSource(
            SourceResolution(
                "transcript:s1:7",
                SourceResolutionStatus.AVAILABLE,
                "transcript",
                "0" * 64,
                "what it says",
                Reason.VERIFIED_TRANSCRIPT_EVENT,
                Strength.POSITION,
                True,
                Quiescence.STAT,
            ),
            (Citation("states/a|b`.json", "f2", "run-1", "It is.", "fact"),),
        ),
    ]
    findings = (
        Finding("torn_line", Severity.ERROR, "home/a.jsonl", Location(4, None, 5), "line: torn"),
        Finding(
            "outside_code",
            Severity.ERROR,
            "home/<img>\n.jsonl",
            Location(native_id="@id `1`"),
            "got ]]> ::error::x %0A ![i](u)",
        ),
        Finding(
            "waived_code",
            Severity.ERROR,
            "home/b.jsonl",
            message="field: expected one, got two",
            waiver=Waiver("known", "ops", _UNTIL, code="waived_code", target="home/b.jsonl"),
        ),
        Finding(
            "interrupted_call", Severity.WARNING, "other/c.jsonl", Location(2, None, 2), "call"
        ),
        Finding("hard_link", Severity.INFO, "home/d", message="links: expected 1, got 2"),
        Finding(
            "waiver_expired", Severity.ERROR, "waivers.toml", Location(line=7), "waiver 2: over"
        ),
    )
    transcripts = (
        CheckedTranscript("home/e.jsonl", "native", ("s1",), 3, 1, 1, {}, _TIME, _TIME, "0" * 64),
    )
    references = (
        CheckedReference(
            "home/e.jsonl", Location(line=1), "file", SourceResolutionStatus.MISSING, True, "gone"
        ),
    )
    return AuditReport(
        targets=("home", "other"),
        started_at=_TIME,
        finished_at="2026-01-01T00:00:01.500Z",
        sources=tuple(sources),
        findings=findings,
        finding_counts={
            "hard_link": 1,
            "interrupted_call": 1,
            "outside_code": 1,
            "torn_line": 3,
            "waiver_expired": 1,
            "waived_code": 1,
        },
        waived_counts={"waived_code": 1},
        transcripts=transcripts,
        references=references,
        reference_counts={"missing": 1},
        seals=(
            CheckedSeal(
                "home",
                "ctxaudit.example/a+0123abcd",
                "ctxaudit.example/a",
                3,
                41,
                "0" * 64,
                is_sound=True,
                denied=2,
            ),
            CheckedSeal(HOSTILE[0], HOSTILE[1], None, 0, 0, None, False),
        ),
        not_checked=3,
        transcripts_not_checked=2,
        uncited=1,
        is_interrupted=True,
        weakened_by_environment=("CTXAUDIT_FAIL_ON",),
        waivers=tuple(one for one, _ in _GIVEN),
        waiver_states=tuple(state for _, state in _GIVEN),
        tenant="acme ##[x]",
        outside_names=frozenset({"waivers.toml"}),
    )


TEXTS = st.sampled_from(HOSTILE) | st.text(max_size=12)
_maybe = st.none() | TEXTS
_numbers = st.none() | st.integers(-1, 3) | st.integers(-(10**30), 10**30)
_waivers = st.none() | st.builds(Waiver, TEXTS, TEXTS, st.just(_UNTIL), pointer=TEXTS)
_severities = st.sampled_from(Severity)
_findings = st.builds(
    Finding,
    TEXTS,
    _severities,
    TEXTS,
    st.builds(Location, _numbers, _maybe, _numbers),
    TEXTS,
    waiver=_waivers,
)
_kinds = st.sampled_from(["fact", "pending_item", "evidence", "summary", "request", "pin", "text"])


@st.composite
def _sources(draw: st.DrawFn) -> AuditedSource:
    reason = draw(st.sampled_from(Reason))
    status = REASON_STATUS[reason]
    is_good = status is SourceResolutionStatus.AVAILABLE
    resolution = SourceResolution(
        draw(TEXTS),
        status,
        reason=draw(st.just(reason) | _maybe),
        conclusive=reason not in INCONCLUSIVE_REASONS,
        evidence_sha256="0" * 64 if is_good else None,
    )
    cited = draw(st.lists(st.builds(Citation, TEXTS, _maybe, _maybe, _maybe, _kinds), max_size=2))
    found: list[Consequence] = []
    if not is_good:
        for one in cited:
            found.append(Consequence(one.kind, one.file, one.item, one.session, one.text))
        for _ in range(draw(st.integers(0, 5)) if found else 0):
            parent = draw(st.integers(0, len(found) - 1))
            one = draw(st.builds(Consequence, _kinds, TEXTS, _maybe))
            found.append(replace(one, steps=found[parent].steps + 1, parent=parent))
    return AuditedSource(
        resolution,
        tuple(cited),
        None if is_good else draw(_waivers),
        tuple(found),
        draw(st.integers(0, 3)),
        draw(st.none() | TEXTS),
        "" if is_good else draw(TEXTS),
    )


_codes = st.dictionaries(TEXTS, st.integers(1, 20), max_size=3)
REPORTS = st.builds(
    AuditReport,
    targets=st.lists(TEXTS, max_size=3, unique=True).map(tuple),
    started_at=st.just(_TIME) | TEXTS,
    finished_at=st.just(_TIME) | TEXTS,
    sources=st.lists(_sources(), max_size=4).map(tuple),
    findings=st.lists(_findings, max_size=4).map(tuple),
    finding_counts=_codes,
    waived_counts=_codes,
    not_checked=st.integers(0, 2),
    transcripts_not_checked=st.integers(0, 2),
    is_interrupted=st.booleans(),
    weakened_by_environment=st.lists(TEXTS, max_size=2).map(tuple),
    waivers=st.lists(_waivers.filter(bool), max_size=2).map(tuple),
    waiver_states=st.lists(st.sampled_from(WaiverState), max_size=2).map(tuple),
    tenant=_maybe,
    outside_names=st.frozensets(TEXTS, max_size=1),
)
