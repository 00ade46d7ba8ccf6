"""What is said of a state in the store leads to the store's own file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from provenance import DurableContextState, DurableFact, DurableStateStore


def test_annotations_and_uris_lead_to_files_that_are_there(
    home: Any, run: Callable[..., Any], tmp_path: Path
) -> None:
    fact = DurableFact("f1", "Claim.", "transcript:gone:1", "2026-01-01T00:00:00Z")
    with DurableStateStore(home.path) as store:
        store.put("other", DurableContextState([fact]), replaces=None, author="me")
    done = run("verify", "home", "--format", "github", cwd=tmp_path)
    (file,) = set(re.findall(r"file=([^,:]+)", done.out))
    assert (tmp_path / file).is_file()
    assert "states/states.sqlite3:other@1" in done.out
    sarif = json.loads(run("verify", "home", "--format", "sarif", cwd=tmp_path).out)
    for result in sarif["runs"][0]["results"]:
        for place in result["locations"]:
            uri = place["physicalLocation"]["artifactLocation"]["uri"]
            assert (tmp_path / uri).is_file()
    report = json.loads(run("verify", "home", "--format", "json", cwd=tmp_path).out)
    assert report["results"][0]["cited_by"][0]["file"] == "states/states.sqlite3:other@1"
