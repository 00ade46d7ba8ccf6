"""Sealed artifacts that are gone, and ledger lines that say so."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.audit.part import AuditPart
from provenance.audit.seal_leaves import Collected, collect
from provenance.audit.sealed_artifacts import SealedArtifacts
from provenance.fs import TrustedRoot
from provenance.sealing.checkpoint import Checkpoint
from provenance.sealing.history import History, HomeLeaves, new_leaves
from provenance.sealing.keys import sign_note
from provenance.sealing.leaves import LedgerLeaf
from provenance.sealing.log import publish_checkpoint, publish_leaves
from provenance.sealing.merkle import GrowingTree, leaf_hash
from provenance.sealing.reading import read_log
from tests.cli.sealed_homes import SIGNER, SealedHome

Call = Callable[..., Any]


@pytest.fixture(scope="session")
def _once(tmp_path_factory: pytest.TempPathFactory) -> SealedHome:
    return SealedHome.make(tmp_path_factory.mktemp("removals"))


@pytest.fixture
def sealed(_once: SealedHome, tmp_path: Path) -> SealedHome:
    return _once.copy_into(tmp_path)


def _verify(call: Call, home: SealedHome, *options: str) -> Any:
    done = call("verify", home.path, "--seal", home.public, "--format", "json", *options)
    assert done.out, done.err
    return done


def _codes(done: Any, severity: str = "error") -> set[str]:
    return {one["code"] for one in done.report["findings"] if one["severity"] == severity}


def _remove_uncited(home: SealedHome) -> dict[str, Any]:
    entry: dict[str, Any] = json.loads(home.lines("s1/tool-results.jsonl")[1])
    (home.path / "s1/tool-results" / entry["filename"]).unlink()
    return entry


def test_a_removal_before_the_first_seal_is_no_fault(call: Call, sealed: SealedHome) -> None:
    """`gc` in a home without seals: its lines are sealed together, and nothing is said of it."""
    shutil.rmtree(sealed.path / "seals")
    entry = _remove_uncited(sealed)
    _append_removed(sealed, entry)
    sealed.seal()
    sealed.append("s1", 1)
    sealed.seal()
    done = _verify(call, sealed)
    assert (done.code, _codes(done), _codes(done, "warning")) == (0, set(), set())


def test_a_removal_line_of_what_is_there_is_not_sealed(call: Call, sealed: SealedHome) -> None:
    """Once it was sealed, the artifact could be taken; a killed `gc` leaves the same."""
    entry = json.loads(sealed.lines("s1/tool-results.jsonl")[1])
    file = f"s1/tool-results/{entry['filename']}"
    _append_removed(sealed, entry)
    for begun in (True, False):
        if not begun:
            shutil.rmtree(sealed.path / "seals")
        for options in ((), ("--accept-removed",)):
            done = call("seal", sealed.path, "--key", sealed.key, *options)
            assert (done.code, done.out) == (14, "")
            said = "ledger: expected no line that says removed of what is there, got one"
            assert f"{file}: {said} (ledger_line_untrue)" in done.err
            assert "--accept-removed" not in done.err


@pytest.mark.parametrize("is_first", [False, True])
@pytest.mark.parametrize("what", ["gone", "altered", "invented"])
def test_a_line_that_says_stored_of_what_is_not_there_is_not_sealed(
    call: Call, sealed: SealedHome, what: str, is_first: bool
) -> None:
    """Sealed, it could not be taken back: no seal would hold any more."""
    entry = json.loads(sealed.lines("s1/tool-results.jsonl")[1])
    path = sealed.path / "s1/tool-results.jsonl"
    sealed_lines = path.read_bytes()
    if is_first:
        shutil.rmtree(sealed.path / "seals")
    if what == "invented" or not is_first:
        name = entry["filename"] if what == "invented" else "tool_result_900.txt"
        digest = "0" * 64 if what == "invented" else hashlib.sha256(b"text").hexdigest()
        (path.parent / "tool-results/tool_result_900.txt").write_bytes(b"text")
        with path.open("a") as file:
            file.write(json.dumps({**entry, "filename": name, "sha256": digest}) + "\n")
    else:
        name = entry["filename"]
    artifact = path.parent / "tool-results" / name
    if what == "gone":
        artifact.unlink()
    elif what == "altered":
        artifact.write_bytes(b"TEXT")
    before = sorted(sealed.path.glob("seals/*"))
    for options in ((), ("--accept-removed",)):
        done = call("seal", sealed.path, "--key", sealed.key, *options)
        assert (done.code, done.out) == (14, ""), done.err
        said = "ledger: expected a line that says what lies there, before it is sealed, got "
        assert f"s1/tool-results/{name}: {said}" in done.err
        assert "(ledger_line_untrue)" in done.err
    assert sorted(sealed.path.glob("seals/*")) == before
    # Not sealed yet, the line can be taken away or answered for.
    if what == "gone":
        _append_removed(
            sealed, json.loads(path.read_bytes().splitlines()[-1 if not is_first else 1])
        )
    elif not is_first:
        path.write_bytes(sealed_lines)
    else:
        return
    assert call("seal", sealed.path, "--key", sealed.key).code == 0


def test_an_unsealed_removal_is_an_error_until_somebody_answers_for_it(
    call: Call, sealed: SealedHome
) -> None:
    entry = _remove_uncited(sealed)
    file = f"s1/tool-results/{entry['filename']}"
    _append_removed(sealed, entry)
    for options in ((), ("--all",), ("--fast",), ("--jobs", "2"), ("--fail-on", "corrupt")):
        done = _verify(call, sealed, *options)
        assert done.code == 14, options
        assert "sealed_artifact_removed" in _codes(done)
    targets = {one["code"]: one["target"] for one in done.report["findings"]}
    assert targets["sealed_artifact_removed"] == file
    # It is not sealed by the way.
    done = call("seal", sealed.path, "--key", sealed.key)
    assert (done.code, done.out) == (14, "")
    assert f"{file}: artifact: expected the sealed bytes, got nothing" in done.err
    assert "--accept-removed" in done.err
    assert not sealed.checkpoint(2).exists()
    # Accepted, it is said once by `seal` and by each `verify`.
    done = call("seal", sealed.path, "--key", sealed.key, "--accept-removed", "--quiet")
    assert done.code == 0
    assert f"{file}: artifact: its removal was accepted" in done.err
    done = _verify(call, sealed)
    assert (done.code, _codes(done)) == (0, set())
    assert _codes(done, "warning") == {"sealed_artifact_removed"}
    sealed.append("s1", 1)
    done = call("seal", sealed.path, "--key", sealed.key)
    assert (done.code, "sealed_artifact_removed" in done.err) == (0, False)
    assert "sealed_artifact_removed" in _codes(_verify(call, sealed), "warning")
    # What lies there again has to have the sealed bytes.
    (sealed.path / file).write_bytes(b"other")
    assert "sealed_artifact_altered" in _codes(_verify(call, sealed))


@pytest.mark.parametrize("digest", ["0" * 64, None])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_removal_of_other_bytes_excuses_nothing(
    call: Call, sealed: SealedHome, digest: str | None, end: bytes
) -> None:
    entry = _remove_uncited(sealed)
    _append_removed(sealed, entry | {"sha256": digest}, end=end)
    done = _verify(call, sealed)
    assert (done.code, _codes(done)) == (14, {"sealed_artifact_missing"})
    for options in ((), ("--accept-removed",)):
        done = call("seal", sealed.path, "--key", sealed.key, *options)
        assert (done.code, "sealed_artifact_missing" in done.err) == (14, True)
        assert "--accept-removed" not in done.err
    # Nor where the key signed it.
    _append_to_log(sealed)
    done = _verify(call, sealed)
    assert (done.code, _codes(done)) == (14, {"sealed_artifact_missing"})


def _append_to_log(home: SealedHome) -> None:
    """Sign the ledger's new line as it stands, as a `seal` would that does not look."""
    with TrustedRoot(home.path) as root:
        log = read_log(root, SIGNER.verifier)
        part = AuditPart(transcripts=root.subroot("transcripts"), artifacts=root)
        leaves = new_leaves(log.history, collect(root, part, sealed=log.history).leaves)
        tree = GrowingTree()
        for hashed in (*log.hashes, *(leaf_hash(leaf.entry) for leaf in leaves)):
            tree.append(hashed)
        checkpoint = Checkpoint(SIGNER.name, tree.size, tree.root())
        publish_leaves(root, 2, checkpoint.root, [leaf.entry for leaf in leaves])
        assert publish_checkpoint(root, 2, sign_note(checkpoint.text, SIGNER))


