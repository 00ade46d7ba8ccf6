"""Published schemas are found by name, and by no other text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from provenance.schemas import (
    SCHEMA_NAMES,
    SchemaFileError,
    UnknownSchemaError,
    catalog,
    load_schema,
)


def test_the_list_is_that_of_the_files(checkout: Path) -> None:
    files = (checkout / "provenance" / "schemas").glob("*.schema.json")
    assert sorted(file.name.removesuffix(".schema.json") for file in files) == sorted(SCHEMA_NAMES)


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_a_schema_is_the_text_of_its_file(name: str, checkout: Path) -> None:
    file = checkout / "provenance" / "schemas" / f"{name}.schema.json"
    assert load_schema(name) == file.read_text(encoding="utf-8")
    assert json.loads(load_schema(name))["$schema"].startswith("https://json-schema.org/")


@pytest.mark.parametrize(
    "name", ["", "State", "state.schema.json", "../state", "x" * 5000, None, 3]
)
def test_another_name_is_refused(name: Any) -> None:
    with pytest.raises(UnknownSchemaError, match=r"^schema: expected ") as caught:
        load_schema(name)
    assert len(str(caught.value)) < 300


def test_a_missing_file_is_the_fault_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "SCHEMA_NAMES", ("absent",))
    with pytest.raises(SchemaFileError, match=r"^schema absent: ") as caught:
        load_schema("absent")
    assert "/" not in str(caught.value)
