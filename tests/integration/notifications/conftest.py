"""Requests that people are told of."""

import pytest

from tests.support.steps import open_interrupts, start


@pytest.fixture
def ask(world):
    """Return a function that lets the agent open a request that does not expire."""

    def open_request():
        (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
        type(interrupt).objects.filter(pk=interrupt.pk).update(expires_at=None)
        return interrupt

    return open_request
