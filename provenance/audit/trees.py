"""Checks the transcripts of a part: each by itself, then what several files say of one session.

Guarantees: one transcript is in memory at a time, in part; what is kept of each is a line of the
report. What is left out because nobody asked for it is counted.

Example:
    >>> from provenance.audit.notes import Notes
    >>> TreeChecker(AuditRequest(), Notes(), Listener()).checked
    []
"""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from provenance.audit.listener import Listener
from provenance.audit.notes import Notes
from provenance.audit.part import AuditPart, TranscriptTree
from provenance.audit.reference_notes import ReferenceNotes
from provenance.audit.request import AuditRequest
from provenance.audit.tree_job import Checked, Job, check_here, native_ids_of
from provenance.audit.whole import check_whole
from provenance.audit.whole_words import WholeCheck
from provenance.audit.withholding import LIMITS, Withheld, is_cut_by_limits, is_transcript_withheld
from provenance.audit_report import CheckedTranscript
from provenance.findings import Finding, Location, Severity
from provenance.transcripts.id_index import IdIndex

__all__ = ["TreeChecker"]


class TreeChecker:
    """Checks transcripts and keeps what the report says of them."""

    def __init__(
        self,
        request: AuditRequest,
        notes: Notes,
        listener: Listener,
        withheld: Withheld | None = None,
    ) -> None:
        """Take what is asked, where findings go, who hears of progress, who counts what is denied.

        `checked` holds what was checked, `references` what it refers to, `looked_at` how many
        candidates were opened.
        """
        self.checked: list[CheckedTranscript] = []
        self.references = ReferenceNotes()
        self._request = request
        self._notes = notes
        self._listener = listener
        self.looked_at = 0
        self._withheld = withheld or Withheld()
        self._left_out = 0
        self._also: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def check(self, part: AuditPart) -> None:
        """Check all transcripts of a part."""
        for asked in part.whole:
            self._take(check_whole(part, asked, tenant=self._request.tenant), part)
        for tree in part.trees:
            self._check_tree(part, tree)

    def _check_tree(self, part: AuditPart, tree: TranscriptTree) -> None:
        files: dict[int, CheckedTranscript] = {}
        with contextlib.ExitStack() as stack:
            index = stack.enter_context(IdIndex()) if len(tree.candidates) > 1 else None
            request = self._request
            job = Job(part, tree, request.tenant, request.sessions, with_ids=index is not None)
            for number, whole, rows in self._checks(job):
                kept = WholeCheck(None, is_left_out=True) if self._is_over(whole) else whole
                self._take(kept, part)
                if kept.checked is not None:
                    files[number] = kept.checked
                    if index is not None:
                        index.extend(rows)
            if index is not None:
                self._say_of_sessions(files.values())
                self._say_of_conflicts(job, files, index)
        if self._left_out:
            self._notes.count_unlisted("transcript_left_out", self._left_out - 1)
            self._notes.add(
                Finding(
                    "transcript_left_out",
                    Severity.INFO,
                    tree.prefix.rstrip("/") or ".",
                    message=f"transcripts: {self._left_out} were left out, as --session and "
                    "--since ask for",
                )
            )
            self._left_out = 0

    def _checks(self, job: Job) -> Iterator[Checked]:
        jobs = self._request.jobs
        if jobs > 1 and len(job.tree.candidates) > 1:
            # Not even a module is to be had where no file can be opened any more.
            try:
                from provenance.audit import tree_jobs  # noqa: PLC0415 - loads multiprocessing
            except (OSError, ImportError):
                pass
            else:
                yield from tree_jobs.check_in_processes(job, jobs=jobs)
                return
        for number, candidate in enumerate(job.tree.candidates):
            yield check_here(job, number, candidate)

    def _take(self, whole: WholeCheck, part: AuditPart) -> None:
        with self._listener.held_back():
            self._add(whole, part)

    def _add(self, whole: WholeCheck, part: AuditPart) -> None:
        self._left_out += whole.is_left_out
        self._notes.extend(whole.findings)
        if is_transcript_withheld(whole, part, tenant=self._request.tenant):
            # Somebody may answer for it: then it is not withheld in silence.
            answered = all(map(self._notes.is_waived, whole.findings))
            self._withheld.add(part, 0 if answered else 1)
        elif is_cut_by_limits(whole, part, self._request.limits):
            answered = all(map(self._notes.is_waived, whole.findings))
            self._withheld.add(part, 0 if answered else 1, by=LIMITS)
        checked = whole.checked
        if checked is not None:
            # Its finder lists the first thousand of a code and counts the others.
            listed: dict[str, int] = {}
            targets: dict[str, set[str]] = {}
            for finding in whole.findings:
                listed[finding.code] = listed.get(finding.code, 0) + 1
                targets.setdefault(finding.code, set()).add(finding.target)
            for code, count in checked.findings.items():
                # Of one file alone it is known which target they have: a folder's may be a member.
                is_one = targets.get(code) == {checked.target}
                self._notes.count_unlisted(
                    code,
                    count - listed.get(code, 0),
                    target=checked.target if is_one else None,
                )
            self.references.extend(whole.references, checked.references)
            self.checked.append(checked)
        self.looked_at += 1
        self._listener.on_transcript(checked)

    def _is_over(self, whole: WholeCheck) -> bool:
        """Say whether a transcript ended before what is asked for."""
        since, checked = self._request.since, whole.checked
        if since is None or checked is None or checked.last_time is None:
            return False
        ended = _instant(checked.last_time)
        return ended is not None and ended < since

    def finish(self) -> None:
        """Add what was said of several files to the counts of the one that it was said of.

        To be called once, when no interrupt can come any more.
        """
        if not self._also:
            return
        for number, checked in enumerate(self.checked):
            also = self._also.get(checked.target)
            if also:
                self.checked[number] = replace(checked, findings=also + Counter(checked.findings))
        self._also.clear()

    def _say(self, finding: Finding) -> None:
        with self._listener.held_back():
            self._also[finding.target][finding.code] += 1
            self._notes.add(finding)

    def _say_of_sessions(self, files: Iterable[CheckedTranscript]) -> None:
        """Name the sessions that several files hold, and not with the same bytes."""
        holders: dict[tuple[str, str], list[CheckedTranscript]] = {}
        for checked in files:
            for session in checked.sessions:
                holders.setdefault((checked.format, session), []).append(checked)
        for (_, session), held in holders.items():
            if len({checked.sha256 or checked.target for checked in held}) < 2:
                continue
            self._say(
                Finding(
                    "session_in_several_files",
                    Severity.WARNING,
                    held[0].target,
                    Location(native_id=session),
                    f"session: expected one file of it, got {len(held)} that differ, among them "
                    f"{held[1].target}",
                )
            )

    def _say_of_conflicts(
        self, job: Job, files: Mapping[int, CheckedTranscript], index: IdIndex
    ) -> None:
        """Name the records whose id stands in another file with other bytes."""
        native_ids: dict[int, Mapping[int, str]] = {}
        for conflict in index.conflicts():
            one, (other, ordinal, line) = conflict.first[0], conflict.second
            if other not in native_ids:
                # The index holds no text: the few files that it is about are read once more.
                native_ids[other] = native_ids_of(job, job.tree.candidates[other])
            native_id = native_ids[other].get(ordinal)
            first, place = files[one].target, Location(ordinal, native_id, line)
            if conflict.is_one_session:
                self._say(
                    Finding(
                        "conflicting_id",
                        Severity.ERROR,
                        files[other].target,
                        place,
                        "id: expected one record of an id in a session, got another with other "
                        f"bytes in {first}",
                    )
                )
            else:
                self._say(
                    Finding(
                        "id_in_two_sessions",
                        Severity.INFO,
                        files[other].target,
                        place,
                        f"id: a record of another session in {first} has it too, with other bytes",
                    )
                )


def _instant(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
