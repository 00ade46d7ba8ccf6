"""The resolver: grammar first, then authorization, then files; five states and nothing raised."""

from __future__ import annotations

import asyncio
import errno
import os
import pickle
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from provenance.fs import TrustedRoot
from provenance.limits import Limits
from provenance.pointers import SourcePointer
from provenance.resolution import REASON_STATUS, Reason, SourceResolution, SourceResolutionStatus
from provenance.resolver import SourcePointerResolver
from tests.fixtures import backend, no_handle_is_left
from tests.trees import open_handles, sha256_of, transcript_line, write_artifact, write_transcript

__all__ = ["backend", "no_handle_is_left"]


class _Home:
    """One transcript of three events, and two artifacts."""

    def __init__(self, path: Path) -> None:
        self.transcripts, self.artifacts = path / "transcripts", path / "artifacts"
        self.events = write_transcript(self.transcripts, "s1", 3)
        self.log = write_artifact(self.artifacts, "s1", "log.txt", "héllo".encode())
        self.other = write_artifact(self.artifacts, "s2", "other.txt", b"other")

    def resolver(self, **options: object) -> SourcePointerResolver:
        return SourcePointerResolver(self.transcripts, self.artifacts, **options)  # type: ignore[arg-type]


@pytest.fixture
def home(tmp_path: Path) -> _Home:
    return _Home(tmp_path)


@pytest.fixture
def resolver(home: _Home) -> Iterator[SourcePointerResolver]:
    with home.resolver() as resolver:
        yield resolver


def _status(result: SourceResolution) -> tuple[str, str | None]:
    return result.status.value, result.reason


def test_the_states(home: _Home, resolver: SourcePointerResolver) -> None:
    event = resolver.resolve(home.events[1])
    assert event == SourceResolution(
        pointer=home.events[1],
        status=SourceResolutionStatus.AVAILABLE,
        source_type="transcript",
        evidence_sha256=sha256_of(transcript_line("s1", 2)),
        excerpt="event 2 of s1",
        reason="verified_transcript_event",
        strength="position",
        quiescence="stat",
    )
    artifact = resolver.resolve(home.log)
    assert artifact == SourceResolution(
        pointer=home.log,
        status=SourceResolutionStatus.AVAILABLE,
        source_type="artifact",
        evidence_sha256=sha256_of("héllo".encode()),
        excerpt="héllo",
        reason="verified_artifact",
        strength="full",
        quiescence="stat",
    )
    prefix = home.log[: -(64 - 12)]
    assert resolver.resolve(prefix).strength == "prefix"
    assert resolver.resolve(prefix).evidence_sha256 == artifact.evidence_sha256
    for pointer, expected in {
        "transcript:s1:4": ("missing", "transcript_event_missing"),
        "transcript:s2:1": ("missing", "transcript_missing"),
        "artifact:s1:nothing.txt:" + "0" * 12: ("missing", "artifact_missing"),
        "artifact:s1:log.txt:" + "0" * 12: ("corrupt", "artifact_digest_mismatch"),
        "transcript:s1": ("corrupt", "malformed_pointer"),
        "": ("corrupt", "malformed_pointer"),
        "http://x": ("unsupported", "unsupported_scheme"),
        "artifact:transcripts:s1.jsonl:" + "0" * 12: ("denied", "ownership_boundary"),
    }.items():
        result = resolver.resolve(pointer)
        assert _status(result) == expected
        assert result.pointer == pointer
        assert result.evidence_sha256 is None
        assert result.excerpt is None
        assert result.strength is None
        assert result.quiescence is None
        assert result.conclusive is True


@pytest.mark.parametrize(
    ("pointer", "kind"),
    [
        ("transcript:s1:1", "transcript"),
        ("transcript:s1:0", "transcript"),
        ("transcript:", "transcript"),
        ("artifact:", "artifact"),
        ("artifact:s1:f:" + "0" * 12, "artifact"),
        ("transcript", "transcript"),
        ("x:y", None),
        ("", None),
        (" transcript:s1:1", None),
    ],
)
def test_the_source_type_is_what_the_pointer_claims(
    resolver: SourcePointerResolver, pointer: str, kind: str | None
) -> None:
    assert resolver.resolve(pointer).source_type == kind


