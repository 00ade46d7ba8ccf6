"""Homes to audit, and two ways to run the command: as a real process, and quickly in this one."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli.main import main

_CHECKOUT = Path(__file__).resolve().parent.parent.parent
_DIGITS = 64


@dataclass(frozen=True, slots=True)
class Done:
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        return json.loads(self.out)

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(slots=True)
class Home:
    """A state home, written with plain file operations."""

    path: Path
    facts: list[dict[str, str]] = field(default_factory=list)

    def transcript(self, session: str, count: int, **changes: object) -> list[str]:
        """Write a sound transcript and give the pointers of its events."""
        lines = []
        for number in range(1, count + 1):
            event = {
                "schema_version": 1,
                "sequence": number,
                "recorded_at": "2026-01-01T00:00:00Z",
                "session_id": session,
                "event_id": f"transcript:{session}:{number}",
                "type": "message",
                "content": f"event {number}",
            }
            lines.append(json.dumps(event | changes) + "\n")
        folder = self.path / "transcripts"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{session}.jsonl").write_text("".join(lines), encoding="utf-8")
        return [f"transcript:{session}:{number}" for number in range(1, count + 1)]

    def artifact(self, session: str, name: str, content: str, digits: int = _DIGITS) -> str:
        """Write an artifact and give its pointer."""
        folder = self.path / session / "tool-results"
        folder.mkdir(parents=True, exist_ok=True)
        data = content.encode()
        (folder / name).write_bytes(data)
        return f"artifact:{session}:{name}:{hashlib.sha256(data).hexdigest()[:digits]}"

    def state(self, name: str, pointers: Sequence[str], *, session: str = "s1") -> Path:
        """Write a state with one fact for each pointer."""
        folder = self.path / "states"
        folder.mkdir(parents=True, exist_ok=True)
        document = {
            "schema": "ctxaudit.state/1",
            "session": session,
            "facts": [
                {
                    "fact_id": f"f{number}",
                    "content": f"Claim {number}.",
                    "source_pointer": pointer,
                    "last_confirmed_at": "2026-01-01T00:00:00Z",
                }
                for number, pointer in enumerate(pointers, 1)
            ],
        }
        path = folder / name
        path.write_text(json.dumps(document), encoding="utf-8")
        return path

    def config(self, text: str) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / "ctxaudit.toml").write_text(text, encoding="utf-8")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    path = tmp_path / "home"
    path.mkdir()
    return Home(path)


def _environment(extra: Mapping[str, str]) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("CTXAUDIT_")}
    path = os.pathsep.join(filter(None, [str(_CHECKOUT), os.environ.get("PYTHONPATH", "")]))
    return kept | {"PYTHONPATH": path, "COLUMNS": "100"} | dict(extra)


@pytest.fixture
def environment() -> Callable[[Mapping[str, str]], dict[str, str]]:
    """The environment of a run, without the caller's own CTXAUDIT variables."""
    return _environment


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Done]:
    """Run the command as a process of its own."""

    def run(
        *args: str | Path,
        stdin: str | bytes = b"",
        cwd: Path = tmp_path,
        **environment: str,
    ) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "cli", *map(str, args)],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            cwd=cwd,
            env=_environment(environment),
            check=False,
        )
        result = Done(
            done.returncode,
            done.stdout.decode("utf-8", "backslashreplace"),
            done.stderr.decode("utf-8", "backslashreplace"),
        )
        assert "Traceback" not in result.err, result.err
        return result

    return run


class _Entry:
    """What `CliRunner` needs to call our `main` and not click's."""

    name = "ctxaudit"

    def main(self, args: Sequence[str], prog_name: str, **extra: object) -> None:
        main(args)


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """Run the command in this process."""
    for key in list(os.environ):
        if key.startswith("CTXAUDIT_"):
            monkeypatch.delenv(key)

    def call(*args: str | Path, stdin: bytes = b"", **environment: str) -> Done:
        done = CliRunner(env=environment).invoke(
            _Entry(),  # type: ignore[arg-type]
            list(map(str, args)),
            input=stdin,
        )
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        assert "Traceback" not in done.stderr
        return Done(done.exit_code, done.stdout, done.stderr)

    return call
