"""The page of a backtest."""

import threading

import pytest

from inbox.models import PolicyDraft
from inbox.queries.policies import backtests
from tests.support.policies.published import administrator, publish, rule
from tests.support.steps import deny, open_interrupts, start

PATH = "/teams/tests/policy/backtest/"
MAIL = {"path": "/tool", "op": "present"}


@pytest.fixture
def admin(client, world):
    client.force_login(type(world.bob).objects.get(pk=administrator(world).user_id))
    return client


def run(client, **fields):
    return client.post(f"{PATH}run", fields)


def test_without_a_policy_there_is_nothing_to_test(admin):
    assert "neither a draft nor a policy" in admin.get(PATH).content.decode()
    assert run(admin).status_code == 404


def test_a_backtest_shows_contradictions_with_links(admin, world):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    deny(interrupt, world.actor(world.bob))
    start(world, "rehearse:tool_call")
    publish(
        world,
        rule("all", "allow", MAIL, name="Every tool"),
        rule("none", "deny", {**MAIL, "not": True}),
    )

    text = run(admin, policy="1", requests="100").content.decode()
    assert "2 of 2 would have been allowed; people rejected 1 and edited 0 of them." in text
    assert f"/interrupts/{interrupt.pk}/" in text
    assert "Rules that would have decided nothing" in text
    assert text.index("People decided differently") < text.index("What happened")


def test_a_busy_process_refuses_a_backtest(admin, world, monkeypatch):
    publish(world, rule("all", "allow", MAIL))
    monkeypatch.setattr(backtests, "_free_slots", threading.BoundedSemaphore(1))
    backtests._free_slots.acquire()

    response = run(admin)
    assert response.status_code == 429
    assert "Another backtest is running" in response.content.decode()


def test_a_policy_that_cannot_be_read_is_not_tested(admin, world):
    admin.post("/teams/tests/policy/save", {"document": '{"rules": []}', "seen": ""})
    PolicyDraft.objects.update(body="{")

    response = run(admin)
    assert response.status_code == 422
    assert "cannot be read" in response.content.decode()