def _append_removed(home: SealedHome, entry: dict[str, Any], *, end: bytes = b"\n") -> None:
    line = {key: entry[key] for key in ("schema", "filename", "sha256", "blake3", "bytes")}
    line |= {"event": "removed", "recorded_at": "1999-01-01T00:00:00Z"}
    with (home.path / "s1/tool-results.jsonl").open("ab") as file:
        file.write(json.dumps(line).encode() + end)


# --- the rule by itself -------------------------------------------------------------------------

_NAMES, _DIGESTS = ("a.txt", "b.txt"), ("a" * 64, "b" * 64, None)
_LINES = st.lists(
    st.tuples(
        st.sampled_from(["stored", "removed", "renamed"]),
        st.sampled_from(_NAMES),
        st.sampled_from(_DIGESTS),
    ),
    max_size=8,
)


@given(seals=st.lists(_LINES, max_size=4))
def test_only_a_sealed_line_with_its_digest_takes_an_artifact_out(
    seals: list[list[tuple[str, str, str | None]]],
) -> None:
    sealed, number = History(), 0
    standing: set[tuple[str, str]] = set()
    for lines in seals:
        before = set(standing)
        for event, name, digest in lines:
            number += 1
            sealed.add(LedgerLeaf("s1", number, "0" * 64, event, name, digest))
            if digest is not None and event == "stored":
                standing.add((name, digest))
            elif digest is not None and event == "removed" and (name, digest) not in before:
                standing.discard((name, digest))
        sealed.end_seal()
    # What an earlier seal has and nobody removed in the seal that brought it is always asked for.
    now = Collected(HomeLeaves())
    asked = {tuple(one.split(":")[2:]) for one in SealedArtifacts(sealed, now).pointers()}
    assert asked >= standing
