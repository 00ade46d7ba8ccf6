"""What a home holds that a seal covers, as it is collected."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from provenance.artifacts import ArtifactStore
from provenance.audit.home import HomeReader
from provenance.audit.notes import Notes
from provenance.audit.part import AuditPart
from provenance.audit.request import AuditRequest
from provenance.audit.seal_leaves import Collected, collect, operators_part
from provenance.audit.seal_writing import SealRefused, seal_home
from provenance.fs import TrustedRoot
from provenance.resolution import SourceResolutionStatus
from provenance.resolver import SourcePointerResolver
from provenance.sealing.history import History
from provenance.sealing.keys import generate_signer

SIGNER = generate_signer("ctxaudit.example/leaves")


def _part(path: Path) -> AuditPart:
    return HomeReader(AuditRequest(), Notes()).part_of(TrustedRoot(path), prefix="")


def _collected(path: Path, sealed: History | None = None) -> Collected:
    part = _part(path)
    operators = operators_part(part, AuditRequest())
    try:
        return collect(TrustedRoot(path), operators, sealed=sealed, withheld_by=part)
    finally:
        part.close()
        operators.close()


def _codex(path: Path, session: str, count: int) -> None:
    meta = {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": session}}
    lines = [json.dumps(meta)]
    for number in range(count):
        payload = {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": f"event {number}"}],
        }
        record = {"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": payload}
        lines.append(json.dumps(record))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("name", ["rollout-x.jsonl", "s9.jsonl", "deeper/rollout-x.jsonl"])
def test_records_of_another_agents_log_are_those_that_pointers_lead_to(
    tmp_path: Path, name: str
) -> None:
    _codex(tmp_path / "transcripts" / name, "s9", 3)
    events = _collected(tmp_path).leaves.events
    assert set(events) == {"s9"}
    with SourcePointerResolver(tmp_path / "transcripts", tmp_path) as resolver:
        for ordinal, digest in enumerate(events["s9"], 1):
            answer = resolver.resolve(f"transcript:s9:{ordinal}")
            assert answer.status is SourceResolutionStatus.AVAILABLE
            assert answer.evidence_sha256 == digest
        assert len(events["s9"]) == 4


@pytest.mark.parametrize("second", ["aaa.jsonl", "zzz.jsonl", "deeper/zzz.jsonl"])
def test_a_second_log_of_a_sealed_session(tmp_path: Path, second: str) -> None:
    """What is sealed is found in the log that has it; the other one is named, never sealed."""
    _codex(tmp_path / "transcripts/rollout-x.jsonl", "s9", 3)
    sealed = _collected(tmp_path).leaves
    history = History(events={"s9": list(sealed.events["s9"])})
    _codex(tmp_path / "transcripts" / second, "s9", 2)
    found = _collected(tmp_path, history)
    assert found.leaves.events == sealed.events
    assert (found.files, found.claims) == ({"s9": "rollout-x.jsonl"}, {"s9": second})
    # Two that begin alike and go on in two ways: neither is the one that is to be sealed.
    _codex(tmp_path / "transcripts" / second, "s9", 5)
    assert _collected(tmp_path, history).leaves.events == sealed.events
    # Without a seal it is not known which of them it is.
    assert _collected(tmp_path).leaves.events == {}


def test_events_are_those_that_pointers_lead_to(tmp_path: Path) -> None:
    folder = tmp_path / "transcripts"
    folder.mkdir()
    lines = [b'{"sequence":1,"content":"a"}\r\n', b'{"sequence":2,"content":"b"}']
    (folder / "s1.jsonl").write_bytes(b"".join(lines))
    events = _collected(tmp_path).leaves.events
    assert events["s1"] == [hashlib.sha256(line.rstrip()).hexdigest() for line in lines]
    with SourcePointerResolver(folder, tmp_path) as resolver:
        for ordinal, digest in enumerate(events["s1"], 1):
            assert resolver.resolve(f"transcript:s1:{ordinal}").evidence_sha256 == digest


def test_names_that_are_no_sessions_and_what_is_no_state(tmp_path: Path) -> None:
    for folder in ("transcripts", "states", "states/b.json", "s1", "seals/tool-results"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "transcripts/not a name.jsonl").write_text("{}\n")
    (tmp_path / "states/._a.json").write_text("{}")
    (tmp_path / "states/a.txt").write_text("{}")
    (tmp_path / "states/c.json").symlink_to(tmp_path / "states/a.txt")
    (tmp_path / "seals/tool-results.jsonl").write_text("{}\n")
    os.mkfifo(tmp_path / "states/d.json")
    (tmp_path / "states" / os.fsdecode(b"\xff.json")).write_text("{}")
    leaves = _collected(tmp_path).leaves
    assert leaves.events == leaves.ledgers == leaves.lock == {}
    assert leaves.states == {b"\xff.json": (hashlib.sha256(b"{}").hexdigest(),)}


def test_a_ledger_line_that_is_no_entry_is_sealed_as_it_stands(tmp_path: Path) -> None:
    (tmp_path / "s1").mkdir()
    removed = b'{"schema":"ctxaudit.artifact/1","event":"removed","filename":"a.txt"}'
    (tmp_path / "s1/tool-results.jsonl").write_bytes(removed + b"\nrubbish\n" + removed)
    first, second, third = _collected(tmp_path).leaves.ledgers["s1"]
    assert (first.event, first.filename, first.line) == ("removed", "a.txt", 1)
    # A whole entry that lacks its line end alone counts, as its next reader takes it.
    assert (third.event, third.sha256, third.line) == ("removed", first.sha256, 3)
    assert (second.event, second.line) == (None, 2)
    assert second.sha256 == hashlib.sha256(b"rubbish").hexdigest()


@pytest.mark.parametrize("text", ["", "[]", '{"a":1,"a":2}', '{"pins":[', "\xff"])
def test_a_lock_file_that_cannot_be_read_is_not_taken_for_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "transcripts").mkdir()
    (tmp_path / "transcripts/s1.jsonl").write_text('{"sequence":1}\n')
    (tmp_path / "ctxaudit.lock").write_bytes(text.encode("latin-1"))
    found = _collected(tmp_path)
    assert ("lock", "") in found.unread
    with pytest.raises(SealRefused) as caught:
        seal_home(TrustedRoot(tmp_path), SIGNER)
    assert not caught.value.is_conclusive
    assert not (tmp_path / "seals").exists()


_OWN_SETTINGS = [
    '[policy]\ndefault = "allow"\n\n[[policy.rule]]\neffect = "deny"\nsession = "s2"\nwhy = "w"\n',
    '[[rule]]\neffect = "deny"\nsession = "s*"\n',
    '[[rule]]\neffect = "deny"\nkind = "artifact"\n',
    'default = "deny"\n',
    "[limits]\nmax_record_bytes = 1\nmax_foreign_record_bytes = 1\nmax_nesting = 1\n",
    "[limits]\nmax_artifact_bytes = 1\n",
    'refuse = ["hard-links", "world-writable"]\n',
    'formats = ["inspect"]\n',
    'artifact_root = "/elsewhere"\ntranscript_root = "/elsewhere"\n',
    "nonsense = [",
]


@pytest.mark.parametrize("text", _OWN_SETTINGS)
def test_a_home_keeps_nothing_out_of_its_seal(tmp_path: Path, text: str) -> None:
    """The same entries as without `ctxaudit.toml`, at the first seal and at a later one."""
    homes = []
    for name in ("plain", "own"):
        home = tmp_path / name
        (home / "states").mkdir(parents=True)
        (home / "transcripts").mkdir()
        for session in ("s1", "s2"):
            (home / f"transcripts/{session}.jsonl").write_text('{"sequence":1}\n')
        _codex(home / "transcripts/rollout-x.jsonl", "s9", 2)
        with ArtifactStore(home) as store:
            store.spill("s2", "words " * 9, tool="bash")
        os.link(home / "transcripts/s1.jsonl", home / "hard-link")
        ledger = home / "s2/tool-results.jsonl"
        entry = json.loads(ledger.read_text()) | {"recorded_at": "2026-01-01T00:00:00Z"}
        ledger.write_text(json.dumps(entry) + "\n")
        (home / "states/a.json").write_text('{"a":[[[1]]]}')
        homes.append(home)
    own = homes[1]
    (own / "ctxaudit.toml").write_text(text)
    for number in (1, 2):
        roots = {seal_home(TrustedRoot(home), SIGNER).checkpoint.root for home in homes}
        assert len(roots) == 1, number
        for home in homes:
            with (home / "transcripts/s2.jsonl").open("a") as file:
                file.write('{"sequence":2}\n')
            _codex(home / "transcripts/rollout-x.jsonl", "s9", 3)
    seal_home(TrustedRoot(own), SIGNER)
    (own / "transcripts/s2.jsonl").write_text('{"sequence":9}\n{"sequence":2}\n')
    with pytest.raises(SealRefused, match="sealed_event"):
        seal_home(TrustedRoot(own), SIGNER)


def test_what_the_home_denies_and_no_seal_covers_is_not_collected(tmp_path: Path) -> None:
    """So that `verify` tells nothing of it; what is sealed of it is compared."""
    (tmp_path / "transcripts").mkdir()
    for session in ("s1", "s2"):
        (tmp_path / f"transcripts/{session}.jsonl").write_text('{"sequence":1}\n' * 2)
    (tmp_path / "ctxaudit.toml").write_text(_OWN_SETTINGS[0])
    assert set(_collected(tmp_path).leaves.events) == {"s1"}
    history = History(events={"s2": ["0" * 64]})
    assert len(_collected(tmp_path, history).leaves.events["s2"]) == 1
