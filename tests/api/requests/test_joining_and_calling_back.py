"""Equal calls of a session join one request, and programs are called back."""

import json

import pytest

from tests.support.http.webhook_receiver import receiver
from tests.support.requests.programs import APPROVED, DENIED, actions, decide, pass_time, program

__all__ = ["program", "receiver"]

SESSION = {"id": "claude-code:1"}
PREFIX = "https://ci.example.com/signoff"


def join(program, status=200, **members):
    return program.ask(status=status, attach=True, session=SESSION, **members)


@pytest.fixture
def first(program):
    return join(program, status=201)


def test_an_equal_call_joins_the_open_request(program, first):
    joined = join(program, title="Asked again", args={"amount": 4750.0, "charge": "ch_17"})

    assert joined["id"] == first["id"]
    assert (joined["attached"], first["attached"]) == (True, False)
    assert joined["items"][0]["id"] == "1"
    assert "request.attached" in actions(first)


def test_an_equal_call_joins_an_approval_until_it_is_started(program, first, bob):
    decide(first, bob, APPROVED)

    joined = join(program)
    program.start(joined, attempt="second")
    later = join(program, status=201)

    assert (joined["id"], joined["status"]) == (first["id"], "decided")
    assert later["id"] != first["id"]


def test_a_denied_or_lapsed_call_is_asked_again(program, first, bob, later):
    decide(first, bob, DENIED)
    second = join(program, status=201)
    decide(second, bob, APPROVED)

    pass_time(later, hours=25)

    third = join(program, status=201)
    assert len({first["id"], second["id"], third["id"]}) == 3


@pytest.mark.parametrize(
    "other",
    [
        {"session": {"id": "another"}},
        {"attach": False},
        {"tool": "pay"},
        {"args": {"amount": 1}},
        {"may_edit": False},
        {"execution": {"effect": "idempotent"}},
        {"execution": {"report": False}},
    ],
    ids=["session", "not attached", "tool", "arguments", "no edits", "effect", "no report"],
)
def test_another_call_asks_for_itself(program, first, other):
    request = program.ask(**{"attach": True, "session": SESSION, **other})

    assert request["id"] != first["id"]


def test_the_program_of_another_agent_does_not_join(first, world):
    from tests.support.requests.programs import Program, make_program

    request = join(Program(make_program(world, "other")), status=201)

    assert request["id"] != first["id"]


def test_a_replayed_call_stays_with_the_request_that_it_joined(program, first):
    body = {"title": "x", "tool": "refund", "attach": True, "session": SESSION, "may_edit": True}
    body["args"] = {"charge": "ch_17", "amount": 4750}

    answers = [program.post("/api/requests", body, **{"Idempotency-Key": "k"}) for _ in "12"]

    assert [answer.json()["id"] for answer in answers] == [first["id"]] * 2
    assert answers[1].json()["replayed"] is True


def test_who_made_the_joining_key_does_not_approve_alone(program, first, world):
    from inbox.models import ApiKey, Run

    join(program)
    assert Run.objects.get(thread=first["thread"]).retriers is None  # the same key

    from inbox.actions.people.api_keys import make_key
    from inbox.rules.people.access import SEED
    from tests.support.requests.programs import Program

    key, token = make_key(team_id=world.team.pk, name="2", scopes=["run"], agent="ci", actor=SEED)
    ApiKey.objects.filter(pk=key.pk).update(made_by_user=world.bob)
    join(Program(token))

    run = Run.objects.get(thread=first["thread"])
    assert run.is_self_approved_by(world.actor(world.bob))


def test_a_session_groups_requests(program):
    old, new = (program.ask(session={"id": "s", "title": title}) for title in ("Old", "New"))
    program.ask(session={"id": "other"})

    rows = program.get("/api/requests", session="s").json()["results"]

    assert [request["id"] for request in rows] == [new["id"], old["id"]]
    assert rows[0]["session"] == {"id": "s", "title": "New"}
    assert rows == program.get("/api/requests?session=s&status=open&agent=ci").json()["results"]


# -- callbacks ------------------------------------------------------------------------------------


@pytest.fixture
def called_back(world, program):
    from inbox.actions.agents.external_agents import set_external_agent
    from inbox.rules.people.access import SEED

    set_external_agent(team_id=world.team.pk, slug="ci", actor=SEED, callback_prefixes=[PREFIX])


