"""What an audit is to check, put together from one target after another.

Guarantees: a home, a state in it and a receipt in it are one part, so that each pointer counts
once; so does a transcript that two targets hold. Pointers that stand in no home wait until all
targets are read, and are refused where nobody named a root for them: nothing guesses.

Example:
    >>> from provenance.audit.notes import Notes
    >>> maker = PlanMaker(AuditRequest(targets=()), Notes(), on_wait=None)
    >>> maker.plan().parts
    ()
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import PurePath

from provenance.audit.home import HomeReader
from provenance.audit.labels import target_labels
from provenance.audit.lock import NamedLock, lock_citations
from provenance.audit.nested_homes import NestedHomes
from provenance.audit.notes import Notes
from provenance.audit.part import AuditPart, TranscriptTree
from provenance.audit.request import CITING_FOLDERS, AuditRequest, TargetError
from provenance.audit_report import Citation
from provenance.consequences import ConsequenceGraph
from provenance.fs import TrustedRoot
from provenance.pointers import SourcePointerError, SourcePointerKind, parse_source_pointer
from provenance.transcripts.discovery import Candidate

__all__ = ["AuditPlan", "PlanMaker"]

# What findings call the place of pointers that stand in no file.
_OPTION = "--pointer"


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """All that an audit is to check.

    Attributes:
        labels: the targets, named without machine paths.
        parts: roots with what is to be checked below them.
        uncited: transcripts and artifacts of homes that nothing cites.
        graph: what rests on what, through the receipts that were read.
        is_interrupted: the targets were read in part only, so nothing should be verified.
    """

    labels: tuple[str, ...]
    parts: tuple[AuditPart, ...]
    uncited: int
    graph: ConsequenceGraph
    is_interrupted: bool = False


class PlanMaker:
    """Takes what the targets hold, and gives the plan.

    Attributes:
        labels: the targets, named without machine paths.
        homes: reads what state homes hold.
        nested: knows the homes that lie below other folders which were named.
    """

    def __init__(
        self, request: AuditRequest, notes: Notes, *, on_wait: Callable[[], None] | None
    ) -> None:
        """Begin with the pointers that were named.

        Args:
            request: the targets and the operator's roots, policy, lock and limits.
            notes: takes the findings about homes.
            on_wait: hears several times a second that a lock is waited for.
        """
        self.labels = target_labels(request.targets)
        self.homes = HomeReader(request, notes, on_wait)
        self.nested = NestedHomes()
        self._notes = notes
        self._request = request
        self._parts: list[AuditPart] = []
        self._home_parts: list[AuditPart] = []
        self._tree_parts: list[AuditPart] = []
        self._taken: set[PurePath] = set()
        self._home_at: dict[PurePath, AuditPart] = {}
        self._operator_part: AuditPart | None = None
        # Pointers without a file of their own wait until it is known which roots there are.
        self._loose: list[tuple[str, Citation | None, str]] = [
            (pointer, None, _OPTION) for pointer in request.pointers
        ]
        self._lone_files: list[str] = []

    @property
    def has_several(self) -> bool:
        """Whether more than one target was named, so that names need a prefix."""
        return len(self.labels) > 1

    def plan(self) -> AuditPlan:
        """Give the plan of all targets.

        Raises:
            TargetError: nobody named a root, or the one home, that a pointer or lock belongs to.
        """
        if self._request.lock is not None:
            self._cite_named_lock(self._request.lock)
        if self._loose:
            part = self._part_for_loose()
            self._cite_loose(part)
            self._loose = []
        for part in self._parts:
            if self._request.lock is not None:
                part.pins = replace(part.pins, named=self._request.lock.lock)
            _require_roots(part)
        self._notes.extend(self.nested.findings())
        homes = self.homes
        return AuditPlan(self.labels, tuple(self._parts), homes.uncited, homes.graph)

    def interrupted_plan(self) -> AuditPlan:
        """Give what was read until now, with nothing that is to be verified."""
        loose = AuditPart()
        self._cite_loose(loose)
        if self._request.lock is not None:
            loose.cite_pinned(self._request.lock.lock, self._request.lock.label)
        parts = (*self._parts, loose)
        homes = self.homes
        return AuditPlan(self.labels, parts, homes.uncited, homes.graph, is_interrupted=True)

    def close(self) -> None:
        """Close the roots of what was read until now."""
        for part in self._parts:
            part.close()

    def add_home(self, home: TrustedRoot, *, prefix: str) -> AuditPart:
        """Give the part of a home; a home and a file in its states/ or receipts/ are one."""
        place = home.path.absolute()
        known = self._home_at.get(place)
        if known is not None:
            return known
        part = self._home_at[place] = self.homes.part_of(home, prefix=prefix)
        self._parts.append(part)
        self._home_parts.append(part)
        return part

    def add_part(self, part: AuditPart) -> AuditPart:
        """Take a part that is no home, under the operator's limits and policy."""
        request = self._request
        policies = () if request.policy is None else (request.policy,)
        part = replace(part, limits=request.limits, policies=policies)
        self._parts.append(part)
        return part

    def add_tree(
        self,
        part: AuditPart,
        root: TrustedRoot,
        candidates: tuple[Candidate, ...],
        *,
        prefix: str,
        label: str | None = None,
    ) -> None:
        """Take transcripts below a root, those that no other target holds too.

        Args:
            part: where they belong.
            root: what they lie below.
            candidates: the transcripts.
            prefix: what stands before their names in the report.
            label: of a transcript that was named itself; None: they were found in a folder.
        """
        part.trees.append(
            TranscriptTree(
                part.guarded(root),
                self._not_yet(root, candidates),
                prefix,
                as_format=self._request.as_format,
                is_named=label is not None,
                expected_hash=None if label is None else self._request.expected_hash,
                label=label,
            )
        )
        if label is None:
            self._tree_parts.append(part)

    def add_loose(self, pointers: Iterable[tuple[str, Citation | None]], origin: str) -> None:
        """Take pointers that stand in no home and no file of one."""
        self._loose += [(pointer, citation, origin) for pointer, citation in pointers]

    def cite(self, path: PurePath, label: str, cited: Iterable[tuple[str, Citation]]) -> None:
        """Take what a state or a receipt cites, which was named itself."""
        part = self._part_for_citing(path, label)
        if part is None:
            self.add_loose(cited, label)
        else:
            for pointer, citation in cited:
                part.cite(pointer, citation)

    def _not_yet(
        self, root: TrustedRoot, candidates: tuple[Candidate, ...]
    ) -> tuple[Candidate, ...]:
        """Leave out what another target holds too: it is checked once."""
        if not self.has_several:
            return candidates
        place = root.path.absolute()
        new = tuple(one for one in candidates if PurePath(place, *one.names) not in self._taken)
        self._taken.update(PurePath(place, *one.names) for one in new)
        return new

    def _cite_named_lock(self, named: NamedLock) -> None:
        """Note what the operator's lock holds, in the one home or where loose pointers belong."""
        if len(self._home_at) > 1:
            raise TargetError(
                f"--lock: {named.label}: expected one state home, got several; without it, each "
                "is held against its own"
            )
        if self._home_parts:
            self._home_parts[0].cite_pinned(named.lock, named.label)
        else:
            cited = lock_citations(named.lock, named.label)
            self._loose += [(pointer, citation, named.label) for pointer, citation in cited]

    def _cite_loose(self, part: AuditPart) -> None:
        for pointer, citation, origin in self._loose:
            part.cite(pointer, citation, origin=origin)

    def _part_for_citing(self, path: PurePath, label: str) -> AuditPart | None:
        """Give the part of a state or receipt; None where it depends on what else is named."""
        named = (self._request.transcript_root, self._request.artifact_root)
        parent = TrustedRoot(path.parent).path.absolute()
        if None not in named or (parent.name not in CITING_FOLDERS and named != (None, None)):
            return self._operators_part()
        if parent.name not in CITING_FOLDERS:
            self._lone_files.append(label)
            return None
        return self.add_home(TrustedRoot(parent.parent), prefix="")

    def _part_for_loose(self) -> AuditPart:
        request = self._request
        if request.transcript_root is not None or request.artifact_root is not None:
            return self._operators_part()
        match self._home_parts:
            case [part]:
                return part
            case _ if not any(_is_pointer(pointer) for pointer, _, _ in self._loose):
                return self._operators_part()  # none of them leads anywhere
            case [] if len(self._tree_parts) == 1:
                return self._tree_parts[0]  # pointers into the transcripts that were named
            case [] if self._lone_files:
                raise TargetError(
                    f"{self._lone_files[0]}: expected --transcript-root and --artifact-root, "
                    "one state home, or a file in the states/ or receipts/ of a home"
                )
            case []:
                raise TargetError(
                    "pointers: expected --transcript-root, --artifact-root or both, one state home "
                    "or one folder of transcripts"
                )
            case _:
                raise TargetError("pointers: expected one state home to look in, got several")

    def _operators_part(self) -> AuditPart:
        if self._operator_part is None:
            request = self._request
            self._operator_part = self.add_part(
                AuditPart(
                    transcripts=_root(request.transcript_root),
                    artifacts=_root(request.artifact_root),
                )
            )
        return self._operator_part


def _root(path: str | None) -> TrustedRoot | None:
    return None if path is None else TrustedRoot(path)


def _is_pointer(text: str) -> bool:
    try:
        parse_source_pointer(text)
    except SourcePointerError:
        return False
    return True


def _require_roots(part: AuditPart) -> None:
    """Refuse to guess: a pointer whose kind has no root cannot be called missing."""
    roots = {
        SourcePointerKind.TRANSCRIPT: part.transcripts,
        SourcePointerKind.ARTIFACT: part.artifacts,
    }
    if None not in roots.values():
        return
    for text in part.citations:
        try:
            kind = parse_source_pointer(text).kind
        except SourcePointerError:
            continue
        if roots[kind] is None:
            raise TargetError(f"--{kind}-root: expected one for {kind} pointers, got none")
