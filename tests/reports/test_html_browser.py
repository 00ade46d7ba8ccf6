"""The HTML report in a browser: nothing of the files runs, and all works without scripts too."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.reports.browser import Watched, chromium, opened
from tests.reports.html_samples import EXCERPT, HOSTILE, everything, many, write

_WIDTHS = (1280, 400)
_SCHEMES = ("light", "dark")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("html") / "report.html"
    file.write_text(write(everything()), encoding="ascii")
    return file


@pytest.fixture(scope="module")
def large_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("html") / "large.html"
    file.write_text(write(many()), encoding="ascii")
    return file


def _open_all(watched: Watched) -> None:
    watched.page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")


def _is_too_wide(watched: Watched) -> bool:
    return bool(watched.page.evaluate("document.scrollingElement.scrollWidth > innerWidth"))


def _of_state(*states: str) -> list[str]:
    """Give the ids of the rows in these states, in the order of the report."""
    return [
        f"r{number}"
        for number, one in enumerate(everything().sources, 1)
        if (one.resolution.status if one.resolution.conclusive else "inconclusive") in states
    ]


_ALL = ("corrupt", "denied", "missing", "unsupported", "inconclusive", "available")
_WORST_FIRST = [row for state in _ALL for row in _of_state(state)]
_BY_POINTER = [f"r{number}" for number in range(1, len(everything().sources) + 1)]


def test_nothing_that_the_files_hold_runs_and_nothing_is_fetched(
    browser: Any, page_file: Path
) -> None:
    with opened(browser, page_file) as watched:
        _open_all(watched)
        for link in watched.page.locator("nav a").all():
            link.click()
        shown = watched.page.evaluate("document.body.textContent")
        for value in HOSTILE:
            if value.isprintable():
                assert value in shown
        assert watched.page.evaluate("document.scripts.length") == 1
        assert (
            watched.page.evaluate("document.querySelectorAll('img,link,iframe,object').length") == 0
        )
        (excerpt,) = watched.page.evaluate(
            "Array.from(document.querySelectorAll('pre'), (one) => one.textContent)"
        )
        assert excerpt == EXCERPT.replace("\t", "\\u0009").replace("\u202e", "\\u202e")
        assert watched.is_clean(), watched


def test_the_policy_stops_what_would_have_got_in(browser: Any, page_file: Path) -> None:
    """The nearest look-alike: markup that was not escaped, and still does nothing."""
    page = page_file.read_text(encoding="ascii")
    planted = page_file.with_name("planted.html")
    hole = '<h2 id="results-title">'
    assert hole in page
    planted.write_text(page.replace(hole, f"{HOSTILE[0]}{HOSTILE[1]}{HOSTILE[12]}{hole}"))
    with opened(browser, planted) as watched:
        assert not any("dialog" in line for line in watched.said)
        # Each is refused by name: the inline script, the handler, the style; nothing is fetched.
        assert sum("Content Security Policy" in line for line in watched.said) >= 3
        assert watched.page.locator("#results").is_visible()


@pytest.mark.parametrize("has_scripts", [True, False])
def test_filter_and_order(browser: Any, page_file: Path, has_scripts: bool) -> None:
    with opened(browser, page_file, has_scripts=has_scripts) as watched:
        assert watched.rows() == _WORST_FIRST
        watched.choose("f-missing")
        assert watched.rows() == _of_state("missing")
        watched.choose("f-fault")
        assert watched.rows() == [row for row in _WORST_FIRST if row not in _of_state("available")]
        watched.choose("o-pointer")
        assert watched.rows() == _of_state(*_ALL[:-1])
        watched.choose("f-all")
        assert watched.rows() == _BY_POINTER
        watched.choose("o-claims")
        assert watched.rows()[0] == f"r{_most_cited()}"
        watched.choose("o-strength")
        strengths = watched.page.locator("#results tbody tr[data-g]").count()
        first = watched.rows()[:strengths]
        assert [watched.page.locator(f"#{row}").get_attribute("data-g") for row in first] == [
            "position",
            "position",
            "full",
        ]
        watched.choose("f-waived")
        assert len(watched.rows()) == 1
        # A link leads to its row, also to one that is filtered away.
        target = _of_state("available")[0]
        watched.page.goto(f"{page_file.as_uri()}#{target}")
        watched.page.locator(f"#{target}").wait_for(state="visible")
        watched.page.goto(f"{page_file.as_uri()}#results")
        watched.choose("f-all")
        watched.choose("o-state")
        assert watched.rows() == _WORST_FIRST
        assert watched.page.locator("#q").is_visible() == has_scripts
        assert watched.is_clean(), watched


def _most_cited() -> int:
    cited = [len(one.cited_by) for one in everything().sources]
    return cited.index(max(cited)) + 1


def test_the_script_searches_counts_and_says_how_rows_are_ordered(
    browser: Any, page_file: Path
) -> None:
    with opened(browser, page_file) as watched:
        page = watched.page
        page.fill("#q", "CANARY digest")
        assert len(watched.rows()) == 1
        assert page.inner_text("#shown") == f"1 of {len(_BY_POINTER)} sources shown"
        page.fill("#q", "<script>")
        assert watched.rows()
        page.fill("#q", "")
        assert page.inner_text("#shown") == ""
        # By keyboard alone: a heading of the table is a button.
        page.locator("#results thead button", has_text="Source").focus()
        page.keyboard.press("Enter")
        assert watched.rows() == _BY_POINTER
        sorts = page.evaluate(
            "Array.from(document.querySelectorAll('[aria-sort]'), (one) => one.ariaSort)"
        )
        assert sorts == ["none", "ascending", "none", "none"]
        # The order of the document is the one that is seen: for those who hear the page.
        order = "Array.from(document.querySelectorAll('#results tbody tr'), (one) => one.id)"
        assert page.evaluate(order) == _BY_POINTER
        # Arrow keys move through a group of filters.
        page.locator("#f-all").focus()
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.id") == "f-fault"
        assert watched.rows() == _of_state(*_ALL[:-1])
        # A link to a row that is filtered away shows it.
        hidden = _of_state("available")[0]
        page.evaluate(f"location.hash = '{hidden}'")
        page.wait_for_function("document.getElementById('f-all').checked")
        assert hidden in watched.rows()
        assert watched.is_clean(), watched


@pytest.mark.parametrize("has_scripts", [True, False])
def test_ten_thousand_results(browser: Any, large_file: Path, has_scripts: bool) -> None:
    count = "document.querySelectorAll('#results tbody tr').length"
    seen = """Array.from(document.querySelectorAll('#results tbody tr'))
        .filter((row) => row.checkVisibility()).length"""
    with opened(browser, large_file, has_scripts=has_scripts) as watched:
        assert watched.page.evaluate(count) == 10_000
        watched.choose("f-corrupt")
        assert watched.page.evaluate(seen) == 500
        watched.choose("o-pointer")
        watched.choose("f-all")
        assert watched.page.evaluate(seen) == 10_000
        assert watched.rows()[:3] == ["r1", "r2", "r3"]
        assert not _is_too_wide(watched)
        assert watched.is_clean(), watched


@pytest.mark.parametrize("width", _WIDTHS)
def test_the_page_fits_its_window(browser: Any, page_file: Path, width: int) -> None:
    with opened(browser, page_file, width=width) as watched:
        assert not _is_too_wide(watched)
        _open_all(watched)
        assert not _is_too_wide(watched)
        heads = watched.page.locator("#results thead").bounding_box()
        # On a narrow screen the heads are for those who hear the page, and each row is a card.
        assert (heads["width"] < 10) == (width < 600)


def test_dark_and_light_and_paper(browser: Any, page_file: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.body).color"
    with opened(browser, page_file) as light, opened(browser, page_file, scheme="dark") as dark:
        by_day = [light.page.evaluate(one) for one in (ground, ink)]
        by_night = [dark.page.evaluate(one) for one in (ground, ink)]
        assert by_day != by_night
        dark.page.emulate_media(media="print")
        assert dark.page.evaluate(ink) == by_day[1]
        assert not dark.page.locator(".controls").is_visible()
        assert not dark.page.locator("nav").is_visible()
        # What is folded is on paper too.
        assert dark.page.locator("pre").bounding_box()["height"] > 0
        assert dark.page.pdf().startswith(b"%PDF")


@pytest.mark.parametrize("scheme", _SCHEMES)
@pytest.mark.parametrize("width", _WIDTHS)
def test_no_rule_of_accessibility_is_broken(
    browser: Any, page_file: Path, width: int, scheme: str
) -> None:
    spec = find_spec("axe_playwright_python")
    if spec is None or spec.origin is None:
        pytest.skip("axe_playwright_python, which brings axe-core, is not installed")
    axe = Path(spec.origin).with_name("axe.min.js").read_text(encoding="utf-8")
    with opened(browser, page_file, width=width, scheme=scheme, bypasses_policy=True) as watched:
        _open_all(watched)
        watched.page.evaluate(f"{axe};0")
        found = watched.page.evaluate("axe.run({resultTypes: ['violations', 'incomplete']})")
        assert len(found["passes"]) > 30
        for kind in ("violations", "incomplete"):
            told = [
                (rule["id"], node["html"][:200], node["any"])
                for rule in found[kind]
                for node in rule["nodes"]
                if not _is_laid_out_on_two_lines(node)
            ]
            assert not told, (kind, told)


def _is_laid_out_on_two_lines(node: dict[str, Any]) -> bool:
    """Text that goes on in a second line lies over its neighbour's box, and axe cannot tell."""
    keys = {one["data"]["messageKey"] for one in node["any"] if isinstance(one["data"], dict)}
    return keys == {"elmPartiallyObscuring"}
