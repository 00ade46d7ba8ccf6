r"""TOML that the operator or a target wrote, read strictly, with the line of each fault.

Guarantees: pure. Whatever the text holds, reading it gives a table or one `TomlError` with one
line, in time that grows with the length of the text. Lines are looked up only once something is
wrong, by parsing one statement after the other with the same parser, and only within a bound: past
it a fault is named by its key alone.

Example:
    >>> line_of('default = "deny"\n[[rule]]\neffect = "no"', ("rule", 0, "effect"))
    3
"""

from __future__ import annotations

import contextlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

from provenance.errors import CallerError

if TYPE_CHECKING:  # a table is read here; whoever checks its types has loaded pydantic
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

__all__ = [
    "MAX_TOML_CHARACTERS",
    "Place",
    "TomlError",
    "expected_by",
    "fault_of",
    "line_of",
    "read_toml",
    "table_lines",
]

# Such files are written by people; a larger one is a mistake or an attack on the parser.
MAX_TOML_CHARACTERS = 1 << 20
# The parser's work and memory grow with the square of the number of parts of one dotted key.
_MOST_KEY_PARTS = 32
# What finding a line may cost: characters parsed, about a second of work, and statements.
_MOST_PARSED = 2 * MAX_TOML_CHARACTERS
_MOST_STATEMENTS = 50_000
# What stands in place of pydantic's own texts, which name classes of ours and its own terms.
_EXPECTED = {
    "bool_type": "true or false",
    "date_type": "a date",
    "dict_type": "a table",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "a table",
    "string_type": "a text",
}
_SHOWN_KEY = 80
_SHOWN_VALUE = 60

# Where a value stands: keys of tables and, counted from 0, elements of arrays.
Place = tuple[str | int, ...]

# Up to two quotes may stand before the three that close. What is not closed goes on to where the
# parser gives up, so that it is looked at once.
_strings_and_comments = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"{3,5}|\Z)'
    r"|'''.*?(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]|\\[^\n])*+"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+",
    re.DOTALL,
)
# Begins where a word does and takes nothing back: each word is looked at so many times at most.
_long_key = re.compile(
    rf"(?<![A-Za-z0-9_-])(?:[A-Za-z0-9_-]++[ \t]*+\.[ \t]*+){{{_MOST_KEY_PARTS}}}"
)
_said_place = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)
_key_of_line = re.compile(r"[ \t]*([A-Za-z0-9_.-]{1,80})[ \t]*=")


class TomlError(CallerError, ValueError):
    """A TOML text is not what it has to be.

    Attributes:
        place: the key that is meant, as far as it is known.
        line: where it stands, from 1; the message begins with it. None: not looked for, or not
            found.
    """

    code = "invalid_toml"

    def __init__(self, message: str, place: Place = (), *, line: int | None = None) -> None:
        """Take one line, key first, and where it is."""
        super().__init__(message if line is None else f"line {line}: {message}")
        self.place = place
        self.line = line

    def located(self, text: str, *, below: Place = ()) -> Self:
        """Give the same error with the line in front, where it is to be found.

        Args:
            text: what was read.
            below: where the table stands that `place` counts from.
        """
        line = line_of(text, (*below, *self.place))
        return self if line is None else type(self)(str(self), self.place, line=line)


def read_toml(text: str, *, error: type[TomlError]) -> dict[str, object]:
    """Read bounded TOML.

    Args:
        text: at most `MAX_TOML_CHARACTERS` characters.
        error: the class of what is raised.

    Raises:
        TomlError: too large, no TOML, a key of too many parts, or nested deeper than the parser
            can follow; with its line.
    """
    if len(text) > MAX_TOML_CHARACTERS:
        raise error(f"file: expected at most {MAX_TOML_CHARACTERS} characters, got more")
    _require_short_keys(text, error)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        words, line = _syntax_words(str(fault), text)
        raise error(words, line=line) from None
    except (ValueError, RecursionError):
        # A number of thousands of digits, a date that is none, brackets without end.
        line = _unreadable_line(text)
        where = "file" if line is None else _key_at(text, line)
        raise error(f"{where}: expected TOML, got a value that cannot be read", line=line) from None


