"""Presses of buttons in Slack: who may approve, what they are told, and what is in the trail."""

import json
import re

import ag_ui.core as agui
import pytest
from django.test import Client

from inbox.actions.decisions.claims_and_comments import claim_interrupt
from inbox.actions.notifications.chat_accounts import (
    issue_link_code,
    link_chat_account,
    unlink_chat_account,
)
from inbox.actions.notifications.team_channels import remove_chat, switch_chat
from inbox.models import (
    AuditEntry,
    ChatIdentity,
    ChatLinkCode,
    Decision,
    Interrupt,
    Membership,
    Team,
    User,
)
from inbox.rules.people.access import SEED
from tests.support.notifications.slack_server import (
    BOB_IN_SLACK,
    WORKSPACE,
    add_slack_app,
    buttons_of,
    form_of,
    press,
    run_slack_server,
    signed,
)
from tests.support.notifications.subscribed import send_all
from tests.support.policies.published import publish, rule, tool_is
from tests.support.steps import approve, open_interrupts, reread, start

FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def slack(settings):
    settings.PUBLIC_URL = "https://signoff.example.com"
    with run_slack_server(settings) as state:
        yield state


@pytest.fixture
def channel(world, slack):
    publish(world, chat_rule())
    return add_slack_app(world.team.pk)


def chat_rule(**requirement):
    via = {"via": ["web", "rest", "chat"]}
    return rule("mail", "ask", tool_is("send_email"), require=via | requirement)


