"""Pages for the exit codes of the command.

Guarantees: a page for each exit code of spec 05.

Example:
    >>> EXIT_PAGES["14"][0]
    'Corrupt: some evidence is not what was cited.'
"""

from __future__ import annotations

from provenance.audit._page import Page

__all__ = ["EXIT_PAGES"]

EXIT_PAGES: dict[str, Page] = {
    "0": (
        "Every source that was checked is available.",
        "Also with --exit-zero, or where --fail-on leaves out the states that were found.",
        "Nothing.",
    ),
    "1": (
        "The tool itself failed; there is no verdict.",
        "A report could not be written, or a defect of ctxaudit.",
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
            "--exit-zero does not change it."
        ),
        "Check the target: a build that verifies nothing must not pass.",
    ),
    "4": (
        "Inconclusive: some checks did not come to an end.",
        "A disk or network error, a file that is being written, a size limit.",
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
        "Corrupt: some evidence is not what was cited.",
        (
            "Altered bytes, damaged transcripts, garbled pointers. Also findings of severity "
            "error, unreadable states, and evidence weaker than --min-strength."
        ),
        "See `ctxaudit explain corrupt`.",
    ),
    "130": (
        "Interrupted: the run was stopped before its end.",
        "SIGINT (Ctrl-C). What was verified is in the report, the rest is counted as not checked.",
        "Run again.",
    ),
}
