"""The pages of links in mails that decide a request without signing in."""

import logging
from io import StringIO

import pytest
import structlog
from django.core import mail
from django.test import Client

from inbox.actions.decisions.claims_and_comments import claim_interrupt
from inbox.actions.decisions.withdrawals import withdraw_decision
from inbox.actions.people.members import remove_member
from inbox.models import AuditEntry, Decision, DecisionLink, Interrupt, Membership, Team
from inbox.rules.people.access import SEED, Role
from tests.support.notifications.decision_links import (
    allow_links,
    mailed_link,
    press,
    secret_of,
    send,
    tokens_in,
)
from tests.support.notifications.subscribed import send_all, subscribe_person
from tests.support.policies.refunds import proposals
from tests.support.steps import approve, open_interrupts, reread, start

ENDED = "This link does not work any more"
CHANGED = "The request changed after the mail"


@pytest.fixture(autouse=True)
def _address(settings):
    settings.PUBLIC_URL = "https://signoff.example.com"


@pytest.fixture
def linked(world, bob):
    """A request with a link to decide that was mailed to Bob."""
    allow_links(world)
    return mailed_link(world, bob)


def text_of(response):
    return response.content.decode()


def refusals():
    entries = AuditEntry.objects.filter(action="link.refused").order_by("pk")
    return [entry.content["detail"]["code"] for entry in entries]


def test_a_person_approves_by_a_link_without_signing_in(linked, bob):
    interrupt, token = linked

    answer = press(Client(), token)

    assert "You approved this" in text_of(answer)
    decision = Decision.objects.get(interrupt=interrupt)
    assert (decision.user_id, decision.entrance, decision.payload) == (
        bob.user_id,
        "link",
        '{"approved":true}',
    )
    assert reread(interrupt).status == "resolved"
    assert DecisionLink.objects.get().used_at is not None


def test_a_person_rejects_by_a_link_with_a_reason(linked):
    interrupt, token = linked

    answer = press(Client(), token, "reject", reason=" Too early. ")

    assert "You rejected this" in text_of(answer)
    payload = Decision.objects.get(interrupt=interrupt).payload
    assert payload == '{"approved":false,"reason":"Too early."}'


@pytest.mark.parametrize("reason", ["", "  \r\n ", "x" * 2001])
def test_a_rejection_without_a_good_reason_is_shown_again(linked, reason):
    interrupt, token = linked

    answer = press(Client(), token, "reject", reason=reason)

    assert answer.status_code == 422
    assert "Give a reason of at most 2000 characters." in text_of(answer)
    assert reread(interrupt).status == "open"


def test_the_trail_and_the_page_say_that_a_link_decided(linked, client, world):
    interrupt, token = linked
    press(Client(), token)

    entries = AuditEntry.objects.filter(action__startswith="link.").order_by("pk")
    assert [entry.action for entry in entries] == ["link.issued", "link.used"]
    resolved = AuditEntry.objects.get(action="interrupt.resolved")
    assert '"method":"link"' in resolved.body
    assert resolved.content["detail"]["entrance"] == "link"
    client.force_login(world.alice)
    page = text_of(client.get(f"/interrupts/{interrupt.pk}/"))
    assert "approved by the link of a mail" in page
    assert "a link to decide this" in page


@pytest.mark.parametrize("method", ["get", "head", "options", "put", "patch", "delete"])
def test_opening_a_link_changes_nothing(linked, method):
    interrupt, token = linked
    before = AuditEntry.objects.count()

    for path in (f"/decide/{token}/", f"/decide/{token}/?action=approve", "/decide/"):
        getattr(Client(), method)(path)

    assert (AuditEntry.objects.count(), Decision.objects.count()) == (before, 0)
    assert DecisionLink.objects.get().used_at is None
    assert reread(interrupt).status == "open"


def test_the_page_is_not_stored_or_indexed_and_has_no_script(linked):
    _, token = linked

    page = Client().get(f"/decide/{token}/")

    assert page.status_code == 200
    assert "no-store" in page["Cache-Control"]
    assert (page["X-Robots-Tag"], page["Referrer-Policy"]) == ("noindex", "no-referrer")
    assert "script-src 'none'" in page["Content-Security-Policy"]
    assert "<script" not in text_of(page)
    assert page.cookies["signoff_decide"]["httponly"]


def test_the_page_shows_the_request_as_the_inbox_does(linked):
    interrupt, token = linked

    page = text_of(Client().get(f"/decide/{token}/"))

    assert interrupt.tool in page
    assert "dana@example.com" in page
    assert "You decide as <bdi>Bob</bdi>, once." in page


def test_a_link_works_once(linked):
    interrupt, token = linked
    browser = Client()
    secret = secret_of(browser.get(f"/decide/{token}/"))
    send(browser, token, secret=secret)

    for again in (send(browser, token, secret=secret), browser.get(f"/decide/{token}/")):
        assert (again.status_code, ENDED in text_of(again)) == (404, True)
    assert Decision.objects.count() == 1
    assert reread(interrupt).status == "resolved"


