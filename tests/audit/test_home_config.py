"""A target's own configuration tightens and never softens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenance.audit.home_config import read_home_config
from provenance.findings import Severity
from provenance.limits import Limits
from provenance.pointers import parse_source_pointer
from provenance.policy import Verdict

_LIMITS = Limits()


def test_an_empty_file_changes_nothing() -> None:
    config = read_home_config("", limits=_LIMITS)
    assert (config.limits, config.policy, config.findings) == (_LIMITS, None, ())


@pytest.mark.parametrize(
    ("text", "formats"),
    [
        ('formats = ["native"]', {"native"}),
        ('formats = ["codex", "native", "codex"]', {"native", "codex"}),
        ("formats = []", None),
        ("", None),
    ],
)
def test_formats_narrow_what_is_evidence(text: str, formats: set[str] | None) -> None:
    config = read_home_config(text, limits=_LIMITS)
    assert (config.formats, config.findings) == (formats, ())


@pytest.mark.parametrize("text", ['formats = "native"', 'formats = ["nativ"]', "formats = [[1]]"])
def test_formats_that_nobody_knows_are_an_error(text: str) -> None:
    config = read_home_config(text, limits=_LIMITS)
    assert config.is_broken
    assert [one.code for one in config.findings] == ["config_invalid"]


def test_limits_can_be_lowered() -> None:
    config = read_home_config(
        "[limits]\nmax_record_bytes = 100\nmax_nesting = 5\nmax_artifact_bytes = 10",
        limits=_LIMITS,
    )
    assert config.limits == Limits(max_record_bytes=100, max_nesting=5, max_artifact_bytes=10)
    assert config.findings == ()


@pytest.mark.parametrize("text", ["max_record_bytes = 1048577", "max_nesting = 501"])
def test_a_higher_limit_is_ignored_aloud(text: str) -> None:
    config = read_home_config(f"[limits]\n{text}", limits=_LIMITS)
    assert config.limits == _LIMITS
    assert [finding.code for finding in config.findings] == ["untrusted_config_ignored"]


def test_the_operators_lower_limit_stays() -> None:
    config = read_home_config(
        "[limits]\nmax_artifact_bytes = 100", limits=Limits(max_artifact_bytes=50)
    )
    assert config.limits.max_artifact_bytes == 50
    assert len(config.findings) == 1


@pytest.mark.parametrize(
    "text",
    [
        '[[rule]]\neffect = "deny"\nsession = "hr-*"',
        'default = "allow"\n[[rule]]\neffect = "deny"\nsession = "hr-*"',
        '[[policy.rule]]\neffect = "deny"\nsession = "hr-*"',
        '[policy]\ndefault = "deny"',
    ],
)
def test_deny_rules_count(text: str) -> None:
    config = read_home_config(text, limits=_LIMITS)
    codes = [finding.code for finding in config.findings]
    assert codes == (["untrusted_config_ignored"] if 'default = "allow"' in text else [])
    assert config.policy is not None
    pointer = parse_source_pointer("transcript:hr-1:1")
    assert config.policy.decide(pointer).verdict is Verdict.DENY


def test_refusals_count() -> None:
    config = read_home_config('refuse = ["prefix-digests"]', limits=_LIMITS)
    assert config.policy is not None
    pointer = parse_source_pointer("artifact:s:f:0123456789ab")
    assert config.policy.decide(pointer).verdict is Verdict.REFUSE


def test_an_allow_rule_is_ignored_aloud_and_shields_nothing() -> None:
    config = read_home_config(
        '[[rule]]\neffect = "allow"\nsession = "hr-1"\n[[rule]]\neffect = "deny"', limits=_LIMITS
    )
    assert [finding.code for finding in config.findings] == ["untrusted_config_ignored"]
    assert config.policy is not None
    pointer = parse_source_pointer("transcript:hr-1:1")
    assert config.policy.decide(pointer).verdict is Verdict.DENY


@pytest.mark.parametrize("text", ['default = "allow"', '[policy]\ndefault = "allow"'])
def test_an_allowing_default_is_ignored_aloud(text: str) -> None:
    config = read_home_config(text, limits=_LIMITS)
    assert [finding.code for finding in config.findings] == ["untrusted_config_ignored"]
    assert config.policy is None
    assert read_home_config(text.replace("allow", "deny"), limits=_LIMITS).findings == ()


@pytest.mark.parametrize(
    "text",
    [
        'transcript_root = "/elsewhere"',
        'artifact-root = "/elsewhere"',
        '[roots]\ntranscripts = "/elsewhere"',
        '[[waiver]]\npointer = "transcript:s:1"\nreason = "because"',
        'waivers = "waivers.toml"',
        'fail_on = ["missing"]',
        "exit_zero = true",
        'min_strength = "position"',
        'policy = "other.toml"',
        'as_tenant = "admin"',
    ],
)
def test_options_of_the_operator_are_ignored_aloud(text: str) -> None:
    config = read_home_config(text, limits=_LIMITS)
    assert (config.limits, config.policy) == (_LIMITS, None)
    assert [finding.code for finding in config.findings] == ["untrusted_config_ignored"]
    assert config.findings[0].severity is Severity.WARNING
    assert "elsewhere" not in config.findings[0].message


@pytest.mark.parametrize(
    "text",
    [
        "not toml",
        "dney = []",
        'formats = ["unheard-of"]',
        'formats = "native"',
        "[limits]\nmax_nesting = 0",
        "[limits]\nmax_nesting = true",
        '[limits]\nmax_nesting = "5"',
        "[limits]\nmax_everything = 5",
        "limits = 5",
        '[[rule]]\neffect = "deny"\nsesion = "x"',
        'refuse = ["hardlinks"]',
        'default = "deny"\n[policy]\ndefault = "deny"',
        "a = " + "[" * 100_000,
    ],
)
def test_what_is_not_understood_is_an_error(text: str) -> None:
    config = read_home_config(text, limits=_LIMITS)
    assert config.is_broken
    assert (config.limits, config.policy) == (_LIMITS, None)
    (finding,) = config.findings
    assert (finding.code, finding.severity) == ("config_invalid", Severity.ERROR)
    assert "\n" not in finding.message


def test_formats_can_be_named() -> None:
    assert read_home_config('formats = ["native"]', limits=_LIMITS).findings == ()


_keys = st.sampled_from(["max_record_bytes", "max_nesting", "max_artifact_bytes"])


@given(st.dictionaries(_keys, st.integers(1, 1 << 40)))
def test_no_limit_is_ever_raised(wanted: dict[str, int]) -> None:
    text = "[limits]\n" + "".join(f"{key} = {value}\n" for key, value in wanted.items())
    limits = Limits(max_artifact_bytes=1 << 20)
    tightened = read_home_config(text, limits=limits).limits
    for key in ("max_record_bytes", "max_nesting", "max_artifact_bytes"):
        assert getattr(tightened, key) == min(
            getattr(limits, key), wanted.get(key, getattr(limits, key))
        )


@given(st.text(max_size=200))
def test_any_text_gives_a_configuration(text: str) -> None:
    config = read_home_config(text, limits=_LIMITS)
    assert config.is_broken == any(f.code == "config_invalid" for f in config.findings)
