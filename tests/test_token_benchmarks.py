"""The scripts that measure token counters: same texts, same table, the page that shows it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks import token_errors, token_libraries
from benchmarks.token_errors import ErrorRow, corpora, measure, table_of

needs_library = pytest.mark.skipif(
    find_spec("bpe_openai") is None, reason="the extra `tokens` is not installed"
)


def test_there_are_six_kinds_of_text_and_they_stay_the_same() -> None:
    texts = corpora()
    assert list(texts) == [
        "English",
        "Chinese",
        "JSON with hex ids",
        "code (Python)",
        "hex",
        "base64",
    ]
    assert corpora() == texts
    assert set(texts["hex"]) == set("0123456789abcdef")


@needs_library
@pytest.mark.parametrize("reference", ["o200k_base", "cl100k_base"])
def test_the_page_has_the_table_that_is_measured(reference: str, checkout: Path) -> None:
    page = (checkout / "docs/tokens.md").read_text(encoding="utf-8")
    assert table_of(reference, measure(reference)) in page, (
        "python -m benchmarks.token_errors prints the new tables"
    )


@needs_library
def test_the_reference_is_never_off_and_calibration_helps() -> None:
    for row in measure("o200k_base"):
        assert row.errors["o200k_base"] == 0
        assert abs(row.errors["calibrated, same kind"]) <= abs(row.errors["heuristic"])


def test_a_table_shows_signs_and_exact_zeros() -> None:
    row = ErrorRow("hex", 1_145, {"a": 0.0, "b": -0.5629, "c": 0.004, "d": 1.5})
    assert table_of("ref", [row]).splitlines() == [
        "| text | tokens (ref) | a | b | c | d |",
        "|---|---:|---:|---:|---:|---:|",
        "| hex | 1,145 | 0 % | -56.3 % | +0.4 % | +150.0 % |",
    ]


@needs_library
def test_the_script_prints_both_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert token_errors.main() == 0
    printed = capsys.readouterr().out
    assert printed.count("| text | tokens (") == 2


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of bpe-openai, when it is imported
def test_libraries_that_are_there_are_compared(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_libraries, "_TEXTS", 20)
    monkeypatch.setattr(token_libraries, "_BYTES", 1_000)
    monkeypatch.setattr(token_libraries, "_ROUNDS", 1)
    assert token_libraries.main() == 0
    printed = capsys.readouterr().out
    assert printed.startswith("o200k_base; not installed: ")
    assert "they differ" not in printed


def test_what_is_not_installed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def import_module(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(token_libraries, "import_module", import_module)
    assert [token_libraries.load(name, "o200k_base") for name in token_libraries.NAMES] == [
        None
    ] * 4


def test_disagreements_are_the_texts_that_count_differently() -> None:
    assert token_libraries.disagreements(len, lambda text: text.count("a"), ["a", "ab", "aa"]) == [
        "ab"
    ]
    assert token_libraries.texts(3) == token_libraries.texts(3)
    assert token_libraries.megabytes_a_second(len, "abc") > 0
