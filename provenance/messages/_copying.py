"""A structural copy of a message: new containers, the same strings.

Guarantees: changing the copy in place never changes the original. What cannot be copied at all is
shared; depth and containers inside themselves do no harm.

Example:
    >>> message = {"role": "user", "content": [{"type": "text", "text": "hello"}]}
    >>> copied = copy_message(message)
    >>> copied == message, copied["content"][0] is message["content"][0]
    (True, False)
"""

from __future__ import annotations

import copy

from provenance.messages._fields import LEAVES

__all__ = ["copy_message"]


def copy_message(message: object) -> object:
    """Copy a message.

    Args:
        message: a mapping or an object; an SDK object is copied by its own `model_copy`.
    """
    try:
        return _copied(message)
    except RecursionError:
        return _copied_slowly(message)


def _copied(value: object) -> object:
    kind = type(value)
    if kind is str:
        return value
    if kind is dict:
        return {
            name: item if type(item) is str else _copied(item)
            for name, item in value.items()  # type: ignore[attr-defined]
        }
    if kind is list:
        return [_copied(item) for item in value]  # type: ignore[attr-defined]
    if kind in LEAVES:
        return value
    if kind is tuple:
        return tuple([_copied(item) for item in value])  # type: ignore[attr-defined]
    return _copied_object(value)


def _copied_object(value: object) -> object:
    try:
        if callable(copier := getattr(value, "model_copy", None)):
            made: object = copier(deep=True)
            return made
        return copy.deepcopy(value)
    except RecursionError:
        raise
    except Exception:  # noqa: BLE001 - somebody else's class may refuse in any way
        return _copied_flat(value)


def _copied_flat(value: object) -> object:
    try:
        return copy.copy(value)
    except Exception:  # noqa: BLE001 - as above
        return value


def _copied_slowly(root: object) -> object:
    """The same without recursion; what holds itself holds its copy in the copy."""
    done: dict[int, object] = {}
    waiting: list[tuple[object, object]] = []

    def begun(value: object) -> object:
        kind = type(value)
        if kind is not dict and kind is not list:
            if kind in LEAVES or kind is tuple:
                return value  # what a tuple holds is shared: this deep, nobody's message is
            try:
                return _copied_object(value)
            except RecursionError:
                return value
        made = done.get(id(value))
        if made is None:
            made = done[id(value)] = {} if kind is dict else []
            waiting.append((value, made))
        return made

    result = begun(root)
    while waiting:
        source, made = waiting.pop()
        if isinstance(source, dict) and isinstance(made, dict):
            for name, item in source.items():
                made[name] = begun(item)
        elif isinstance(source, list) and isinstance(made, list):
            made.extend([begun(item) for item in source])
    return result
