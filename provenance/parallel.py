"""The same answers from several processes: sessions are dealt out, outcomes come back compact.

Guarantees: one pass a transcript stays one pass; a worker that dies costs time and no answer (what
it had is verified here). Processes, since small files verified in threads wait for one another.

Example:
    >>> deal({(True, "s"): [("f", "0"), ("g", "0")]}, 2)
    [[((True, 's'), 0, [('f', '0')])], [((True, 's'), 1, [('g', '0')])]]
"""

from __future__ import annotations

import contextlib
from array import array
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError, Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import NamedTuple

from provenance.findings import Finding
from provenance.fs.root import TrustedRoot
from provenance.limits import Limits
from provenance.owners import Answer, Detail, Owners, Session
from provenance.pools import start_pool
from provenance.processes import (
    NO_PROCESSES,
    kill_workers,
    may_have_workers,
    prepare_worker,
    process_context,
)
from provenance.resolution import Outcome, Quiescence, Reason, Strength

__all__ = ["answer_in_processes", "deal"]

# A process gets about this many tasks, so that one with large files does not hold up the rest.
_TASKS_PER_PROCESS = 8
_LARGEST_TASK = 2048  # details

_REASONS = tuple(Reason)
_REASON_INDEX = {reason: index for index, reason in enumerate(_REASONS)}
_STRENGTHS: tuple[Strength | None, ...] = (None, *Strength)
_QUIESCENCES: tuple[Quiescence | None, ...] = (None, *Quiescence)
_NO_DIGEST = bytes(32)
_NO_SIZE = -1

# parts of sessions: the session, the index of its first detail here, the details
Task = list[tuple[Session, int, list[Detail]]]


_Extra = tuple[str | None, bool | None, str | None]


class _Answers(NamedTuple):
    """One task's outcomes, in the order of its questions: what a pickle of each would cost more."""

    reasons: bytes
    strengths: bytes
    quiescences: bytes
    digests: bytes
    excerpts: tuple[str | None, ...] | None
    sizes: array[int]
    # What few outcomes have: the native id, whether the check came to an end, and by which digest.
    extras: dict[int, _Extra]
    findings: tuple[Finding, ...]


_worker: Owners | None = None


def answer_in_processes(
    owners: Owners, asked: Mapping[Session, list[Detail]], *, jobs: int
) -> Iterator[Answer]:
    """Answer all that is asked with `jobs` processes, as tasks come to an end."""
    tasks = deal(asked, jobs)
    workers = min(jobs, len(tasks))
    if not may_have_workers(workers):
        # The answers are the same without.
        for task in tasks:
            yield from _answer_here(owners, task)
        return
    try:
        executor = start_pool(
            workers,
            process_context(),
            _start_worker,
            (
                owners.transcripts,
                owners.artifacts,
                owners.limits,
                owners.excerpt_chars,
                owners.formats,
            ),
        )
    except NO_PROCESSES:
        for task in tasks:
            yield from _answer_here(owners, task)
        return
    left = len(tasks)
    finished = False
    try:
        waiting: dict[Future[_Answers], Task] = {}
        try:
            for task in tasks:
                waiting[executor.submit(_work, task)] = task
        except NO_PROCESSES:
            # None to be had, or one died already: what was not handed out is verified here.
            for task in tasks[len(waiting) :]:
                yield from _answer_here(owners, task)
        for future in as_completed(waiting):
            task = waiting.pop(future)
            try:
                answers = future.result()
            except (BrokenProcessPool, CancelledError):
                yield from _answer_here(owners, task)
                continue
            for finding in answers.findings:
                owners.hear(finding)
            yield from _unpack(task, answers)
            left -= 1
        finished = left == 0
    finally:
        if not finished:
            kill_workers(executor)
        # Waits for the pool's own thread: left alone, it prints a traceback as the program ends.
        with contextlib.suppress(RuntimeError):  # the thread itself was not to be had
            executor.shutdown(cancel_futures=True)


def deal(asked: Mapping[Session, list[Detail]], jobs: int) -> list[Task]:
    """Cut what is asked into tasks; what is asked of one transcript stays together.

    Args:
        asked: the details of each session.
        jobs: how many processes will take tasks.
    """
    total = sum(map(len, asked.values()))
    size = max(1, min(_LARGEST_TASK, total // (jobs * _TASKS_PER_PROCESS)))
    tasks: list[Task] = []
    current: Task = []
    count = 0
    for session, details in asked.items():
        is_artifact, _ = session
        step = size if is_artifact else len(details)
        for start in range(0, len(details), step):
            part = details[start : start + step]
            current.append((session, start, part))
            count += len(part)
            if count >= size:
                tasks.append(current)
                current, count = [], 0
    if current:
        tasks.append(current)
    return tasks


def _answer_here(owners: Owners, task: Task) -> Iterator[Answer]:
    for session, start, details in task:
        yield session, start, owners.answer_session(session, details)


def _start_worker(
    transcripts: TrustedRoot,
    artifacts: TrustedRoot,
    limits: Limits,
    excerpt_chars: int,
    formats: frozenset[str] | None,
) -> None:
    global _worker  # noqa: PLW0603 - one per process, set before its first task
    prepare_worker()
    _worker = Owners(
        transcripts,
        artifacts,
        limits=limits,
        excerpt_chars=excerpt_chars,
        threads=False,
        formats=formats,
    )


def _work(task: Task) -> _Answers:
    owners = _worker
    assert owners is not None  # noqa: S101 - the initializer ran
    findings: list[Finding] = []
    owners.on_finding = findings.append
    reasons, strengths, quiescences = bytearray(), bytearray(), bytearray()
    digests: list[bytes] = []
    excerpts: list[str | None] = []
    sizes = array("q")
    extras: dict[int, _Extra] = {}
    for session, _, details in task:
        for outcome in owners.answer_session(session, details):
            (reason, sha256, excerpt, strength, quiescence, native_id, is_conclusive, size, by) = (
                outcome
            )
            if native_id is not None or is_conclusive is not None or by is not None:
                extras[len(reasons)] = (native_id, is_conclusive, by)
            sizes.append(_NO_SIZE if size is None else size)
            reasons.append(_REASON_INDEX[reason])
            strengths.append(_STRENGTHS.index(strength))
            quiescences.append(_QUIESCENCES.index(quiescence))
            digests.append(_NO_DIGEST if sha256 is None else bytes.fromhex(sha256))
            excerpts.append(excerpt)
    return _Answers(
        bytes(reasons),
        bytes(strengths),
        bytes(quiescences),
        b"".join(digests),
        tuple(excerpts) if owners.excerpt_chars else None,
        sizes,
        extras,
        tuple(findings),
    )


def _unpack(task: Task, answers: _Answers) -> Iterator[Answer]:
    offset = 0
    for session, start, details in task:
        outcomes = [_outcome(answers, offset + index) for index in range(len(details))]
        offset += len(details)
        yield session, start, outcomes


def _outcome(answers: _Answers, index: int) -> Outcome:
    strength = _STRENGTHS[answers.strengths[index]]
    size = answers.sizes[index]
    native_id, is_conclusive, checked_by = answers.extras.get(index, (None, None, None))
    digest = None if strength is None else answers.digests[32 * index : 32 * index + 32].hex()
    return Outcome(
        _REASONS[answers.reasons[index]],
        digest,
        None if answers.excerpts is None else answers.excerpts[index],
        strength,
        _QUIESCENCES[answers.quiescences[index]],
        native_id,
        is_conclusive,
        None if size == _NO_SIZE else size,
        checked_by,
    )
