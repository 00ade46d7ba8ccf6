"""`ctxaudit compact --verify-receipt`: what does not account for the original is named."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cli.exit_codes import ExitCode
from provenance.schemas import load_schema
from tests.cli.compaction_files import SECRET, compacted_options, history, write

Call = Callable[..., Any]


class Compaction:
    """One that was made, to be tampered with."""

    def __init__(self, call: Call, folder: Path) -> None:
        self.call = call
        self.original = write(folder / "h.json", history())
        self.result = folder / "o.json"
        self.receipt = folder / "r.json"
        options = compacted_options("--output", str(self.result), "--receipt", str(self.receipt))
        assert call("compact", self.original, *options).code == 0

    def check(self, *more: object) -> Any:
        return self.call(
            "compact",
            self.original,
            "--verify-receipt",
            self.receipt,
            "--result",
            self.result,
            *more,
        )

    def change(self, path: Path, change: Callable[[Any], object]) -> None:
        value = json.loads(path.read_text())
        change(value)
        write(path, value)


@pytest.fixture
def made(call: Call, tmp_path: Path) -> Compaction:
    return Compaction(call, tmp_path)


def test_what_was_made_is_covered(made: Compaction) -> None:
    done = made.check()
    assert done.code == 0
    assert done.out.startswith("r.json: covers the original exactly once: 17 messages to ")


def test_the_document(made: Compaction) -> None:
    schema = json.loads(load_schema("compaction"))
    whole = json.loads(made.check("--format", "json").out)
    jsonschema.validate(whole, schema)
    assert whole["covered"] is True
    made.change(made.result, lambda messages: messages.pop())
    done = made.check("--format", "json")
    broken = json.loads(done.out)
    jsonschema.validate(broken, schema)
    assert (done.code, broken["covered"]) == (ExitCode.CORRUPT, False)
    assert broken["problems"]["count"] == len(broken["problems"]["listed"]) > 0


def _drop_removed(receipt: Any) -> None:
    receipt["removed"].pop(0)


def _repeat_removed(receipt: Any) -> None:
    receipt["removed"].insert(0, receipt["removed"][0])


def _other_digest(receipt: Any) -> None:
    receipt["removed"][0]["sha256"] = "0" * 64


def _beyond(receipt: Any) -> None:
    receipt["removed"][0]["message"] = 2**53


@pytest.mark.parametrize("change", [_drop_removed, _repeat_removed, _other_digest, _beyond])
def test_a_receipt_that_was_changed_is_14(made: Compaction, change: Any) -> None:
    made.change(made.receipt, change)
    done = made.check()
    assert done.code == ExitCode.CORRUPT
    assert "message " in done.err
    assert SECRET not in done.err
    assert done.out == ""


def test_the_first_block_that_is_not_accounted_for_is_named(made: Compaction) -> None:
    first = json.loads(made.receipt.read_text())["removed"][0]
    made.change(made.receipt, _drop_removed)
    place = f"h.json: message {first['message']} block {first['block']}: "
    assert place in made.check().err


@pytest.mark.parametrize("place", ["original", "result"])
def test_other_messages_are_14(made: Compaction, place: str) -> None:
    def change(messages: Any) -> None:
        messages[0]["content"] += "!"

    made.change(getattr(made, place), change)
    assert made.check().code == ExitCode.CORRUPT


def test_another_compaction_s_result_is_14(made: Compaction, tmp_path: Path) -> None:
    made.result = write(tmp_path / "other.json", history())
    assert made.check().code == ExitCode.CORRUPT


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff",
        b"[" * 200_000,
        b'{"schema":"ctxaudit.receipt/1","schema":"ctxaudit.receipt/1"}',
        b'{"schema":"ctxaudit.receipt/2"}',
    ],
)
def test_what_is_no_receipt_is_14_in_one_line(made: Compaction, data: bytes) -> None:
    made.receipt.write_bytes(data)
    done = made.check()
    assert done.code == ExitCode.CORRUPT
    assert done.err.startswith("ctxaudit compact: --verify-receipt: r.json: ")
    assert len(done.err.splitlines()) == 1


def test_a_field_of_its_own_makes_it_none(made: Compaction) -> None:
    made.change(made.receipt, lambda receipt: receipt.update(note="x"))
    assert made.check().code == ExitCode.CORRUPT


@pytest.mark.parametrize("name", ["receipt", "result", "original"])
def test_a_file_that_is_not_there_is_usage(made: Compaction, name: str) -> None:
    getattr(made, name).unlink()
    done = made.check()
    assert done.code == ExitCode.USAGE
    assert "expected" in done.err


def test_a_repaired_history_is_checked_as_it_was_repaired(call: Call, tmp_path: Path) -> None:
    file = write(tmp_path / "h.json", copy.deepcopy(history())[:-1])
    output, receipt = tmp_path / "o.json", tmp_path / "r.json"
    options = compacted_options("--output", str(output), "--receipt", str(receipt))
    assert call("compact", file, "--repair", *options).code == 0
    args = ("compact", file, "--verify-receipt", receipt, "--result", output)
    assert call(*args, "--repair").code == 0
    assert call(*args).code == ExitCode.CORRUPT


def test_costs_are_counted_again(call: Call, tmp_path: Path) -> None:
    made = Compaction(call, tmp_path)
    made.change(made.receipt, lambda value: value["removed"][0].update(tokens=7_777))
    done = made.check()
    assert done.code == ExitCode.CORRUPT
    assert "tokens: expected" in done.err


def _dear(receipt: Any) -> None:
    receipt["tokens_before"] += 1
    receipt["removed"][0]["tokens"] = 999_999
    receipt["tokens_after"] = 1


def _dear_and_unnamed(receipt: Any) -> None:
    _dear(receipt)
    receipt["counter"] = None


@pytest.mark.parametrize("change", [_dear, _dear_and_unnamed])
@pytest.mark.parametrize("options", [(), ("--tokens", "heuristic")])
def test_a_wrong_total_hides_no_cost(made: Compaction, change: Any, options: Any) -> None:
    made.change(made.receipt, change)
    done = made.check(*options)
    assert (done.code, done.out) == (ExitCode.CORRUPT, "")
    assert "tokens: expected" in done.err
    assert ("names no counter" in done.err) == (change is _dear_and_unnamed)


def test_the_counter_that_is_named_counts(made: Compaction) -> None:
    done = made.check("--tokens", "claude_legacy")  # the estimate was what counted
    assert done.code == ExitCode.CORRUPT
    assert "counter: expected claude_legacy, got heuristic; the receipt names " in done.err
    made.change(made.receipt, lambda value: value.update(counter="claude_legacy"))
    done = made.check()
    assert done.code == ExitCode.CORRUPT
    assert "counter: expected heuristic, got claude_legacy; " in done.err
    assert "the receipt names claude_legacy: --tokens says what counts" in done.err
    done = made.check("--tokens", "claude_legacy")  # it is its own word, and counted again
    assert done.code == ExitCode.CORRUPT
    assert "tokens: expected" in done.err


def test_a_receipt_by_a_vocabulary_is_covered_by_it(call: Call, tmp_path: Path) -> None:
    file = write(tmp_path / "h.json", history())
    output, receipt = tmp_path / "o.json", tmp_path / "r.json"
    counter = ("--tokens", "claude_legacy")
    options = compacted_options("--output", str(output), "--receipt", str(receipt))
    assert call("compact", file, *counter, *options).code == 0
    assert json.loads(receipt.read_text())["counter"] == "claude_legacy"
    args = ("compact", file, "--verify-receipt", receipt, "--result", output)
    assert call(*args, *counter).code == 0
    assert call(*args).code == ExitCode.CORRUPT


def _no_role(receipt: Any) -> None:
    receipt["removed"][0]["role"] = None


def _another_role(receipt: Any) -> None:
    receipt["removed"][0]["role"] = "system"


@pytest.mark.parametrize("change", [_no_role, _another_role])
def test_a_role_that_was_changed_is_14(made: Compaction, change: Any) -> None:
    made.change(made.receipt, change)
    assert "role: expected that of the original message" in made.check().err


def test_one_message_is_one(call: Call, tmp_path: Path) -> None:
    file = write(tmp_path / "h.json", [{"role": "user", "content": "hi"}])
    output, receipt = tmp_path / "o.json", tmp_path / "r.json"
    assert call("compact", file, "--output", output, "--receipt", receipt).code == 0
    done = call("compact", file, "--verify-receipt", receipt, "--result", output)
    assert done.out.endswith(": 1 message to 1, 0 blocks removed, 0 changed, 0 put in\n")
