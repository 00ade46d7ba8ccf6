"""The page on compaction says what the code does."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from provenance.compaction import ChangedBlock, CompactionConfig, InsertedBlock, SummaryOutcome

_PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "compaction.md"


def test_the_example_runs() -> None:
    [code] = re.findall(r"```python\n(.*?)```", _PAGE.read_text("utf-8"), re.DOTALL)
    exec(compile(code, "docs/compaction.md", "exec"), {})


def test_every_name_is_on_the_page() -> None:
    page = _PAGE.read_text("utf-8")
    names = {
        *(one.value for one in SummaryOutcome),
        *ChangedBlock._fields,
        *InsertedBlock._fields,
        *(one.name for one in fields(CompactionConfig)),
    }
    missing = [
        name for name in sorted(names) if f"`{name}`" not in page and f"`{name}=" not in page
    ]
    assert missing == []
