"""What goes and what stays: each reason to keep is enough alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.fs import FileFacts
from provenance.retention.deciding import decide
from provenance.retention.values import CiterKind, KeptFor, StoredArtifact
from tests.retention.homes import NOW

_FACTS = FileFacts(device=1, inode=2, size=3, mtime_ns=4, ctime_ns=5, nlink=1, uid=0, mode=0o100600)
_OLD = StoredArtifact(
    session_id="s1",
    filename="a.txt",
    facts=_FACTS,
    sha256="0" * 64,
    last_use=NOW - timedelta(microseconds=1),
    lines=1,
)


def _reason(artifact: StoredArtifact) -> KeptFor | str | None:
    removable, kept = decide((artifact,), {}, cutoff=NOW)
    assert len(removable) + len(kept) == 1
    return kept[0].reason if kept else "goes"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, "goes"),
        ({"last_use": NOW}, KeptFor.YOUNG),
        ({"last_use": None}, KeptFor.YOUNG),
        ({"sha256": None}, KeptFor.NOT_IN_LEDGER),
        ({"is_foreign": True}, KeptFor.FOREIGN),
        ({"facts": None}, KeptFor.FOREIGN),
        # Its removal was decided; that it was does not make a foreign file ours.
        ({"is_removed": True, "last_use": NOW}, "goes"),
        ({"is_removed": True, "is_foreign": True}, KeptFor.FOREIGN),
        ({"is_removed": True, "sha256": None}, KeptFor.NOT_IN_LEDGER),
    ],
)
def test_each_reason_is_enough(changes: dict[str, Any], reason: KeptFor | str) -> None:
    assert _reason(replace(_OLD, **changes)) == reason


@given(
    st.builds(
        lambda **changes: replace(_OLD, **changes),
        last_use=st.sampled_from([None, NOW, NOW - timedelta(days=9)]),
        sha256=st.sampled_from([None, "0" * 64]),
        is_removed=st.booleans(),
        is_foreign=st.booleans(),
    ),
    st.sets(st.sampled_from(CiterKind), min_size=1),
)
def test_what_is_cited_never_goes(artifact: StoredArtifact, kinds: set[CiterKind]) -> None:
    cited = {artifact.name: dict.fromkeys(kinds, "x")}
    removable, kept = decide((artifact,), cited, cutoff=NOW)
    assert not removable
    assert kept[0].cited_by.keys() == kinds
