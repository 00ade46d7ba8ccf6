r"""Globs of policies: which can match anything and which match all, so that no rule is in vain.

Guarantees: pure, in time that grows with the length of the glob. What is accepted means to
`fnmatch.fnmatchcase` what it looks like: each class is closed, has its ranges the right way round
and is denied by `!`. Whether a name of the pointer grammar can match, and whether each one does, is
decided from its signs and its length alone.

Example:
    >>> can_match_name(parse_glob("hr-*")), can_match_name(parse_glob("hr/*"))
    (True, False)
    >>> matches_every_name(parse_glob("?*")), matches_every_name(parse_glob("a*"))
    (True, False)
"""

from __future__ import annotations

import string
from collections.abc import Sequence

from provenance.errors import CallerError

__all__ = ["GlobError", "Token", "can_match_name", "matches_every_name", "parse_glob"]

# Of session ids and file names: `provenance.pointers` has the grammar, and a test compares them.
_FIRST = frozenset(string.ascii_letters + string.digits)
_NEXT = _FIRST | frozenset("._-")
_MOST_CHARACTERS = 200

# Which signs of the grammar match one place of a glob; None: a star.
Token = frozenset[str] | None


class GlobError(CallerError, ValueError):
    """A glob does not mean what it looks like; the message says what was expected."""

    code = "invalid_glob"


def parse_glob(glob: str) -> tuple[Token, ...]:
    """Take a glob apart.

    Raises:
        GlobError: a class is not closed, has a range that holds nothing, or begins with `^`.
    """
    tokens: list[Token] = []
    at = 0
    while at < len(glob):
        sign = glob[at]
        at += 1
        if sign == "*":
            if not tokens or tokens[-1] is not None:
                tokens.append(None)
        elif sign == "?":
            tokens.append(_NEXT)
        elif sign == "[":
            # As fnmatch looks for the end: a bracket right at the beginning is one of the class.
            begin = at + glob[at : at + 1].count("!")
            end = glob.find("]", begin + 1)
            if end < 0:
                raise GlobError(f"expected a class that is closed, got {glob[at - 1 :][:40]!a}")
            tokens.append(_class(glob[at:end]))
            at = end + 1
        else:
            tokens.append(_NEXT & {sign})
    return tuple(tokens)


def can_match_name(tokens: Sequence[Token]) -> bool:
    """Say whether a session id or a file name of the grammar can match a glob."""
    places = [token for token in tokens if token is not None]
    if len(places) > _MOST_CHARACTERS or not all(places) or not tokens:
        return False
    # A star before them can stand for the first sign, unless there is no room for one more.
    is_first = tokens[0] is not None or len(places) == _MOST_CHARACTERS
    return not is_first or bool(places[0] & _FIRST)


def matches_every_name(tokens: Sequence[Token]) -> bool:
    """Say whether a glob matches each session id and each file name of the grammar."""
    places = [token for token in tokens if token is not None]
    # Names are of any length, down to one sign.
    if None not in tokens or len(places) > 1:
        return False
    # A place at the end has to take what is never the first sign, too.
    needed = _NEXT if tokens[-1] is not None else _FIRST
    return all(place >= needed for place in places)


def is_covered(other: Sequence[Token], by: Sequence[Token]) -> bool:
    """Say whether each name that a glob matches is matched `by` another one; False: not known.

    True is always so. Two globs between which only a look at whole names decides (`[ab]*` beside
    `a*` and `b*` together, or `*` beside `?*`) are not known to be.
    """
    # Which ends of `by` cover the rest of `other`, from its end on.
    rest = [True] + [False] * len(by)
    for count in range(1, len(by) + 1):
        rest[count] = by[len(by) - count] is None and rest[count - 1]
    for token in reversed(other):
        now = [False] * (len(by) + 1)
        for count in range(1, len(by) + 1):
            place = by[len(by) - count]
            if place is None:
                now[count] = now[count - 1] or rest[count]
            else:
                now[count] = token is not None and token <= place and rest[count - 1]
        rest = now
    return rest[len(by)]


def _class(inner: str) -> frozenset[str]:
    shown = f"[{inner[:40]}]"
    if inner.startswith("^"):
        raise GlobError(f"expected [!...] for what is not in a class, got {shown!a}")
    is_denied = inner.startswith("!")
    members = inner[is_denied:]
    held: set[str] = set()
    at = 0
    while at < len(members):
        low, high = members[at], members[at]
        if members[at + 1 : at + 2] == "-" and at + 2 < len(members):
            high = members[at + 2]
            at += 2
        at += 1
        if low > high:
            raise GlobError(f"expected ranges from low to high, got {shown!a}")
        held.update(sign for sign in _NEXT if low <= sign <= high)
    return _NEXT - held if is_denied else frozenset(held)
