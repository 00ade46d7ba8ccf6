"""Histories to compact, and programs that sum them up, well or badly."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["SECRET", "compacted_options", "history", "program", "write"]

SECRET = "text-of-the-evidence"
"""Stands in every message; no error may hold it."""


def history(turns: int = 8, *, result: str = SECRET + " x" * 600) -> list[dict[str, Any]]:
    """Give a history in which each turn is a call and its result."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Look around. {SECRET}"}]
    for number in range(turns):
        call = {"type": "tool_use", "id": f"t{number}", "name": "read", "input": {"path": "a.py"}}
        answer = {"type": "tool_result", "tool_use_id": f"t{number}", "content": result}
        messages += [
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [answer]},
        ]
    return messages


def write(path: Path, value: object) -> Path:
    """Write a value as JSON."""
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def compacted_options(*more: object) -> Sequence[str]:
    """Give limits that make every layer run."""
    numbers = ("--soft-limit", 50, "--max-tool-result-tokens", 20, "--keep-recent", 3)
    return [str(part) for part in (*numbers, *more)]


def program(folder: Path, body: str) -> str:
    """Write a program in Python, and give what --summarizer takes for it."""
    path = folder / "summarize.py"
    path.write_text(body, encoding="utf-8")
    return f"command:{sys.executable} {path}"
