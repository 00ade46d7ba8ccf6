r"""The text inside the content of a tool result, beside what is no text there.

Guarantees: what is no text (pictures, documents, references) is left as it is, in its order; no
value makes a function here fail, and none is changed. What `with_text` puts in, `text_in` gives.

Where text is: strings and text blocks; a search result, as its title, its source and its text; what
a shell wrote, as its two streams.

Example:
    >>> content = [{"type": "text", "text": "long"}, {"type": "image"}, "er"]
    >>> text_in(content, "tool_result")
    'long\ner'
    >>> with_text(content, "tool_result", "cut")
    [{'type': 'text', 'text': 'cut'}, {'type': 'image'}]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from provenance.messages._blocks import DROPPED
from provenance.messages._fields import field, items_of, replaced, text_field

__all__ = ["plain_text", "text_in", "with_text"]

_TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
_SHELL_OUTPUT = "shell_call_output"
_STREAMS = ("stdout", "stderr")


def plain_text(item: object) -> str | None:
    """The text of an item that is nothing but text; None for every other."""
    if isinstance(item, str):
        return item
    if text_field(item, "type") not in _TEXT_TYPES:
        return None
    text = field(item, "text")
    return text if isinstance(text, str) else None


def text_in(content: object, result_type: str) -> str | None:
    """The texts of a result's content, joined by line ends; None where nothing in it is text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    items = items_of(content)
    if items is None:
        return None
    found = [texts for item in items if (texts := _texts_of(item, result_type)) is not None]
    if items and not found:
        return None
    return "\n".join(text for texts in found for text in texts)


def with_text(content: object, result_type: str, text: str) -> object:
    """The content with this text in place of its own.

    Returns:
        The text itself where nothing else is left, and where none of it is text; else a list, in
        which it stands where the first text stood.
    """
    items = items_of(content)
    if items is None or _is_plain(items):
        return text
    texts = [_texts_of(item, result_type) for item in items]
    first = _first(texts)
    if first is None:
        return text
    made = [
        item if found is None else _changed(item, text if index == first else None)
        for index, (item, found) in enumerate(zip(items, texts, strict=True))
    ]
    kept = [item for item in made if item is not DROPPED]
    if _is_plain(kept):
        return text
    return tuple(kept) if isinstance(content, tuple) else kept


def _is_plain(items: Iterable[object]) -> bool:
    return all(plain_text(item) is not None for item in items)


def _texts_of(item: object, result_type: str) -> tuple[str, ...] | None:
    text = plain_text(item)
    if text is not None:
        return (text,)
    if result_type == _SHELL_OUTPUT and (streams := _streams_of(item)):
        return tuple(text for text in streams.values() if text)
    return _texts_of_search(item) if text_field(item, "type") == "search_result" else None


def _first(texts: Sequence[tuple[str, ...] | None]) -> int | None:
    """The first place that has text; where all of it is empty, the first that could have some."""
    for has_text in (bool, lambda found: found is not None):
        for index, found in enumerate(texts):
            if has_text(found):
                return index
    return None


def _changed(item: object, text: str | None) -> object:
    """An item with another text, or without one: then nothing is left of what is text alone."""
    if streams := _streams_of(item):
        return replaced(item, _one_stream(streams, text))
    if text is None:
        return DROPPED
    if isinstance(item, str):
        return text
    if text_field(item, "type") in _TEXT_TYPES:
        return replaced(item, {"text": text})
    return {"type": "text", "text": text}


def _streams_of(item: object) -> dict[str, str]:
    """What a shell wrote, by stream; {} where the item is something else."""
    if field(item, "type") is not None:
        return {}
    return {name: found for name in _STREAMS if isinstance(found := field(item, name), str)}


def _one_stream(streams: dict[str, str], text: str | None) -> dict[str, object]:
    place = next((name for name, found in streams.items() if found), next(iter(streams)))
    return {name: text if name == place and text is not None else "" for name in streams}


def _texts_of_search(item: object) -> tuple[str, ...] | None:
    items = items_of(field(item, "content"))
    texts = [plain_text(one) for one in items or (None,)]
    named = [field(item, name) for name in ("title", "source")]
    found = tuple(text for text in (*named, *texts) if isinstance(text, str))
    # One that is not as it should be is no text: nothing of it may be lost.
    return found if len(found) == len(named) + len(texts) else None
