from __future__ import annotations

import contextlib
import io
import random
import struct
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provenance.findings import Severity
from provenance.limits import Limits
from provenance.transcripts.containers import compressed
from provenance.transcripts.containers.archive import (
    Archive,
    is_name_safe,
    name_for_people,
    read_archive,
)
from provenance.transcripts.records import Fault
from provenance.transcripts.sources import SourceUnreadable
from tests.transcripts.containers.zips import (
    Part,
    close_files,
    deflate,
    end_record,
    make_zip,
    open_file,
)

__all__ = ["close_files"]

LIMITS = Limits()
SMALL = Limits(max_foreign_record_bytes=1 << 20)  # a member: 4 MiB, all of them: 256 MiB
SAMPLE = Path(__file__).parents[2] / "data/transcripts/inspect/log_message_deduplication.eval"


def archive_of(folder: Path, data: bytes, limits: Limits = LIMITS) -> Archive:
    return read_archive(open_file(folder, data), limits=limits)


def refused(folder: Path, data: bytes, limits: Limits = LIMITS) -> str:
    with pytest.raises(SourceUnreadable) as caught:
        archive_of(folder, data, limits)
    assert str(caught.value).startswith("archive: expected ")
    assert str(folder) not in str(caught.value)
    return caught.value.fault


def read_all(archive: Archive) -> dict[str, bytes | Fault]:
    return {name: archive.read(name) for name in archive.members}


def only_fault(folder: Path, part: Part, limits: Limits = LIMITS) -> Fault:
    """The one fault of an archive whose second member is whole and read all the same."""
    data = make_zip([part, Part("whole", b"whole")])
    archive = archive_of(folder, data, limits)
    read = read_all(archive)
    assert read["whole"] == b"whole"
    faults = [*archive.faults, *(one for one in read.values() if isinstance(one, Fault))]
    assert len(faults) == 1
    return faults[0]


# --- whole archives


def test_the_real_sample_is_read_as_the_standard_library_reads_it(tmp_path: Path) -> None:
    archive = archive_of(tmp_path, SAMPLE.read_bytes())
    with zipfile.ZipFile(SAMPLE) as theirs:
        assert list(archive.members) == theirs.namelist()
        assert read_all(archive) == {name: theirs.read(name) for name in theirs.namelist()}
    assert archive.faults == ()


def test_an_empty_archive_has_no_members(tmp_path: Path) -> None:
    archive = archive_of(tmp_path, end_record(0, 0, 0))
    assert archive.members == {}
    assert archive.faults == ()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.text("abcé/", min_size=1, max_size=8), st.binary(max_size=3000), max_size=6),
    st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]),
    st.booleans(),
)
def test_what_the_standard_library_writes_is_read(
    tmp_path: Path, content: dict[str, bytes], method: int, zip64: bool
) -> None:
    content = {f"x{name}x": data for name, data in content.items()}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as theirs:
        for name, data in content.items():
            with theirs.open(name, "w", force_zip64=zip64) as member:
                member.write(data)
    archive = archive_of(tmp_path, stream.getvalue())
    assert read_all(archive) == content
    assert all(fault.code == "archive_names_alike" for fault in archive.faults)


def test_a_stream_with_sizes_behind_the_bytes_is_read(tmp_path: Path) -> None:
    class Pipe(io.RawIOBase):
        def __init__(self) -> None:
            self.parts: list[bytes] = []

        def writable(self) -> bool:
            return True

        def write(self, data: bytes) -> int:  # type: ignore[override]
            self.parts.append(bytes(data))
            return len(data)

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as theirs:
        theirs.writestr("a", b"hello" * 100)
        theirs.writestr("b", b"world")
    archive = archive_of(tmp_path, b"".join(pipe.parts))
    assert read_all(archive) == {"a": b"hello" * 100, "b": b"world"}


def test_a_comment_is_no_fault(tmp_path: Path) -> None:
    archive = archive_of(tmp_path, make_zip([Part("a", b"1")], comment=b"a note"))
    assert read_all(archive) == {"a": b"1"}
    assert archive.faults == ()


# --- what is wrong with an archive as a whole


@pytest.mark.parametrize("size", [*range(0, 8254, 331), 8253])
def test_an_archive_that_is_cut_short_is_invalid(tmp_path: Path, size: int) -> None:
    assert refused(tmp_path, SAMPLE.read_bytes()[:size]) == "container_invalid"


