"""File systems that fold names, lie about files and break: no alias, no crash, no false proof."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from provenance.fs import BackendName
from tests.attacks.namespaces import run_with_mounts

pytestmark = pytest.mark.attack

_START = """
import errno, hashlib, json, os, sys
from provenance.artifacts.verify import ArtifactSession
from provenance.fs import TrustedRoot
from tests.attacks.fuse import Node, mounted
place, backend = sys.argv[1:]

def sha(data):
    return hashlib.sha256(data).hexdigest()

def files(**files):
    return Node(children={"s1": Node(children={"tool-results": Node(children=files)})})

said = {}

def check(session, name, data=b"hello", **options):
    with TrustedRoot(place, backend=backend) as root:
        with ArtifactSession(root, session, **options) as artifacts:
            return str(artifacts.verify(name, sha(data)).reason)
"""

_END = """
print(json.dumps(said))
"""

_FOLDING = (
    _START
    + """
folder = Node(children={"Log.txt": Node(b"hello"), "007": Node(b"hello"), "b": Node(b"hello")})
top = Node(children={"S1": Node(children={"tool-results": folder})})
try:
    with mounted(place, top, fold=str.casefold):
        assert os.stat(f"{place}/s1/TOOL-results/log.TXT").st_size == 5
        for names in (
            "S1 Log.txt", "S1 log.txt", "S1 LOG.TXT", "s1 Log.txt", "S1 007", "S1 b", "S1 B", "S2 b"
        ):
            said[names] = check(*names.split())
        # One handle, first spelled right, then wrong, and the other way round.
        for order in (["Log.txt", "log.txt", "b"], ["log.txt", "Log.txt", "B", "007"]):
            with TrustedRoot(place, backend=backend) as root:
                with ArtifactSession(root, "S1") as artifacts:
                    said[" ".join(order)] = [
                        str(artifacts.verify(name, sha(b"hello")).reason) for name in order
                    ]
except OSError as error:
    said = {"skip": f"no FUSE here ({error.strerror})"}
"""
    + _END
)

_DOTS = (
    _START
    + """
try:
    with mounted(place, files(log=Node(b"hello")), fold=lambda name: name.rstrip(".")):
        for name in ("log", "log.", "log.."):
            said[name] = check("s1", name)
        said["s1."] = check("s1.", "log")
except OSError as error:
    said = {"skip": f"no FUSE here ({error.strerror})"}
"""
    + _END
)

_NORMALISING = (
    _START
    + """
import unicodedata
from provenance.errors import CtxauditError
composed, decomposed = "\\u00e9.txt", "e\\u0301.txt"
fold = lambda name: unicodedata.normalize("NFC", name)
try:
    with mounted(place, files(**{decomposed: Node(b"hello"), "plain": Node(b"hello")}), fold=fold):
        said["plain"] = check("s1", "plain")
        with TrustedRoot(place, backend=backend) as root:
            for name in (decomposed, composed, "plain", composed):
                try:
                    root.open_file("s1", "tool-results", name).close()
                    said[ascii(name)] = "opened"
                except CtxauditError as error:
                    said[ascii(name)] = error.code
except OSError as error:
    said = {"skip": f"no FUSE here ({error.strerror})"}
"""
    + _END
)

_BREAKING = (
    _START
    + """
