"""A sealed Inspect log: the words that its events refer to are sealed, not their names alone."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.sealed_homes import SealedHome

Call = Callable[..., Any]
Change = Callable[[dict[str, Any]], object]

LOG = "transcripts/a.eval"
REAL = Path(__file__).parents[1] / "data/transcripts/inspect/log_message_deduplication.eval"
SAMPLE: dict[str, Any] = {
    "id": 7,
    "epoch": 1,
    "target": "4",
    "messages": [{"id": "m1", "role": "user", "content": "hi"}],
    "events": [
        {"uuid": "e1", "event": "model", "input_refs": [[0, 2]], "call": {"call_refs": [[0, 1]]}},
        {"uuid": "e2", "event": "info", "data": "attachment://a1"},
    ],
    "message_pool": [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}],
    "call_pool": [{"request": {"n": 1}}],
    "attachments": {"a1": "words", "b2": "more words"},
    "scores": {"match": {"value": "C"}},
}


def _write(path: Path, sample: dict[str, Any], *, method: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(path, "w", method) as log:
        log.writestr("_journal/start.json", json.dumps({"version": 2, "eval": {}}))
        log.writestr("samples/7_epoch_1.json", json.dumps(sample))
        log.writestr("header.json", json.dumps({"version": 2, "status": "success", "eval": {}}))


@pytest.fixture
def sealed(tmp_path: Path) -> SealedHome:
    home = SealedHome.make(tmp_path, seals=0)
    _write(home.path / LOG, SAMPLE)
    home.state(["transcript:7_epoch_1:2"])
    home.seal()
    return home


def _changed(change: Change) -> dict[str, Any]:
    sample: dict[str, Any] = json.loads(json.dumps(SAMPLE))
    change(sample)
    return sample


def _verify(call: Call, home: SealedHome, *options: str) -> Any:
    done = call("verify", home.path, "--seal", home.public, "--format", "json", *options)
    assert done.out, done.err
    return done


def _told(done: Any) -> set[tuple[str, str, str]]:
    found = done.report["findings"]
    return {(one["code"], one["severity"], one["target"]) for one in found if "seal" in one["code"]}


REWRITTEN = ("sealed_pool_rewritten", "error", LOG)


def _forge_key(sample: dict[str, Any]) -> None:
    sample["attachments"] = {"z9": "other", **sample["attachments"]}


@pytest.mark.parametrize(
    "change",
    [
        lambda sample: sample["message_pool"][1].update(content="2"),
        lambda sample: sample["message_pool"].reverse(),
        lambda sample: sample["message_pool"].pop(),
        lambda sample: sample["message_pool"].insert(0, {"role": "user"}),
        lambda sample: sample.pop("message_pool"),
        lambda sample: sample.update(events_data={"messages": [{"role": "user", "content": "x"}]}),
        lambda sample: sample["call_pool"][0].update(request={}),
        lambda sample: sample["attachments"].update(a1="other words"),
        lambda sample: sample["attachments"].pop("b2"),
        lambda sample: sample.update(attachments=[]),
        _forge_key,
    ],
)
def test_words_that_a_sealed_event_refers_to_are_sealed(
    call: Call, sealed: SealedHome, change: Change
) -> None:
    assert _told(_verify(call, sealed)) == set()
    _write(sealed.path / LOG, _changed(change))
    for options in ((), ("--all",), ("--fail-on", "corrupt"), ("--jobs", "2")):
        done = _verify(call, sealed, *options)
        assert (done.code, REWRITTEN in _told(done)) == (14, True)
    done = call("seal", sealed.path, "--key", sealed.key)
    assert (done.code, done.out, "sealed_pool_rewritten" in done.err) == (14, "", True)


def test_a_key_that_stands_twice_hides_nothing(call: Call, sealed: SealedHome) -> None:
    text = json.dumps(SAMPLE)[:-1] + ', "message_pool": [{"role": "user", "content": "x"}]}'
    with zipfile.ZipFile(sealed.path / LOG, "w") as log:
        log.writestr("_journal/start.json", "{}")
        log.writestr("samples/7_epoch_1.json", text)
    done = _verify(call, sealed)
    assert (done.code, REWRITTEN in _told(done)) == (14, True)


def test_look_alikes_are_no_fault(call: Call, sealed: SealedHome) -> None:
    """Packed anew, and what a run appends; what is not covered is listed in docs/seals.md."""
    _write(sealed.path / LOG, SAMPLE, method=zipfile.ZIP_DEFLATED)
    assert _told(_verify(call, sealed)) == set()
    _write(sealed.path / LOG, _changed(lambda sample: sample.update(target="5", scores={})))
    assert _told(_verify(call, sealed)) == set()
    longer = _changed(lambda sample: sample["attachments"].update(c3="later"))
    _write(sealed.path / LOG, longer)
    done = _verify(call, sealed)
    assert (done.code, _told(done)) == (0, {("not_sealed", "warning", LOG)})
    done = call("seal", sealed.path, "--key", sealed.key)
    assert (done.code, done.err.endswith("1 new entries\n")) == (0, True)
    assert _told(_verify(call, sealed)) == set()
    # More events and more of what they refer to are told once.
    longer["events"].append({"uuid": "e3", "event": "info", "data": "x"})
    longer["message_pool"].append({"role": "user", "content": "three"})
    _write(sealed.path / LOG, longer)
    found = [one for one in _verify(call, sealed).report["findings"] if one["code"] == "not_sealed"]
    assert len(found) == 1


def test_nothing_is_sealed_in_a_session_that_another_log_tells_with_other_words(
    call: Call, sealed: SealedHome
) -> None:
    """The sealed log is there, wherever; nobody can tell which of the two is read."""
    (sealed.path / "transcripts/zz").mkdir()
    (sealed.path / LOG).rename(sealed.path / "transcripts/zz/z.eval")
    _write(sealed.path / LOG, _changed(lambda sample: sample["attachments"].update(a1="other")))
    done = _verify(call, sealed)
    (answer,) = (one for one in done.report["results"] if "7_epoch_1" in one["pointer"])
    assert (answer["status"], answer["strength"] == "sealed") == ("available", False)
    assert ("not_sealed", "warning", LOG) in _told(done)
    done = _verify(call, sealed, "--min-strength", "sealed")
    assert done.code == 14
    assert "evidence_too_weak" in {one["code"] for one in done.report["findings"]}
    done = call("seal", sealed.path, "--key", sealed.key)
    assert f"{LOG}: event: expected one log of 7_epoch_1, got another" in done.err


def test_a_second_log_with_the_same_events_and_other_words_is_named(
    call: Call, sealed: SealedHome
) -> None:
    for name in ("0.eval", "z.eval"):
        other = sealed.path / "transcripts" / name
        _write(other, _changed(lambda sample: sample["attachments"].update(a1="other words")))
        done = _verify(call, sealed)
        assert _told(done) == {("not_sealed", "warning", f"transcripts/{name}")}
        other.unlink()


@pytest.mark.parametrize("own", ["", 'default = "deny"\n', "[limits]\nmax_nesting = 1\n"])
def test_a_home_cannot_hide_it(call: Call, sealed: SealedHome, own: str) -> None:
    (sealed.path / "ctxaudit.toml").write_text(own)
    _write(sealed.path / LOG, _changed(lambda sample: sample["attachments"].update(a1="x")))
    done = _verify(call, sealed)
    assert (done.code, REWRITTEN in _told(done)) == (14, True)


def test_the_real_sample(call: Call, sealed: SealedHome) -> None:
    path = sealed.path / "transcripts/real.eval"
    path.write_bytes(REAL.read_bytes())
    sealed.seal()
    assert _told(_verify(call, sealed)) == set()
    with zipfile.ZipFile(REAL) as log:
        members = {one.filename: log.read(one) for one in log.infolist()}
    name = "samples/0_epoch_1.json"
    sample = json.loads(members[name])
    place = members[name].index(b'"message_pool"')
    text = json.dumps(sample["message_pool"][0]["content"])[1:20].encode()
    at = members[name].index(text, place)
    members[name] = members[name][:at] + b"X" + members[name][at + 1 :]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as log:
        for member, data in members.items():
            log.writestr(member, data)
    done = _verify(call, sealed)
    told = ("sealed_pool_rewritten", "error", "transcripts/real.eval")
    assert (done.code, told in _told(done)) == (14, True)
