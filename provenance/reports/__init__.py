r"""How an audit's report is written down, one module a format.

Example:
    >>> from provenance.audit_report import AuditReport
    >>> "".join(write_json(AuditReport(), version="0"))[:37]
    '{\n  "schema": "ctxaudit.report/1",\n  '
"""

from provenance.reports._sources import Describe
from provenance.reports._waiver_words import tell as tell_waiver
from provenance.reports.github_report import write_github
from provenance.reports.html_report import write_html
from provenance.reports.json_report import REPORT_SCHEMA, write_json
from provenance.reports.junit_report import Weigh, write_junit
from provenance.reports.markdown_report import write_markdown
from provenance.reports.ndjson_report import closing_lines, result_line, write_ndjson
from provenance.reports.sarif_report import write_sarif

__all__ = [
    "REPORT_SCHEMA",
    "Describe",
    "Weigh",
    "closing_lines",
    "result_line",
    "tell_waiver",
    "write_github",
    "write_html",
    "write_json",
    "write_junit",
    "write_markdown",
    "write_ndjson",
    "write_sarif",
]
