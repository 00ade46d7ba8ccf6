"""A transcript that changes while it is read: grown, cut, rewritten, removed, replaced."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from provenance.evidence import EvidenceUnavailable
from provenance.fs import OpenFile, ReadFailed, TrustedRoot
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.resolution import Quiescence, Reason
from provenance.transcripts import check_transcript, read_event_bytes, verify_events
from tests.transcripts.changing import Changes, append, make_older, overwrite
from tests.transcripts.lines import SESSION, compact, record
from tests.transcripts.model import sha256_of_line
from tests.trees import sha256_of

_VERIFIED = Reason.VERIFIED_TRANSCRIPT_EVENT
_MISSING = Reason.TRANSCRIPT_EVENT_MISSING
_CHANGED = Reason.SOURCE_CHANGED_DURING_READ
_GONE = Reason.SOURCE_DISAPPEARED


def _line(number: int, content: str = "x") -> bytes:
    return compact(record(number, content=content)) + b"\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(b"".join(map(_line, range(1, 4))))
    make_older(path)
    return path


def _reasons(path: Path, *sequences: int, limits: Limits = DEFAULT_LIMITS) -> list[Reason]:
    with TrustedRoot(path.parent) as root:
        outcomes = verify_events(root, SESSION, sequences, limits=limits, excerpt_chars=5).outcomes
    for outcome in outcomes.values():
        assert (outcome.sha256 is None) == (outcome.reason is not _VERIFIED)
    return [outcomes[number].reason for number in sequences]


def test_a_quiet_file_is_read_once(path: Path) -> None:
    with Changes({}) as changes:
        assert _reasons(path, 1, 3, 4) == [_VERIFIED, _VERIFIED, _MISSING]
    assert changes.reads == 1


def test_growth_once(path: Path) -> None:
    """The second pass sees what was added and finds the file quiet."""
    with Changes({1: lambda: append(path, _line(4))}) as changes:
        assert _reasons(path, 1, 3, 4, 5) == [_VERIFIED, _VERIFIED, _VERIFIED, _MISSING]
    assert changes.reads == 2


def test_growth_without_end(path: Path) -> None:
    """A live transcript: what rests on whole lines is known, though the file never holds still."""
    number = 3

    def grow() -> None:
        nonlocal number
        number += 1
        append(path, _line(number))

    with Changes(grow) as changes:
        assert _reasons(path, 1, 3) == [_VERIFIED, _VERIFIED]
    # One pass without a digest, one with, and the digest of the same bytes once more.
    assert changes.reads == 3
    with Changes(grow):
        assert _reasons(path, 2, 100_000) == [_VERIFIED, _CHANGED]


def test_growth_behind_a_torn_line(path: Path) -> None:
    """Half a line may be a writer at work: it is corrupt only if it stays as it is."""
    rest = _line(4)
    append(path, rest[:20])
    make_older(path)
    with Changes({1: lambda: append(path, rest[20:])}):
        assert _reasons(path, 3, 4) == [_VERIFIED, _VERIFIED]
    append(path, b'{"half')
    make_older(path)
    with Changes(lambda: append(path, b"x")):
        assert _reasons(path, 4, 5) == [_VERIFIED, _CHANGED]
    assert _reasons(path, 4, 5) == [_VERIFIED, Reason.TRANSCRIPT_INVALID_JSON]


def test_growth_of_the_very_line_that_is_asked_for(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)
    make_older(path)
    assert _reasons(path, 3) == [_VERIFIED]
    with Changes({1: lambda: append(path, b"}\n")}):
        assert _reasons(path, 2, 3) == [_VERIFIED, Reason.TRANSCRIPT_INVALID_JSON]


def test_growth_behind_damage(path: Path) -> None:
    append(path, b"{}{}\n")
    make_older(path)
    with Changes(lambda: append(path, _line(5))) as changes:
        assert _reasons(path, 3, 4, 9) == [_VERIFIED] + [Reason.TRANSCRIPT_INVALID_JSON] * 2
    assert changes.reads == 3


def test_a_rewritten_beginning(path: Path) -> None:
    """Grown and rewritten: the same bytes are not there a second time, so it is read again."""
    content_at = path.read_bytes().index(b'"x"') + 1

    def rewrite() -> None:
        overwrite(path, content_at, b"y")
        append(path, _line(4))

    before = sha256_of_line(path.read_bytes(), 1)
    with TrustedRoot(path.parent) as root, Changes({1: rewrite}):
        said = verify_events(root, SESSION, [1], limits=DEFAULT_LIMITS, excerpt_chars=5)
    assert said.outcomes[1].excerpt == "y"
    assert said.outcomes[1].sha256 == sha256_of_line(path.read_bytes(), 1) != before


def test_rewritten_again_and_again(path: Path) -> None:
    """Between the passes too: no two of them see the same bytes, so nothing is known."""
    content_at = path.read_bytes().index(b'"x"') + 1
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    with Changes(lambda: overwrite(path, content_at, next(letters).encode())) as changes:
        assert _reasons(path, 1, 3, 4) == [_CHANGED] * 3
    # Four passes, and the digest of the same beginning once more after all but the first.
    assert changes.reads == 7


def test_rewritten_twice_and_then_quiet(path: Path) -> None:
    content_at = path.read_bytes().index(b'"x"') + 1
    actions = {n: partial(overwrite, path, content_at, b"%d" % n) for n in (1, 2)}
    with Changes(actions) as changes:
        assert _reasons(path, 1, 3) == [_VERIFIED] * 2
    # The second pass has a digest, which is not that of the same bytes any more.
    assert changes.reads == 4


def test_how_often_is_the_callers_choice(path: Path) -> None:
    content_at = path.read_bytes().index(b'"x"') + 1
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    with Changes(lambda: overwrite(path, content_at, next(letters).encode())) as changes:
        assert _reasons(path, 1, limits=Limits(read_attempts=1)) == [_CHANGED]
    assert changes.reads == 3


def test_a_change_after_the_last_line_asked_for(path: Path) -> None:
    """Rewritten behind the event, again and again: its own bytes stay the same."""
    content_at = path.read_bytes().rindex(b'"x"') + 1
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    with Changes(lambda: overwrite(path, content_at, next(letters).encode())):
        assert _reasons(path, 1, 2) == [_VERIFIED, _VERIFIED]


def test_touched_and_nothing_else(path: Path) -> None:
    with Changes(lambda: make_older(path)) as changes:
        assert _reasons(path, 1, 3) == [_VERIFIED, _VERIFIED]
    assert changes.reads == 3


def test_cut_once(path: Path) -> None:
    with Changes({1: lambda: os.truncate(path, len(_line(1)))}):
        assert _reasons(path, 1, 2) == [_VERIFIED, _MISSING]


def test_cut_in_a_line(path: Path) -> None:
    with Changes({1: lambda: os.truncate(path, len(_line(1)) + 9)}):
        assert _reasons(path, 1, 2) == [_VERIFIED, Reason.TRANSCRIPT_INVALID_JSON]


def test_cut_again_and_again(path: Path) -> None:
    sizes = iter(range(path.stat().st_size - 1, 0, -1))
    with Changes(lambda: os.truncate(path, next(sizes))):
        assert _reasons(path, 1, 3) == [_CHANGED] * 2


def test_cut_again_and_again_behind_the_event(path: Path) -> None:
    """Only growth is forgiven: a file that gets shorter is not one that is written."""
    sizes = iter(range(path.stat().st_size - 1, 0, -1))
    with Changes(lambda: os.truncate(path, next(sizes))) as changes:
        assert _reasons(path, 1) == [_CHANGED]
    assert changes.reads == 4


def test_removed(path: Path) -> None:
    with Changes({1: path.unlink}):
        assert _reasons(path, 1, 4) == [_GONE] * 2
    assert _reasons(path, 1) == [Reason.TRANSCRIPT_MISSING]


def test_removed_while_another_name_keeps_the_file_alive(path: Path, tmp_path: Path) -> None:
    os.link(path, tmp_path / "second")
    with Changes({1: path.unlink}):
        assert _reasons(path, 1) == [_GONE]


def test_moved_away(path: Path, tmp_path: Path) -> None:
    with Changes({1: lambda: path.rename(tmp_path / "elsewhere")}):
        assert _reasons(path, 1) == [_GONE]


def test_the_folder_removed(tmp_path: Path) -> None:
    folder = tmp_path / "root"
    folder.mkdir()
    path = folder / f"{SESSION}.jsonl"
    path.write_bytes(_line(1))

    def remove() -> None:
        path.unlink()
        folder.rmdir()

    with Changes({1: remove}):
        assert _reasons(path, 1) == [_GONE]


def test_replaced_by_another_file(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(_line(1, "new") + _line(2))
    with TrustedRoot(path.parent) as root, Changes({1: lambda: other.rename(path)}):
        said = verify_events(root, SESSION, [1, 3], limits=DEFAULT_LIMITS, excerpt_chars=5)
    assert said.outcomes[1].excerpt == "new"
    assert said.outcomes[3].reason is _MISSING


def test_replaced_again_and_again(path: Path, tmp_path: Path) -> None:
    def replace() -> None:
        (tmp_path / "other").write_bytes(path.read_bytes())
        (tmp_path / "other").rename(path)

    with Changes(replace):
        assert _reasons(path, 1) == [_CHANGED]


def _link(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to("real")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("turn", "reason"),
    [(_link, Reason.OWNERSHIP_BOUNDARY), (_folder, Reason.TRANSCRIPT_NOT_A_FILE)],
)
def test_turned_into_something_else(
    path: Path, turn: Callable[[Path], None], reason: Reason
) -> None:
    with Changes({1: lambda: turn(path)}):
        assert _reasons(path, 1, 4) == [reason] * 2


def test_the_bytes_of_an_event_are_those_that_were_judged(path: Path) -> None:
    content_at = path.read_bytes().index(b'"x"') + 1
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    with TrustedRoot(path.parent) as root:
        with Changes({1: lambda: overwrite(path, content_at, b"y")}):
            found = read_event_bytes(root, SESSION, 1, limits=DEFAULT_LIMITS)
        assert found == path.read_bytes().split(b"\n")[0]
        with (
            Changes(lambda: overwrite(path, content_at, next(letters).encode())),
            pytest.raises(EvidenceUnavailable) as caught,
        ):
            read_event_bytes(root, SESSION, 1, limits=DEFAULT_LIMITS)
        assert caught.value.reason is _CHANGED
        with Changes({1: path.unlink}), pytest.raises(EvidenceUnavailable) as caught:
            read_event_bytes(root, SESSION, 1, limits=DEFAULT_LIMITS)
        assert caught.value.reason is _GONE


def test_a_whole_transcript_that_grows(path: Path) -> None:
    """What is said of it is said of the file as it was at one moment."""
    before = path.read_bytes()
    number = 3

    def grow() -> None:
        nonlocal number
        number += 1
        append(path, _line(number))

    with TrustedRoot(path.parent) as root, Changes(grow):
        check = check_transcript(root, SESSION, limits=DEFAULT_LIMITS)
    assert (check.records, check.first_bad) == (3, None)
    assert check.sha256 == sha256_of(before)
    assert check.quiescence is Quiescence.STAT


def test_a_whole_transcript_that_never_holds_still(path: Path) -> None:
    content_at = path.read_bytes().index(b'"x"') + 1
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    with TrustedRoot(path.parent) as root:
        with Changes(lambda: overwrite(path, content_at, next(letters).encode())):
            check = check_transcript(root, SESSION, limits=DEFAULT_LIMITS)
        assert (check.first_bad, check.sha256) == ((None, _CHANGED), None)
        append(path, b'{"half')
        make_older(path)
        with Changes(lambda: append(path, b"x")):
            check = check_transcript(root, SESSION, limits=DEFAULT_LIMITS)
        assert (check.records, check.first_bad) == (3, (None, _CHANGED))
        with Changes({1: path.unlink}):
            check = check_transcript(root, SESSION, limits=DEFAULT_LIMITS)
        assert check.first_bad == (None, _GONE)


def test_damage_in_a_whole_transcript_that_grows(path: Path) -> None:
    append(path, b"{}{}\n" + _line(5))
    make_older(path)
    with TrustedRoot(path.parent) as root, Changes(lambda: append(path, b"x")):
        check = check_transcript(root, SESSION, limits=DEFAULT_LIMITS)
    assert (check.records, check.first_bad) == (3, (4, Reason.TRANSCRIPT_INVALID_JSON))


def test_the_disk_fails_when_the_same_bytes_are_read_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = OpenFile.read_at
    reads = 0

    def read_at(self: OpenFile, offset: int, size: int) -> bytes:
        nonlocal reads
        reads += 1
        if reads == 3:
            raise ReadFailed("source: expected to read, got EIO", 5)
        append(path, _line(reads + 3))
        return read(self, offset, size)

    monkeypatch.setattr(OpenFile, "read_at", read_at)
    assert _reasons(path, 1) == [Reason.SOURCE_READ_FAILED]