large = b"x" * (5 << 20)
tree = files(
    good=Node(b"hello"),
    lookup_eio=Node(b"hello", errors={"lookup": errno.EIO}),
    lookup_eacces=Node(b"hello", errors={"lookup": errno.EACCES}),
    open_estale=Node(b"hello", errors={"open": errno.ESTALE}),
    open_eperm=Node(b"hello", errors={"open": errno.EPERM}),
    open_enoent=Node(b"hello", errors={"open": errno.ENOENT}),
    read_eio=Node(b"hello", errors={"read": errno.EIO}),
    read_eio_late=Node(large, fails_from=3 << 20),
    large=Node(large),
    larger_than_it_is=Node(b"hello", claimed_size=1 << 30),
    endless=Node(b"hello", claimed_size=1 << 62),
    short=Node(b"hello", claimed_size=10),
    smaller_than_it_is=Node(b"hello world", claimed_size=5),
    empty_by_claim=Node(b"hello", claimed_size=0),
    never_rests=Node(b"hello", never_rests=True),
    large_never_rests=Node(large, never_rests=True),
    link=Node(target="good"),
    folder=Node(children={}),
)
try:
    with mounted(place, tree):
        for name, node in tree.children["s1"].children["tool-results"].children.items():
            data = large if node.data == large else b"hello"
            said[name] = [check("s1", name, data, threads=threads) for threads in (True, False)]
        with TrustedRoot(place, backend=backend) as root, ArtifactSession(root, "s1") as artifacts:
            said["guard"] = str(artifacts.verify("large", sha(large)).quiescence)
except OSError as error:
    said = {"skip": f"no FUSE here ({error.strerror})"}
"""
    + _END
)


def _run(script: str, place: Path, backend: BackendName, what: str) -> dict[str, Any]:
    return run_with_mounts(script, place, backend, what=what)


def test_where_names_fold_only_the_stored_one_is_a_name(
    tmp_path: Path, backend: BackendName
) -> None:
    said = _run(_FOLDING, tmp_path, backend, "a file system that folds case was")
    good, alias = "verified_artifact", "ownership_boundary"
    assert said == {
        "S1 Log.txt": good,
        "S1 log.txt": alias,
        "S1 LOG.TXT": alias,
        "s1 Log.txt": alias,
        "S1 007": good,
        "S1 b": good,
        "S1 B": alias,
        "S2 b": "artifact_missing",
        "Log.txt log.txt b": [good, alias, good],
        "log.txt Log.txt B 007": [alias, good, alias, good],
    }


def test_where_dots_are_dropped_only_the_stored_name_is_one(
    tmp_path: Path, backend: BackendName
) -> None:
    said = _run(_DOTS, tmp_path, backend, "a file system that drops dots at the end was")
    assert said == {
        "log": "verified_artifact",
        "log.": "ownership_boundary",
        "log..": "ownership_boundary",
        "s1.": "ownership_boundary",
    }


def test_where_names_are_normalised_only_the_stored_one_is_a_name(
    tmp_path: Path, backend: BackendName
) -> None:
    said = _run(_NORMALISING, tmp_path, backend, "a file system that normalises names was")
    assert said == {
        "plain": "verified_artifact",
        "'e\\u0301.txt'": "opened",
        "'\\xe9.txt'": "ownership_boundary",
        "'plain'": "opened",
    }


def test_a_file_system_that_breaks_and_lies(tmp_path: Path, backend: BackendName) -> None:
    said = _run(_BREAKING, tmp_path, backend, "a file system that breaks and lies was")
    assert said.pop("guard") == "stat"  # such a file system grants no lease
    expected = {
        "good": "verified_artifact",
        "large": "verified_artifact",
        "lookup_eio": "source_read_failed",
        "lookup_eacces": "filesystem_denied",
        "open_estale": "source_read_failed",
        "open_eperm": "filesystem_denied",
        "open_enoent": "artifact_missing",
        "read_eio": "source_read_failed",
        "read_eio_late": "source_read_failed",
        "larger_than_it_is": "source_changed_during_read",
        "endless": "source_changed_during_read",
        "short": "source_changed_during_read",
        "smaller_than_it_is": "verified_artifact",
        "empty_by_claim": "artifact_digest_mismatch",
        "never_rests": "source_changed_during_read",
        "large_never_rests": "source_changed_during_read",
        "link": "ownership_boundary",
        "folder": "artifact_not_a_file",
    }
    assert said == {name: [reason, reason] for name, reason in expected.items()}
