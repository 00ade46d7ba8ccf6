"""Reports for the page: one with everything on it and hostile text everywhere, one with 10,000."""

from __future__ import annotations

from datetime import date

from provenance.audit.explanations import find_explanation
from provenance.audit_report import (
    AuditedSource,
    AuditReport,
    CheckedReference,
    CheckedSeal,
    CheckedTranscript,
    Citation,
    pointer_order,
)
from provenance.consequences import Consequence
from provenance.findings import Finding, Location, Severity
from provenance.reports import write_html
from provenance.resolution import (
    INCONCLUSIVE_REASONS,
    REASON_STATUS,
    Reason,
    SourceResolution,
    SourceResolutionStatus,
)
from provenance.waivers import Waiver, WaiverState

# What would run, leave its place, fetch something or deceive the eye, if it were not only text.
HOSTILE = (
    "<script>alert('ran')</script>",
    "<img src=x onerror=alert('ran')>",
    '"><svg onload=alert(1)>',
    "' autofocus onfocus='alert(1)",
    "javascript:alert('ran')",
    "</style></title></pre></textarea><b>out</b>",
    "<!-- --><![CDATA[",
    "&lt;i&gt; &amp;amp; &#x3c;",
    "\u202egnp.exe\u2066 \u200bzero\u00adwidth\ufeff",
    "a\x00b\x1b[31mc\rd\ne\x85f\u2028g",
    "\ud800half\udfff",
    "<meta http-equiv=refresh content='0;url=http://host.example/'>",
    "<link rel=stylesheet href=//host.example/x.css><style>*{display:none}</style>",
    "{{7*7}} ${7*7} <%= 7 %>",
    "\u05d0\u05d1\u05d2 \u0639\u0631\u0628 \U0001f600 e\u0301",
)
EXCERPT = "first line <b>\n\n\tthird\u202e line</pre><script>alert('ran')</script>\n"
STARTED, FINISHED = "2026-03-02T10:00:00.000Z", "2026-03-02T10:00:01.500Z"
VERDICT = "Exit code 14. Corrupt: some evidence is not what was cited."


def describe(code: str) -> tuple[str, str, str] | None:
    page = find_explanation(code)
    return None if page is None else (page.meaning, page.arises, page.remedy)


def write(report: AuditReport, *, exit_code: int = 14, verdict: str = VERDICT) -> str:
    return "".join(
        write_html(
            report,
            version="1.2.3",
            describe=describe,
            exit_code=exit_code,
            verdict_words=verdict,
        )
    )


def source(
    pointer: str,
    reason: Reason,
    *cited_by: Citation,
    waiver: Waiver | None = None,
    consequences: tuple[Consequence, ...] = (),
    excerpt: str | None = None,
) -> AuditedSource:
    status = REASON_STATUS[reason]
    is_there = status is SourceResolutionStatus.AVAILABLE
    kind = pointer.partition(":")[0]
    resolution = SourceResolution(
        pointer,
        status,
        kind if kind in ("transcript", "artifact") else None,
        "0a" * 32 if is_there else None,
        excerpt,
        reason,
        ("position" if kind == "transcript" else "full") if is_there else None,
        reason not in INCONCLUSIVE_REASONS,
        "stat" if is_there else None,
    )
    return AuditedSource(resolution, cited_by, waiver, consequences)


