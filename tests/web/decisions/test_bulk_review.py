"""Reviewing several requests on one page: what is shown, what can be ticked, what comes of it."""

import html
import json
import re
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

from agents.agui.interrupts import approval_schema
from inbox.actions.decisions.claims_and_comments import claim_interrupt
from inbox.queries.decisions.bulk_reviews import MAX_BULK_INTERRUPTS
from tests.support.policies.published import publish, rule
from tests.support.steps import (
    answer,
    approve,
    open_interrupts,
    reread,
    resumed_run,
    start,
)
from tests.support.web.pages import words
from tests.web.decisions.lists.test_inbox_lists import expire_in, listed

MARKED = re.compile(r'<input class="tick"[^>]* value="([^"]+)"([^>]*)>')


def boxes(response):
    """What the check boxes of a page send, and whether each is ticked or cannot be."""
    boxes_by_value = {}
    for value, attributes in MARKED.findall(response.content.decode()):
        state = (
            "disabled"
            if " disabled" in attributes
            else "ticked"
            if " checked" in attributes
            else "free"
        )
        boxes_by_value[html.unescape(value)] = state
    return boxes_by_value


def tick(reader, page, action="approve", only=None, **more):
    """Send the form of a page of review with some or all of its boxes ticked."""
    sent = {"action": action, "item": [box for box in boxes(page) if only is None or only in box]}
    shown_values = re.findall(r'name="shown" value="([^"]+)"', page.content.decode())
    return reader.client.post("/review/decide", {**sent, "shown": shown_values, **more})


def selected(*rows):
    return "/review/?" + "&".join(f"id={row.pk}" for row in rows)


@pytest.fixture
def alike(world):
    """Three requests that differ in their values only."""
    return open_interrupts(start(world, "rehearse:parallel3"))


@pytest.fixture
def propose(world, as_agent):
    """Let an agent ask about one call for each of these arguments; returns the interrupts."""

    def ask(*arguments, tool="pay", reason="tool_call", **about):
        async def play(run_input, _context):
            for number, args in enumerate(arguments):
                yield ToolCallStartEvent(tool_call_id=f"t{number}", tool_call_name=tool)
                yield ToolCallArgsEvent(tool_call_id=f"t{number}", delta=json.dumps(args))
                yield ToolCallEndEvent(tool_call_id=f"t{number}")
            interrupts = [
                Interrupt(id=f"i{number}", reason=reason, tool_call_id=f"t{number}", **about)
                for number in range(len(arguments))
            ]
            yield RunFinishedEvent(
                thread_id=run_input.thread_id,
                run_id=run_input.run_id,
                outcome=RunFinishedInterruptOutcome(interrupts=interrupts),
            )

        return open_interrupts(start(world, "go", agent=as_agent(play)))

    return ask


# -- what is shown --------------------------------------------------------------------------------


def test_what_alike_requests_have_in_common_stands_once(propose, reads_bob):
    rows = propose(
        {"to": "dana", "amount": {"value": 10, "currency": "EUR"}, "memo": "rent"},
        {"to": "eli", "amount": {"value": 2500, "currency": "EUR"}, "memo": "rent"},
        message="Pay?",
    )

    page = words(reads_bob.get(f"/similar/{rows[0].pk}/"))

    assert "The same in all 2 amount.currency EUR memo rent" in page
    assert page.count("EUR") == page.count("rent") == 1
    for value in ("dana", "eli", "10", "2,500"):
        assert value in page


def test_metadata_is_read_as_facts_and_not_as_json(propose, reads_bob):
    fact = {"label": "Rows affected", "value": 12430}
    present = {"kind": "money", "severity": "high", "reversible": False, "facts": [fact]}
    metadata = {"signoff": {"present": present}, "ticket": {"queue": "ops"}}
    rows = propose({"to": "dana"}, {"to": "eli"}, message="Pay?", metadata=metadata)

    page = words(reads_bob.get(f"/similar/{rows[0].pk}/"))

    common = page.partition("The same in all 2 ")[2]
    assert common.startswith("Risk High risk · Cannot be undone ticket.queue ops")
    assert "Rows affected 12,430" in common
    assert "signoff" not in page
    assert "{" not in page


def test_texts_have_no_quotes_unless_they_could_be_another_value(propose, reads_bob):
    texts = propose({"a": "88121", "b": "", "c": "null"})
    others = propose({"a": 88121, "b": "x", "c": None})

    page = words(reads_bob.get(selected(*texts, *others)))

    assert 'a 88121 b empty c "null"' in page
    assert "a 88,121 b x c null" in page


