"""Numbers in a row, said in few words: `5 to 6, 9`.

Guarantees: pure; what is said is bounded, however many numbers there are.

Example:
    >>> say_numbers([5, 6, 9])
    '5 to 6, 9'
    >>> say_numbers(range(1, 40, 2), most=2)
    '1, 3 and 18 more'
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["ranges_of", "say_numbers"]


def ranges_of(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Give the first and last number of each run of numbers that follow one another."""
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ranges


def say_numbers(numbers: Iterable[int], *, most: int = 8) -> str:
    """Say which numbers, as ranges; of more than `most` ranges, how many numbers are left out."""
    ranges = ranges_of(numbers)
    said = ", ".join(
        str(first) if first == last else f"{first} to {last}" for first, last in ranges[:most]
    )
    left_out = sum(last - first + 1 for first, last in ranges[most:])
    return f"{said} and {left_out} more" if left_out else said
