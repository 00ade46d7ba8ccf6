"""The HTML report: one well-formed file, on which whatever the audited files hold is only text."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from xml.etree.ElementTree import Element

import html5lib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenance.audit_report import (
    AuditedSource,
    AuditReport,
    CheckedReference,
    CheckedTranscript,
    Citation,
)
from provenance.consequences import Consequence
from provenance.findings import Finding, Location, Severity
from provenance.reports import _html_rows
from provenance.reports._html_text import cut
from provenance.resolution import REASON_STATUS, Reason, SourceResolution, SourceResolutionStatus
from provenance.waivers import Waiver, WaiverState
from tests.reports.html_samples import EXCERPT, HOSTILE, everything, many, source, write

_PIN = Citation("ctxaudit.lock", "pin", kind="pin")
_GOLDEN = Path(__file__).parent.parent / "data" / "html" / "everything.html"
_ELEMENTS = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "a",
        "svg",
        "defs",
        "g",
        "circle",
        "path",
        "rect",
        "line",
        "use",
        "header",
        "div",
        "p",
        "span",
        "small",
        "dl",
        "dt",
        "dd",
        "main",
        "section",
        "h1",
        "h2",
        "h3",
        "ul",
        "ol",
        "li",
        "b",
        "i",
        "nav",
        "code",
        "details",
        "summary",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "form",
        "fieldset",
        "legend",
        "label",
        "input",
        "article",
        "pre",
        "br",
        "footer",
        "script",
    ]
)
_ATTRIBUTES = frozenset(
    [
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "id",
        "class",
        "href",
        "aria-labelledby",
        "aria-label",
        "aria-hidden",
        "aria-sort",
        "role",
        "scope",
        "start",
        "open",
        "type",
        "value",
        "checked",
        "for",
        "hidden",
        "autocomplete",
        "spellcheck",
        "tabindex",
        "width",
        "height",
        "x",
        "y",
        "x1",
        "x2",
        "y1",
        "y2",
        "r",
        "d",
        "data-o",
        "data-s",
        "data-g",
        "data-w",
    ]
)


def _parse(page: str) -> Element:
    return html5lib.parse(page, namespaceHTMLElements=False)


def _elements(tree: Element, name: str) -> Iterator[Element]:
    return (one for one in tree.iter() if str(one.tag).rpartition("}")[2] == name)


def _text(tree: Element) -> str:
    return "".join(tree.itertext())


def _shown(value: str) -> str:
    """Say how a text reads on the page: hidden characters as escapes, what is long cut."""
    return "".join(
        f"\\u{ord(char):04x}" if re.match("[\x00-\x1f\x7f-\xa0\xad\ud800-\udfff]", char) else char
        for char in cut(value)
    )


def _check(page: str) -> Element:
    """Hold a page to what each page promises; gives it parsed."""
    assert page.isascii()
    tree = _parse(page)
    ids = [one.attrib["id"] for one in tree.iter() if "id" in one.attrib]
    assert len(set(ids)) == len(ids)
    for element in tree.iter():
        assert str(element.tag).rpartition("}")[2] in _ELEMENTS
        for key, value in element.attrib.items():
            assert key in _ATTRIBUTES
            if key == "id":
                assert re.fullmatch(r"[a-z][a-z-]*|[rc][0-9]+", value)
            elif key == "href":
                assert value[0] == "#"
                assert value[1:] in ids
            elif key in ("for", "aria-labelledby"):
                assert value in ids
    # One script, which stands last, and two styles: those that the policy names by their digests.
    policy = next(one for one in tree.iter("meta") if "http-equiv" in one.attrib).attrib["content"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    for rule, name in (("style-src", "style"), ("script-src", "script")):
        digests = {
            base64.b64encode(hashlib.sha256((one.text or "").encode()).digest()).decode()
            for one in _elements(tree, name)
        }
        assert set(rules[rule].split()) == {f"'sha256-{digest}'" for digest in digests}
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert "unsafe" not in policy
    return tree


def test_the_page_with_everything_on_it() -> None:
    report = everything()
    tree = _check(write(report))
    assert tree.attrib["lang"] == "en"
    assert len(list(tree.iter("h1"))) == 1
    shown = _text(tree)
    for words in (
        "Exit code 14",
        "Corrupt: some evidence is not what was cited.",
        "The run was interrupted",
        "Not checked: 3 sources",
        "Not looked at: 1 file",
        "Set by the environment, and weakens the verdict: CTXAUDIT_FAIL_ON",
        "Waived: 2 faults",
        "excerpts of the evidence",
        "The file's bytes are not the ones that were cited.",
        "known <b>\\u202e",
        "2027-01-31",
        "step 3, in snapshots/19.json",
        "SHA-256 " + "0a" * 32,
        "first line <b>",
        "7 more files that nothing cites",
    ):
        assert words in shown
    for value in HOSTILE:
        if value.isprintable():
            assert value in shown


def test_the_verdict_comes_first_and_says_what_to_do() -> None:
    tree = _check(write(everything()))
    (main,) = tree.iter("main")
    first = main[0]
    assert first.attrib["id"] == "verdict"
    steps = [_text(one) for one in first.iter("li")]
    assert any("Compare the file with a backup" in step for step in steps)
    assert "1 source: artifact_digest_mismatch" in _text(first)
    # What is waived is nothing to do.
    assert "unsupported_scheme" not in _text(first)
    assert [section.attrib["id"] for section in main if section.tag == "section"] == [
        "verdict",
        "numbers",
        "seals",
        "findings",
        "waivers",
        "consequences",
        "results",
        "claims",
        "sessions",
        "transcripts",
        "references",
    ]


def test_each_state_is_explained_where_its_number_stands() -> None:
    tree = _check(write(AuditReport()))
    tiles = [
        _text(one) for one in tree.iter("li") if one.attrib.get("class", "").startswith("tile")
    ]
    states = ("corrupt", "denied", "missing", "unsupported", "inconclusive", "available")
    assert all(tile.startswith(f"0 {state}") for tile, state in zip(tiles, states, strict=True))
    assert "The evidence is not there any more, or never was." in tiles[2]


@pytest.mark.parametrize(
    ("report", "code", "tone", "says"),
    [
        (
            AuditReport(sources=(source("transcript:a:1", Reason.VERIFIED_TRANSCRIPT_EVENT),)),
            0,
            "good",
            "Nothing: what was checked is as it was cited.",
        ),
        (
            AuditReport(sources=(source("transcript:a:1", Reason.TRANSCRIPT_MISSING),)),
            0,
            "care",
            "transcript_missing",
        ),
        (
            AuditReport(
                sources=(
                    source(
                        "transcript:a:1",
                        Reason.TRANSCRIPT_MISSING,
                        waiver=Waiver("r", "o", date(2027, 1, 1), pointer="transcript:a:1"),
                    ),
                )
            ),
            0,
            "care",
            "see below what was waived",
        ),
        (AuditReport(), 3, "care", "Check the target"),
        (
            AuditReport(sources=(source("transcript:a:1", Reason.SOURCE_READ_FAILED),)),
            4,
            "care",
            "it is no proof of tampering",
        ),
        (
            AuditReport(sources=(source("transcript:a:1", Reason.TRANSCRIPT_MISSING),)),
            12,
            "bad",
            "transcript_missing",
        ),
        (AuditReport(is_interrupted=True), 130, "care", "interrupted"),
    ],
)
def test_how_the_verdict_looks(report: AuditReport, code: int, tone: str, says: str) -> None:
    tree = _check(write(report, exit_code=code, verdict=f"Exit code {code}. In words."))
    (verdict,) = (one for one in tree.iter("section") if one.attrib.get("id") == "verdict")
    assert verdict.attrib["class"] == f"verdict {tone}"
    assert says in _text(verdict)
    (title,) = tree.iter("h1")
    assert _text(title) == "In words."


def test_an_exit_code_that_an_option_made_better_says_so() -> None:
    words = "Exit code 0, since --exit-zero was given; without it 14. Corrupt."
    (title,) = _check(write(AuditReport(), exit_code=0, verdict=words)).iter("h1")
    assert _text(title) == words


def test_rows_stand_with_the_worst_first_and_know_their_place_by_pointer() -> None:
    tree = _check(write(everything()))
    rows = [one for one in tree.iter("tr") if "data-s" in one.attrib]
    states = [row.attrib["data-s"] for row in rows]
    order = ("corrupt", "denied", "missing", "unsupported", "inconclusive", "available")
    assert states == sorted(states, key=order.index)
    styles = [one.text or "" for one in tree.iter("style")]
    for number, one in enumerate(everything().sources, 1):
        assert f"#r{number}{{--p:{number}" in styles[1]
        assert len([row for row in rows if row.attrib["id"] == f"r{number}"]) == 1
        if len(one.cited_by) == 6:
            assert f"#r{number}{{--p:{number};--c:-6}}" in styles[1]
    (waived,) = (row for row in rows if "data-w" in row.attrib)
    assert "memory:a:b" in _text(waived)
    # One that is waived comes after those of its state that count.
    counts = source("memory:z:z", Reason.UNSUPPORTED_SCHEME)
    report = replace(everything(), sources=(*everything().sources, counts))
    unsupported = [
        _text(row)
        for row in _parse(write(report)).iter("tr")
        if "unsupported" in row.attrib.values()
    ]
    assert [("memory:z:z" in row) for row in unsupported] == [True, False]


def test_consequences_stand_below_what_they_follow_from() -> None:
    tree = _check(write(everything()))
    (section,) = (one for one in tree.iter("section") if one.attrib.get("id") == "consequences")
    lost = next(one for one in section.iter("details") if "canary" in _text(one))
    assert "1 fact, 1 summary, 1 request and 1 pending item rest on it" in _text(lost)
    (top,) = (one for one in lost if one.tag == "ul")
    assert [_text(item).split()[0] for item in top if item.tag == "li"] == ["fact", "pending"]
    (second,) = (one for one in top[0] if one.tag == "ul")
    (third,) = (one for one in second[0] if one.tag == "ul")
    assert "turn 19" in _text(third[0])
    # Where nobody followed them, what cites the source stands there.
    assert "1 place in a text rests on it" in _text(section)


def test_a_long_chain_and_a_circle_are_shown_flat() -> None:
    chain = tuple(
        Consequence("summary", "r.json", f"n{place}", steps=place + 1, parent=place - 1 or None)
        for place in range(400)
    )
    circle = (
        Consequence("fact", "a.json", "self", parent=0),
        Consequence("fact", "a.json", "later", parent=7),
        Consequence("fact", "a.json", "negative", parent=-1),
    )
    for found in (chain, circle):
        lost = source("transcript:a:1", Reason.TRANSCRIPT_MISSING, consequences=found)
        tree = _check(write(AuditReport(sources=(lost,))))
        shown = _text(tree)
        for one in found:
            assert f"{one.item} step" in shown
        assert max(_depths(tree)) < 40


def _depths(tree: Element, depth: int = 0) -> Iterator[int]:
    yield depth
    for child in tree:
        yield from _depths(child, depth + 1)


def test_what_is_left_out_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    claims = tuple(Citation("s.json", f"f{number}", None, "t") for number in range(130))
    found = tuple(Finding("hard_link", Severity.INFO, f"{number}.txt") for number in range(1_000))
    report = AuditReport(
        sources=(
            source("transcript:a:1", Reason.TRANSCRIPT_MISSING, *claims),
            *(source(f"transcript:b:{n}", Reason.VERIFIED_TRANSCRIPT_EVENT) for n in range(1, 400)),
        ),
        findings=found,
        finding_counts={"hard_link": 5_000, "foreign_owner": 4},
    )
    shown = _text(_check(write(report)))
    assert "30 more: see the JSON report" in shown  # claims of one source
    assert "4,800 more: see the JSON report" in shown  # findings of one code
    assert "4 more: see the JSON report" in shown  # a code of which none is listed
    assert "199 more: see the table" in shown  # records of one session
    monkeypatch.setattr(_html_rows, "MOST_ROWS", 5)
    tree = _check(write(report))
    assert sum("data-s" in row.attrib for row in tree.iter("tr")) == 5
    assert "The worst 5 of 400; the JSON report has all." in _text(tree)


def test_timelines() -> None:
    tree = _check(write(everything()))
    (section,) = (one for one in tree.iter("section") if one.attrib.get("id") == "sessions")
    shown = [_text(one) for one in section.iter("article")]
    # Two targets were named, and the files say of neither that it is theirs.
    assert shown[0].startswith("run-1")
    assert "3 records cited: 1 inconclusive (record 41) and 2 available" in shown[0]
    assert "3 artifacts cited: 1 corrupt, 1 missing and 1 available" in shown[0]
    assert "1 record with a finding (record 7)" in shown[0]
    assert "record 52 2026-03-02T10:00:01.500Z" in shown[0]
    drawn = next(one for one in _elements(section, "svg") if one.attrib.get("role") == "img")
    assert "1 inconclusive (record 41)" in drawn.attrib["aria-label"]
    marks = [one.attrib["class"] for one in _elements(drawn, "use")]
    assert sorted(marks) == ["available", "available", "finding", "inconclusive"]
    # A session of which only a denied record is cited says no more than the pointer does.
    (denied,) = (one for one in shown if one.startswith("other-2"))
    assert "record 2 (the last one cited)" in denied


def test_two_targets_with_one_session_have_two_timelines() -> None:
    report = AuditReport(
        targets=("a", "a/b"),
        sources=(
            source("transcript:s:1", Reason.VERIFIED_TRANSCRIPT_EVENT, Citation("a/states/x.json")),
            source("transcript:s:1", Reason.TRANSCRIPT_MISSING, Citation("a/b/states/x.json")),
        ),
    )
    titles = [_text(one) for one in _check(write(report)).iter("h3")]
    assert titles == ["s in a/b", "s in a"]


def test_many_records_share_marks_and_the_worst_is_seen() -> None:
    places = [*range(1, 1_000, 3), 10**17]
    report = AuditReport(
        sources=tuple(
            source(
                f"transcript:s:{place}",
                Reason.TRANSCRIPT_INVALID_JSON
                if place == 301
                else Reason.VERIFIED_TRANSCRIPT_EVENT,
            )
            for place in places
        )
    )
    drawn = next(
        one for one in _elements(_check(write(report)), "svg") if one.attrib.get("role") == "img"
    )
    marks = [one.attrib["class"] for one in _elements(drawn, "use")]
    assert marks == ["available", "corrupt"]


def test_transcripts_alone_show_no_states_of_sources() -> None:
    report = replace(everything(), sources=(), not_checked=0)
    tree = _check(write(report))
    ids = {one.attrib.get("id") for one in tree.iter("section")}
    assert ids == {
        "verdict",
        "seals",
        "findings",
        "waivers",
        "sessions",
        "transcripts",
        "references",
    }


def test_excerpts_stand_only_where_the_report_has_them() -> None:
    without = tuple(
        replace(one, resolution=replace(one.resolution, excerpt=None))
        for one in everything().sources
    )
    page = write(replace(everything(), sources=without))
    assert "first line" not in page
    assert "excerpts of the evidence" not in page
    (shown,) = _check(write(everything())).iter("pre")
    # html5lib keeps the line end right after <pre> inside a cell; browsers drop it there too.
    assert _text(shown).removeprefix("\n") == EXCERPT.replace("\t", "\\u0009").replace(
        "\u202e", "\\u202e"
    )


def test_the_same_report_gives_the_same_page() -> None:
    assert write(everything()) == write(everything())


def test_the_golden_page() -> None:
    """The body as it was looked at; CTXAUDIT_TEST_WRITE_GOLDEN=1 writes it anew."""
    body = write(everything()).partition("<body>")[2].partition("<script>")[0]
    if os.environ.get("CTXAUDIT_TEST_WRITE_GOLDEN"):
        _GOLDEN.write_text(body, encoding="ascii")
    assert body == _GOLDEN.read_text(encoding="ascii")


def test_ten_thousand_results() -> None:
    page = write(many())
    assert page.count(' data-s="') == 10_000
    assert len(page) < 12_000_000
    ids = Counter(re.findall(r' id="([^"]+)"', page))
    assert set(ids.values()) == {1}


_texts = st.sampled_from(HOSTILE) | st.text(max_size=12)
_maybe = st.none() | _texts
_numbers = st.none() | st.integers(1, 10**18)
_waivers = st.none() | st.builds(Waiver, _texts, _texts, st.dates(), _maybe, _maybe, _maybe)
_consequences = st.lists(
    st.builds(
        Consequence, _texts, _texts, _maybe, _maybe, _maybe, st.integers(1, 9), st.integers(0, 3)
    ),
    max_size=3,
)


@st.composite
def _sources(draw: st.DrawFn) -> AuditedSource:
    reason = draw(st.sampled_from(Reason))
    answer = SourceResolution(
        draw(_texts | st.just("transcript:s:7") | st.just("artifact:s:n:123456789abc")),
        REASON_STATUS[reason],
        None,
        draw(_maybe),
        draw(_maybe),
        draw(st.sampled_from([str(reason), *HOSTILE])),
        draw(_maybe),
        draw(st.booleans()),
        None,
        draw(_maybe),
    )
    claims = draw(st.lists(st.builds(Citation, _texts, _maybe, _maybe, _maybe), max_size=5))
    found = draw(_consequences)
    return AuditedSource(answer, tuple(claims), draw(_waivers), tuple(found))


_places = st.builds(Location, _numbers, _maybe, _numbers)
_counts = st.dictionaries(_texts, st.integers(1, 9), max_size=2)
_reports = st.builds(
    AuditReport,
    targets=st.lists(_texts, max_size=2).map(tuple),
    started_at=_texts,
    finished_at=_texts,
    sources=st.lists(_sources(), max_size=3).map(tuple),
    findings=st.lists(
        st.builds(
            Finding, _texts, st.sampled_from(Severity), _texts, _places, _texts, _texts, _waivers
        ),
        max_size=3,
    ).map(tuple),
    finding_counts=_counts,
    transcripts=st.lists(
        st.builds(
            CheckedTranscript,
            _texts,
            _texts,
            st.lists(_texts, max_size=2).map(tuple),
            st.integers(0, 9),
            st.integers(0, 9),
            st.integers(0, 9),
            _counts,
            _maybe,
            _maybe,
            _maybe,
            _counts,
        ),
        max_size=2,
    ).map(tuple),
    references=st.lists(
        st.builds(
            CheckedReference,
            _texts,
            _places,
            _texts,
            st.sampled_from(SourceResolutionStatus),
            st.booleans(),
            _texts,
        ),
        max_size=2,
    ).map(tuple),
    reference_counts=st.dictionaries(
        st.sampled_from([str(state) for state in SourceResolutionStatus]), st.integers(1, 9)
    ),
    not_checked=st.integers(0, 2),
    is_interrupted=st.booleans(),
    weakened_by_environment=st.lists(_texts, max_size=2).map(tuple),
)


@settings(max_examples=40)
@given(_reports, st.sampled_from([0, 3, 4, 14, 130]), _texts)
def test_no_text_in_any_field_becomes_markup(report: AuditReport, code: int, words: str) -> None:
    tree = _check(write(report, exit_code=code, verdict=words))
    shown = _text(tree)
    for one in report.sources:
        said = [one.resolution.pointer, *(claim.text or "" for claim in one.cited_by)]
        for value in said:
            if value.isprintable() and value.isascii():
                assert _shown(value) in shown
    for finding in report.findings:
        if finding.message.isprintable() and finding.message.isascii():
            assert _shown(finding.message) in shown


def test_what_programs_take_for_a_command_is_none_on_the_page() -> None:
    command = "##[add-mask]x ##vso[task.x] ##teamcity[y] ###[z]"
    report = replace(
        everything(),
        targets=(command, "home"),
        sources=(
            source(
                f"memory:{command}",
                Reason.UNSUPPORTED_SCHEME,
                Citation(command, command, command, command),
            ),
            source(
                "transcript:s1:1",
                Reason.VERIFIED_TRANSCRIPT_EVENT,
                excerpt=f"{command}\n##[b]\u202e##[c]",
            ),
        ),
        findings=(Finding(command, Severity.ERROR, command, message=command),),
    )
    page = write(report, verdict=command)
    assert not re.search(r"##[A-Za-z]{0,20}\[", page)
    assert _text(_check(page)).count(command) >= 6


def test_every_waiver_stands_there_with_what_became_of_it() -> None:
    given = {
        WaiverState.USED: "in force",
        WaiverState.UNUSED: "unused",
        WaiverState.EXPIRED: "expired",
        WaiverState.NOT_KNOWN: "not known whether used",
    }
    waivers = tuple(
        Waiver(f"reason {state}", f"owner {state}", date(2026, 1, 2), pointer=f"p:{state}")
        for state in given
    )
    shown = _text(_check(write(AuditReport(waivers=waivers, waiver_states=tuple(given)))))
    for state, words in given.items():
        told = shown[shown.index(f"p:{state}") :]
        row = rf"p:{state}\s*{words}\s*reason {state}\s*owner {state}\s*2026-01-02"
        assert re.match(row, told)


def test_a_waiver_that_is_over_is_the_first_thing_to_do() -> None:
    faults = [Finding(f"code_{number}", Severity.ERROR, "a") for number in range(20)]
    over = Finding("waiver_expired", Severity.ERROR, "waivers.toml")
    page = write(AuditReport(findings=(*faults, over)))
    steps = page[page.index('class="steps"') :]
    assert steps.index("waiver_expired") < steps.index("code_0")
    assert page.count("waiver_expired</a></small>") == 1


def test_each_pin_is_a_claim_of_its_own() -> None:
    pins = [
        source(f"transcript:s1:{number}", Reason.TRANSCRIPT_MISSING, _PIN)
        for number in range(1, 10)
    ]
    shown = _text(_check(write(AuditReport(("home",), sources=tuple(pins)))))
    assert "9 claims, 9 at risk" in shown
    assert "place in a text" not in shown


def test_why_the_policy_denies_and_who_asked() -> None:
    denied = replace(source("transcript:hr:1", Reason.POLICY_DENIED), denied_why="<hr> files")
    shown = _text(_check(write(AuditReport(sources=(denied,), tenant="acme <1>"))))
    assert "Denied by the policy: <hr> files" in shown
    assert re.search(r"Asked as tenant\s*acme <1>", shown)
    plain = _text(_check(write(AuditReport(sources=(replace(denied, denied_why=""),)))))
    assert "Denied by the policy" not in plain
    assert "Asked as tenant" not in plain