def test_the_pointer_comes_back_as_it_was_given(
    home: _Home, resolver: SourcePointerResolver
) -> None:
    shouted = home.log[:-64] + home.log[-64:].upper()
    result = resolver.resolve(shouted)
    assert result.pointer == shouted
    assert result.status is SourceResolutionStatus.AVAILABLE


def test_results_are_values(home: _Home, resolver: SourcePointerResolver) -> None:
    results = resolver.resolve_many([home.log, home.events[0], "transcript:s1:9", "x"])
    assert pickle.loads(pickle.dumps(results)) == results
    assert len(set(results) | set(results)) == 4
    for result in results:
        assert result.status is REASON_STATUS[Reason(str(result.reason))]
        with pytest.raises(AttributeError):
            result.status = SourceResolutionStatus.AVAILABLE  # type: ignore[misc]


def test_many_answers_keep_the_order_and_repeats(
    home: _Home, resolver: SourcePointerResolver
) -> None:
    asked = [
        home.events[2], home.log, "nonsense", home.events[0], home.log, home.other,
        "transcript:s1:9", home.events[2], "x:y", home.log.upper(), home.log[:-52],
    ]  # fmt: skip
    together = resolver.resolve_many(asked)
    assert isinstance(together, tuple)
    assert together == tuple(resolver.resolve(pointer) for pointer in asked)
    assert [result.pointer for result in together] == asked
    assert resolver.resolve_many(iter(asked)) == together
    assert resolver.resolve_many(dict.fromkeys(asked)) == tuple(
        resolver.resolve(pointer) for pointer in dict.fromkeys(asked)
    )
    assert resolver.resolve_many([]) == ()


def test_many_pointers_cost_one_pass(
    home: _Home, resolver: SourcePointerResolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, ...]] = []
    real = TrustedRoot.open_file

    def note(root: TrustedRoot, *names: str) -> object:
        opened.append(names)
        return real(root, *names)

    monkeypatch.setattr(TrustedRoot, "open_file", note)
    resolver.resolve_many([*home.events, *reversed(home.events)] * 10)
    assert opened == [("s1.jsonl",)]


@pytest.mark.parametrize("value", [None, 1, b"transcript:s1:1", object(), ["transcript:s1:1"]])
def test_what_is_no_text_is_a_type_error(resolver: SourcePointerResolver, value: object) -> None:
    with pytest.raises(TypeError):
        resolver.resolve(value)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        resolver.resolve_many(["transcript:s1:1", value])  # type: ignore[list-item]


