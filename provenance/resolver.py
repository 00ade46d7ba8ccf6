"""From a pointer to one of five states (spec 01, sections 1 to 3): read `resolve_many`.

Guarantees: for any `str`, a result and never an exception. The grammar decides first, then the
authorization, and only then a file system call is made. `available` is said only of bytes that
were read and verified in this very call.

Example:
    >>> resolver = SourcePointerResolver("/nowhere", "/nowhere")
    >>> str(resolver.resolve("transcript:s1:1").reason)
    'transcript_missing'
"""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from provenance.artifacts.sealed import SealedLedger
from provenance.errors import CallerError
from provenance.findings import Finding
from provenance.fs.root import TrustedRoot
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.owners import Detail, Owners, Session
from provenance.pointers import (
    SourcePointer,
    SourcePointerError,
    SourcePointerKind,
    UnsupportedSourcePointerError,
    parse_source_pointer,
)
from provenance.resolution import (
    Reason,
    SourceResolution,
    resolution_for,
    verified,
)

if TYPE_CHECKING:
    from provenance.fs import BackendName

__all__ = ["SourcePointerResolver"]

_TRANSCRIPT, _ARTIFACT = SourcePointerKind.TRANSCRIPT, SourcePointerKind.ARTIFACT

Authorize = Callable[[SourcePointer], object]
RootLike = str | os.PathLike[str] | TrustedRoot


class ResolverArgumentError(CallerError, ValueError):
    """An argument of the resolver has the right type and no possible value."""

    code = "invalid_resolver_argument"


