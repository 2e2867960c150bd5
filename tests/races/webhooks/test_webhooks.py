"""Couriers and deciders at the same moment."""

import json
from functools import partial

import pytest
from django.db import transaction

from inbox.actions.webhooks.deliveries import MAX_CONCURRENT, claim_delivery, record_attempt
from inbox.actions.webhooks.endpoints import add_webhook, lock_endpoint
from inbox.models import Delivery, WebhookEndpoint
from inbox.rules.errors import InvalidValue
from inbox.rules.people.access import SEED
from inbox.rules.webhooks.delivery_rules import MAX_ENDPOINTS, EventType
from inbox.sending import webhook_sender
from tests.support.races.concurrently import (
    LONG_WAIT_SECONDS,
    Meeting,
    at_once,
    failures,
    rounds,
)
from tests.support.steps import approve, open_interrupts, start


def add(world):
    row, _ = add_webhook(
        team_id=world.team.pk,
        url="https://hooks.example.com/",
        event_types=[kind.value for kind in EventType],
        actor=SEED,
    )
    return row


@pytest.mark.parametrize("number", range(rounds(short=3, long=100)))
def test_webhook_workers_claim_distinct_messages_within_the_limit(committed_world, number):
    endpoint = add(committed_world)
    for _ in range(3):
        start(committed_world, "rehearse:tool_call")
    taking = [partial(claim_delivery, endpoint_id=endpoint.pk)] * 8

    deliveries = [delivery for delivery in at_once(taking) if delivery is not None]

    threads = [json.loads(delivery.body)["data"]["thread"]["id"] for delivery in deliveries]
    assert len(set(threads)) == len(threads) == 3
    assert {json.loads(delivery.body)["type"] for delivery in deliveries} == {"run.interrupted"}


@pytest.mark.parametrize("number", range(rounds(short=3, long=100)))
def test_an_endpoint_is_not_sent_more_at_once_than_it_may_get(committed_world, number):
    endpoint = add(committed_world)
    for _ in range(MAX_CONCURRENT + 3):
        start(committed_world, "rehearse:echo")
    taking = [partial(claim_delivery, endpoint_id=endpoint.pk)] * (MAX_CONCURRENT + 3)

    deliveries = [delivery for delivery in at_once(taking) if delivery is not None]

    assert (
        len({delivery.message_id for delivery in deliveries}) == len(deliveries) == MAX_CONCURRENT
    )


def test_without_the_lock_couriers_take_the_same_message(
    committed_world, without_the_lock, monkeypatch
):
    """The tests above need the lock: each of these couriers finds the same row."""
    endpoint = add(committed_world)
    start(committed_world, "rehearse:echo")
    meeting = Meeting(2)
    save = Delivery.save

    def save_together(self, **how):
        meeting.wait()
        save(self, **how)

    monkeypatch.setattr(Delivery, "save", save_together)
    deliveries = at_once([partial(claim_delivery, endpoint_id=endpoint.pk)] * 2)

    assert meeting.met
    assert deliveries[0].message_id == deliveries[1].message_id


@pytest.mark.parametrize("number", range(rounds(short=3, long=100)))
def test_failures_that_are_recorded_at_once_are_all_counted(committed_world, number):
    endpoint = add(committed_world)
    for _ in range(MAX_CONCURRENT):
        start(committed_world, "rehearse:echo")
    deliveries = [claim_delivery(endpoint_id=endpoint.pk) for _ in range(MAX_CONCURRENT)]
    failed = webhook_sender.AttemptOutcome(500)

    at_once([partial(record_attempt, delivery=delivery, outcome=failed) for delivery in deliveries])

    assert WebhookEndpoint.objects.get().failures == MAX_CONCURRENT


def test_nobody_who_decides_waits_for_a_courier(committed_world, race_bob):
    endpoint = add(committed_world)
    (interrupt,) = open_interrupts(start(committed_world, "rehearse:tool_call"))
    decided = Meeting(2, wait_seconds=LONG_WAIT_SECONDS)

    def hold():
        with transaction.atomic():
            lock_endpoint(endpoint.pk)
            decided.wait()  # for a decision that has committed

    def decide():
        approve(interrupt, race_bob)
        decided.wait()

    assert failures(at_once([hold, decide])) == []
    assert decided.met


@pytest.mark.parametrize("number", range(rounds(short=3, long=100)))
def test_a_team_never_gets_one_webhook_too_many(committed_world, number):
    for _ in range(MAX_ENDPOINTS - 1):
        add(committed_world)

    outcomes = at_once([partial(add, committed_world)] * 4)

    assert [type(failure) for failure in failures(outcomes)] == [InvalidValue] * 3
    assert WebhookEndpoint.objects.count() == MAX_ENDPOINTS
