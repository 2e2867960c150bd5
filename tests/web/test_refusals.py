import json
from datetime import timedelta

import pytest
from django.utils import timezone

from inbox.actions.expiry import expire_interrupts
from tests.steps import approve, deny, reread
from tests.web.pages import input_value, sent, textarea, words

EDITED = '{\n  "to": "mine@example.com",\n  "subject": "Mine"\n}'


@pytest.mark.parametrize("live", [False, True], ids=["page", "htmx"])
def test_who_was_faster_is_named_and_my_text_is_kept(ask, bob, alice, reads_bob, world, live):
    interrupt = ask("tool_call")
    faster = _another_reviewer(world)
    deny(interrupt, faster)

    response = _send_too_late(reads_bob, interrupt, live=live)

    assert response.status_code == 409
    assert "Dora rejected this" in words(response)
    assert "Your edits were not sent." in words(response)
    assert textarea(response.content.decode(), "args") == EDITED
    assert "my reason" in response.content.decode()
    assert sent(interrupt) == {"approved": False, "reason": "not today"}


def test_what_was_too_late_can_be_read_but_not_changed_or_sent(ask, reads_bob, world):
    interrupt = ask("tool_call")
    deny(interrupt, _another_reviewer(world))

    page = _send_too_late(reads_bob, interrupt).content.decode()

    assert 'name="action"' not in page
    assert "readonly" in page.partition('name="args"')[2].partition(">")[0]


def test_the_same_answer_twice_by_the_same_person_is_one_decision(ask, reads_bob):
    interrupt = ask("tool_call")
    digest = input_value(reads_bob.open(interrupt), "view_digest")
    body = {"action": "approve", "view_digest": digest}

    first, second = (
        reads_bob.client.post(f"/interrupts/{interrupt.pk}/decide", body) for _ in range(2)
    )

    assert (first.status_code, second.status_code) == (303, 303)
    assert interrupt.decisions.count() == 1


def test_a_view_that_has_changed_is_shown_again_with_my_edits(ask, reads_bob):
    interrupt = ask("tool_call")

    response = reads_bob.send(interrupt, "approve", args=EDITED, view_digest="0" * 64)

    assert response.status_code == 409
    assert "What is asked has changed" in words(response)
    page = response.content.decode()
    assert textarea(page, "args") == EDITED
    assert input_value(page, "view_digest") == interrupt.view_digest
    assert reread(interrupt).status == "open"


def test_a_form_without_a_digest_decides_nothing(ask, reads_bob):
    interrupt = ask("tool_call")

    response = reads_bob.client.post(f"/interrupts/{interrupt.pk}/decide", {"action": "approve"})

    assert response.status_code == 409
    assert reread(interrupt).status == "open"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ('{"to": "half', "Not JSON"),
        ('{"to": 1, "to": 2}', "appears twice"),
        ("[]", "Arguments are a JSON object"),
        ('{"amount": 1e999}', "too large"),
    ],
)
def test_text_that_is_no_arguments_is_kept_and_explained(ask, reads_bob, args, said):
    interrupt = ask("tool_call")

    response = reads_bob.send(interrupt, "approve", args=args)

    assert response.status_code == 422
    page = response.content.decode()
    assert textarea(page, "args") == args
    assert 'href="#f-args"' in page
    assert 'aria-invalid="true"' in page
    assert reread(interrupt).status == "open"
    assert said in words(response)


def test_an_answer_that_does_not_fit_the_schema_is_kept_and_explained(ask, reads_bob):
    interrupt = ask("input_required")
    answer = json.dumps({"quarter": "Q5", "year": 2025})

    response = reads_bob.send(interrupt, "answer", answer=answer)

    assert response.status_code == 422
    assert textarea(response.content.decode(), "answer") == answer
    assert "/quarter" in words(response)
    assert "revenue" in words(response)


def test_an_expired_interrupt_answers_410_and_keeps_the_text(ask, reads_bob):
    interrupt = ask("tool_call")
    _let_expire(interrupt)
    expire_interrupts(thread_id=interrupt.thread_id)

    response = _send_too_late(reads_bob, interrupt)

    assert response.status_code == 410
    assert "expired" in words(response)
    assert textarea(response.content.decode(), "args") == EDITED


def test_a_late_answer_is_refused_before_the_sweeper_comes(ask, reads_bob):
    interrupt = ask("tool_call")
    _let_expire(interrupt)

    response = reads_bob.send(interrupt, "approve", args=EDITED)

    assert response.status_code == 410
    assert textarea(response.content.decode(), "args") == EDITED
    assert reread(interrupt).status == "open"


def test_an_action_that_does_not_fit_the_question_is_refused(ask, reads_bob):
    interrupt = ask("confirmation")

    response = reads_bob.send(interrupt, "approve")

    assert response.status_code == 422
    assert reread(interrupt).status == "open"


def test_my_own_page_says_that_it_was_me(ask, bob, reads_bob):
    interrupt = ask("tool_call")
    approve(interrupt, bob)

    page = reads_bob.get(f"/interrupts/{interrupt.pk}/")

    assert "You approved this" in words(page)
    assert "data-unsent" not in page.content.decode()


def _another_reviewer(world):
    from inbox.actions.people import add_member
    from inbox.domain.access import SEED, Role

    dora = add_member(
        team=world.team,
        username="dora",
        full_name="Dora",
        password="dora-password",
        role=Role.REVIEWER,
        actor=SEED,
    )
    return world.actor(dora)


def _send_too_late(reader, interrupt, *, live=False):
    """Post the form as it was before somebody else decided."""
    more = {"HTTP_HX_REQUEST": "true"} if live else {}
    return reader.client.post(
        f"/interrupts/{interrupt.pk}/decide",
        {
            "action": "approve",
            "args": EDITED.replace("\n", "\r\n"),
            "reason": "my reason",
            "view_digest": interrupt.view_digest,
        },
        **more,
    )


def _let_expire(interrupt):
    """Move the expiry into the past; an hour is too long for a test to wait."""
    past = timezone.now() - timedelta(seconds=1)
    type(interrupt).objects.filter(pk=interrupt.pk).update(expires_at=past, due_at=past)
