"""docs/seals.md says how to compute a leaf; whoever does gets what we get."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from provenance import DurableContextState, DurableFact, DurableStateStore
from provenance.artifacts import ArtifactStore
from provenance.sealing.keys import generate_signer
from provenance.sealing.leaves import EventLeaf
from provenance.sealing.merkle import leaf_hash
from tests.cli.sealed_homes import SealedHome


def test_the_example_of_the_page(checkout: Path) -> None:
    page = (checkout / "docs/seals.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^`(\{.*\})`:$", page, re.MULTILINE)
    (digest,) = re.findall(r"^    sha256 +([0-9a-f]{64})$", page, re.MULTILINE)
    (hashed,) = re.findall(r"^    leaf hash +([0-9a-f]{64})$", page, re.MULTILINE)
    assert hashlib.sha256(line.encode()).hexdigest() == digest
    entry = f"ctxaudit.leaf/1 event run-1 1 {digest}".encode()
    assert EventLeaf("run-1", 1, digest).entry == entry
    assert hashlib.sha256(b"\0" + entry).hexdigest() == hashed == leaf_hash(entry).hex()


def test_leaves_and_root_follow_from_the_page_and_the_home_alone(tmp_path: Path) -> None:
    """The script was written after the page; isolated, so that it can import nothing of ours."""
    made = SealedHome.make(tmp_path)
    for name, versions in (("kept", 2), ("a-state", 1)):
        for version in range(1, versions + 1):
            fact = DurableFact(
                "f", f"cl\u00e9 {version}\u2028", "transcript:s1:2", "2026-01-01T00:00:00Z"
            )
            with DurableStateStore(made.path) as store:
                state = DurableContextState([fact])
                store.put(name, state, replaces=version - 1 or None, author="me")
    with ArtifactStore(made.path) as artifacts:
        artifacts.spill("s2", "one more", tool="bash")
    (made.path / "receipts").mkdir()
    (made.path / "receipts/r.json").write_text("{}\n")
    (made.path / "states" / os.fsdecode(b"caf\xc3\xa9 \xff.json")).write_text("{}")
    (made.path / "transcripts/s3.jsonl").write_bytes(b'{"sequence":1}\r\n{"sequence":2}\r\r\n')
    sample = {
        "id": 7,
        "epoch": 1,
        "messages": [{"role": "user", "content": "hi"}],
        "events": [{"event": "model", "input_refs": [[0, 2]], "note": "attachment://a1"}],
        "message_pool": [{"role": "user", "n": 1.50}, {"role": "user", "content": "caf\u00e9"}],
        "call_pool": [{"request": {}}],
        "attachments": {"z9": "l\u00f6ng\u2028", "a1": "text"},
    }
    with zipfile.ZipFile(made.path / "transcripts/a.eval", "w") as log:
        log.writestr("_journal/start.json", "{}")
        log.writestr("samples/7_epoch_1.json", json.dumps(sample, indent=1))
    shutil.rmtree(made.path / "seals")
    sealed = made.seal()
    script = Path(__file__).with_name("independent.py")
    done = subprocess.run(
        [sys.executable, "-I", script, made.path], capture_output=True, check=True
    )
    *entries, root = done.stdout.decode().splitlines()
    assert [one.encode() for one in entries] == made.leaves(1).read_bytes().splitlines()
    assert root == sealed.checkpoint.root.hex()
    assert len({one.split()[1] for one in entries}) == 5
    text = script.read_text(encoding="utf-8")
    assert "import provenance" not in text
    assert "from provenance" not in text


def test_the_forms_of_keys(checkout: Path) -> None:
    signer = generate_signer("example.com/a")
    assert re.fullmatch(r"PRIVATE\+KEY\+example\.com/a\+[0-9a-f]{8}\+\S{44}", signer.text)
    assert re.fullmatch(r"example\.com/a\+[0-9a-f]{8}\+\S{44}", signer.verifier.text)
