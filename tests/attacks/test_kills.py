"""`kill -9` at random moments of the durable writes: whole or not at all, and nothing overwritten.

(Kills of the store and of the transcript writer stand with those.) What is killed, and what is
looked at afterwards, is in `kills.py`: a fresh interpreter that forks.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.trees import run_python

pytestmark = pytest.mark.attack


@pytest.mark.parametrize(
    "check",
    [
        "an_output_is_the_old_or_the_new_one(folder)",
        "a_published_file_is_whole_or_not_there(folder, named=False)",
        "a_published_file_is_whole_or_not_there(folder, named=True)",
        "a_log_holds_whole_lines_and_at_its_end_the_beginning_of_one(folder)",
    ],
)
def test_killed_at_random_moments(check: str, tmp_path: Path) -> None:
    done = run_python(
        "import pathlib, sys\nfrom tests.attacks import kills\n"
        f"folder = pathlib.Path(sys.argv[1])\nkills.{check}\nprint('held')",
        tmp_path,
    )
    assert done.stdout == "held\n"
