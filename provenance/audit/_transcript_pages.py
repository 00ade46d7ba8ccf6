"""Pages for what is found in transcripts: lines, ids, calls, sessions, references.

Guarantees: a page for each code that the adapters and the checks behind them can give. Each names
what looks like it and is none; `tests/data/findings` holds a sample of both.

Example:
    >>> TRANSCRIPT_PAGES["welded_records"][0]
    'Two or more records stand on one line, without a line end between them.'
"""

from __future__ import annotations

from provenance.audit._page import Page

__all__ = ["TRANSCRIPT_PAGES"]

_RESTORE = "Compare with a copy. `ctxaudit transcript repair` sets such bytes aside in a new file."

TRANSCRIPT_PAGES: dict[str, Page] = {
    # Lines
    "welded_records": (
        "Two or more records stand on one line, without a line end between them.",
        "A writer added to a file whose last line had no end. All records are read and counted.",
        "Have `ctxaudit transcript repair` write a new file with a line for each.",
        "The characters `}{` inside a text weld nothing.",
    ),
    "torn_line": (
        "A line holds the beginning of a record and no end.",
        "The writer was killed, the disk was full, or somebody cut the file.",
        _RESTORE,
        "A whole last record without a line end has no_final_newline alone.",
    ),
    "spliced_line": (
        "Another record begins inside a record on one line.",
        "A writer was killed in the middle of a line, and the next one went on there.",
        _RESTORE,
        'The characters `{"` inside a text begin no record.',
    ),
    "nul_line": (
        "A line holds NUL bytes, which no JSON text can.",
        "The machine lost power: the file's length was written and its bytes were not.",
        _RESTORE,
        "The escape `\\u0000` in a text is legal JSON.",
    ),
    "invalid_line": (
        "A line is no record: blank, no JSON, no object, a key twice, or no UTF-8.",
        "An edit, a program that is no agent, or damage of another kind.",
        _RESTORE,
        "White space around a record, and lines that end in CR LF, are legal.",
    ),
    "no_final_newline": (
        "The last record is whole, and no line end follows.",
        "Some agents write like that. A writer that adds to it would weld two records.",
        "Nothing for reading.",
        "A last line that ends in CR LF has its line end.",
    ),
    "record_over_limit": (
        "A record is longer, or nests deeper, than our limit; it was not looked into.",
        "A huge output, or a file made to exhaust readers. It proves nothing.",
        "Look at the file by hand. Large outputs belong into files of their own.",
        "A record that nests exactly as deep as the limit is read.",
    ),
    # Calls and results
    "interrupted_call": (
        "A tool call has no result, and the conversation goes on after it.",
        "Somebody interrupted the agent, or the record of the result was lost or removed.",
        "Do not take it that the tool ran, or that it did not.",
        "A call with nothing but progress records after it is an open_call.",
    ),
    "open_call": (
        "A tool call at the end of the conversation has no result.",
        "The agent was stopped, or is still at work.",
        "Nothing, if it may still be running.",
        "A call whose result is followed by progress records has been answered.",
    ),
    "orphan_result": (
        "A tool's result answers no call in the file.",
        "The record of the call was removed, or the result was put in.",
        "Compare with a copy: a result that nobody asked for is not evidence of a call.",
        "In the first record of a slice it is a slice_orphan_result.",
    ),
    "slice_orphan_result": (
        "The first record is the result of a call that stands before the file begins.",
        "The file is a slice of a longer transcript.",
        "Find the part before it, if the call matters.",
        "A slice that begins with another record may hold calls and results.",
    ),
    "duplicate_call_id": (
        "Two tool calls have one id, so that nobody can tell whose result is whose.",
        "A faulty writer, a merge of files, or an edit.",
        "Do not rest anything on the results of that id.",
        "A call made twice with the same arguments is two calls, each with its id.",
    ),
    "duplicate_result": (
        "A tool call has more than one result.",
        "A faulty writer, a merge of files, or a result that was put in.",
        "Find out which one the agent saw.",
        "Two calls may have results of the same text.",
    ),
    "result_before_call": (
        "A tool's result stands before its call.",
        "Records were put in another order, or written by several processes.",
        "Compare the times of both records.",
        "Results of parallel calls may come in any order, once all were made.",
    ),
    # Ids and the tree
    "dangling_parent": (
        "A record names a parent that is not in the file.",
        "The parent was removed or lost, or stands on a damaged line.",
        "Compare with a copy: something between these records is gone.",
        "For the first record that has an id it is a slice_start.",
    ),
    "slice_start": (
        "The first record that has an id names a parent that is not in the file.",
        "The file is a slice of a longer transcript, or goes on from another session.",
        "Nothing; find the part before it, if it matters.",
        "A parent that stands further down in the file is there.",
    ),
    "duplicate_id": (
        "A record stands in the file twice, byte for byte.",
        "A writer that tried again, or files that were put together.",
        "Nothing is lost; the copy calls nothing a second time.",
        "A text that is said twice stands in two records, each with its id.",
    ),
    "conflicting_id": (
        "Two records have one id and other bytes.",
        "An edit, or a writer that used an id again. The file or files are named.",
        "Find out which one was written first; cite neither until then.",
        "Gemini CLI writes a message again under its id: that is a record_updated.",
    ),
    "id_in_two_sessions": (
        "A record of another session has the same id, with other bytes.",
        "A session that was resumed or forked copies records of the one before.",
        "Nothing, if the sessions belong together.",
        "Numbers that each file counts anew, as Codex does, are no such ids.",
    ),
    "branch": (
        "Two records follow the same parent: the conversation has branches.",
        "Parallel tool calls, edited prompts, or a session that was rewound.",
        "Nothing.",
        "Two calls, or two results, in one record are one step.",
    ),
    "split_message": (
        "One message of the model stands in several records.",
        "Some agents write a record for each block of a message.",
        "Nothing; its calls are counted together.",
        "Messages one after another, each with its own id, are whole.",
    ),
    "time_out_of_order": (
        "A record's time is before that of the record above it.",
        "Records are written when they are finished, not when they began.",
        "Nothing, unless order matters: the bytes have theirs.",
        "Two records of the same time are in order.",
    ),
    "unknown_record_type": (
        "Records of a type that this version does not know; they are kept and counted.",
        "A newer version of the agent, or an edit.",
        "Look at one; a newer version of ctxaudit may know it.",
        "A record of the type `system` is known, whatever its subtype.",
    ),
    "header_absent": (
        "The first record is not the header that this format begins with.",
        "The start of the file is missing, or the file is a slice.",
        "Find the beginning.",
        "The header of the first versions of Codex has another form, and is one.",
    ),
    "record_updated": (
        "A record is written again in the place of an earlier one, as the format means it.",
        "The agent adds a message anew when its tools or tokens change.",
        "Nothing; the last version counts.",
        "The same text again, under another id, is another message.",
    ),
    "rewound_records": (
        "Records are in the bytes and no longer in the conversation.",
        "The user went back to an earlier prompt.",
        "Do not cite them as what the model saw later.",
        "The word `$rewindTo` in a text takes nothing back.",
    ),
    "rewind_target_absent": (
        "A rewind names no message of the conversation.",
        "Lines are missing or were edited.",
        "Compare with a copy.",
        "A rewind to the first message takes back all of them, and is sound.",
    ),
    "history_replaced": (
        "From here the conversation is what this record says, not what stands above.",
        "The agent compressed it, or masked outputs.",
        "Do not cite what stands above as what the model saw later.",
        "A `$set` without messages changes only what is said of the session.",
    ),
    "packed_records": (
        "One row stands for several events.",
        "The agent packs runs of tokens into one row.",
        "Nothing; the native id gives the first and last event.",
        "A row for each event packs nothing.",
    ),
    "packed_row_invalid": (
        "A packed row does not say how many events it stands for.",
        "Damage, or an edit.",
        "Take the numbers of later events as unknown.",
        "A sound row has one time less than events: the times lie between them.",
    ),
    "sequence_gap": (
        "Events are missing: their numbers are left out.",
        "Lines were removed or lost.",
        "Find another copy.",
        "After a packed row the next number is higher by all the events in it.",
    ),
    "session_row_absent": (
        "Messages of a session are there, and the session itself is not.",
        "The session was deleted and its messages were not, or rows were put in.",
        "Compare with a backup of the database.",
        "A session that has no messages is whole.",
    ),
    "row_ids_absent": (
        "Numbers of rows are left out: rows were deleted.",
        "The agent took back items, or somebody deleted rows.",
        "Nothing, if the agent does so; else compare with a backup.",
        "Sessions share the numbers, so those of one session leave some out.",
    ),
    "event_indices_absent": (
        "Numbers of event files are left out.",
        "The agent skips numbers, or files were removed.",
        "Compare with a backup, if they should be there.",
        "A week between two events leaves out no number.",
    ),
    "event_name_invalid": (
        "A file among the events has a name without a number and an id.",
        "It was renamed by hand.",
        "Give it back its name, if it is an event.",
        "Files whose names do not begin with `event-` are no events.",
    ),
    "event_id_mismatch": (
        "An event says another id than its file's name.",
        "The file was renamed or edited.",
        "Compare with a backup.",
        "The id of another event, such as the parent, may stand in an event.",
    ),
    "duplicate_index": (
        "Two event files have one number; both are read.",
        "Two writers, or a file that was copied in.",
        "Find out which one is real: the agent reads one alone.",
        "Two events of one time and one text, each with its number, are two.",
    ),
    # Files, containers and trees
    "tables_absent": (
        "The database holds none of the tables that its format has.",
        "It belongs to another program.",
        "Nothing.",
        "A database whose tables are still in its write-ahead log has them.",
    ),
    "unknown_format": (
        "No known format reads this file; it was not checked.",
        "It is no transcript, or of an agent that is not known; an error where --as named another.",
        "Name its format with --as, if it has one of the known ones.",
        "Records of an unknown type among known ones are of a known format.",
    ),
    "other_file": (
        "A document lies in the tree that is no transcript of a known format; it was not checked.",
        "Settings and other documents lie beside transcripts, as a rule.",
        "Nothing; or name its format with --as, if it has one of the known ones.",
        "A document that is the log of a known agent is checked.",
    ),
    "transcript_left_out": (
        "Transcripts were left out because the command asked for others.",
        "The option --session or --since was given.",
        "Nothing.",
        "An option that fits every transcript leaves none out.",
    ),
    "session_in_several_files": (
        "Several files hold one session, and not with the same bytes.",
        "Copies of a growing transcript, slices of it, or one that was altered.",
        "Decide which one is the session; pointers resolve only where all agree.",
        "Copies of a file with the same bytes agree.",
    ),
    "container_invalid": (
        "The database, archive or document as a whole cannot be read.",
        "It is cut short, damaged, or holds something else than its format says.",
        "Compare with a copy. What was whole before the damage was read.",
        "An archive with a long comment at its end is whole.",
    ),
    "container_over_limit": (
        "The container unpacks to more than our bounds allow.",
        "A bomb, or very large data. It proves nothing.",
        "Unpack it yourself, with care, and check the result.",
        "A sample that is packed well, within the bounds, is read.",
    ),
    "container_unsupported": (
        "What reads this container is not installed.",
        "It is compressed in a way that needs an extra package.",
        "Install the extra that the message names, or unpack the file.",
        "An archive with 64-bit numbers is read, if it is one file.",
    ),
    "archive_extra_bytes": (
        "Bytes stand before or after the archive.",
        "Files were joined, or the file is made to be two things at once.",
        "Look at them.",
        "A comment that the archive announces is a part of it.",
    ),
    "archive_name_unsafe": (
        "A member of the archive has a name that leads out of it; it was not read.",
        "A hostile archive.",
        "Do not unpack it with other tools.",
        "Two dots inside a name, such as `7..8`, lead nowhere.",
    ),
    "archive_member_repeated": (
        "Two members of the archive have one name; the last one was read.",
        "A sample was logged twice, or somebody added a member.",
        "Compare both.",
        "Another epoch of the same sample is another member.",
    ),
    "archive_names_alike": (
        "Names of members differ only in case or in the form of their letters.",
        "Ids such as `a` and `A`.",
        "Nothing, but do not unpack it where the file system folds case.",
        "Letters that differ by an accent are different letters.",
    ),
    "archive_member_invalid": (
        "A member of the archive is damaged, or is not what the archive says; not read.",
        "Damage, or tampering.",
        "Get another copy.",
        "A member whose checksum and sizes stand behind it was streamed.",
    ),
    "archive_member_unsupported": (
        "A member of the archive is encrypted or packed in another way; not read.",
        "It was packed by another tool.",
        "Pack it again.",
        "A member that is stored and not packed is read.",
    ),
    "archive_member_over_limit": (
        "A member of the archive is larger than our bound; not read.",
        "A bomb, or a very large sample. It proves nothing.",
        "Look at it by hand.",
        "A member of less than 16 MiB may be packed at any ratio.",
    ),
    "inspect_log_unfinished": (
        "The log has no header: the run has not ended.",
        "The run crashed, or goes on.",
        "Wait, or take it as a part.",
        "A log with a header and without a journal has ended.",
    ),
    "inspect_sample_absent": (
        "The summary names a sample that cannot be read here.",
        "It was removed or damaged, or has an unsafe name.",
        "Find the original.",
        "A summary may name the sample 7 by a number or by a text.",
    ),
    "inspect_sample_mismatch": (
        "A sample says another id or epoch than its name.",
        "It was renamed or edited.",
        "Trust neither until it is explained.",
        "An id may be the text `7` or the number: the member has one name.",
    ),
    "inspect_sample_invalid": (
        "A sample is no sample.",
        "Damage.",
        "Get another copy.",
        "A sample without messages and events is a sample.",
    ),
    "inspect_sample_repeated": (
        "A sample stands in the log twice.",
        "Logs were put together by hand.",
        "Compare them.",
        "The same sample in another epoch is another sample.",
    ),
    "inspect_chunk_absent": (
        "A part of a sample is missing.",
        "A member of the archive was removed.",
        "Get another copy.",
        "The chunks 0 and 2 are in turn where the first holds two elements.",
    ),
    # Content hashes
    "content_hash_mismatch": (
        "The digest that was written down is not that of the file.",
        "The file was altered after its digest was taken.",
        "Find the file that the digest belongs to.",
        "A digest that fits also holds for a file without a final line end.",
    ),
    "content_hash_mismatch_redacted": (
        "The digest is not that of the file, and marks of redaction stand in it.",
        "Secrets were blacked out after the digest was taken; more may have been changed too.",
        "Ask for the digest of the redacted file. A mark proves nothing.",
        "Marks of redaction in a file whose digest fits are a part of it.",
    ),
    "content_hash_invalid": (
        "The file with the digest holds something else.",
        "It was edited, or is of another tool.",
        "Write it again: sha256: and 64 hex digits.",
        "The 64 digits alone, in capital letters, are a digest.",
    ),
    # References
    "reference_missing": (
        "A record says that something exists elsewhere, and it does not.",
        "The file or record was removed, or was not copied with the transcript.",
        "Get it from where the transcript came from. Until then the record shows a part alone.",
        "A file that was copied with its transcript is found, from any machine.",
    ),
    "reference_denied": (
        "A record names a file that may not be read here: it was not opened.",
        "The path leaves the tree, climbs, or runs through a link.",
        "Name the folder that holds both as the target, if the path is yours.",
        "A path of another machine may run through the transcript's own folder.",
    ),
    "reference_corrupt": (
        "What a record refers to is there, and is not what it says.",
        "The file is shorter, longer or other than announced.",
        "Do not take it for what the agent saw.",
        "Some agents count characters where they say bytes: such a size fits.",
    ),
    "reference_unsupported": (
        "A record refers to something that nothing here can look for.",
        "Another session, a service, or a form that is not known.",
        "Look for it by hand, if it matters.",
        "The word `<persisted-output>` in the middle of a text names nothing.",
    ),
    "reference_not_checked": (
        "A reference could not be checked to its end.",
        "An I/O error, a file that was changing, or too many references.",
        "Run again.",
        "One hundred thousand references are all checked.",
    ),
}
