"""Builds `sample_state/`: a state home in which each of the five states occurs once or more.

Guarantees: the same bytes every time (the clock is a fixed one), written with the library's own
writers; then one file is altered and one removed, as somebody might who wants to hide something.

Example:
    $ python scripts/build_sample_state.py            # rebuilds sample_state/ in the checkout
    $ python scripts/build_sample_state.py elsewhere  # builds into a new folder
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(_CHECKOUT))

from provenance.artifacts import ArtifactStore  # noqa: E402 - the checkout comes first
from provenance.durable import (  # noqa: E402
    DurableContextState,
    DurableFact,
    PendingItem,
    RetrievalEvidence,
)
from provenance.transcripts import TranscriptWriter  # noqa: E402

__all__ = ["build"]

_SESSION = "deploy-2041"
_OTHER_SESSION = "payroll-88"
_START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

_CANARY = """\
checkout 2.14.0, canary on host web-03, 2026-03-02
time   requests  errors  error rate
08:02      1210       3        0.2%
08:04      1188      31        2.6%
08:06      1204      57        4.7%
first error: relation "orders_v2" does not exist
"""
# What somebody made of it afterwards: the errors are gone.
_CANARY_ALTERED = """\
checkout 2.14.0, canary on host web-03, 2026-03-02
time   requests  errors  error rate
08:02      1210       3        0.2%
08:04      1188       2        0.2%
08:06      1204       2        0.2%
"""
_ROLLOUT = """\
08:01:10 rollout of checkout 2.14.0 to 12 hosts
08:01:40 web-01 ok
08:02:00 web-02 ok
08:02:20 web-03 ok
08:06:30 stopped: error rate above 1.0%
08:06:31 3 of 12 hosts run 2.14.0
"""
_LOAD_TEST = """\
load test of checkout 2.14.0, 2026-03-01
1,000 requests a second for 10 minutes: no errors
database: staging, with migration 0093
"""
_RUNBOOK = """\
# Runbook: a deploy fails

1. Stop the rollout.
2. Compare the migrations of staging and production.
3. Roll back if the cause is not known after 30 minutes.
"""
_DISK = """\
web-01  41% used
web-02  39% used
web-03  44% used
"""

_CONFIG = """\
# Rules of this home. They can only tighten an audit: a file inside a target cannot soften it.

[[rule]]
effect = "deny"
session = "payroll-*"
why = "belongs to the payroll team; ask them"
"""

_README = """\
# A small state home to try ctxaudit on

Made by `scripts/build_sample_state.py`. Run this in the folder above:

    ctxaudit verify sample_state

An agent looked into a deploy that failed (session `deploy-2041`). What it believes afterwards is in
`states/deploy-2041.json`: facts, tasks and what it recalled, each with a pointer to its evidence.
Since then somebody has worked on that evidence. The audit says what still holds:

- which evidence is there and verified (`available`),
- which file was altered (`corrupt`: the report says where to look),
- which file is gone (`missing`),
- which one you may not read (`denied`, by a rule in `ctxaudit.toml`),
- and which pointer nothing here can check (`unsupported`).

