"""Pages for the words of a compaction: presets, counters, providers, layers, outcomes, repairs.

Guarantees: a page for each value of an option of `ctxaudit compact` and each word of its report; a
test asks the code that gives them.

Example:
    >>> COMPACTION_PAGES["layer"]["message_pruning"][2]
    'Nothing; --keep-recent says how many of the latest messages stay.'
"""

from __future__ import annotations

from provenance.audit._page import Page

__all__ = ["COMPACTION_PAGES"]

_ASKED = "The summarizer was asked and "
_OTHER_SUMMARY = "Look at what the program of --summarizer writes to its standard output."

COMPACTION_PAGES: dict[str, dict[str, Page]] = {
    "preset": {
        "main": (
            "The numbers of a compaction for the main conversation: the library's defaults.",
            "Chosen by --preset main, or no --preset.",
            "Nothing; an option such as --soft-limit sets a number by itself.",
        ),
        "subtask": (
            "The numbers for a sub-agent: half the limits, and its first message stays.",
            "Chosen by --preset subtask.",
            "Nothing; an option such as --soft-limit sets a number by itself.",
        ),
        "resume": (
            "The numbers for a session that is taken up again: more of the latest messages stay.",
            "Chosen by --preset resume.",
            "Nothing; an option such as --soft-limit sets a number by itself.",
        ),
    },
    "token counter": {
        "heuristic": (
            "Four characters a token, four tokens a message: an estimate.",
            "Chosen by --tokens heuristic, or no --tokens.",
            "For Chinese, hexadecimal and base64 it is too low by two to five times.",
        ),
        "o200k": (
            "The vocabulary of GPT-4o and later models, counted exactly.",
            "Chosen by --tokens o200k; needs the extra `tokens`.",
            "Nothing.",
        ),
        "cl100k": (
            "The vocabulary of GPT-4 and GPT-3.5, counted exactly.",
            "Chosen by --tokens cl100k; needs the extra `tokens`.",
            "Nothing.",
        ),
        "claude_legacy": (
            "The vocabulary that was published for Claude 1 and 2, counted exactly.",
            "Chosen by --tokens claude_legacy.",
            "Newer Claude models have another one, which is not published.",
        ),
    },
    "provider": {
        "anthropic": (
            "The rules of Anthropic Messages beyond the pairing of calls and results.",
            "Chosen by --provider anthropic.",
            "Read what the problems say: such a request may be refused.",
        ),
        "openai-chat": (
            "The rules of OpenAI Chat Completions beyond the pairing of calls and results.",
            "Chosen by --provider openai-chat.",
            "Read what the problems say: such a request may be refused.",
        ),
        "openai-responses": (
            "The rules of OpenAI Responses beyond the pairing of calls and results.",
            "Chosen by --provider openai-responses.",
            "Read what the problems say: such a request may be refused.",
        ),
    },
    "layer": {
        "tool_result_truncation": (
            "The first layer: tool results above a cap are shortened.",
            "The messages are at the soft limit or above it.",
            "With --spill the whole text is stored first; --max-tool-result-tokens is the cap.",
        ),
        "file_read_deduplication": (
            "The second layer: of several reads of one file only the latest stays.",
            "The first layer did not save enough.",
            "Name the tools that read files with --read-tool.",
        ),
        "message_pruning": (
            "The third layer: the first message and the latest stay, what is between goes.",
            "The layers before it did not save enough.",
            "Nothing; --keep-recent says how many of the latest messages stay.",
        ),
        "conversation_summary": (
            "The fourth layer: older messages become one summary.",
            "The layers before it did not save enough.",
            "The outcome says what came of it; --summarizer names the program.",
        ),
    },
    "summary outcome": {
        "not_needed": (
            "No summary was asked for: the messages fit without one.",
            "They are below the soft limit.",
            "Nothing.",
        ),
        "no_summarizer": (
            "A summary was needed, and there is nobody to write one.",
            "No --summarizer, or --summarizer none.",
            "Name a program, or leave it: the messages are as the third layer left them.",
        ),
        "nothing_older": (
            "All messages are among the latest, or belong to a call of them.",
            "The history is short, or --summary-keep-recent is large.",
            "Nothing, or a smaller number.",
        ),
        "summarised": (
            "A summary stands in the place of older messages.",
            _ASKED + "gave a text that is shorter than what it stands for.",
            "Nothing; the receipt cites the digests of the blocks that it stands for.",
        ),
        "failed": (
            "There is no summary; the messages are as they were before that layer.",
            _ASKED + "failed, or what was to be stored before could not be.",
            _OTHER_SUMMARY,
        ),
        "timed_out": (
            "There is no summary; the messages are as they were before that layer.",
            _ASKED + "did not end in time.",
            "Give it more time with --summarizer-timeout.",
        ),
        "cancelled": (
            "There is no summary; the messages are as they were before that layer.",
            _ASKED + "was cancelled by the program around it.",
            "Ask again.",
        ),
        "blank": (
            "There is no summary; the messages are as they were before that layer.",
            _ASKED + "gave white space or nothing.",
            _OTHER_SUMMARY,
        ),
        "not_text": (
            "There is no summary; the messages are as they were before that layer.",
            _ASKED + "gave something that is no text.",
            _OTHER_SUMMARY,
        ),
        "too_long": (
            "There is no summary; the messages are as they were before that layer.",
            _ASKED + "gave more tokens than --summary-max-tokens allows.",
            "Ask for a shorter one, or allow more.",
        ),
        "no_gain": (
            "There is no summary; the messages are as they were before that layer.",
            _ASKED + "gave a text that is no shorter than what it would stand for.",
            "Nothing.",
        ),
    },
    "repair": {
        "answered_interrupted_call": (
            "A call without a result got one that says that it was interrupted.",
            "The agent was stopped while the tool ran.",
            "Nothing; the call, its arguments and its thinking are kept.",
        ),
        "dropped_orphan_result": (
            "A result went, of which no call is there.",
            "The history begins after the call, or somebody cut it.",
            "Nothing; no provider takes it.",
        ),
        "dropped_early_result": (
            "A result went that stood before its call.",
            "Messages were put in another order.",
            "Nothing; the call counts as interrupted where no other result follows.",
        ),
        "dropped_duplicate_result": (
            "A second result of a call went.",
            "A tool was run twice under one id, or a message stands twice.",
            "Nothing; the first one stays.",
        ),
        "dropped_misplaced_result": (
            "A result went that was not by the user's side.",
            "A history was put together by hand.",
            "Correct the role of the message, if its text matters.",
        ),
        "dropped_misplaced_call": (
            "A call went that was not by an assistant.",
            "A history was put together by hand.",
            "Correct the role of the message, if the call matters.",
        ),
        "dropped_unanswerable_call": (
            "A call went that has no result and can have none in words.",
            "A call for a picture of the screen was interrupted.",
            "Nothing.",
        ),
        "dropped_thinking": (
            "Thinking went that led to nothing but calls that went.",
            "A provider refuses it without its call.",
            "Nothing.",
        ),
        "renamed_call": (
            "A call got a fresh id, since its own was used before or is none.",
            "A model or a harness gave one id twice.",
            "Nothing; its result has the same fresh id.",
        ),
        "renamed_result": (
            "A result got the fresh id of its call.",
            "A model or a harness gave one id twice.",
            "Nothing.",
        ),
    },
    "left out": {
        "meta": (
            "Records that a harness put into the conversation for itself are no messages.",
            "Claude Code marks them `isMeta`.",
            "Nothing.",
        ),
        "sub-agent": (
            "Records of another conversation in the same log are not among the messages.",
            "A sub-agent worked beside the main conversation.",
            "Compact it by itself: --session <session>.agent-<id>.",
        ),
        "api-error": (
            "What a harness said in the place of an answer is no message of the model.",
            "The provider did not answer.",
            "Nothing.",
        ),
        "repeated": (
            "The same record again, byte for byte, is one message.",
            "A session was resumed, and its log copied.",
            "Nothing.",
        ),
        "no-message": (
            "A record of the conversation that holds no message of it.",
            "It is empty, cut, or not in the final conversation.",
            "Run `ctxaudit transcript check`: it says whether the transcript is whole.",
        ),
        "other-session": (
            "Records of another session than the one asked for are not among the messages.",
            "A log or database holds several sessions.",
            "Nothing, or ask for that one with --session.",
        ),
        "rewound": (
            "Messages that were taken back are no part of the conversation.",
            "The user of Gemini CLI went back to an earlier place, or replaced the history.",
            "Nothing; the transcript still has them.",
        ),
        "updated": (
            "A message that was written again stands once, as it was written last.",
            "Gemini CLI writes a message while it grows.",
            "Nothing.",
        ),
        "damaged": (
            "A line or row that holds no whole record gave no message.",
            "The transcript is damaged.",
            "Run `ctxaudit transcript check`: it says where. `repair` writes a sound copy.",
        ),
    },
    "file": {
        "messages": (
            "A file of messages: a list, an object with `messages` or `input`, or lines.",
            "Chosen by --as messages, or by content: no format of transcripts knows the file.",
            "Nothing.",
        ),
    },
}
