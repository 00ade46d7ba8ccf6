"""Carries out `ctxaudit cite`.

Guarantees: what is printed is available: an event of ours passed the strict rules up to its place,
a record of another agent is strict JSON, and neither file changed while it was read. What a home's
policy denies is not read. Memory is bounded by the longest allowed record and a batch of results.

Example:
    $ ctxaudit cite sample_state --grep eu-west
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import click

from provenance.audit.ledgers import TRANSCRIPT_ENDING, is_ledger
from provenance.audit.part import AuditPart, WholeTranscript
from provenance.audit.request import AuditRequest
from provenance.audit.whole import is_allowed
from provenance.errors import CtxauditError
from provenance.fs import SourceAbsent, TrustedRoot
from provenance.fs.failures import FILE_FAILURES, FileFailure
from provenance.pointers import is_name
from provenance.resolution import Reason
from provenance.transcripts import verify_events
from provenance.transcripts.adapters.protocol import TranscriptFormat
from provenance.transcripts.damage import judge_json
from provenance.transcripts.discovery import Candidate, Opened, open_candidate
from provenance.transcripts.foreign import resolve_records
from provenance.transcripts.formats import NATIVE, format_named
from provenance.transcripts.locate import SessionIndex
from provenance.transcripts.records import Fault, Record
from provenance.transcripts.sessions import session_name
from provenance.transcripts.source_check import guarded, holds_still
from provenance.transcripts.sources import Source, SourceUnreadable

from .cited import Row, around, batches, finder
from .exit_codes import ExitCode, worst
from .operator_files import label_of
from .roots import part_below
from .streams import one_line, talk, write_text
from .transcripts import NamedTranscripts, named_transcripts

__all__ = ["CiteOrder", "cite"]

_BATCH = 1_000
_CHANGED = "source_changed_during_read"


@dataclass(frozen=True, slots=True, kw_only=True)
class CiteOrder:
    """The options of one `ctxaudit cite`, as they were given."""

    target: str
    text: str
    ignores_case: bool
    kinds: frozenset[str]
    limit: int | None
    is_shown: bool
    as_format: str | None
    is_json: bool
    is_quiet: bool


class _LimitReached(Exception):
    """As much was printed as was asked for."""


def cite(ctx: click.Context, order: CiteOrder) -> ExitCode:
    """Print the pointers; gives the exit code.

    Raises:
        click.UsageError: the target holds no transcripts, or cannot be read.
    """
    label = label_of(order.target)
    try:
        named = named_transcripts(order.target)
    except SourceAbsent:
        raise click.UsageError(
            f"{label}: expected a file or folder, got nothing of that name", ctx
        ) from None
    except CtxauditError as error:
        raise click.UsageError(f"{label}: {error}", ctx) from None
    citing = _Citing(ctx, order, named)
    try:
        citing.run()
    except _LimitReached:
        pass
    except CtxauditError as error:
        raise click.UsageError(f"{label}: {error}", ctx) from None
    if citing.printed == 0 and not order.is_quiet:
        talk(f"{ctx.command_path}: {label}: no record that is available holds the text")
    codes = [ExitCode.INCONCLUSIVE] if citing.has_changed else []
    codes += [] if citing.printed else [ExitCode.NOTHING_VERIFIED]
    return worst(codes)


class _Citing:
    """One run, over all that was named."""

    def __init__(self, ctx: click.Context, order: CiteOrder, named: NamedTranscripts) -> None:
        self.printed = 0
        self.has_changed = False
        self._ctx = ctx
        self._order = order
        self._named = named
        self._find = finder(order.text, ignores_case=order.ignores_case)
        # A home may deny, and it keeps its transcripts in a folder of their own.
        self._part = part_below(order.target, AuditRequest()) if named.is_home else AuditPart()
        self._root = self._part.transcripts or named.root
        self._has_told = False
        self._asked: dict[str, bool] = {}
        self._index = SessionIndex(self._root, limits=self._part.limits)

    def run(self) -> None:
        for candidate in self._named.candidates(self._root, self._unlisted):
            target = "/".join(candidate.names) or label_of(self._order.target)
            if candidate.is_link:
                self._leave_out(target, "a link, which is not followed")
                continue
            try:
                with open_candidate(
                    self._root,
                    candidate,
                    limits=self._part.limits,
                    as_format=self._order.as_format,
                ) as opened:
                    self._cite(candidate, opened, target)
            except (SourceUnreadable, *FILE_FAILURES) as error:
                if self._named.is_file:
                    raise
                self._leave_out(target, str(error))

    def _cite(self, candidate: Candidate, opened: Opened, target: str) -> None:
        found, source = opened.format, opened.source
        if found is None:
            if self._named.is_file:
                raise click.UsageError(
                    f"{target}: expected a transcript of a known format (or --as), got another "
                    "file",
                    self._ctx,
                )
        elif found.name == NATIVE:
            self._cite_native(candidate, source, target)
        else:
            self._cite_foreign(found, source, target)

    def _cite_native(self, candidate: Candidate, source: Source, target: str) -> None:
        names = candidate.names
        folder = self._root if len(names) == 1 else self._root.subroot(*names[:-1])
        session = names[-1].removesuffix(TRANSCRIPT_ENDING)
        if is_ledger(folder, names[-1]):
            if self._named.is_file:
                raise click.UsageError(
                    f"{target}: expected a transcript, got an artifact ledger", self._ctx
                )
            return
        if not names[-1].endswith(TRANSCRIPT_ENDING) or not is_name(session):
            self._leave_out(target, "not available (unaddressable_file)")
            return
        if len(names) > 1 and not self._has_told:
            self._has_told = True
            talk(
                f"{self._ctx.command_path}: {target}: pointers into ctxaudit's own transcripts "
                "resolve with the folder they lie in as --transcript-root"
            )
        if self._may_read(session, target):
            records = format_named(NATIVE).records(source)
            rows = (
                # A pointer into our own transcripts counts lines.
                row._replace(ordinal=row.line or row.ordinal)
                for _, row in self._matches(records, lambda record: session)
            )
            self._emit(rows, lambda batch: self._judge(folder, session, batch), target)

    def _judge(
        self, folder: TrustedRoot, session: str, batch: list[Row]
    ) -> list[tuple[Row, str | None]]:
        """Say of each event why it is not available; None where it is."""
        verdict = verify_events(
            folder,
            session,
            {row.ordinal for row in batch},
            limits=self._part.limits,
            excerpt_chars=0,
        )
        judged: list[tuple[Row, str | None]] = []
        for row in batch:
            outcome = verdict.outcomes[row.ordinal]
            reason = str(outcome.reason) if outcome.sha256 is None else None
            if reason is None and outcome.sha256 != row.sha256:
                reason = _CHANGED
            judged.append((row, reason))
        return judged

    def _cite_foreign(self, found: TranscriptFormat, source: Source, target: str) -> None:
        items = guarded(iter(found.sessions(source)))
        sessions = [one for one in items if isinstance(one, str)] or [source.stem]
        if not all(self._may_read(session_name(one), target) for one in sessions):
            return
        limits = self._part.limits
        unfit: set[int] = set()
        own = {session_name(one) for one in sessions}

        def rows() -> Iterator[Row]:
            items = guarded(found.records(source))
            session_of = lambda record: record.session or sessions[0]  # noqa: E731
            matches = self._matches(items, session_of)
            allowed = (one for one in matches if one[1].session in own or self._may(one[1], target))
            for number, (record, row) in enumerate(allowed):
                # As the resolver does: the fast reader lets a key that stands twice pass.
                if isinstance(judge_json(record.raw, limits=limits), Fault):
                    unfit.add(number)
                yield row

        seen = 0

        def judge(batch: list[Row]) -> list[tuple[Row, str | None]]:
            nonlocal seen
            still = holds_still(source)
            elsewhere = self._led_elsewhere(
                [row for row in batch if not _is_of(row, own) or self._is_shared(row.session)]
            )
            judged: list[tuple[Row, str | None]] = []
            for number, row in enumerate(batch, seen):
                reason = "transcript_invalid_json" if number in unfit else elsewhere.get(row)
                judged.append((row, reason if still else _CHANGED))
            seen += len(batch)
            unfit.clear()
            return judged

        self._emit(rows(), judge, target)

    def _may(self, row: Row, target: str) -> bool:
        """Ask the policies about a session that a log goes on with."""
        if row.session not in self._asked:
            self._asked[row.session] = self._may_read(row.session, target)
        return self._asked[row.session]

    def _is_shared(self, session: str) -> bool:
        """Say whether several files begin with a session: they have to agree."""
        return len(self._index.holders(session)) > 1

    def _led_elsewhere(self, rows: list[Row]) -> dict[Row, str]:
        """Say which pointers would not lead to their records: a session may have its own log."""
        reasons: dict[Row, str] = {}
        for session in dict.fromkeys(row.session for row in rows):
            held = [row for row in rows if row.session == session]
            found = resolve_records(
                self._index,
                self._root,
                session,
                {row.ordinal for row in held},
                limits=self._part.limits,
                excerpt_chars=0,
            )
            for row in held:
                outcome = found[row.ordinal]
                if outcome.sha256 is None:
                    reasons[row] = str(outcome.reason)
                elif outcome.sha256 != row.sha256:
                    reasons[row] = str(Reason.TRANSCRIPT_SESSION_MISMATCH)
        return reasons

    def _matches(
        self, items: Iterator[Record | Fault], session_of: Callable[[Record], str]
    ) -> Iterator[tuple[Record, Row]]:
        kinds = self._order.kinds
        for item in items:
            if isinstance(item, Fault) or (kinds and item.kind not in kinds):
                continue
            text = item.text
            span = self._find(text)
            if span is not None:
                yield (
                    item,
                    Row(
                        session_name(session_of(item)),
                        item.ordinal,
                        item.sha256,
                        item.native_id,
                        item.kind,
                        item.line,
                        around(text, span) if self._order.is_shown else "",
                    ),
                )

    def _emit(
        self,
        rows: Iterator[Row],
        judge: Callable[[list[Row]], list[tuple[Row, str | None]]],
        target: str,
    ) -> None:
        """Print the rows that are available, a batch at a time; say which are not."""
        first: tuple[str, str] | None = None
        left_out = 0
        try:
            for batch in batches(rows, self._batch_size):
                for row, reason in judge(batch):
                    if reason is not None:
                        first = first or (row.pointer, reason)
                        left_out += 1
                        self.has_changed |= reason == _CHANGED
                        continue
                    self._print(row, target)
        finally:
            if first is not None:
                more = f", and {left_out - 1} more of it" if left_out > 1 else ""
                self._leave_out(first[0], f"not available ({first[1]}){more}")

    def _batch_size(self) -> int:
        limit = self._order.limit
        return _BATCH if limit is None else min(_BATCH, limit - self.printed)

    def _print(self, row: Row, target: str) -> None:
        if self._order.is_json:
            value: dict[str, object] = {
                "pointer": row.pointer,
                "sha256": row.sha256,
                "native_id": row.native_id,
                "kind": row.kind,
                "target": target,
                "line": row.line,
            }
            if self._order.is_shown:
                value["excerpt"] = row.excerpt
            write_text(json.dumps(value) + "\n")
        else:
            cells = [row.pointer, row.sha256, one_line(row.native_id or "-")]
            cells += [row.excerpt] if self._order.is_shown else []
            write_text("\t".join(cells) + "\n")
        self.printed += 1
        if self.printed == self._order.limit:
            raise _LimitReached

    def _may_read(self, session: str, target: str) -> bool:
        if is_allowed(self._part, WholeTranscript(session, target)):
            return True
        self._leave_out(target, "not available (policy_denied)")
        return False

    def _unlisted(self, names: tuple[str, ...], failure: FileFailure) -> None:
        self._leave_out("/".join(names) or ".", str(failure))

    def _leave_out(self, target: str, why: str) -> None:
        talk(f"{self._ctx.command_path}: {target}: {why}")


def _is_of(row: Row, sessions: set[str]) -> bool:
    """Say whether a record is of one of the sessions, or of a sub-agent of one."""
    return row.session in sessions or row.session.partition(".agent-")[0] in sessions
