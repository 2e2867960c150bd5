"""Webhooks arrive: every message at least once, in order per thread, signed, whatever happens."""

import json
import threading

import pytest
from django.db import OperationalError, connections

from inbox import sweeper, wakeups
from inbox.actions.webhooks import deliveries
from inbox.actions.webhooks.endpoints import (
    add_webhook,
    change_webhook,
    remove_webhook,
    rotate_secret,
)
from inbox.models import AuditEntry, Delivery, DeliveryAttempt
from inbox.rules.errors import NotFound
from inbox.rules.people.access import SEED
from inbox.rules.webhooks.delivery_rules import (
    MAX_FAILING_TIME,
    MAX_FAILURES,
    RETRY_DELAYS,
    DeliveryProblem,
    EventType,
    problem_message,
)
from inbox.sending import outgoing_http, webhook_sender
from tests.support import steps
from tests.support.agents.lost_workers import WorkerKilled
from tests.support.http.webhook_receiver import Receiver, is_signed, receiver
from tests.support.steps import approve, open_interrupts, start

__all__ = ["receiver"]

EVERYTHING = [kind.value for kind in EventType]
APPROVED_RUN = [
    *("run.interrupted", "interrupt.opened", "interrupt.decided", "run.finished"),
]


@pytest.fixture(autouse=True)
def _delivered_by_the_sweeper(monkeypatch):
    """Whoever is rung delivers at once, in this thread."""
    monkeypatch.setattr(wakeups, "wake_webhook_workers", webhook_sender.deliver)


@pytest.fixture
def endpoint(world, receiver):
    row, receiver.secret = add_webhook(
        team_id=world.team.pk, url=receiver.url, event_types=EVERYTHING, actor=SEED
    )
    return row


def an_approved_run(world, bob):
    """A thread in which a run asked, was answered and went on to its end."""
    run = start(world, "rehearse:tool_call")
    approve(open_interrupts(run)[0], bob)
    steps.resumed_run(run)
    return run.thread_id


def in_thread(received, thread_id):
    """The types of a thread's messages, each as it first arrived."""
    first = {message.id: message for message in reversed(received)}
    arrived = [message for message in received if first[message.id] is message]
    return [message.type for message in arrived if message.data["thread"]["id"] == str(thread_id)]


# -- a receiver that is down, slow, redirects, answers 500, then recovers -------------------------


def test_recovered_receiver_gets_every_message_in_order(
    world, bob, receiver, endpoint, later, monkeypatch
):
    monkeypatch.setattr(outgoing_http, "ANSWER_SECONDS", 0.3)
    aside = Receiver()
    threads = [an_approved_run(world, bob), an_approved_run(world, bob)]

    receiver.stop()
    sweeper.sweep()
    assert set(problems()) == {"The receiver cannot be reached."}

    receiver.start()
    receiver.may_answer.clear()
    later(minutes=1)
    sweeper.sweep()
    assert problems()[-1] == "The receiver did not answer in time."

    receiver.may_answer.set()
    receiver.status, receiver.headers = 302, {"Location": aside.url}
    later(minutes=10)
    sweeper.sweep()
    assert "Redirects are not followed" in problems()[-1]

    receiver.status, receiver.headers = 500, {}
    later(hours=1)
    sweeper.sweep()
    assert problems()[-1] == "The receiver answered with status 500."
    assert not Delivery.objects.exclude(status="pending").exists()

    receiver.status = 204
    later(hours=3)
    sweeper.sweep()

    assert not Delivery.objects.exclude(status="delivered").exists()
    accepted = [message for message in receiver.received if message.was_taken]
    assert {message.id for message in accepted} == {
        f"msg_{message_id.hex}"
        for message_id in Delivery.objects.values_list("message_id", flat=True)
    }
    for thread in threads:
        assert in_thread(accepted, thread) == APPROVED_RUN
    assert all(message.is_signed for message in receiver.received)
    assert aside.received == []
    aside.stop()


