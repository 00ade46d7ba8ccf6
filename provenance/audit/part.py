"""One part of an audit: a pair of roots with all that is to be checked below them.

Guarantees: a pointer is held once, with every place that cites it, in the order they were read. A
policy of the operator and one of the target both have to allow.

Example:
    >>> part = AuditPart()
    >>> part.cite("transcript:s1:3", Citation("states/a.json", "f1"))
    >>> part.cite("transcript:s1:3", Citation("states/b.json", "f7"))
    >>> [len(part.citations[pointer]) for pointer in part.citations]
    [2]
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import overload

from provenance.artifacts.sealed import SealedLedger
from provenance.audit.lock import NO_PINS, HeldPins, lock_citations
from provenance.audit.request import TargetError
from provenance.audit_report import Citation
from provenance.decisions import AuthorizationDecision, decide_together
from provenance.fs import FolderGuard, LockTimeout, TrustedRoot
from provenance.fs.failures import FILE_FAILURES
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.locks import LockFile, canonical_pointer
from provenance.pointers import SourcePointer, SourcePointerError, parse_source_pointer
from provenance.policy import FileTrait, Policy, PolicyOrigin, Verdict
from provenance.transcripts.discovery import Candidate

__all__ = ["AuditPart", "TranscriptTree", "WholeTranscript"]


# A collection of garbage removes thousands of artifacts in this time.
_WAIT_FOR_GC_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class WholeTranscript:
    """A transcript that is to be checked from its first record to its last."""

    session_id: str
    target: str


@dataclass(frozen=True, slots=True)
class TranscriptTree:
    """Transcripts of any format below a root, each to be checked whole.

    Attributes:
        root: where they lie; the files that their records name are looked for below it too.
        candidates: what may hold transcripts.
        prefix: stands before their names.
        as_format: take them for this format; None: tell by their content.
        is_named: one file that was named, so that it has to be a transcript.
        expected_hash: its content hash as the operator knows it, 64 hex digits.
        label: what to call that file; None: after its name.
    """

    root: TrustedRoot
    candidates: tuple[Candidate, ...]
    prefix: str = ""
    as_format: str | None = None
    is_named: bool = False
    expected_hash: str | None = None
    label: str | None = None

    def name_of(self, candidate: Candidate) -> str:
        """Give what to call a candidate in the report."""
        if self.label is not None:
            return self.label
        return self.prefix + ("/".join(candidate.names) or ".")


@dataclass(slots=True)
class AuditPart:
    """What is checked below one pair of roots; filled while the targets are read.

    Attributes:
        transcripts: the transcript root; None where none is known.
        artifacts: the artifact root; None where none is known.
        limits: the operator's, or the target's lower ones.
        policies: each has to allow.
        formats: the transcripts that the target takes as evidence, by the names of their formats;
            None: all.
        prefix: stands before file names that belong to this part, when there are several.
        transcript_folder: where the transcripts lie below the target, for the names of findings.
        citations: each distinct pointer, and what rests on it.
        whole: transcripts to check whole, native ones.
        trees: transcripts of any format to check whole.
        origins: where a pointer that nothing cites came from, for the names of findings.
        found: pointers that are checked for no other reason than that something lies there.
        pins: what a lock file says that the evidence was.
        sealed_ledger: artifact ledger lines that a seal was proved to cover, where the operator
            asked to rely on them (`--fast`); None: SHA-256 is computed.
        home: the state home that it is of; None: it is of none.
        guard: what keeps a collection of garbage out of the artifact root meanwhile.
    """

    transcripts: TrustedRoot | None = None
    artifacts: TrustedRoot | None = None
    limits: Limits = DEFAULT_LIMITS
    policies: tuple[Policy, ...] = ()
    formats: frozenset[str] | None = None
    prefix: str = ""
    transcript_folder: str = ""
    citations: dict[str, list[Citation]] = field(default_factory=dict)
    whole: list[WholeTranscript] = field(default_factory=list)
    trees: list[TranscriptTree] = field(default_factory=list)
    origins: dict[str, str] = field(default_factory=dict)
    found: set[str] = field(default_factory=set)
    pins: HeldPins = NO_PINS
    sealed_ledger: SealedLedger | None = None
    home: TrustedRoot | None = None
    guard: FolderGuard | None = None

    def __post_init__(self) -> None:
        """Let nothing be read below the roots that a policy refuses once it is open."""
        self.transcripts = self.guarded(self.transcripts)
        self.artifacts = self.guarded(self.artifacts)

    @overload
    def guarded(self, root: TrustedRoot) -> TrustedRoot: ...
    @overload
    def guarded(self, root: None) -> None: ...
    @overload
    def guarded(self, root: TrustedRoot | None) -> TrustedRoot | None: ...
    def guarded(self, root: TrustedRoot | None) -> TrustedRoot | None:
        """Give a root below which nothing is read that a policy of this part refuses."""
        traits: frozenset[FileTrait] = frozenset().union(*(one.traits for one in self.policies))
        return root if root is None or not traits else root.guarded(traits)

    def keep_gc_out(
        self,
        *,
        timeout_seconds: float = _WAIT_FOR_GC_SECONDS,
        on_wait: Callable[[], None] | None = None,
    ) -> None:
        """Let no collection of garbage remove artifacts before `close`; a second time nothing.

        Where the file system gives folders no lock, none removes anything either.

        Raises:
            TargetError: one was at work for the whole waiting time.
        """
        if self.artifacts is None or self.guard is not None:
            return
        # A root that is not there, or cannot be opened: the verification says so.
        with contextlib.suppress(*FILE_FAILURES), self.artifacts.open_directory() as folder:
            try:
                self.guard = FolderGuard.among_readers(
                    folder, timeout_seconds=timeout_seconds, on_wait=on_wait
                )
            except LockTimeout:
                raise TargetError(
                    f"{self.prefix.rstrip('/') or 'artifact root'}: expected that no gc is at work "
                    f"in it within {timeout_seconds:g} s, got one"
                ) from None

    def keep_gc_out_if_opened(
        self, tenant: str | None, *, on_wait: Callable[[], None] | None = None
    ) -> None:
        """The same, where the policies allow an artifact: what is denied touches no file."""
        if self.guard is None and any(self._is_opened(text, tenant) for text in self.citations):
            self.keep_gc_out(on_wait=on_wait)

    def _is_opened(self, text: str, tenant: str | None) -> bool:
        try:
            pointer = parse_source_pointer(text)
        except SourcePointerError:
            return False
        return pointer.artifact_name is not None and (
            not self.policies or self.verdict(pointer, tenant) is Verdict.ALLOW
        )

    def cite(self, pointer: str, citation: Citation | None = None, *, origin: str = "") -> None:
        """Note that `pointer` is to be checked, and who rests on it.

        Args:
            pointer: as it stands there.
            citation: the place that cites it; None: it was named.
            origin: then, what to call where it came from.
        """
        self.found.discard(pointer)
        cited = self.citations.setdefault(pointer, [])
        if citation is not None:
            cited.append(citation)
        elif origin:
            self.origins.setdefault(pointer, origin)

    def find(self, pointer: str, *, origin: str) -> None:
        """Note that what lies somewhere is to be checked although nobody asked for it."""
        is_asked = pointer in self.citations and pointer not in self.found
        self.cite(pointer, origin=origin)
        if not is_asked:
            self.found.add(pointer)

    def cite_pinned(self, lock: LockFile, file: str) -> None:
        """Note every pinned pointer, as the text that somebody cites it by if somebody does."""
        cited_as: dict[str, str] | None = None
        for pointer, citation in lock_citations(lock, file):
            text = pointer
            if text not in self.citations:
                if cited_as is None:
                    canonical = ((canonical_pointer(one), one) for one in self.citations)
                    cited_as = {key: one for key, one in canonical if key is not None}
                text = cited_as.get(pointer, pointer)
            if citation not in self.citations.get(text, ()):
                self.cite(text, citation)

    def name_of(self, pointer: str) -> str:
        """Give the target of a finding about `pointer`: the first file that cites it, or origin."""
        cited = self.citations.get(pointer)
        if cited:
            return cited[0].file
        return self.origins.get(pointer) or self.prefix.rstrip("/") or "."

    def close(self) -> None:
        """Close the handles of its roots; they open again when they are used again."""
        guard, self.guard = self.guard, None
        if guard is not None:
            guard.close()
        roots = [self.transcripts, self.artifacts, self.home, *(tree.root for tree in self.trees)]
        for root in roots:
            if root is not None:
                root.close()

    def decide(self, pointer: SourcePointer, tenant: str | None) -> AuthorizationDecision:
        """Join the policies: a denial first, then a refusal, and only then leave."""
        return decide_together(self.policies, pointer, tenant=tenant)

    def is_withheld(self, pointer: SourcePointer, tenant: str | None) -> bool:
        """Say whether the target's own policy alone keeps a pointer from being looked up."""
        return self.verdict(pointer, tenant) is not Verdict.ALLOW and not self.is_operators_denial(
            pointer, tenant
        )

    def is_operators_denial(self, pointer: SourcePointer, tenant: str | None) -> bool:
        """Say whether the operator's own policy keeps a pointer from being looked up."""
        operators = [one for one in self.policies if one.origin is not PolicyOrigin.TARGET]
        return decide_together(operators, pointer, tenant=tenant).verdict is not Verdict.ALLOW

    @property
    def target_refuses_more(self) -> bool:
        """Whether the target refuses kinds of open files that the operator does not."""
        own, operators = set[FileTrait](), set[FileTrait]()
        for one in self.policies:
            (own if one.origin is PolicyOrigin.TARGET else operators).update(one.traits)
        return not own <= operators

    def takes_format(self, name: str) -> bool:
        """Say whether transcripts of a format are evidence here."""
        return self.formats is None or name in self.formats

    def verdict(self, pointer: SourcePointer, tenant: str | None) -> Verdict:
        """Say what the joined policies decide."""
        return self.decide(pointer, tenant).verdict