@pytest.mark.parametrize(
    "data", [b"", b"PK", b"PK\x05\x06", b"x" * 70_000, b"\0" * 22, b"PK\x03\x04" * 20]
)
def test_what_is_no_archive_is_invalid(tmp_path: Path, data: bytes) -> None:
    assert refused(tmp_path, data) == "container_invalid"


@pytest.mark.parametrize(("before", "after"), [(b"#!/bin/sh\n", b""), (b"", b"more"), (b"a", b"b")])
def test_bytes_around_an_archive_are_named(tmp_path: Path, before: bytes, after: bytes) -> None:
    archive = archive_of(tmp_path, make_zip([Part("a", b"1")], before=before, after=after))
    assert read_all(archive) == {"a": b"1"}
    assert [fault.code for fault in archive.faults] == ["archive_extra_bytes"] * (
        bool(before) + bool(after)
    )
    assert all(str(len(before or after)) in fault.message for fault in archive.faults[:1])


def test_bytes_before_an_archive_whose_offsets_were_moved_are_named(tmp_path: Path) -> None:
    stream = io.BytesIO()
    stream.write(b"#!/bin/sh\n")
    with zipfile.ZipFile(stream, "a") as theirs:
        theirs.writestr("a", b"1")
    archive = archive_of(tmp_path, stream.getvalue())
    assert [fault.code for fault in archive.faults] == ["archive_extra_bytes"]
    assert read_all(archive) == {"a": b"1"}


def test_a_second_end_record_in_the_comment_is_refused(tmp_path: Path) -> None:
    hidden = make_zip([Part("b", b"2")])
    assert refused(tmp_path, make_zip([Part("a", b"1")], comment=hidden)) == "container_invalid"
    # The nearest miss: a comment that holds the signature where no record has room.
    archive = archive_of(tmp_path, make_zip([Part("a", b"1")], comment=b"PK\x05\x06"))
    assert read_all(archive) == {"a": b"1"}


def test_two_archives_in_a_row_are_the_last_one_and_bytes_before_it(tmp_path: Path) -> None:
    data = make_zip([Part("a", b"1")]) + make_zip([Part("b", b"2")])
    archive = archive_of(tmp_path, data)
    assert read_all(archive) == {"b": b"2"}
    assert [fault.code for fault in archive.faults] == ["archive_extra_bytes"]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_wrong_number_of_members_is_invalid(tmp_path: Path, count: int) -> None:
    data = bytearray(make_zip([Part("a", b"1"), Part("b", b"2")]))
    struct.pack_into("<2H", data, len(data) - 14, count, count)
    assert refused(tmp_path, bytes(data)) == "container_invalid"


def test_too_many_members_are_over_the_limit(tmp_path: Path) -> None:
    entry = struct.pack("<4s6H3I5H2I", b"PK\x01\x02", *([0] * 16))
    count = 100_001
    start = len(entry) * count
    end64 = struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, start, 0)
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, start, 1)
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 65535, 65535, 2**32 - 1, 2**32 - 1, 0)
    assert refused(tmp_path, entry * count + end64 + locator + end) == "container_over_limit"


def test_a_huge_directory_is_over_the_limit_before_it_is_read(tmp_path: Path) -> None:
    data = end_record(9, 33 << 20, 0)
    assert refused(tmp_path, data) == "container_over_limit"


def test_a_directory_that_begins_outside_is_invalid(tmp_path: Path) -> None:
    assert refused(tmp_path, b"x" * 50 + end_record(1, 46, 100)) == "container_invalid"
    assert refused(tmp_path, b"x" * 10 + end_record(1, 46, 0)) == "container_invalid"


def test_one_file_of_several_is_unsupported(tmp_path: Path) -> None:
    data = bytearray(make_zip([Part("a", b"1")]))
    struct.pack_into("<H", data, len(data) - 18, 1)
    assert refused(tmp_path, bytes(data)) == "container_unsupported"


def test_end_records_that_differ_are_invalid(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as theirs:
        theirs.writestr("a", b"1")
    data = stream.getvalue()
    start, size = data.index(b"PK\x01\x02"), len(data) - 22 - data.index(b"PK\x01\x02")

    def with_zip64(count: int) -> bytes:
        end64 = struct.pack(
            "<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, size, start
        )
        locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, len(data) - 22, 1)
        return data[:-22] + end64 + locator + data[-22:]

    assert read_all(archive_of(tmp_path, with_zip64(1))) == {"a": b"1"}
    assert refused(tmp_path, with_zip64(2)) == "container_invalid"


# --- bombs


