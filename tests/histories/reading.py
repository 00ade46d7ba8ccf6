"""Real transcripts of the samples, as histories."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from provenance.fs.root import TrustedRoot
from provenance.histories import History, history_of
from provenance.limits import DEFAULT_LIMITS
from provenance.transcripts.discovery import Candidate, open_candidate
from provenance.transcripts.records import Fault, Record

SAMPLES = Path(__file__).parent.parent / "data" / "transcripts"
NATIVE = Path(__file__).parent.parent / "data" / "native"


def items(path: Path) -> tuple[str, list[Record | Fault]]:
    """Give the format of a transcript, and what its adapter gives."""
    candidate = Candidate((), is_folder=True) if path.is_dir() else Candidate((path.name,))
    root = TrustedRoot(path if path.is_dir() else path.parent)
    with root, open_candidate(root, candidate, limits=DEFAULT_LIMITS) as opened:
        assert opened.format is not None
        return opened.format.name, list(opened.format.records(opened.source))


def history(path: Path, session: str | None = None) -> History:
    """Give the messages of a transcript."""
    name, found = items(path)
    return history_of(found, name, session=session)


def transcripts() -> Iterator[Path]:
    """Give every sample that holds one conversation, of each format."""
    yield from sorted(SAMPLES.glob("claude-code/real/*/full.jsonl"))
    yield from sorted(SAMPLES.glob("claude-code/synthetic/*.jsonl"))
    yield from sorted(SAMPLES.glob("codex/*.jsonl"))
    yield from sorted(SAMPLES.glob("dsh/*/session.jsonl"))
    yield from sorted(SAMPLES.glob("gemini-cli/**/*.jsonl"))
    yield SAMPLES / "inspect" / "log_message_deduplication.eval"
    yield SAMPLES / "openhands" / "events.jsonl"
    yield SAMPLES / "openhands" / "conversation" / "events"
    yield from (NATIVE / f"{name}.jsonl" for name in ("clean", "legacy-no-envelope", "open-call"))
