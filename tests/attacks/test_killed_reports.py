"""`kill -9` while reports are written: each file is the old one or the whole new one."""

from __future__ import annotations

import importlib
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from cli.main import main
from provenance.fs import is_temporary_name
from tests.attacks.kills import killed_at_random

pytestmark = pytest.mark.attack

_CHECKOUT = Path(__file__).parents[2]
_KILLS = 8
# Loaded once and not by every child: a child is to be killed while it writes.
_LOADED = ("cli.commands.verify", "cli.auditing", "provenance.audit.explanations")
# Those that hold no time: of the same evidence they are the same bytes.
_FORMATS = ("console", "ndjson", "github", "markdown")


def test_each_report_is_the_old_or_the_whole_new_one(tmp_path: Path) -> None:
    home, out = tmp_path / "home", tmp_path / "out"
    (home / "states").mkdir(parents=True)
    out.mkdir()
    pointers = tmp_path / "pointers.txt"
    pointers.write_text("".join(f"transcript:gone:{n}\n" for n in range(1, 401)))
    args = ["verify", "--scan", str(pointers), "--transcript-root", str(home)]
    for kind in _FORMATS:
        args += ["--format", kind, "--output", str(out / kind)]

    def verify() -> None:
        with pytest.raises(SystemExit):
            main(args)

    subprocess.run([sys.executable, "-m", "cli", *args], cwd=_CHECKOUT, check=False)
    whole = {kind: (out / kind).read_bytes() for kind in _FORMATS}
    assert all(whole.values())
    for name in _LOADED:
        importlib.import_module(name)
    choice = random.Random(5)
    for _ in range(_KILLS):
        for kind in _FORMATS:
            (out / kind).write_bytes(b"old")
        killed_at_random(verify, choice)
        for kind in _FORMATS:
            assert (out / kind).read_bytes() in (b"old", whole[kind]), kind
        known = {*_FORMATS}
        assert all(name in known or is_temporary_name(name) for name in os.listdir(out))