def overlapping(count: int, *, same_header: bool) -> bytes:
    """Members that share bytes: all of one header, or each holding the headers of the next ones."""
    kernel = deflate(bytes(1 << 20))
    if same_header:
        parts = [Part("0", bytes(1 << 20))]
        data = make_zip(parts)
        start = data.index(b"PK\x01\x02")
        entry = data[start:-22]
        return data[:start] + entry * count + end_record(count, len(entry) * count, start)
    stored = kernel
    heads: list[bytes] = []
    entries: list[bytes] = []
    for index in reversed(range(count)):
        name = b"%05d" % index
        numbers = (zlib.crc32(stored), len(stored), len(stored))
        head = struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, 0, 0, 0, 0, *numbers, 5, 0) + name
        heads.insert(0, head)
        stored = head + stored
        entries.insert(
            0,
            struct.pack("<4s6H3I5H", b"PK\x01\x02", 20, 20, 0, 0, 0, 0, *numbers, 5, 0, 0, 0, 0)
            + bytes(4),
        )
    directory = b"".join(
        entry + struct.pack("<I", 35 * index) + b"%05d" % index
        for index, entry in enumerate(entries)
    )
    return stored + directory + end_record(count, len(directory), len(stored))


@pytest.mark.parametrize("same_header", [True, False])
def test_members_that_share_bytes_are_refused(tmp_path: Path, same_header: bool) -> None:
    assert refused(tmp_path, overlapping(200, same_header=same_header)) == "container_invalid"


def test_members_side_by_side_are_not_refused(tmp_path: Path) -> None:
    assert read_all(archive_of(tmp_path, overlapping(1, same_header=True))) == {"0": bytes(1 << 20)}


def test_a_member_that_explodes_is_over_the_limit(tmp_path: Path) -> None:
    part = Part("bomb", bytes(20 << 20))
    fault = only_fault(tmp_path, part)
    assert (fault.code, fault.severity.value) == ("archive_member_over_limit", "error")


def test_a_small_member_may_repeat_itself(tmp_path: Path) -> None:
    archive = archive_of(tmp_path, make_zip([Part("zeros", bytes(2 << 20))]))
    assert read_all(archive) == {"zeros": bytes(2 << 20)}


def test_a_member_is_bounded_whatever_it_packs_to(tmp_path: Path) -> None:
    noise = random.Random(1).randbytes((4 << 20) + 1)
    assert only_fault(tmp_path, Part("a", noise), SMALL).code == "archive_member_over_limit"
    archive = archive_of(tmp_path, make_zip([Part("a", noise[:-1])]), SMALL)
    assert read_all(archive) == {"a": noise[:-1]}


def test_a_bomb_that_lies_about_its_size_is_stopped_at_once(tmp_path: Path) -> None:
    packed = deflate(bytes(64 << 20))
    file = open_file(tmp_path, make_zip([Part("a", b"", packed=packed, size=10)]))
    archive = read_archive(file, limits=LIMITS)
    tracemalloc.start()
    try:
        fault = archive.read("a")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(fault, Fault)
    assert fault.code == "archive_member_invalid"
    assert peak < 4 << 20


def test_all_members_together_are_bounded(tmp_path: Path) -> None:
    limits = Limits(max_foreign_record_bytes=1 << 10)  # a member: 4 KiB, all of them: 256 KiB
    data = make_zip([Part(str(index), bytes(4 << 10)) for index in range(66)])
    archive = archive_of(tmp_path, data, limits)
    with pytest.raises(SourceUnreadable) as caught:
        read_all(archive)
    assert caught.value.fault == "container_over_limit"
    assert (
        len(
            read_all(
                archive_of(
                    tmp_path,
                    make_zip([Part(str(index), bytes(4 << 10)) for index in range(64)]),
                    limits,
                )
            )
        )
        == 64
    )


# --- names


@pytest.mark.parametrize(
    "name",
    [
        "../outside", "a/../../b", "a/..", "..", "/etc/passwd", "//host/share", "C:\\x", "C:x",
        "a\\b", "..\\x", "a\0b", "a\nb", "./a", "a/./b", "\x1b[31m",
    ],
)  # fmt: skip
def test_an_unsafe_name_is_a_fault_and_the_others_are_read(tmp_path: Path, name: str) -> None:
    fault = only_fault(tmp_path, Part(name, b"1"))
    assert (fault.code, fault.severity.value) == ("archive_name_unsafe", "error")
    assert fault.member is not None
    assert fault.member.isprintable()
    assert name not in fault.message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip"]


