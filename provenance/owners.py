"""The owners of evidence answer questions: transcripts one pass a session, artifacts one by one.

Guarantees: every detail that is asked gets exactly one outcome. A transcript is read once for all
questions into it. Answers do not depend on how many processes verify.

Example:
    >>> from provenance.fs import TrustedRoot
    >>> owners = Owners(TrustedRoot("/nowhere"), TrustedRoot("/nowhere"))
    >>> [str(o.reason) for o in owners.answer_session((False, "s1"), [(1, None)])]
    ['transcript_missing']
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from provenance.artifacts.sealed import SealedLine
from provenance.artifacts.verify import ARTIFACT_FOLDER, ArtifactSession
from provenance.findings import Finding, Severity
from provenance.fs.failures import FILE_FAILURES, SourceAbsent
from provenance.fs.root import TrustedRoot
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.resolution import Outcome, Reason, Strength
from provenance.transcripts.envelope import ENVELOPE_FIELD_ABSENT
from provenance.transcripts.foreign import resolve_records
from provenance.transcripts.formats import NATIVE
from provenance.transcripts.locate import OwnFile, SessionIndex, own_file_of
from provenance.transcripts.reader import verify_events

__all__ = ["Answer", "Detail", "Outcome", "Owners", "Session"]

# (is it an artifact session?, session id)
Session = tuple[bool, str]
# (sequence, None) of an event, or (file name, digest text) of an artifact, with what a sealed
# ledger line says of it where that may be relied on
Detail = tuple[int | str | None, str | None] | tuple[str, str, SealedLine]

# Write permission for the group or for all.
_OTHERS_MAY_WRITE = 0o022

_FACTS = {
    "hard_link": "file: expected one name, got several hard links",
    "foreign_owner": "file: expected our own user as owner, got another",
    "root_writable_by_others": "root: expected no write permission for group or others, got one",
}


# a session, the index of the first detail that is answered, the outcomes from there on
Answer = tuple[Session, int, list[Outcome]]


class Owners:
    """Both owners below their trusted roots."""

    def __init__(
        self,
        transcripts: TrustedRoot,
        artifacts: TrustedRoot,
        *,
        limits: Limits = DEFAULT_LIMITS,
        excerpt_chars: int = 0,
        threads: bool = True,
        on_finding: Callable[[Finding], None] | None = None,
        formats: frozenset[str] | None = None,
    ) -> None:
        """Take the two roots; see `SourcePointerResolver` for the rest."""
        self.transcripts = transcripts
        self.artifacts = artifacts
        self.limits = limits
        self.excerpt_chars = excerpt_chars
        self.on_finding = on_finding
        self.formats = formats
        self._threads = threads
        self._said: set[tuple[str, str]] = set()
        # Whose session a file holds is told by it, whatever it is; it is read below `transcripts`.
        self._index = SessionIndex(transcripts.unguarded, limits=limits)

    def answer(self, asked: Mapping[Session, list[Detail]], *, jobs: int = 1) -> Iterator[Answer]:
        """Answer what is asked (authorized already), a session or a part of one at a time.

        Args:
            asked: the details of each session.
            jobs: how many processes verify.
        """
        self._index.refresh()
        if type(jobs) is not int or jobs < 1:
            raise ValueError(f"jobs: expected a whole number of 1 or more, got {jobs!r}")
        if jobs > 1 and sum(map(len, asked.values())) > 1:
            # Not even a module is to be had where no file can be opened any more.
            try:
                from provenance import parallel  # noqa: PLC0415 - loads multiprocessing
            except (OSError, ImportError):
                pass
            else:
                yield from parallel.answer_in_processes(self, asked, jobs=jobs)
                return
        for session, details in asked.items():
            yield session, 0, self.answer_session(session, details)

    def answer_session(self, session: Session, details: list[Detail]) -> list[Outcome]:
        """Answer one session's details in this process, in their order."""
        is_artifact, session_id = session
        if is_artifact:
            return self._answer_artifacts(session_id, details)
        return self._answer_transcript(session_id, details)

    def _answer_transcript(self, session_id: str, details: list[Detail]) -> list[Outcome]:
        self._check_root(self.transcripts, "transcripts")
        if session_id == ARTIFACT_FOLDER and self._is_artifact_session(self.transcripts):
            # `tool-results.jsonl` is the ledger there, and would pass for an old transcript.
            return [Outcome(Reason.OWNERSHIP_BOUNDARY)] * len(details)
        wanted = {sequence for sequence, *_ in details if isinstance(sequence, int)}
        verdict = verify_events(
            self.transcripts,
            session_id,
            wanted,
            limits=self.limits,
            excerpt_chars=self.excerpt_chars,
        )
        events = verdict.outcomes
        if any(event.reason is Reason.REFUSED_BY_POLICY for event in events.values()):
            # It is there, and nothing else may answer for it.
            return [Outcome(Reason.REFUSED_BY_POLICY)] * len(details)
        # A record without an envelope may be an older writer's, or another agent's; and where
        # nothing of that name is to be had, another agent's file may hold the session.
        is_in_doubt = ENVELOPE_FIELD_ABSENT in verdict.finding_counts or any(
            event.sha256 is None for event in events.values()
        )
        own = own_file_of(self.transcripts, session_id) if is_in_doubt else OwnFile.NATIVE
        if own is not OwnFile.NATIVE:
            found = self._answer_foreign(session_id, wanted)
            # Where nobody holds the session, what was seen of its own name stays the answer.
            is_held = any(found[n].reason is not Reason.TRANSCRIPT_MISSING for n in wanted)
            if own is OwnFile.FOREIGN or is_held:
                return [found[sequence] for sequence, *_ in details]  # type: ignore[index]
        for finding in verdict.findings:
            self._say(finding)
        outcomes = []
        for sequence, *_ in details:
            event = events[sequence]  # type: ignore[index]
            if event.sha256 is not None and not self._is_evidence(NATIVE):
                outcomes.append(Outcome(Reason.REFUSED_BY_POLICY))
                continue
            strength = None if event.sha256 is None else Strength.POSITION
            outcomes.append(
                Outcome(
                    event.reason,
                    event.sha256,
                    event.excerpt,
                    strength,
                    event.quiescence,
                    size=event.size,
                )
            )
        return outcomes

    def _answer_foreign(self, session_id: str, wanted: set[int]) -> Mapping[int, Outcome]:
        """Answer for a session that no native transcript of its name holds: another agent's."""
        return resolve_records(
            self._index,
            self.transcripts,
            session_id,
            wanted,
            limits=self.limits,
            excerpt_chars=self.excerpt_chars,
            formats=self.formats,
        )

    def _is_evidence(self, format_name: str) -> bool:
        return self.formats is None or format_name in self.formats

    def _answer_artifacts(self, session_id: str, details: list[Detail]) -> list[Outcome]:
        self._check_root(self.artifacts, "artifacts")

        def on_fact(code: str, filename: str) -> None:
            self._say_once(code, session_id, f"{session_id}/tool-results/{filename}")

        known: dict[Detail, Outcome] = {}
        outcomes: list[Outcome] = []
        with ArtifactSession(
            self.artifacts,
            session_id,
            limits=self.limits,
            excerpt_chars=self.excerpt_chars,
            threads=self._threads,
            on_fact=None if self.on_finding is None else on_fact,
        ) as session:
            verify = session.verify
            for detail in details:
                outcome = known.get(detail)
                if outcome is None:
                    outcome = known[detail] = verify(*detail)
                outcomes.append(outcome)
        return outcomes

    def _is_artifact_session(self, root: TrustedRoot) -> bool:
        try:
            root.open_directory(ARTIFACT_FOLDER).close()
        except SourceAbsent:
            return False
        except FILE_FAILURES:
            return True  # something stands there that may not be looked at
        return True

    def _check_root(self, root: TrustedRoot, name: str) -> None:
        if self.on_finding is None or ("root", name) in self._said:
            return
        self._said.add(("root", name))
        try:
            with root.unguarded.open_directory() as directory:
                mode = directory.mode()
        except FILE_FAILURES:
            return  # the questions will say so themselves
        if mode & _OTHERS_MAY_WRITE:
            self._say_once("root_writable_by_others", name, name)

    def hear(self, finding: Finding) -> None:
        """Pass on what another process noticed; what two of them noticed of one session, once."""
        if finding.code in _FACTS:
            group = finding.target.partition("/")[0]
            self._say_once(finding.code, group, finding.target)
        else:
            self._say(finding)

    def _say_once(self, code: str, group: str, target: str) -> None:
        if (code, group) not in self._said:
            self._said.add((code, group))
            self._say(Finding(code, Severity.INFO, target, message=_FACTS[code]))

    def _say(self, finding: Finding) -> None:
        if self.on_finding is not None:
            self.on_finding(finding)
