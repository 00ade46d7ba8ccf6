"""Pages for the five states and for what an `available` proves.

Guarantees: a page for each state, for what is counted beside them, and for each strength.

Example:
    >>> STATE_PAGES["missing"][0]
    'The evidence is not there any more, or never was.'
"""

from __future__ import annotations

from provenance.audit._page import Page

__all__ = ["STATE_PAGES", "STRENGTH_PAGES"]

STATE_PAGES: dict[str, Page] = {
    "available": (
        "The evidence is there and was verified just now.",
        "Its owner, place, structure and (for artifacts) its digest are all as cited.",
        "Nothing. How much it proves is its strength: see `ctxaudit explain position`.",
    ),
    "missing": (
        "The evidence is not there any more, or never was.",
        "A file or event was deleted, the session was moved, or the pointer was made up.",
        "Restore the file from a backup, or treat every claim that rests on it as unproven.",
    ),
    "denied": (
        "The evidence may not be read here, so nothing is said about it.",
        "A policy, file permissions, or a link or mount that leads out of its place refuse.",
        "Ask as a tenant who may read it, or find out who put a link where a file belongs.",
    ),
    "corrupt": (
        "What is there is not what was cited: it was altered, damaged, or the pointer is garbled.",
        (
            "Bytes were changed after they were cited, a write was cut short, a disk failed, or "
            "somebody tampered."
        ),
        "Do not trust what rests on it. Compare with a backup; find out who wrote last.",
    ),
    "unsupported": (
        "The pointer names a kind of source that nothing here can check.",
        "Its scheme is neither `transcript` nor `artifact`.",
        "Cite a transcript event or an artifact instead; spill what lies elsewhere.",
    ),
    "inconclusive": (
        "Inconclusive: some checks did not come to an end.",
        (
            "A disk or network error, a file that is being written, a size limit. In a result the "
            "status is then `corrupt` with `conclusive` false; it is counted as this alone."
        ),
        "Run again when the source is quiet; it is no proof of tampering.",
    ),
}

STRENGTH_PAGES: dict[str, Page] = {
    "position": (
        "The event stands at the cited place of a sound transcript; its words are not bound.",
        "The pointer of a transcript event carries no digest.",
        (
            "Compare the SHA-256 in the report with one from an earlier report, or spill what "
            "has to be bound and cite the artifact."
        ),
    ),
    "prefix": (
        "The first 12 hex digits of the digest match.",
        (
            "The pointer carries a short digest. Two files with equal short digests can be made "
            "on purpose in minutes."
        ),
        "Cite the full digest; refuse short ones with --min-strength full or a policy.",
    ),
    "full": (
        "The whole SHA-256 matches: these are the bytes that were cited.",
        "The pointer carries 64 hex digits.",
        "Nothing.",
    ),
    "pinned": (
        "The bytes match the digest in a lock file.",
        "A lock file recorded the evidence when it was confirmed.",
        "Nothing.",
    ),
    "sealed": (
        "The digest is proved by a signed log.",
        "A seal covers the evidence.",
        "Nothing.",
    ),
}