@pytest.fixture
def ask(world, channel, slack):
    """Return a function that opens a request, and lets the chat know."""

    def open_request():
        (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
        send_all()
        return interrupt

    return open_request


@pytest.fixture
def bob_in_slack(bob):
    return connect(bob)


def connect(actor, external_id=BOB_IN_SLACK, team="tests"):
    return link_chat_account(code=new_code(external_id, team), account=external_id, actor=actor)


def new_code(external_id=BOB_IN_SLACK, team="tests"):
    team_id = Team.objects.get(slug=team).pk
    about = {"workspace": WORKSPACE, "external_id": external_id, "name": "bob"}
    return issue_link_code(team_id=team_id, **about)


@pytest.fixture
def send(channel, slack):
    """Return a function that posts a payload as Slack does."""

    def post(payload, *, to=None, **headers):
        if isinstance(payload, dict):
            payload = form_of({"response_url": slack.answer_url, **payload})
        path = f"/hooks/slack/{(to or channel).pk}"
        headers = signed(payload) | headers
        return Client(enforce_csrf_checks=True).post(path, payload, FORM, headers=headers)

    return post


def button_in(slack):
    (button,) = buttons_of(slack.calls[-1][1])
    return button


def text_of(answer):
    return answer["text"]


def codes_in_trail(interrupt):
    entries = AuditEntry.objects.filter(thread=interrupt.thread_id, action="interrupt.refused")
    return [entry.content["detail"]["code"] for entry in entries.order_by("pk")]


def test_a_person_approves_by_a_button(ask, send, slack, bob_in_slack):
    interrupt = ask()

    answer = send(press(button_in(slack)))
    send_all()

    assert (answer.status_code, answer.content) == (200, b"")
    decision = Decision.objects.get(interrupt=interrupt)
    assert (decision.entrance, decision.actor_label, decision.user_id) == (
        "chat",
        "Bob",
        bob_in_slack.user_id,
    )
    entry = AuditEntry.objects.get(action="interrupt.resolved")
    assert json.loads(entry.body)["actor"]["method"] == "chat"
    assert slack.answers[-1]["response_type"] == "ephemeral"
    assert slack.answers[-1]["replace_original"] is False
    assert text_of(slack.answers[-1]) == "You approved the request."
    assert "State: Bob approved" in json.dumps(slack.edits())
    assert buttons_of(slack.edits()[-1]) == []


def test_a_press_that_slack_repeats_decides_once(ask, send, slack, bob_in_slack):
    ask()
    payload = press(button_in(slack))

    assert [send(payload).status_code for _ in range(3)] == [200] * 3

    assert Decision.objects.count() == 1
    assert [text_of(answer) for answer in slack.answers] == ["You approved the request."] * 3


def test_a_message_shows_all_that_is_approved(ask, slack):
    interrupt = ask()

    text = json.dumps(slack.calls[-1][1]["blocks"], ensure_ascii=False)

    for name, value in json.loads(interrupt.args).items():
        assert name in text
        assert str(value).replace(".", "[.]").replace("@", "[@]") in text
    assert button_in(slack)["text"]["text"] == "Approve"


@pytest.mark.parametrize(
    "arrange",
    [
        publish,
        lambda world: publish(world, rule("mail", "ask", tool_is("send_email"))),
        lambda world: publish(world, chat_rule(via=["web"])),
        lambda world: publish(world, chat_rule(fresh_sign_in_minutes=5)),
        lambda world: publish(world, chat_rule(slots=[{"role": "reviewer"}] * 2)),
        lambda world: Team.objects.update(inbox_only=True),
    ],
    ids=["no rule", "no way", "another way", "fresh sign-in", "two people", "inbox only"],
)
def test_other_requests_have_a_link_only(world, ask, slack, arrange):
    arrange(world)

    interrupt = ask()

    message = slack.calls[-1][1]
    assert buttons_of(message) == []
    assert f"https://signoff.example.com/interrupts/{interrupt.pk}/" in json.dumps(message)
    assert "Argument" not in json.dumps(message)


@pytest.fixture
def propose(world, channel, as_agent, slack):
    """Return a function that opens a request for a call with these arguments."""

    def open_request(args):
        async def play(run_input, ctx):
            yield agui.ToolCallStartEvent(tool_call_id="c", tool_call_name="pay")
            yield agui.ToolCallArgsEvent(tool_call_id="c", delta=json.dumps(args))
            yield agui.ToolCallEndEvent(tool_call_id="c")
            interrupt = agui.Interrupt(id="i", reason="tool_call", tool_call_id="c")
            outcome = agui.RunFinishedInterruptOutcome(interrupts=[interrupt])
            yield agui.RunFinishedEvent(
                thread_id=run_input.thread_id, run_id=run_input.run_id, outcome=outcome
            )

        publish(world, rule("pay", "ask", tool_is("pay"), require={"via": ["web", "chat"]}))
        start(world, "go", agent=as_agent(play))
        send_all()
        return slack.calls[-1][1]

    return open_request


@pytest.mark.parametrize(
    "args",
    [
        {"memo": "x" * 201},
        {"m" * 81: "x"},
        {f"name{number}": number for number in range(11)},
        {"password": "hunter2hunter2"},
        {"to": "p\u0430ypal.com"},
        {"memo": "pay\u202eme"},
    ],
    ids=["too_long", "name too_long", "too_long list", "masked", "deceptive", "invisible"],
)
def test_a_call_that_a_message_cannot_show_has_a_link_only(propose, args):
    message = propose(args)

    assert buttons_of(message) == []
    assert "hunter2" not in json.dumps(message)


def test_values_stand_on_one_line_as_they_are(propose):
    message = propose({"amount": 85.5, "to": "a@b.example", "memo": "one\nState: ok", "n": [1]})

    (fields,) = [block["fields"] for block in message["blocks"] if "fields" in block][1:]
    assert [field["text"] for field in fields] == [
        "amount: 85.5",
        'memo: "one\\nState: ok"',
        "n: [1]",
        "to: a[@]b[.]example",
    ]
    assert len(buttons_of(message)) == 1


@pytest.mark.parametrize(
    ("change", "code", "text"),
    [
        (lambda world: Team.objects.update(inbox_only=True), "INBOX_ONLY", "in the inbox"),
        (
            lambda world: Membership.objects.filter(user=world.bob).update(role="viewer"),
            "FORBIDDEN",
            "decide permission",
        ),
        (
            lambda world: User.objects.filter(pk=world.bob.pk).update(is_active=False),
            "UNAUTHENTICATED",
            "deactivated",
        ),
        (
            lambda world: Interrupt.objects.update(endpoint_digest="1" * 64),
            "VIEW_CHANGED",
            "changed",
        ),
        (lambda world: Team.objects.update(self_approval=False), "SELF_APPROVAL", "somebody else"),
    ],
    ids=["inbox only", "viewer", "deactivated", "changed", "requester"],
)
def test_a_press_passes_the_gate_that_pages_pass(
    world, channel, send, slack, bob, bob_in_slack, change, code, text
):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call", actor=bob))
    if code != "SELF_APPROVAL":
        Team.objects.update(self_approval=True)
    send_all()
    button = button_in(slack)
    change(world)

    assert send(press(button)).status_code == 200

    assert not Decision.objects.exists()
    assert codes_in_trail(interrupt) == [code]
    assert text_of(slack.answers[-1]).startswith("Nothing was approved.")
    assert text in text_of(slack.answers[-1])


def test_a_former_member_is_not_told_anything(world, ask, send, slack, bob_in_slack):
    ask()
    button = button_in(slack)
    Membership.objects.filter(user=world.bob).delete()

    send(press(button))

    assert not Decision.objects.exists()
    assert "Not found, or you don't have access." in text_of(slack.answers[-1])


def test_what_others_decided_or_claimed_is_said(ask, send, slack, bob, dora, bob_in_slack):
    first = ask()
    button = button_in(slack)
    claim_interrupt(interrupt_id=first.pk, actor=dora)
    send(press(button))
    approve(first, dora)
    send(press(button))

    assert "Dora" in text_of(slack.answers[0])
    assert "Dora already decided this." in text_of(slack.answers[1])


def test_a_disconnected_account_decides_nothing(ask, send, slack, bob, bob_in_slack):
    ask()
    unlink_chat_account(identity_id=bob_in_slack.pk, actor=bob)

    send(press(button_in(slack)))

    assert not Decision.objects.exists()


def test_an_account_disconnected_before_the_lock_decides_nothing(
    ask, send, slack, bob_in_slack, monkeypatch
):
    from inbox.actions.decisions import decide

    interrupt = ask()
    lock_thread = decide.lock_thread
    monkeypatch.setattr(
        decide,
        "lock_thread",
        lambda **more: (ChatIdentity.objects.all().delete(), lock_thread(**more))[1],
    )

    send(press(button_in(slack)))

    assert not Decision.objects.exists()
    assert codes_in_trail(interrupt) == ["UNAUTHENTICATED"]


def test_another_teams_request_is_not_decided(world, ask, send, slack, bob_in_slack, carol):
    ask()
    button = button_in(slack)
    elsewhere = add_slack_app(Team.objects.get(slug="others").pk)

    send(press(button), to=elsewhere)

    assert not Decision.objects.exists()
    assert "Not found" in text_of(slack.answers[-1])


def test_an_account_that_was_connected_in_another_team_is_unknown(ask, send, slack, bob, carol):
    interrupt = ask()
    connect(bob, team="others")

    send(press(button_in(slack)))

    assert not Decision.objects.exists()
    assert codes_in_trail(interrupt) == ["CHAT_UNKNOWN"]


def test_another_team_does_not_take_an_account(ask, send, slack, bob, bob_in_slack, carol):
    ask()
    connect(carol, team="others")

    send(press(button_in(slack)))

    assert Decision.objects.get().user_id == bob.user_id


@pytest.mark.parametrize("value", ["", "x", "{id} " + "0" * 64, "{id}", 5, None, ["{id}"]])
def test_a_value_without_the_digest_of_the_request_has_no_effect(
    ask, send, slack, bob_in_slack, value
):
    interrupt = ask()
    value = value.format(id=interrupt.pk) if isinstance(value, str) else value

    assert send(press({"value": value})).status_code == 200

    assert not Decision.objects.exists()


def test_a_press_of_a_link_is_acknowledged(ask, send, slack, bob_in_slack):
    ask()
    actions = [{"type": "button", "action_id": "other", "value": button_in(slack)["value"]}]

    answer = send(press(button_in(slack), actions=actions))

    assert answer.status_code == 200
    assert (Decision.objects.count(), slack.answers) == (0, [])


@pytest.mark.parametrize(
    "url",
    [
        *("", None, 5, "x" * 999, "https://hooks.slack.com.evil.example/"),
        *("{slack}/api/chat.postMessage", "{slack}/x/actions/", "{slack}/actions"),
    ],
)
def test_answers_go_to_slack_only(ask, send, slack, bob_in_slack, url):
    ask()
    url = url.replace("{slack}", slack.url) if isinstance(url, str) else url
    calls = len(slack.calls)

    assert send(press(button_in(slack), response_url=url)).status_code == 200

    assert (slack.answers, len(slack.calls)) == ([], calls)
    assert Decision.objects.count() == 1


def test_a_slack_that_takes_no_answers_changes_nothing(ask, send, slack, bob_in_slack, settings):
    ask()
    settings.SLACK_ANSWER_URL = "http://127.0.0.1:1/"

    answer = send(press(button_in(slack), response_url="http://127.0.0.1:1/x"))

    assert answer.status_code == 200
    assert Decision.objects.count() == 1


def test_a_channel_that_is_off_or_removed_looks_like_a_wrong_signature(
    ask, channel, send, slack, bob_in_slack
):
    ask()
    payload = press(button_in(slack))
    wrong = send(payload, **{"X-Slack-Signature": "v0=" + "0" * 64})
    switch_chat(channel_id=channel.pk, is_on=False, actor=SEED)
    off = send(payload)
    remove_chat(channel_id=channel.pk, actor=SEED)
    removed = send(payload)

    assert [(answer.status_code, answer.content) for answer in (wrong, off, removed)] == [
        (401, b"")
    ] * 3
    assert not Decision.objects.exists()


def test_a_person_connects_the_account_and_approves(world, ask, send, slack, bob):
    interrupt = ask()
    payload = press(button_in(slack))
    send(payload)
    assert codes_in_trail(interrupt) == ["CHAT_UNKNOWN"]
    (link,) = re.findall(
        r"https://signoff.example.com(/account/chats/link/[^\"]+)", json.dumps(slack.answers[-1])
    )
    client = Client()
    client.force_login(world.bob)

    opened = client.get(link)
    client.head(link)
    assert not ChatIdentity.objects.exists()
    assert "U0BOB" not in opened.content.decode()
    assert client.post(f"{link}connect", {"account": " u0bob "}).status_code == 303
    send(payload)

    assert Decision.objects.get().actor_label == "Bob"
    identity = ChatIdentity.objects.get()
    assert (identity.workspace, identity.external_id) == (WORKSPACE, BOB_IN_SLACK)
    (entry,) = AuditEntry.objects.filter(action="chat.linked")
    assert entry.content["detail"]["account"] == "T0TESTS/U0BOB"
    page = client.get("/account/notifications/").content.decode()
    assert "U0BOB" in page
    assert client.post(f"/account/chats/{identity.pk}/disconnect").status_code == 303
    assert AuditEntry.objects.filter(action="chat.unlinked").count() == 1
    assert not ChatIdentity.objects.exists()


def test_the_email_of_a_payload_names_nobody(world, ask, send, slack):
    ask()
    user = {"id": "U0EVIL", "team_id": WORKSPACE, "email": world.bob.email, "username": "bob"}

    send(press(button_in(slack), user=user))

    assert not Decision.objects.exists()
    assert "not connected" in text_of(slack.answers[-1])


def test_presses_of_strangers_do_not_flood_the_trail(ask, send, slack):
    interrupt = ask()
    for _ in range(12):
        send(press(button_in(slack)))

    assert codes_in_trail(interrupt) == ["CHAT_UNKNOWN"] * 2
    assert ChatLinkCode.objects.count() == 1


@pytest.fixture
def code():
    return new_code


def connect_page(client, code, account=BOB_IN_SLACK):
    return client.post(f"/account/chats/link/{code}/connect", {"account": account})


def test_a_code_works_once(world, db, code):
    client = Client()
    client.force_login(world.bob)
    first = code()

    assert connect_page(client, first).status_code == 303
    assert connect_page(client, first).status_code == 404
    assert client.get(f"/account/chats/link/{first}/").status_code == 404


@pytest.mark.parametrize("account", ["", " ", "U0BO", "U0BOBB", "bob", "U0BOB U0EVIL"])
def test_a_link_that_somebody_else_sent_connects_nothing(world, code, account):
    client = Client()
    client.force_login(world.bob)
    sent = code("U0EVIL")

    for typed in (account, BOB_IN_SLACK):
        refusal = connect_page(client, sent, typed)
        assert refusal.status_code == 422
        assert "If somebody sent you the link, do not use it." in refusal.content.decode()

    assert not ChatIdentity.objects.exists()


def test_a_person_who_mistypes_the_account_tries_again(world, code):
    client = Client()
    client.force_login(world.bob)
    first = code()
    assert connect_page(client, first, "U0B0B").status_code == 422

    assert connect_page(client, first).status_code == 303


def test_a_code_expires_after_a_quarter_of_an_hour(world, code, later):
    client = Client()
    client.force_login(world.bob)
    first = code()

    later(minutes=15, seconds=1)

    assert connect_page(client, first).status_code == 404
    assert not ChatIdentity.objects.exists()


def test_a_new_code_ends_the_former_one(world, code):
    client = Client()
    client.force_login(world.bob)
    first, second = code(), code()

    assert connect_page(client, first).status_code == 404
    assert connect_page(client, second).status_code == 303


def test_a_code_is_not_stored(world, code):
    first = code()

    assert first not in str(list(ChatLinkCode.objects.values()))


def test_an_account_of_another_person_is_not_taken_over(world, bob, code):
    connect(bob)
    client = Client()
    client.force_login(world.alice)

    answer = connect_page(client, code())

    assert answer.status_code == 422
    assert "connected to another person" in answer.content.decode()
    assert ChatIdentity.objects.get().user_id == world.bob.pk


def test_nobody_disconnects_the_account_of_another(world, bob):
    identity = connect(bob)
    client = Client()
    client.force_login(world.alice)

    assert client.post(f"/account/chats/{identity.pk}/disconnect").status_code == 404
    assert ChatIdentity.objects.exists()


def test_a_code_needs_a_person_who_is_signed_in(world, code):
    first = code()

    assert Client().get(f"/account/chats/link/{first}/").status_code == 302
    assert connect_page(Client(), first).status_code == 302
    assert not ChatIdentity.objects.exists()


def test_a_hostile_name_is_shown_as_text(world, ask, send, slack):
    ask()
    name = "<b>\u202e\ud800\x00" + "x" * 500
    send(press(button_in(slack), user={"id": "U0EVIL", "username": name, "team_id": WORKSPACE}))
    client = Client()
    client.force_login(world.bob)
    link = re.search(r"/account/chats/link/[^\"]+", json.dumps(slack.answers[-1]))[0]

    page = client.get(link).content.decode()

    assert "<b>" not in page
    assert "xxx" not in page  # its owner chose it
    assert ChatLinkCode.objects.get().name == ("<b>" + "x" * 500)[:80]


def test_a_press_decides_before_it_is_answered(ask, send, slack, bob_in_slack):
    ask()

    send(press(button_in(slack)))

    assert reread(Interrupt.objects.get()).status == "resolved"
