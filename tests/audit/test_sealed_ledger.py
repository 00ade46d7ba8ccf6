"""Which ledger entries may be rested on: sealed in their place, and not taken back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from provenance.artifacts import ArtifactStore
from provenance.audit import AuditRequest
from provenance.audit.home import HomeReader
from provenance.audit.notes import Notes
from provenance.audit.seal_writing import seal_home
from provenance.audit.sealed import PartSeal
from provenance.fs import TrustedRoot
from provenance.sealing.keys import generate_signer
from provenance.sealing.sealed_log import SealTrust

SIGNER = generate_signer("ctxaudit.example/ledger")


def _entries(home: Path) -> dict[tuple[str, str], str | None]:
    trust = SealTrust(SIGNER.verifier)
    request = AuditRequest(seal=trust)
    part = HomeReader(request, Notes()).part_of(TrustedRoot(home), prefix="")
    try:
        found = PartSeal(part, request, trust, Notes()).ledger()
    finally:
        part.close()
    return {key: line.blake3 for key, line in found.lines.items()}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with ArtifactStore(tmp_path / "home") as store:
        for number in range(2):
            store.spill("s1", f"artifact {number}", tool="bash")
    with TrustedRoot(tmp_path / "home") as root:
        seal_home(root, SIGNER)
    return tmp_path / "home"


def _unseal(home: Path) -> None:
    next((home / "seals").glob("*.checkpoint")).write_text("none")


def _edit(home: Path) -> None:
    path = home / "s1/tool-results.jsonl"
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0].replace(b'"bash"', b'"dash"'), *lines[1:]]))


def _swap_lines(home: Path) -> None:
    path = home / "s1/tool-results.jsonl"
    first, second, rest = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([second, first, rest]))


def _remove(home: Path) -> None:
    line = b'{"schema":"ctxaudit.artifact/1","event":"removed","filename":"tool_result_001.txt"}\n'
    with (home / "s1/tool-results.jsonl").open("ab") as file:
        file.write(line)


def _store_again(home: Path) -> None:
    path = home / "s1/tool-results.jsonl"
    first = path.read_bytes().split(b"\n")[0]
    path.write_bytes(path.read_bytes() + first.replace(b'"bash"', b'"dash"') + b"\n")


def _add(home: Path) -> None:
    with ArtifactStore(home) as store:
        store.spill("s1", "one more", tool="bash")


@pytest.mark.parametrize(
    ("alter", "left"),
    [(_unseal, 0), (_edit, 1), (_swap_lines, 0), (_remove, 1), (_store_again, 1), (_add, 2)],
)
def test_only_sealed_lines_are_offered(
    home: Path, alter: Callable[[Path], None], left: int
) -> None:
    before = _entries(home)
    assert len(before) == 2
    assert all(before.values())
    alter(home)
    after = _entries(home)
    assert len(after) == left
    assert after.items() <= before.items()
