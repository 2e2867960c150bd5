"""Servers whose schema has another form of approvals than AG-UI's, on the real engine."""

from dataclasses import replace

import pytest

from inbox.actions.agents.remote_agents import set_remote_agent
from inbox.actions.runs.start_run import start_run
from inbox.models import Decision
from inbox.rules.errors import InvalidPayload
from inbox.rules.people.access import SEED
from tests.support import steps
from tests.support.agents import vendor_servers
from tests.support.agents.remote_agent_server import elsewhere
from tests.support.agents.vendor_servers import finished, started
from tests.support.steps import drive, entry, open_interrupts, request, resumed_run, start

__all__ = ["elsewhere"]

TEXT_OR_BOOLEAN = {"type": ["string", "boolean"], "title": "Approval"}
BEHAVIOR = {
    "type": "object",
    "properties": {
        "behavior": {"enum": ["allow", "deny"]},
        "message": {"type": "string"},
        "updatedInput": {"type": "object"},
    },
    "required": ["behavior"],
}


@pytest.fixture
def refunds(world, elsewhere):
    return set_remote_agent(
        team_id=world.team.pk, slug="refunds", url=elsewhere.url, headers={}, actor=SEED
    ).agent


@pytest.fixture
def ask(world, elsewhere, refunds):
    """Start a run that asks about a call with a schema; return the request."""

    def ask(schema):
        elsewhere.runs = [
            vendor_servers.canonical_asks("tc-1", schema=schema),
            [started(), *vendor_servers.done(), finished()],
        ]
        run = start(world, "Refund it.", agent=refunds, thread_id="t1")
        interrupts = open_interrupts(run)
        return interrupts[0] if interrupts else run

    return ask


def sent(elsewhere):
    return [each.get("payload") for each in elsewhere.sent[-1]["resume"]]


@pytest.mark.parametrize(
    ("schema", "answer", "own"),
    [
        (TEXT_OR_BOOLEAN, {"approved": True}, True),
        (TEXT_OR_BOOLEAN, {"approved": False, "reason": "no photo"}, False),
        (TEXT_OR_BOOLEAN, "y", True),
        (TEXT_OR_BOOLEAN, False, False),
        ({"type": "string", "enum": ["approve", "reject"]}, {"approved": False}, "reject"),
        (BEHAVIOR, {"approved": False, "reason": "no"}, {"behavior": "deny", "message": "no"}),
        (BEHAVIOR, {"behavior": "allow"}, {"behavior": "allow"}),
    ],
)
def test_the_agent_gets_its_own_form(bob, elsewhere, ask, schema, answer, own):
    interrupt = ask(schema)

    steps.answer(interrupt, bob, answer)

    assert resumed_run(interrupt.run).status == "succeeded"
    assert sent(elsewhere) == [own]
    approved = own in (True, {"behavior": "allow"})
    assert f'"approved":{str(approved).lower()}' in Decision.objects.get().payload
    interrupt.tool_call.refresh_from_db()
    assert interrupt.tool_call.verdict == ("approved" if approved else "denied")


def test_edits_go_where_the_schema_has_room(bob, elsewhere, ask):
    interrupt = ask(BEHAVIOR)

    edited = {"order": "A1", "amount": 5}
    steps.answer(interrupt, bob, {"approved": True, "editedArgs": edited})

    resumed_run(interrupt.run)
    assert sent(elsewhere) == [{"behavior": "allow", "updatedInput": edited}]


def test_an_answer_over_ag_ui_may_have_the_agents_form(bob, elsewhere, refunds, ask):
    interrupt = ask(TEXT_OR_BOOLEAN)
    answers = replace(
        request(thread_id="t1", entries=(entry(interrupt, "yes"),)),
        view_digests={interrupt.interrupt_id: interrupt.shown_digest},
    )

    drive(start_run(agent=refunds, request=answers, actor=bob))
    repeated = start_run(agent=refunds, request=answers, actor=bob)

    assert sent(elsewhere) == [True]
    assert repeated.replayed


@pytest.mark.parametrize("answer", ["always", 1, None, {"approved": "yes"}, {"behavior": "allow"}])
def test_other_answers_are_refused(bob, ask, answer):
    interrupt = ask(TEXT_OR_BOOLEAN)

    with pytest.raises(InvalidPayload):
        steps.answer(interrupt, bob, answer)


def test_a_request_that_nothing_can_answer_fails_when_it_opens(ask):
    run = ask({"type": "integer"})

    assert (run.status, run.error_code) == ("failed", "PROTOCOL_VIOLATION")
    message = steps.events(run.thread_id)[-1]["message"]
    assert "'int-tc-1' cannot be answered" in message
    assert "boolean" in message


def test_the_page_has_the_buttons_of_an_approval(client, world, ask):
    interrupt = ask(TEXT_OR_BOOLEAN)
    client.force_login(world.bob)

    page = client.get(f"/interrupts/{interrupt.pk}/").content.decode()

    assert 'value="approve"' in page
    assert 'value="reject"' in page


def test_the_proof_of_ag2_is_returned_and_shown_to_nobody(bob, elsewhere, ask, refunds, world):
    events = vendor_servers.canonical_asks("tc-1", schema=TEXT_OR_BOOLEAN)
    events[-1]["outcome"]["interrupts"][0]["metadata"] = {"ag2": {"proof": "s3cret-proof"}}
    elsewhere.runs = [events, [started(), *vendor_servers.done(), finished()]]
    run = start(world, "Refund it.", agent=refunds)
    (interrupt,) = open_interrupts(run)

    steps.approve(interrupt, bob)
    resumed_run(run)

    assert elsewhere.sent[-1]["resume"][0]["metadata"]["ag2"] == {"proof": "s3cret-proof"}
    assert "s3cret-proof" not in interrupt.body
    assert "s3cret-proof" not in str(steps.events(run.thread_id))
