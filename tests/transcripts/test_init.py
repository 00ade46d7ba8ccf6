"""The package gives its names."""

from __future__ import annotations

import provenance.transcripts as transcripts


def test_every_name_is_there_once() -> None:
    assert list(transcripts.__all__) == sorted(set(transcripts.__all__))
    for name in transcripts.__all__:
        assert getattr(transcripts, name).__module__.startswith("provenance.transcripts.")