@pytest.mark.parametrize("name", ["a..b", "...", "a/b", "-", "é", "a b", "1:x", "a//b", "~"])
def test_a_name_that_only_looks_unsafe_is_read(tmp_path: Path, name: str) -> None:
    assert is_name_safe(name)
    assert read_all(archive_of(tmp_path, make_zip([Part(name, b"1")]))) == {name: b"1"}


def test_names_that_are_none_or_two_are_unsafe(tmp_path: Path) -> None:
    assert only_fault(tmp_path, Part(b"\xff\xfe", b"1")).code == "archive_name_unsafe"
    assert only_fault(tmp_path, Part("", b"1")).code == "archive_name_unsafe"
    other = struct.pack("<2HBI", 0x7075, 10, 1, 0) + b"other"
    assert only_fault(tmp_path, Part("plain", b"1", extra=other)).code == "archive_name_unsafe"
    same = struct.pack("<2HBI", 0x7075, 10, 1, 0) + b"plain"
    archive = archive_of(tmp_path, make_zip([Part("plain", b"1", extra=same)]))
    assert read_all(archive) == {"plain": b"1"}


def test_a_name_twice_is_an_error_and_the_last_is_read(tmp_path: Path) -> None:
    data = make_zip([Part("a", b"1"), Part("b", b"2"), Part("a", b"3")])
    archive = archive_of(tmp_path, data)
    assert [(fault.code, fault.severity.value, fault.member) for fault in archive.faults] == [
        ("archive_member_repeated", "error", "a")
    ]
    assert read_all(archive) == {"b": b"2", "a": b"3"}


def test_names_that_differ_in_case_alone_are_information(tmp_path: Path) -> None:
    archive = archive_of(tmp_path, make_zip([Part("a", b"1"), Part("A", b"2"), Part("b", b"3")]))
    assert [(fault.code, fault.severity.value) for fault in archive.faults] == [
        ("archive_names_alike", "info")
    ]
    assert read_all(archive) == {"a": b"1", "A": b"2", "b": b"3"}


def test_a_folder_is_no_member(tmp_path: Path) -> None:
    archive = archive_of(tmp_path, make_zip([Part("a/", mode=0o040700), Part("a/b", b"1")]))
    assert read_all(archive) == {"a/b": b"1"}
    assert archive.faults == ()


def test_a_name_is_shown_short_and_printable() -> None:
    assert name_for_people("a\x1b[0m\u202eb") == "a?[0m?b"
    assert len(name_for_people("x" * 60_000)) == 120
    assert name_for_people("x" * 120) == "x" * 120


# --- members


@pytest.mark.parametrize(
    ("part", "code"),
    [
        (Part("a", b"1", crc=7), "archive_member_invalid"),
        (Part("a", b"12", size=1), "archive_member_invalid"),
        (Part("a", b"12", size=3), "archive_member_invalid"),
        (Part("a", b"12", local_name=b"b"), "archive_member_invalid"),
        (Part("a", b"12", local_name=b"ab"), "archive_member_invalid"),
        (Part("a", b"12", local_method=0), "archive_member_invalid"),
        (Part("a", b"12", local_flags=0x801), "archive_member_invalid"),
        (Part("a", b"12", local_numbers=(1, 2, 3)), "archive_member_invalid"),
        (Part("a", b"12", local_numbers=(0, 0, 0)), "archive_member_invalid"),
        (Part("a", b"12" * 99, packed=deflate(b"12" * 99)[:-3]), "archive_member_invalid"),
        (Part("a", b"12", packed=deflate(b"12") + b"x"), "archive_member_invalid"),
        (Part("a", b"12", packed=b"\xff\xff\xff"), "archive_member_invalid"),
        (Part("a", b"12", packed=b""), "archive_member_invalid"),
        (Part("a", b"12", method=0, size=1), "archive_member_invalid"),
        (Part("a", b"../../etc/passwd", mode=0o120777), "archive_member_invalid"),
        (Part("a", b"", mode=0o010600), "archive_member_invalid"),
        (Part("a", b"1", flags=0x801), "archive_member_unsupported"),
        (Part("a", b"1", flags=0x840), "archive_member_unsupported"),
        (Part("a", b"1", method=12), "archive_member_unsupported"),
        (Part("a", b"1", method=99), "archive_member_unsupported"),
        (Part("a", b"1", flags=0x820), "archive_member_unsupported"),
    ],
)
def test_a_damaged_member_is_a_fault_and_the_others_are_read(
    tmp_path: Path, part: Part, code: str
) -> None:
    fault = only_fault(tmp_path, part)
    assert (fault.code, fault.member) == (code, "a")
    assert fault.message.startswith("member: expected ")