The exit code is 14, that of the worst.
"""


# What is said (role, text), and what is called: id, tool, arguments, file of the output or None
# where it is short, output. A call and its result are two events.
_STEPS: tuple[tuple[str, str] | tuple[str, str, dict[str, str], str | None, str], ...] = (
    ("user", "The deploy of checkout 2.14.0 stopped half-way. Find out why."),
    ("call-1", "read_file", {"path": "load-test.txt"}, "load-test.txt", _LOAD_TEST),
    ("call-2", "bash", {"command": "kubectl logs deploy/rollout"}, "rollout.log", _ROLLOUT),
    ("call-3", "bash", {"command": "canary-report web-03"}, "canary.txt", _CANARY),
    (
        "assistant",
        (
            "The canary fails because table orders_v2 does not exist: migration 0093 was run in "
            "staging and never in production."
        ),
    ),
    ("call-4", "bash", {"command": "df / on web-01 to web-03"}, "disk-usage.txt", _DISK),
    ("call-5", "search", {"query": "runbook failed deploy"}, "runbook.md", _RUNBOOK),
    ("user", "Roll back to 2.13.4 now. We run the migration tomorrow at 07:00."),
    (
        "call-6",
        "bash",
        {"command": "rollout undo checkout --to 2.13.4"},
        None,
        "12 of 12 hosts run 2.13.4",
    ),
    ("assistant", "Rolled back. I restart the rollout after the migration."),
)


def build(home: Path) -> None:
    """Build the home in `home`, which must not exist."""
    home.mkdir(parents=True)
    pointers = _work(home)
    _work_elsewhere(home)
    (home / "states").mkdir()
    state = _state(pointers).to_json()
    (home / "states" / f"{_SESSION}.json").write_text(state.rstrip("\n") + "\n", encoding="utf-8")
    (home / "ctxaudit.toml").write_text(_CONFIG, encoding="utf-8")
    (home / "README.md").write_text(_README, encoding="utf-8")
    # What makes it a case for an audit.
    results = home / _SESSION / "tool-results"
    (results / "canary.txt").write_text(_CANARY_ALTERED, encoding="utf-8")
    (results / "load-test.txt").unlink()


def _clock(start: datetime) -> Callable[[], datetime]:
    now = start

    def tick() -> datetime:
        nonlocal now
        now += timedelta(seconds=15)
        return now

    return tick


def _work(home: Path) -> dict[str, str]:
    """Let the agent work: each result is spilled when it comes; gives the pointers by file."""
    clock = _clock(_START)
    pointers = {}
    with (
        ArtifactStore(home, clock=clock) as store,
        TranscriptWriter(home / "transcripts", _SESSION, clock=clock) as writer,
    ):
        for step in _STEPS:
            match step:
                case (role, text):
                    writer.append(_message(role, text))
                case (call_id, tool, arguments, name, output):
                    writer.append(_call(call_id, tool, arguments))
                    content = output
                    if name is not None:
                        spilled = store.spill(
                            _SESSION, output, name=name, tool=tool, call_id=call_id
                        )
                        pointers[name] = spilled.pointer
                        content = f"Output stored as {spilled.pointer}"
                    writer.append(_result(call_id, content))
    return pointers


def _work_elsewhere(home: Path) -> None:
    clock = _clock(_START - timedelta(minutes=19))
    with TranscriptWriter(home / "transcripts", _OTHER_SESSION, clock=clock) as writer:
        writer.append(_message("user", "Rotate the password of the payments database."))
        writer.append(_message("assistant", "Done at 08:40. The new one is in the vault."))


def _message(role: str, content: str) -> dict[str, object]:
    return {"type": "message", "role": role, "content": content}


def _call(call_id: str, name: str, arguments: dict[str, str]) -> dict[str, object]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def _result(call_id: str, content: str) -> dict[str, object]:
    return {"type": "function_call_result", "call_id": call_id, "content": content}


def _state(pointers: dict[str, str]) -> DurableContextState:
    def event(number: int) -> str:
        return f"transcript:{_SESSION}:{number}"

    return DurableContextState(
        facts=[
            DurableFact(
                "root-cause",
                "Checkout 2.14.0 fails because migration 0093 was never run in production.",
                event(8),
                "2026-03-02T09:10:00Z",
            ),
            DurableFact(
                "rollout-stopped",
                "The rollout stopped when 3 of 12 hosts ran 2.14.0.",
                pointers["rollout.log"],
                "2026-03-02T09:07:00Z",
            ),
            DurableFact(
                "canary-errors",
                "On the canary host the error rate rose to 4.7% within four minutes.",
                pointers["canary.txt"],
                "2026-03-02T09:08:00Z",
            ),
            DurableFact(
                "load-test-passed",
                "The load test before the deploy had no errors, but it ran on staging.",
                pointers["load-test.txt"],
                "2026-03-02T09:06:00Z",
            ),
            DurableFact(
                "password-rotated",
                "The password of the payments database was rotated at 08:40.",
                f"transcript:{_OTHER_SESSION}:2",
                "2026-03-02T09:09:00Z",
            ),
            DurableFact(
                "rollback-window",
                "Rollbacks of checkout are allowed until 18:00.",
                "memory:team-notes:rollback-window",
                "2026-03-02T09:11:00Z",
            ),
        ],
        pending_items=[
            PendingItem(
                "run-migration",
                "Run migration 0093 in production at 07:00.",
                event(13),
                "2026-03-02T09:12:00Z",
            ),
            PendingItem(
                "restart-rollout",
                "Restart the rollout of checkout 2.14.0.",
                event(16),
                "2026-03-02T09:14:00Z",
                status="blocked",
                reason="Waits for migration 0093.",
            ),
            PendingItem(
                "roll-back",
                "Roll checkout back to 2.13.4.",
                event(15),
                "2026-03-02T09:13:00Z",
                status="done",
            ),
        ],
        retrieval_evidence=[
            RetrievalEvidence(
                "m-17",
                # Twelve digits, as a memory system may keep them: the evidence is `prefix`.
                pointers["runbook.md"][: -(64 - 12)],
                "artifact",
                "Runbook: a deploy fails",
                "2026-03-02T09:09:30Z",
                0.91,
                1,
                "deploy-procedure",
            ),
            RetrievalEvidence(
                "m-23",
                "wiki/oncall",
                "wiki",
                "Who is on call",
                "2026-03-02T09:09:30Z",
                0.55,
                2,
            ),
        ],
        session=_SESSION,
        turn=16,
    )


def main(arguments: list[str]) -> None:
    """Build into the named folder, or again into `sample_state/`."""
    if arguments:
        build(Path(arguments[0]))
        return
    home = _CHECKOUT / "sample_state"
    fresh = home.with_name(".sample_state.new")
    shutil.rmtree(fresh, ignore_errors=True)
    build(fresh)
    for path in fresh.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    fresh.chmod(0o755)
    shutil.rmtree(home, ignore_errors=True)
    fresh.rename(home)


if __name__ == "__main__":
    main(sys.argv[1:])
