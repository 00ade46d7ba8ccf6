"""The error that carries a reason."""

from __future__ import annotations

import pickle

import pytest

from provenance.errors import DataError
from provenance.evidence import EvidenceUnavailable
from provenance.resolution import REASON_STATUS, Reason, SourceResolutionStatus


@pytest.mark.parametrize("reason", [reason for reason in Reason if "verified" not in reason])
def test_the_reason_decides_the_state_and_is_all_that_is_said(reason: Reason) -> None:
    error = EvidenceUnavailable(reason)
    assert isinstance(error, DataError)
    assert (error.reason, error.status) == (reason, REASON_STATUS[reason])
    assert str(error) == f"source: expected available, got {error.status} ({reason})"


def test_it_survives_the_way_between_processes() -> None:
    error = pickle.loads(pickle.dumps(EvidenceUnavailable(Reason.POLICY_DENIED)))
    assert (error.reason, error.status) == (Reason.POLICY_DENIED, SourceResolutionStatus.DENIED)
