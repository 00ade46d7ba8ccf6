"""Makes the records of other agents' transcripts as bytes: real shapes and sizes, made-up text.

Guarantees: the same seed gives the same bytes on every machine. Each record is one line of strict
JSON. No id is given twice by one `Ids`; every call gets its result, every parent stands before its
child, times only rise: a check finds nothing worse than a file that ends in an open call.

The sizes are those of the samples in `tests/data/transcripts`: 0.4 to 1 KB for what only frames a
conversation, 1 to 2 KB for what the model says, a few KB and a long tail for results, of which
many stand in the record twice (`toolUseResult`). About 2.5 KB a record.

Example:
    writer = SessionWriter(Ids(), Texts(), session=b"s1", agent=None)
    lines = next(writer.turns())
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

__all__ = ["SEED", "Ids", "RolloutWriter", "SessionWriter", "Texts"]

SEED = 20_260_129

_POOL_LINES = 20_000
_FIRST_TIME = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
# Odd, so that multiplying by it modulo a power of two gives each number a number of its own.
_SPREAD = 0x9E3779B97F4A7C15F39CC0605CEDC835
_WORDS = (
    *("session", "state", "check", "path", "value", "error", "result", "config", "index"),
    *("record", "output", "command", "request", "branch", "update", "parse", "write", "commit"),
    *("handler", "context", "buffer", "token", "message", "input", "worker", "folder"),
)
# As they stand in JSON: quotes and tabs escaped. Braces and colons are as frequent as in code.
_SHAPES = (
    "    if err := {0}.{1}(ctx, args[{n}]); err != nil {{",
    '\\t\\treturn fmt.Errorf(\\"{0} {1}: %w\\", {2})',
    "def {0}_{1}(self, {2}: str) -> dict[str, int]:",
    "- The {0} of the {1} is read before its {2} is written, and again after it.",
    "{0}/{1}/{2}_{n}.go:{n}:\\tfunc Test{0}(t *testing.T) {{ {1}[{n}] = {2} }}",
    '{{\\"{0}\\": \\"{1}\\", \\"{2}\\": [{n}, {n}]}},',
    "ok  \\tgithub.com/example/{0}/{1}\\t0.{n}s",
    "The {0} needs the {1}; what the {2} says about line {n} does not hold any more.",
    "",
)
_FOREIGN = (
    "naïve {0} — „{1}“ … {2}",
    "✓ {0} → {1} ({n} ms)",
    "会话记录必须完整\uff1a{0}\uff0c{1}",
)


class Ids:
    """Gives ids that look random; all that one of these gives are different."""

    def __init__(self) -> None:
        """Begin at the first one."""
        self._next = 0

    def uuid(self) -> bytes:
        """Give a UUID."""
        text = self._digits()
        return b"-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))

    def short(self) -> bytes:
        """Give 24 hex digits, for ids with a prefix."""
        return self._digits()[8:]

    def _digits(self) -> bytes:
        self._next += 1
        return b"%032x" % (self._next * _SPREAD & (1 << 128) - 1)


class Texts:
    """Pieces of text as they stand between the quotes of JSON, cut out of one pool."""

    def __init__(self) -> None:
        """Make the pool: lines of code and prose, one in forty of them not ASCII."""
        self.rng = random.Random(SEED)
        lines = [self._line(number) for number in range(_POOL_LINES)]
        self._plain, self._plain_ends = _joined(lines)
        # As a read file is shown, each line with its number and an arrow.
        self._shown, self._shown_ends = _joined(
            [f"{number % 2_000 + 1:>6}→{line}" for number, line in enumerate(lines)]
        )

    def plain(self, size: int) -> bytes:
        """Give about `size` bytes of text."""
        return self._cut(self._plain, self._plain_ends, size)

    def shown(self, size: int) -> bytes:
        """Give about `size` bytes of a file with numbered lines."""
        return self._cut(self._shown, self._shown_ends, size)

    def about(self, mean: int) -> int:
        """Give a size: small ones are frequent, large ones rare."""
        return min(int(self.rng.expovariate(1 / mean)), 40 * mean)

    def _line(self, number: int) -> str:
        rng = self.rng
        shape = rng.choice(_FOREIGN if number % 40 == 0 else _SHAPES)
        return shape.format(*rng.choices(_WORDS, k=3), n=rng.randrange(1_000))

    def _cut(self, pool: bytes, ends: list[int], size: int) -> bytes:
        count = min(size * (len(ends) - 1) // len(pool) + 1, len(ends) - 1)
        first = int(self.rng.random() * (len(ends) - count))
        return pool[ends[first] : ends[first + count]]


def _joined(lines: list[str]) -> tuple[bytes, list[int]]:
    """Join lines with escaped line ends; the places where a line ends, the first one 0."""
    encoded = [line.encode() + b"\\n" for line in lines]
    ends = [0]
    for line in encoded:
        ends.append(ends[-1] + len(line))
    return b"".join(encoded), ends


class _Clock:
    """A time that only rises."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._now = _FIRST_TIME + timedelta(seconds=rng.randrange(300 * 86_400))

    def tick(self) -> bytes:
        self._now += timedelta(milliseconds=int(self._rng.random() * 9_000) + 1)
        return self._now.isoformat(timespec="milliseconds")[:23].encode() + b"Z"


