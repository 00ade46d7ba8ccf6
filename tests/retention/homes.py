"""Homes whose artifacts the real store made, long ago; and what tests ask of them afterwards.

Example:
    >>> LONG_AGO.year
    2026
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from provenance.artifacts import ArtifactStore
from provenance.fs import TrustedRoot
from provenance.retention import GcOrder, GcReport, collect_garbage
from tests.trees import transcript_line

__all__ = ["LONG_AGO", "NOW", "OldHome"]

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 6, 1, tzinfo=UTC)


@dataclass
class OldHome:
    """A state home; each artifact is stored by the store, then made old."""

    path: Path
    pointers: dict[str, str] = field(default_factory=dict)

    def spill(self, name: str, text: str, *, session: str = "s1", at: datetime = LONG_AGO) -> str:
        with ArtifactStore(self.path, clock=lambda: at) as store:
            spilled = store.spill(session, text, name=name, tool="bash")
        self.age(session, spilled.filename, at)
        self.pointers[name] = spilled.pointer
        return spilled.pointer

    def age(self, session: str, name: str, at: datetime = LONG_AGO) -> None:
        path = self.path / session / "tool-results" / name
        os.utime(path, (at.timestamp(), at.timestamp()), follow_symlinks=False)

    def write(self, name: str, data: str | bytes) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def state(self, name: str, *pointers: str, content: str = "A claim.") -> Path:
        facts = [
            {
                "fact_id": f"f{number}",
                "content": content,
                "source_pointer": pointer,
                "last_confirmed_at": "2026-01-01T00:00:00Z",
            }
            for number, pointer in enumerate(pointers, 1)
        ]
        document = {"schema": "ctxaudit.state/1", "session": "s1", "facts": facts}
        return self.write(f"states/{name}", json.dumps(document))

    def transcript(self, session: str, *contents: str) -> Path:
        lines = [
            transcript_line(session, number, content=content) + b"\n"
            for number, content in enumerate(contents, 1)
        ]
        return self.write(f"transcripts/{session}.jsonl", b"".join(lines))

    def gc(self, *, delete: bool = False, now: datetime = NOW, **changes: Any) -> GcReport:
        order = GcOrder(delete=delete, lock_timeout_seconds=0.2, **changes)
        with TrustedRoot(self.path) as root:
            return collect_garbage(root, order, clock=lambda: now)

    def files(self, session: str = "s1") -> set[str]:
        return {path.name for path in (self.path / session / "tool-results").iterdir()}

    def events(self, name: str, session: str = "s1") -> list[str]:
        lines = (self.path / session / "tool-results.jsonl").read_bytes().split(b"\n")
        found = [json.loads(line) for line in lines if line]
        return [line["event"] for line in found if line["filename"] == name]

    def snapshot(self) -> dict[str, bytes | str]:
        """Every name below the home with its bytes, or what it is."""
        return {
            str(path.relative_to(self.path)): (
                os.readlink(path)
                if path.is_symlink()
                else path.read_bytes()
                if path.is_file()
                else "folder"
            )
            for path in sorted(self.path.rglob("*"))
        }


def later(days: int) -> datetime:
    """So many days after the artifacts were stored."""
    return LONG_AGO + timedelta(days=days)