@pytest.fixture
def half_of_two(world, bob, as_agent):
    """One of two requests of a run, so that decisions of it can be withdrawn, and its link."""
    allow_links(world)
    subscribe_person(bob)
    agent = as_agent(proposals([{"amount": 35}, {"amount": 36}]))
    interrupt, _ = open_interrupts(start(world, "go", agent=agent))
    send_all()
    return interrupt, tokens_in(str(mail.outbox[-1].body))[0]


def test_a_link_stays_used_after_the_decision_was_withdrawn(half_of_two, bob):
    interrupt, token = half_of_two
    press(Client(), token)
    withdraw_decision(interrupt_id=interrupt.pk, actor=bob)

    assert ENDED in text_of(Client().get(f"/decide/{token}/"))
    assert reread(interrupt).status == "open"


def test_a_decision_elsewhere_ends_a_link_also_if_it_is_withdrawn(half_of_two, bob):
    interrupt, token = half_of_two
    browser = Client()
    secret = secret_of(browser.get(f"/decide/{token}/"))
    approve(interrupt, bob)
    withdraw_decision(interrupt_id=interrupt.pk, actor=bob)

    page = browser.get(f"/decide/{token}/")
    answer = send(browser, token, secret=secret)

    for refusal in (page, answer):
        assert (refusal.status_code, ENDED in text_of(refusal)) == (404, True)
    assert refusals() == ["UNAUTHENTICATED"]
    assert reread(interrupt).status == "open"


def test_unknown_and_ended_links_look_alike(linked, later):
    _, token = linked
    unknown = Client().get(f"/decide/{'x' * 43}/")

    later(hours=25)
    expired = Client().get(f"/decide/{token}/")

    assert unknown.status_code == expired.status_code == 404
    assert text_of(unknown) == text_of(expired)
    assert "Open the inbox" in text_of(unknown)


def test_a_form_of_another_page_is_refused(linked):
    interrupt, token = linked
    browser = Client()
    secret = secret_of(browser.get(f"/decide/{token}/"))

    answers = [
        send(Client(), token, secret=secret),
        send(Client(), token),
        send(browser, token),
        send(browser, token, secret=secret + "x"),
        send(browser, token, secret="\u00e9"),
        send(browser, token, "delete", secret=secret),
    ]

    assert [answer.status_code for answer in answers] == [403] * 6
    assert reread(interrupt).status == "open"


def test_somebody_else_who_is_signed_in_is_refused(linked, world):
    interrupt, token = linked
    secret = "s" * 43
    browser = Client()
    browser.force_login(world.alice)
    browser.cookies["signoff_decide"] = secret

    page = browser.get(f"/decide/{token}/")
    answer = send(browser, token, secret=secret)

    for refusal in (page, answer):
        assert refusal.status_code == 403
        assert "This link is for somebody else" in text_of(refusal)
    assert refusals() == ["LINK_OF_ANOTHER"]
    assert reread(interrupt).status == "open"


def test_the_person_may_be_signed_in(linked, world):
    interrupt, token = linked
    browser = Client()
    browser.force_login(world.bob)

    press(browser, token)

    assert Decision.objects.get(interrupt=interrupt).entrance == "link"


def leave(world, bob, interrupt):
    remove_member(team_id=world.team.pk, user_id=bob.user_id, actor=SEED)


def become_viewer(world, bob, interrupt):
    Membership.objects.filter(user=bob.user_id).update(role=Role.VIEWER)


def be_deactivated(world, bob, interrupt):
    type(world.bob).objects.filter(pk=bob.user_id).update(is_active=False)


def decide_elsewhere(world, bob, interrupt):
    approve(interrupt, bob)


def expire(world, bob, interrupt):
    Interrupt.objects.filter(pk=interrupt.pk).update(expires_at=interrupt.created_at)


def expire_link(world, bob, interrupt):
    DecisionLink.objects.update(expires_at=interrupt.created_at)


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (leave, "NOT_FOUND"),
        (become_viewer, "FORBIDDEN"),
        (be_deactivated, "UNAUTHENTICATED"),
        (decide_elsewhere, "INTERRUPT_ALREADY_RESOLVED"),
        (expire, "INTERRUPT_EXPIRED"),
        (expire_link, "UNAUTHENTICATED"),
    ],
)
def test_a_link_ends_with_its_reason(linked, world, bob, end, code):
    interrupt, token = linked
    browser = Client()
    secret = secret_of(browser.get(f"/decide/{token}/"))
    end(world, bob, interrupt)
    before = Decision.objects.count()

    page = browser.get(f"/decide/{token}/")
    answer = send(browser, token, secret=secret)

    for refusal in (page, answer):
        assert (refusal.status_code, ENDED in text_of(refusal)) == (404, True)
    assert refusals() == [code]
    assert Decision.objects.count() == before
    assert DecisionLink.objects.get().used_at is None


