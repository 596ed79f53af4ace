"""Reads an export of findings with the usual reader of its format, and prints the number of findings.

Usage: python readers.py FORMAT FILE

csv: Python's csv module; jsonl: json; ocsf: py-ocsf-models; sarif: sarif-tools; asff: botocore's model of
BatchImportFindings; junit: junitparser; html: Chromium."""

import csv
import html.parser
import json
import os
import subprocess
import sys


def read_csv(file):
    with open(file, newline="", encoding="utf-8") as f:
        n = 0
        for row in csv.DictReader(f, strict=True):
            assert None not in row and None not in row.values(), "a row has another number of columns"
            n += 1
    return n


def read_jsonl(file):
    with open(file, encoding="utf-8") as f:
        return sum(1 for line in f if json.loads(line))


def read_ocsf(file):
    from py_ocsf_models.events.findings.compliance_finding import ComplianceFinding
    with open(file, encoding="utf-8") as f:
        events = json.load(f)
    for e in events:
        got = ComplianceFinding.model_validate(e)
        assert got.class_uid == 2003 and got.finding_info.uid and got.compliance, e
    return len(events)


def read_sarif(file):
    from sarif import loader
    log = loader.load_sarif_file(file)
    records = log.get_records()
    assert all(r["Severity"] in ("error", "warning", "note") and r["Code"] for r in records), "a record has no level or rule"
    return len(records)


def read_asff(file):
    import botocore.session
    import botocore.validate
    operation = botocore.session.get_session().get_service_model("securityhub").operation_model("BatchImportFindings")
    with open(file, encoding="utf-8") as f:
        findings = json.load(f)
    for i in range(0, len(findings), 100):
        report = botocore.validate.ParamValidator().validate({"Findings": findings[i:i + 100]}, operation.input_shape)
        assert not report.has_errors(), report.generate_report()
        for finding in findings[i:i + 100]:  # botocore ignores members that it does not know
            unknown = set(finding) - set(operation.input_shape.members["Findings"].member.members)
            assert not unknown, unknown
            assert len(json.dumps(finding)) < 240 * 1024, "Security Hub takes findings of at most 240 KB"
    return len(findings)


def read_junit(file):
    import junitparser
    suites = junitparser.JUnitXml.fromfile(file)
    failed = sum(1 for suite in suites for case in suite for result in case.result if isinstance(result, junitparser.Failure))
    assert suites.failures == failed, f"the attribute failures is {suites.failures}, and {failed} cases failed"
    return failed


class Rows(html.parser.HTMLParser):
    """Counts the rows of the body of the table with a column Account."""

    def __init__(self):
        super().__init__()
        self.found, self.rows = False, 0

    def handle_data(self, data):
        self.found = self.found or data == "Account"

    def handle_starttag(self, tag, attrs):
        if tag == "tr" and self.found:
            self.rows += 1


def read_html(file):
    page = subprocess.run([os.environ.get("CHROMIUM", "chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000",
                           "--dump-dom", "file://" + os.path.abspath(file)], check=True, capture_output=True, text=True, timeout=300).stdout
    rows = Rows()
    rows.feed(page)
    assert "<svg" in page, "the report has no chart"
    return rows.rows


print({"csv": read_csv, "jsonl": read_jsonl, "ocsf": read_ocsf, "sarif": read_sarif, "asff": read_asff, "junit": read_junit, "html": read_html}[sys.argv[1]](sys.argv[2]))