def fault_of(fault: ValidationError, *, error: type[TomlError]) -> TomlError:
    """Give the first fault of a table in our words: key, expected, got.

    Args:
        fault: what pydantic found.
        error: the class of what is given.
    """
    faults = fault.errors(include_url=False)
    # A misspelt key explains why the right one is missing, so it comes first.
    first = next((one for one in faults if one["type"] == "extra_forbidden"), faults[0])
    place = first["loc"]
    key = ""
    for part in place:
        if isinstance(part, int):
            key += f" {part + 1}"  # tables are counted from 1 by whoever reads the file
        else:
            key += f": {part}" if key else str(part)
    shown = ascii(key)[1:-1][:_SHOWN_KEY]
    match first["type"]:
        case "extra_forbidden":
            return error(f"{shown}: expected a known key, got an unknown one", place)
        case "missing":
            return error(f"{shown}: expected a value, got none", place)
        case "too_long":
            got = f"{first['ctx']['actual_length']}"
        case _:
            got = ascii(first["input"])[:_SHOWN_VALUE]
    return error(f"{shown}: expected {expected_by(first)}, got {got}", place)


def expected_by(fault: ErrorDetails) -> str:
    """Say in our words what pydantic expected: its own name classes of ours."""
    match fault["type"]:
        case "literal_error":
            return str(fault["ctx"]["expected"])  # as the schema lists them
        case "too_long":
            return f"at most {fault['ctx']['max_length']}"
        case "missing":
            return "a value"
        case "extra_forbidden":
            return "a known key"
        case kind:
            return _EXPECTED.get(kind, "another value")


def line_of(text: str, place: Place) -> int | None:
    """Give the line, from 1, of a key; where it is absent, that of the table that lacks it.

    Args:
        text: TOML that can be read.
        place: the key.

    Returns:
        None where finding it would cost too much.
    """
    best_depth, best = 0, 1  # the table of the whole file begins on its first line
    walk = _Walk()
    try:
        for line, statement, table in _statements(text):
            depth, base = walk.depth(statement, table, place)
            if depth > best_depth:
                best_depth, best = depth, line
                index = next((part for part in place[base:depth] if isinstance(part, int)), None)
                if index is not None:
                    best += _line_of_element(statement, index)
                if depth == len(place):
                    break
    except _NotFound:
        return None
    return best


def table_lines(text: str, key: str) -> Mapping[int, int]:
    """Give the lines of the tables of an array, by their index from 0, as far as they are found."""
    found: dict[int, int] = {}
    walk = _Walk()
    with contextlib.suppress(_NotFound):
        for line, statement, table in _statements(text):
            walk.depth(statement, table, ())
            if statement.lstrip(" \t").startswith("["):
                match walk.table:
                    case (name, int(index)) if name == key:
                        found.setdefault(index, line)
            elif not walk.table and isinstance(table.get(key), list):
                for index in range(len(table[key])):
                    found[index] = line + _line_of_element(statement, index)
    return found


class _NotFound(Exception):
    """Looking on would cost too much, or the statement on `line` cannot be read."""

    def __init__(self, line: int | None = None) -> None:
        super().__init__()
        self.line = line


class _Walk:
    """Knows which table the statements of a text are in."""

    def __init__(self) -> None:
        self.table: Place = ()
        self._last: dict[Place, int] = {}

    def depth(self, statement: str, table: Mapping[str, Any], place: Place) -> tuple[int, int]:
        """Say how much of a place a statement holds, and how much of it the table it is in."""
        if statement.lstrip(" \t").startswith("["):
            self.table = self._header(table)
            return _common(self.table, place), len(self.table)
        base = len(self.table)
        if self.table != place[:base]:
            return 0, base
        value: object = table
        depth = base
        for part in place[base:]:
            match value, part:
                case dict(), str() if part in value:
                    value = value[part]
                case list(), int() if part < len(value):
                    value = value[part]
                case _:
                    break
            depth += 1
        return depth, base

    def _header(self, table: Mapping[str, Any]) -> Place:
        place: Place = ()
        value: object = table
        while isinstance(value, dict) and value:
            name, value = next(iter(value.items()))
            place = (*place, name)
            if isinstance(value, list):
                self._last[place] = self._last.get(place, -1) + 1
                return (*place, self._last[place])
            if value and place in self._last:
                place = (*place, self._last[place])
        return place


