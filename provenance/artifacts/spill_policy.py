"""When a tool's result moves to the store, and what stays of it in the prompt (spec 01.6).

Guarantees: `apply` never raises for content and never loses any: either the outcome holds the very
object that came in, or a text within the cap whose beginning and end are the original's, with a
notice between them, and the whole original is in the store under the pointer of the notice.

Example:
    >>> policy = SpillPolicy(None, "s1")
    >>> outcome = policy.apply("x" * 60_000, tool="fetch")
    >>> len(outcome.content), outcome.artifact, outcome.reason.value
    (60000, None, 'no_store')
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from provenance.artifacts.failures import SpillArgumentError
from provenance.artifacts.heads import Unit, keep_ends, shape_of, size_in
from provenance.artifacts.names import automatic_name
from provenance.artifacts.store import SpilledArtifact
from provenance.errors import CallerError, CtxauditError

__all__ = [
    "BASH_MAX_INLINE_CHARS",
    "DEFAULT_MAX_INLINE_BYTES",
    "SpillOutcome",
    "SpillPolicy",
    "SpillReason",
    "SpillStore",
]

DEFAULT_MAX_INLINE_BYTES = 50_000
BASH_MAX_INLINE_CHARS = 30_000
"""For the tool `bash`, characters count instead of bytes (spec 01.6)."""

# As many lines as `ArtifactStore.read` gives by default.
_LINES_TO_READ = 2000

ContentT = TypeVar("ContentT")


class SpillReason(StrEnum):
    """Why a result was spilled or was not; closed, stable.

    - `spilled`: it was larger than the cap and is in the store now.
    - `within_cap`: it fits.
    - `not_plain_text`: no `str` (blocks, images, bytes): nobody could cut it.
    - `read_of_spill`: it was read back from the store; spilling it again would go round in circles.
    - `blocked_call`: the call was refused, so there is no result to keep.
    - `unknown_kind`: a `kind` that this version does not know.
    - `no_store`: there is nowhere to put it.
    - `not_encodable`: it holds lone surrogates and has no UTF-8 form.
    - `notice_over_cap`: the notice alone would be larger than the cap.
    - `store_refused`: the store refuses this session, tool, call id or content.
    - `store_failed`: the disk is full, a link stands in the way, a lock was not to be had, ...
    """

    SPILLED = "spilled"
    WITHIN_CAP = "within_cap"
    NOT_PLAIN_TEXT = "not_plain_text"
    READ_OF_SPILL = "read_of_spill"
    BLOCKED_CALL = "blocked_call"
    UNKNOWN_KIND = "unknown_kind"
    NO_STORE = "no_store"
    NOT_ENCODABLE = "not_encodable"
    NOTICE_OVER_CAP = "notice_over_cap"
    STORE_REFUSED = "store_refused"
    STORE_FAILED = "store_failed"


_KIND_REASONS = {
    "spill_read": SpillReason.READ_OF_SPILL,
    "blocked": SpillReason.BLOCKED_CALL,
}


@dataclass(frozen=True, slots=True)
class SpillOutcome(Generic[ContentT]):
    """What goes into the prompt.

    Attributes:
        content: the object that came in, or the shortened text.
        artifact: what was stored; None where the original stays.
        reason: why.
        failure: code of the error that kept the original inline; None where there was none.
    """

    content: ContentT | str
    artifact: SpilledArtifact | None
    reason: SpillReason
    failure: str | None = None


class SpillStore(Protocol):
    """What a policy needs of a store; `ArtifactStore` is one."""

    def spill(
        self,
        session_id: str,
        content: str,
        *,
        tool: str | None = None,
        call_id: str | None = None,
    ) -> SpilledArtifact:
        """Store the content and give its pointer."""
        ...


class SpillPolicy:
    """The rule of one session."""

    def __init__(
        self,
        store: SpillStore | None,
        session_id: str,
        *,
        max_inline_bytes: int = DEFAULT_MAX_INLINE_BYTES,
    ) -> None:
        """Take the store (None: everything stays inline), the session and the cap in bytes.

        Raises:
            SpillArgumentError: the cap is no whole number of 1 or more.
        """
        if type(max_inline_bytes) is not int or max_inline_bytes < 1:
            raise SpillArgumentError("max_inline_bytes: expected a whole number of 1 or more")
        self._store = store
        self._session_id = session_id
        self._max_inline_bytes = max_inline_bytes

    def apply(
        self,
        content: ContentT,
        *,
        tool: str,
        call_id: str | None = None,
        kind: str = "result",
    ) -> SpillOutcome[ContentT]:
        """Decide about one result.

        Args:
            content: the result; a `str` may move to the store, anything else stays.
            tool: the tool's name; `bash` has a cap of its own.
            call_id: the call's id, for the ledger.
            kind: `result`, `spill_read` (a read of a spill) or `blocked` (a refused call).
        """
        # 1. What is never spilled.
        if kind != "result":
            return _stays(content, _KIND_REASONS.get(kind, SpillReason.UNKNOWN_KIND))
        if not isinstance(content, str):
            return _stays(content, SpillReason.NOT_PLAIN_TEXT)
        # 2. The cap, strictly.
        unit, cap = Unit.BYTES, self._max_inline_bytes
        if tool == "bash":
            unit, cap = Unit.CHARACTERS, BASH_MAX_INLINE_CHARS
        if _fits(content, unit, cap):
            return _stays(content, SpillReason.WITHIN_CAP)
        # 3. What would fail anyway, before anything is stored.
        if self._store is None:
            return _stays(content, SpillReason.NO_STORE)
        try:
            total_bytes = len(content.encode("utf-8"))
        except UnicodeEncodeError:
            return _stays(content, SpillReason.NOT_ENCODABLE)
        whole = _Whole(content, total_bytes, content.count("\n") + 1)
        shortest = f"artifact:{self._session_id}:{automatic_name(1)}:{'0' * 64}"
        if _form_within(cap, shortest, whole) is None:
            return _stays(content, SpillReason.NOTICE_OVER_CAP)
        # 4. Store the whole, then shorten. Whatever a store does, the result stays a result.
        try:
            artifact = self._store.spill(self._session_id, content, tool=tool, call_id=call_id)
            text = _shortened(whole, artifact.pointer, unit, cap)
        except CallerError as error:
            return _stays(content, SpillReason.STORE_REFUSED, error.code)
        except CtxauditError as error:
            return _stays(content, SpillReason.STORE_FAILED, error.code)
        except Exception as error:  # noqa: BLE001 - a successful call must not become an error
            return _stays(content, SpillReason.STORE_FAILED, type(error).__name__)
        if text is None:
            return _stays(content, SpillReason.NOTICE_OVER_CAP)
        return SpillOutcome(text, artifact, SpillReason.SPILLED)


@dataclass(frozen=True, slots=True)
class _Whole:
    """The original, with its size and (an upper bound of) its lines."""

    text: str
    bytes: int
    lines: int


def _stays(
    content: ContentT, reason: SpillReason, failure: str | None = None
) -> SpillOutcome[ContentT]:
    return SpillOutcome(content, None, reason, failure)


def _fits(text: str, unit: Unit, cap: int) -> bool:
    if len(text) > cap:
        return False
    if unit is Unit.CHARACTERS or 4 * len(text) <= cap:
        return True
    return len(text.encode("utf-8", "surrogatepass")) <= cap


def _long_notice(pointer: str, left_out: int, total: int, first: int, last: int) -> str:
    return (
        f"[ctxaudit: {left_out} of {total} bytes are left out here, from line {first} on.\n"
        f"The whole result is kept as {pointer}\n"
        f"To read on from there:\n"
        f"    ctxaudit show {pointer} --lines {first}:{last}\n"
        f'or store.read("{pointer}", offset={first - 1}, limit={last - first + 1})]'
    )


def _short_notice(pointer: str, left_out: int, total: int, first: int, last: int) -> str:
    # `total` and `offset` are left to the reader: the pointer is what must fit.
    return (
        f"[{left_out} of {total} bytes left out; store.read(pointer, {first - 1}) or\n"
        f"ctxaudit show {pointer} --lines {first}:{last}]"
    )


_Form = Callable[[str, int, int, int, int], str]


def _form_within(cap: int, pointer: str, whole: _Whole) -> tuple[_Form, int] | None:
    """Choose the notice and give its greatest size; None where not even the short one fits."""
    for form, most in ((_long_notice, cap // 2), (_short_notice, cap)):
        # Every number at its greatest, and a line end on either side.
        size = len(form(pointer, whole.bytes, whole.bytes, whole.lines, 2 * whole.lines)) + 2
        if size <= most:
            return form, size
    return None


def _shortened(whole: _Whole, pointer: str, unit: Unit, cap: int) -> str | None:
    """Give head, notice and tail; None where they do not fit the cap."""
    chosen = _form_within(cap, pointer, whole)
    if chosen is None:
        return None
    form, reserved = chosen
    text = whole.text
    ends = keep_ends(text, room=cap - reserved, unit=unit, shape=shape_of(text))
    left_out = whole.bytes - size_in(Unit.BYTES, ends.head) - size_in(Unit.BYTES, ends.tail)
    # Lines from 1, as a person counts; those that are cut are counted as left out.
    first = ends.head.count("\n") + 1
    before_tail = len(text) - len(ends.tail)
    last = text.count("\n", 0, before_tail) + (text[before_tail - 1] != "\n")
    last = min(max(first, last), first + _LINES_TO_READ - 1)
    start = "" if not ends.head or ends.head.endswith("\n") else "\n"
    notice = form(pointer, left_out, whole.bytes, first, last)
    shortened = f"{ends.head}{start}{notice}\n{ends.tail}"
    return shortened if size_in(unit, shortened) <= cap else None