def test_a_changed_value_is_old_and_new(world, propose, dora, reads_bob):
    publish(world, rule("two", "ask", require={"slots": [{"role": "reviewer"}] * 2}))
    schema = approval_schema(edited_args={"type": "object"})
    calls = ({"to": "dana", "amount": 310}, {"to": "eli", "amount": 310})
    rows = propose(*calls, response_schema=schema)
    answer(rows[0], dora, {"approved": True, "editedArgs": {"to": "dana", "amount": 31}})

    page = reads_bob.get(f"/similar/{rows[0].pk}/")

    assert "310 31" in words(page)
    assert re.search(r"<del[^>]*>310</del>", page.content.decode())


def test_a_value_that_was_changed_in_one_request_is_not_common(world, propose, dora, reads_bob):
    publish(world, rule("two", "ask", require={"slots": [{"role": "reviewer"}] * 2}))
    schema = approval_schema(edited_args={"type": "object"})
    rows = propose({"amount": 900}, {"amount": 5}, response_schema=schema)
    answer(rows[0], dora, {"approved": True, "editedArgs": {"amount": 5}})

    page = words(reads_bob.get(f"/similar/{rows[0].pk}/"))

    assert "The same in all" not in page
    assert page.count("900 5") == 1


@pytest.mark.parametrize(
    ("present", "tone"),
    [
        ({"severity": "low", "reversible": True}, "line"),
        ({"severity": "medium"}, "warn"),
        ({"severity": "low", "reversible": False}, "bad"),
    ],
)
def test_only_a_risk_that_is_high_is_red(propose, reads_bob, present, tone):
    row = propose({"to": "dana"}, metadata={"signoff": {"present": present}})[0]

    page = reads_bob.get(selected(row)).content.decode()

    assert f"value c-{tone}" in page


@pytest.mark.parametrize(
    ("at", "zone"),
    [("9999-12-31T23:59:59Z", "Pacific/Auckland"), ("0001-01-01T00:00:00Z", "Pacific/Honolulu")],
)
def test_a_deadline_at_the_end_of_the_calendar_has_a_page(propose, reads_bob, at, zone):
    row = propose({"to": "dana"}, expires_at=at)[0]
    reads_bob.client.cookies["zone"] = zone

    for path in ("/", f"/interrupts/{row.pk}/", selected(row)):
        assert reads_bob.get(path).status_code == 200


def test_a_request_that_is_like_no_other_is_reviewed_alone(ask, reads_bob):
    call, question = ask("tool_call"), ask("confirmation")

    assert len(boxes(reads_bob.get(f"/similar/{call.pk}/"))) == 1
    assert len(boxes(reads_bob.get(f"/similar/{question.pk}/"))) == 1


def test_the_list_links_each_request_to_those_like_it(alike, ask, reads_bob):
    ask("confirmation")

    page = reads_bob.get("/?q=e-mail").content.decode()

    assert page.count("2 similar") == 3
    for request in alike:
        assert f'href="/similar/{request.pk}/?list=q%3De-mail"' in page


def test_the_page_of_a_request_links_to_those_like_it(alike, ask, reads_bob):
    question = ask("confirmation")

    page = words(reads_bob.get(f"/interrupts/{alike[0].pk}/"))

    assert "Similar 2 pending" in page
    assert "Similar pending requests" not in words(reads_bob.get(f"/interrupts/{question.pk}/"))


def test_requests_selected_in_the_list_arrive_selected(alike, reads_bob):
    chosen = [str(row.pk) for row in alike[:2]]

    page = reads_bob.client.post("/review/selected", {"id": chosen})

    assert len(boxes(page)) == 2
    assert set(boxes(page).values()) == {"ticked"}


def test_selected_request_that_cannot_be_decided_in_bulk_is_not_ticked(alike, ask, reads_bob):
    question = ask("input_required")

    page = reads_bob.client.post("/review/selected", {"id": [alike[0].pk, question.pk]})

    assert sorted(boxes(page).values()) == ["disabled", "ticked"]


def test_link_to_a_review_selects_nothing(alike, reads_bob):
    """Anybody can send a link."""
    assert set(boxes(reads_bob.get(selected(*alike))).values()) == {"free"}
    assert reads_bob.get("/review/selected?id=" + str(alike[0].pk)).status_code == 405


def test_nothing_is_ticked_unless_it_is_asked_for(alike, reads_bob):
    path = f"/similar/{alike[0].pk}/"

    assert set(boxes(reads_bob.get(path)).values()) == {"free"}
    assert set(boxes(reads_bob.get(f"{path}?tick=all")).values()) == {"ticked"}
    unlike = reads_bob.get(f"{selected(*alike)}&tick=all")
    assert set(boxes(unlike).values()) == {"free"}
    assert "Select all" not in words(unlike)


