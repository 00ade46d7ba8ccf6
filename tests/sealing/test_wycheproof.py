"""Ed25519 as Project Wycheproof tests it.

What must verify does. What may verify or not: keys that anybody can sign for are refused, keys with
a small part beside a large one are taken, as RFC 8032 has it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from provenance.sealing.keys import Verifier

VECTORS = Path(__file__).parent.parent / "data/wycheproof/ed25519_test.json"


def test_every_vector_has_its_verdict() -> None:
    document: dict[str, Any] = json.loads(VECTORS.read_text(encoding="utf-8"))
    checked = 0
    for group in document["testGroups"]:
        verifier = Verifier("wycheproof.example", bytes.fromhex(group["publicKey"]["pk"]))
        for vector in group["tests"]:
            message, signature = bytes.fromhex(vector["msg"]), bytes.fromhex(vector["sig"])
            got = verifier.is_signature(signature, message)
            is_weak = "SmallOrderPublicKey" in vector["flags"]
            may = vector["result"] == "acceptable" and not is_weak
            assert got is (vector["result"] == "valid" or may), vector["tcId"]
            checked += 1
    assert checked == document["numberOfTests"] > 100