@pytest.mark.parametrize("value", ["transcript:s1:1", "", b"transcript:s1:1", None, 3])
def test_one_pointer_is_not_many(resolver: SourcePointerResolver, value: object) -> None:
    with pytest.raises(TypeError):
        resolver.resolve_many(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("jobs", [0, -1, 1.0, "2", None, True])
def test_jobs_is_a_number_of_processes(
    home: _Home, resolver: SourcePointerResolver, jobs: object
) -> None:
    with pytest.raises(ValueError, match="jobs"):
        resolver.resolve_many([home.log], jobs=jobs)  # type: ignore[arg-type]


# -- authorization -------------------------------------------------------------------------------


def test_true_allows(home: _Home) -> None:
    seen: list[SourcePointer] = []

    def allow(pointer: SourcePointer) -> bool:
        seen.append(pointer)
        return True

    with home.resolver(authorize=allow) as resolver:
        assert resolver.resolve(home.log).status is SourceResolutionStatus.AVAILABLE
    assert [(type(pointer), str(pointer), pointer.raw) for pointer in seen] == [
        (SourcePointer, home.log, home.log)
    ]


async def _coroutine(pointer: SourcePointer) -> bool:
    return True


class _Awaitable:
    def __await__(self) -> Iterator[None]:
        yield None


class _Truthy:
    def __bool__(self) -> bool:
        raise AssertionError("was asked for its truth")

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


def _raise(error: BaseException) -> object:
    raise error


_ANSWERS = {
    "False": (lambda pointer: False, "policy_denied"),
    "PermissionError": (lambda pointer: _raise(PermissionError("no")), "policy_denied"),
    "None": (lambda pointer: None, "policy_error"),
    "1": (lambda pointer: 1, "policy_error"),
    "0": (lambda pointer: 0, "policy_error"),
    "text": (lambda pointer: "True", "policy_error"),
    "a pointer": (lambda pointer: pointer, "policy_error"),
    "a coroutine": (_coroutine, "policy_error"),
    "an awaitable": (lambda pointer: _Awaitable(), "policy_error"),
    "truthy": (lambda pointer: _Truthy(), "policy_error"),
    "ValueError": (lambda pointer: _raise(ValueError("no")), "policy_error"),
    "OSError": (lambda pointer: _raise(OSError(13, "no")), "policy_denied"),  # a PermissionError
    "RecursionError": (lambda pointer: _raise(RecursionError()), "policy_error"),
    "MemoryError": (lambda pointer: _raise(MemoryError()), "policy_error"),
    "StopIteration": (lambda pointer: _raise(StopIteration()), "policy_error"),
    "a wrong signature": (lambda: True, "policy_error"),
    "a class": (dict, "policy_error"),
}


@pytest.mark.parametrize("answer", _ANSWERS)
def test_anything_but_true_refuses(home: _Home, answer: str) -> None:
    authorize, reason = _ANSWERS[answer]
    with warnings.catch_warnings(), home.resolver(authorize=authorize) as resolver:
        warnings.simplefilter("error")  # a coroutine that is dropped would warn
        for pointer in (home.log, home.events[0], "transcript:nobody:1"):
            result = resolver.resolve(pointer)
            assert _status(result) == ("denied", reason)
            assert result.evidence_sha256 is None
            assert result.excerpt is None
            assert result.conclusive is True


@pytest.mark.filterwarnings("error")
def test_a_coroutine_that_refuses_to_be_closed_is_a_policy_error(home: _Home) -> None:
    async def stubborn() -> bool:
        while True:
            try:
                await asyncio.sleep(0)
            except GeneratorExit:
                continue

    started = stubborn()
    started.send(None)
    stops = [started]
    with home.resolver(authorize=lambda pointer: started) as resolver:
        assert _status(resolver.resolve(home.log)) == ("denied", "policy_error")
    # It cannot be got rid of in any other way than by ending it from within.
    with pytest.raises(KeyError):
        stops.pop().throw(KeyError())


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_what_ends_the_program_passes_through(home: _Home, kind: type[BaseException]) -> None:
    with home.resolver(authorize=lambda pointer: _raise(kind())) as resolver, pytest.raises(kind):
        resolver.resolve(home.log)


@pytest.mark.parametrize("value", [True, "allow", 1, (), {}])
def test_what_cannot_be_called_is_refused_at_once(home: _Home, value: object) -> None:
    with pytest.raises(TypeError, match="authorize"):
        home.resolver(authorize=value)


def test_it_is_asked_once_for_each_input_that_parses(home: _Home) -> None:
    seen: list[str] = []

    def note(pointer: SourcePointer) -> bool:
        seen.append(pointer.raw)
        return True

    asked = ["", "x:y", "transcript:s1", home.log, home.log, home.events[0], "artifact:s1:f:0"]
    with home.resolver(authorize=note) as resolver:
        resolver.resolve_many(asked)
        assert seen == [home.log, home.log, home.events[0]]
        resolver.resolve_many(["", "nonsense", "http://x"])
        assert len(seen) == 3


def test_a_different_answer_for_each_input(home: _Home) -> None:
    answers = iter([True, False, True, None])
    with home.resolver(authorize=lambda pointer: next(answers)) as resolver:
        results = resolver.resolve_many([home.log] * 4)
    assert [result.reason for result in results] == [
        "verified_artifact", "policy_denied", "verified_artifact", "policy_error",
    ]  # fmt: skip


def test_denied_and_missing_look_alike_from_outside(home: _Home) -> None:
    with home.resolver(authorize=lambda pointer: False) as resolver:
        there, not_there = (
            resolver.resolve(pointer).to_dict() for pointer in (home.log, home.log[:-1] + "0")
        )
    del there["pointer"], not_there["pointer"]
    assert there == not_there


def test_authorization_comes_before_any_file(home: _Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with home.resolver(authorize=lambda pointer: False) as resolver, monkeypatch.context() as patch:
        patch.setattr(TrustedRoot, "_directory", lambda root: pytest.fail("a file was touched"))
        resolver.resolve_many([home.log, *home.events, "transcript:nobody:1"], jobs=2)


# -- roots, limits, excerpts ---------------------------------------------------------------------


def test_roots_stay_readable(home: _Home) -> None:
    with SourcePointerResolver(str(home.transcripts), home.artifacts) as resolver:
        assert resolver.transcript_root == home.transcripts
        assert resolver.artifact_root == home.artifacts
        assert os.fspath(resolver.transcript_root) == str(home.transcripts)


@pytest.mark.parametrize("kind", ["missing", "file", "nul"])
def test_a_root_that_does_not_exist_holds_nothing(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "root"
    if kind == "file":
        place.write_bytes(b"")
    path = "/tmp/\0" if kind == "nul" else place
    with SourcePointerResolver(path, path) as resolver:
        assert _status(resolver.resolve("transcript:s:1")) == ("missing", "transcript_missing")
        assert _status(resolver.resolve("artifact:s:f:" + "0" * 12)) == (
            "missing", "artifact_missing",
        )  # fmt: skip


def test_a_root_may_appear_later(tmp_path: Path) -> None:
    with SourcePointerResolver(tmp_path / "t", tmp_path / "a") as resolver:
        assert resolver.resolve("transcript:s1:1").reason == "transcript_missing"
        write_transcript(tmp_path / "t", "s1", 1)
        assert resolver.resolve("transcript:s1:1").reason == "verified_transcript_event"


@pytest.mark.parametrize("value", [None, 3, object(), b"x"])
def test_a_root_is_a_path(tmp_path: Path, value: object) -> None:
    with pytest.raises(TypeError):
        SourcePointerResolver(value, tmp_path)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        SourcePointerResolver(tmp_path, value)  # type: ignore[arg-type]


def test_an_open_root_may_be_passed_in_and_stays_open(home: _Home) -> None:
    with TrustedRoot(home.transcripts) as transcripts, TrustedRoot(home.artifacts) as artifacts:
        with SourcePointerResolver(transcripts, artifacts) as resolver:
            assert resolver.transcript_root == home.transcripts
            resolver.resolve_many([home.log, home.events[0]])
        held = set(open_handles().values())
        assert {str(home.transcripts), str(home.artifacts)} <= held


def test_closing_closes_what_it_opened(home: _Home) -> None:
    before = open_handles()
    resolver = home.resolver()
    assert open_handles() == before
    resolver.resolve_many([home.log, home.events[0], home.other])
    assert len(open_handles()) == len(before) + 2
    resolver.close()
    resolver.close()
    assert open_handles() == before


@pytest.mark.parametrize("chars", [0, 1, 5, 2000])
def test_excerpts(home: _Home, chars: int) -> None:
    text = "😀中é" * 1000
    pointer = write_artifact(home.artifacts, "s1", "long.txt", text.encode())
    (home.transcripts / "s3.jsonl").write_bytes(
        transcript_line("s3", 1, content=text)
        + b"\n"
        + transcript_line("s3", 2, content=[1])
        + b"\n"
    )
    expected = text[:chars] if chars else None
    with home.resolver(max_excerpt_chars=chars) as resolver:
        assert resolver.resolve(pointer).excerpt == expected
        assert resolver.resolve("transcript:s3:1").excerpt == expected
        assert resolver.resolve("transcript:s3:2").excerpt == ("[1]"[:chars] if chars else None)


def test_the_excerpt_has_2000_characters_by_default(home: _Home) -> None:
    pointer = write_artifact(home.artifacts, "s1", "long.txt", b"x" * 3000)
    with home.resolver() as resolver:
        assert resolver.resolve(pointer).excerpt == "x" * 2000


@pytest.mark.parametrize("value", [-1, 1.5, None, "10", True])
def test_max_excerpt_chars_is_a_number(home: _Home, value: object) -> None:
    with pytest.raises(ValueError, match="max_excerpt_chars"):
        home.resolver(max_excerpt_chars=value)


def test_limits_apply(home: _Home) -> None:
    limits = Limits(max_artifact_bytes=5, max_record_bytes=100)
    with home.resolver(limits=limits) as resolver:
        too_large = resolver.resolve(home.log)
        assert _status(too_large) == ("corrupt", "artifact_too_large")
        assert too_large.conclusive is False
        assert resolver.resolve(home.other).reason == "verified_artifact"
        record = resolver.resolve(home.events[0])
        assert _status(record) == ("corrupt", "transcript_record_too_large")
        assert record.conclusive is True


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.EMFILE])
@pytest.mark.parametrize("call", ["open", "read", "fstat"])
def test_a_machine_that_fails_is_inconclusive(
    home: _Home, number: int, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> bytes:
        raise OSError(number, "at /secret")

    with home.resolver(backend="walk") as resolver:
        resolver.resolve_many([home.log, home.events[0]])  # both roots are open
        with monkeypatch.context() as patch:
            if call == "read":
                patch.setattr("provenance.fs.directory._pread", refuse)
                patch.setattr(os, "pread", refuse)
            elif call == "fstat":
                patch.setattr("provenance.fs.directory._fstat", refuse)
                patch.setattr("provenance.fs.reading.os.fstat", refuse)
            else:
                patch.setattr(os, "open", refuse)
            results = resolver.resolve_many([home.log, home.events[0], "transcript:nobody:1"])
    for result in results[: 3 if call == "open" else 2]:
        assert _status(result) == ("corrupt", "source_read_failed")
        assert result.conclusive is False
        assert "secret" not in repr(result)


def test_no_answer_is_kept(home: _Home, resolver: SourcePointerResolver) -> None:
    assert resolver.resolve(home.log).reason == "verified_artifact"
    (home.artifacts / "s1" / "tool-results" / "log.txt").write_bytes(b"altered")
    assert resolver.resolve(home.log).reason == "artifact_digest_mismatch"
    (home.transcripts / "s1.jsonl").unlink()
    assert resolver.resolve(home.events[0]).reason == "transcript_missing"


def test_findings_are_heard_once(home: _Home) -> None:
    path = home.artifacts / "s1" / "tool-results" / "log.txt"
    os.link(path, home.artifacts / "second")
    home.artifacts.chmod(0o777)
    (home.transcripts / "s3.jsonl").write_bytes(b'{"type":"message"}\n')
    heard: list[tuple[str, str]] = []
    with home.resolver(
        on_finding=lambda found: heard.append((found.code, found.target))
    ) as resolver:
        for _ in range(2):
            resolver.resolve_many([home.log, home.log, home.other])
    assert sorted(heard) == [
        ("hard_link", "s1/tool-results/log.txt"),
        ("root_writable_by_others", "artifacts"),
    ]
    heard.clear()
    with home.resolver(
        on_finding=lambda found: heard.append((found.code, found.target))
    ) as resolver:
        assert resolver.resolve("transcript:s3:1").reason == "verified_transcript_event"
    assert heard
    assert all("/" not in target for _, target in heard)


def test_no_result_and_no_error_holds_a_path(home: _Home, tmp_path: Path) -> None:
    (home.artifacts / "s1" / "tool-results" / "link").symlink_to(home.transcripts)
    with home.resolver() as resolver:
        results = resolver.resolve_many(
            [home.log, *home.events, "artifact:s1:link:" + "0" * 12, "transcript:x:1"]
        )
    for result in results:
        assert str(tmp_path) not in repr(result)
        assert str(tmp_path) not in str(result.to_dict())


def test_a_ledger_is_no_transcript(tmp_path: Path) -> None:
    from provenance.artifacts import ArtifactStore

    with ArtifactStore(tmp_path) as store:
        store.spill("s1", "evidence")
    for jobs in (1, 2):
        with SourcePointerResolver(tmp_path / "s1", tmp_path) as resolver:
            pointers = ["transcript:tool-results:1", "transcript:tool-results:2"]
            for answer in resolver.resolve_many(pointers, jobs=jobs):
                assert answer.reason == Reason.OWNERSHIP_BOUNDARY
                assert answer.status is SourceResolutionStatus.DENIED


def test_a_session_may_be_called_like_the_folder_of_artifacts(tmp_path: Path) -> None:
    line = b'{"sequence":1,"session_id":"tool-results","event_id":"transcript:tool-results:1"}\n'
    (tmp_path / "tool-results.jsonl").write_bytes(line)
    with SourcePointerResolver(tmp_path, tmp_path) as resolver:
        answer = resolver.resolve("transcript:tool-results:1")
    assert answer.status is SourceResolutionStatus.AVAILABLE
