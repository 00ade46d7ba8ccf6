"""docs/seals.md says how to compute a leaf; whoever does gets what we get."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from provenance.sealing.keys import generate_signer
from provenance.sealing.leaves import EventLeaf
from provenance.sealing.merkle import leaf_hash


def test_the_example_of_the_page(checkout: Path) -> None:
    page = (checkout / "docs/seals.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^`(\{.*\})`:$", page, re.MULTILINE)
    (digest,) = re.findall(r"^    sha256 +([0-9a-f]{64})$", page, re.MULTILINE)
    (hashed,) = re.findall(r"^    leaf hash +([0-9a-f]{64})$", page, re.MULTILINE)
    assert hashlib.sha256(line.encode()).hexdigest() == digest
    entry = f"ctxaudit.leaf/1 event run-1 1 {digest}".encode()
    assert EventLeaf("run-1", 1, digest).entry == entry
    assert hashlib.sha256(b"\0" + entry).hexdigest() == hashed == leaf_hash(entry).hex()


def test_the_forms_of_keys(checkout: Path) -> None:
    signer = generate_signer("example.com/a")
    assert re.fullmatch(r"PRIVATE\+KEY\+example\.com/a\+[0-9a-f]{8}\+\S{44}", signer.text)
    assert re.fullmatch(r"example\.com/a\+[0-9a-f]{8}\+\S{44}", signer.verifier.text)