def everything() -> AuditReport:
    """Give a report in which every section has something to say, most of it hostile."""
    state = "states/run-1.json"

    def claim(item: str, text: str | None = None, file: str = state) -> Citation:
        return Citation(file, item, "run-1", text)

    waiver = Waiver("known <b>\u202e", '"><i>ops', date(2027, 1, 31), pointer="memory:a:b")
    other = Waiver("old writer", "ci", date(2026, 12, 24), code="hard_link", target=HOSTILE[0])
    chain = (
        Consequence("fact", state, HOSTILE[0], "run-1", HOSTILE[8]),
        Consequence("summary", "receipts/7.json", HOSTILE[1], None, HOSTILE[5], 2, 0),
        Consequence("request", "snapshots/19.json", "turn 19", HOSTILE[3], None, 3, 1),
        Consequence("pending_item", state, "p1", "run-1", "Roll it back."),
    )
    digest = "10e39ca188c46a60182ee708a31d3c1c4a403d7462df07a6a7d905ef2c42b7ee"
    sources = [
        source(
            f"artifact:run-1:canary.txt:{digest}",
            Reason.ARTIFACT_DIGEST_MISMATCH,
            claim("f1", "It rose to 4.7%."),
            consequences=chain,
        ),
        source("transcript:other-2:2", Reason.POLICY_DENIED, claim("f2")),
        source("artifact:run-1:lost.txt:5da271481f64", Reason.ARTIFACT_MISSING, claim("f3", "x")),
        source("memory:a:b", Reason.UNSUPPORTED_SCHEME, claim("f4", "y"), waiver=waiver),
        source("transcript:run-1:41", Reason.SOURCE_CHANGED_DURING_READ, claim("f5", "z")),
        source(
            "transcript:run-1:8",
            Reason.VERIFIED_TRANSCRIPT_EVENT,
            *(claim(f"g{number}", f"Fact {number}.") for number in range(6)),
            excerpt=EXCERPT,
        ),
        source("transcript:run-1:13", Reason.VERIFIED_TRANSCRIPT_EVENT, claim("h", "Fact h.")),
        source(f"artifact:run-1:log.txt:{digest}", Reason.VERIFIED_ARTIFACT),
        *(
            source(f"{text}:{number}", Reason.MALFORMED_POINTER, claim(text, text, text))
            for number, text in enumerate(HOSTILE)
        ),
    ]
    findings = (
        Finding("torn_line", Severity.ERROR, "transcripts/run-1.jsonl", Location(line=7), "half"),
        *(
            Finding("hard_link", Severity.WARNING, text, Location(3, text, 3), text)
            for text in HOSTILE[1:]
        ),
        Finding("hard_link", Severity.WARNING, HOSTILE[0], waiver=other),
        Finding("foreign_owner", Severity.INFO, "a.txt", message="owner: expected 0, got 1"),
        Finding("<made up>", Severity.WARNING, "b.txt"),
    )
    transcripts = (
        CheckedTranscript(
            "transcripts/run-1.jsonl",
            "native",
            ("run-1",),
            52,
            12,
            11,
            {},
            STARTED,
            FINISHED,
            digest,
            {"torn_line": 1, "<made up>": 2},
        ),
        CheckedTranscript(HOSTILE[0], HOSTILE[1], HOSTILE, 1, 0, 0, {HOSTILE[2]: 1}),
    )
    references = tuple(
        CheckedReference(
            text, Location(2, text, 2), text, SourceResolutionStatus.MISSING, True, text
        )
        for text in HOSTILE[:3]
    )
    return AuditReport(
        targets=("home", HOSTILE[0]),
        started_at=STARTED,
        finished_at=FINISHED,
        sources=tuple(sorted(sources, key=lambda one: pointer_order(one.resolution.pointer))),
        findings=findings,
        finding_counts={"torn_line": 1, "hard_link": 20, "foreign_owner": 1, "<made up>": 1},
        waived_counts={"hard_link": 1},
        transcripts=transcripts,
        references=references,
        reference_counts={"missing": 3, "available": 9},
        seals=(
            CheckedSeal(
                "home",
                "ctxaudit.example/a+0123abcd",
                "ctxaudit.example/a",
                3,
                41,
                digest,
                is_sound=True,
                denied=2,
            ),
            CheckedSeal(HOSTILE[0], HOSTILE[1], None, 0, 0, None, False),
        ),
        waivers=(
            waiver,
            other,
            Waiver("it ran out", "ops", date(2026, 1, 1), pointer="memory:c:d"),
        ),
        waiver_states=(WaiverState.USED, WaiverState.USED, WaiverState.EXPIRED),
        tenant=f"acme {HOSTILE[0]}",
        not_checked=3,
        transcripts_not_checked=1,
        uncited=7,
        is_interrupted=True,
        weakened_by_environment=("CTXAUDIT_FAIL_ON",),
    )


def many(number: int = 10_000) -> AuditReport:
    """Give a report with so many sources in forty sessions, one in ten of them not available."""
    faults = (Reason.TRANSCRIPT_EVENT_MISSING, Reason.TRANSCRIPT_INVALID_JSON)
    sources = []
    for place in range(number):
        session, ordinal = f"run-{place % 40}", place // 40 + 1
        reason = Reason.VERIFIED_TRANSCRIPT_EVENT
        if place % 10 == 3:
            reason = faults[place % 4 == 3]
        claims = [Citation(f"states/{session}.json", f"f{place}", session, f"Fact {place}.")]
        sources.append(source(f"transcript:{session}:{ordinal}", reason, *claims))
    sources.sort(key=lambda one: pointer_order(one.resolution.pointer))
    return AuditReport(("home",), STARTED, FINISHED, tuple(sources))