def _common(one: Place, other: Place) -> int:
    depth = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        depth += 1
    return depth


def _statements(text: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Cut a text into its statements: first line, text, and what it says by itself.

    A statement is the shortest run of whole lines that can be read: none whose value goes on in
    the next line can.

    Raises:
        _NotFound: a statement cannot be read, or all of it costs more than it may.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    parsed = count = 0
    start = 0
    while start < len(lines):
        end = start + 1
        statement = lines[start]
        while True:
            parsed += len(statement) + 1
            count += 1
            if parsed > _MOST_PARSED or count > _MOST_STATEMENTS:
                raise _NotFound
            try:
                table = tomllib.loads(statement)
            except tomllib.TOMLDecodeError:
                if end == len(lines):
                    raise _NotFound from None
                statement = f"{statement}\n{lines[end]}"
                end += 1
            except (ValueError, RecursionError):
                raise _NotFound(start + 1) from None
            else:
                yield start + 1, statement, table
                break
        start = end


def _unreadable_line(text: str) -> int | None:
    try:
        for _ in _statements(text):
            pass
    except _NotFound as found:
        return found.line
    return None


def _line_of_element(statement: str, index: int) -> int:
    """Say how many lines of `key = [...]` come before the one that an element begins on."""
    lines = _element_lines(statement)
    return lines[index] if index < len(lines) else 0


@lru_cache(maxsize=4)
def _element_lines(statement: str) -> tuple[int, ...]:
    """Give the line, from 0, that each element of `key = [...]` begins on; none of another value.

    Strings and comments out of the way, brackets and commas tell the elements apart.
    """
    bare = _strings_and_comments.sub(_stand_in, statement)
    key, _, value = bare.partition("=")
    line, depth, is_next = key.count("\n"), 0, False
    found: list[int] = []
    for char in value:
        if char == "\n":
            line += 1
        elif char in " \t\r":
            continue
        elif depth == 0 and char != "[":
            break
        else:
            if is_next and char != "]":
                found.append(line)
            is_next = (depth == 0 and char == "[") or (depth == 1 and char == ",")
            depth += (char in "[{") - (char in "]}")
    return tuple(found)


def _require_short_keys(text: str, error: type[TomlError]) -> None:
    # A string in quotes is one part of a key, like a word. What is no TOML up to here has been
    # refused by the parser before it comes to what this look may have taken for something else.
    bare = _strings_and_comments.sub(_stand_in, text)
    found = _long_key.search(bare)
    if found is not None:
        line = bare.count("\n", 0, found.start()) + 1
        raise error(f"key: expected at most {_MOST_KEY_PARTS} parts, got more", line=line)


def _stand_in(found: re.Match[str]) -> str:
    token = found.group()
    return "" if token.startswith("#") else "x" + "\n" * token.count("\n")


def _syntax_words(message: str, text: str) -> tuple[str, int | None]:
    said = _said_place.fullmatch(message)
    if said is None:
        return f"file: expected TOML, got: {ascii(message)[1:-1]}", None
    what, number, column = said.groups()
    shown = ascii(what)[1:-1][:_SHOWN_KEY]
    if number is None:
        line = text.rstrip("\n").count("\n") + 1
        return f"{_key_at(text, line)}: expected TOML, got: {shown} (at the end)", line
    line = int(number)
    return f"{_key_at(text, line)}: expected TOML, got: {shown} (column {column})", line


def _key_at(text: str, line: int) -> str:
    lines = text.split("\n", line)
    found = _key_of_line.match(lines[line - 1]) if line <= len(lines) else None
    return "file" if found is None else found.group(1)
