"""Statements of attestations: what is not understood is said in our own words."""

from __future__ import annotations

import json

import pytest

from provenance.reports.attestation import PREDICATE_TYPE, StatementError, parse_statement


@pytest.mark.parametrize("predicate", [1, "x", [], None])
def test_no_name_of_a_class_reaches_a_message(predicate: object) -> None:
    document = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [],
        "predicateType": PREDICATE_TYPE,
        "predicate": predicate,
    }
    with pytest.raises(StatementError) as refused:
        parse_statement(json.dumps(document).encode())
    assert str(refused.value) == "'predicate': expected a table, got another"
