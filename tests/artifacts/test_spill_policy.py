"""The policy: within the cap or the original itself, and nothing is ever lost."""

from __future__ import annotations

import errno
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.artifacts import ArtifactStore, SpillPolicy, SpillReason, StoreWriteError
from provenance.artifacts.failures import SpillArgumentError
from provenance.artifacts.spill_policy import BASH_MAX_INLINE_CHARS
from provenance.artifacts.store import SpilledArtifact
from provenance.errors import MachineError
from provenance.fs import BoundaryRefused, LockTimeout
from tests.artifacts.trees import artifacts_in
from tests.trees import pointer_of


class _Memory:
    """A store that keeps everything in memory."""

    def __init__(self, filename: str = "tool_result_001.txt") -> None:
        self.filename = filename
        self.kept: list[tuple[bytes, str | None, str | None]] = []

    def spill(
        self,
        session_id: str,
        content: str,
        *,
        tool: str | None = None,
        call_id: str | None = None,
    ) -> SpilledArtifact:
        data = content.encode()
        self.kept.append((data, tool, call_id))
        pointer = pointer_of(session_id, self.filename, data)
        return SpilledArtifact(pointer, pointer[-64:], "0" * 64, len(data), self.filename)


class _Broken:
    """A store that fails in one way."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def spill(self, session_id: str, content: str, **_: object) -> SpilledArtifact:
        raise self.error


_UNITS = st.sampled_from(
    ["x", "é", "語\n", "😀", "a line of text\n", "2026-01-02T03:04:05Z INFO ok\n", "a/b.py\n", "\n"]
)


@given(_UNITS, st.integers(1, 3000), st.integers(1, 3000), st.sampled_from(["read", "bash"]))
def test_the_outcome_fits_the_cap_or_is_the_original(
    unit: str, times: int, cap: int, tool: str
) -> None:
    content = unit * times
    store = _Memory()
    outcome = SpillPolicy(store, "s1", max_inline_bytes=cap).apply(content, tool=tool, call_id="c1")
    if outcome.artifact is None:
        assert outcome.content is content
        assert outcome.reason in (SpillReason.WITHIN_CAP, SpillReason.NOTICE_OVER_CAP)
        assert store.kept == []
        if tool != "bash":
            fits = len(content.encode()) <= cap
            assert (outcome.reason is SpillReason.WITHIN_CAP) == fits
        return
    assert outcome.reason is SpillReason.SPILLED
    assert store.kept == [(content.encode(), tool, "c1")]
    if tool == "bash":
        assert len(outcome.content) <= BASH_MAX_INLINE_CHARS < len(content)
    else:
        assert len(outcome.content.encode()) <= cap < len(content.encode())
    assert outcome.artifact.pointer in outcome.content
    assert f"ctxaudit show {outcome.artifact.pointer} --lines " in outcome.content
    assert "store.read(" in outcome.content
    # No unit has a bracket, so the notice is what stands between the first and the last.
    before, _, rest = outcome.content.partition("[")
    notice, _, tail = rest.rpartition("]\n")
    left_out, total = re.findall("[0-9]+", notice.replace("ctxaudit: ", ""))[:2]
    assert int(total) == len(content.encode())
    assert content.endswith(tail)
    # The line end before the notice belongs to the head or to the notice.
    assert any(
        content.startswith(head) and len((head + tail).encode()) + int(left_out) == int(total)
        for head in (before, before.removesuffix("\n"))
    )


def test_what_is_stored_is_the_whole_and_can_be_read_where_the_notice_says(
    store: ArtifactStore, home: Path
) -> None:
    content = "".join(f"line {number}\n" for number in range(20_000))
    outcome = SpillPolicy(store, "s1").apply(content, tool="read", call_id="c1")
    assert outcome.artifact is not None
    assert len(outcome.content.encode()) <= 50_000
    assert artifacts_in(home) == {"tool_result_001.txt": content.encode()}
    pointer = outcome.artifact.pointer
    start = outcome.content.index("[ctxaudit: ")
    head = outcome.content[:start]
    notice = outcome.content[start : outcome.content.index(")]\n") + 2]
    tail = outcome.content[start + len(notice) + 1 :]
    first = head.count("\n")
    assert f"ctxaudit show {pointer} --lines {first + 1}:{first + 2000}\n" in notice
    assert f'store.read("{pointer}", offset={first}, limit=2000)' in notice
    window = store.read(pointer, offset=first, limit=2000)
    assert content.startswith(head + window.text)
    assert content.endswith(tail)
    assert len(head) + len(notice) + len(tail) > 49_900


def test_the_lines_in_the_notice_are_all_that_is_left_out(store: ArtifactStore) -> None:
    content = "".join(f"this is line {number} of some\n" for number in range(300))
    outcome = SpillPolicy(store, "s1", max_inline_bytes=3000).apply(content, tool="read")
    assert outcome.artifact is not None
    start = outcome.content.index("[ctxaudit: ")
    head, rest = outcome.content[:start], outcome.content[start:]
    arguments = rest[rest.index("offset=") : rest.index(")]\n")]
    tail = rest[rest.index(")]\n") + 3 :]
    offset, limit = (int(part.split("=")[1]) for part in arguments.split(", "))
    window = store.read(outcome.artifact.pointer, offset=offset, limit=limit)
    assert head + window.text + tail == content


@pytest.mark.parametrize(
    ("content", "tool", "cap", "reason"),
    [
        ("x" * 50_000, "read", 50_000, SpillReason.WITHIN_CAP),
        ("x" * 50_001, "read", 50_000, SpillReason.SPILLED),
        ("é" * 25_000, "read", 50_000, SpillReason.WITHIN_CAP),
        ("é" * 25_001, "read", 50_000, SpillReason.SPILLED),
        ("é" * 30_000, "bash", 50_000, SpillReason.WITHIN_CAP),
        ("é" * 30_001, "bash", 50_000, SpillReason.SPILLED),
        ("x" * 30_001, "bash", 10, SpillReason.SPILLED),
        ("x" * 30_001, "Bash", 50_000, SpillReason.WITHIN_CAP),
        ("", "read", 1, SpillReason.WITHIN_CAP),
        ("\ud800" * 10, "read", 30, SpillReason.WITHIN_CAP),
        ("\ud800" * 11, "read", 30, SpillReason.NOT_ENCODABLE),
        ("x" * 60_000 + "\udc80", "read", 50_000, SpillReason.NOT_ENCODABLE),
    ],
)
def test_the_cap_is_strict(content: str, tool: str, cap: int, reason: SpillReason) -> None:
    outcome = SpillPolicy(_Memory(), "s1", max_inline_bytes=cap).apply(content, tool=tool)
    assert outcome.reason is reason
    assert (outcome.content is content) == (reason is not SpillReason.SPILLED)
    if tool == "bash":
        assert len(outcome.content) <= BASH_MAX_INLINE_CHARS


_BIG = "x" * 60_000


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("spill_read", SpillReason.READ_OF_SPILL),
        ("blocked", SpillReason.BLOCKED_CALL),
        ("results", SpillReason.UNKNOWN_KIND),
    ],
)
def test_some_kinds_are_never_spilled(kind: str, reason: SpillReason) -> None:
    store = _Memory()
    outcome = SpillPolicy(store, "s1").apply(_BIG, tool="read", kind=kind)
    assert (outcome.content is _BIG, outcome.reason, store.kept) == (True, reason, [])


@pytest.mark.parametrize("content", [None, 7, b"x" * 60_000, ["x" * 60_000], {"text": _BIG}])
def test_what_is_no_plain_text_stays(content: Any) -> None:
    store = _Memory()
    outcome = SpillPolicy(store, "s1").apply(content, tool="read")
    assert outcome.content is content
    assert (outcome.reason, outcome.artifact) == (SpillReason.NOT_PLAIN_TEXT, None)
    assert store.kept == []


@pytest.mark.parametrize(
    ("error", "reason", "failure"),
    [
        (StoreWriteError("full", errno.ENOSPC), SpillReason.STORE_FAILED, "store_write_failed"),
        (BoundaryRefused("link"), SpillReason.STORE_FAILED, "ownership_boundary"),
        (LockTimeout("lock"), SpillReason.STORE_FAILED, "lock_timeout"),
        (MachineError("?"), SpillReason.STORE_FAILED, "machine_error"),
        (SpillArgumentError("no"), SpillReason.STORE_REFUSED, "invalid_spill_argument"),
        (OSError(errno.EIO, "io"), SpillReason.STORE_FAILED, "OSError"),
        (MemoryError(), SpillReason.STORE_FAILED, "MemoryError"),
        (ZeroDivisionError(), SpillReason.STORE_FAILED, "ZeroDivisionError"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_store_that_fails_leaves_the_original(
    error: BaseException, reason: SpillReason, failure: str
) -> None:
    outcome = SpillPolicy(_Broken(error), "s1").apply(_BIG, tool="read")
    assert outcome.content is _BIG
    assert (outcome.artifact, outcome.reason, outcome.failure) == (None, reason, failure)


def test_an_interrupt_is_not_swallowed() -> None:
    with pytest.raises(KeyboardInterrupt):
        SpillPolicy(_Broken(KeyboardInterrupt()), "s1").apply(_BIG, tool="read")


def test_no_store_leaves_the_original() -> None:
    outcome = SpillPolicy(None, "s1").apply(_BIG, tool="read")
    assert (outcome.content is _BIG, outcome.reason) == (True, SpillReason.NO_STORE)


def test_a_notice_over_the_cap_is_seen_before_anything_is_stored() -> None:
    store = _Memory()
    outcome = SpillPolicy(store, "s1", max_inline_bytes=100).apply(_BIG, tool="read")
    assert (outcome.content is _BIG, outcome.reason) == (True, SpillReason.NOTICE_OVER_CAP)
    assert store.kept == []


def test_a_longer_name_than_expected_is_seen_after() -> None:
    least = 0
    for cap in range(100, 400):
        if SpillPolicy(_Memory(), "s1", max_inline_bytes=cap).apply(_BIG, tool="read").artifact:
            least = cap
            break
    assert least
    outcome = SpillPolicy(_Memory("n" * 200), "s1", max_inline_bytes=least).apply(_BIG, tool="read")
    assert (outcome.content is _BIG, outcome.reason) == (True, SpillReason.NOTICE_OVER_CAP)


def test_a_pointer_that_is_none_leaves_the_original() -> None:
    class Odd(_Memory):
        def spill(self, session_id: str, content: str, **_: object) -> SpilledArtifact:
            return None  # type: ignore[return-value]

    outcome = SpillPolicy(Odd(), "s1").apply(_BIG, tool="read")
    assert (outcome.content is _BIG, outcome.reason) == (True, SpillReason.STORE_FAILED)


@pytest.mark.parametrize("session", ["transcripts", "..", "", "é\ud800"])
def test_a_session_that_the_store_refuses_leaves_the_original(
    store: ArtifactStore, home: Path, session: str
) -> None:
    outcome = SpillPolicy(store, session).apply(_BIG, tool="read")
    assert (outcome.content is _BIG, outcome.reason) == (True, SpillReason.STORE_REFUSED)
    assert not home.exists()


def test_odd_notes_leave_the_original_or_are_stored(store: ArtifactStore) -> None:
    policy = SpillPolicy(store, "s1")
    long_id = policy.apply(_BIG, tool="read", call_id="c" * 1400)
    assert long_id.reason is SpillReason.SPILLED
    too_long = policy.apply(_BIG + "a", tool="read", call_id="c" * 10_000)
    assert too_long.reason is SpillReason.STORE_REFUSED
    lone = policy.apply(_BIG + "b", tool="\ud800", call_id="\udfff")
    assert lone.reason is SpillReason.SPILLED
    strange: Any = 7
    typed = policy.apply(_BIG + "c", tool=strange, call_id=strange)
    assert typed.reason is SpillReason.STORE_FAILED


@pytest.mark.parametrize("cap", [0, -1, True, 1.5, "50000", None])
def test_a_cap_that_is_none_is_refused(cap: Any) -> None:
    with pytest.raises(SpillArgumentError, match="max_inline_bytes"):
        SpillPolicy(None, "s1", max_inline_bytes=cap)


def test_the_end_of_a_log_and_the_top_of_a_text_stay() -> None:
    def kept(content: str) -> tuple[int, int]:
        outcome = SpillPolicy(_Memory(), "s1", max_inline_bytes=4000).apply(content, tool="read")
        start = outcome.content.index("[ctxaudit: ")
        return start, len(outcome.content) - outcome.content.index(")]\n")

    log_head, log_tail = kept("2026-01-02T03:04:05Z INFO fine\n" * 1000)
    assert log_tail > 3 * log_head
    text_head, text_tail = kept("A sentence, as people write them.\n" * 1000)
    assert text_head > text_tail
    list_head, list_tail = kept("some/folder/file.py\n" * 1000)
    assert abs(list_head - list_tail) < 100


def test_every_reason_is_documented() -> None:
    assert all(f"- `{reason}`: " in (SpillReason.__doc__ or "") for reason in SpillReason)
