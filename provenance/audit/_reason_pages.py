"""Pages for the reasons of the five states.

Guarantees: a page for each reason of `provenance.resolution`.

Example:
    >>> REASON_PAGES["policy_denied"][0]
    'The policy does not let this caller rest on this source.'
"""

from __future__ import annotations

from provenance.audit._page import Page

__all__ = ["REASON_PAGES"]

_REWRITTEN = "Restore the transcript from a backup; treat what rests on it as unproven."

REASON_PAGES: dict[str, Page] = {
    "verified_transcript_event": (
        "The event stands at its place in a transcript that is sound up to there.",
        "Every record from the first to the cited one was read and checked.",
        "Nothing.",
    ),
    "verified_artifact": (
        "The file's bytes have the digest that the pointer carries.",
        "The whole file was read and hashed.",
        "Nothing.",
    ),
    "transcript_missing": (
        "There is no transcript of that session.",
        "It was deleted or moved, the root is another one, or the session never existed.",
        "Check --transcript-root; restore the file; or drop the claim.",
    ),
    "transcript_event_missing": (
        "The transcript is sound and ends before the cited event.",
        "Its last records were cut off, or the pointer names an event that never happened.",
        "Compare with a backup: a transcript only grows.",
    ),
    "artifact_missing": (
        "There is no artifact of that name in that session.",
        "It was deleted or moved, or the root is another one.",
        "Check --artifact-root; restore the file; or drop the claim.",
    ),
    "source_disappeared": (
        "The source was there and went away while it was being read.",
        "Something deletes or replaces files during the audit.",
        "Run again; find out what deletes evidence.",
    ),
    "removed_by_retention": (
        "The artifact was removed on purpose, and the ledger says so.",
        "A retention rule removed it because nothing cited it at that time.",
        "Nothing can bring it back but a backup; cite what must be kept.",
    ),
    "policy_denied": (
        "The policy does not let this caller rest on this source.",
        "A rule with effect deny matched, or the default is deny. No file was looked at.",
        (
            "Whoever wrote the policy decides. Which rule it was: verify --decisions, or "
            "ctxaudit policy test with the pointer."
        ),
    ),
    "policy_error": (
        "The policy could not decide, so the answer is no.",
        "The authorization callable raised or gave something other than True or False.",
        "Repair the callable; it has to return True, return False or raise PermissionError.",
    ),
    "refused_by_policy": (
        "The policy refuses this kind of evidence.",
        (
            "A `refuse` list names it: a short digest, or a file that has hard links, belongs to "
            "another user, or may be written to by others (its folders and root, too). Or it is a "
            "transcript of a format that the home's own ctxaudit.toml does not name in `formats`."
        ),
        (
            "Cite a full digest; make the file and its folders your own, with one name and go-w; "
            "name the format, if the home is to hold it."
        ),
    ),
    "filesystem_denied": (
        "The operating system does not let this process read the source.",
        "File permissions, a security module, or another owner.",
        "Run as a user who may read it, or correct the permissions.",
    ),
    "ownership_boundary": (
        "The path to the source leaves its owner's place.",
        (
            "A symbolic link, a mount, a name that the file system stores in another spelling, "
            "or a session named like a home's own folder."
        ),
        "Find out who put it there. Evidence has to be a plain file in its session's folder.",
    ),
    "malformed_pointer": (
        "The text is no source pointer.",
        "A typo, a cut-off digest, white space, or a name outside the grammar.",
        "Cite transcript:<session>:<sequence> or artifact:<session>:<file>:<12 or 64 hex digits>.",
    ),
    "transcript_not_a_file": (
        "Something other than a regular file stands where the transcript belongs.",
        "A folder, pipe, socket or device has its name.",
        "Put the transcript back; find out who replaced it.",
    ),
    "transcript_record_too_large": (
        "A record up to the cited one is longer than the limit.",
        "Large output was written into the transcript, or a line end is missing.",
        "Spill large results as artifacts. The limit is part of the check: see ctxaudit.toml.",
    ),
    "transcript_invalid_json": (
        "A record up to the cited one is no valid JSON.",
        "A torn or welded line, a blank line, NaN, duplicate keys, or an edit.",
        _REWRITTEN,
    ),
    "transcript_record_not_object": (
        "A record up to the cited one is JSON and no object.",
        "Something other than a transcript writer wrote to the file.",
        _REWRITTEN,
    ),
    "transcript_sequence_mismatch": (
        "A record up to the cited one has a number that is not its place.",
        "Records were removed, inserted or put in another order.",
        _REWRITTEN,
    ),
    "transcript_session_mismatch": (
        "A record up to the cited one belongs to another session.",
        "Two transcripts were mixed, or a file was renamed.",
        _REWRITTEN,
    ),
    "transcript_event_id_mismatch": (
        "A record's event id is not the one that its session and number give.",
        "Records were copied or edited.",
        _REWRITTEN,
    ),
    "source_not_utf8": (
        "The transcript holds bytes that are no UTF-8 up to the cited record.",
        "Damage, an edit in another encoding, or a character cut in two.",
        _REWRITTEN,
    ),
    "artifact_not_a_file": (
        "Something other than a regular file stands where the artifact belongs.",
        "A folder, pipe, socket or device has its name.",
        "Put the artifact back; find out who replaced it.",
    ),
    "artifact_not_utf8": (
        "The artifact holds bytes that are no UTF-8, in a store of texts.",
        "Damage, or bytes were stored that are no text.",
        "Compare with a backup; keep binary data in a store of its own.",
    ),
    "artifact_digest_mismatch": (
        "The file's bytes are not the ones that were cited.",
        "The file was edited, damaged or replaced after the pointer was made.",
        (
            "Compare the file with a backup and look at who wrote it last; do not trust what rests "
            "on it."
        ),
    ),
    "artifact_too_large": (
        "The artifact is larger than the limit, so it was not read.",
        "max_artifact_bytes is set in ctxaudit.toml or by the program.",
        "Raise the limit if the size is expected. Nothing is known about the bytes.",
    ),
    "pinned_digest_mismatch": (
        "The bytes differ from those that a lock file recorded.",
        "The evidence was altered after it was pinned.",
        (
            "Look at the history of the lock file and of the source. If the new bytes are right, "
            "`ctxaudit pin --update` pins them."
        ),
    ),
    "seal_mismatch": (
        "The digest is not the one that a signed log proves.",
        "The evidence, or the log, was altered after it was sealed.",
        "Check the log with its public key; look for another copy of the checkpoint.",
    ),
    "source_changed_during_read": (
        "The source changed each time it was read.",
        "Something is writing to it. Nothing is proved either way.",
        "Run again when the writer is done.",
    ),
    "source_read_failed": (
        "The machine could not read the source.",
        "An I/O error, too many open files, a network file system that went away.",
        "Repair the cause and run again; it is no proof of tampering.",
    ),
    "unsupported_scheme": (
        "The text before the first colon is no kind of source known here.",
        "Another system's identifier (memory:..., https:...) was cited as evidence.",
        "Cite a transcript event or an artifact; spill what lies elsewhere.",
    ),
}
