"""A mount below the root is somebody else's ground, whatever lies under it."""

from __future__ import annotations

from pathlib import Path

import pytest

from provenance.fs import BackendName
from tests.attacks.namespaces import run_with_mounts
from tests.trees import write_artifact, write_transcript

pytestmark = pytest.mark.attack

_SCRIPT = """
import hashlib, json, os, subprocess, sys
from provenance.errors import CtxauditError
from provenance.fs import TrustedRoot
from provenance.resolver import SourcePointerResolver
home, outside, backend = sys.argv[1:]
artifact = "artifact:s1:log.txt:" + hashlib.sha256(b"same bytes").hexdigest()
transcript = "transcript:s1:1"
said = {}

def mount(*arguments):
    subprocess.run(["mount", *arguments], check=True)

def ask(what):
    with SourcePointerResolver(f"{home}/transcripts", home, backend=backend) as resolver:
        said[what] = [str(resolver.resolve(pointer).reason) for pointer in (artifact, transcript)]

def try_with(what, target, *arguments):
    mount(*arguments, target)
    try:
        ask(what)
    finally:
        subprocess.run(["umount", target], check=True)

session, folder = f"{home}/s1", f"{home}/s1/tool-results"
file, log = f"{folder}/log.txt", f"{home}/transcripts/s1.jsonl"
ask("nothing mounted")
# The very bytes, on the same device: only the mount itself can tell.
try_with("file", file, "--bind", f"{outside}/s1/tool-results/log.txt")
try_with("file on itself", file, "--bind", file)
try_with("folder", folder, "--bind", f"{outside}/s1/tool-results")
try_with("folder on itself", folder, "--bind", folder)
try_with("session", session, "--bind", f"{outside}/s1")
try_with("transcript", log, "--bind", f"{outside}/transcripts/s1.jsonl")
try_with("sibling session", session, "--bind", f"{home}/s2")
try_with("read-only", folder, "--bind", "-o", "ro", folder)
try_with("tmpfs", folder, "-t", "tmpfs", "none")
# The operator's own roots may be mounts.
mount("--bind", home, home)
ask("root on itself")
mount("-t", "tmpfs", "none", home)
ask("root is another file system")
subprocess.run(["umount", home], check=True)
subprocess.run(["umount", home], check=True)
# Mounted after the root was opened, and after the folder's handle is in use.
with TrustedRoot(home, backend=backend) as root, root.open_directory("s1", "tool-results") as open_:
    mount("--bind", f"{outside}/s1/tool-results/log.txt", file)
    try:
        open_.open_file("log.txt").close()
        said["late"] = "opened"
    except CtxauditError as error:
        said["late"] = error.code
    try:
        said["read small"] = str(open_.read_small("log.txt", below=100))
    except CtxauditError as error:
        said["read small"] = error.code
    try:
        open_.open_append("log.txt").close()
        said["append"] = "opened"
    except CtxauditError as error:
        said["append"] = error.code
    subprocess.run(["umount", file], check=True)
    mount("-t", "tmpfs", "none", folder)
    try:
        with root.open_directory("s1", "tool-results", create=True) as there:
            said["create"] = str(there.entries())
    except CtxauditError as error:
        said["create"] = error.code
print(json.dumps(said))
"""


def test_mounts_below_the_root_are_the_boundary(tmp_path: Path, backend: BackendName) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside"
    for place in (home, outside):
        write_artifact(place, "s1", "log.txt", b"same bytes")
        write_artifact(place, "s2", "log.txt", b"same bytes")
        write_transcript(place / "transcripts", "s1", 1)
    said = run_with_mounts(_SCRIPT, home, outside, backend, what="mounts inside a root were")
    good = ["verified_artifact", "verified_transcript_event"]
    boundary = "ownership_boundary"
    artifact_refused = [boundary, good[1]]
    assert said == {
        "nothing mounted": good,
        "file": artifact_refused,
        "file on itself": artifact_refused,
        "folder": artifact_refused,
        "folder on itself": artifact_refused,
        "session": artifact_refused,
        "transcript": [good[0], boundary],
        "sibling session": artifact_refused,
        "read-only": artifact_refused,
        "tmpfs": artifact_refused,
        "root on itself": good,
        "root is another file system": ["artifact_missing", "transcript_missing"],
        "late": boundary,
        "read small": boundary,
        "append": boundary,
        "create": boundary,
    }
