"""The system's own Chromium, driven by playwright; nothing is downloaded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

_ARGUMENTS = (
    "--no-sandbox",  # root in a container has no other way
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium() -> Iterator[Any]:
    """Start a headless browser; skips where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip(f"no browser on this machine: none of {', '.join(_NAMES)}")
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=list(_ARGUMENTS))
        yield browser
        browser.close()


@dataclass
class Watched:
    """A page, and all that it did which no report should do.

    Attributes:
        page: as playwright has it.
        requests: addresses that were asked for, but for the page's own.
        said: dialogs, errors, lines on the console; a breach of the policy is one.
    """

    page: Any
    requests: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def is_clean(self) -> bool:
        return not (self.requests or self.said)

    def rows(self) -> list[str]:
        """Give the ids of the rows that are seen, from above."""
        return list(
            self.page.evaluate(
                """() => Array.from(document.querySelectorAll('#results tbody tr'))
                .map((row) => [row.getBoundingClientRect(), row.id])
                .filter(([box]) => box.height > 0)
                .sort(([a], [b]) => a.top - b.top)
                .map(([, id]) => id)"""
            )
        )

    def choose(self, key: str) -> None:
        """Choose a filter or an order as a person does: by its label."""
        self.page.locator(f"label:has(#{key})").click()


@contextmanager
def opened(
    browser: Any,
    file: Path,
    *,
    width: int = 1280,
    scheme: str = "light",
    has_scripts: bool = True,
    bypasses_policy: bool = False,
) -> Iterator[Watched]:
    """Open a file in a window of its own."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        java_script_enabled=has_scripts,
        bypass_csp=bypasses_policy,
        reduced_motion="reduce",
    )
    page = context.new_page()
    watched = Watched(page)
    own = file.as_uri()

    def hear_request(request: Any) -> None:
        if request.url.partition("#")[0] != own:
            watched.requests.append(request.url)

    def hear_dialog(dialog: Any) -> None:
        watched.said.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("request", hear_request)
    page.on("dialog", hear_dialog)
    page.on("console", lambda message: watched.said.append(message.text))
    page.on("pageerror", lambda error: watched.said.append(str(error)))
    page.goto(own)
    yield watched
    context.close()