_HEAD = (
    b'{"parentUuid":%s,"isSidechain":%s,"userType":"external","cwd":"/home/user/project",'
    b'"sessionId":"%s",%s"version":"2.1.33","gitBranch":"main","slug":"groovy-toasting-penguin",'
)
_TAIL = b'"uuid":"%s","timestamp":"%s"'
_SNAPSHOT = (
    b'{"type":"file-history-snapshot","messageId":"%s","snapshot":{"messageId":"%s",'
    b'"trackedFileBackups":{"cmd/main.go":{"backupFileName":"%s@v2","version":2,'
    b'"backupTime":"%s"}},"timestamp":"%s"},"isSnapshotUpdate":false}\n'
)
_PROMPT = b'"type":"user","message":{"role":"user","content":"%s"},'
_SAID = (
    b'"message":{"model":"claude-opus-4-5-20251101","id":"msg_%s","type":"message",'
    b'"role":"assistant","content":[%s],"stop_reason":null,"stop_sequence":null,"usage":'
    b'{"input_tokens":9,"cache_creation_input_tokens":40660,"cache_read_input_tokens":0,'
    b'"cache_creation":{"ephemeral_5m_input_tokens":40660,"ephemeral_1h_input_tokens":0},'
    b'"output_tokens":8,"service_tier":"standard"}},"requestId":"req_%s","type":"assistant",'
)
_THINKING = b'{"type":"thinking","thinking":"%s","signature":"%s"}'
_TEXT = b'{"type":"text","text":"%s"}'
_CALL = (
    b'{"type":"tool_use","id":"toolu_%s","name":"Bash","input":{"command":"%s","description":'
    b'"Runs the tests","timeout":120000}}'
)
_PROGRESS = (
    b'"type":"progress","data":{"type":"bash_progress","output":"%s","elapsedTimeSeconds":2,'
    b'"totalLines":41},"toolUseID":"bash-progress-0","parentToolUseID":"toolu_%s",'
)
_RESULT = (
    b'"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%s",'
    b'"type":"tool_result","content":"%s","is_error":false}]},'
)
_OUTCOME = b',"toolUseResult":{"stdout":"%s","stderr":"","interrupted":false,"isImage":false}'
_HOOK = (
    b'"type":"system","subtype":"stop_hook_summary","hookCount":1,"hookInfos":[{"command":"go run '
    b'cmd/main.go hooks stop"}],"hookErrors":[],"preventedContinuation":false,"stopReason":"",'
    b'"hasOutput":true,"level":"suggestion",'
)
_BOUNDARY = (
    b'"type":"system","subtype":"compact_boundary","content":"Conversation compacted","level":'
    b'"info","isMeta":false,"compactMetadata":{"trigger":"auto","preTokens":155000},'
)
_TURNS_A_BOUNDARY = 40