def test_sizes_that_follow_may_be_nought_in_the_header(tmp_path: Path) -> None:
    flags = 0x808
    part = Part("a", b"12", flags=flags, local_numbers=(0, 0, 0), descriptor=b"x" * 16)
    assert read_all(archive_of(tmp_path, make_zip([part]))) == {"a": b"12"}
    part.local_numbers = (1, 0, 0)
    assert only_fault(tmp_path, part).code == "archive_member_invalid"


def test_a_header_that_reaches_into_the_next_member_is_a_fault(tmp_path: Path) -> None:
    data = bytearray(make_zip([Part("a", b"12"), Part("b", b"34")]))
    struct.pack_into("<H", data, 28, 40)  # the length of the first header's extra field
    archive = archive_of(tmp_path, bytes(data))
    assert isinstance(archive.read("a"), Fault)
    assert archive.read("b") == b"34"


def test_a_file_that_is_cut_after_the_directory_was_read(tmp_path: Path) -> None:
    archive = archive_of(tmp_path, SAMPLE.read_bytes())
    (tmp_path / "a.zip").write_bytes(SAMPLE.read_bytes()[:3000])
    read = read_all(archive)
    assert isinstance(read["_journal/start.json"], bytes)
    assert isinstance(read["samples/0_epoch_1.json"], Fault)


# --- Zstandard


def test_zstandard_is_read_with_any_number_of_frames(tmp_path: Path) -> None:
    zstd = pytest.importorskip("backports.zstd")
    data = random.Random(2).randbytes(700_000)
    frames = zstd.compress(data[:1000]) + zstd.compress(data[1000:])
    parts = [
        Part("one", data, method=93, packed=zstd.compress(data)),
        Part("two", data, method=93, packed=frames),
        Part("none", b"", method=93, packed=b""),
        Part("torn", data, method=93, packed=frames[:-5]),
        Part("more", b"12", method=93, packed=zstd.compress(b"12") + b"x"),
        Part("wrong", b"12", method=93, packed=deflate(b"12")),
        Part("bomb", bytes(20 << 20), method=93, packed=zstd.compress(bytes(20 << 20))),
    ]
    read = read_all(archive_of(tmp_path, make_zip(parts)))
    assert read["one"] == read["two"] == data
    assert read["none"] == b""
    codes = {name: one.code for name, one in read.items() if isinstance(one, Fault)}
    assert codes == {
        "torn": "archive_member_invalid",
        "more": "archive_member_invalid",
        "wrong": "archive_member_invalid",
        "bomb": "archive_member_over_limit",
    }


def test_a_window_beyond_our_bound_is_over_the_limit(tmp_path: Path) -> None:
    # A frame that asks for 2 GiB of memory and holds one empty block.
    frame = bytes.fromhex("28b52ffd00a8010000")
    pytest.importorskip("backports.zstd")
    fault = only_fault(tmp_path, Part("a", b"", method=93, packed=frame))
    assert fault.code == "archive_member_over_limit"


def test_without_the_library_the_archive_is_unsupported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compressed, "_LIBRARIES", ())
    archive = archive_of(tmp_path, make_zip([Part("b", b"1"), Part("a", b"1", method=93)]))
    assert archive.read("b") == b"1"
    with pytest.raises(SourceUnreadable) as caught:
        archive.read("a")
    assert caught.value.fault == "container_unsupported"


# --- anything at all


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_changed_bytes_raise_nothing_else(tmp_path: Path, data: st.DataObject) -> None:
    changed = bytearray(SAMPLE.read_bytes())
    # Half of the changes hit the directory, which is a twentieth of the file.
    for _ in range(data.draw(st.integers(1, 4))):
        low = data.draw(st.sampled_from([0, len(changed) - 500]))
        place = data.draw(st.integers(low, len(changed) - 1))
        changed[place] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, 3))
    try:
        archive = archive_of(tmp_path, bytes(changed)[: len(changed) - cut], SMALL)
        read = read_all(archive)
    except SourceUnreadable as error:
        read = {"": Fault(error.fault.replace("container", "archive"), Severity.ERROR, "")}
    for one in read.values():
        assert isinstance(one, bytes) or one.code.startswith("archive_")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=400))
def test_any_bytes_raise_nothing_else(tmp_path: Path, data: bytes) -> None:
    for text in (data, data + end_record(1, min(46, len(data)), 0)):
        with contextlib.suppress(SourceUnreadable):
            read_all(archive_of(tmp_path, text))
