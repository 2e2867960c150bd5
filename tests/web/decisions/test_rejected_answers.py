import html
import json
from datetime import timedelta

import pytest
from ag_ui.core import (
    Interrupt,
    RunFinishedEvent,
    RunFinishedInterruptOutcome,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)
from django.utils import timezone

from agents.agui.interrupts import approval_schema
from inbox.actions.decisions.expiry import expire_interrupts
from tests.support.steps import (
    approve,
    call_off,
    deny,
    open_interrupts,
    reread,
    start,
)
from tests.support.web.pages import (
    decision_form,
    input_value,
    sent,
    words,
)

MINE = {"args/to": "mine@example.com", "reason": "my reason"}


@pytest.mark.parametrize("live", [False, True], ids=["page", "htmx"])
def test_who_was_faster_is_named_and_my_text_is_kept(ask, bob, alice, reads_bob, world, live):
    interrupt = ask("tool_call")
    mine = _typed(reads_bob, interrupt)
    deny(interrupt, _another_reviewer(world))

    response = reads_bob.post(interrupt, mine, "approve", live=live)

    assert response.status_code == 409
    assert "Dora rejected this" in words(response)
    assert "Your edits were not sent." in words(response)
    _assert_kept(response)
    assert "my reason" in words(response)
    assert sent(interrupt) == {"approved": False, "reason": "not today"}


def test_what_was_too_late_can_be_read_but_not_changed_or_sent(ask, reads_bob, world):
    interrupt = ask("tool_call")
    mine = _typed(reads_bob, interrupt)
    deny(interrupt, _another_reviewer(world))

    page = reads_bob.post(interrupt, mine, "approve").content.decode()

    assert 'name="action"' not in page
    assert '<fieldset class="stack" disabled>' in page


def test_what_was_too_late_can_be_copied_as_json(ask, reads_bob, world):
    interrupt = ask("tool_call")
    mine = _typed(reads_bob, interrupt)
    deny(interrupt, _another_reviewer(world))

    page = reads_bob.post(interrupt, mine, "approve").content.decode()

    edits = html.unescape(page.partition('<pre id="edits" hidden>')[2].partition("</pre>")[0])
    assert json.loads(edits) == {"to": "mine@example.com", "subject": "Your invoice"}


def test_the_same_answer_twice_by_the_same_person_is_one_decision(ask, reads_bob):
    interrupt = ask("tool_call")
    mine = _typed(reads_bob, interrupt)

    first, second = (reads_bob.post(interrupt, mine, "approve") for _ in range(2))

    assert (first.status_code, second.status_code) == (303, 303)
    assert interrupt.decisions.count() == 1


def test_a_view_that_has_changed_is_shown_again_with_my_edits(ask, reads_bob):
    interrupt = ask("tool_call")

    response = reads_bob.send(interrupt, "approve", MINE, view_digest="0" * 64)

    assert response.status_code == 409
    assert "The request changed" in words(response)
    _assert_kept(response)
    assert input_value(response.content.decode(), "view_digest") == interrupt.view_digest
    assert reread(interrupt).status == "open"


@pytest.fixture
def twice(world, as_agent):
    """Two questions about one call, whose arguments are long; only the first takes others."""
    shut = {
        "type": "object",
        "properties": {"approved": {"type": "boolean"}},
        "required": ["approved"],
        "additionalProperties": False,
    }
    editable = approval_schema(edited_args={"type": "object"})

    async def play(run_input, _context):
        yield ToolCallStartEvent(tool_call_id="t", tool_call_name="pay")
        yield ToolCallArgsEvent(tool_call_id="t", delta=json.dumps({"memo": "rent " * 500}))
        yield ToolCallEndEvent(tool_call_id="t")
        interrupts = [
            Interrupt(id="i0", reason="tool_call", tool_call_id="t", response_schema=editable),
            Interrupt(id="i1", reason="tool_call", tool_call_id="t", response_schema=shut),
        ]
        yield RunFinishedEvent(
            thread_id=run_input.thread_id,
            run_id=run_input.run_id,
            outcome=RunFinishedInterruptOutcome(interrupts=interrupts),
        )

    return open_interrupts(start(world, "go", agent=as_agent(play)))


def _read_all(reader, interrupt):
    post = reader.form(interrupt).post().copy()
    post["opened"] = "f-args"
    return post


OTHER = {"memo": "bribe " * 500}


