"""Where a path of another machine leads, and what a file is held against."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.findings import Severity
from provenance.fs import TrustedRoot
from provenance.fs.directory import UnsafeComponent, check_component
from provenance.transcripts.records import OutputFile, Record, Reference
from provenance.transcripts.references import ReferenceBook, ResolvedReference, place_below
from tests.trees import run_under_strace

FOLDERS = ("-p",)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/home/u/.claude/projects/-p/s1/tool-results/a.txt", "-p/s1/tool-results/a.txt"),
        ("/x/-p/s1/a", "-p/s1/a"),
        ("/x//-p///s1/a", "-p/s1/a"),
        ("/x/-p/s1/a/", "-p/s1/a"),
        ("-p/s1/a", "-p/s1/a"),
        # The session's folder lies beside its transcript.
        ("/elsewhere/s1/tool-results/a", "-p/s1/tool-results/a"),
        ("/elsewhere/stem/a", "-p/stem/a"),
        # As Windows writes it.
        ("C:\\Users\\u\\.claude\\projects\\-p\\s1\\a.txt", "-p/s1/a.txt"),
        ("c:/Users/u/-p/s1/a.txt", "-p/s1/a.txt"),
        ("D:\\x/-p\\s1/a", "-p/s1/a"),
        # Twice: the last place counts.
        ("/-p/-p/s1/a", "-p/s1/a"),
        # Another session's folder is below the root as well: what is there decides.
        ("/x/-p/s2/tool-results/a", "-p/s2/tool-results/a"),
    ],
)
def test_a_path_leads_below_the_root(path: str, place: str) -> None:
    assert place_below(FOLDERS, "s1", path, stem="stem") == tuple(place.split("/"))


@pytest.mark.parametrize(
    "path",
    [
        "", "/", "//", "/etc/passwd", "/etc/-p", "/x/s1", "relative", "/x/-P/s1x/a", "/x/-p2/a",
        "/x/-p/../s2/a", "/x/-p/s1/..", "/../-p/s1/a", "/x/-p/./s1/a", "./-p/s1/a",
        "C:\\x\\-p\\..\\s2\\a", "C:/x/-p/../s2/a", "\\\\server\\-p\\s1\\a", "-p\\s1\\a",
        "/x/-p/s1/a\0b", "/x/-p/" + "a" * 256, "/x/-p/a\ud83d", "~/-p2/a", "$HOME/x",
        "file:///etc/passwd", "/proc/self/fd/0", "1:\\-p\\a",
    ],
)  # fmt: skip
def test_a_path_that_climbs_or_leads_elsewhere_leads_nowhere(path: str) -> None:
    assert place_below(FOLDERS, "s1", path, stem="stem") is None


def test_case_is_kept() -> None:
    assert place_below(("-p",), "s1", "/x/-P/S1/a") is None
    assert place_below(("-p",), "s1", "/x/-p/S1/a") == ("-p", "S1", "a")


def test_deeper_folders_come_first() -> None:
    assert place_below(("a", "b"), "s", "/x/a/b/s/f") == ("a", "b", "s", "f")
    assert place_below(("a", "b"), "s", "/x/b/s/f") == ("a", "b", "s", "f")
    assert place_below(("a", "b"), "s", "/x/a/c/f") == ("a", "c", "f")
    assert place_below((), "s", "/x/s/f") == ("s", "f")
    assert place_below((), "s", "/x/y/f") is None


_PARTS = st.sampled_from(["-p", "s1", "..", ".", "a", "", "C:", "x\\y", "\0", "é", "etc", "\ud83d"])


@given(st.lists(_PARTS, max_size=7), st.sampled_from(["/", "\\", "//"]), st.booleans())
def test_whatever_comes_out_is_plain_components_with_the_place_before(
    parts: list[str], separator: str, is_drive: bool
) -> None:
    path = ("C:" if is_drive else "") + separator + separator.join(parts)
    place = place_below(("q", "-p"), "s1", path)
    if place is not None:
        assert [check_component(part) for part in place] == list(place)
        assert place[0] == "q"
        assert ".." not in parts
        assert place[-1] in path


# --- files --------------------------------------------------------------------------------------


def _resolve(
    tree: Path, wanted: OutputFile, *, folders: tuple[str, ...] = FOLDERS
) -> ResolvedReference:
    with TrustedRoot(tree) as root:
        book = ReferenceBook(root, folders, "s1")
        record = Record(ordinal=3, kind="k", raw=b"", value=None, line=4, native_id="u")
        book.add(Reference(kind="out", file=wanted), record)
        book.settle(_Known())
    (found,) = book.listed
    assert (found.ordinal, found.line, found.native_id, found.kind) == (3, 4, "u", "out")
    assert sum(book.counts.values()) == book.counts[str(found.status)] == 1
    assert str(tree) not in found.message
    assert "\n" not in found.message
    return found


class _Known:
    is_slice = False

    def __init__(self, *ids: str, calls: tuple[str, ...] = (), is_slice: bool = False) -> None:
        self._ids, self._calls, self.is_slice = ids, calls, is_slice

    def ordinal_of(self, native_id: str) -> int | None:
        return self._ids.index(native_id) + 1 if native_id in self._ids else None

    def has_call(self, call_id: str) -> bool:
        return call_id in self._calls


PATH = "/home/u/projects/-p/s1/tool-results/a.txt"
DATA = b"0123456789"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "projects"
    (tree / "-p/s1/tool-results").mkdir(parents=True)
    (tree / "-p/s1/tool-results/a.txt").write_bytes(DATA)
    (tmp_path / "secret.txt").write_bytes(DATA)
    return tree


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({}, "available"),
        ({"size": 10}, "available"),
        ({"size": 9}, "corrupt"),
        ({"size": 11}, "corrupt"),
        ({"size": 0}, "corrupt"),
        ({"size_range": (10, 12)}, "available"),
        ({"size_range": (8, 10)}, "available"),
        ({"size_range": (11, 12)}, "corrupt"),
        ({"size_range": (8, 9)}, "corrupt"),
        ({"head": b"0123"}, "available"),
        ({"head": b""}, "available"),
        ({"head": DATA}, "available"),
        ({"head": DATA + b"a"}, "corrupt"),
        ({"head": b"0124"}, "corrupt"),
        ({"sha256": hashlib.sha256(DATA).hexdigest()}, "available"),
        ({"sha256": hashlib.sha256(DATA).hexdigest().upper()}, "available"),
        ({"sha256": "0" * 64}, "corrupt"),
        ({"size": 10, "head": b"01", "sha256": "0" * 64}, "corrupt"),
    ],
)
def test_a_file_is_held_against_what_is_said_of_it(
    tree: Path, said: dict[str, Any], status: str
) -> None:
    found = _resolve(tree, OutputFile(PATH, **said))
    assert found.status == status
    assert found.is_conclusive


@pytest.mark.parametrize(
    ("text", "units"),
    [("é" * 100, 100), ("😀" * 100, 200), ("\u2028" * 100, 100), ("a" * 100, 100)],
)
def test_a_size_may_count_utf_16_units(tree: Path, text: str, units: int) -> None:
    (tree / "-p/s1/tool-results/a.txt").write_bytes(text.encode())
    assert _resolve(tree, OutputFile(PATH, size=units)).status == "available"
    assert _resolve(tree, OutputFile(PATH, size_range=(units - 1, units))).status == "available"
    for other in (units - 1, units + 1):
        if other != len(text.encode()):
            assert _resolve(tree, OutputFile(PATH, size=other)).status == "corrupt"


def test_what_is_no_text_has_no_units(tree: Path) -> None:
    (tree / "-p/s1/tool-results/a.txt").write_bytes(b"\xff" * 10)
    assert _resolve(tree, OutputFile(PATH, size=10)).status == "available"
    assert _resolve(tree, OutputFile(PATH, size=9)).status == "corrupt"


@pytest.mark.parametrize("path", ["/h/-p/s1/REDACTED", "REDACTED", "/etc/REDACTED/../x"])
def test_a_path_that_was_redacted_is_missing(tree: Path, path: str) -> None:
    found = _resolve(tree, OutputFile(path))
    assert found.status == "missing"
    assert "redacted" in found.message


def test_each_way_in_which_a_file_is_none(tree: Path) -> None:
    folder = tree / "-p/s1/tool-results"
    file = folder / "a.txt"

    def status(path: str = PATH) -> str:
        return str(_resolve(tree, OutputFile(path)).status)

    assert status(PATH + "x") == "missing"
    assert status("/x/-p/s2/tool-results/a.txt") == "denied"  # another session's
    assert status(PATH + "/below") == "missing"
    assert status("/x/-p/s1") == "corrupt"  # a folder
    file.unlink()
    os.mkfifo(file)
    assert status() == "corrupt"
    file.unlink()
    file.symlink_to("../../../../secret.txt")
    assert file.read_bytes() == DATA
    assert status() == "denied"
    file.unlink()
    file.symlink_to("b.txt")
    (folder / "b.txt").write_bytes(DATA)
    assert status() == "denied"
    file.unlink()
    file.symlink_to("nothing")
    assert status() == "denied"
    file.unlink()
    folder.rename(tree / "-p/s1/other")
    folder.symlink_to("other")
    assert status("/x/-p/s1/tool-results/b.txt") == "denied"


def test_without_a_root_nothing_is_looked_for() -> None:
    book = ReferenceBook(None, FOLDERS, "s1")
    book.add(Reference(kind="out", file=OutputFile(PATH)), _record())
    assert [str(one.status) for one in book.listed] == ["denied"]


def _record(ordinal: int = 5, **more: Any) -> Record:
    return Record(ordinal=ordinal, kind="k", raw=b"", value=None, **more)


@pytest.mark.parametrize(
    "path", ["/etc/hostname", "/x/-p/../s1/a", "/x/-p/s1/\0", "C:\\a\\..\\-p\\b"]
)
def test_a_path_out_of_the_root_is_refused_without_a_look(
    tree: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*names: object, **how: object) -> None:
        raise AssertionError("something was opened")

    for name in ("open_file", "open_directory"):
        monkeypatch.setattr(TrustedRoot, name, never)
    found = _resolve(tree, OutputFile(path, size=3))
    assert (str(found.status), found.code) == ("denied", "reference_denied")


@pytest.mark.attack
def test_no_system_call_reaches_out_of_the_root(tree: Path) -> None:
    """Every path that a hostile transcript may name, watched from outside."""
    secret = tree.parent / "secret.txt"
    (tree / "-p/s1/tool-results/link").symlink_to(secret)
    trace = tree.parent / "trace"
    script = """
