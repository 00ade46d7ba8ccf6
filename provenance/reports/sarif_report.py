r"""The report as SARIF 2.1.0, for code scanning services and for editors that show it.

Guarantees: valid against the published schema, ASCII, one result a line, the same for the same
report. Each result has a place with a relative URI, however the audited files are named: a name
that could lead out of what was audited (absolute, `..`) becomes the place of the whole. Messages
are plain: one line, no hidden characters, no links, no placeholders. Fingerprints hold no line
number where a record has an id or a place of its own. What a waiver covers is suppressed and stays.
No text of the evidence, no claim and no path of the machine.

Not guaranteed: that a service takes a report of any size; GitHub refuses more than 25,000 results.

Example:
    >>> from provenance.audit_report import AuditReport
    >>> import json
    >>> text = "".join(write_sarif(AuditReport(), version="0", describe=lambda code: None))
    >>> json.loads(text)["runs"][0]["results"]
    []
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from provenance.audit_report import AuditedSource, AuditReport
from provenance.findings import Finding, Severity
from provenance.reports._consequence_words import plain_line
from provenance.reports._encoding import to_json
from provenance.reports._sarif_parts import consequence, invocation, logical_place, suppression
from provenance.reports._sarif_text import cut, message_text, one_line, uri_path
from provenance.reports._sources import Describe, is_reported, state_of, target_of
from provenance.reports._store_places import store_file
from provenance.resolution import SourceResolutionStatus
from provenance.waivers import Waiver

__all__ = ["write_sarif"]

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_BASE = "TARGETROOT"
_FINGERPRINT = "ctxaudit/v1"
# GitHub refuses a file with more for one result; `places` says how many there are.
_MOST_LOCATIONS = 1_000
# What rests on a source at second hand: readers show them one by one.
_MOST_RELATED = 100
# The longest well-formed pointer has 475; no other leaves no room for what is wrong with it.
_POINTER_CHARACTERS = 500
# Readers keep a line number in 32 bits.
_LAST_LINE = 2**31 - 1
# What findings name in place of a file: standard input and an option.
_NO_FILES = frozenset({"-", "--pointer"})

_cited_line = re.compile(r"line ([1-9][0-9]{0,9})").fullmatch

_SEVERITY_LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "note",
}
_LEVEL_ORDER = ("note", "warning", "error")


class _Result(NamedTuple):
    """One result, before it is known which number its rule has.

    Attributes:
        rule: id of the rule.
        level: `error`, `warning` or `note`.
        message: one plain line.
        locations: at least one.
        alike: what the fingerprint is taken of.
        properties: what SARIF has no field for.
        related: what rests on it without citing it.
        waiver: who answers for it.
    """

    rule: str
    level: str
    message: str
    locations: list[dict[str, object]]
    alike: list[object]
    properties: dict[str, object]
    related: list[dict[str, object]]
    waiver: Waiver | None


def write_sarif(
    report: AuditReport, *, version: str, describe: Describe, folder: str = ""
) -> Iterator[str]:
    """Write the report piece by piece; the pieces joined are the document.

    Args:
        report: what was found.
        version: of the tool that found it.
        describe: gives the texts of a rule.
        folder: the target, where a single folder was audited: its label comes before the names of
            its files, so that a URI starts where the command ran; empty where the names do already.
    """
    writer = _Writer(report, describe, folder)
    rules = writer.rules()
    driver = {"name": "ctxaudit", "version": version, "rules": list(rules.values())}
    base = {"description": {"text": "The folder that the targets were named from."}}
    head: dict[str, object] = {
        "tool": {"driver": driver},
        "invocations": [invocation(report)],
        "originalUriBaseIds": {_BASE: base},
        "columnKind": "utf16CodeUnits",
    }
    yield f'{{\n  "$schema": {to_json(_SCHEMA)},\n  "version": "2.1.0",\n  "runs": [{{\n'
    for key, value in head.items():
        yield f'    "{key}": {to_json(value)},\n'
    yield '    "results": ['
    numbers = {rule: number for number, rule in enumerate(rules)}
    seen: Counter[str] = Counter()
    separator = "\n      "
    for result in writer.results():
        digest = hashlib.sha256(to_json(result.alike).encode("ascii")).hexdigest()
        seen[digest] += 1
        entry: dict[str, object] = {
            "ruleId": result.rule,
            "ruleIndex": numbers[result.rule],
            "level": result.level,
            "message": {"text": result.message},
            "locations": result.locations,
            "partialFingerprints": {_FINGERPRINT: f"{digest}:{seen[digest]}"},
            "properties": result.properties,
        }
        if result.related:
            entry["relatedLocations"] = result.related
        if writer.has_waivers:
            waiver = result.waiver
            entry["suppressions"] = [] if waiver is None else [suppression(waiver)]
        yield separator + to_json(entry)
        separator = ",\n      "
    yield ("]" if not seen else "\n    ]") + "\n  }]\n}\n"


class _Writer:
    """Turns what a report says into rules and results."""

    def __init__(self, report: AuditReport, describe: Describe, folder: str) -> None:
        self._report = report
        self._describe = describe
        self._no_files = _NO_FILES | report.outside_names
        encoded = uri_path(folder)
        self._whole = "./" if encoded is None else encoded + "/"
        self._before = "" if encoded is None else encoded + "/"
        # Where one result has them, all must, be it none (SARIF 2.1.0, 3.27.23).
        self.has_waivers = any(
            one.waiver is not None for one in filter(is_reported, report.sources)
        ) or any(one.waiver is not None for one in report.findings)

    def rules(self) -> dict[str, dict[str, object]]:
        """Give the rules that the results name, by id, in their order."""
        levels: dict[str, str] = {}
        for source in self._report.sources:
            if is_reported(source):
                _raise(levels, _source_rule(source), _source_level(source))
        for finding in self._report.findings:
            _raise(levels, _finding_rule(finding), _SEVERITY_LEVELS[finding.severity])
        return {rule: self._rule(rule, level) for rule, level in sorted(levels.items())}

    def results(self) -> Iterator[_Result]:
        """Give the results: sources that are not available, then findings."""
        yield from map(self._of_source, filter(is_reported, self._report.sources))
        yield from map(self._of_finding, self._report.findings)

    def _rule(self, rule: str, level: str) -> dict[str, object]:
        page = self._describe(rule) or ("", "", "")
        meaning, arises, remedy = (
            one_line(text) or "There is no page for this code." for text in page
        )
        return {
            "id": rule,
            "shortDescription": {"text": meaning},
            "fullDescription": {"text": f"{meaning} {arises}"},
            "help": {"text": f"How it arises: {arises} What to do: {remedy}"},
            "defaultConfiguration": {"level": level},
        }

    def _of_source(self, source: AuditedSource) -> _Result:
        answer = source.resolution
        rule = _source_rule(source)
        state = state_of(source)
        page = self._describe(rule)
        pointer = cut(answer.pointer, _POINTER_CHARACTERS)
        parts = [f"{pointer}: {state}.", page[0] if page else f"({rule})"]
        places = len(source.cited_by)
        if places > 1:
            parts.append(f"Cited in {places} places.")
        locations: list[dict[str, object]] = []
        for citation in source.cited_by[:_MOST_LOCATIONS]:
            match = _cited_line(citation.item or "")
            line = int(match[1]) if match and citation.file not in self._no_files else None
            logical = [] if line or citation.item is None else logical_place(citation.item, "item")
            locations.append(self._location(citation.file, line, logical))
        file = source.cited_by[0].file if source.cited_by else ""
        return _Result(
            rule,
            _source_level(source),
            message_text(" ".join(parts)),
            locations or [self._location("", None, [])],
            ["source", rule, self._target_of(file), answer.pointer],
            {
                "pointer": answer.pointer,
                "status": str(answer.status),
                "conclusive": answer.conclusive,
                "source_type": None if answer.source_type is None else str(answer.source_type),
                "places": places,
                "consequences": [consequence(one) for one in source.consequences],
                "consequences_left_out": source.consequences_left_out,
            },
            self._related(source),
            source.waiver,
        )

    def _related(self, source: AuditedSource) -> list[dict[str, object]]:
        """Give the places that rest on a source at second hand; the others are its locations."""
        found: list[dict[str, object]] = []
        for one in source.beyond_cited[:_MOST_RELATED]:
            logical = [] if one.item is None else logical_place(one.item, "item")
            said = message_text(f"Rests on it: {plain_line(one, claim_characters=0)}.")
            place = self._location(one.file, None, logical)
            found.append({"id": len(found) + 1, "message": {"text": said}, **place})
        return found

    def _of_finding(self, finding: Finding) -> _Result:
        place = finding.location
        rule = _finding_rule(finding)
        if place.native_id is not None:
            alike: list[object] = ["id", place.native_id]
        elif place.ordinal is not None:
            alike = ["ordinal", place.ordinal]
        elif place.line is not None:
            alike = ["line", place.line]
        else:
            alike = ["message", finding.message]
        if finding.part:
            alike += ["part", finding.part]
        logical: list[dict[str, object]] = []
        if place.native_id is not None:
            logical = logical_place(place.native_id, "record")
        elif place.ordinal is not None:
            logical = logical_place(str(place.ordinal), "record")
        page = self._describe(rule)
        said = finding.message if message_text(finding.message) else (page[0] if page else "")
        store = store_file(finding.target, finding.code)
        return _Result(
            rule,
            _SEVERITY_LEVELS[finding.severity],
            message_text(f"{finding.target}: {said}" if said and store is not None else said)
            or message_text(rule),
            [self._location(finding.target, place.line, logical, code=finding.code)],
            ["finding", rule, finding.target, *alike],
            {"target": finding.target, "severity": str(finding.severity), **place.to_dict()},
            [],
            finding.waiver,
        )

    def _location(
        self,
        name: str,
        line: int | None,
        logical: list[dict[str, object]],
        *,
        code: str | None = None,
    ) -> dict[str, object]:
        """Give the place of a name; the whole of what was audited, where it names no file."""
        if name not in self._no_files and (store := store_file(name, code)) is not None:
            # The file is the store; which state of it is said beside it.
            logical = logical + logical_place(name.removeprefix(f"{store}:"), "state")
            name, line = store, None
        encoded = None if name in self._no_files else uri_path(name)
        uri = self._whole if encoded is None else self._before + encoded
        physical: dict[str, object] = {"artifactLocation": {"uri": uri, "uriBaseId": _BASE}}
        if encoded is not None and line is not None and 1 <= line <= _LAST_LINE:
            physical["region"] = {"startLine": line}
        if encoded is None and name != ".":
            logical = logical + logical_place(name, "target")
        location: dict[str, object] = {"physicalLocation": physical}
        if logical:
            location["logicalLocations"] = logical
        return location

    def _target_of(self, file: str) -> str:
        """Give the target that a file belongs to: two of them may cite one pointer."""
        targets = self._report.targets
        return "" if len(targets) < 2 else target_of(file, targets)


def _source_rule(source: AuditedSource) -> str:
    return one_line(source.resolution.reason or "") or str(source.resolution.status)


def _finding_rule(finding: Finding) -> str:
    return one_line(finding.code) or "finding"


def _source_level(source: AuditedSource) -> str:
    answer = source.resolution
    is_unclear = not answer.conclusive or answer.status is SourceResolutionStatus.UNSUPPORTED
    return "warning" if is_unclear else "error"


def _raise(levels: dict[str, str], rule: str, level: str) -> None:
    """Keep the highest level of a rule's results as the rule's own."""
    levels[rule] = max(levels.get(rule, level), level, key=_LEVEL_ORDER.index)
