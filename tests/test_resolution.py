"""Results: five states, a closed table of reasons, values that nobody can change afterwards."""

from __future__ import annotations

import dataclasses
import json
import pickle

import pytest

from provenance.resolution import (
    INCONCLUSIVE_REASONS,
    REASON_STATUS,
    STRENGTH_ORDER,
    Outcome,
    Quiescence,
    Reason,
    SourceResolution,
    SourceResolutionStatus,
    Strength,
    resolution_for,
    verified,
)

# The contract (spec 01.2), written down a second time on purpose.
_TABLE = {
    "available": {"verified_transcript_event", "verified_artifact"},
    "missing": {
        "transcript_missing",
        "transcript_event_missing",
        "artifact_missing",
        "source_disappeared",
        "removed_by_retention",
    },
    "denied": {
        "policy_denied",
        "policy_error",
        "refused_by_policy",
        "filesystem_denied",
        "ownership_boundary",
    },
    "corrupt": {
        "malformed_pointer",
        "transcript_not_a_file",
        "transcript_record_too_large",
        "transcript_invalid_json",
        "transcript_record_not_object",
        "transcript_sequence_mismatch",
        "transcript_session_mismatch",
        "transcript_event_id_mismatch",
        "source_not_utf8",
        "artifact_not_a_file",
        "artifact_not_utf8",
        "artifact_digest_mismatch",
        "artifact_too_large",
        "pinned_digest_mismatch",
        "seal_mismatch",
        "source_changed_during_read",
        "source_read_failed",
    },
    "unsupported": {"unsupported_scheme"},
}

_SHA = "ab" * 32
_OUTCOME = Outcome(Reason.VERIFIED_ARTIFACT, _SHA, "text", Strength.FULL, Quiescence.LEASED)


def test_the_table_of_reasons_is_the_contract() -> None:
    got: dict[str, set[str]] = {}
    for reason, status in REASON_STATUS.items():
        got.setdefault(status.value, set()).add(reason.value)
    assert got == _TABLE
    assert set(REASON_STATUS) == set(Reason)


def test_each_reason_belongs_to_one_state() -> None:
    reasons = [reason for reasons in _TABLE.values() for reason in reasons]
    assert len(reasons) == len(set(reasons)) == len(Reason)


def test_the_words_are_the_contract() -> None:
    assert [status.value for status in SourceResolutionStatus] == [
        "available", "missing", "denied", "corrupt", "unsupported",
    ]  # fmt: skip
    assert {strength.value for strength in Strength} == {
        "full", "prefix", "position", "pinned", "sealed",
    }  # fmt: skip
    assert {guard.value for guard in Quiescence} == {"leased", "stat"}
    assert isinstance(SourceResolutionStatus.MISSING, str)
    assert f"{SourceResolutionStatus.MISSING}" == "missing"


def test_strengths_have_an_order() -> None:
    ranks = [STRENGTH_ORDER[Strength(word)] for word in ("position", "prefix", "full", "pinned")]
    assert ranks == sorted(set(ranks))
    assert STRENGTH_ORDER[Strength.SEALED] > ranks[-1]


def test_the_tables_cannot_be_changed() -> None:
    for table in (REASON_STATUS, STRENGTH_ORDER):
        with pytest.raises(TypeError):
            table["x"] = 1  # type: ignore[index]


def test_defaults() -> None:
    result = SourceResolution("transcript:s:1", SourceResolutionStatus.MISSING)
    assert result.conclusive is True
    for name in (
        "source_type", "evidence_sha256", "excerpt", "reason", "strength", "quiescence",
    ):  # fmt: skip
        assert getattr(result, name) is None
    with pytest.raises(TypeError):
        SourceResolution("transcript:s:1")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "result",
    [
        SourceResolution("p", SourceResolutionStatus.AVAILABLE, evidence_sha256=_SHA),
        verified("p", "artifact", _OUTCOME),
        resolution_for("p", Reason.POLICY_DENIED, source_type="artifact"),
    ],
)
def test_a_result_is_frozen(result: SourceResolution) -> None:
    before = dataclasses.astuple(result)
    for field in dataclasses.fields(result):
        with pytest.raises(AttributeError):
            setattr(result, field.name, "x")
        with pytest.raises(AttributeError):
            delattr(result, field.name)
    with pytest.raises((AttributeError, TypeError)):
        result.other = "x"  # type: ignore[attr-defined]
    assert dataclasses.astuple(result) == before


def test_the_fast_path_builds_what_the_constructor_builds() -> None:
    fast = verified("p", "artifact", _OUTCOME)
    plain = SourceResolution(
        "p",
        SourceResolutionStatus.AVAILABLE,
        "artifact",
        _SHA,
        "text",
        "verified_artifact",
        "full",
        quiescence="leased",
    )
    assert type(fast) is SourceResolution
    assert isinstance(fast, SourceResolution)
    assert fast == plain
    assert hash(fast) == hash(plain)
    assert repr(fast).startswith("SourceResolution(")
    assert fast.to_dict() == plain.to_dict()
    assert dataclasses.replace(fast, pointer="q").pointer == "q"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        copy = pickle.loads(pickle.dumps(fast, protocol))
        assert copy == fast
        assert hash(copy) == hash(fast)
        assert type(copy) is SourceResolution
        with pytest.raises(AttributeError):
            copy.status = SourceResolutionStatus.MISSING  # type: ignore[misc]


@pytest.mark.parametrize("reason", list(Reason))
def test_a_reason_decides_state_and_conclusiveness(reason: Reason) -> None:
    result = resolution_for("p", reason)
    assert result.status is REASON_STATUS[reason]
    assert result.reason == reason.value
    assert result.evidence_sha256 is None
    assert result.excerpt is None
    assert result.strength is None
    assert result.conclusive is (reason not in INCONCLUSIVE_REASONS)


def test_what_is_not_conclusive() -> None:
    assert {reason.value for reason in INCONCLUSIVE_REASONS} == {
        "source_read_failed", "source_changed_during_read", "artifact_too_large",
    }  # fmt: skip
    assert all(
        REASON_STATUS[reason] is SourceResolutionStatus.CORRUPT for reason in INCONCLUSIVE_REASONS
    )


def test_to_dict_is_plain_json() -> None:
    result = verified("p", "artifact", _OUTCOME)
    full = result.to_dict()
    assert full == {
        "pointer": "p",
        "status": "available",
        "source_type": "artifact",
        "evidence_sha256": _SHA,
        "excerpt": "text",
        "reason": "verified_artifact",
        "strength": "full",
        "conclusive": True,
        "quiescence": "leased",
        "native_id": None,
    }
    assert {type(value) for value in full.values()} == {str, bool, type(None)}
    assert json.loads(json.dumps(full)) == full
    without = result.to_dict(include_excerpt=False)
    assert "excerpt" not in without
    assert without == {key: value for key, value in full.items() if key != "excerpt"}
    assert result.to_dict(False) == without
