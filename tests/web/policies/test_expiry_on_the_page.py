"""The page of a request says what its expiry does."""

from datetime import timedelta

import pytest

from tests.support.policies.published import publish, rule
from tests.support.steps import open_interrupts, start
from tests.support.web.pages import words

DENIED = "If nobody answers, the request is denied by the team's policy."
CANCELLED = "If nobody answers, the request is cancelled and the agent is told."


@pytest.mark.parametrize(
    ("scenario", "on_expiry", "sentence"),
    [
        ("tool_call", "deny", DENIED),
        ("tool_call", "cancel", CANCELLED),
        # The answer of a question cannot be a denial.
        ("input_required", "deny", CANCELLED),
    ],
)
def test_the_banner_says_what_expiry_does(world, reads_bob, scenario, on_expiry, sentence):
    require = {"expires_after": "PT5M", "on_expiry": on_expiry}
    publish(world, rule("soon", "ask", require=require))
    (interrupt,) = open_interrupts(start(world, f"rehearse:{scenario}"))

    assert sentence in words(reads_bob.get(f"/interrupts/{interrupt.pk}/"))


def test_an_expired_request_says_that_it_is_being_denied(world, reads_bob):
    publish(world, rule("soon", "ask", require={"expires_after": "PT5M", "on_expiry": "deny"}))
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    expired_at = interrupt.created_at - timedelta(minutes=1)
    type(interrupt).objects.update(expires_at=expired_at, due_at=expired_at)

    page = words(reads_bob.get(f"/interrupts/{interrupt.pk}/"))

    assert "It is being denied, as the team's policy says." in page