class SessionWriter:
    """Makes one file of Claude Code: a session, or a sub-agent of one."""

    def __init__(self, ids: Ids, texts: Texts, *, session: bytes, agent: bytes | None) -> None:
        """Take the session's id, and for a sub-agent its own."""
        self._ids = ids
        self._texts = texts
        self._clock = _Clock(texts.rng)
        self._session = session
        self._is_side = b"false" if agent is None else b"true"
        self._agent = b"" if agent is None else b'"agentId":"%s",' % agent
        self._parent = b"null"

    def turns(self) -> Iterator[list[bytes]]:
        """Give the lines of one turn after the other, without end."""
        number = 0
        while True:
            number += 1
            lines = [self._snapshot()]
            if number % _TURNS_A_BOUNDARY == 0:
                logical = b',"logicalParentUuid":%s' % self._parent
                self._parent = b"null"
                lines.append(self._record(_BOUNDARY, more=logical))
            lines.append(self._record(_PROMPT % self._some(400)))
            for _ in range(1 + int(self._texts.rng.random() * 8)):
                lines += self._step()
            lines.append(self._said(self._ids.short(), _TEXT % self._some(900)))
            lines.append(self._record(_HOOK))
            yield lines

    def _step(self) -> Iterator[bytes]:
        """Give one message of the model in its parts, a call last, and what came of the call."""
        texts, call, message = self._texts, self._ids.short(), self._ids.short()
        chance = texts.rng.random()
        if chance < 0.4:
            signature = self._ids.short() * 24
            yield self._said(message, _THINKING % (self._some(600), signature))
        elif chance < 0.7:
            yield self._said(message, _TEXT % self._some(300))
        yield self._said(message, _CALL % (call, self._some(400)))
        if chance < 0.5:
            yield self._record(_PROGRESS % (self._some(80), call))
        if chance < 0.45:
            shown = texts.shown(texts.about(5_500))
            yield self._record(_RESULT % (call, shown))
        else:
            output = self._some(3_400)
            yield self._record(_RESULT % (call, output), more=_OUTCOME % output)

    def _some(self, mean: int) -> bytes:
        return self._texts.plain(self._texts.about(mean))

    def _said(self, message: bytes, block: bytes) -> bytes:
        return self._record(_SAID % (message, block, message))

    def _record(self, body: bytes, *, more: bytes = b"") -> bytes:
        uuid = self._ids.uuid()
        head = _HEAD % (self._parent, self._is_side, self._session, self._agent)
        self._parent = b'"%s"' % uuid
        return head + body + _TAIL % (uuid, self._clock.tick()) + more + b"}\n"

    def _snapshot(self) -> bytes:
        message, time = self._ids.uuid(), self._clock.tick()
        return _SNAPSHOT % (message, message, self._ids.short(), time, time)


_ROLLOUT_META = (
    b'{"timestamp":"%s","type":"session_meta","payload":{"id":"%s","timestamp":"%s","cwd":'
    b'"/home/user/project","originator":"codex_cli_rs","cli_version":"0.40.0","instructions":null}}'
    b"\n"
)
_ROLLOUT = b'{"timestamp":"%s","type":"%s","payload":{"type":"%s",%s}}\n'
_ROLLOUT_SAID = b'"role":"%s","content":[{"type":"%s","text":"%s"}]'
_ROLLOUT_THOUGHT = (
    b'"summary":[{"type":"summary_text","text":"%s"}],"content":null,"encrypted_content":"%s"'
)
_ROLLOUT_CALL = (
    b'"name":"shell","arguments":"{\\"command\\":[\\"bash\\",\\"-lc\\",\\"ls\\"],'
    b'\\"timeout_ms\\":120000}","call_id":"call_%s"'
)
_ROLLOUT_TOKENS = (
    b'"info":{"total_token_usage":{"input_tokens":2899,"cached_input_tokens":2560,'
    b'"output_tokens":100,"reasoning_output_tokens":64,"total_tokens":2999},'
    b'"model_context_window":272000},"rate_limits":{"primary_used_percent":0.0,'
    b'"secondary_used_percent":15.0,"primary_window_minutes":299}'
)
_ITEM, _EVENT = b"response_item", b"event_msg"


class RolloutWriter:
    """Makes one rollout of Codex."""

    def __init__(self, ids: Ids, texts: Texts, *, session: bytes) -> None:
        """Take the session's id."""
        self._ids = ids
        self._texts = texts
        self._clock = _Clock(texts.rng)
        self._session = session

    def turns(self) -> Iterator[list[bytes]]:
        """Give the lines of one turn after the other, without end; the first line is the header."""
        time = self._clock.tick()
        yield [_ROLLOUT_META % (time, self._session, time)]
        while True:
            prompt = self._some(500)
            said = _ROLLOUT_SAID % (b"user", b"input_text", prompt)
            lines = [self._line(_ITEM, b"message", said)]
            lines.append(self._line(_EVENT, b"user_message", b'"message":"%s"' % prompt))
            for _ in range(1 + int(self._texts.rng.random() * 8)):
                lines += self._step()
            said = _ROLLOUT_SAID % (b"assistant", b"output_text", self._some(900))
            lines.append(self._line(_ITEM, b"message", said))
            yield lines

    def _step(self) -> Iterator[bytes]:
        call = self._ids.short()
        thought = _ROLLOUT_THOUGHT % (self._some(200), self._ids.short() * 40)
        yield self._line(_ITEM, b"reasoning", thought)
        yield self._line(_ITEM, b"function_call", _ROLLOUT_CALL % call)
        output = b'"call_id":"call_%s","output":"%s"' % (call, self._some(4_000))
        yield self._line(_ITEM, b"function_call_output", output)
        yield self._line(_EVENT, b"token_count", _ROLLOUT_TOKENS)

    def _some(self, mean: int) -> bytes:
        return self._texts.plain(self._texts.about(mean))

    def _line(self, outer: bytes, kind: bytes, payload: bytes) -> bytes:
        return _ROLLOUT % (self._clock.tick(), outer, kind, payload)