import sys
from provenance.fs import TrustedRoot
from provenance.transcripts.records import OutputFile, Record, Reference
from provenance.transcripts.references import ReferenceBook
with TrustedRoot(sys.argv[1]) as root:
    book = ReferenceBook(root, ("-p",), "s1")
    record = Record(ordinal=1, kind="k", raw=b"", value=None)
    for path in sys.argv[2:]:
        book.add(Reference(kind="out", file=OutputFile(path)), record)
print(sorted(book.counts.items()))
"""
    paths = [
        str(secret), "/etc/hostname", "/x/-p/../../secret.txt", "/x/-p/s1/tool-results/link",
        "C:\\-p\\..\\..\\secret.txt", f"/-p/{secret}", "/proc/self/environ",
    ]  # fmt: skip
    done = run_under_strace(
        ["-f", "-o", str(trace), "-e", "trace=open,openat,openat2,stat,newfstatat,statx,readlink"],
        script, str(tree), *paths,
    )  # fmt: skip
    text = trace.read_text(errors="replace")
    # What a link leads to is opened by nobody; its own name is asked about, and refused.
    touched = [
        line for line in text.splitlines()
        if ("secret.txt" in line or "/etc/hostname" in line or "/proc/self/environ" in line)
        and "execve" not in line and "readlink" not in line
    ]  # fmt: skip
    assert [line for line in touched if not line.rstrip().endswith(")")] == []
    opened = [line for line in touched if "open" in line and "= -1" not in line]
    assert opened == []
    assert "'denied'" in done.stdout


# --- records, calls, members --------------------------------------------------------------------


def _settled(reference: Reference, known: _Known, damaged: tuple[int, ...] = ()) -> Any:
    book = ReferenceBook(None, (), "s1")
    book.add(reference, _record())
    assert book.listed == []
    book.settle(known, damaged)
    (found,) = book.listed
    return found


@pytest.mark.parametrize(
    ("reference", "status", "message"),
    [
        (Reference(kind="r", records=("a",)), "available", "r: 1 record, present"),
        (Reference(kind="r", records=("a", "x")), "missing", "r: expected 2 records, got 1"),
        (Reference(kind="r", calls=("c",)), "available", "r: 1 call, present"),
        (Reference(kind="r", calls=("c", "d")), "missing", "r: expected 2 calls, got 1"),
        (
            Reference(kind="r", records=("a",), covers=(1, 4)),
            "available",
            "r: 1 record, present; stands for records 1 to 4, all present",
        ),
        (
            Reference(kind="r", covers=(1, 4)),
            "available",
            "r: stands for records 1 to 4, all present",
        ),
    ],
)
def test_what_waits_for_the_other_records(reference: Reference, status: str, message: str) -> None:
    found = _settled(reference, _Known("a", "b", calls=("c",)))
    assert (str(found.status), found.message) == (status, message)


def test_damage_counts_where_it_lies_in_what_is_covered() -> None:
    reference = Reference(kind="r", covers=(2, 4))
    for damaged, places in (((1, 5), 0), ((2,), 1), ((2, 4, 9), 2)):
        message = _settled(reference, _Known(), damaged).message
        assert ("all present" in message) is (places == 0)
        assert (f"{places} places" in message) is (places > 0)


def test_what_is_normal_to_be_missing_is_information() -> None:
    missing = Reference(kind="r", records=("x",))
    optional = Reference(kind="r", records=("x",), is_optional=True)
    assert _settled(missing, _Known()).severity is Severity.ERROR
    assert _settled(missing, _Known(is_slice=True)).severity is Severity.INFO
    assert _settled(optional, _Known()).severity is Severity.INFO


def test_members_and_what_nobody_can_look_for_are_told_at_once() -> None:
    book = ReferenceBook(None, (), "s1")
    book.add(Reference(kind="m", members=(("a", True), ("b", False))), _record())
    book.add(Reference(kind="m", members=(("a", True),)), _record())
    book.add(Reference(kind="u", unsupported="why"), _record())
    assert [str(one.status) for one in book.listed] == ["missing", "available", "unsupported"]
    assert [one.severity for one in book.listed] == [Severity.ERROR, Severity.INFO, Severity.INFO]


def test_what_is_listed_is_bounded_by_state_and_all_is_counted() -> None:
    book = ReferenceBook(None, (), "s1")
    for ordinal in range(1, 1_502):
        book.add(Reference(kind="u", unsupported="why"), _record(ordinal))
        book.add(Reference(kind="m", members=(("a", False),)), _record(ordinal))
    assert dict(book.counts) == {"unsupported": 1_501, "missing": 1_501}
    assert len(book.listed) == 2_000
    assert {one.ordinal for one in book.listed} == set(range(1, 1_001))


def test_what_waits_is_bounded_and_the_rest_counted() -> None:
    book = ReferenceBook(None, (), "s1")
    reference, record = Reference(kind="r", records=("a",)), _record()
    for _ in range(100_010):
        book.add(reference, record)
    book.settle(_Known("a"))
    assert (book.counts["available"], book.not_checked) == (100_000, 10)


def test_an_unsafe_component_is_no_crash(tree: Path) -> None:
    with pytest.raises(UnsafeComponent):
        check_component("..")
    assert str(_resolve(tree, OutputFile("/x/s1/..")).status) == "denied"
