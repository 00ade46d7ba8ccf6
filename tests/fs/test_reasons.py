"""What a failure of the file system means for a source."""

from __future__ import annotations

import pytest

from provenance.fs.failures import (
    FILE_FAILURES,
    AccessRefused,
    BoundaryRefused,
    FileFailure,
    NotARegularFile,
    ReadFailed,
    SourceAbsent,
    TraitRefused,
)
from provenance.fs.reasons import reason_of
from provenance.resolution import Reason


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (SourceAbsent("x"), Reason.SOURCE_DISAPPEARED),
        (BoundaryRefused("x"), Reason.OWNERSHIP_BOUNDARY),
        (AccessRefused("x"), Reason.FILESYSTEM_DENIED),
        (TraitRefused("x", "hard_link"), Reason.REFUSED_BY_POLICY),
        (NotARegularFile("x"), Reason.TRANSCRIPT_NOT_A_FILE),
        (ReadFailed("x", 5), Reason.SOURCE_READ_FAILED),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_failure_has_its_reason(failure: FileFailure, reason: Reason) -> None:
    assert reason_of(failure, not_a_file=Reason.TRANSCRIPT_NOT_A_FILE) is reason


def test_every_failure_is_one_that_is_caught() -> None:
    assert set(FILE_FAILURES) == {
        SourceAbsent,
        BoundaryRefused,
        AccessRefused,
        TraitRefused,
        NotARegularFile,
        ReadFailed,
    }


def test_the_owner_says_what_absent_means() -> None:
    absent = SourceAbsent("x")
    found = reason_of(
        absent, not_a_file=Reason.ARTIFACT_NOT_A_FILE, absent=Reason.TRANSCRIPT_MISSING
    )
    assert found is Reason.TRANSCRIPT_MISSING
