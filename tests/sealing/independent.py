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


def entries(home: bytes) -> list[str]:
    """Give the entries of everything in a home, in the order of one seal."""
    found = []
    # 1. Events: by session, then ordinal.
    folder = os.path.join(home, b"transcripts")
    for name in sorted(os.listdir(folder)):
        session = name.removesuffix(b".jsonl")
        for number, line in enumerate(lines(os.path.join(folder, name)), 1):
            digest = sha256(line.rstrip(b"\r\n"))
            found.append(f"event {session.decode()} {number} {digest}")
    # 2. Ledger lines: by session, then line.
    for name in sorted(os.listdir(home)):
        path = os.path.join(home, name, b"tool-results.jsonl")
        if SESSION.fullmatch(name) is None or not os.path.exists(path):
            continue
        for number, line in enumerate(lines(path), 1):
            entry = json.loads(line)
            rest = f"{entry['event']} {entry['filename']} {entry['sha256']}"
            found.append(f"ledger {name.decode()} {number} {sha256(line)} {rest}")
    # 3. States, receipts and what the store keeps: by the bytes of the name, then version.
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
    # 4. Entries of the lock file: by the bytes of the pointer.
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
