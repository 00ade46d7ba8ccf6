"""The README's picture shows what the program says today."""

import html
import re
from pathlib import Path

from scripts.build_terminal_picture import draw

ROOT = Path(__file__).resolve().parent.parent


def _words(picture: str) -> list[str]:
    """Give the words of a picture; where rich puts them depends on its version."""
    texts = re.findall(r"<text[^>]*>(.*?)</text>", picture)
    return [word for text in texts for word in html.unescape(text).replace("\xa0", " ").split()]


def test_the_picture_is_that_of_the_sample() -> None:
    shown = (ROOT / "docs/verify-sample.svg").read_text(encoding="utf-8")
    words = _words(shown)
    assert words == _words(draw())
    assert {"corrupt", "denied", "missing", "unsupported", "available"} <= set(words)


def test_looking_at_it_asks_no_server() -> None:
    shown = (ROOT / "docs/verify-sample.svg").read_text(encoding="utf-8")
    assert "@font-face" not in shown
    assert "url(http" not in shown
