"""Pages for the words of reports and options that are neither a state nor a code.

Guarantees: a page for each value of a choice, each key of a result and each number of a summary; a
test asks the options and the reports themselves.

Example:
    >>> WORD_PAGES["quiescence"]["leased"][1].partition(":")[0]
    'The kernel granted the lease'
"""

from __future__ import annotations

from provenance.audit._page import Page

__all__ = ["WORD_PAGES"]

WORD_PAGES: dict[str, dict[str, Page]] = {
    "quiescence": {
        "leased": (
            "A read lease held while the file was hashed: no writer can have changed it meanwhile.",
            "The kernel granted the lease: a file of 1 MiB or more that no writer had open.",
            "Nothing.",
        ),
        "stat": (
            "The file's inode, size and times were the same before and after it was read.",
            "The usual guard. A writer through a shared mapping could escape it, and no other.",
            "Nothing; where that is not enough, verify a copy that nobody writes to.",
        ),
    },
    "severity": {
        "error": (
            "The finding counts for the exit code, like the state that its code belongs to.",
            "Something is wrong, or could not be looked at, that no single source stands for.",
            "See `ctxaudit explain` with the code of the finding.",
        ),
        "warning": (
            "The finding ought to be looked at; it changes no exit code.",
            "Something is odd that does not touch what was cited.",
            "See `ctxaudit explain` with the code of the finding.",
        ),
        "info": (
            "The finding is a fact worth knowing and no fault.",
            "Old writers and the machine itself give rise to most of them.",
            "Nothing. The console report counts them; the JSON report lists them.",
        ),
    },
    "kind": {
        "transcript": (
            "An event of a session's log: transcript:<session>:<sequence>.",
            "The first part of a pointer, and `source_type` of its result.",
            "Nothing.",
        ),
        "artifact": (
            "A file of large tool output: artifact:<session>:<file>:<digest>.",
            "The first part of a pointer, and `source_type` of its result.",
            "Nothing.",
        ),
    },
    "count": {
        "total": (
            "All distinct pointers that the targets cite, checked or not.",
            "The sum of the five states, inconclusive and not_checked.",
            "Nothing.",
        ),
        "not_checked": (
            "Sources that the run did not come to.",
            "It was interrupted.",
            "Run again.",
        ),
        "transcripts_not_checked": (
            "Files that may be transcripts, which the run did not come to.",
            "It was interrupted.",
            "Run again.",
        ),
        "uncited": (
            "Transcripts and artifacts of a home that no state cites, nor your policy denies.",
            "They lie there, and nothing rests on them.",
            "Check them with --all, if they matter.",
        ),
        "waived": (
            "Sources that are not available and that a waiver of the operator covers.",
            "A file of waivers names their pointers. They are counted under their states, too.",
            "Nothing before the waivers are over; each of them stands in the report.",
        ),
        "findings": (
            "What was noticed beside the states, with how often.",
            "Each finding has a code, a severity and a place.",
            "See `ctxaudit explain` with the code of the finding.",
        ),
        "references": (
            "What records of transcripts say exists elsewhere, with how often each state.",
            "Outputs in files, summaries that stand for records, attachments.",
            "See `ctxaudit explain reference_missing` and the like.",
        ),
    },
    "field": {
        "pointer": (
            "The pointer, as it was cited.",
            "It stands in a state, in a text, on standard input or on the command line.",
            "Nothing.",
        ),
        "status": (
            "One of the five states.",
            "Available, missing, denied, corrupt or unsupported.",
            "See `ctxaudit explain` with the state.",
        ),
        "reason": (
            "Why a source has its state.",
            "Each state has its own reasons; the first fault that was met decides.",
            "See `ctxaudit explain` with the reason.",
        ),
        "source_type": (
            "The kind of source that a pointer names.",
            "Transcript or artifact; null where the pointer is not understood.",
            "Nothing.",
        ),
        "evidence_sha256": (
            "SHA-256 of the verified bytes: of a record without its line end, or of an artifact.",
            "It is set for available sources and for no other.",
            "Keep the report: a later one has to say the same.",
        ),
        "strength": (
            "How much an available source proves.",
            "Position, prefix, full, pinned or sealed, from weak to strong.",
            "See `ctxaudit explain` with the strength.",
        ),
        "conclusive": (
            "False where a check did not come to an end, so that its status proves nothing.",
            "I/O errors, files that change, size limits.",
            "See `ctxaudit explain inconclusive`.",
        ),
        "quiescence": (
            "Which guard held while the source was read, against somebody who writes to it.",
            "Leased or stat; null where nothing was read.",
            "See `ctxaudit explain leased`.",
        ),
        "native_id": (
            "The format's own id of a record of another agent's transcript.",
            "The record was found by its ordinal, which the pointer holds.",
            "Keep it with the pointer: an ordinal moves when a transcript is cut, an id does not.",
        ),
        "cited_by": (
            "Every place that rests on the source: file, item, session and claim.",
            "Empty for pointers that were named on the command line or stand on standard input.",
            "Where the source is not available, treat these claims as unproven.",
        ),
        "interrupted": (
            "True where the run was stopped before its end.",
            "SIGINT (Ctrl-C).",
            "Run again.",
        ),
        "sandboxed": (
            "True where all of it was read in a process that could do nothing but read.",
            "Asked for by --sandbox; where a kernel cannot do it, that ends with exit code 2.",
            "Nothing.",
        ),
        "weakened_by_environment": (
            "Variables of the environment with which evidence may pass that would not otherwise.",
            "CTXAUDIT_FAIL_ON, CTXAUDIT_POLICY, CTXAUDIT_TRANSCRIPT_ROOT and the like are set.",
            "Unset them, if the verdict is not meant to depend on them.",
        ),
    },
    "format": {
        "console": (
            "The report for a person: boxes at a terminal, plain lines elsewhere.",
            "Chosen by --format console, or no --format.",
            "Nothing.",
        ),
        "json": (
            "The whole report as one JSON document, `ctxaudit.report/1`.",
            "Chosen by --format json.",
            "Read its schema: `ctxaudit schema report`.",
        ),
        "ndjson": (
            "A line of JSON for each result, as they come; the rest follows.",
            "Chosen by --format ndjson.",
            "Tell lines apart by key: pointer, finding, transcript, reference, waiver or run.",
        ),
        "plain": (
            "Columns for a person or a shell: a line for each result.",
            "Chosen by --format plain, or no --format, where a command prints no report.",
            "Nothing.",
        ),
        "sarif": (
            "The report as SARIF 2.1.0, for code scanning services and editors.",
            "Chosen by --format sarif.",
            "Upload it, or open it in an editor: each result leads to its file and line.",
        ),
        "claude-code": (
            "Transcripts of Claude Code: a file of lines a session, one more a sub-agent.",
            "Chosen by --as claude-code; <session>.jsonl below projects/.",
            "Nothing.",
        ),
        "codex": (
            "Rollouts of Codex: a file of lines a session, also compressed.",
            "Chosen by --as codex; rollout-<time>-<id>.jsonl below sessions/.",
            "Nothing.",
        ),
        "gemini-cli": (
            "Sessions of Gemini CLI: one JSON document, or lines with updates and rewinds.",
            "Chosen by --as gemini-cli; session-<time>.json below chats/.",
            "Nothing.",
        ),
        "openai-agents": (
            "Sessions of the OpenAI Agents SDK in an SQLite database.",
            "Chosen by --as openai-agents; the file that SQLiteSession was given.",
            "Nothing.",
        ),
        "openhands": (
            "Conversations of OpenHands: a folder with a file for each event, or lines.",
            "Chosen by --as openhands; event-<number>-<id>.json below events/.",
            "Nothing.",
        ),
        "inspect": (
            "Logs of Inspect: a zip archive, or one JSON document.",
            "Chosen by --as inspect; <time>_<task>_<id>.eval below logs/.",
            "Nothing.",
        ),
        "dsh": (
            "Session logs of DeepSeek Harness: lines, some of which stand for several events.",
            "Chosen by --as dsh; session.jsonl in the folder of a session.",
            "Nothing.",
        ),
        "native": (
            "The format of our own transcripts: one JSON object a line, in an envelope.",
            "Chosen by --as native, and `format` of a checked transcript.",
            "Nothing.",
        ),
    },
    "color": {
        "auto": (
            "Colour and boxes at a terminal, unless NO_COLOR forbids colour.",
            "Chosen by --color auto, or no --color.",
            "Nothing.",
        ),
        "always": (
            "Colour and boxes, also into a pipe or file.",
            "Chosen by --color always.",
            "Nothing.",
        ),
        "never": (
            "No colour; boxes at a terminal all the same.",
            "Chosen by --color never.",
            "Nothing.",
        ),
    },
}