def test_a_page_has_fifty_at_the_most_and_says_that_there_are_more(world, reads_bob):
    rows = open_interrupts(start(world, "rehearse:parallel:60"))

    for path in (f"/similar/{rows[0].pk}/", selected(*rows)):
        page = reads_bob.get(path)
        assert len(boxes(page)) == MAX_BULK_INTERRUPTS
        assert "The others stay pending" in words(page)


def test_what_is_not_mine_to_see_is_not_on_the_page(alike, reads_carol, reads_bob):
    assert boxes(reads_carol.get(selected(*alike))) == {}
    assert reads_carol.get(f"/similar/{alike[0].pk}/").status_code == 404
    assert "These requests do not exist" in words(reads_bob.get("/review/?id=x&id=&id=0"))


# -- what can be ticked ---------------------------------------------------------------------------

HIDDEN = {"to": "eve\u202e"}
LONG = {"to": "x" * 1_001}
MANY = {f"field{number}": number for number in range(41)}
SCHEMA = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "budget": {"type": "string"}},
    "required": ["approved", "budget"],
}


@pytest.mark.parametrize(
    ("args", "about", "reason"),
    [
        (HIDDEN, {}, "The request has suspicious characters"),
        ({"pay\u200b": 1}, {}, "The request has suspicious characters"),
        ({}, {"message": "Pay \u2066eve\u2069"}, "The request has suspicious characters"),
        ({}, {"metadata": {"note": "\u200f"}}, "The request has suspicious characters"),
        (LONG, {}, "Shortened here"),
        (MANY, {}, "Shortened here"),
        ({}, {"message": "word " * 300}, "Shortened here"),
        ({}, {"metadata": {"signoff": {"present": {"facts": [1] * 61}}}}, "Shortened here"),
        (
            {},
            {"metadata": {"signoff": {"present": {"sections": [{"facts": [1] * 61}]}}}},
            "Shortened here",
        ),
        ({}, {"metadata": {"signoff": {"present": {"sections": [1] * 13}}}}, "Shortened here"),
        (
            {},
            {"response_schema": SCHEMA},
            "This request needs more than approval. Review it on its own page.",
        ),
    ],
)
def test_what_needs_a_look_of_its_own_cannot_be_ticked(propose, reads_bob, args, about, reason):
    (row,) = propose(args, **about)

    page = reads_bob.get(selected(row))
    forced = reads_bob.client.post(
        "/review/decide", {"action": "approve", "item": f"{row.pk}:{row.view_digest}"}
    )

    assert set(boxes(page).values()) == {"disabled"}
    assert reason in words(page)
    assert "0 of 1 decided" in words(forced)
    assert reason in words(forced)
    assert reread(row).status == "open"


@pytest.mark.parametrize("reason", ["acme:approval", "input_required", "langgraph:interrupt"])
def test_approvals_of_calls_by_other_reasons_are_decided_together(propose, reads_bob, reason):
    schema = {"type": "object", "properties": {"approved": {"type": "boolean"}}}
    rows = propose({"to": "dana"}, {"to": "eli"}, reason=reason, response_schema=schema)

    page = reads_bob.get(f"/similar/{rows[0].pk}/")

    assert [*boxes(page).values()] == ["free", "free"]
    tick(reads_bob, page, "approve")
    assert {reread(row).status for row in rows} == {"resolved"}


def test_what_no_longer_waits_or_is_anothers_cannot_be_ticked(
    world, alike, ask, dora, bob, reads_bob
):
    question, late = ask("confirmation"), ask("tool_call")
    claim_interrupt(interrupt_id=alike[0].pk, actor=dora)
    claim_interrupt(interrupt_id=alike[1].pk, actor=bob)
    approve(alike[2], dora)
    expire_in(late, timedelta(seconds=-1))

    page = reads_bob.get(selected(*alike, question, late))

    assert [*boxes(page).values()] == ["disabled", "free", "disabled", "disabled", "disabled"]
    for reason in (
        "Claimed by Dora.",
        "Dora approved.",
        "This request needs more than approval. Review it on its own page.",
        "The request has expired.",
    ):
        assert reason in words(page)


def test_somebody_who_looks_on_selects_and_ticks_nothing(alike, reads_alice):
    page = reads_alice.get(selected(*alike))

    assert 'class="row-pick"' not in reads_alice.get("/").content.decode()
    assert set(boxes(page).values()) == {"disabled"}
    assert "Reviewers and admins of this team can decide" in words(page)
    assert tick(reads_alice, page).status_code == 403


# -- what comes of it -----------------------------------------------------------------------------


def test_only_what_is_ticked_is_decided(alike, reads_bob):
    page = reads_bob.get(f"/similar/{alike[0].pk}/")

    done = tick(reads_bob, page, only=str(alike[1].pk))

    assert "1 of 1 decided" in words(done)
    assert [reread(row).status for row in alike] == ["open", "resolved", "open"]
    assert "Review the remaining requests" in words(done)


