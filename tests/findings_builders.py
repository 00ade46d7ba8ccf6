"""Samples of findings that are no text: archives, databases and one very large log.

Guarantees: written with the standard library, byte by byte where a number has to be a lie; nothing
here uses the code under test to build what that code is to judge. `BUILDERS` has, for each code
whose sample is not committed, what writes the sample that shows it and the harmless look-alike.

Example:
    >>> sorted(BUILDERS)[0]
    'archive_extra_bytes'
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import struct
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from tests.transcripts.containers.databases import MESSAGES, SESSIONS
from tests.transcripts.containers.zips import Part, make_zip

__all__ = ["BUILDERS", "Builder"]

# Each writes its sample into a folder that is there and empty.
Write = Callable[[Path], None]


class Builder(NamedTuple):
    """The two samples of one code."""

    shows: Write
    harmless: Write


# --- Inspect logs ---------------------------------------------------------------------------------

_HEADER = {"version": 2, "status": "success", "eval": {"task": "files"}}
_SIZES_FOLLOW = 0x808
_ENCRYPTED = 0x801
_END_SIGNATURE = b"PK\x05\x06"
# Where the fields of an end record stand in it.
_THIS_DISK, _DIRECTORY_BYTES = (4, "<H"), (12, "<I")


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _sample(sample_id: object = 7, epoch: int = 1, text: str = "Look.") -> dict[str, Any]:
    return {
        "id": sample_id,
        "epoch": epoch,
        "messages": [
            {"id": f"{sample_id}-{epoch}-1", "role": "user", "content": text},
            {"id": f"{sample_id}-{epoch}-2", "role": "assistant", "content": "Done."},
        ],
    }


def _part(name: str, value: object, **said: Any) -> Part:
    return Part(name, value if isinstance(value, bytes) else _json(value), **said)


_START = _part("_journal/start.json", _HEADER)
_END = _part("header.json", _HEADER)
_ONE = _part("samples/7_epoch_1.json", _sample())


def _log(*parts: Part, **around: bytes) -> Write:
    """An archive with these members between the usual ones."""
    return _archive([_START, *parts, _END], **around)


def _archive(parts: Sequence[Part], **around: bytes) -> Write:
    return _bytes("log.eval", make_zip(parts, **around))


def _bytes(name: str, data: bytes) -> Write:
    def write(folder: Path) -> None:
        (folder / name).write_bytes(data)

    return write


def _with_end(field: tuple[int, str], value: int) -> Write:
    """A sound archive whose end record says one other number."""
    data = bytearray(make_zip([_START, _ONE, _END]))
    offset, form = field
    struct.pack_into(form, data, data.rindex(_END_SIGNATURE) + offset, value)
    return _bytes("log.eval", bytes(data))


def _with_long_numbers() -> bytes:
    """A sound archive whose end has 64-bit numbers too, and names the file that they stand in."""
    data = make_zip([_START, _ONE, _END])
    place = data.rindex(_END_SIGNATURE)
    members, _, size, offset = struct.unpack_from("<2H2I", data, place + 8)
    numbers = (members, members, size, offset)
    long = struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, *numbers)
    return data[:place] + long + struct.pack("<4sIQI", b"PK\x06\x07", 0, place, 1) + data[place:]


def _streamed(name: str, value: object) -> Part:
    """A member as a program writes it that cannot go back: its numbers follow its bytes."""
    found = _part(name, value, flags=_SIZES_FOLLOW, local_numbers=(0, 0, 0))
    whole = make_zip([found])
    # The directory of that archive has the numbers: checksum, packed, unpacked.
    found.descriptor = b"PK\x07\x08" + whole[whole.index(b"PK\x01\x02") + 16 :][:12]
    return found


_CUT_ARCHIVE = make_zip([_START, _ONE, _END])[:-40]
_MESSAGES_IN = [
    _part("samples/7_epoch_1/sample.json", {"id": 7, "epoch": 1}),
    _part("samples/7_epoch_1/messages/0.json", _sample()["messages"]),
]
_LAST_MESSAGE = [{"id": "7-1-3", "role": "user", "content": "Thanks."}]


def _packed_well(*, mebibytes: int) -> Write:
    """A sample of so many equal letters, which is packed to a thousandth."""

    def write(folder: Path) -> None:
        _log(_part(_ONE.name, _sample(text="a" * (mebibytes << 20))))(folder)

    return write


# --- Databases ------------------------------------------------------------------------------------


def _database(*statements: str) -> Write:
    """A database of the OpenAI Agents SDK: two sessions, three items, then what is said."""

    def write(folder: Path) -> None:
        with closing(sqlite3.connect(folder / "sessions.db", isolation_level=None)) as made:
            _fill(made)
            for statement in statements:
                made.execute(statement)

    return write


def _fill(made: sqlite3.Connection) -> None:
    made.execute(SESSIONS)
    made.execute(MESSAGES)
    made.executemany(
        "INSERT INTO agent_sessions (session_id) VALUES (?)", [("chat-1",), ("chat-2",)]
    )
    made.executemany(
        "INSERT INTO agent_messages (session_id, message_data, created_at) VALUES (?, ?, ?)",
        [
            (session, json.dumps({"role": "user", "content": "Hello."}), "2026-01-05 10:00:00")
            for session in ("chat-1", "chat-2", "chat-1")
        ],
    )


def _in_log(fill: Callable[[sqlite3.Connection], object], name: str) -> Write:
    """A database that says nothing by itself: all of it is still in its write-ahead log."""

    def write(folder: Path) -> None:
        made = folder / "made"
        made.mkdir()
        with closing(sqlite3.connect(made / name, isolation_level=None)) as base:
            base.execute("PRAGMA journal_mode=WAL")
            base.execute("PRAGMA wal_autocheckpoint=0")
            fill(base)
            # Closing it would move the log into the database.
            for ending in ("", "-wal"):
                shutil.copyfile(made / f"{name}{ending}", folder / f"{name}{ending}")
        shutil.rmtree(made)

    return write


# --- More references than are kept ----------------------------------------------------------------


def _references(count: int) -> Write:
    """A session of Claude Code with so many summaries, each of which names its one message."""

    def write(folder: Path) -> None:
        message = {
            "type": "user",
            "uuid": "u1",
            "sessionId": "s1",
            "message": {"role": "user", "content": "Hello."},
        }
        summary = _json({"type": "summary", "summary": "Hello.", "leafUuid": "u1"})
        (folder / "session.jsonl").write_bytes(_json(message) + b"\n" + (summary + b"\n") * count)

    return write


BUILDERS: dict[str, Builder] = {
    "tables_absent": Builder(
        _in_log(lambda base: base.execute("CREATE TABLE notes (text TEXT)"), "notes.db"),
        _in_log(_fill, "sessions.db"),
    ),
    "session_row_absent": Builder(
        _database("DELETE FROM agent_sessions WHERE session_id = 'chat-2'"),
        _database("INSERT INTO agent_sessions (session_id) VALUES ('chat-3')"),
    ),
    "row_ids_absent": Builder(
        _database("DELETE FROM agent_messages WHERE id = 2"),
        _database(),  # the ids of each of its two sessions have a gap
    ),
    "container_invalid": Builder(_bytes("log.eval", _CUT_ARCHIVE), _log(_ONE, comment=b"x" * 300)),
    "container_over_limit": Builder(
        _with_end(_DIRECTORY_BYTES, 40 << 20), _log(_part(_ONE.name, _sample(text="a" * 99_999)))
    ),
    "container_unsupported": Builder(
        _with_end(_THIS_DISK, 1), _bytes("log.eval", _with_long_numbers())
    ),
    "archive_extra_bytes": Builder(
        _log(_ONE, after=b"<html></html>"), _log(_ONE, comment=b"<html>")
    ),
    "archive_name_unsafe": Builder(
        _log(_ONE, _part("../7_epoch_1.json", _sample())),
        _log(_part("samples/7..8_epoch_1.json", _sample("7..8"))),
    ),
    "archive_member_repeated": Builder(
        _log(_ONE, _part(_ONE.name, _sample(text="Look again."))),
        _log(_ONE, _part("samples/7_epoch_2.json", _sample(epoch=2))),
    ),
    "archive_names_alike": Builder(
        _log(
            _part("samples/a_epoch_1.json", _sample("a")),
            _part("samples/A_epoch_1.json", _sample("A")),
        ),
        _log(
            _part("samples/a_epoch_1.json", _sample("a")),
            _part("samples/á_epoch_1.json", _sample("á")),
        ),
    ),
    "archive_member_invalid": Builder(
        _log(_part(_ONE.name, _sample(), crc=1)),
        _log(_streamed("samples/7_epoch_1.json", _sample())),
    ),
    "archive_member_unsupported": Builder(
        _log(_part(_ONE.name, _sample(), flags=_ENCRYPTED)),
        _log(_part(_ONE.name, _sample(), method=0)),
    ),
    "archive_member_over_limit": Builder(
        _packed_well(mebibytes=17),
        _packed_well(mebibytes=15),
    ),
    "inspect_log_unfinished": Builder(_archive([_START, _ONE]), _archive([_ONE, _END])),
    "inspect_sample_absent": Builder(
        _log(_ONE, _part("summaries.json", [{"id": 7, "epoch": 1}, {"id": 8, "epoch": 1}])),
        _log(_ONE, _part("summaries.json", [{"id": "7", "epoch": 1}])),
    ),
    "inspect_sample_mismatch": Builder(
        _log(_part(_ONE.name, _sample(8))), _log(_part(_ONE.name, _sample("7")))
    ),
    "inspect_sample_invalid": Builder(
        _log(_part(_ONE.name, [])), _log(_part(_ONE.name, {"id": 7, "epoch": 1}))
    ),
    "inspect_chunk_absent": Builder(
        _log(*_MESSAGES_IN, _part("samples/7_epoch_1/messages/5.json", _LAST_MESSAGE)),
        _log(*_MESSAGES_IN, _part("samples/7_epoch_1/messages/2.json", _LAST_MESSAGE)),
    ),
    "reference_not_checked": Builder(
        _references(100_001),
        _references(100_000),
    ),
}
