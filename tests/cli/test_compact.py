"""`ctxaudit compact`: what it reads, writes and says."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest

from cli.commands.compact import command
from cli.exit_codes import ExitCode
from provenance.compaction import Receipt, ReceiptProblem
from provenance.limits import Limits
from provenance.messages import PROVIDERS
from provenance.schemas import load_schema
from tests.cli.compaction_files import SECRET, compacted_options, history, write
from tests.histories.reading import NATIVE, SAMPLES, transcripts

Call = Callable[..., Any]
PATHS = list(transcripts())
OF_LINES = [
    *sorted(SAMPLES.glob("claude-code/real/*/full.jsonl")),
    *sorted(SAMPLES.glob("codex/*.jsonl")),
    *sorted(SAMPLES.glob("dsh/*/session.jsonl")),
    SAMPLES / "openhands" / "events.jsonl",
]


def _report(call: Call, *args: object) -> dict[str, Any]:
    done = call("compact", *args, "--format", "json")
    assert done.code == 0, done.err
    report: dict[str, Any] = json.loads(done.out)
    jsonschema.validate(report, json.loads(load_schema("compaction")))
    return report


class TestTheTable:
    def test_a_row_for_each_layer_then_a_closing_line(self, call: Call, tmp_path: Path) -> None:
        file = write(tmp_path / "history.json", history())
        done = call("compact", file, *compacted_options("--read-tool", "read=path"))
        lines = done.out.splitlines()
        assert done.code == 0
        assert [line.split()[0] for line in lines[:5]] == [
            "layer",
            "tool_result_truncation",
            "file_read_deduplication",
            "message_pruning",
            "conversation_summary",
        ]
        assert lines[-1].startswith("history.json: messages, 17 messages to ")
        assert SECRET not in done.out + done.err

    def test_what_fits_is_not_touched(self, call: Call, tmp_path: Path) -> None:
        file = write(tmp_path / "history.json", history(1))
        output = tmp_path / "out.json"
        done = call("compact", file, "--output", output)
        assert done.out.count("not needed") == 4
        assert json.loads(output.read_text()) == history(1)

    def test_the_document_says_it_in_numbers(self, call: Call, tmp_path: Path) -> None:
        request = {"system": "Be brief." * 10, "tools": [{"name": "read"}], "messages": history()}
        file = write(tmp_path / "request.json", request)
        report = _report(call, file, *compacted_options("--provider", "anthropic"))
        assert report["messages"]["before"] == 17
        assert report["tokens"]["system"] > 0
        assert report["tokens"]["tools"] > 0
        assert [one["layer"] for one in report["layers"]][:2] == [
            "tool_result_truncation",
            "file_read_deduplication",
        ]
        assert report["provider"]["before"] == {"count": 0, "listed": []}
        assert SECRET not in json.dumps(report)

    def test_quiet_leaves_the_notes_out(self, call: Call) -> None:
        file = SAMPLES / "claude-code" / "real" / "clean" / "full.jsonl"
        assert "left out" in call("compact", file).out
        assert "left out" not in call("compact", file, "--quiet").out


class TestOutputs:
    def test_messages_receipt_and_context_are_written_together(
        self, call: Call, tmp_path: Path, home: Any
    ) -> None:
        file = write(tmp_path / "history.json", history())
        state = home.state("a.json", home.transcript("s1", 2))
        new = {name: tmp_path / f"{name}.new" for name in ("output", "receipt", "context")}
        options = [part for name, path in new.items() for part in (f"--{name}", path)]
        done = call("compact", file, *compacted_options(), "--state", state, *options)
        assert done.code == 0
        assert len(json.loads(new["output"].read_text())) < 17
        receipt = json.loads(new["receipt"].read_text())
        jsonschema.validate(receipt, json.loads(load_schema("receipt")))
        assert Receipt.from_json(new["receipt"].read_bytes()).original_messages == 17
        assert new["context"].read_text() == call("render", state).out
        assert {path.stat().st_mode & 0o777 for path in new.values()} == {0o600}
        assert json.loads(file.read_text()) == history()

    def test_the_context_goes_to_standard_output_or_into_the_document(
        self, call: Call, tmp_path: Path, home: Any
    ) -> None:
        file = write(tmp_path / "history.json", history(1))
        state = home.state("a.json", home.transcript("s1", 1))
        text = call("render", state).out
        assert call("compact", file, "--state", state).out.endswith("\n\n" + text)
        assert _report(call, file, "--state", state)["context"] + "\n" == text

    def test_a_state_without_a_home_is_looked_up_in_that_of_spill(
        self, call: Call, tmp_path: Path, home: Any
    ) -> None:
        file = write(tmp_path / "history.json", history(1))
        state = home.state("a.json", home.transcript("s1", 1))
        lone = tmp_path / "lone.json"
        lone.write_bytes(state.read_bytes())
        args = ("compact", file, "--state", lone)
        assert "sources not looked up" in call(*args).err
        spilling = call(*args, "--spill", home.path, "--session", "s9")
        assert "sources not looked up" not in spilling.err
        assert call("render", state).out in spilling.out

    @pytest.mark.parametrize("option", ["--output", "--receipt"])
    def test_no_file_is_overwritten_the_input_least_of_all(
        self, option: str, call: Call, tmp_path: Path
    ) -> None:
        file = write(tmp_path / "history.json", history())
        before = file.read_bytes()
        other = "--receipt" if option == "--output" else "--output"
        done = call("compact", file, *compacted_options(), option, file, other, tmp_path / "n.json")
        assert done.code == 2
        assert "expected a name that is free" in done.err
        assert file.read_bytes() == before
        assert os.listdir(tmp_path) == ["history.json"]

    @pytest.mark.parametrize(
        ("more", "said"),
        [
            (("--output", "-"), "expected a new file, got standard output"),
            (("--output", "absent/new.json"), "expected a file in a folder that exists"),
            (("--output", "a.json", "--receipt", "a.json"), "got the same"),
            (("--output", "a.json", "--receipt", "./a.json"), "got the same"),
            (("--context", "a.txt"), "expected it together with --state"),
            (("--spill-dropped",), "expected it together with --spill"),
            (("--session", "s"), "expected a transcript, or --spill"),
            (("--spill", "home"), "expected the session that the texts are stored for"),
            (("--spill", "home", "--session", "states"), "none of the home's own folders"),
            (("--verify-receipt", "r.json"), "expected it together with --result"),
            (("--result", "r.json"), "expected it together with --result"),
            (("--verify-receipt", "r", "--result", "r", "--output", "x"), "expected none with"),
            (("--soft-limit", "0"), "--soft-limit"),
            (("--hard-limit", "10"), "--hard-limit: expected 80000 (--soft-limit) or more, got 10"),
            (("--soft-limit", "200000"), "--soft-limit: expected at most 120000 (--hard-limit)"),
            (
                ("--soft-limit", "9", "--hard-limit", "8"),
                "--hard-limit: expected 9 (--soft-limit) or more, got 8",
            ),
            (("--read-tool", "read"), "expected NAME=ARGUMENT"),
            (("--summarizer", "sh -c x"), "expected none or command:PROGRAM"),
            (("--summarizer", "command:"), "expected a program after command:"),
            (("--summarizer", "command:'a"), "expected quotes that are closed"),
            (("--summarizer-timeout", "0"), "--summarizer-timeout"),
            (("--previous-summary", "absent.txt"), "--previous-summary: absent.txt"),
            (("--state", "absent.json"), "--state: absent.json: source: expected a file"),
            (("--as", "nonsense"), "openhands, messages, got 'nonsense'"),
        ],
    )
    def test_options_that_cannot_be_used_are_one_line(
        self,
        more: tuple[str, ...],
        said: str,
        call: Call,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.chdir(tmp_path)
        write(tmp_path / "history.json", history())
        done = call("compact", "history.json", *more)
        assert done.code == ExitCode.USAGE
        assert said in done.err
        assert len(done.err.splitlines()) == 1
        assert os.listdir(tmp_path) == ["history.json"]

    def test_the_shape_that_went_in_comes_out(self, call: Call, tmp_path: Path) -> None:
        messages = history()
        lines = tmp_path / "lines.jsonl"
        lines.write_text("".join(json.dumps(one) + "\n" for one in messages))
        request = write(tmp_path / "request.json", {"model": "m", "messages": messages, "x": [1]})
        outputs = []
        for file in (lines, request):
            output = tmp_path / f"{file.stem}.out"
            assert call("compact", file, *compacted_options(), "--output", output).code == 0
            outputs.append(output.read_text())
        as_lines = [json.loads(line) for line in outputs[0].splitlines()]
        as_object = json.loads(outputs[1])
        assert as_object == {"model": "m", "messages": as_lines, "x": [1]}

    def test_a_file_of_messages_may_come_through_a_pipe_or_a_link(
        self, call: Call, tmp_path: Path
    ) -> None:
        data = json.dumps(history(2)).encode()
        assert "5 messages" in call("compact", "-", stdin=data).out
        (tmp_path / "real.json").write_bytes(data)
        (tmp_path / "link.json").symlink_to("real.json")
        assert "5 messages" in call("compact", tmp_path / "link.json").out

    def test_a_transcript_comes_through_neither(self, call: Call, tmp_path: Path) -> None:
        file = SAMPLES / "claude-code" / "real" / "clean" / "full.jsonl"
        (tmp_path / "link.jsonl").symlink_to(file)
        for done in (
            call("compact", "-", stdin=file.read_bytes()),
            call("compact", tmp_path / "link.jsonl"),
        ):
            assert done.code == ExitCode.USAGE
            assert "a transcript by the name of its own file" in done.err


class TestExitCodes:
    def test_a_broken_protocol_is_14_and_names_the_message(
        self, call: Call, tmp_path: Path
    ) -> None:
        file = write(tmp_path / "history.json", history()[:-1])
        output = tmp_path / "out.json"
        done = call("compact", file, "--output", output)
        assert done.code == ExitCode.CORRUPT
        assert "history.json: message 15: tool call: expected one result" in done.err
        assert "--repair" in done.err
        assert SECRET not in done.err
        assert not output.exists()

    def test_repair_makes_it_pair_and_lists_what_it_did(self, call: Call, tmp_path: Path) -> None:
        file = write(tmp_path / "history.json", history()[:-1])
        done = call("compact", file, "--repair")
        assert done.code == 0
        assert "repaired: message 15 block 0: answered_interrupted_call" in done.out
        assert _report(call, file, "--repair")["repairs"] == {
            "count": 1,
            "listed": [{"message": 15, "block": 0, "kind": "answered_interrupted_call"}],
        }

    def test_above_the_hard_limit_is_3_with_numbers_alone(self, call: Call, tmp_path: Path) -> None:
        file = write(tmp_path / "history.json", history())
        done = call("compact", file, "--soft-limit", "5", "--hard-limit", "5",
                    "--output", tmp_path / "o", "--receipt", tmp_path / "r")  # fmt: skip
        assert done.code == ExitCode.NOTHING_VERIFIED
        assert "expected fewer than 5 tokens" in done.err
        assert "nothing was written" in done.err
        assert SECRET not in done.err
        assert os.listdir(tmp_path) == ["history.json"]
        assert done.out == ""

    def test_a_transcript_that_changes_meanwhile_is_4(
        self, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("cli.compact_input.holds_still", lambda source: False)
        done = call("compact", NATIVE / "clean.jsonl", "--output", tmp_path / "o.json")
        assert done.code == ExitCode.INCONCLUSIVE
        assert "expected no change while it was read" in done.err
        assert os.listdir(tmp_path) == []

    def test_a_receipt_that_nobody_could_read_is_not_written(
        self, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("cli.compacting.DEFAULT_LIMITS", Limits(max_receipt_bytes=100))
        file = write(tmp_path / "h.json", history())
        options = compacted_options("--output", tmp_path / "o.json")
        done = call("compact", file, *options, "--receipt", tmp_path / "r.json")
        assert done.code == ExitCode.TOOL_FAILED
        assert "--receipt: r.json: expected at most 100 bytes, got more; nothing" in done.err
        assert os.listdir(tmp_path) == ["h.json"]
        assert call("compact", file, *options).code == 0

    def test_a_receipt_that_does_not_hold_leaves_nothing(
        self, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        problem = ReceiptProblem(0, 0, of_result=False, text="expected it in the result, got none")
        monkeypatch.setattr("cli.compacting.verify_receipt", lambda *given: (problem,))
        file = write(tmp_path / "h.json", history())
        done = call("compact", file, "--output", tmp_path / "o.json")
        assert done.code == ExitCode.TOOL_FAILED
        assert os.listdir(tmp_path) == ["h.json"]

    def test_the_exact_counters_need_their_extra(
        self, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = write(tmp_path / "history.json", history(1))
        monkeypatch.setattr("provenance.messages.exact_tokens._load_openai", _absent)
        done = call("compact", file, "--tokens", "o200k")
        assert done.code == ExitCode.USAGE
        assert "ctxaudit-provenance[tokens]" in done.err
        assert len(done.err.splitlines()) == 1

    def test_another_counter_counts_other_numbers(self, call: Call, tmp_path: Path) -> None:
        file = write(tmp_path / "history.json", history(1))
        counts = {
            name: _report(call, file, "--tokens", name)["tokens"]["before"]
            for name in ("heuristic", "claude_legacy")
        }
        assert counts["heuristic"] != counts["claude_legacy"]


def _absent(name: str) -> None:
    from provenance.messages import MissingTokensExtra

    raise MissingTokensExtra(
        f"encoding {name}: expected the extra ctxaudit-provenance[tokens], got none installed"
    )


class TestTranscripts:
    @pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}/{path.name}")
    def test_every_sample_is_compacted_and_its_receipt_holds(
        self, path: Path, call: Call, tmp_path: Path
    ) -> None:
        output, receipt = tmp_path / "out.json", tmp_path / "receipt.json"
        done = call("compact", path, "--repair", *compacted_options("--output", output,
                    "--receipt", receipt))  # fmt: skip
        assert done.code == 0, done.err
        checked = call("compact", path, "--repair", "--verify-receipt", receipt, "--result", output)
        assert checked.code == 0, checked.err
        jsonschema.validate(json.loads(receipt.read_text()), json.loads(load_schema("receipt")))

    @pytest.mark.parametrize("path", OF_LINES, ids=lambda path: f"{path.parent.name}/{path.name}")
    def test_prefixes_of_a_real_transcript(self, path: Path, call: Call, tmp_path: Path) -> None:
        lines = path.read_bytes().split(b"\n")
        file, has_messages = tmp_path / path.name, False
        for number, end in enumerate(range(3, len(lines), max(len(lines) // 4, 1))):
            file.write_bytes(b"\n".join(lines[:end]) + b"\n")
            output, receipt = tmp_path / f"{number}.out", tmp_path / f"{number}.receipt"
            options = compacted_options("--output", output, "--receipt", receipt)
            done = call("compact", file, "--repair", *options)
            if done.code == ExitCode.USAGE:  # as far as here nobody has said anything
                assert not has_messages
                assert f"{path.name}: expected messages, got none; left out: " in done.err
                continue
            has_messages = True
            assert done.code == 0, done.err
            checked = call(
                "compact", file, "--repair", "--verify-receipt", receipt, "--result", output
            )
            assert checked.code == 0, checked.err
        assert has_messages or len(lines) <= 3

    def test_a_database_of_several_sessions_wants_one_named(self, call: Call) -> None:
        file = SAMPLES / "openai-agents" / "sessions.db"
        done = call("compact", file)
        assert done.code == ExitCode.USAGE
        assert "--session: expected one of 3 (chat-1, chat-2, chat-3), got none" in done.err
        report = _report(call, file, "--session", "chat-1")
        assert (report["format"], report["session"]) == ("openai-agents", "chat-1")
        assert report["left_out"]["other-session"] > 0
        assert call("compact", file, "--session", "chat-9").code == ExitCode.USAGE

    def test_lines_of_items_are_messages_and_with_something_of_ours_a_transcript(
        self, call: Call, tmp_path: Path
    ) -> None:
        file = tmp_path / "items.jsonl"
        items = [{"type": "message", "role": "user", "content": "hello"}] * 2
        file.write_text("".join(json.dumps(item) + "\n" for item in items))
        assert _report(call, file)["format"] == "messages"
        assert _report(call, file, "--as", "native")["format"] == "native"
        ours = [item | {"session_id": "items"} for item in items]
        file.write_text("".join(json.dumps(item) + "\n" for item in ours))
        assert _report(call, file)["format"] == "native"
        assert _report(call, file, "--as", "messages")["format"] == "messages"

    def test_a_format_can_be_named(self, call: Call, tmp_path: Path) -> None:
        file = tmp_path / "log"
        file.write_bytes((NATIVE / "clean.jsonl").read_bytes())
        assert _report(call, file, "--as", "native")["format"] == "native"

    def test_no_messages_at_all_are_2_and_nothing_is_written(
        self, call: Call, tmp_path: Path
    ) -> None:
        output = tmp_path / "o.json"
        file = write(tmp_path / "h.json", history())
        done = call("compact", file, "--as", "codex", "--output", output)
        assert done.code == ExitCode.USAGE
        assert "h.json: expected messages, got none; left out: 1 damaged" in done.err
        for name, value in (("list", []), ("object", {"messages": [], "model": "m"})):
            file = write(tmp_path / name, value)
            done = call("compact", file, "--output", output)
            assert done.code == ExitCode.USAGE
            assert f"{name}: expected messages, got none" in done.err
        assert not output.exists()

    def test_a_folder_that_is_no_transcript_is_one_line(self, call: Call, tmp_path: Path) -> None:
        done = call("compact", tmp_path)
        assert done.code == ExitCode.USAGE
        assert "expected a transcript of a known format, got another folder" in done.err


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"{}",
        b"null",
        b"[" * 200_000,
        b'[{"role":"user","content":' + b"[" * 200_000,
        b'[{"role":"user","content":NaN}]',
        b'[{"role":"user","role":"user"}]',
        b"\xff\xfe\x00",
        b'[{"content":"text-of-the-evidence"}]',
        b'{"messages":{"text-of-the-evidence":1}}',
        b'["text-of-the-evidence"]',
        b"SQLite format 3\0" + b"x" * 200,
        b"PK\x03\x04" + b"x" * 200,
        b"\x28\xb5\x2f\xfd" + b"x" * 200,
    ],
)
@pytest.mark.parametrize("name", ["h.json", "h.jsonl"])
def test_hostile_files_are_one_line(data: bytes, name: str, call: Call, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(data)
    output = tmp_path / "out.json"
    done = call("compact", file, "--output", output)
    assert done.code == ExitCode.USAGE
    assert len(done.err.splitlines()) == 1
    assert SECRET not in done.err
    assert str(tmp_path) not in done.err
    assert not output.exists()


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "\ud800"},
        {"role": "user", "content": [{"type": "text", "text": "\udfff" * 900}]},
        {"role": "user", "content": None},
        {"role": 7, "content": []},
        {"type": "function_call", "call_id": None},
        {"role": "assistant", "tool_calls": "x"},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": ["x"]}]},
        {"role": "user", "content": [7, None, {"type": 9}]},
    ],
)
def test_odd_messages_are_compacted_or_refused_in_one_line(
    message: object, call: Call, tmp_path: Path
) -> None:
    file = write(tmp_path / "h.json", [message, *history(3)])
    output, receipt = tmp_path / "o.json", tmp_path / "r.json"
    options = compacted_options("--output", output, "--receipt", receipt)
    done = call("compact", file, "--repair", *options)
    assert done.code == 0, done.err
    args = ("compact", file, "--repair", "--verify-receipt", receipt, "--result", output)
    assert call(*args).code == 0
    assert call("compact", file).code in (0, ExitCode.CORRUPT)


def test_a_file_over_the_limit_is_not_read(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "h.json"
    with file.open("wb") as sparse:
        sparse.truncate(65 << 20)
    done = call("compact", file)
    assert done.code == ExitCode.USAGE
    assert "expected at most 67108864 bytes" in done.err


def test_links_that_lead_to_each_other_are_told(call: Call, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    file = write(tmp_path / "h.json", history(1))
    for args in ((tmp_path / "a",), (file, "--state", tmp_path / "a")):
        done = call("compact", *args)
        assert done.code == ExitCode.USAGE
        assert "a: source: expected a file, got links that lead to each other" in done.err


def test_what_is_repaired_is_to_be_repaired_again(call: Call) -> None:
    said = " ".join(call("compact", "--help").out.split())
    assert "repeat it for --verify-receipt" in said


def test_the_providers_are_those_of_the_library() -> None:
    (option,) = [one for one in command.params if one.name == "provider"]
    assert isinstance(option.type, click.Choice)
    assert tuple(option.type.choices) == PROVIDERS


def test_options_come_from_the_environment_too(call: Call, tmp_path: Path) -> None:
    file = write(tmp_path / "h.json", history())
    done = call("compact", file, "--format", "json", CTXAUDIT_SOFT_LIMIT="77")
    assert json.loads(done.out)["limits"]["soft"] == 77
