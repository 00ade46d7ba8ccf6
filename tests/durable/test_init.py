"""The package gives its names, and loads no JSON model until one is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import provenance.durable as durable


def test_every_name_is_there_once() -> None:
    assert list(durable.__all__) == sorted(set(durable.__all__))
    for name in durable.__all__:
        assert getattr(durable, name).__module__.startswith("provenance.durable.")


def test_importing_loads_no_json_model(checkout: Path) -> None:
    program = (
        "import sys, provenance.durable as d\n"
        "assert not {'pydantic', 'json'} & set(sys.modules)\n"
        "d.DurableContextState.from_json(d.DurableContextState().to_json())\n"
        "assert 'pydantic' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=checkout)
