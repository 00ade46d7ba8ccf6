"""SECURITY.md claims nothing that no test holds."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`(test_[a-z0-9_]+)`", PAGE))


def _defined() -> set[str]:
    names = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        names |= set(re.findall(r"^\s*def (test_\w+)\(", text, re.MULTILINE))
    return names


def test_every_named_test_exists() -> None:
    assert sorted(NAMED - _defined()) == []


def test_every_defence_names_a_test() -> None:
    table = PAGE.split("## What it defends against", 1)[1].split("## What it does not", 1)[0]
    rows = [row for row in table.split("\n") if row.startswith("| ")][1:]
    assert len(rows) > 20
    assert [row for row in rows if "`test_" not in row] == []