def test_a_changed_request_is_decided_in_the_inbox(linked):
    interrupt, token = linked
    browser = Client()
    secret = secret_of(browser.get(f"/decide/{token}/"))
    Interrupt.objects.filter(pk=interrupt.pk).update(endpoint_digest="1" * 64)

    page = browser.get(f"/decide/{token}/")
    answer = send(browser, token, secret=secret)

    for refusal in (page, answer):
        assert (refusal.status_code, CHANGED in text_of(refusal)) == (409, True)
    assert refusals() == ["VIEW_CHANGED"]
    assert not Decision.objects.exists()


def test_suspicious_characters_in_the_conversation_lead_to_the_inbox(world, bob, as_agent):
    allow_links(world)
    subscribe_person(bob)
    agent = as_agent(proposals([{"amount": 35}]))
    start(world, "Refund it at p\u0430ypal.com", agent=agent)
    send_all()
    (token,) = tokens_in(str(mail.outbox[-1].body))
    browser = Client()
    browser.cookies["signoff_decide"] = "s" * 43

    assert CHANGED in text_of(browser.get(f"/decide/{token}/"))
    assert send(browser, token, secret="s" * 43).status_code == 409
    assert refusals() == ["NOT_BY_LINK"]
    assert not Decision.objects.exists()


def test_inbox_only_ends_links(linked, world):
    _, token = linked
    browser = Client()
    secret = secret_of(browser.get(f"/decide/{token}/"))
    Team.objects.filter(pk=world.team.pk).update(inbox_only=True)

    assert CHANGED in text_of(browser.get(f"/decide/{token}/"))
    assert send(browser, token, secret=secret).status_code == 409
    assert refusals() == ["INBOX_ONLY"]
    assert not Decision.objects.exists()


def test_a_claim_of_another_person_comes_first(linked, dora):
    interrupt, token = linked
    browser = Client()
    secret = secret_of(browser.get(f"/decide/{token}/"))
    claim_interrupt(interrupt_id=interrupt.pk, actor=dora)

    page = browser.get(f"/decide/{token}/")
    answer = send(browser, token, secret=secret)

    assert "is reviewing this until" in text_of(page)
    assert secret_of(page) == ""
    assert (answer.status_code, refusals()) == (409, ["CLAIMED"])
    assert not Decision.objects.exists()


def test_too_many_guesses_are_refused_also_for_links_that_exist(linked, settings):
    settings.RATE_LIMIT_ANONYMOUS = "3/year"
    _, token = linked
    browser = Client()
    for number in range(3):
        assert browser.get(f"/decide/{'x' * 42}{number}/").status_code == 404

    assert browser.get(f"/decide/{token}/").status_code == 429
    assert send(browser, token).status_code == 429


def test_a_nul_in_the_reason_is_a_bad_request(linked):
    _, token = linked

    assert press(Client(), token, "reject", reason="a\0b").status_code == 400


def test_each_request_of_a_mail_has_its_own_link(world, bob):
    allow_links(world)
    subscribe_person(bob)
    requests = [open_interrupts(start(world, "rehearse:tool_call"))[0] for _ in range(2)]

    send_all()

    first, second = tokens_in(str(mail.outbox[-1].body))
    assert tokens_in(str(mail.outbox[-1].alternatives[0][0])) == [first, second]
    press(Client(), second)
    assert [reread(row).status for row in requests] == ["open", "resolved"]


@pytest.fixture
def log():
    """The log as a process writes it."""
    handler = next(
        handler
        for handler in logging.getLogger().handlers
        if isinstance(handler.formatter, structlog.stdlib.ProcessorFormatter)
    )
    written = StringIO()
    former = handler.setStream(written)
    yield written
    handler.setStream(former)


def test_logs_have_no_token(linked, log):
    _, token = linked
    logging.getLogger("django.request").error("An error at /decide/%s/", token)

    Client().get(f"/decide/{'a' * 43}/")
    press(Client(), token)
    Client().get(f"/decide/{token}/")

    lines = log.getvalue()
    assert "Not Found: /decide/…/" in lines
    assert "An error at /decide/…/" in lines
    assert token not in lines
    assert "a" * 43 not in lines


@pytest.mark.parametrize("folder", ["decide", "join", "unsubscribe", "account/chats/link"])
def test_logs_have_no_secret_of_an_address(log, folder):
    logging.getLogger("django.request").error("An error at /%s/%s/", folder, "a" * 43)

    assert f"An error at /{folder}/…/" in log.getvalue()
    assert "a" * 43 not in log.getvalue()


def test_printed_mails_have_no_token_but_their_person_sees_it(linked, settings, capsys):
    _, token = linked
    settings.EMAIL_BACKEND = "inbox.platform.embedded.printed_mail.PrintedMailBackend"

    (sent,) = mail.outbox
    sent.connection = None
    sent.send()

    printed = capsys.readouterr().out
    assert "/decide/…/" in printed
    assert "Open the request: https://signoff.example.com/interrupts/" in printed
    assert token not in printed
    assert token in str(sent.body)
    assert token in str(sent.alternatives[0][0])
