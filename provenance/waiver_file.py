r"""Waiver files: who answers for which fault, until when (spec 05).

Guarantees: pure. A file is read strictly: what is not understood is refused with its line and key.
A waiver covers one pointer, in one target of the run if it says so, or one code of finding at one
target, never a pattern. Nothing is waived twice, without a reason, without an owner or without an
end.

Example:
    >>> text = '[[waiver]]\npointer = "transcript:s1:3"\nreason = "lost with the disk"\n'
    >>> (entry,) = parse_waivers(text + 'owner = "ops"\nexpires = 2027-01-31')
    >>> entry.line, entry.waiver.expires.isoformat()
    (1, '2027-01-31')
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from provenance.located_toml import Place, TomlError, fault_of, read_toml, table_lines
from provenance.pointers import (
    SourcePointerError,
    UnsupportedSourcePointerError,
    canonical_text,
    parse_source_pointer,
)
from provenance.waivers import NEVER_WAIVED, Waiver, WaiverEntry

__all__ = ["WaiverError", "parse_waivers", "write_waivers"]

# A file with more is no list of exceptions any more.
_MOST_WAIVERS = 10_000
# Long enough for a paragraph; it stands in every report.
_MOST_CHARACTERS = 2_000

# Letters and signs that Unicode has for the sake of their width: nothing of them is seen.
_BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")

_is_code = re.compile(r"[a-z][a-z0-9_]{0,99}").fullmatch
_has_glob = re.compile(r"[*?\[]").search
_is_date = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}").fullmatch


class WaiverError(TomlError):
    """A waiver file is not understood; the message names the line and the key."""

    code = "invalid_waivers"


def _date_of(value: object) -> object:
    """Take a date that was put in quotes for one; a time of day is none."""
    if isinstance(value, str) and _is_date(value) is not None:
        try:
            return date.fromisoformat(value)
        except ValueError:
            return value
    return str(value) if isinstance(value, datetime) else value


class _WaiverTable(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    reason: str
    owner: str
    expires: Annotated[date, BeforeValidator(_date_of)]
    pointer: str | None = None
    code: str | None = None
    target: str | None = None


class _WaiverTables(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    waiver: Annotated[list[_WaiverTable], Field(max_length=_MOST_WAIVERS)] = []


def parse_waivers(
    text: str, *, is_finding: Callable[[str], bool] | None = None
) -> tuple[WaiverEntry, ...]:
    """Read a waiver file.

    Args:
        text: TOML, at most `MAX_TOML_CHARACTERS` characters.
        is_finding: says whether findings of a code are made at all; None: any code may be.

    Raises:
        WaiverError: no TOML, an unknown key, a missing or empty value, a date that is none, a
            waiver that names both or neither of pointer and code with target, a pattern in place
            of a pointer, a code that no finding has or that cannot be waived, or two waivers of
            the same.
    """
    table = read_toml(text, error=WaiverError)
    try:
        waivers = _waivers_in(table, is_finding or _any_code)
    except WaiverError as error:
        raise error.located(text) from None
    lines = table_lines(text, "waiver")
    return tuple(
        WaiverEntry(waiver, index + 1, lines.get(index)) for index, waiver in enumerate(waivers)
    )


def write_waivers(waivers: tuple[Waiver, ...]) -> str:
    """Write waivers so that `parse_waivers` reads the same."""
    parts = []
    for waiver in waivers:
        keys = [
            (key, value)
            for key, value in (
                ("pointer", waiver.pointer),
                ("code", waiver.code),
                ("target", waiver.target),
                ("reason", waiver.reason),
                ("owner", waiver.owner),
            )
            if value is not None
        ]
        lines = [f"{key} = {_quoted(value)}" for key, value in keys]
        parts.append("\n".join(["[[waiver]]", *lines, f"expires = {waiver.expires.isoformat()}"]))
    return "\n\n".join(parts) + "\n" if parts else "waiver = []\n"


def _any_code(_: str) -> bool:
    return True


def _waivers_in(
    table: Mapping[str, object], is_finding: Callable[[str], bool]
) -> tuple[Waiver, ...]:
    try:
        parsed = _WaiverTables.model_validate(dict(table))
    except ValidationError as fault:
        raise _words(fault) from None
    seen: dict[tuple[str | None, ...], int] = {}
    waivers = []
    for number, one in enumerate(parsed.waiver, 1):
        waiver = _waiver_of(one, number, is_finding)
        pointer = None if waiver.pointer is None else canonical_text(waiver.pointer)
        same = (pointer, waiver.code, waiver.target)
        if same in seen:
            key = "pointer" if waiver.code is None else "code"
            raise WaiverError(
                f"waiver {number}: {key}: expected one waiver of the same, "
                f"got a second after waiver {seen[same]}",
                ("waiver", number - 1, key),
            )
        seen[same] = number
        waivers.append(waiver)
    return tuple(waivers)


def _waiver_of(table: _WaiverTable, number: int, is_finding: Callable[[str], bool]) -> Waiver:
    def refuse(key: str, message: str) -> WaiverError:
        place: Place = ("waiver", number - 1, key)
        return WaiverError(f"waiver {number}: {key}: {message}", place)

    for key in ("reason", "owner", "pointer", "code", "target"):
        if (got := _fault_of_text(key, getattr(table, key))) is not None:
            raise refuse(key, f"expected a text of 1 to {_MOST_CHARACTERS} characters, got {got}")
    if table.pointer is not None:
        # One that is malformed or of another scheme is a fault of its own, which may be waived.
        if table.code is not None:
            raise refuse("code", "expected a pointer, or a code with a target, got both")
        if _is_pattern(table.pointer):
            got = f"{table.pointer[:60]!a}"
            raise refuse("pointer", f"expected one pointer and no pattern, got {got}")
    elif table.code is None:
        raise refuse("pointer", "expected a pointer, or a code with a target, got neither")
    elif table.target is None:
        raise refuse("target", "expected the target of the code, got none")
    elif _is_code(table.code) is None:
        raise refuse("code", f"expected the code of a finding, got {table.code[:40]!a}")
    elif table.code in NEVER_WAIVED:
        raise refuse("code", f"expected a code that can be waived, got {table.code}")
    elif not is_finding(table.code):
        raise refuse(
            "code",
            "expected the code of a finding (a source is waived by its pointer), "
            f"got {table.code[:40]!a}",
        )
    return Waiver(
        reason=table.reason,
        owner=table.owner,
        expires=table.expires,
        pointer=table.pointer,
        code=table.code,
        target=table.target,
    )


def _fault_of_text(key: str, value: str | None) -> str | None:
    if value is None:
        return None
    if not value.strip():
        return "an empty one"
    if len(value) > _MOST_CHARACTERS:
        return f"{len(value)} characters"
    if key in ("reason", "owner") and not _is_seen(value):
        return "one in which nothing is seen"
    return None


def _words(fault: ValidationError) -> TomlError:
    said = fault_of(fault, error=WaiverError)
    first = next(iter(fault.errors(include_url=False, include_context=False)))
    place = said.place
    match place:
        # Not one at the top of the file: that is a key which is not known there.
        case ("waiver", int(index), "expires") if (
            first["type"] not in ("missing", "extra_forbidden") and place == first["loc"]
        ):
            got = ascii(first["input"])[:60]
            where = f"waiver {index + 1}: expires"
            return WaiverError(f"{where}: expected a date like 2027-01-31, got {got}", place)
        case _:
            return said


def _is_pattern(pointer: str) -> bool:
    """Say whether a text is no pointer and looks like many: other schemes may have such signs."""
    try:
        parse_source_pointer(pointer)
    except UnsupportedSourcePointerError:
        return _has_glob(pointer.partition(":")[0]) is not None
    except SourcePointerError:
        return _has_glob(pointer) is not None
    return False


def _is_seen(text: str) -> bool:
    """Say whether anything in a text is seen: a letter, a digit, a sign."""
    return any(unicodedata.category(char)[0] in "LNPS" and char not in _BLANKS for char in text)


def _quoted(text: str) -> str:
    escaped = "".join(
        f"\\u{ord(one):04x}" if ord(one) < 32 or one in '"\\\x7f' else one for one in text
    )
    return f'"{escaped}"'
