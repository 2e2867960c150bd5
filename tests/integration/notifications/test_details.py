"""The agent's words and the arguments of calls in messages: masked, and only where they may be."""

import pytest
from django.core import mail

from inbox.models import Interrupt, Team
from tests.support.notifications.chat_server import run_chat_server
from tests.support.notifications.hostile_texts import HOSTILE_TEXTS
from tests.support.notifications.subscribed import add_team_chat, send_all, subscribe_person
from tests.support.policies.refunds import proposals
from tests.support.steps import start

CANARY = "canary-4f1b9a"


@pytest.fixture
def show_arguments(world):
    Team.objects.filter(pk=world.team.pk).update(messages_show_arguments=True)


@pytest.fixture
def ask(world, as_agent):
    """Return a function that lets the agent propose calls with these arguments."""

    def propose(*arguments, words=""):
        start(world, "go", agent=as_agent(proposals(list(arguments))))
        if words:
            Interrupt.objects.filter(team=world.team, status="open").update(message=words)

    return propose


@pytest.fixture
def chat(world, settings):
    settings.PRIVATE_WEBHOOK_HOSTS = frozenset({"127.0.0.1"})
    with run_chat_server() as state:
        add_team_chat(world, state.url)
        yield state


def messages(chat):
    parts = [part for item in mail.outbox for part in (item.body, str(item.alternatives))]
    return "\n".join([*parts, *map(str, chat.bodies)])


def test_arguments_are_shown_only_if_the_team_says_so(bob, chat, ask):
    subscribe_person(bob)
    ask({"amount": 35})

    send_all()

    assert "amount" not in messages(chat)


def test_arguments_are_shown_where_the_team_says_so(bob, chat, ask, show_arguments):
    subscribe_person(bob)
    ask({"amount": 35, "to": "evil.com"})

    send_all()

    assert "Argument: amount = 35" in mail.outbox[0].body
    assert "evil[.]com" in mail.outbox[0].body
    assert "amount = 35" in str(chat.bodies)


def test_no_secret_is_in_a_message_or_in_the_log(
    world, bob, chat, ask, show_arguments, caplog, capfd
):
    subscribe_person(bob)
    secrets = {"password": CANARY, "nested": {"api_key": CANARY}, "amount": 1}
    ask(secrets, words=f"Use {CANARY} to sign in.")

    send_all()

    assert len(mail.outbox) == len(chat.bodies) == 1
    assert CANARY not in messages(chat)
    captured = capfd.readouterr()
    assert CANARY not in caplog.text + captured.out + captured.err


def test_the_words_of_the_agent_are_labelled(bob, chat, ask):
    subscribe_person(bob)
    ask({"amount": 35}, words="Please approve at once.")

    send_all()

    assert "The agent says: Please approve at once." in mail.outbox[0].body
    assert "The agent says: Please approve" in str(chat.bodies)


def test_many_requests_have_facts_only(bob, chat, ask, show_arguments):
    subscribe_person(bob)
    ask(*({"amount": number} for number in range(4)))

    send_all()

    assert "amount" not in messages(chat)


@pytest.mark.parametrize("number", range(0, len(HOSTILE_TEXTS), 20))
def test_hostile_words_become_no_line_link_or_header(bob, chat, ask, number, settings):
    settings.PUBLIC_URL = "https://signoff.example.com"
    subscribe_person(bob)
    ask({"amount": 35}, words=HOSTILE_TEXTS[number][:300])

    send_all()

    (message,) = mail.outbox
    assert message.subject.endswith(" waits for a decision")
    links = [part for part in message.body.split() if "://" in part and "[://]" not in part]
    assert all(link.startswith("https://signoff.example.com/") for link in links)
