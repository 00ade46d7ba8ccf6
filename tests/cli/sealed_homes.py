"""A sealed home to alter, made by the library's own writers, and the keys that sealed it."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from provenance.artifacts import ArtifactStore
from provenance.audit.seal_writing import Seal, seal_home
from provenance.fs import TrustedRoot
from provenance.locks import LockFile, Pin, encode_lock
from provenance.resolver import SourcePointerResolver
from provenance.sealing.keys import Signer, generate_signer
from provenance.transcripts import TranscriptWriter

__all__ = ["SIGNER", "SealedHome"]

SIGNER = generate_signer("ctxaudit.example/tests")


@dataclass
class SealedHome:
    """A home with a session, two artifacts, a state and pins; `cited` is what the state cites."""

    path: Path
    key: Path
    public: Path
    cited: list[str]

    @classmethod
    def make(cls, room: Path, *, seals: int = 1) -> SealedHome:
        path = room / "home"
        key, public = room / "key", room / "key.pub"
        key.touch(mode=0o600)
        key.write_text(SIGNER.text + "\n")
        public.write_text(SIGNER.verifier.text + "\n")
        home = cls(path, key, public, [])
        home.append("s1", 5)
        home.append("s2", 2)
        home.cited.append("transcript:s1:2")
        with ArtifactStore(path) as store:
            home.cited.append(store.spill("s1", "cited " * 50, tool="bash").pointer)
            store.spill("s1", "uncited " * 50, tool="bash")
        home.state(home.cited)
        home.pins("transcript:s1:1", "transcript:s1:4")
        for number in range(seals):
            if number:
                home.append("s1", 1)
            home.seal()
        return home

    def append(self, session: str, count: int) -> None:
        with TranscriptWriter(self.path / "transcripts", session) as log:
            for _ in range(count):
                log.append({"type": "message", "role": "user", "content": "words"})

    def state(self, pointers: list[str], name: str = "a.json", claim: str = "A claim.") -> None:
        folder = self.path / "states"
        folder.mkdir(exist_ok=True)
        facts = [
            {
                "fact_id": f"f{number}",
                "content": claim,
                "source_pointer": pointer,
                "last_confirmed_at": "2026-01-01T00:00:00Z",
            }
            for number, pointer in enumerate(pointers)
        ]
        document = {"schema": "ctxaudit.state/1", "session": "s1", "facts": facts}
        (folder / name).write_text(json.dumps(document))

    def pins(self, *pointers: str, day: str = "2026-01-01") -> None:
        """Pin sources as they are, on a day."""
        with SourcePointerResolver(self.path / "transcripts", self.path) as resolver:
            answers = resolver.resolve_many(pointers)
        pins = [
            Pin(
                one.pointer,
                one.evidence_sha256 or "",
                one.evidence_bytes or 0,
                f"{day}T00:00:00Z",
                f"{day.replace('-', '')}T000000Z-{'0' * 16}",
            )
            for one in answers
        ]
        (self.path / "ctxaudit.lock").write_bytes(
            encode_lock(LockFile(tuple(sorted(pins, key=lambda pin: pin.pointer))))
        )

    def seal(self, signer: Signer = SIGNER) -> Seal:
        with TrustedRoot(self.path) as root:
            return seal_home(root, signer)

    def checkpoint(self, number: int) -> Path:
        return self.path / "seals" / f"{number:06d}.checkpoint"

    def leaves(self, number: int) -> Path:
        (found,) = (self.path / "seals").glob(f"{number:06d}-*.leaves")
        return found

    def copy(self, name: str) -> SealedHome:
        """Copy the home beside itself."""
        path = self.path.with_name(name)
        shutil.copytree(self.path, path)
        return SealedHome(path, self.key, self.public, list(self.cited))

    def copy_into(self, room: Path) -> SealedHome:
        """Copy the home and its keys into another folder."""
        for source in (self.key, self.public):
            shutil.copy(source, room / source.name)
        shutil.copytree(self.path, room / "home")
        return SealedHome(room / "home", room / "key", room / "key.pub", list(self.cited))

    def lines(self, name: str) -> list[bytes]:
        return (self.path / name).read_bytes().splitlines(keepends=True)

    def write_lines(self, name: str, lines: list[bytes]) -> None:
        (self.path / name).write_bytes(b"".join(lines))
