"""What GitHub's annotations say of the run itself, in notices: what it rests on.

Guarantees: what weakens the verdict comes first, then waivers, those that are over before the
others, then seals. GitHub shows ten notices of a step; the log has those below, and the last of
them counts the rest.

Example:
    >>> from provenance.audit_report import AuditReport
    >>> notice, = run_notices(AuditReport(weakened_by_environment=("CTXAUDIT_SCAN",)))
    >>> notice.partition("::Set")[0]
    '::notice title=ctxaudit%3A environment'
"""

from __future__ import annotations

from collections.abc import Iterator

from provenance.audit_report import AuditReport
from provenance.reports._github_text import command
from provenance.reports._sarif_text import cut
from provenance.reports._waiver_words import tell
from provenance.waivers import WaiverState

__all__ = ["run_notices"]

# With the one at the end, as many as GitHub shows: two others, so many waivers, so many seals.
_MOST_WAIVERS = 5
_MOST_SEALS = 2
_PART_CHARACTERS = 250


def run_notices(report: AuditReport) -> Iterator[str]:
    """Write the notices, one by one."""
    if report.weakened_by_environment:
        names = ", ".join(report.weakened_by_environment)
        said = f"Set by the environment, and weakens the verdict: {names}."
        yield command("notice", said, title="ctxaudit: environment")
    given = sorted(report.given_waivers, key=lambda pair: pair[1] is not WaiverState.EXPIRED)
    for waiver, state in given[:_MOST_WAIVERS]:
        told = tell(waiver, state)
        told = told._replace(
            covers=cut(told.covers, _PART_CHARACTERS),
            reason=cut(told.reason, _PART_CHARACTERS),
            owner=cut(told.owner, _PART_CHARACTERS),
        )
        yield command("notice", f"Waiver, {told.plain}.", title="ctxaudit: waiver")
    if len(given) > _MOST_WAIVERS:
        said = f"{len(given) - _MOST_WAIVERS:,} more waivers: see --format json."
        yield command("notice", said, title="ctxaudit: waivers")
    for seal in report.seals[:_MOST_SEALS]:
        sound = "sound" if seal.is_sound else "NOT sound"
        left_out = f"; {seal.not_compared}" if seal.denied else ""
        said = (
            f"Seals of {cut(seal.target, _PART_CHARACTERS)}: {seal.seals:,} by "
            f"{cut(seal.key, _PART_CHARACTERS)}, {seal.size:,} entries, log {sound}{left_out}."
        )
        yield command("notice", said, title="ctxaudit: seals")
    if len(report.seals) > _MOST_SEALS:
        said = f"{len(report.seals) - _MOST_SEALS:,} more logs of seals: see --format json."
        yield command("notice", said, title="ctxaudit: seals")
