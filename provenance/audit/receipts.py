"""Receipts of compactions: told from other files, read, and what they cite.

Guarantees: a receipt that cannot be read is told apart from one that cites nothing. A citation
names the block whose text the pointer leads to, and holds no text of it.

Example:
    >>> from provenance.compaction.receipt import Receipt
    >>> receipt = Receipt(0, 0, 0, 0, (), (), ())
    >>> is_receipt(receipt.to_json().encode()), list(receipt_citations(receipt, "receipts/a.json"))
    (True, [])
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from provenance.audit_report import Citation
from provenance.consequences import ConsequenceGraph
from provenance.errors import CtxauditError
from provenance.findings import Finding, Severity
from provenance.fs import Directory, read_whole
from provenance.limits import DEFAULT_LIMITS, Limits
from provenance.transcripts.strict_json import NotStrictJson, parse_strict

if TYPE_CHECKING:  # the layers behind it load asyncio, and most audits meet no receipt
    from provenance.compaction.receipt import Receipt

__all__ = [
    "is_receipt",
    "note_blocks",
    "parse_receipt_file",
    "read_home_receipt",
    "receipt_citations",
    "unreadable_receipt",
]

# As `provenance.compaction.RECEIPT_SCHEMA`; a test compares them.
_SCHEMA = "ctxaudit.receipt/1"
# Its first field, as every writer of ours puts it; a damaged one or one of another version says so
# too, and is then refused as what it is.
_says_receipt = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"schema"\s*:\s*"ctxaudit\.receipt/').match
_MARK = _SCHEMA.encode()


def is_receipt(data: bytes) -> bool:
    """Say whether a file says of itself that it is a receipt, sound or not."""
    if _says_receipt(data) is not None:
        return True
    if _MARK not in data:
        return False
    try:
        value = parse_strict(data, max_nesting=DEFAULT_LIMITS.max_nesting)
    except (NotStrictJson, UnicodeDecodeError):
        return False
    return isinstance(value, dict) and value.get("schema") == _SCHEMA


def parse_receipt_file(data: bytes, *, limits: Limits) -> Receipt:
    """Read the bytes of a receipt's file.

    Raises:
        ReceiptError: they are no receipt; the message says which field.
    """
    from provenance.compaction.receipt import Receipt, ReceiptError  # noqa: PLC0415 - asyncio

    try:
        data.decode()
        # What stands twice under one key would be read by one reader so, by another one so.
        parse_strict(data, max_nesting=limits.max_nesting)
    except UnicodeDecodeError as error:
        raise ReceiptError(
            f"file: expected UTF-8, got another byte at offset {error.start}"
        ) from None
    except NotStrictJson as error:
        raise ReceiptError(str(error)) from None
    return Receipt.from_json(data)


def read_home_receipt(
    folder: Directory, name: str, *, target: str, limits: Limits
) -> Receipt | Finding:
    """Read one receipt of a home, or give the finding that says why it cannot be read."""
    try:
        with folder.open_file(name) as file:
            data = read_whole(file, max_bytes=limits.max_receipt_bytes)
        return parse_receipt_file(data, limits=limits)
    except CtxauditError as error:
        return unreadable_receipt(target, error)


def unreadable_receipt(target: str, error: CtxauditError) -> Finding:
    """Build the finding for a receipt that was listed and cannot be read."""
    return Finding("receipt_unreadable", Severity.ERROR, target, message=str(error))


def receipt_citations(receipt: Receipt, file: str) -> Iterator[tuple[str, Citation]]:
    """Give each pointer of a receipt with the block whose text it leads to."""
    for one in receipt.removed:
        if one.pointer is not None:
            yield one.pointer, Citation(file, _place(one.message, one.block))


def note_blocks(receipt: Receipt, file: str, graph: ConsequenceGraph) -> None:
    """Note which texts went into which summary, and what they are in a later receipt.

    A block is the same one wherever its digest stands: what one compaction put in, the receipt of
    a later one has among what it removed, or cut.
    """
    for one in receipt.removed:
        if one.pointer is not None:
            graph.place(file, _place(one.message, one.block), one.sha256)
        if one.changed_to is not None:
            graph.rename(one.sha256, one.changed_to)
    for put_in in receipt.inserted:
        if put_in.stands_for:
            graph.add(
                "summary",
                file,
                _place(put_in.message, put_in.block),
                key=put_in.sha256,
                rests_on=put_in.stands_for,
            )


def _place(message: int, block: int) -> str:
    return f"message {message} block {block}"
