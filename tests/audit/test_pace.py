"""Cutting pointers into batches."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from provenance.audit.pace import Pace, batches

_pointers = st.lists(
    st.builds(
        "transcript:{}:{}".format, st.sampled_from(["a", "a.b", "a-b", "b"]), st.integers(1, 9)
    )
    | st.builds("artifact:{}:f:{}".format, st.sampled_from("ab"), st.integers(1, 9))
    | st.text(max_size=5),
    unique=True,
).map(sorted)


@given(_pointers, st.integers(1, 5))
def test_nothing_is_lost_and_a_transcript_stays_in_one_batch(
    pointers: list[str], size: int
) -> None:
    cut = list(batches(pointers, Pace(size=size)))
    assert [pointer for batch in cut for pointer in batch] == pointers
    seen: set[str] = set()
    for batch in cut:
        assert batch
        sessions = {p.rpartition(":")[0] for p in batch if p.startswith("transcript:")}
        assert not sessions & seen
        seen |= sessions


def test_the_size_follows_the_time() -> None:
    pace = Pace(size=4, largest=10)
    sizes = []
    for seconds in (0.01, 0.01, 0.3, 2.0, 2.0, 2.0, 2.0):
        pace.took(seconds)
        sizes.append(pace.size)
    assert sizes == [8, 10, 10, 5, 2, 1, 1]


def test_processes_get_large_batches() -> None:
    assert Pace.for_jobs(2).size > Pace.for_jobs(1).size
