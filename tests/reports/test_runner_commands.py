"""No report holds what a program that runs builds takes for a command in its log."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.streams import one_line
from provenance.reports._encoding import to_json
from provenance.reports._runner_commands import part_commands
from tests.reports.test_golden import _FOLDER, _WRITERS

_COMMAND = re.compile(r"##(\[|vso\[|teamcity\[)")
_texts = st.text("#[vso]\\u0023 \n", max_size=20)


@given(_texts)
def test_json_reads_back_unaltered(text: str) -> None:
    written = to_json({"a": text, text: 1})
    assert not _COMMAND.search(written)
    assert json.loads(written) == {"a": text, text: 1}


@given(_texts)
def test_words_are_parted_alike_on_the_console_and_in_reports(text: str) -> None:
    assert not _COMMAND.search(part_commands(text))
    shown = one_line(text.replace("\n", ""))
    assert shown == part_commands(text.replace("\n", ""))


@pytest.mark.parametrize(
    ("text", "parted"),
    [
        ("##[warning]x", "## [warning]x"),
        ("a ##vso[x]y ##[z]", "a ## vso[x]y ## [z]"),
        ("###[x]", "### [x]"),
        ("## Heading", "## Heading"),
        ("#[x]", "#[x]"),
        ("## [x]", "## [x]"),
        ("##1[x]", "##1[x]"),
    ],
)
def test_what_is_parted(text: str, parted: str) -> None:
    assert part_commands(text) == parted


@pytest.mark.parametrize("name", _WRITERS)
def test_no_golden_file_holds_one(name: str) -> None:
    assert not _COMMAND.search((_FOLDER / name).read_text(encoding="utf-8"))
