"""Names and texts of hostile origin; tests/reports/test_sarif_report.py tries them in a report."""

from __future__ import annotations

from urllib.parse import unquote_to_bytes, urljoin, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from provenance.reports._sarif_text import cut, message_text, one_line, uri_path

_names = st.text() | st.text("./\\:%#?@ a\ud800\udcff\n")


@given(_names)
@example(";")
@example("a;b=c/d")
def test_a_uri_is_a_path_below_its_base_or_there_is_none(name: str) -> None:
    uri = uri_path(name)
    if uri is None:
        assert {"", ".", ".."} & set(name.split("/")) or ".." in name.replace("\\", "/").split("/")
        return
    assert uri.isascii()
    assert urlsplit(uri).path == uri
    assert urljoin("http://h/b/", uri) == "http://h/b/" + uri
    assert unquote_to_bytes(uri).decode("utf-8", "surrogateescape").count("/") == name.count("/")


@given(_names)
def test_two_names_of_files_have_two_uris(name: str) -> None:
    # What the operating system can give as a name; other halves of characters become U+FFFD.
    try:
        name.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError:
        return
    uri = uri_path(name)
    assert uri is None or unquote_to_bytes(uri).decode("utf-8") == name


@pytest.mark.parametrize(
    ("text", "most", "wanted"), [("abc", 3, "abc"), ("abcd", 3, "abc..."), ("", 0, "")]
)
def test_a_text_that_is_cut_says_so(text: str, most: int, wanted: str) -> None:
    assert cut(text, most) == wanted


@given(st.text())
def test_a_line_stays_a_line(text: str) -> None:
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert one_line(line) == line
    message = message_text(text)
    assert message.replace("{{", "{").replace("}}", "}").replace("] (", "](") == line.replace(
        "] (", "]("
    )