def test_a_message_that_came_twice_is_known_by_its_id(
    world, receiver, endpoint, later, monkeypatch
):
    monkeypatch.setattr(outgoing_http, "ANSWER_SECONDS", 0.3)
    receiver.may_answer.clear()
    start(world, "rehearse:echo")
    sweeper.sweep()
    receiver.may_answer.set()
    later(minutes=1)
    sweeper.sweep()

    first, second = receiver.received
    assert (first.id, first.body) == (second.id, second.body)
    assert all(message.is_signed for message in receiver.received)


def test_the_log_forgets_what_has_arrived_but_nothing_that_waits(
    world, bob, receiver, endpoint, later, caplog
):
    an_approved_run(world, bob)
    sweeper.sweep()
    receiver.status = 500
    start(world, "rehearse:echo")
    sweeper.sweep()
    waiting = set(Delivery.objects.filter(status="pending").values_list("pk", flat=True))
    assert waiting

    later(days=29)
    sweeper.sweep()
    assert Delivery.objects.count() == len(APPROVED_RUN) + len(waiting)
    later(days=31)
    sweeper.sweep()

    assert set(Delivery.objects.values_list("pk", flat=True)) == waiting
    assert set(DeliveryAttempt.objects.values_list("delivery", flat=True)) == waiting
    assert not [record for record in caplog.records if "sweep failed" in record.getMessage()]


def test_what_was_given_up_late_stays_in_the_log_for_as_long(world, receiver, endpoint, later):
    receiver.status = 500
    start(world, "rehearse:echo")
    later(days=40)
    Delivery.objects.update(failed_attempts=len(RETRY_DELAYS))
    sweeper.sweep()
    assert set(Delivery.objects.values_list("status", flat=True)) == {"failed"}

    later(days=69)
    sweeper.sweep()
    assert Delivery.objects.count() == 1
    later(days=71)
    sweeper.sweep()
    assert Delivery.objects.count() == 0


def test_what_a_removed_endpoint_was_not_told_is_forgotten_too(world, receiver, endpoint, later):
    receiver.status = 500
    start(world, "rehearse:echo")
    remove_webhook(endpoint_id=endpoint.pk, actor=SEED)

    later(days=31)
    sweeper.sweep()

    assert (Delivery.objects.count(), receiver.received) == (0, [])


def test_a_message_that_was_forgotten_a_moment_ago_is_not_there(
    world, receiver, endpoint, monkeypatch
):
    start(world, "rehearse:echo")
    message_id = Delivery.objects.get().message_id
    lock = deliveries._lock_enabled_endpoint

    def lock_too_late(*whose):
        Delivery.objects.all().delete()
        return lock(*whose)

    monkeypatch.setattr(deliveries, "_lock_enabled_endpoint", lock_too_late)

    with pytest.raises(NotFound):
        deliveries.resend_message(message_id=message_id, actor=SEED)


def test_what_somebody_sends_again_is_not_forgotten(world, bob, receiver, endpoint, later):
    an_approved_run(world, bob)
    sweeper.sweep()
    later(days=31)
    again = Delivery.objects.earliest("pk")
    deliveries.resend_message(message_id=again.message_id, actor=SEED)

    assert deliveries.delete_old_messages(endpoint_id=endpoint.pk) == len(APPROVED_RUN) - 1
    assert deliveries.delete_old_messages(endpoint_id=endpoint.pk) == 0
    assert Delivery.objects.get() == again


def test_a_worker_that_dies_between_sending_and_recording_sends_twice(
    world, receiver, endpoint, later, monkeypatch
):
    start(world, "rehearse:echo")

    def die(**_kwargs):
        raise WorkerKilled

    with monkeypatch.context() as dying:
        dying.setattr(webhook_sender, "record_attempt", die)
        with pytest.raises(WorkerKilled):
            sweeper.sweep()
    sweeper.sweep()
    assert len(receiver.received) == 1  # its lease runs

    later(seconds=61)
    sweeper.sweep()

    first, second = receiver.received
    assert first.id == second.id
    assert Delivery.objects.get().status == "delivered"


