"""Each code that has to do with seals has a page, and each page a code."""

from __future__ import annotations

import re
from pathlib import Path

from provenance.audit._seal_pages import SEAL_PAGES
from provenance.audit.sealed_artifacts import ArtifactFaultCode
from provenance.sealing.history import DifferenceCode
from provenance.sealing.proof import ProofFault
from provenance.sealing.sealed_log import LogFaultCode


def test_every_code_has_a_page(checkout: Path) -> None:
    codes = {
        str(code)
        for kind in (ArtifactFaultCode, DifferenceCode, LogFaultCode, ProofFault)
        for code in kind
    }
    assert codes - set(SEAL_PAGES) == set()
    sources = ("cli/proving.py", "cli/attesting.py", "provenance/audit/sealed.py")
    texts = [(checkout / source).read_text(encoding="utf-8") for source in sources]
    texts += [(checkout / "provenance/sealing/envelope.py").read_text(encoding="utf-8")]
    texts += [(checkout / "provenance/audit/seal_writing.py").read_text(encoding="utf-8")]
    texts += [(checkout / "provenance/sealing/log.py").read_text(encoding="utf-8")]
    named = {code for text in texts for code in re.findall(r'"([a-z]+(?:_[a-z]+)+)"', text)}
    assert set(SEAL_PAGES) - codes - named == set(), "a page that nothing leads to"
    families = ("seal_", "sealed_", "seals_", "proof_", "attestation_", "not_sealed")
    told = {code for code in named if code.startswith(families)} - {
        "seal_checkpoint",
        "seal_home",
        "seal_mismatch",
    }
    assert told - set(SEAL_PAGES) == set(), "a code without a page"
