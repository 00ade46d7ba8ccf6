"""Which artifacts go and which stay, decided from what is known of them.

Guarantees: pure. An artifact goes only if the store made it, nothing cites it, and nobody stored
or used it since the cutoff. Whatever is not known counts as a reason to keep it.

Example:
    >>> from datetime import UTC
    >>> foreign = StoredArtifact(session_id="s1", filename="a.txt", is_foreign=True)
    >>> removable, kept = decide((foreign,), {}, cutoff=datetime(2026, 1, 1, tzinfo=UTC))
    >>> removable, kept[0].reason
    ((), <KeptFor.FOREIGN: 'foreign'>)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from provenance.retention.values import (
    CiterKind,
    Kept,
    KeptFor,
    Removable,
    StoredArtifact,
)

__all__ = ["decide"]


def decide(
    artifacts: Iterable[StoredArtifact],
    cited: Mapping[tuple[str, str], Mapping[CiterKind, str]],
    *,
    cutoff: datetime,
) -> tuple[tuple[Removable, ...], tuple[Kept, ...]]:
    """Tell what goes from what stays, each in the order of the artifacts.

    Args:
        artifacts: what lies in the artifact folders.
        cited: by session and file name: each kind of citer with the first such file.
        cutoff: what was stored or used at this time or later stays.
    """
    removable: list[Removable] = []
    kept: list[Kept] = []
    for artifact in artifacts:
        citers = cited.get(artifact.name, {})
        reason = _reason(artifact, cutoff)
        if citers or reason is not None:
            kept.append(Kept(artifact, dict(citers), None if citers else reason))
        else:
            removable.append(Removable(artifact, is_finished=artifact.is_removed))
    return tuple(removable), tuple(kept)


def _reason(artifact: StoredArtifact, cutoff: datetime) -> KeptFor | None:
    if artifact.is_foreign or artifact.facts is None:
        return KeptFor.FOREIGN
    if artifact.sha256 is None:
        return KeptFor.NOT_IN_LEDGER
    if artifact.is_removed:
        return None  # it was decided already, and the process that did it died
    if artifact.last_use is None or artifact.last_use >= cutoff:
        return KeptFor.YOUNG
    return None