@pytest.mark.parametrize(("action", "approved"), [("approve", True), ("reject", False)])
def test_all_get_the_same_answer_and_the_note(alike, reads_bob, action, approved):
    page = reads_bob.get(selected(*alike))

    done = tick(reads_bob, page, action, reason="as agreed\r\non Monday")

    assert "3 of 3 decided" in words(done)
    payloads = [json.loads(row.decisions.get().payload) for row in alike]
    assert payloads == [{"approved": approved, "reason": "as agreed\non Monday"}] * 3
    assert {row.decisions.get().view_digest for row in alike} == {row.view_digest for row in alike}
    assert resumed_run(alike[0].run).status == "succeeded"


def test_each_result_stands_by_itself(alike, dora, reads_bob):
    page = reads_bob.get(selected(*alike))
    approve(alike[0], dora)
    claim_interrupt(interrupt_id=alike[1].pk, actor=dora)

    done = words(tick(reads_bob, page, "reject"))

    assert "1 of 3 decided" in done
    assert "Dora already decided this" in done
    assert "Dora is reviewing this." in done
    assert [reread(row).status for row in alike] == ["resolved", "open", "resolved"]
    assert alike[0].decisions.get().actor_label == "Dora"


def test_a_box_without_the_digest_of_what_was_shown_decides_nothing(alike, reads_bob):
    for box in (f"{alike[0].pk}", f"{alike[0].pk}:", f"{alike[0].pk}:{'0' * 64}"):
        done = reads_bob.client.post("/review/decide", {"action": "approve", "item": box})
        assert "0 of 1 decided" in words(done)

    assert reread(alike[0]).status == "open"


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"item": []}, "Nothing is selected"),
        ({"action": "destroy"}, "Choose one of the buttons"),
        ({"reason": "x" * 2_001}, "A note can have at most 2000 characters"),
    ],
)
def test_a_form_that_says_too_little_or_too_much_decides_nothing(alike, reads_bob, sent, says):
    page = reads_bob.get(f"/similar/{alike[0].pk}/")

    back = tick(reads_bob, page, **sent)

    assert back.status_code == 422
    assert says in words(back)
    assert len(boxes(back)) == 3
    assert {reread(row).status for row in alike} == {"open"}


def test_sending_the_same_again_says_what_stands_and_changes_nothing(alike, reads_bob):
    page = reads_bob.get(selected(*alike))

    tick(reads_bob, page)
    again = tick(reads_bob, page)

    assert "You approved" in words(again)
    assert [row.decisions.count() for row in alike] == [1, 1, 1]


def test_what_was_decided_can_be_taken_back_while_others_of_the_run_wait(alike, reads_bob):
    page = reads_bob.get(selected(*alike))
    done = tick(reads_bob, page, only=str(alike[0].pk))
    assert "Undo 1" in words(done)

    back = reads_bob.client.post("/review/withdraw", {"id": [str(alike[0].pk)]})

    assert "1 of 1 withdrawn" in words(back)
    assert reread(alike[0]).status == "open"
    assert (
        not reads_bob.client.post("/review/withdraw", {"id": [str(alike[1].pk)]})
        .context["outcomes"][0]
        .is_done
    )


def test_a_set_that_is_complete_cannot_be_taken_back(alike, reads_bob):
    done = tick(reads_bob, reads_bob.get(selected(*alike)))

    assert "Undo 1" not in words(done)


def test_the_way_back_leads_to_the_list_that_one_came_from(alike, reads_bob):
    page = reads_bob.get(f"{selected(*alike)}&list=tool%3Dsend_email%26q%3Ddana")
    done = tick(reads_bob, page, only=str(alike[0].pk), list="tool=send_email&q=dana")
    astray = reads_bob.get(f"{selected(*alike)}&list=//evil.example")

    for response in (page, done):
        assert 'href="/?tool=send_email&amp;q=dana"' in response.content.decode()
    assert not re.search('(href|action)="[^"]*evil.example', astray.content.decode())


def test_a_selection_is_what_this_page_shows(world, reads_bob):
    start(world, "rehearse:parallel:55")

    page = reads_bob.get("/").content.decode()

    picks = re.findall(r'<input class="row-check"[^>]* value="([^"]+)" form="selection"', page)
    assert picks == listed(reads_bob.get("/"))
    assert len(picks) == 50


def test_the_page_of_review_reads_fifty_as_it_reads_two(
    world, alike, reads_bob, django_assert_max_num_queries
):
    rows = open_interrupts(start(world, "rehearse:parallel:50"))
    reads_bob.get("/runs/")  # writes down, once a minute, where he is signed in

    with django_assert_max_num_queries(16):
        reads_bob.get(selected(*alike[:2]))
    with django_assert_max_num_queries(16):
        reads_bob.get(selected(*rows))
