"""One page of explanation.

Guarantees: a page is one frozen value; pages are data and hold no logic.

Example:
    >>> Explanation("exit code", "2", "Usage.", "A typo.", "Read --help.").code
    '2'
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Explanation", "Page"]

# meaning, how it arises, what to do, and for some: what looks like it and is none
Page = tuple[str, str, str] | tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a code means.

    Attributes:
        family: `state`, `reason`, `strength`, `finding`, `exit code` or a kind of word.
        code: as it stands in reports.
        meaning: one or two sentences.
        arises: how it comes about.
        remedy: what to do about it.
        look_alike: what is nearest to it and harmless; empty where nothing is.
    """

    family: str
    code: str
    meaning: str
    arises: str
    remedy: str
    look_alike: str = ""