def test_a_worker_that_wakes_up_too_late_changes_nothing(world, endpoint, later):
    start(world, "rehearse:echo")
    slow = deliveries.claim_delivery(endpoint_id=endpoint.pk)
    later(seconds=61)
    sweeper.sweep()

    late = deliveries.record_attempt(
        delivery=slow, outcome=webhook_sender.AttemptOutcome(500, DeliveryProblem.STATUS)
    )

    assert late is None
    assert Delivery.objects.get().status == "delivered"
    assert problems() == []


def test_late_result_of_a_worker_without_the_lease_is_ignored(world, endpoint, later):
    start(world, "rehearse:echo")
    slow = deliveries.claim_delivery(endpoint_id=endpoint.pk)
    later(seconds=61)
    quick = deliveries.claim_delivery(endpoint_id=endpoint.pk)

    late = deliveries.record_attempt(
        delivery=slow, outcome=webhook_sender.AttemptOutcome(500, DeliveryProblem.STATUS)
    )

    assert late is None
    assert (
        deliveries.record_attempt(delivery=quick, outcome=webhook_sender.AttemptOutcome(204))
        == "delivered"
    )
    endpoint.refresh_from_db()
    assert endpoint.failures == 0


def test_an_answer_that_comes_drop_by_drop_is_not_waited_for(
    world, receiver, endpoint, monkeypatch
):
    monkeypatch.setattr(outgoing_http, "ANSWER_SECONDS", 0.3)
    receiver.drips = True
    start(world, "rehearse:echo")
    sweeper.sweep()

    assert problems() == ["The receiver did not answer in time."]
    assert DeliveryAttempt.objects.get().milliseconds < 4_000


def problems():
    failures = DeliveryAttempt.objects.order_by("pk").values_list("problem", "status_code")
    return [problem_message(*failure) for failure in failures if failure[0]]


# -- order, and who waits for whom ----------------------------------------------------------------


def test_a_failure_delays_its_own_thread_only(world, bob, receiver, endpoint, later):
    receiver.status = 500
    delayed = an_approved_run(world, bob)
    sweeper.sweep()
    receiver.status = 204

    other = an_approved_run(world, bob)
    sweeper.sweep()
    accepted = [message for message in receiver.received if message.was_taken]
    assert in_thread(accepted, other) == APPROVED_RUN
    assert in_thread(accepted, delayed) == []

    later(minutes=1)
    sweeper.sweep()
    accepted = [message for message in receiver.received if message.was_taken]
    assert in_thread(accepted, delayed) == APPROVED_RUN


def test_a_message_on_its_way_keeps_back_those_after_it(world, bob, endpoint):
    an_approved_run(world, bob)
    first = deliveries.claim_delivery(endpoint_id=endpoint.pk)

    assert json.loads(first.body)["type"] == "run.interrupted"
    assert deliveries.claim_delivery(endpoint_id=endpoint.pk) is None


def test_an_endpoint_gets_few_messages_at_once_and_one_while_it_fails(world, endpoint, later):
    for _ in range(6):
        start(world, "rehearse:echo")
    claimed = [deliveries.claim_delivery(endpoint_id=endpoint.pk) for _ in range(6)]
    assert sum(delivery is not None for delivery in claimed) == deliveries.MAX_CONCURRENT

    for delivery in claimed[: deliveries.MAX_CONCURRENT]:
        deliveries.record_attempt(
            delivery=delivery, outcome=webhook_sender.AttemptOutcome(500, DeliveryProblem.STATUS)
        )

    assert deliveries.claim_delivery(endpoint_id=endpoint.pk) is not None
    assert deliveries.claim_delivery(endpoint_id=endpoint.pk) is None


