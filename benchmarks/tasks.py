"""What runs inside the measured interpreters: `python -m benchmarks.tasks TASK ...`.

Guarantees: prints one JSON object with the seconds of the work alone (interpreter start, imports
and reading of the argument lists are outside, the start-up row has those), what was computed, and
the highest resident memory of this process as the kernel has it.

Example:
    python -m benchmarks.tasks resolve --artifacts ROOT --pointers FILE --jobs 2
"""

from __future__ import annotations

import argparse
import cProfile
import hashlib
import json
import platform
import pstats
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from provenance.artifacts.sealed import SealedLines
    from provenance.audit_report import AuditReport
    from provenance.resolution import SourceResolution

__all__ = ["main"]

# In the profile of `--profile`: enough to show where the time goes on one screen.
_PROFILE_LINES = 25
_SPILL_BYTES = 100_000

# The timed part; what it gives back says, after the clock has stopped, what was computed.
Work = Callable[[], Callable[[], str | None]]


def main() -> None:
    """Run one task and print its report."""
    arguments = _parser().parse_args()
    work: Work = arguments.setup(arguments)
    profile = cProfile.Profile() if arguments.profile else None
    started = time.perf_counter()
    check = work() if profile is None else profile.runcall(work)
    seconds = time.perf_counter() - started
    peak = peak_kib()
    print(json.dumps({"seconds": seconds, "check": check(), "peak_kib": peak}))
    if profile is not None:
        statistics = pstats.Stats(profile, stream=sys.stderr)
        statistics.sort_stats("tottime").print_stats(_PROFILE_LINES)