class SourcePointerResolver:
    """Verifies the sources behind pointers, below two trusted roots; a context manager.

    What it does not do: it decides no retention, follows no pointer inside evidence, and keeps no
    answer (each call verifies anew). An answer is true for the moment of the call.
    """

    def __init__(
        self,
        transcript_root: RootLike,
        artifact_root: RootLike,
        *,
        authorize: Authorize | None = None,
        max_excerpt_chars: int = 2000,
        limits: Limits = DEFAULT_LIMITS,
        backend: BackendName = "auto",
        on_finding: Callable[[Finding], None] | None = None,
        sealed_ledger: SealedLedger | None = None,
        formats: frozenset[str] | None = None,
    ) -> None:
        """Name the roots and the rules; no file is touched yet.

        Args:
            transcript_root: holds `<session>.jsonl`; may be missing.
            artifact_root: holds `<session>/tool-results/<file>`; may be missing.
            authorize: asked once for each pointer that parses, before any file system call; only
                `True` allows. None allows what lies under the roots.
            max_excerpt_chars: length of excerpts in characters; 0 gives none.
            limits: bounds on what is read.
            backend: how files are opened: `auto`, `openat2` or `walk`.
            on_finding: hears what is unusual beside the states (absent envelope fields, hard
                links, foreign owners, roots that others may write to).
            sealed_ledger: ledger lines that a seal was proved to cover: where it gives one that
                fits the pointer, BLAKE3 is compared instead of SHA-256, and the result says so in
                `checked_by`. None computes SHA-256, always.
            formats: transcripts of these formats alone are evidence, by their names; what is there
                in another one is `denied` / `refused_by_policy`. None: of all that are known.

        Raises:
            TypeError: `authorize` is not callable, or a root is no path.
            ValueError: `max_excerpt_chars` is no whole number of 0 or more.
        """
        if authorize is not None and not callable(authorize):
            raise TypeError(f"authorize: expected a callable, got {type(authorize).__name__}")
        if type(max_excerpt_chars) is not int or max_excerpt_chars < 0:
            raise ResolverArgumentError(
                "max_excerpt_chars: expected a whole number of 0 or more, "
                f"got {max_excerpt_chars!r}"
            )
        self._authorize = authorize
        self._sealed_ledger = sealed_ledger
        self._transcripts = _trusted(transcript_root, backend)
        self._artifacts = _trusted(artifact_root, backend)
        # A root that was passed in is its owner's to close.
        self._own_roots = tuple(
            root
            for root, given in (
                (self._transcripts, transcript_root),
                (self._artifacts, artifact_root),
            )
            if root is not given
        )
        self._owners = Owners(
            self._transcripts,
            self._artifacts,
            limits=limits,
            excerpt_chars=max_excerpt_chars,
            on_finding=on_finding,
            formats=formats,
        )

    @property
    def transcript_root(self) -> Path:
        """The operator's path of the transcript root."""
        return self._transcripts.path

    @property
    def artifact_root(self) -> Path:
        """The operator's path of the artifact root."""
        return self._artifacts.path

    def resolve(self, pointer: str) -> SourceResolution:
        """Verify one source; whatever the `str` and the files hold, there is a result.

        Raises:
            TypeError: `pointer` is not a `str`.
            UnsafePlatform: this machine has no safe way to open a file; nothing was opened.
        """
        return self.resolve_many((pointer,))[0]

    def resolve_many(
        self, pointers: Iterable[str], *, jobs: int = 1
    ) -> tuple[SourceResolution, ...]:
        """Verify many sources: one pass for each transcript, one result for each input, in order.

        Args:
            pointers: texts, as cited; repeated ones are verified once.
            jobs: how many processes verify; the answers are the same.

        Raises:
            TypeError: an input is not a `str`.
            UnsafePlatform: as `resolve`.
        """
        # 1. Only text is a pointer.
        texts = _only_text(pointers)
        answers: list[SourceResolution | None] = [None] * len(texts)
        asked = _Asked(self._sealed_ledger)
        for index, text in enumerate(texts):
            # 2. The grammar: malformed is corrupt, an unknown scheme unsupported.
            try:
                pointer = parse_source_pointer(text)
            except UnsupportedSourcePointerError:
                answers[index] = resolution_for(text, Reason.UNSUPPORTED_SCHEME)
                continue
            except SourcePointerError:
                kind = _claimed_kind(text)
                answers[index] = resolution_for(text, Reason.MALFORMED_POINTER, source_type=kind)
                continue
            # 3. The authorization, before anything is looked up: only True allows.
            if self._authorize is not None:
                refusal = _refusal(self._authorize, pointer)
                if refusal is not None:
                    answers[index] = resolution_for(text, refusal, source_type=pointer.kind)
                    continue
            # 4. What is asked of an owner, session by session.
            asked.add(pointer, index)
        # 5. The owners answer, below their roots: open without a link or mount followed (6), only
        #    a regular file (7), size first (8), every record or byte up to what is cited (9),
        #    its digest (10), and no change meanwhile, else again (11).
        for session, start, outcomes in self._owners.answer(asked.details, jobs=jobs):
            # 12. One result for each input; only `available` carries a digest.
            kind = _ARTIFACT if session[0] else _TRANSCRIPT
            places = asked.places[session]
            for index, outcome in enumerate(outcomes, start):
                place = places[index]
                text = texts[place]
                answers[place] = (
                    resolution_for(
                        text,
                        outcome.reason,
                        source_type=kind,
                        is_conclusive=outcome.is_conclusive,
                    )
                    if outcome.sha256 is None
                    else verified(text, kind, outcome)
                )
        return tuple(answers)  # type: ignore[arg-type]

    def close(self) -> None:
        """Close the roots' handles (those of roots that were passed in stay open)."""
        for root in self._own_roots:
            root.close()

    def __enter__(self) -> SourcePointerResolver:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Asked:
    """What is asked of each session, and which input each detail answers."""

    __slots__ = ("_append_detail", "_append_place", "_sealed", "_session", "details", "places")

    def __init__(self, sealed: SealedLedger | None) -> None:
        self._sealed = sealed
        self.details: dict[Session, list[Detail]] = {}
        self.places: dict[Session, list[int]] = {}
        self._session: Session | None = None

    def add(self, pointer: SourcePointer, place: int) -> None:
        name = pointer.artifact_name
        session = (name is not None, pointer.session_id)
        if session != self._session:
            # Pointers come in runs of one session: its lists are looked up once a run.
            self._session = session
            self._append_detail = self.details.setdefault(session, []).append
            self._append_place = self.places.setdefault(session, []).append
        detail: Detail = (pointer.sequence if name is None else name, pointer.digest_prefix)
        if self._sealed is not None and name is not None:
            line = self._sealed(pointer.session_id, name)
            if line is not None:
                detail = (*detail, line)
        self._append_detail(detail)
        self._append_place(place)


def _refusal(authorize: Authorize, pointer: SourcePointer) -> Reason | None:
    try:
        answer = authorize(pointer)
    except PermissionError:
        return Reason.POLICY_DENIED
    except Exception:  # noqa: BLE001 - whatever a policy raises, it did not allow
        return Reason.POLICY_ERROR
    if answer is True:
        return None
    if answer is False:
        return Reason.POLICY_DENIED
    if inspect.iscoroutine(answer):
        # Dropped, it would warn, and the warning would open source files. One that was started
        # may refuse to be closed.
        with contextlib.suppress(Exception):
            answer.close()
    return Reason.POLICY_ERROR


def _only_text(pointers: Iterable[str]) -> tuple[str, ...]:
    if isinstance(pointers, str):
        raise TypeError("pointers: expected several texts, got one str")
    texts = tuple(pointers)
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"pointer: expected str, got {type(text).__name__}")
    return texts


def _claimed_kind(text: str) -> str | None:
    scheme = text.partition(":")[0]
    return scheme if scheme in ("transcript", "artifact") else None


def _trusted(root: RootLike, backend: BackendName) -> TrustedRoot:
    return root if isinstance(root, TrustedRoot) else TrustedRoot(root, backend=backend)
