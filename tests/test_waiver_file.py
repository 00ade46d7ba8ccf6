"""Waiver files: strict reading, the line and key of each error, and a round trip."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.waiver_file import WaiverError, parse_waivers, write_waivers
from provenance.waivers import Waiver

_SOURCE = """[[waiver]]
pointer = "transcript:s1:3"
reason = "lost with the disk"
owner = "ops"
expires = 2027-01-31
"""
_FINDING = """
[[waiver]]
code = "torn_line"
target = "logs/a.jsonl"
reason = "a crash"
owner = "ops"
expires = "2027-02-01"
"""


def test_both_kinds() -> None:
    first, second = parse_waivers(_SOURCE + _FINDING)
    assert first == (
        Waiver("lost with the disk", "ops", date(2027, 1, 31), pointer="transcript:s1:3"),
        1,
        1,
    )
    assert second == (
        Waiver("a crash", "ops", date(2027, 2, 1), code="torn_line", target="logs/a.jsonl"),
        2,
        7,
    )


@pytest.mark.parametrize("text", ["", "# none any more\n", "waiver = []"])
def test_a_file_may_hold_none(text: str) -> None:
    assert parse_waivers(text) == ()


def test_one_fault_may_be_waived_in_two_places_and_two_faults_in_one() -> None:
    other = _FINDING.replace("a.jsonl", "b.jsonl")
    third = _FINDING.replace("torn_line", "nul_line")
    assert len(parse_waivers(_SOURCE + _FINDING + other + third)) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[waiver]", "line 1: waiver: expected a list"),
        ("[[waivers]]", "line 1: waivers: expected a known key"),
        ("[[waiver]]\n", "line 1: waiver 1: reason: expected a value, got none"),
        (_SOURCE.replace('owner = "ops"\n', ""), "line 1: waiver 1: owner: expected a value"),
        (_SOURCE.replace("expires = 2027-01-31", ""), "line 1: waiver 1: expires: expected a v"),
        (_SOURCE.replace('"lost with the disk"', '" \\t"'), "line 3: waiver 1: reason: expected a"),
        (_SOURCE.replace('"ops"', '""'), "line 4: waiver 1: owner: expected a text of 1"),
        (_SOURCE.replace('"ops"', "7"), "line 4: waiver 1: owner: expected a text, got 7"),
        (_SOURCE.replace('"ops"', f'"{"x" * 2001}"'), "line 4: waiver 1: owner: expected a text"),
        (
            _SOURCE.replace("2027-01-31", '"soon"'),
            "line 5: waiver 1: expires: expected a date like",
        ),
        (_SOURCE.replace("2027-01-31", '"2027-02-30"'), "line 5: waiver 1: expires: expected a da"),
        (_SOURCE.replace("2027-01-31", '"2027-1-3"'), "line 5: waiver 1: expires: expected a date"),
        (_SOURCE.replace("2027-01-31", "2027"), "line 5: waiver 1: expires: expected a date like"),
        (_SOURCE.replace("2027-01-31", "2027-01-31T00:00:00"), "line 5: waiver 1: expires: expec"),
        (_SOURCE.replace("2027-01-31", "2027-01-31T00:00:00Z"), "line 5: waiver 1: expires: exp"),
        (_SOURCE.replace("2027-01-31", "2027-02-30"), "line 5: expires: expected TOML"),
        (_SOURCE + 'code = "torn_line"', "line 6: waiver 1: code: expected a pointer, or a code"),
        ("expires = 2027-01-31\n" + _SOURCE, "line 1: expires: expected a known key, got an unkn"),
        ('reason = "x"\n' + _SOURCE, "line 1: reason: expected a known key, got an unknown one"),
        ('expires = "x"', "line 1: expires: expected a known key, got an unknown one"),
        ("waiver = [1]", "line 1: waiver 1: expected"),
        (
            _SOURCE.replace("lost with the disk", "\\u200b\\u3164 \\u2800"),
            "line 3: waiver 1: reason: expected a text of 1 to 2000 characters, got one in wh",
        ),
        (_SOURCE + 'because = "x"', "line 6: waiver 1: because: expected a known key"),
        (
            _SOURCE + _SOURCE,
            "line 7: waiver 2: pointer: expected one waiver of the same, got a se",
        ),
        (
            _FINDING + _FINDING,
            "line 10: waiver 2: code: expected one waiver of the same, got a se",
        ),
        (
            _SOURCE.replace("transcript:s1:3", "artifact:s:a:0123456789AB")
            + _SOURCE.replace("transcript:s1:3", "artifact:s:a:0123456789ab"),
            "line 7: waiver 2: pointer: expected one waiver of the same",
        ),
        (
            _FINDING.replace('target = "logs/a.jsonl"\n', ""),
            "line 2: waiver 1: target: expected the target of the code, got none",
        ),
        (
            _FINDING.replace('code = "torn_line"\n', ""),
            "line 2: waiver 1: pointer: expected a pointer, or a code with a target, got neither",
        ),
        (_FINDING.replace("torn_line", "*"), "line 3: waiver 1: code: expected the code of a fin"),
        (_FINDING.replace("torn_line", "waiver_expired"), "line 3: waiver 1: code: expected a co"),
        (_FINDING.replace("torn_line", "waiver_unused"), "line 3: waiver 1: code: expected a cod"),
    ],
)
def test_what_is_not_understood_is_refused_by_line_and_key(text: str, message: str) -> None:
    with pytest.raises(WaiverError) as refused:
        parse_waivers(text)
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "pointer",
    ["artifact:*", "transcript:s*:3", "transcript:s1:?", "*", "art*:s1:x", "transcript:[a-z]:1"],
)
def test_a_pattern_is_no_pointer(pointer: str) -> None:
    text = _SOURCE.replace("transcript:s1:3", pointer)
    with pytest.raises(WaiverError) as refused:
        parse_waivers(text)
    assert str(refused.value) == (
        f"line 2: waiver 1: pointer: expected one pointer and no pattern, got {pointer!r}"
    )


@pytest.mark.parametrize("pointer", ["https://x/?q=*", "transcript:s1:x", "nothing"])
def test_a_citation_that_is_malformed_or_of_another_scheme_may_be_waived(pointer: str) -> None:
    (entry,) = parse_waivers(_SOURCE.replace("transcript:s1:3", pointer))
    assert entry.waiver.pointer == pointer


def test_a_code_that_nothing_has_is_refused_by_line_and_key() -> None:
    assert len(parse_waivers(_FINDING, is_finding={"torn_line"}.__contains__)) == 1
    with pytest.raises(WaiverError) as refused:
        parse_waivers(_FINDING, is_finding={"nul_line"}.__contains__)
    assert str(refused.value) == (
        "line 3: waiver 1: code: expected the code of a finding (a source is waived by its "
        "pointer), got 'torn_line'"
    )


@pytest.mark.parametrize(
    "text", ["waiver = " + "[" * 100_000, "waiver = " + "9" * 5_000, "# " + "x" * (1 << 20), "\0"]
)
def test_hostile_toml_is_refused_and_nothing_else_is_raised(text: str) -> None:
    with pytest.raises(WaiverError):
        parse_waivers(text)


@given(st.text(max_size=300) | st.text("[]waiver=\"'\n #1-", max_size=100))
def test_any_text_is_read_or_refused(text: str) -> None:
    for whole in (text, _SOURCE + text):
        try:
            parse_waivers(whole)
        except WaiverError as error:
            said = str(error)
        else:
            continue
        assert "\n" not in said


_TEXTS = st.text(min_size=1, max_size=20).filter(
    lambda text: bool(text.strip()) and not any("\ud800" <= one <= "\udfff" for one in text)
)
_POINTERS = _TEXTS.filter(lambda text: not set("*?[") & set(text))
_DATES = st.dates(min_value=date(1000, 1, 1))
_SEEN = _TEXTS.map("a{}".format)
_WAIVERS = st.builds(Waiver, _SEEN, _SEEN, _DATES, pointer=_POINTERS) | st.builds(
    Waiver,
    _SEEN,
    _SEEN,
    _DATES,
    code=st.from_regex(r"[a-v][a-z_]{0,8}", fullmatch=True),
    target=_TEXTS,
)


@given(st.lists(_WAIVERS, max_size=4, unique_by=lambda one: (one.pointer, one.code, one.target)))
def test_what_is_written_reads_the_same(waivers: list[Waiver]) -> None:
    read = parse_waivers(write_waivers(tuple(waivers)))
    assert [entry.waiver for entry in read] == waivers
    assert [entry.number for entry in read] == list(range(1, len(waivers) + 1))


def test_a_source_may_be_waived_in_one_target_and_another_in_another() -> None:
    tied = _SOURCE + 'target = "home-a"\n'
    other = _SOURCE + 'target = "home-b"\n'
    found = parse_waivers(_SOURCE + tied + other)
    assert [one.waiver.target for one in found] == [None, "home-a", "home-b"]
    assert write_waivers(tuple(one.waiver for one in found)).count("target = ") == 2
    with pytest.raises(WaiverError, match=r"line 8: waiver 2: pointer: expected one waiver of th"):
        parse_waivers(tied + tied)