def test_a_decided_request_calls_its_program_back(program, called_back, bob):
    from inbox.models import Delivery
    from inbox.platform.encryption import decrypt

    request = program.ask(callback_url=f"{PREFIX}/done?run=9", session=SESSION)
    assert not Delivery.objects.exists()

    decide(request, bob, APPROVED)

    delivery = Delivery.objects.get()
    assert decrypt(delivery.url) == f"{PREFIX}/done?run=9"
    message = json.loads(delivery.body)
    assert message["type"] == "request.decided"
    assert message["data"] == {
        "request": {
            "id": request["id"],
            "status": "decided",
            "url": request["url"],
            "session": SESSION["id"],
        },
        "agent": "ci",
        "team": "tests",
    }


def test_a_prefix_that_was_removed_is_not_called(program, called_back, bob, world):
    from inbox.actions.agents.external_agents import set_external_agent
    from inbox.models import Delivery
    from inbox.rules.people.access import SEED

    request = program.ask(callback_url=f"{PREFIX}/done")
    set_external_agent(team_id=world.team.pk, slug="ci", actor=SEED, callback_prefixes=[])

    decide(request, bob, APPROVED)

    assert not Delivery.objects.exists()


@pytest.mark.parametrize(
    "url",
    [
        "https://ci.example.com/signoffs/x",
        "https://ci.example.com/signoff/../admin",
        "https://ci.example.com/signoff/%2e%2e/admin",
        "https://ci.example.com/signoff%2fx",
        "https://ci.example.com:8443/signoff/x",
        "http://ci.example.com/signoff/x",
        "https://ci.example.com.evil.com/signoff/x",
        "https://ci.example.com@evil.com/signoff/x",
        "https://evil.com/https://ci.example.com/signoff/x",
        "https://169.254.169.254/signoff/x",
    ],
)
def test_only_addresses_below_a_prefix_are_called(program, called_back, url):
    answer = program.post("/api/requests", {"title": "x", "callback_url": url})

    assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_VALUE")
    assert "callback_url" in answer.json()["problems"]


def test_an_agent_without_prefixes_is_not_called(program):
    answer = program.post("/api/requests", {"title": "x", "callback_url": PREFIX})

    assert answer.status_code == 422


@pytest.mark.parametrize(
    "prefix",
    ["http://ci.example.com/", "https://ci.example.com/a/../b", "https://ci.example.com/?q="],
)
def test_a_prefix_is_plain(key_with, world, prefix):
    body = {"kind": "external", "team": "tests", "callback_prefixes": [prefix]}

    answer = key_with("admin").put("/api/agents/ci", body)

    assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_VALUE")


def test_a_callback_is_sent_to_its_own_address_and_signed(program, world, bob, receiver):
    from inbox.actions.agents.external_agents import set_external_agent
    from inbox.models import Delivery, WebhookEndpoint
    from inbox.platform.encryption import decrypt
    from inbox.rules.people.access import SEED
    from inbox.sending import webhook_sender

    set_external_agent(
        team_id=world.team.pk, slug="ci", actor=SEED, callback_prefixes=["http://127.0.0.1/nothing"]
    )
    set_external_agent(
        team_id=world.team.pk, slug="ci", actor=SEED, callback_prefixes=[receiver.url]
    )
    endpoint = WebhookEndpoint.objects.get()
    WebhookEndpoint.objects.update(url="https://hooks.example.com/")
    receiver.secret = decrypt(endpoint.secret)
    request = program.ask(callback_url=f"{receiver.url}/9")
    decide(request, bob, APPROVED)

    webhook_sender.deliver(endpoint.pk)

    (received,) = receiver.received
    assert received.is_signed
    assert received.data["request"]["id"] == request["id"]
    assert Delivery.objects.get().status == "delivered"


# -- webhooks of the team -------------------------------------------------------------------------


def test_webhooks_of_the_team_hear_of_decisions_doubts_and_deviations(program, world, bob):
    from inbox.actions.webhooks.endpoints import add_webhook
    from inbox.models import Delivery
    from inbox.rules.people.access import SEED

    add_webhook(
        team_id=world.team.pk,
        url="https://hooks.example.com/",
        event_types=["request.decided", "call.in_doubt", "call.deviated"],
        actor=SEED,
    )
    request = program.ask()
    decide(request, bob, APPROVED)
    program.start(request)
    program.report(request, "unknown", executed_args={"amount": 1})

    kinds = list(Delivery.objects.order_by("pk").values_list("type", flat=True))
    assert kinds == ["request.decided", "call.deviated", "call.in_doubt"]
    call = json.loads(Delivery.objects.last().body)["data"]["call"]
    assert (call["item"], call["tool"]) == ("1", "refund")
