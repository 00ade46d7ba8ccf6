"""Whatever the files contain and whatever is asked, a result comes back and nothing is raised."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provenance.fs import BackendName
from provenance.resolution import REASON_STATUS, Reason, SourceResolution
from provenance.resolver import SourcePointerResolver
from tests.attacks.hostile import SECRET, build
from tests.trees import run_python, transcript_line, write_artifact

pytestmark = pytest.mark.attack


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    home = tmp_path_factory.mktemp("home")
    return home, list(build(home))


def _check(result: SourceResolution, text: str) -> None:
    assert result.pointer == text
    assert result.status is REASON_STATUS[Reason(str(result.reason))]
    assert (result.status == "available") == (result.evidence_sha256 is not None)
    assert (result.status == "available") == (result.strength is not None)
    assert SECRET not in (result.excerpt or "")
    assert json.loads(json.dumps(result.to_dict())) == result.to_dict()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_text_has_an_answer(
    home: tuple[Path, list[str]], backend: BackendName, data: st.DataObject
) -> None:
    place, pointers = home
    parts = sorted({part for pointer in pointers for part in pointer.split(":")})
    text = st.one_of(
        st.text(),
        st.sampled_from(pointers),
        st.lists(st.sampled_from([*parts, ".", "..", "/", "\0", "\n", "\ud800"]), max_size=5).map(
            ":".join
        ),
        st.builds(
            lambda pointer, at, extra: pointer[:at] + extra + pointer[at:],
            st.sampled_from(pointers),
            st.integers(0, 90),
            st.text(max_size=2),
        ),
    )
    asked = data.draw(st.lists(text, max_size=8))
    with SourcePointerResolver(
        place / "transcripts", place / "artifacts", backend=backend
    ) as resolver:
        results = resolver.resolve_many(asked)
    assert len(results) == len(asked)
    for result, one in zip(results, asked, strict=True):
        _check(result, one)


_FRAGMENTS = st.sampled_from(
    [
        b"", b"\n", b"\r\n", b"\r", b" ", b"{}", b"[]", b"null", b"true", b'"text"', b"{", b"}",
        b"1", b"9" * 5000, b"1e999", b"-0", b"NaN", b"Infinity", b"\x00", b"\xff", b"\xef\xbb\xbf",
        b'{"a":"\\ud800"}', b'{"a":1,"a":2}', b"[" * 3000, b'{"a":' * 3000, b"\xe2\x80\xa8",
        b'"' + b"x" * 3000, transcript_line("s", 1), transcript_line("s", 2),
        transcript_line("other", 1), transcript_line("s", 1, sequence=True),
        transcript_line("s", 1, sequence=1.0), transcript_line("s", 1, sequence="1"),
        transcript_line("s", 1, sequence=10**400), transcript_line("s", 1, session_id=None),
        transcript_line("s", 1, event_id=["x"]), transcript_line("s", 1, content={"a": [1.5]}),
        transcript_line("s", 1, schema_version={}), transcript_line("s", 1, recorded_at=0),
    ]
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pieces=st.lists(st.one_of(_FRAGMENTS, st.binary(max_size=8)), max_size=6),
    glue=st.sampled_from([b"\n", b"", b"\r\n", b"}{"]),
)
def test_any_bytes_have_an_answer(tmp_path: Path, pieces: list[bytes], glue: bytes) -> None:
    data = glue.join(pieces)
    (tmp_path / "s.jsonl").write_bytes(data)
    (tmp_path / "s").mkdir(exist_ok=True)
    (tmp_path / "s" / "tool-results.jsonl").write_bytes(data)
    pointer = write_artifact(tmp_path, "s", "f", data)
    asked = [*(f"transcript:s:{number}" for number in (1, 2, 3, 10**18 - 1)), pointer]
    asked.append("artifact:s:gone:" + "0" * 12)
    with SourcePointerResolver(tmp_path, tmp_path) as resolver:
        for result, text in zip(resolver.resolve_many(asked), asked, strict=True):
            _check(result, text)
        alone = tuple(map(resolver.resolve, asked))
        # What is said of one does not depend on which others are asked for.
        assert alone == resolver.resolve_many(asked)


_MONSTERS = {
    "deep arrays": b"[" * 200_000,
    "deep objects": b'{"a":' * 200_000,
    "deep and closed": b"[" * 200_000 + b"]" * 200_000,
    "deep in a field": b'{"content":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "a long number": b'{"n":' + b"9" * 5000 + b"}",
    "a longer number": b'{"n":' + b"9" * 900_000 + b"}",
    "a long exponent": b'{"n":1e' + b"9" * 5000 + b"}",
    "lone surrogates": b'{"content":"' + b"\\ud800" * 1000 + b'"}',
    "NUL bytes": b"\0" * 100_000,
    "no line end": b"x" * 2_000_000,
    "empty lines": b"\n" * 100_000,
    "many keys": b"{" + b",".join(b'"k%d":0' % number for number in range(60_000)) + b"}",
    "equal keys": b"{" + b",".join([b'"k":0'] * 60_000) + b"}",
    "escapes": b'{"content":"' + b"\\u0000" * 100_000 + b'"}',
}


@pytest.mark.parametrize("name", _MONSTERS)
def test_monsters(tmp_path: Path, name: str) -> None:
    data = _MONSTERS[name]
    (tmp_path / "s.jsonl").write_bytes(data)
    (tmp_path / "t.jsonl").write_bytes(transcript_line("t", 1) + b"\n" + data + b"\n")
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "tool-results.jsonl").write_bytes(data + b"\n")
    asked = ["transcript:s:1", "transcript:t:1", "transcript:t:2", "artifact:s:f:" + "0" * 12]
    limit = sys.getrecursionlimit()
    with SourcePointerResolver(tmp_path, tmp_path) as resolver:
        results = resolver.resolve_many(asked)
        for result, text in zip(results, asked, strict=True):
            _check(result, text)
    assert results[1].status == "available"
    assert results[3].reason == "artifact_missing"
    assert sys.getrecursionlimit() == limit


_HUGE = """
import resource, sys
from provenance.resolver import SourcePointerResolver
home = sys.argv[1]
with SourcePointerResolver(home, home) as resolver:
    resolver.resolve("transcript:small:1")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    results = resolver.resolve_many(sys.argv[2:])
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(*(str(result.reason) for result in results))
print((after - before) // 1024)
"""


def test_a_line_of_200_megabytes_costs_no_memory(tmp_path: Path) -> None:
    (tmp_path / "small.jsonl").write_bytes(transcript_line("small", 1) + b"\n")
    with (tmp_path / "huge.jsonl").open("wb") as file:
        file.write(transcript_line("huge", 1) + b"\n")
        file.seek(200 << 20, os.SEEK_CUR)
        file.write(b"\n")
    folder = tmp_path / "a" / "tool-results"
    folder.mkdir(parents=True)
    with (folder / "f").open("wb") as file:
        file.truncate(200 << 20)
    asked = ["transcript:huge:1", "transcript:huge:2", "artifact:a:f:" + "0" * 12]
    reasons, mebibytes = run_python(_HUGE, tmp_path, *asked).stdout.splitlines()
    assert reasons == (
        "verified_transcript_event transcript_record_too_large artifact_digest_mismatch"
    )
    assert int(mebibytes) <= 32
