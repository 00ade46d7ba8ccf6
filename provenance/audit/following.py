"""From an answer to what an audit says of the source: who cites it, and all that rests on it.

Guarantees: pure. Only of a source that is not available it is followed what rests on it: nothing
has to be looked at again because of one that is.

Example:
    >>> from provenance.resolution import Reason, resolution_for
    >>> answer = resolution_for("transcript:s1:3", Reason.TRANSCRIPT_MISSING)
    >>> cited = [Citation("states/a.json", "f1", kind="fact")]
    >>> [one.item for one in audited_source(answer, cited, ConsequenceGraph()).consequences]
    ['f1']
"""

from __future__ import annotations

from collections.abc import Sequence

from provenance.audit.mentions import artifact_key
from provenance.audit_report import AuditedSource, Citation
from provenance.consequences import Consequence, ConsequenceGraph
from provenance.resolution import SourceResolution, SourceResolutionStatus

__all__ = ["audited_source"]


def audited_source(
    resolution: SourceResolution, cited_by: Sequence[Citation], graph: ConsequenceGraph
) -> AuditedSource:
    """Put together what an audit says of one source.

    Args:
        resolution: the answer.
        cited_by: the places that cite it.
        graph: what rests on what, beyond them.
    """
    if resolution.status is SourceResolutionStatus.AVAILABLE and resolution.conclusive:
        return AuditedSource(resolution, tuple(cited_by))
    direct = [Consequence(one.kind, one.file, one.item, one.session, one.text) for one in cited_by]
    followed = graph.follow(direct, key=artifact_key(resolution.pointer))
    return AuditedSource(
        resolution,
        tuple(cited_by),
        consequences=followed.listed,
        consequences_left_out=followed.left_out,
    )
