"""What the tests of the store ask of a session's folder, with plain file calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.trees import sha256_of

__all__ = ["artifacts_in", "check_session_is_whole", "ledger_lines", "ledger_of"]


def ledger_of(home: Path, session: str = "s1") -> Path:
    """The ledger's path."""
    return home / session / "tool-results.jsonl"


def ledger_lines(home: Path, session: str = "s1") -> list[dict[str, Any]]:
    """Every line of the ledger; all of them must be JSON with an end."""
    data = ledger_of(home, session).read_bytes()
    assert data == b"" or data.endswith(b"\n")
    return [json.loads(line) for line in data.split(b"\n")[:-1]]


def artifacts_in(home: Path, session: str = "s1") -> dict[str, bytes]:
    """Every file in the session's folder; nothing but artifacts may be there."""
    folder = home / session / "tool-results"
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def check_session_is_whole(home: Path, session: str = "s1") -> dict[str, bytes]:
    """Each artifact has exactly one `stored` line that is true, and each such line an artifact."""
    artifacts = artifacts_in(home, session)
    stored = [line for line in ledger_lines(home, session) if line["event"] == "stored"]
    assert sorted(line["filename"] for line in stored) == sorted(artifacts)
    for line in stored:
        data = artifacts[line["filename"]]
        assert (line["sha256"], line["bytes"]) == (sha256_of(data), len(data))
    return artifacts
