"""Pages for the reports of builds, and for what rests on a source.

Guarantees: as `_word_pages`, whose families these belong to where they have the same name.

Example:
    >>> sorted(CONSEQUENCE_PAGES["format"])
    ['github', 'html', 'junit', 'markdown']
"""

from __future__ import annotations

from provenance.audit._page import Page

__all__ = ["CONSEQUENCE_PAGES"]

CONSEQUENCE_PAGES: dict[str, dict[str, Page]] = {
    "format": {
        "html": (
            "The report as one HTML page, for people: verdict, what to do, and everything below.",
            "Chosen by --format html.",
            "Open it in a browser, or hand it on. It asks nothing of any network.",
        ),
        "junit": (
            "The report as JUnit XML: a case for each source and finding, a suite for each target.",
            "Chosen by --format junit.",
            "Hand it to the server that shows test results. What a waiver covers is skipped there.",
        ),
        "github": (
            "The report as annotations of GitHub Actions: one workflow command a line.",
            "Chosen by --format github.",
            "Run it in a step. GitHub shows ten of each level; the last line counts all.",
        ),
        "markdown": (
            "The report as Markdown: verdict, numbers, what is wrong and what rests on it.",
            "Chosen by --format markdown.",
            "Append it to $GITHUB_STEP_SUMMARY or post it as a comment: it fits both.",
        ),
    },
    "field": {
        "denied_why": (
            "The reason that a rule of the operator's own policy gives for denying a source.",
            "The rule that decided has a `why`. A target's rule gives none here.",
            "See `ctxaudit policy test`: it names the rule and its line.",
        ),
        "tenant": (
            "Who asked, for rules of a policy that tell tenants apart.",
            "Given by --as-tenant.",
            "Nothing. Another tenant may rest on other sources.",
        ),
        "consequences": (
            "All that rests on a source that is not available, through every step.",
            "States, receipts and texts cite it; summaries stand for blocks that do.",
            "Look at each of them again, or drop what it claims.",
        ),
        "consequences_left_out": (
            "How many consequences are known beyond those that are listed, at least.",
            "A source lists 1,000 at most, and a run follows 200,000 steps.",
            "Verify the source alone (--pointer), with the home that cites it.",
        ),
    },
    "consequence": {
        "fact": (
            "A fact of a state that rests on the source.",
            "Its source pointer is that source.",
            "Confirm it from another source, or drop it.",
        ),
        "pending_item": (
            "An open task of a state that rests on the source.",
            "Its source pointer is that source.",
            "Find out whether anybody still wants it.",
        ),
        "evidence": (
            "A memory that was retrieved, which names the source as its own.",
            "Its source id is a pointer to that source.",
            "Do not rely on the memory.",
        ),
        "summary": (
            "A summary in a compacted history that stands for a text kept in the source.",
            "A receipt says so by digests: of the texts, or of an earlier summary of them.",
            "What the summary says can no longer be compared with its texts.",
        ),
        "request": (
            "A request that was sent to a model and held what rests on the source.",
            "A snapshot of the request says what was in it.",
            "See what the model did after it.",
        ),
        "pin": (
            "A pin of a lock file that names the source.",
            "Written by `ctxaudit pin` when the source was there.",
            "Bring the source back; or run `ctxaudit pin --update` where nothing rests on it.",
        ),
    },
}
