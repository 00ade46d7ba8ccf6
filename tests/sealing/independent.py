"""Computes entries and root of a home's first seal, as docs/seals.md says, and by nothing of ours.

    python -I independent.py HOME

Prints the entries, then the root in hex. Written after the page; it imports no part of the package.
"""

import hashlib
import json
import os
import re
import sqlite3
import sys
import zipfile

PLAIN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
SESSION = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")

_CHANGES = """SELECT kind, item_id, change, source_pointer, confirmed_at, confirmed_by
    FROM changes WHERE name = ? AND version = ? ORDER BY position"""
_CONFLICT_KEYS = """SELECT kind, conflict_key, item_id
    FROM conflict_keys WHERE name = ? AND version = ? ORDER BY kind, conflict_key"""


def sha256(data: bytes) -> str:
    """Digest, in hex."""
    return hashlib.sha256(data).hexdigest()


def escaped(name: bytes) -> str:
    """Escape a name."""
    return "".join(chr(byte) if byte in PLAIN else f"%{byte:02X}" for byte in name)


def lines(path: bytes) -> list[bytes]:
    """Give the whole lines of a file."""
    with open(path, "rb") as file:
        return file.read().split(b"\n")[:-1]


def elements(text: str, start: int) -> list[str]:
    """Give the elements of an array that begins after `start`, as they are written."""
    found = []
    at = text.index("[", start) + 1
    while True:
        at += len(text[at:]) - len(text[at:].lstrip(" \t\r\n,"))
        if text[at] == "]":
            return found
        _, end = json.JSONDecoder().raw_decode(text, at)
        found.append(text[at:end])
        at = end


def samples(
    path: bytes, events: dict[str, list[str]], pools: dict[tuple[str, str], list[str]]
) -> None:
    """Take the samples of an archive whose keys stand once in the whole text of each."""
    with zipfile.ZipFile(os.fsdecode(path)) as archive:
        for name in archive.namelist():
            if not name.startswith("samples/"):
                continue
            session = name.removeprefix("samples/").removesuffix(".json")
            text = archive.read(name).decode()
            arrays = sorted(("messages", "events"), key=lambda key: text.index(f'"{key}": ['))
            events[session] = [
                sha256(one.encode())
                for key in arrays
                for one in elements(text, text.index(f'"{key}": ['))
            ]
            for pool, key in (("messages", "message_pool"), ("calls", "call_pool")):
                place = text.find(f'"{key}": [')
                if place >= 0 and (items := elements(text, place)):
                    pools[session, pool] = [sha256(one.encode()) for one in items]
            told = [
                json.dumps(one, ensure_ascii=False, separators=(",", ":"))
                for one in json.loads(text).get("attachments", {}).items()
            ]
            if told:
                pools[session, "attachments"] = [sha256(one.encode()) for one in told]


def entries(home: bytes) -> list[str]:
    """Give the entries of everything in a home, in the order of one seal."""
    found = []
    # 1. Events: by session, then ordinal; and what events of Inspect samples refer to.
    folder = os.path.join(home, b"transcripts")
    events: dict[str, list[str]] = {}
    pools: dict[tuple[str, str], list[str]] = {}
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name.endswith(b".eval"):
            samples(path, events, pools)
            continue
        session = name.removesuffix(b".jsonl").decode()
        events[session] = [sha256(line.rstrip(b"\r\n")) for line in lines(path)]
    for session, digests in sorted(events.items()):
        found += [f"event {session} {number} {one}" for number, one in enumerate(digests, 1)]
    for (session, pool), digests in sorted(pools.items()):
        found += [f"pool {session} {pool} {number} {one}" for number, one in enumerate(digests, 1)]
    # 3. Ledger lines: by session, then line.
    for name in sorted(os.listdir(home)):
        path = os.path.join(home, name, b"tool-results.jsonl")
        if SESSION.fullmatch(name) is None or not os.path.exists(path):
            continue
        for number, line in enumerate(lines(path), 1):
            entry = json.loads(line)
            rest = f"{entry['event']} {entry['filename']} {entry['sha256']}"
            found.append(f"ledger {name.decode()} {number} {sha256(line)} {rest}")
    # 4. States, receipts and what the store keeps: by the bytes of the name, then version.
    states: dict[bytes, list[str]] = {}
    for folder, prefix in ((b"states", b""), (b"receipts", b"receipts/")):
        for name in os.listdir(os.path.join(home, folder)):
            if name.endswith(b".json") and not name.startswith(b"."):
                with open(os.path.join(home, folder, name), "rb") as file:
                    states[prefix + name] = [sha256(file.read())]
    database = sqlite3.connect(os.path.join(home, b"states", b"states.sqlite3"))
    for name, number, document, *row in database.execute(
        "SELECT name, version, document, replaces, created_at, author, note FROM versions"
        " ORDER BY name, version"
    ):
        tables = [
            [[*one] for one in database.execute(query, (name, number))]
            for query in (_CHANGES, _CONFLICT_KEYS)
        ]
        told = json.dumps([sha256(document), *row, *tables], separators=(",", ":"))
        states.setdefault(b"store/" + name.encode(), []).append(sha256(told.encode()))
    database.close()
    for name, versions in sorted(states.items()):
        for number, digest in enumerate(versions, 1):
            found.append(f"state {escaped(name)} {number} {digest}")
    # 5. Entries of the lock file: by the bytes of the pointer.
    with open(os.path.join(home, b"ctxaudit.lock"), "rb") as file:
        document = json.load(file)
    pins = {
        pin["pointer"].encode(): json.dumps(
            pin, sort_keys=True, separators=(",", ":"), ensure_ascii=False
        ).encode()
        for value in document.values()
        if isinstance(value, list)
        for pin in value
    }
    for pointer, data in sorted(pins.items()):
        found.append(f"lock {escaped(pointer)} 1 {sha256(data)}")
    return [f"ctxaudit.leaf/1 {one}" for one in found]


def root(leaves: list[bytes]) -> bytes:
    """Give the root of RFC 6962, 2.1."""
    if len(leaves) == 1:
        return hashlib.sha256(b"\0" + leaves[0]).digest()
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return hashlib.sha256(b"\1" + root(leaves[:half]) + root(leaves[half:])).digest()


if __name__ == "__main__":
    told = entries(os.fsencode(sys.argv[1]))
    print("\n".join(told))
    print(root([one.encode() for one in told]).hex())
