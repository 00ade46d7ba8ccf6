"""Every code that can come up has a page."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from provenance.artifacts import LedgerFaultKind
from provenance.audit._transcript_pages import TRANSCRIPT_PAGES
from provenance.audit.explanations import (
    Explanation,
    all_explanations,
    find_explanation,
    is_finding_of_audits,
    similar_codes,
)
from provenance.owners import _FACTS
from provenance.resolution import Reason, SourceResolutionStatus, Strength


def _finding_codes(folder: Path) -> set[str]:
    """Find the codes of all findings that the library builds, in its source."""
    codes = {str(kind) for kind in LedgerFaultKind} | set(_FACTS)
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            name = node.func.id.lstrip("_").lower()
            if name not in ("finding", "note", "fault", "sourceunreadable") or not node.args:
                continue
            if isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
                codes.add(node.args[0].value)
    return codes


def test_every_finding_has_a_page(checkout: Path) -> None:
    codes = _finding_codes(checkout / "provenance")
    assert {"state_unreadable", "untrusted_config_ignored", "config_invalid"} <= codes
    missing = sorted(code for code in codes if find_explanation(code) is None)
    assert missing == []


@pytest.mark.parametrize("code", [*Reason, *SourceResolutionStatus, *Strength])
def test_every_reason_state_and_strength_has_a_page(code: str) -> None:
    page = find_explanation(str(code))
    assert page is not None
    assert page.code == code


@pytest.mark.parametrize("page", all_explanations(), ids=lambda page: page.code)
def test_a_page_says_three_things_in_sentences(page: Explanation) -> None:
    for text in (page.meaning, page.arises, page.remedy):
        assert text[0].isupper() or text.startswith(("max_", "chmod"))
        assert text.endswith((".", "`."))
        assert "\n" not in text
        assert "  " not in text
        assert text.isascii()
    assert len(page.meaning) < 120


@pytest.mark.parametrize("page", all_explanations(), ids=lambda page: page.code)
def test_a_finding_in_a_transcript_says_what_only_looks_like_it(page: Explanation) -> None:
    text = page.look_alike
    assert bool(text) == (page.code in TRANSCRIPT_PAGES)
    if not text:
        return
    assert text[0].isupper()
    assert text.endswith((".", "`."))
    assert text.count(". ") == 0, "one sentence"
    assert "\n" not in text
    assert "  " not in text
    assert text.isascii()
    assert len(text) < 100


def test_no_two_findings_have_one_look_alike() -> None:
    texts = [page.look_alike for page in all_explanations() if page.look_alike]
    assert len(set(texts)) == len(texts) == len(TRANSCRIPT_PAGES)


def test_a_page_may_have_three_texts() -> None:
    assert Explanation("state", "x", "A.", "B.", "C.").look_alike == ""


def test_no_code_has_two_meanings() -> None:
    codes = [page.code for page in all_explanations()]
    assert len(set(codes)) == len(codes)


def test_similar_codes() -> None:
    assert similar_codes("transcript_invalid_jsn")[0] == "transcript_invalid_json"
    assert similar_codes("") == ()
    assert similar_codes("x" * 1_000_000) == ()


@pytest.mark.parametrize(
    "code", ["torn_line", "hard_link", "not_sealed", "transcript_invalid_json", "denied_by_target"]
)
def test_codes_of_findings(code: str) -> None:
    assert is_finding_of_audits(code)


@pytest.mark.parametrize(
    "code", ["artifact_missing", "missing", "14", "nonsense", "seal_refused", "space_low", ""]
)
def test_codes_of_no_finding(code: str) -> None:
    assert not is_finding_of_audits(code)


def test_whatever_the_audit_finds_is_a_code_of_findings(checkout: Path) -> None:
    for part in ("audit", "transcripts", "artifacts"):
        for code in _finding_codes(checkout / "provenance" / part):
            assert is_finding_of_audits(code), code