def test_arguments_changed_by_another_answer_are_shown_before_approval(twice, reads_bob, world):
    first, second = twice
    seen = _read_all(reads_bob, second)
    approve(first, world.actor(world.bob), editedArgs=OTHER)

    response = reads_bob.post(second, seen, "approve")

    assert response.status_code == 409
    assert "The request changed" in words(response)
    assert "bribe" in words(response)
    assert reread(second).status == "open"


@pytest.mark.parametrize("button", ["approve", "draft"])
def test_what_has_changed_has_to_be_opened_again(twice, reads_bob, world, button):
    first, second = twice
    seen = _read_all(reads_bob, second)
    approve(first, world.actor(world.bob), editedArgs=OTHER)
    if button == "draft":
        seen["draft"] = "look"

    fresh = decision_form(reads_bob.post(second, seen, button).content.decode()).post()
    response = reads_bob.post(second, fresh, "approve")

    assert "opened" not in fresh
    assert response.status_code == 422
    assert reread(second).status == "open"


def test_a_form_without_a_digest_decides_nothing(ask, reads_bob):
    interrupt = ask("tool_call")

    response = reads_bob.send(interrupt, "approve", view_digest="")

    assert response.status_code == 409
    assert reread(interrupt).status == "open"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ('{"to": "half', "Not JSON"),
        ('{"to": 1, "to": 2}', "appears twice"),
        ("[]", "object"),
        ('{"amount": 1e999}', "too large"),
    ],
)
def test_text_that_is_no_arguments_is_kept_and_explained(ask, reads_bob, args, message):
    interrupt = ask("tool_call")

    response = reads_bob.send(interrupt, "approve", as_json={"args": args})

    assert response.status_code == 422
    page = response.content.decode()
    field = decision_form(page).control("args.json")
    assert field.value == args
    assert 'aria-invalid="true"' in page
    assert reread(interrupt).status == "open"
    assert message in words(response)


def test_an_answer_that_does_not_fit_the_schema_is_kept_and_explained(ask, reads_bob):
    interrupt = ask("input_required")

    response = reads_bob.send(interrupt, "answer", {"answer/year": "1999"})

    assert response.status_code == 422
    assert decision_form(response.content.decode()).control("answer/year").value == "1999"
    assert "To correct: Quarter Year Revenue" in words(response)


def test_an_expired_interrupt_answers_410_and_keeps_the_text(ask, reads_bob):
    interrupt = ask("tool_call")
    mine = _typed(reads_bob, interrupt)
    _let_expire(interrupt)
    expire_interrupts(thread_id=interrupt.thread_id)

    response = reads_bob.post(interrupt, mine, "approve")

    assert response.status_code == 410
    assert "expired" in words(response)
    _assert_kept(response)


def test_a_late_answer_is_refused_before_the_sweeper_comes(ask, reads_bob):
    interrupt = ask("tool_call")
    mine = _typed(reads_bob, interrupt)
    _let_expire(interrupt)

    response = reads_bob.post(interrupt, mine, "approve")

    assert response.status_code == 410
    _assert_kept(response)
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
    from inbox.actions.people.provisioning import add_member
    from inbox.rules.people.access import SEED, Role

    dora = add_member(
        team=world.team,
        username="dora",
        full_name="Dora",
        password="dora-password",
        role=Role.REVIEWER,
        actor=SEED,
    )
    return world.actor(dora)


def _typed(reader, interrupt):
    """What somebody has typed into the form, and not sent yet."""
    form = reader.form(interrupt)
    for name, text in MINE.items():
        form.fill(name, text)
    return form.post()


def _assert_kept(response):
    form = decision_form(response.content.decode())
    assert form.control("args/to").value == "mine@example.com"


def _let_expire(interrupt):
    """Move the expiry into the past; an hour is too long for a test to wait."""
    past = timezone.now() - timedelta(seconds=1)
    type(interrupt).objects.filter(pk=interrupt.pk).update(expires_at=past, due_at=past)


def test_half_an_answer_that_was_too_late_can_be_copied_too(ask, reads_bob, world):
    interrupt = ask("input_required")
    mine = reads_bob.form(interrupt).post().copy()
    mine["answer/year"] = "2025"
    call_off(interrupt, _another_reviewer(world))

    page = reads_bob.post(interrupt, mine, "answer").content.decode()

    edits = html.unescape(page.partition('<pre id="edits" hidden>')[2].partition("</pre>")[0])
    assert json.loads(edits) == {"year": 2025}
