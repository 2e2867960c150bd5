"""SIGNOFF_OUTGOING_HOSTS: other hosts are refused where a URL is entered and called."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from agents.adapters.remote import allowed_addresses
from inbox import sweeper, wakeups
from inbox.actions.agents.external_agents import set_external_agent
from inbox.actions.agents.remote_agents import set_remote_agent
from inbox.actions.notifications.push_channels import add_browser
from inbox.actions.notifications.team_channels import ChatSettings, add_chat, test_chat
from inbox.actions.requests.callbacks import encrypted_callback
from inbox.actions.webhooks.endpoints import add_webhook
from inbox.engine.connection_test import run_connection_test
from inbox.models import Agent, DeliveryAttempt
from inbox.platform.setting_parsers import parse_host_patterns
from inbox.rules.agents.connection_test_messages import connection_test_message
from inbox.rules.errors import InvalidValue
from inbox.rules.people.access import SEED
from inbox.rules.webhooks.delivery_rules import DeliveryProblem, problem_message
from inbox.sending import outgoing_http, webhook_sender
from tests.support.notifications.push_server import Browser
from tests.support.notifications.subscribed import EVERY_EVENT, send_all
from tests.support.steps import reread, start

test_message = test_chat
test_message.__test__ = False
LISTED, OTHER = "https://hooks.example.com/x", "https://hooks.example.org/x"


def enter_agent(world, url):
    set_remote_agent(team_id=world.team.pk, slug="refunds", url=url, headers={}, actor=SEED)


def enter_webhook(world, url):
    add_webhook(team_id=world.team.pk, url=url, event_types=["run.finished"], actor=SEED)


def enter_chat(world, url):
    values = ChatSettings(label="#ops", url=url, events=EVERY_EVENT, mode="at_once", minutes=5)
    return add_chat(team_id=world.team.pk, kind="slack", values=values, language="en", actor=SEED)


def enter_prefix(world, url):
    set_external_agent(team_id=world.team.pk, slug="ci", actor=SEED, callback_prefixes=[url])


def enter_callback(world, url):
    encrypted_callback(Agent(callback_prefixes=f'["{url}"]'), url)


def enter_browser(world, url):
    subscription = Browser(url).subscription
    add_browser(subscription=subscription, label="", language="en", actor=world.actor(world.bob))


@pytest.mark.parametrize(
    "enter",
    [enter_agent, enter_webhook, enter_chat, enter_prefix, enter_callback, enter_browser],
)
def test_a_url_of_a_host_that_is_not_listed_is_refused_at_entry(world, settings, enter):
    settings.OUTGOING_HOSTS = parse_host_patterns("*.example.net, hooks.example.com")

    with pytest.raises(InvalidValue) as refused:
        enter(world, OTHER)
    enter(world, LISTED)

    assert "SIGNOFF_OUTGOING_HOSTS" in str(refused.value.detail)


@pytest.fixture
def lookups(monkeypatch):
    """The hosts that were looked up, which is the first step of a call."""
    hosts = []

    async def look_up(host, port):
        hosts.append(host)
        return ["127.0.0.1"]

    monkeypatch.setattr(outgoing_http, "resolve", look_up)
    monkeypatch.setattr(allowed_addresses, "resolve", look_up)
    return hosts


def test_a_webhook_of_a_host_that_is_not_listed_is_not_called(
    world, settings, monkeypatch, lookups
):
    monkeypatch.setattr(wakeups, "wake_webhook_workers", webhook_sender.deliver)
    enter_webhook(world, OTHER)
    settings.OUTGOING_HOSTS = ("hooks.example.com",)

    start(world, "rehearse:echo")
    sweeper.sweep()

    problem = DeliveryAttempt.objects.get().problem
    assert problem == DeliveryProblem.NOT_LISTED
    assert "SIGNOFF_OUTGOING_HOSTS" in problem_message(problem, None)
    assert lookups == []


def test_a_chat_of_a_host_that_is_not_listed_is_not_called(world, settings, lookups):
    channel = enter_chat(world, OTHER)
    settings.OUTGOING_HOSTS = ("hooks.example.com",)

    test_message(channel_id=channel.pk, actor=SEED)
    send_all()

    assert reread(channel).answer == "The address is not allowed."
    assert lookups == []


def test_an_agent_of_a_host_that_is_not_listed_is_not_called(world, settings, lookups):
    enter_agent(world, OTHER)
    settings.OUTGOING_HOSTS = ("hooks.example.com",)

    report = run_connection_test("refunds", SEED)
    run = start(world, "Refund it.", agent=Agent.objects.get(slug="refunds"))

    assert "SIGNOFF_OUTGOING_HOSTS" in connection_test_message(report)
    assert (run.status, run.error_code) == ("failed", "AGENT_UNREACHABLE")
    assert lookups == []


@pytest.mark.parametrize(
    "text", ["*", "*.", "https://a.example", "a.example:443", "a..b/", "*x.example", "a.*.example"]
)
def test_a_list_that_makes_no_sense_is_refused_at_start(text):
    with pytest.raises(ImproperlyConfigured):
        parse_host_patterns(f"hooks.example.com,{text}")


def test_a_list_has_names_wildcards_and_addresses():
    assert parse_host_patterns(" A.example ,*.b.example,93.184.215.14,2606:2800::1,") == (
        *("a.example", "*.b.example", "93.184.215.14", "2606:2800::1"),
    )
    assert parse_host_patterns("") == ()
