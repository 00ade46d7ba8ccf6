"""Pages for the exit codes of the command.

Guarantees: a page for each exit code of spec 05.

Example:
    >>> EXIT_PAGES["14"][0]
    'Corrupt: some evidence is not what was cited, or something else that counts as that.'
"""

from __future__ import annotations

from provenance.audit._page import Page

__all__ = ["EXIT_PAGES"]

EXIT_PAGES: dict[str, Page] = {
    "0": (
        "Nothing that counts is wrong: what was checked is available, unless an option says less.",
        (
            "All of it was verified. Or --exit-zero was given, or --fail-on leaves out the states "
            "that were found; then the last line of the console report says so."
        ),
        "Nothing. With one of the two options, read the counts.",
    ),
    "1": (
        "The tool itself failed; there is no verdict.",
        (
            "A report could not be written, the store of compact --spill failed, or a defect of "
            "ctxaudit."
        ),
        "Read the line on standard error. CTXAUDIT_DEBUG=1 shows where it failed.",
    ),
    "2": (
        "The command line or a named file cannot be used; nothing was verified.",
        (
            "A typo, a target that is not there, a policy that is not understood, roots that "
            "nobody named."
        ),
        "Read the line on standard error: it names the option or file and what was expected.",
    ),
    "3": (
        "Nothing was verified: there was nothing to verify.",
        (
            "An empty home, no pointers on standard input, a text without pointers. "
            "--exit-zero does not change it. Of `compact`: the messages are still at the hard "
            "limit."
        ),
        "Check the target: a build that verifies nothing must not pass.",
    ),
    "4": (
        "Inconclusive: some checks did not come to an end.",
        (
            "A disk or network error, a file that is being written, a size limit. Of `compact`: "
            "the transcript changed while it was read."
        ),
        "Run again when the source is quiet; it is no proof of tampering.",
    ),
    "11": (
        "Unsupported: some pointers name a kind of source that nothing here can check.",
        "A scheme other than `transcript` and `artifact`.",
        "See `ctxaudit explain unsupported`.",
    ),
    "12": (
        "Missing: some evidence is not there.",
        "Files or events were deleted or never existed.",
        "See `ctxaudit explain missing`.",
    ),
    "13": (
        "Denied: some evidence may not be read here.",
        "Policy, permissions, links or mounts.",
        "See `ctxaudit explain denied`.",
    ),
    "14": (
        "Corrupt: some evidence is not what was cited, or something else that counts as that.",
        (
            "Altered bytes, damaged transcripts, garbled pointers. Also findings of severity "
            "error, unreadable states, and evidence weaker than --min-strength. Of `compact`: "
            "calls and results do not pair, or a receipt does not account for the messages."
        ),
        "See `ctxaudit explain corrupt`; the findings name what is no evidence.",
    ),
    "130": (
        "Interrupted: the run was stopped before its end.",
        "SIGINT (Ctrl-C). What was verified is in the report, the rest is counted as not checked.",
        "Run again.",
    ),
}