def test_slow_receivers_leave_half_of_a_worker_to_others(world, receiver, endpoint, monkeypatch):
    monkeypatch.setattr(webhook_sender, "_free_slots", threading.BoundedSemaphore(1))
    start(world, "rehearse:echo")
    webhook_sender._free_slots.acquire()

    webhook_sender.deliver(endpoint.pk)
    assert receiver.received == []

    webhook_sender._free_slots.release()
    webhook_sender.deliver(endpoint.pk)
    assert receiver.types == ["run.finished"]


def test_a_courier_makes_room_after_a_stretch_and_rings_for_the_rest(
    world, receiver, endpoint, monkeypatch
):
    monkeypatch.setattr(webhook_sender, "MAX_MESSAGES_PER_TASK", 2)
    rung = []
    monkeypatch.setattr(wakeups, "wake_webhook_workers", rung.append)
    for _ in range(3):
        start(world, "rehearse:echo")

    webhook_sender.deliver(endpoint.pk)

    assert (len(receiver.received), rung) == (2, [endpoint.pk])


def test_a_worker_that_stops_takes_nothing_more(world, receiver, endpoint):
    start(world, "rehearse:echo")
    stopping = threading.Event()
    stopping.set()

    webhook_sender.deliver(endpoint.pk, stopping=stopping)

    assert receiver.received == []


def test_a_database_that_is_away_delays_a_message_only(world, receiver, endpoint, monkeypatch):
    start(world, "rehearse:echo")

    def away(**_kwargs):
        raise OperationalError

    with monkeypatch.context() as outage:
        outage.setattr(webhook_sender, "claim_delivery", away)
        webhook_sender.deliver(endpoint.pk)
    webhook_sender.deliver(endpoint.pk)

    assert receiver.types == ["run.finished"]


def test_no_transaction_is_open_while_the_network_runs(world, receiver, endpoint, monkeypatch):
    database = connections["default"]
    seen = []

    def transactions():
        return database.in_atomic_block, len(database.savepoint_ids)

    async def resolver(host, port):
        seen.append(transactions())
        return [host]

    monkeypatch.setattr(outgoing_http, "resolve", resolver)
    start(world, "rehearse:echo")
    outside = transactions()
    sweeper.sweep()

    assert seen == [outside]
    assert receiver.types == ["run.finished"]


# -- trying again, giving up, leaving alone -------------------------------------------------------


def test_each_failure_waits_longer_and_what_others_survive_is_given_up(
    world, receiver, endpoint, later
):
    start(world, "rehearse:echo")
    (row,) = Delivery.objects.all()
    for tries, pause in enumerate(RETRY_DELAYS, start=1):
        delivery = deliveries.claim_delivery(endpoint_id=endpoint.pk)
        deliveries.record_attempt(
            delivery=delivery, outcome=webhook_sender.AttemptOutcome(400, DeliveryProblem.STATUS)
        )
        _somebody_else_is_served(endpoint)
        row.refresh_from_db()
        attempted_at = row.attempts.last().at
        assert pause <= row.next_try_at - attempted_at <= pause * 1.11
        assert (row.status, row.failed_attempts) == ("pending", tries)
        later(seconds=(row.next_try_at - row.created_at).total_seconds() + 1)

    delivery = deliveries.claim_delivery(endpoint_id=endpoint.pk)
    assert (
        deliveries.record_attempt(
            delivery=delivery, outcome=webhook_sender.AttemptOutcome(400, DeliveryProblem.STATUS)
        )
        == "failed"
    )


def _somebody_else_is_served(endpoint):
    type(endpoint).objects.filter(pk=endpoint.pk).update(failures=0, failing_since=None)


