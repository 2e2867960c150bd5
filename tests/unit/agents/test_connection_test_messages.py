"""What the test of a connection found, told to people: there is a sentence for everything."""

import pytest

from agents.adapters.remote.probe_report import ProbeReport, ProbeResult
from inbox.rules.agents.connection_test_messages import connection_test_message

STATUSES = [301, 307, 400, 401, 403, 404, 405, 418, 422, 500, 503]


@pytest.mark.parametrize("result", ProbeResult)
def test_whatever_is_found_there_is_a_sentence_for_it(result):
    report = ProbeReport(result, host="agents.example.com", status=500, content_type="text/html")

    assert connection_test_message(report.to_json()).endswith((".", "?"))


@pytest.mark.parametrize("status", STATUSES)
def test_a_status_is_named(status):
    report = ProbeReport(ProbeResult.WRONG_STATUS, status=status)

    assert f"(status {status})" in connection_test_message(report.to_json())
