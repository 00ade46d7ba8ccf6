"""Text of hostile origin as HTML."""

from __future__ import annotations

import re

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.durable.escaping import unescape
from provenance.reports._html_text import (
    attribute,
    count,
    cut,
    lines,
    link,
    prose,
    prose_words,
    tag,
    text,
)
from tests.reports.html_samples import HOSTILE

_any_text = st.text(st.characters(), max_size=60) | st.sampled_from(HOSTILE)
_hidden = re.compile("[\x00-\x1f\x7f-\xa0\xad\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def _content(markup: str) -> tuple[set[str], str]:
    """Parse as a browser does; gives the names of the elements and all of the text."""
    tree = html5lib.parseFragment(f"<p>{markup}</p>", namespaceHTMLElements=False)
    names = {str(element.tag) for element in tree.iter()} - {"DOCUMENT_FRAGMENT", "p"}
    return names, "".join(tree.itertext())


@given(_any_text)
def test_any_text_comes_back_as_text_alone(value: str) -> None:
    written = text(value)
    assert written.isascii()
    assert "\n" not in written
    names, shown = _content(written)
    assert names <= {"i"}
    assert not _hidden.search(shown)
    if "\\" not in value:
        assert unescape(shown) == _joined(value)


@given(_any_text)
def test_an_attribute_holds_any_text(value: str) -> None:
    tree = html5lib.parseFragment(
        f'<a title="{attribute(value)}"></a>', namespaceHTMLElements=False
    )
    (element,) = tree
    assert element.attrib.keys() == {"title"}
    assert len(element) == 0
    if "\\" not in value:
        assert unescape(element.attrib["title"]) == _joined(value)


@given(_any_text)
def test_the_lines_of_an_excerpt_are_kept(value: str) -> None:
    tree = html5lib.parseFragment(f"<pre>{lines(value)}</pre>", namespaceHTMLElements=False)
    (element,) = tree
    shown = "".join(element.itertext())
    assert shown.count("\n") == value.count("\n")
    assert {child.tag for child in element.iter()} <= {"pre", "i"}
    if "\\" not in value:
        assert unescape(shown) == _joined(value)


def _joined(value: str) -> str:
    """Make one character of each two halves that stand together: escapes of them read as one."""
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("plain", "plain"),
        ("<&>\"'", "&lt;&amp;&gt;&quot;&#x27;"),
        ("é\U0001f600", "&#233;&#128512;"),
        ("\\u202e", "\\u202e"),
        ("\u202e", '<i class="x">\\u202e</i>'),
        ("a\u202e\u2066b", 'a<i class="x">\\u202e\\u2066</i>b'),
        ("a\nb", 'a<i class="x">\\u000a</i>b'),
        ("\ud800", '<i class="x">\\ud800</i>'),
        ("", ""),
    ],
)
def test_how_a_text_is_written(value: str, written: str) -> None:
    assert text(value) == written


def test_what_is_cut_says_so() -> None:
    assert cut("abc", 3) == "abc"
    assert cut("abcd", 3) == "abc... (1 more character)"
    assert text("<" * 2_000, 2) == "&lt;&lt;... (1,998 more characters)"


def test_our_own_pages_may_name_code() -> None:
    assert prose("Run `ctxaudit <x>` again") == "Run <code>ctxaudit &lt;x&gt;</code> again"
    assert prose("a ` alone") == "a ` alone"


def test_words() -> None:
    assert prose_words(["a"]) == "a"
    assert prose_words(["a", "b", "c"]) == "a, b and c"
    assert (count(1, "source"), count(1_200, "source")) == ("1 source", "1,200 sources")
    assert count(2, "record with a finding", "records with findings") == "2 records with findings"
    assert tag("code", "x", class_="y") == '<code class="y">x</code>'
    assert link("r1", "x", is_there=True) == '<a href="#r1">x</a>'
    assert link("r1", "x", is_there=False) == "x"
