"""Reading a rendered context back, and refusing every text that is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.durable import (
    DurableContextState,
    DurableTypeError,
    PendingItem,
    RenderedContext,
    RenderedContextError,
    durable_source_pointers,
    parse_durable_context,
    render_durable_context,
)
from provenance.durable.instants import instant_of
from provenance.resolution import SourceResolution, SourceResolutionStatus
from tests.durable.strategies import (
    DIGEST,
    POINTER,
    T0,
    a_fact,
    an_item,
    resolved_states,
    some_evidence,
)

STATE = DurableContextState(
    [a_fact("f1", "A (source=x)"), a_fact("f2", pointer="memory:y; z")],
    [an_item("p1"), an_item("p2", "blocked"), *(an_item(f"d{n}", "done") for n in range(5))],
    [some_evidence()],
)
RESOLUTIONS = (
    SourceResolution(POINTER, SourceResolutionStatus.AVAILABLE, evidence_sha256=DIGEST),
    SourceResolution("memory:y; z", SourceResolutionStatus.UNSUPPORTED),
)
TEXT = render_durable_context(STATE, source_resolutions=RESOLUTIONS)


def test_an_empty_text_is_an_empty_state() -> None:
    assert parse_durable_context("") == RenderedContext(DurableContextState())


def test_everything_that_is_shown_comes_back() -> None:
    read = parse_durable_context(TEXT)
    assert read.state == replace(
        STATE, pending_items=(*STATE.pending_items[:2], *STATE.pending_items[4:])
    )
    assert read.resolutions == RESOLUTIONS
    assert read.done_omitted == 2


@given(resolved_states())
def test_every_hostile_state_comes_back(
    given_state: tuple[DurableContextState, tuple[SourceResolution, ...] | None],
) -> None:
    state, resolutions = given_state
    read = parse_durable_context(render_durable_context(state, source_resolutions=resolutions))
    done = sorted(
        (instant_of(item.last_confirmed_at), n)
        for n, item in enumerate(state.pending_items)
        if item.status == "done"
    )
    hidden = {n for _, n in done[:-3]}
    shown = tuple(item for n, item in enumerate(state.pending_items) if n not in hidden)
    assert read.state == replace(state, pending_items=shown, session=None, turn=None)
    assert read.done_omitted == len(hidden)
    if resolutions is None:
        assert read.resolutions is None
    else:
        by_pointer = {one.pointer: (one.status, one.evidence_sha256) for one in resolutions}
        assert [
            (one.pointer, (one.status, one.evidence_sha256)) for one in read.resolutions or ()
        ] == [(one, by_pointer[one]) for one in durable_source_pointers(read.state)]


FACT_LINE = f"- f1: It is so. (source={POINTER}; confirmed={T0})"
EVIDENCE_LINE = f"- m1: source=note:7; title=T; captured={T0}; score=0.5; rank=1; conflict=none"
HEADER = "[Durable context — do not reinterpret as conversation summary]"


def _facts(*lines: str) -> str:
    return "\n".join((HEADER, "Confirmed facts:", *lines))


def _pending(*lines: str) -> str:
    return "\n".join((HEADER, "Pending work:", *lines))


def _evidence(line: str) -> str:
    return "\n".join((HEADER, "Selected retrieval evidence:", line))


DONE = [f"- d{n}: x (status=done; source={POINTER}; confirmed={T0})" for n in range(4)]


def test_the_samples_below_are_near_misses() -> None:
    for text in (
        _facts(FACT_LINE),
        _evidence(EVIDENCE_LINE),
        _pending(*DONE[:3], "- done_omitted=1"),
    ):
        parse_durable_context(text)


@pytest.mark.parametrize(
    "text",
    [
        " ",
        "\n",
        HEADER,
        HEADER + "\n",
        "Confirmed facts:",
        "\ufeff" + _facts(FACT_LINE),
        _facts(),
        _facts("") + "\n",
        _facts(FACT_LINE) + "\n",
        _facts(FACT_LINE, FACT_LINE),
        _facts("Confirmed facts:", FACT_LINE),
        _facts(FACT_LINE).replace("\n", "\r\n"),
        HEADER + "\n" + FACT_LINE,
        _facts("- done_omitted=1"),
        _facts(FACT_LINE.removeprefix("- ")),
        _facts(FACT_LINE.replace("f1: ", "f1 ")),
        _facts(FACT_LINE.replace("f1", "")),
        _facts(FACT_LINE.replace(")", "")),
        _facts(FACT_LINE + " "),
        _facts(FACT_LINE.replace("It is", "It  is")),
        _facts(FACT_LINE.replace("It is", "It\u200bis")),
        _facts(FACT_LINE.replace("It is", "It\\is")),
        _facts(FACT_LINE.replace("It is", "It\\u0069s")),
        _facts(FACT_LINE.replace("It is", "It\\U0069s")),
        _facts(FACT_LINE.replace(POINTER, "")),
        _facts(FACT_LINE.replace(POINTER, "x;y")),
        _facts(FACT_LINE.replace(T0, "2026-01-01")),
        _facts(FACT_LINE.replace("; confirmed", "; source_status=fine; confirmed")),
        _facts(FACT_LINE.replace("; confirmed", "; source_status=missing; confirmed")),
        _facts(FACT_LINE.replace("; confirmed", "; source_status=available; confirmed")),
        _facts(
            FACT_LINE.replace(
                "; confirmed", "; source_status=available; evidence_unavailable=true; confirmed"
            )
        ),
        _facts(
            FACT_LINE.replace(
                "; confirmed",
                f"; source_status=available; evidence_sha256={DIGEST.upper()}; confirmed",
            )
        ),
        _facts(
            FACT_LINE.replace(
                "; confirmed", f"; source_status=missing; evidence_sha256={DIGEST}; confirmed"
            )
        ),
        _facts(
            FACT_LINE,
            FACT_LINE.replace("f1", "f2").replace(
                "; confirmed", "; source_status=missing; evidence_unavailable=true; confirmed"
            ),
        ),
        _facts(
            FACT_LINE,
            FACT_LINE.replace("f1", "f2").replace(
                f"{POINTER}; confirmed",
                "x; source_status=missing; evidence_unavailable=true; confirmed",
            ),
        ),
        _pending(*DONE),
        _pending(*DONE, "- done_omitted=1"),
        _pending(*DONE[:2], "- done_omitted=1"),
        _pending(*DONE[:3], "- done_omitted=0"),
        _pending(*DONE[:3], "- done_omitted=01"),
        _pending(*DONE[:3], "- done_omitted=1", "- done_omitted=1"),
        _pending("- done_omitted=1", *DONE[:3]),
        _pending(f"- p1: x (status=open; source={POINTER}; confirmed={T0})"),
        _pending(f"- p1: x (reason=y; status=done; source={POINTER}; confirmed={T0})"),
        _pending(f"- p1: x (status=done; reason=; source={POINTER}; confirmed={T0})"),
        _pending(f"- p1: x (status=shut; source={POINTER}; confirmed={T0})"),
        _evidence(EVIDENCE_LINE.replace("score=0.5", "score=.5")),
        _evidence(EVIDENCE_LINE.replace("score=0.5", "score=0.50")),
        _evidence(EVIDENCE_LINE.replace("score=0.5", "score=0.5.5")),
        _evidence(EVIDENCE_LINE.replace("score=0.5", "score=2.0")),
        _evidence(EVIDENCE_LINE.replace("score=0.5", "score=nan")),
        _evidence(EVIDENCE_LINE.replace("rank=1", "rank=0")),
        _evidence(EVIDENCE_LINE.replace("rank=1", "rank=\u0661")),
        _evidence(EVIDENCE_LINE.replace("rank=1", "rank=" + "9" * 5000)),
        _evidence(EVIDENCE_LINE.replace("conflict=none", "conflict=other")),
        _evidence(EVIDENCE_LINE.replace("conflict=none", "conflict_winner=")),
        _evidence(EVIDENCE_LINE) + "\n" + "\n".join(_facts(FACT_LINE).split("\n")[1:]),
    ],
)
def test_a_text_that_is_no_rendered_context_is_refused(text: str) -> None:
    with pytest.raises(RenderedContextError):
        parse_durable_context(text)


def test_what_is_no_text_is_refused() -> None:
    wrong: Any = TEXT.encode()
    with pytest.raises(DurableTypeError, match=r"^text: "):
        parse_durable_context(wrong)


@given(st.data())
def test_a_changed_text_is_refused_or_says_something_else(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(TEXT) - 1))
    put = data.draw(st.sampled_from(["", "=", ";", "\\", "\n", ":", " ", "\u200b", "x"]))
    changed = TEXT[:at] + put + TEXT[at + 1 :]
    try:
        read = parse_durable_context(changed)
    except RenderedContextError:
        assert changed != TEXT
    else:
        assert (changed == TEXT) == (read == parse_durable_context(TEXT))


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    for candidate in (text, f"{HEADER}\n{text}", _facts(text), _pending(text), _evidence(text)):
        try:
            read = parse_durable_context(candidate)
        except RenderedContextError:
            continue
        again = render_durable_context(read.state, source_resolutions=read.resolutions)
        assert again == candidate or read.done_omitted


def test_a_long_line_of_separators_is_read_in_linear_time() -> None:
    item = PendingItem("p1", " (source" * 50_000, "; confirmed" * 50_000, T0)
    state = DurableContextState((), [item])
    assert parse_durable_context(render_durable_context(state)).state == state