def test_an_endpoint_at_which_nothing_arrives_for_a_day_is_left_alone(
    world, bob, receiver, endpoint, later
):
    receiver.status = 500
    thread = an_approved_run(world, bob)
    for hours in range(0, 48, 2):
        later(hours=hours)
        sweeper.sweep()
    endpoint.refresh_from_db()
    assert (endpoint.disabled_reason, endpoint.failures >= MAX_FAILURES) == ("failing", True)
    assert endpoint.disabled_at - endpoint.failing_since >= MAX_FAILING_TIME
    entry = AuditEntry.objects.get(action="webhook.disabled")
    assert (entry.content["actor"], entry.content["detail"]["reason"]) == (
        "system:webhooks",
        "failing",
    )

    receiver.status = 204
    while_away = start(world, "rehearse:echo").thread_id
    count = len(receiver.received)
    sweeper.sweep()
    assert len(receiver.received) == count  # it is left alone

    change_webhook(endpoint_id=endpoint.pk, enabled=True, actor=SEED)
    sweeper.sweep()
    accepted = [message for message in receiver.received if message.was_taken]
    assert in_thread(accepted, thread) == APPROVED_RUN
    assert in_thread(accepted, while_away) == ["run.finished"]


def test_a_receiver_that_says_gone_is_sent_nothing_more(world, receiver, endpoint):
    receiver.status = 410
    start(world, "rehearse:echo")
    start(world, "rehearse:echo")
    sweeper.sweep()

    endpoint.refresh_from_db()
    assert (endpoint.disabled_reason, len(receiver.received)) == ("gone", 1)
    assert Delivery.objects.filter(status="pending").count() == 2


# -- what signs it --------------------------------------------------------------------------------


def test_while_a_secret_is_rotated_both_sign(world, receiver, endpoint, later):
    former = receiver.secret
    _, receiver.secret = rotate_secret(endpoint_id=endpoint.pk, actor=SEED)

    start(world, "rehearse:echo")
    sweeper.sweep()
    (message,) = receiver.received
    assert message.headers["webhook-signature"].count("v1,") == 2
    assert is_signed(receiver.secret, message.body, message.headers)
    assert is_signed(former, message.body, message.headers)

    later(hours=24, seconds=1)
    start(world, "rehearse:echo")
    sweeper.sweep()
    message = receiver.received[-1]
    assert is_signed(receiver.secret, message.body, message.headers)
    assert not is_signed(former, message.body, message.headers)


def test_a_changed_body_is_not_signed(world, receiver, endpoint):
    start(world, "rehearse:echo")
    sweeper.sweep()
    (message,) = receiver.received

    assert not is_signed(
        receiver.secret, message.body.replace("succeeded", "failed"), message.headers
    )


def test_undecryptable_webhook_secret_fails_with_instructions(world, receiver, endpoint, settings):
    start(world, "rehearse:echo")
    settings.ENCRYPTION_KEYS, settings.SECRET_KEY = ["another one"], "another secret key"
    sweeper.sweep()

    assert problems() == ["The secret cannot be decrypted. Create a new one."]
    assert receiver.received == []


# -- where it may go ------------------------------------------------------------------------------


def test_our_own_network_is_not_reached(world, receiver, endpoint, settings, monkeypatch):
    settings.PRIVATE_WEBHOOK_HOSTS = frozenset()
    start(world, "rehearse:echo")
    sweeper.sweep()
    assert problems() == ["Use https:// outside of your own network."]

    type(endpoint).objects.update(url="https://hooks.example.com/x")

    async def rebound(host, port):
        return ["127.0.0.1"]

    monkeypatch.setattr(outgoing_http, "resolve", rebound)
    start(world, "rehearse:echo")
    sweeper.sweep()
    assert problems()[-1] == "The URL points to a private network."
    assert receiver.received == []


def test_no_log_has_the_url_which_may_be_a_secret(world, receiver, endpoint, caplog):
    start(world, "rehearse:echo")
    sweeper.sweep()

    assert receiver.types == ["run.finished"]
    assert receiver.url not in caplog.text


def test_of_an_answer_only_its_beginning_is_kept(world, receiver, endpoint):
    receiver.status = 200
    receiver.answer = b"<script>\0" + b"x" * 10_000_000
    start(world, "rehearse:echo")
    sweeper.sweep()

    (attempt,) = DeliveryAttempt.objects.all()
    assert attempt.response.startswith("<script>\N{REPLACEMENT CHARACTER}xxx")
    assert len(attempt.response) == 2_048
    assert Delivery.objects.get().status == "delivered"
