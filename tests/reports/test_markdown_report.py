"""The Markdown report: what the files held stays in code spans, as a parser reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from markdown_it import MarkdownIt
from markdown_it.token import Token

from provenance.audit_report import AuditedSource, AuditReport, CheckedTranscript, Citation
from provenance.consequences import Consequence
from provenance.findings import Finding, Severity
from provenance.reports import write_markdown
from provenance.reports._markdown_text import code_span, plain
from provenance.reports._runner_commands import part_commands
from provenance.resolution import Reason, resolution_for
from tests.reports.hostile import REPORTS, TEXTS, describe, hostile_report

# Tables, struck text and bare links like on GitHub, and HTML as it stands.
_PARSER = MarkdownIt("gfm-like", {"html": True})
_OUR_HTML = ("<details><summary>", "</details>")


def _write(report: AuditReport, **options: Any) -> str:
    return "".join(
        write_markdown(report, **{"describe": describe, "verdict": "It fails."} | options)
    )


def _tokens(text: str) -> Iterator[Token]:
    for token in _PARSER.parse(text):
        yield token
        yield from token.children or ()


def _check(text: str) -> list[str]:
    """Hold a report to what we write ourselves; give what stands in its code spans."""
    spans = []
    for token in _tokens(text):
        match token.type:
            case "code_inline":
                spans.append(token.content)
            case "html_block":
                assert token.content.strip().startswith(_OUR_HTML), token.content
                assert token.content.count("<") <= 3
            case "text":
                assert token.content.isascii()
                assert not set("@<>`#") & set(token.content), token.content
                assert "http" not in token.content
            case kind:
                assert not kind.startswith(("link", "image", "html_inline", "s_", "em_")), kind
                assert kind not in {"fence", "code_block", "blockquote_open", "hr", "hardbreak"}
    return spans


@given(REPORTS)
def test_whatever_the_files_held_it_stays_in_code_spans(report: AuditReport) -> None:
    text = _write(report)
    _check(text)
    html = "".join(token.content for token in _tokens(text) if token.type == "html_block")
    assert html.count("<details>") == html.count("</details>")
    headings = [token.tag for token in _tokens(text) if token.type == "heading_open"]
    assert headings[0] == "h1"
    assert set(headings[1:]) <= {"h2"}
    assert len(text) < 65_536


@given(TEXTS)
def test_a_text_comes_out_as_it_went_in(text: str) -> None:
    for around in ("{}", "- x {} y", "- a\n  - {}: b", "**w** ({}), {}"):
        spans = _check(around.replace("{}", code_span(text)))
        if text.isprintable() and text.strip() and len(text) <= 500:
            assert set(spans) == {part_commands(" ".join(text.split()))}


def test_verdict_first_then_numbers_then_faults() -> None:
    text = _write(hostile_report())
    places = [
        text.index(part)
        for part in (
            "# ctxaudit: `home`, `other`\n\n**It fails.**\n",
            "Interrupted",
            "| corrupt | 2 |",
            "| **all** | **10** |",
            "## Sources that are not available: 5",
            "- **corrupt** `artifact:s1:b.txt:0123456789ab`",
            "- **missing** `artifact:s1:a.txt:0123456789ab`",
            "## Errors: 3",
            "<summary>Warnings: 1</summary>",
            "## Waivers: 3\n\n- **in force** `transcript:s1:4`",
            "<summary>Waived: 2</summary>",
        )
    ]
    assert places == sorted(places)


def test_a_waiver_says_who_and_why() -> None:
    assert "  waived by `@ops|all` until 2026-12-31: `` lost </skipped> with `disk` ``" in _write(
        hostile_report()
    )


def test_consequences_say_through_what() -> None:
    text = _write(hostile_report())
    assert "<details><summary>Rests on it: 12 or more</summary>" in text
    assert (
        "  - summary `message 0 block 0` in `receipts/s]]>.json`, 3 steps away, "
        "through `message 0 block 0` in `receipts/r.json`\n" in text
    )
    assert "  - 7 more, at least\n" in text
    # A few stand open.
    assert "  Rests on it:\n  - text `line 7` in `notes.md`: `see ::set-output name=a::b`\n" in text


def test_no_evidence_stands_in_it() -> None:
    assert "what it says" not in _write(hostile_report())


@pytest.mark.parametrize("count", [100, 400, 5_000])
def test_what_does_not_fit_is_counted(count: int) -> None:
    sources = []
    for number in range(count):
        found = Consequence("fact", "states/a.json", f"f{number}", text="`é@" * 100)
        citation = Citation(found.file, found.item, None, found.text, "fact")
        answer = resolution_for(
            f"artifact:s1:{number:05}.txt:0123456789ab", Reason.ARTIFACT_MISSING
        )
        sources.append(AuditedSource(answer, (citation,), None, (found,)))
    findings = tuple(
        Finding("x" * 30, severity, "a" * 300, message="m" * 500)
        for severity in Severity
        for _ in range(count)
    )
    text = _write(AuditReport(("home",), sources=tuple(sources), findings=findings))
    assert len(text) < 65_536
    _check(text)
    assert "| missing | " in text
    shown = text.count("- **missing**")
    told = 0
    for line in text.split("\n"):
        if line.endswith("for which there is no room here: see `--format json`"):
            told += int(line.removeprefix("- ").partition(" ")[0].replace(",", ""))
    assert shown + text.count("- **error**") + text.count("- **warning**") + told == 3 * count
    assert shown > 50


def test_names_without_number_are_counted_too() -> None:
    names = tuple("x" * 200 + str(number) for number in range(5_000))
    counts = dict.fromkeys(names, 1)
    report = AuditReport(names, finding_counts=counts, weakened_by_environment=names)
    text = _write(report)
    assert len(text) < 65_536
    assert "4,990 more" in text


def test_our_own_words_are_no_markup() -> None:
    words = "a_b *c* [d](e) <f> `g` #1 @h ~~i~~ | j & k !"
    (paragraph,) = [token for token in _PARSER.parse(plain(words)) if token.type == "inline"]
    assert "".join(token.content for token in paragraph.children or ()) == words
    assert {token.type for token in paragraph.children or ()} <= {"text", "text_special"}


def test_a_run_over_transcripts_alone_has_no_table_of_sources() -> None:
    one = CheckedTranscript("a.jsonl", "native", ("s",), 1, 0, 0)
    assert "| sources |" not in _write(AuditReport(("logs",), transcripts=(one,)))
    assert "| sources |" in _write(AuditReport(("home",)))
