"""Pages for findings: what is noticed beside the five states.

Guarantees: a page for each finding code that this version can give; a reason that is found in a
transcript which is checked whole has its page among the reasons.

Example:
    >>> FINDING_PAGES["state_unreadable"][0]
    'A state file of the home cannot be read, so nobody knows what it rests on.'
"""

from __future__ import annotations

from provenance.audit._page import Page

__all__ = ["FINDING_PAGES"]

FINDING_PAGES: dict[str, Page] = {
    "state_unreadable": (
        "A state file of the home cannot be read, so nobody knows what it rests on.",
        (
            "It is no JSON, breaks the schema, is a link, or may not be read. In the state store "
            "(`states/states.sqlite3`, with `NAME@VERSION` behind it): it is damaged, was altered, "
            "or a newer ctxaudit wrote it."
        ),
        "Read the message: it names the field. `ctxaudit schema state` prints the schema.",
    ),
    "receipt_unreadable": (
        "A receipt of the home cannot be read, so nobody knows where the texts it names went.",
        "It is no JSON, breaks the schema, is a link, or may not be read.",
        "Read the message: it names the field. `ctxaudit schema receipt` prints the schema.",
    ),
    "config_invalid": (
        "The target's own ctxaudit.toml is not understood; nothing of it was applied.",
        (
            "A typo, an unknown key, a rule that cannot be enforced. It may have held a rule that "
            "denies, so this counts as an error."
        ),
        "Correct the key that the message names, or remove the file.",
    ),
    "untrusted_config_ignored": (
        "The target tried to choose or soften its own audit; that part changed nothing.",
        "Its ctxaudit.toml names roots, allow rules, waivers or higher limits.",
        "Give them as options of the command if they are yours; else ask who wrote them.",
    ),
    "evidence_too_weak": (
        "The evidence is available but proves less than --min-strength asks for.",
        "A short digest; an event, whose words no digest binds; a source that no pin or seal has.",
        "Cite artifacts by full digests (full), run `ctxaudit pin` (pinned) or `ctxaudit seal`.",
    ),
    "folder_unreadable": (
        "A folder of the home could not be listed, so what lies in it was not counted.",
        "A link or mount in its place, or permissions.",
        "Correct the permissions, or put a plain folder there.",
    ),
    "folder_too_deep": (
        "Folders lie deeper in a tree than are looked into; what they hold was not checked.",
        "Nobody keeps transcripts there: a mistake, or a tree made to be endless.",
        "Name the folder itself as a target.",
    ),
    "link_not_followed": (
        "A link lies in a tree of transcripts; what it leads to was not looked at.",
        "Somebody keeps a folder elsewhere, or wants it to be found here.",
        "Name what it leads to as a target, if that is yours.",
    ),
    "format_rejected": (
        "An installed package brings a transcript format that is of no use; it was not asked.",
        "It could not be loaded, is no format, or takes the name of another one.",
        "Tell whoever keeps that package, or remove it.",
    ),
    "format_failed": (
        "A transcript format from outside failed; what it had read of the file is told.",
        "A fault in the package that brings the format, not in the transcript.",
        "Tell whoever keeps that package; --as takes another format.",
    ),
    "unaddressable_file": (
        "A file has a name that no pointer can hold; it was not checked.",
        "A copy made by hand, a file of another program, or a name made to hide it.",
        "Rename it or take it away: letters, digits, dot, underscore and hyphen.",
    ),
    "artifact_not_in_ledger": (
        "An artifact that nothing cites stands in no ledger, so there is no digest to check.",
        "It was put there by something other than the spill store, or the ledger was cut.",
        "Spill it again, or find out where it came from.",
    ),
    "not_an_artifact": (
        "Something other than a regular file lies among the artifacts of a session.",
        "Somebody put a link, a folder or a pipe there; the spill store never does.",
        "Take it away; find out who put it there.",
    ),
    "ledger_not_transcript": (
        "An artifact ledger stands where transcripts are looked for; it was not checked.",
        "A session's folder was named in place of its home, or the ledger was copied.",
        "Name the home. Put nothing but transcripts into a folder of transcripts.",
    ),
    "home_not_checked": (
        "A state home lies below what was named; what its states cite was not checked.",
        (
            "A folder of homes was named, or a home lies in another one. In a tree only "
            "transcripts are looked for, in a home only what is its own."
        ),
        "Name the home itself; several may be named. Its parent may stand beside it.",
    ),
    "envelope_field_absent": (
        "A transcript record lacks a field of its envelope; the rest of it is in order.",
        "An older writer left out sequence, session_id or event_id.",
        "Nothing for old transcripts. A new one without them is not written by our writer.",
    ),
    "schema_version_unknown": (
        "A transcript record has another schema version than 1, or none.",
        "An older or newer writer, or one that is not ours.",
        "Check which program writes the transcript.",
    ),
    "recorded_at_invalid": (
        "A transcript record has no valid time.",
        "The field recorded_at is absent, is no ISO 8601 time or has no zone.",
        "Check the program that writes the transcript; its order is verified all the same.",
    ),
    "ledger_unreadable": (
        "The ledger of a session could not be read; artifacts that nothing cites went unchecked.",
        "A link or mount in its place, permissions, an I/O error.",
        "Put a plain file there and run again.",
    ),
    "ledger_line_invalid": (
        "A line of an artifact ledger is no entry.",
        "Damage, or an edit.",
        "Compare with a backup. Pointers are checked against files, not against the ledger.",
    ),
    "ledger_line_too_long": (
        "A line of an artifact ledger is longer than the limit and was passed over.",
        "Damage, or line ends that were removed.",
        "Compare with a backup.",
    ),
    "ledger_line_torn": (
        "The last line of an artifact ledger has no end.",
        "A writer was killed, or is writing at this moment.",
        "The next spill into the session repairs it.",
    ),
    "hard_link": (
        "A verified file of this session has more than one name in the file system.",
        "Somebody made a hard link: the bytes can be changed through the other name.",
        "Copy the file and replace it, if the other name is not yours.",
    ),
    "foreign_owner": (
        "A verified file of this session belongs to another user than the one who checks.",
        "The audit runs under another account than the agent did.",
        "Nothing, if that is as it should be.",
    ),
    "root_writable_by_others": (
        "Other users may write to a root, and so may replace what lies below it.",
        "The folder's mode has write permission for its group or for everybody.",
        "chmod go-w on the root, unless the group is meant to write there.",
    ),
}
