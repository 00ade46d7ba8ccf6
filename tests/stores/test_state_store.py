"""The store as its users see it: versions, conflicts, history, selections."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
)

from provenance import (
    ConflictKeyTaken,
    DurableContextState,
    DurableStateStore,
    SelectionCandidate,
    SourceResolution,
    SourceResolutionStatus,
    StateAbsent,
    StateConflict,
    TrustedRoot,
    transition_pending,
)
from provenance.clock import ClockError
from provenance.durable import ForbiddenTransitionError, StateDocumentError
from provenance.limits import Limits
from provenance.stores import SelectionAbsent, StoreArgumentError
from provenance.stores.planning import _as_seen
from tests.durable.strategies import POINTER, T1, a_fact, an_item, some_evidence, states
from tests.fixtures import no_handle_is_left
from tests.stores.stores import Ticking, a_state, file_of, filled, tables_of

__all__ = ["no_handle_is_left"]


@pytest.fixture
def store(tmp_path: Path) -> DurableStateStore:
    return DurableStateStore(tmp_path / "home", clock=Ticking())


def test_the_first_version(store: DurableStateStore, tmp_path: Path) -> None:
    state = a_state("The port is 8443.")
    made = store.put(
        "run-1", state, replaces=None, author="harness", note="after turn 3", confirmed_by="user"
    )
    assert (made.name, made.version, made.replaces) == ("run-1", 1, None)
    assert (made.author, made.note, made.created_at) == (
        "harness", "after turn 3", "2026-03-02T09:00:01.000000Z",
    )  # fmt: skip
    (change,) = made.changes
    assert (change.kind, change.item_id, change.change) == ("fact", "f1", "added")
    assert (change.confirmed_by, change.source_pointer) == ("user", "transcript:s1:1")
    kept = store.get("run-1")
    assert kept.state == state
    assert kept.document == state.to_json().encode()
    assert kept.info == made
    assert (kept.name, kept.version, kept.sha256) == ("run-1", 1, made.sha256)
    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o700
    assert file_of(tmp_path / "home").stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path / "home/states") == ["states.sqlite3"]


def test_every_version_is_kept_as_it_was(tmp_path: Path) -> None:
    store = filled(tmp_path, versions=4)
    for number in range(1, 5):
        kept = store.get("run-1", number)
        assert len(kept.state.facts) == number
        assert kept.document == kept.state.to_json().encode()
    assert [one.replaces for one in store.history("run-1")] == [None, 1, 2, 3]
    assert [one.version for one in store.history("run-1")] == [1, 2, 3, 4]
    assert store.get("run-1").version == 4
    assert store.names() == ("run-1",)


@pytest.mark.parametrize("read", [None, 1, 2, 4, 99])
def test_an_update_names_the_version_that_it_read(tmp_path: Path, read: int | None) -> None:
    store = filled(tmp_path)
    before = tables_of(tmp_path)
    with pytest.raises(StateConflict) as caught:
        store.put("run-1", a_state("mine"), replaces=read, author="late")
    assert (caught.value.name, caught.value.expected, caught.value.current) == ("run-1", read, 3)
    assert "version 3" in str(caught.value)
    assert ("none" if read is None else f"version {read}") in str(caught.value)
    assert tables_of(tmp_path) == before
    assert store.put("run-1", a_state("mine"), replaces=3, author="quick").version == 4


def test_a_version_of_a_state_that_is_not_there(store: DurableStateStore, tmp_path: Path) -> None:
    with pytest.raises(StateConflict) as caught:
        store.put("run-1", a_state(), replaces=1, author="harness")
    assert (caught.value.expected, caught.value.current) == (1, None)
    assert not (tmp_path / "home").exists()
    with pytest.raises(StateAbsent):
        store.get("run-1")
    with pytest.raises(KeyError):
        store.history("run-1")
    assert store.names() == ()
    assert store.selections() == ()
    store.put("run-1", a_state(), replaces=None, author="harness")
    for name, version in (("run-1", 2), ("run-2", None), ("RUN-1", None)):
        with pytest.raises(StateAbsent):
            store.get(name, version)


def test_a_conflict_travels_between_processes() -> None:
    import pickle

    error = pickle.loads(pickle.dumps(StateConflict("run-1", expected=None, current=4)))
    assert (error.name, error.expected, error.current) == ("run-1", None, 4)


def test_two_winners_of_one_conflict_are_never_both_current(store: DurableStateStore) -> None:
    first, second = a_fact("f1", "It is 1."), a_fact("f2", "It is 2.")
    both = DurableContextState([first, second])
    with pytest.raises(ConflictKeyTaken, match="'f1' and 'f2'"):
        store.put(
            "run", both, replaces=None, author="h", conflict_keys={"f1": "port", "f2": "port"}
        )
    made = store.put(
        "run", DurableContextState([first]), replaces=None, author="h", conflict_keys={"f1": "port"}
    )
    assert made.conflict_keys == {"f1": "port"}
    # The key stays with the fact, so a second winner is noticed in a later version.
    with pytest.raises(ConflictKeyTaken):
        store.put("run", both, replaces=1, author="h", conflict_keys={"f2": "port"})
    assert store.get("run").version == 1
    made = store.put("run", both, replaces=1, author="h", conflict_keys={"f1": None, "f2": "port"})
    assert made.conflict_keys == {"f2": "port"}
    made = store.put("run", DurableContextState([first]), replaces=2, author="h")
    assert made.conflict_keys == {}
    # The nearest miss: another key.
    made = store.put(
        "run", both, replaces=3, author="h", conflict_keys={"f1": "port", "f2": "Port"}
    )
    assert made.conflict_keys == {"f1": "port", "f2": "Port"}
    assert store.get("run", 1).info.conflict_keys == {"f1": "port"}


def test_two_pieces_of_evidence_with_one_conflict_key(store: DurableStateStore) -> None:
    one, two = some_evidence("m1"), some_evidence("m2")
    won = [replace(one, conflict_key="disk"), replace(two, conflict_key="disk")]
    with pytest.raises(ConflictKeyTaken, match="retrieval evidence"):
        store.put("run", DurableContextState((), (), won), replaces=None, author="h")
    store.put("run", DurableContextState((), (), [one, two]), replaces=None, author="h")
    store.put("run", DurableContextState((), (), [won[0], two]), replaces=1, author="h")
    # A fact that was made from the winner is no second winner.
    store.put(
        "run", DurableContextState([a_fact()], (), [won[0]]), replaces=2, author="h",
        conflict_keys={"f1": "disk"},
    )  # fmt: skip


def test_who_confirmed_what(store: DurableStateStore) -> None:
    before = DurableContextState([a_fact()], [an_item("p1"), an_item("p2")])
    store.put("run", before, replaces=None, author="harness", confirmed_by={"f1": "tool:grep"})
    moved = transition_pending(
        before, "p1", "done", confirmed_at=T1, confirmed_by="tool:pytest",
        source_pointer="transcript:s1:8",
    )  # fmt: skip
    with pytest.raises(ForbiddenTransitionError, match="confirmed_by"):
        store.put("run", moved, replaces=1, author="harness")
    with pytest.raises(ForbiddenTransitionError, match="confirmed_by"):
        store.put("run", moved, replaces=1, author="harness", confirmed_by="model")
    made = store.put("run", moved, replaces=1, author="harness", confirmed_by={"p1": "tool:pytest"})
    (change,) = made.changes
    assert (change.item_id, change.change, change.confirmed_by) == (
        "p1", "completed", "tool:pytest",
    )  # fmt: skip
    assert (change.source_pointer, change.confirmed_at) == ("transcript:s1:8", T1)
    assert [one.confirmed_by for one in store.history("run")[0].changes] == [
        "tool:grep", None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (an_item(status="done"), an_item(status="open", time=T1)),  # done is final
        (an_item(status="done"), an_item(status="blocked", time=T1)),
        (an_item(), an_item(status="done")),  # at no later time
    ],
)
def test_a_move_that_nobody_may_make(
    store: DurableStateStore, before: object, after: object
) -> None:
    first = DurableContextState((), [before])  # type: ignore[list-item]
    store.put("run", first, replaces=None, author="h", confirmed_by="user")
    with pytest.raises(ForbiddenTransitionError, match="'p1'"):
        store.put(
            "run",
            DurableContextState((), [after]),
            replaces=1,
            author="h",
            confirmed_by="user",  # type: ignore[list-item]
        )
    assert store.get("run").version == 1


@pytest.mark.parametrize("name", ["", ".", "a/b", "a b", "\x1b[31m", "é", "x" * 500, None, 7])
def test_a_name_that_is_none(store: DurableStateStore, name: object) -> None:
    for act in (
        lambda: store.put(name, a_state(), replaces=None, author="h"),  # type: ignore[arg-type]
        lambda: store.get(name),  # type: ignore[arg-type]
        lambda: store.history(name),  # type: ignore[arg-type]
    ):
        with pytest.raises(StoreArgumentError, match="name"):
            act()


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("author", {"author": ""}),
        ("author", {"author": None}),
        ("author", {"author": "\ud800"}),
        ("author", {"author": "x" * 5_000}),
        ("note", {"note": " "}),
        ("replaces", {"replaces": 0}),
        ("replaces", {"replaces": True}),
        ("replaces", {"replaces": "1"}),
        ("replaces", {"replaces": 1 << 63}),
        ("conflict_keys", {"conflict_keys": {"f9": "x"}}),
        ("conflict_keys", {"conflict_keys": {"f1": ""}}),
        ("confirmed_by", {"confirmed_by": {"f1": "the assistant"}}),
        ("confirmed_by", {"confirmed_by": ""}),
    ],
)
def test_an_argument_that_breaks_its_rule(
    store: DurableStateStore, field: str, values: dict[str, object]
) -> None:
    arguments: dict[str, object] = {"replaces": None, "author": "h"} | values
    with pytest.raises((StoreArgumentError, ForbiddenTransitionError), match=f"^{field}"):
        store.put("run", a_state("x"), **arguments)  # type: ignore[arg-type]
    assert store.names() == ()


def test_a_state_that_cannot_be_stored(tmp_path: Path) -> None:
    small = DurableStateStore(tmp_path, limits=Limits(max_document_bytes=400))
    small.put("run", a_state("x"), replaces=None, author="h")
    with pytest.raises(StoreArgumentError, match="at most 400 bytes"):
        small.put("run", a_state("x" * 400), replaces=1, author="h")
    with pytest.raises(StateDocumentError):
        small.put("run", a_state("\ud800"), replaces=1, author="h")
    with pytest.raises(StoreArgumentError, match="DurableContextState"):
        small.put("run", "state", replaces=1, author="h")  # type: ignore[arg-type]
    assert small.get("run").version == 1


def test_a_clock_without_a_zone_is_refused(tmp_path: Path) -> None:
    store = DurableStateStore(tmp_path / "home", clock=lambda: datetime(2026, 1, 1))  # noqa: DTZ001
    with pytest.raises(ClockError):
        store.put("run", a_state(), replaces=None, author="h")
    assert not (tmp_path / "home").exists()


def test_a_root_of_the_callers(tmp_path: Path) -> None:
    with TrustedRoot(tmp_path) as root, DurableStateStore(root) as store:
        store.put("run", a_state(), replaces=None, author="h")
        assert store.names() == ("run",)


def test_a_selection_and_what_verified_it(store: DurableStateStore) -> None:
    early = store.record_selection("run", query="which disk?", candidates=["m1"], winners=["m1"])
    assert (early.selection_id, early.version) == (1, None)
    store.put("run", a_state("x"), replaces=None, author="h")
    made = store.record_selection(
        "run",
        query="which  port?",
        candidates=[
            SelectionCandidate("m1", 0.5, 1, POINTER, "port"),
            some_evidence("m2"),
            "m3",
        ],
        winners=["m1"],
        reasons={"m1": "newest", "m2": "older"},
    )
    assert (made.selection_id, made.version, made.query) == (2, 1, "which port?")
    assert made.losers == ("m2", "m3")
    assert made.candidates[1].source_id == "note:7"
    answer = SourceResolution(
        POINTER, SourceResolutionStatus.MISSING, "transcript", excerpt="words of the evidence",
        reason="transcript_missing",
    )  # fmt: skip
    linked = store.link_resolution(2, answer)
    (resolution,) = linked.resolutions
    assert resolution.resolution == answer.to_dict(include_excerpt=False)
    assert len(store.link_resolution(2, answer).resolutions) == 2
    assert [one.selection_id for one in store.selections("run")] == [1, 2]
    assert [one.selection_id for one in store.selections("run", 1)] == [2]
    assert store.selections("run", 2) == store.selections("other") == ()
    assert store.selections() == store.selections("run")


def test_no_words_of_the_evidence_are_kept(store: DurableStateStore, tmp_path: Path) -> None:
    made = store.record_selection("run", query="q", candidates=["m1"], winners=["m1"])
    store.link_resolution(
        made.selection_id,
        SourceResolution(POINTER, SourceResolutionStatus.DENIED, excerpt="a secret"),
    )
    assert b"a secret" not in file_of(tmp_path / "home").read_bytes()


def test_a_selection_that_cannot_be(store: DurableStateStore) -> None:
    for wrong in (
        {"winners": ["m9"]},
        {"winners": ["m1", "m1"]},
        {"winners": ["m1"], "losers": ["m1", "m2"]},
        {"winners": ["m1"], "losers": []},
        {"winners": ["m1"], "reasons": {"m9": "x"}},
        {"winners": ["m1"], "query": ""},
        {"winners": ["m1"], "query": "\ud800"},
        {"winners": ["m1"], "candidates": ["m1", "m1"]},
        {"winners": ["m1"], "candidates": [SelectionCandidate("m1", 2.0)]},
        {"winners": ["m1"], "candidates": [object()]},
    ):
        arguments: dict[str, object] = {"query": "q", "candidates": ["m1", "m2"]} | wrong
        with pytest.raises(StoreArgumentError):
            store.record_selection("run", **arguments)  # type: ignore[arg-type]
    rivals = [
        SelectionCandidate("m1", conflict_key="k"),
        SelectionCandidate("m2", conflict_key="k"),
    ]
    with pytest.raises(ConflictKeyTaken):
        store.record_selection("run", query="q", candidates=rivals, winners=["m1", "m2"])
    assert store.selections() == ()
    assert store.record_selection("run", query="q", candidates=rivals, winners=["m2"]).winners == (
        "m2",
    )
    with pytest.raises(StateAbsent):
        store.record_selection("run", query="q", candidates=[], winners=[], version=3)
    with pytest.raises(SelectionAbsent):
        store.link_resolution(9, SourceResolution(POINTER, SourceResolutionStatus.MISSING))
    with pytest.raises(StoreArgumentError):
        store.link_resolution(1, "available")  # type: ignore[arg-type]


def test_threads_take_turns(tmp_path: Path) -> None:
    store = DurableStateStore(tmp_path)
    store.put("run", a_state(), replaces=None, author="main")
    lost: list[int] = []

    def write() -> None:
        for _ in range(5):
            while True:
                current = store.get("run").version
                try:
                    store.put("run", a_state(str(current)), replaces=current, author="thread")
                    break
                except StateConflict:
                    lost.append(current)

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.version for one in store.history("run")] == list(range(1, 17))


class _Model(RuleBasedStateMachine):
    """The store beside a plain dictionary of lists."""

    stored = Bundle("stored")

    @initialize()
    def start(self) -> None:
        import tempfile

        self.folder = tempfile.TemporaryDirectory(prefix="ctxaudit-model-")
        self.store = DurableStateStore(self.folder.name, clock=Ticking())
        self.model: dict[str, list[DurableContextState]] = {}

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.folder.cleanup()

    @rule(
        target=stored,
        name=st.sampled_from(("a", "b", "A")),
        state=states(half_pairs=False),
        off=st.sampled_from((0, 0, 0, -1, 1)),
    )
    def put(self, name: str, state: DurableContextState, off: int) -> str:
        versions = self.model.get(name, [])
        current = len(versions) or None
        replaces = current if not off else max((current or 0) + off, 1)
        try:
            made = self.store.put(
                name, state, replaces=replaces, author="model", confirmed_by="user"
            )
        except StateConflict as error:
            said = error.expected, error.current
            assert said == (replaces, current)
            assert replaces != current
        except ConflictKeyTaken:
            keys = [one.conflict_key for one in state.retrieval_evidence if one.conflict_key]
            assert len(set(map(_as_seen, keys))) < len(keys)
        except ForbiddenTransitionError:
            known = {one.item_id: one for state in versions for one in state.pending_items}
            assert [one for one in state.pending_items if known.get(one.item_id, one) != one]
        else:
            assert replaces == current
            done = {
                (one.item_id, one.description)
                for earlier in versions
                for one in earlier.pending_items
                if one.status == "done"
            }
            now = {one.item_id: one for one in state.pending_items}
            assert all(
                now[item_id].status == "done" and now[item_id].description == text
                for item_id, text in done
                if item_id in now
            )
            assert made.version == len(versions) + 1
            self.model.setdefault(name, []).append(state)
        return name

    @rule(name=consumes(stored), back=st.integers(0, 3))
    def get(self, name: str, back: int) -> None:
        versions = self.model.get(name, [])
        number = len(versions) - back
        if number < 1:
            return
        kept = self.store.get(name, number)
        assert kept.state == versions[number - 1]
        assert kept.document == versions[number - 1].to_json().encode()

    @invariant()
    def history_is_whole(self) -> None:
        if not hasattr(self, "model"):
            return
        assert self.store.names() == tuple(sorted(self.model))
        for name, versions in self.model.items():
            history = self.store.history(name)
            assert [one.version for one in history] == list(range(1, len(versions) + 1))


TestModel = _Model.TestCase
TestModel.settings = settings(max_examples=6, stateful_step_count=8, deadline=None)


def test_a_store_stays_where_it_was_when_the_program_changes_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    (tmp_path / "link").symlink_to(one)
    monkeypatch.chdir(one)
    store = DurableStateStore("home")
    store.put("run-1", a_state("a"), replaces=None, author="a")
    over_link = DurableStateStore("../link/../one/home")
    monkeypatch.chdir(two)
    assert store.get("run-1").version == 1
    assert store.put("run-1", a_state("b"), replaces=1, author="a").version == 2
    assert over_link.put("run-1", a_state("c"), replaces=2, author="a").version == 3
    assert not any(two.iterdir())


def test_done_is_final_over_all_versions(store: DurableStateStore) -> None:
    done = an_item(status="done")
    both = [done, an_item(item_id="p2")]
    store.put("run", DurableContextState((), both), replaces=None, author="h", confirmed_by="user")
    store.put("run", DurableContextState(), replaces=1, author="model")
    store.put("run", DurableContextState((), [both[1]]), replaces=2, author="model")
    for number, item in enumerate((an_item(), replace(done, description="Another task."))):
        with pytest.raises(ForbiddenTransitionError, match="done as it was"):
            store.put("run", DurableContextState((), [item]), replaces=3, author=f"{number}")
    store.put("run", DurableContextState((), both), replaces=3, author="h")
    words = [[one.change for one in version.changes] for version in store.history("run")]
    assert words == [["added_done", "added"], ["removed", "removed"], ["added"], ["added_done"]]
