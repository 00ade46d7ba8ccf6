"""Pages for what is found when a home is held against its seals.

Guarantees: a page for each code of a log's faults and of a home's differences; a test asks the code
that gives them.

Example:
    >>> SEAL_PAGES["seal_fork"][0]
    'There are two histories: one size of the log with two roots.'
"""

from __future__ import annotations

from provenance.audit._page import Page

__all__ = ["SEAL_PAGES"]

_ASK = "Ask who keeps the home; compare with a copy from before."
_REWRITTEN = (
    "Take the home as rewritten; look for a copy whose log is sound, and for who could write here."
)
_SEAL_AGAIN = (
    "If it was changed on purpose, run `ctxaudit seal` again: it becomes a further version."
)

SEAL_PAGES: dict[str, Page] = {
    "seals_missing": (
        "A seal was asked for, and the target has none.",
        "No checkpoint lies in seals/: never sealed, or removed; or the target is no state home.",
        "If it was sealed once, take it as rewritten. Else run `ctxaudit seal`.",
    ),
    "seals_unreadable": (
        "The folder of the seals cannot be read.",
        "A link, a file, a pipe or a folder without permission stands where seals/ belongs.",
        _ASK,
    ),
    "seal_checkpoint_missing": (
        "A checkpoint in the middle of the log is gone.",
        "It was removed or renumbered: later ones are still there, or the one you hold is not.",
        _REWRITTEN,
    ),
    "seal_checkpoint_invalid": (
        "A checkpoint is damaged: it is no signed note.",
        "Its file was cut, edited or replaced.",
        _ASK,
    ),
    "seal_key_unknown": (
        "A checkpoint is not signed by the key that was given.",
        "The wrong key was named, or somebody sealed with a key of their own.",
        "Get the key from whoever seals, not from the home; then ask again.",
    ),
    "seal_signature_invalid": (
        "A checkpoint carries the key's name and a signature that is not the key's.",
        "The text or the signature was altered after it was signed.",
        _REWRITTEN,
    ),
    "seal_other_log": (
        "A checkpoint is of another log.",
        "Its origin differs from that of the log, or of the checkpoint that is held.",
        "Look whether the right home and the right held checkpoint were named.",
    ),
    "seal_rolled_back": (
        "A later checkpoint has no more entries than the one before it.",
        "An old checkpoint was put in the place of a newer one.",
        _REWRITTEN,
    ),
    "seal_fork": (
        "There are two histories: one size of the log with two roots.",
        "The log was begun anew at some point and signed again.",
        "Whoever holds the key signed both, or lost it. Ask for both histories.",
    ),
    "seal_leaves_missing": (
        "The entries of a seal are gone, or are fewer or more than the checkpoint says.",
        "The file of entries beside the checkpoint was removed, cut or extended.",
        _ASK,
    ),
    "seal_leaves_invalid": (
        "An entry of the log is none.",
        "The file of entries was edited, or written by another program.",
        _ASK,
    ),
    "seal_inconsistent": (
        "The signed root is not that of the entries: the log was rewritten.",
        "Entries were edited, or the checkpoint belongs to another history than those before it.",
        _REWRITTEN,
    ),
    "seal_older_than_held": (
        "The newest seal is older than the checkpoint that you hold.",
        "The home was set back to an earlier state, with its log.",
        _REWRITTEN,
    ),
    "seal_unfinished": (
        "Entries lie in the log that no checkpoint covers.",
        "A run of seal was killed or came second; or the newest checkpoint was removed.",
        "Nothing, if that is so; --seal-checkpoint with one from another day tells.",
    ),
    "seal_file_unknown": (
        "A file in seals/ is neither checkpoint nor entries.",
        "Somebody put it there; the message names the first ones. Numbers have six digits, from 1.",
        "Remove it, if nobody needs it.",
    ),
    "seal_not_compared": (
        "Something that is sealed could not be compared with its seal.",
        "The machine could not read it (permission, disk), or no seal would take it as it is.",
        "Give permission, or repair it; the exit code is that of inconclusive until then.",
    ),
    "seal_not_asked": (
        "Something that is sealed was not compared, since your policy denies it.",
        "A rule of --policy covers its session, or it. Told once, by number and without names.",
        "Nothing, if your policy is meant to; what it denies is compared only without that rule.",
    ),
    "sealed_event_edited": (
        "An event of a transcript has other bytes than when it was sealed.",
        "Its line was edited, or lines were inserted or removed before it.",
        _REWRITTEN,
    ),
    "sealed_events_removed": (
        "A transcript has fewer events than when it was sealed.",
        "Its tail was cut off, or the file was removed or replaced by a link.",
        _REWRITTEN,
    ),
    "sealed_pool_rewritten": (
        "What sealed events refer to in their log is another one than when it was sealed.",
        "A pooled message, a raw call or an attachment of an Inspect sample was edited or removed.",
        _REWRITTEN,
    ),
    "sealed_ledger_line_edited": (
        "A line of an artifact ledger is another one than when it was sealed.",
        "An artifact was swapped together with the ledger line that describes it, or lines moved.",
        _REWRITTEN,
    ),
    "sealed_ledger_lines_removed": (
        "An artifact ledger has fewer lines than when it was sealed.",
        "Its tail was cut off, or the ledger was removed.",
        _REWRITTEN,
    ),
    "sealed_artifact_altered": (
        "An artifact, cited or not, has other bytes than when it was sealed.",
        "The file was edited or replaced, whatever later lines of its ledger say of it.",
        _REWRITTEN,
    ),
    "sealed_artifact_removed": (
        "A sealed artifact is gone, or to be gone, and a ledger line says that it was removed.",
        "An error where no seal covers that line: `gc` removes nothing sealed. Else a warning.",
        "Ask who removed it. If it was right, `ctxaudit seal --accept-removed` seals the removal.",
    ),
    "ledger_line_untrue": (
        "A ledger line that is to be sealed does not say what lies there.",
        "The artifact was deleted or altered, or somebody wrote the line. Nothing was sealed.",
        "Restore the artifact; or take the line away, or note `removed`, while no seal covers it.",
    ),
    "sealed_artifact_missing": (
        "A sealed artifact, cited or not, is gone, and no ledger line with its digest says so.",
        "It was deleted by hand, not by `ctxaudit gc`; or a link, folder or pipe is in its place.",
        _ASK,
    ),
    "sealed_state_changed": (
        "A state or receipt is another one than its latest sealed version.",
        "It was edited, set back to an older version, or put back after it was sealed as gone.",
        "If on purpose, run `ctxaudit seal` again. Bytes never sealed, after a removal, are new.",
    ),
    "sealed_state_removed": (
        "A state or receipt that was sealed is gone.",
        "The file was deleted after the last seal.",
        _SEAL_AGAIN,
    ),
    "sealed_state_versions_rewritten": (
        "A store has not every version of a state as it was sealed.",
        "A version was edited, removed or renumbered, or the store is damaged, a link or gone.",
        _REWRITTEN,
    ),
    "sealed_lock_entry_changed": (
        "An entry of the lock file is another one than its latest sealed version.",
        "The pin was rewritten after the last seal.",
        _SEAL_AGAIN,
    ),
    "sealed_lock_entry_removed": (
        "An entry of the lock file that was sealed is gone.",
        "The pin, or the whole lock file, was removed after the last seal.",
        _SEAL_AGAIN,
    ),
    "not_sealed": (
        "No seal covers this.",
        "A warning: the next seal covers it. An error: the next seal would not cover it, either.",
        "Run `ctxaudit seal`; with --min-strength sealed each cited source has to be covered.",
    ),
    "nothing_to_seal": (
        "There is nothing in this home that a seal would cover.",
        "No transcript, ledger, state, receipt or lock file lies there.",
        "Look whether the right folder was named.",
    ),
    "seal_refused": (
        "The home or its log is not what was sealed before, so nothing was signed.",
        "Each fault is named, with a code of its own.",
        "Look up those codes; `ctxaudit verify --seal` tells the same of the home.",
    ),
    "seal_name_taken": (
        "Other bytes lie under the name that the entries of the next seal need.",
        "Somebody put them there; a killed run would have left the very same entries.",
        "Remove the file that is named, and run `ctxaudit seal` again.",
    ),
    "seal_contended": (
        "Other runs of seal came first each time.",
        "Several programs seal one home, again and again.",
        "Run it again; what the others sealed holds.",
    ),
    "proof_invalid": (
        "A proof does not lead to the root of its checkpoint.",
        "The proof, the entry in it or the checkpoint was altered, or they belong to others.",
        "Ask for a new proof: `ctxaudit log prove`.",
    ),
    "attestation_invalid": (
        "A file is no attestation of ctxaudit, or was altered in its form.",
        "Another payload type or predicate, unknown fields, a key twice, or damage.",
        "Ask for the file again; verify --attest writes it.",
    ),
    "attestation_key_unknown": (
        "An attestation is not signed by the key that was given.",
        "The wrong key was named, or somebody else signed.",
        "Get the key from whoever ran the audit.",
    ),
    "attestation_signature_invalid": (
        "An attestation carries the key's id and a signature that is not the key's.",
        "What it says was altered after it was signed.",
        "Do not rely on it; ask for the file again.",
    ),
    "attestation_report_mismatch": (
        "The attestation holds, and the report at hand is another one.",
        "The report was edited, or is of another run.",
        "Ask for the report of that run.",
    ),
    "proof_evidence_mismatch": (
        "The proof holds, and the bytes at hand are others than those it proves.",
        "The evidence was altered, or it is another file.",
        "Get the bytes with `ctxaudit show POINTER --raw`.",
    ),
}
