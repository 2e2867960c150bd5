"""The page says why an answer is refused while a sink of the audit trail lags."""

import pytest

from tests.support.steps import open_interrupts, reread, start
from tests.support.web.pages import words


@pytest.fixture
def interrupt(world, settings, later):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    settings.AUDIT_ENTRY_SINKS = ("https://receiver.example/audit",)
    settings.AUDIT_SINK_MAX_LAG = 60.0
    later(seconds=61)
    return interrupt


def test_the_page_says_that_decisions_are_paused(interrupt, reads_bob):
    page = reads_bob.send(interrupt, "approve")

    assert page.status_code == 503
    assert "Decisions are paused" in words(page)
    assert "This answer was not sent." in words(page)
    assert reread(interrupt).status == "open"