def peak_kib() -> int:
    """Highest resident memory of this process since its `exec`, in KiB."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    # Where there is no /proc; macOS counts bytes.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if platform.system() == "Darwin" else peak


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.tasks")
    parser.add_argument("--profile", action="store_true", help="print a profile to stderr")
    tasks = parser.add_subparsers(required=True)

    resolve = tasks.add_parser("resolve")
    resolve.add_argument("--transcripts", type=Path, default=Path("absent"))
    resolve.add_argument("--artifacts", type=Path, default=Path("absent"))
    resolve.add_argument("--pointers", type=Path, required=True)
    resolve.add_argument("--jobs", type=int, default=1)
    resolve.add_argument("--excerpt-chars", type=int, default=0)
    resolve.add_argument("--check", choices=("count", "evidence", "none"), default="count")
    resolve.add_argument("--sealed", type=Path)
    resolve.set_defaults(setup=_resolve)

    strict = tasks.add_parser("strict-transcript")
    strict.add_argument("path", type=Path)
    strict.add_argument("session_id")
    strict.add_argument("--cited-every", type=int, required=True)
    strict.set_defaults(setup=_strict_transcript)

    hashing = tasks.add_parser("hash")
    hashing.add_argument("path", type=Path)
    hashing.set_defaults(setup=_hash)

    audit = tasks.add_parser("audit")
    audit.add_argument("target", type=Path)
    audit.add_argument("--jobs", type=int, default=1)
    audit.add_argument("--check", choices=("records", "none"), default="records")
    audit.add_argument("--sandbox", action="store_true")
    audit.set_defaults(setup=_audit)

    parsing = tasks.add_parser("json-lines")
    parsing.add_argument("root", type=Path)
    parsing.set_defaults(setup=_json_lines)

    for name, setup in (("seal", _seal), ("check-seal", _check_seal)):
        sealing = tasks.add_parser(name)
        sealing.add_argument("home", type=Path)
        sealing.set_defaults(setup=setup)

    digests = tasks.add_parser("line-digests")
    digests.add_argument("path", type=Path)
    digests.set_defaults(setup=_line_digests)

    loop = tasks.add_parser("artifacts-by-hand")
    loop.add_argument("root", type=Path)
    loop.add_argument("manifest", type=Path)
    loop.set_defaults(setup=_artifacts_by_hand)

    for name, setup in (("spill", _spill), ("spill-by-hand", _spill_by_hand)):
        spilling = tasks.add_parser(name)
        spilling.add_argument("root", type=Path)
        spilling.add_argument("--count", type=int, required=True)
        spilling.set_defaults(setup=setup)
    return parser


def _resolve(arguments: argparse.Namespace) -> Work:
    from provenance.pointers import SourcePointer
    from provenance.resolver import SourcePointerResolver

    pointers = arguments.pointers.read_text().split("\n")[:-1]
    sessions = frozenset(pointer.split(":")[1] for pointer in pointers)

    def authorize(pointer: SourcePointer) -> bool:
        return pointer.session_id in sessions

    sealed = None if arguments.sealed is None else _sealed_lines(arguments.sealed)

    def work() -> Callable[[], str | None]:
        with SourcePointerResolver(
            arguments.transcripts,
            arguments.artifacts,
            authorize=authorize,
            max_excerpt_chars=arguments.excerpt_chars,
            sealed_ledger=sealed,
        ) as resolver:
            results = resolver.resolve_many(pointers, jobs=arguments.jobs)
        if sealed is not None and any(one.checked_by is None for one in results):
            raise SystemExit("resolve: expected each to be checked by BLAKE3")
        return lambda: _check_of(results, kind=arguments.check)

    return work


def _sealed_lines(path: Path) -> SealedLines:
    """Read `[session, file name, sha256, blake3, bytes]` of each artifact."""
    from provenance.artifacts.sealed import SealedLine, SealedLines

    lines = json.loads(path.read_text())
    return SealedLines({(session, name): SealedLine(*line) for session, name, *line in lines})


def _check_of(results: Sequence[SourceResolution], *, kind: str) -> str | None:
    """Say what was computed, for comparison; whatever is compared, all must be available."""
    evidence = hashlib.sha256()
    for one in results:
        if one.evidence_sha256 is None:
            raise SystemExit(f"resolve: {one.pointer} is {one.status}, {one.reason}")
        evidence.update(bytes.fromhex(one.evidence_sha256))
    if kind == "none":
        return None
    return evidence.hexdigest() if kind == "evidence" else f"{len(results)}/{len(results)}"


def _strict_transcript(arguments: argparse.Namespace) -> Work:
    from benchmarks.references import check_transcript_strictly

    def work() -> Callable[[], str | None]:
        digest = check_transcript_strictly(
            arguments.path, arguments.session_id, cited_every=arguments.cited_every
        )
        return lambda: digest

    return work


def _hash(arguments: argparse.Namespace) -> Work:
    from benchmarks.references import hash_file

    def work() -> Callable[[], str | None]:
        hash_file(arguments.path)
        return lambda: "1/1"

    return work


def _audit(arguments: argparse.Namespace) -> Work:
    from provenance.audit import AuditRequest, run_audit
    from provenance.audit.sandboxed import run_sandboxed_audit

    run = run_sandboxed_audit if arguments.sandbox else run_audit
    request = AuditRequest(targets=(str(arguments.target),), jobs=arguments.jobs)

    def work() -> Callable[[], str | None]:
        report = run(request, clock=lambda: datetime.now(UTC), stopwatch=time.perf_counter)
        return lambda: _records_of(report, kind=arguments.check)

    return work


def _records_of(report: AuditReport, *, kind: str) -> str | None:
    """Say how many records were checked; all files must be whole, and hashed."""
    from provenance.findings import Severity

    wrong = next((one for one in report.findings if one.severity is Severity.ERROR), None)
    if wrong is not None:
        raise SystemExit(f"audit: {wrong.code}, {wrong.message}")
    if any(one.sha256 is None for one in report.transcripts):
        raise SystemExit("audit: expected the digest of each file, got some without")
    return None if kind == "none" else str(sum(one.records for one in report.transcripts))


def _seal(arguments: argparse.Namespace) -> Work:
    from provenance.audit.seal_writing import seal_home
    from provenance.fs import TrustedRoot
    from provenance.sealing.keys import generate_signer

    signer = generate_signer("ctxaudit.example/benchmark")
    shutil.rmtree(arguments.home / "seals", ignore_errors=True)

    def work() -> Callable[[], str | None]:
        with TrustedRoot(arguments.home) as home:
            seal = seal_home(home, signer)
        return lambda: str(seal.added)

    return work


def _check_seal(arguments: argparse.Namespace) -> Work:
    from provenance.audit import AuditRequest, run_audit
    from provenance.audit.seal_writing import seal_home
    from provenance.fs import TrustedRoot
    from provenance.sealing.keys import generate_signer
    from provenance.sealing.sealed_log import SealTrust

    signer = generate_signer("ctxaudit.example/benchmark")
    shutil.rmtree(arguments.home / "seals", ignore_errors=True)
    with TrustedRoot(arguments.home) as home:
        seal_home(home, signer)
    request = AuditRequest(targets=(str(arguments.home),), seal=SealTrust(signer.verifier))

    def work() -> Callable[[], str | None]:
        report = run_audit(request, clock=lambda: datetime.now(UTC), stopwatch=time.perf_counter)
        (seal,) = report.seals
        if not seal.is_sound or "sealed_event_edited" in report.finding_counts:
            raise SystemExit("check-seal: expected a sound seal")
        return lambda: str(seal.size)

    return work


def _line_digests(arguments: argparse.Namespace) -> Work:
    def work() -> Callable[[], str | None]:
        with arguments.path.open("rb") as file:
            digests = [hashlib.sha256(line.rstrip(b"\r\n")).hexdigest() for line in file]
        return lambda: str(len(digests))

    return work


def _json_lines(arguments: argparse.Namespace) -> Work:
    from benchmarks.references import count_json_lines

    def work() -> Callable[[], str | None]:
        count = count_json_lines(arguments.root)
        return lambda: str(count)

    return work


def _artifacts_by_hand(arguments: argparse.Namespace) -> Work:
    from benchmarks.references import verify_artifacts_by_hand

    lines = arguments.manifest.read_text().split("\n")[:-1]
    items = [(folder, name, digest) for folder, name, digest in map(str.split, lines)]

    def work() -> Callable[[], str | None]:
        matches = verify_artifacts_by_hand(arguments.root, items)
        return lambda: f"{matches}/{len(items)}"

    return work


def _spill(arguments: argparse.Namespace) -> Work:
    from provenance.artifacts import ArtifactStore

    root = _fresh(arguments.root)

    def work() -> Callable[[], str | None]:
        store = ArtifactStore(root)
        for content in _contents(arguments.count):
            store.spill("bench-spill", content, tool="bash")
        return lambda: str(arguments.count)

    return work


def _spill_by_hand(arguments: argparse.Namespace) -> Work:
    from benchmarks.references import spill_by_hand

    folder = _fresh(arguments.root) / "bench-spill" / "tool-results"

    def work() -> Callable[[], str | None]:
        count = spill_by_hand(folder, _contents(arguments.count))
        return lambda: str(count)

    return work


def _fresh(root: Path) -> Path:
    root.mkdir(mode=0o700, exist_ok=True)
    return Path(tempfile.mkdtemp(dir=root))


def _contents(count: int) -> Iterator[bytes]:
    """Give results of 100 KB of lines, no two alike."""
    line = b"the quick brown fox jumps over the lazy dog 0123456789, and goes home again.\n"
    block = (line * (_SPILL_BYTES // len(line) + 1))[: _SPILL_BYTES - 18]
    for serial in range(count):
        yield b"%017d\n" % serial + block


if __name__ == "__main__":
    main()
