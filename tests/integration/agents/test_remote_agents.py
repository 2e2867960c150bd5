"""Agents elsewhere on the real engine: a server of another framework, on a port of this machine."""

import json
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from inbox import engine, sweeper
from inbox.actions.agents.remote_agents import set_remote_agent
from inbox.actions.files.uploads import upload_to_request
from inbox.actions.people.members import change_team
from inbox.actions.people.provisioning import ensure_agent, ensure_team
from inbox.actions.runs.start_run import start_run
from inbox.engine import worker
from inbox.models import AuditEntry, Decision, Endpoint, Run, ToolCall
from inbox.platform.files.received_files import received_bytes
from inbox.rules.errors import (
    AddressTaken,
    EditsNotOffered,
    Forbidden,
    InvalidValue,
    NotFound,
)
from inbox.rules.people.access import SEED
from tests.support import steps
from tests.support.agents import vendor_servers
from tests.support.agents.lost_workers import kill_while_driving
from tests.support.agents.remote_agent_server import elsewhere, new_address
from tests.support.agents.vendor_servers import (
    ARGS,
    LANGGRAPH_IDS,
    finished,
    started,
)
from tests.support.steps import open_interrupts, resumed_run, start

__all__ = ["elsewhere", "new_address"]

EDITED = {"order": "A1", "amount": 5}
SECRET = "Bearer kept-to-ourselves"


@pytest.fixture
def refunds(world, elsewhere):
    return set_remote_agent(
        team_id=world.team.pk,
        slug="refunds",
        url=elsewhere.url,
        headers={"Authorization": SECRET},
        actor=SEED,
    ).agent


def test_an_agent_elsewhere_is_approved_and_goes_on_once(world, bob, elsewhere, refunds):
    elsewhere.runs = [
        vendor_servers.langgraph_asks(),
        # It says the call again, which a client would take for a second half of the arguments.
        [started(), *vendor_servers.call(), *vendor_servers.done(), finished()],
    ]
    run = start(world, "Refund it.", agent=refunds)
    (interrupt,) = open_interrupts(run)
    assert json.loads(interrupt.tool_call.args) == ARGS
    steps.approve(interrupt, bob)

    resumed = resumed_run(run)

    assert (run.status, resumed.status) == ("interrupted", "succeeded")
    assert elsewhere.sent[1]["forwardedProps"] == {
        "command": {"resume": {LANGGRAPH_IDS[0]: {"approved": True}}}
    }
    assert elsewhere.sent[0]["threadId"] == elsewhere.sent[1]["threadId"] == str(run.thread_id)
    assert elsewhere.headers[1]["Authorization"] == SECRET
    assert "TOOL_CALL_START" not in steps.event_types(resumed)
    assert steps.event_types(run)[-3:] == ["STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]
    assert ToolCall.objects.get().result == "refunded 47.5"


def test_the_conversation_that_is_sent_is_the_stored_one(world, bob, elsewhere, refunds):
    done = vendor_servers.done(content="refunded 5")
    elsewhere.runs = [
        vendor_servers.canonical_asks("tc-1", schema=vendor_servers.EDITABLE),
        [started(), *done, finished()],
    ]
    run = start(world, "Refund it.", agent=refunds)
    steps.approve(open_interrupts(run)[0], bob, editedArgs=EDITED)

    resumed_run(run)

    (call,) = elsewhere.sent[1]["messages"][1]["toolCalls"]
    assert json.loads(call["function"]["arguments"]) == ARGS
    assert elsewhere.sent[1]["resume"][0]["payload"] == {"approved": True, "editedArgs": EDITED}


@pytest.mark.parametrize(
    "schema", [None, vendor_servers.SCHEMA], ids=["no schema", "only approved"]
)
def test_an_agent_that_names_no_edits_gets_none(world, bob, elsewhere, refunds, schema):
    elsewhere.runs = [
        vendor_servers.canonical_asks("tc-1", schema=schema),
        [started(), *vendor_servers.done(), finished()],
    ]
    run = start(world, "Refund it.", agent=refunds)
    (interrupt,) = open_interrupts(run)

    with pytest.raises(EditsNotOffered):
        steps.approve(interrupt, bob, editedArgs=EDITED)

    assert open_interrupts(run) == [interrupt]
    steps.approve(interrupt, bob)
    resumed_run(run)
    assert elsewhere.sent[1]["resume"][0]["payload"] == {"approved": True}


@pytest.mark.parametrize("answer", [None, False, 0, "", [], {}])
def test_a_remote_agent_gets_each_falsy_answer_as_it_was_given(
    world, bob, elsewhere, refunds, answer
):
    question = {"id": "i", "reason": "input_required", "responseSchema": {}}
    outcome = {"type": "interrupt", "interrupts": [question]}
    elsewhere.runs = [[started(), finished(outcome=outcome)], [started(), finished()]]
    run = start(world, "Ask.", agent=refunds)
    (interrupt,) = open_interrupts(run)

    steps.answer(interrupt, bob, answer)
    resumed_run(run)

    (entry,) = elsewhere.sent[1]["resume"]
    assert entry["payload"] == answer
    assert type(entry["payload"]) is type(answer)


def repeated(args, **raw):
    """A resumed run that says its call again, with these arguments."""
    events = [event | raw for event in vendor_servers.call(args=args)]
    return [started(), *events, *vendor_servers.done(), finished()]


@pytest.mark.parametrize("edits", [{}, {"editedArgs": EDITED}], ids=["as proposed", "edited"])
def test_a_call_repeated_with_other_arguments_fails_the_run(world, bob, elsewhere, refunds, edits):
    arguments = ARGS if edits else {**ARGS, "amount": 9000}
    elsewhere.runs = [
        vendor_servers.canonical_asks("tc-1", schema=vendor_servers.EDITABLE),
        repeated(arguments),
    ]
    run = start(world, "Refund it.", agent=refunds)
    steps.approve(open_interrupts(run)[0], bob, **edits)

    resumed = resumed_run(run)

    assert (resumed.status, resumed.error_code) == ("failed", "ARGUMENTS_NOT_APPROVED")
    entry = AuditEntry.objects.get(action="tool.refused")
    assert (entry.tool_call, entry.run) == (ToolCall.objects.get(), resumed)
    assert json.loads(entry.content["detail"]["args"]) == arguments
    assert ToolCall.objects.get().result is None


def test_langgraphs_echo_of_an_edited_call_is_no_other_call(world, bob, elsewhere, refunds):
    interrupt = vendor_servers.langgraph_asks(schema=vendor_servers.EDITABLE)
    elsewhere.runs = [interrupt, repeated(ARGS, rawEvent={"event": "on_tool_end"})]
    run = start(world, "Refund it.", agent=refunds)
    steps.approve(open_interrupts(run)[0], bob, editedArgs=EDITED)

    assert resumed_run(run).status == "succeeded"


def test_a_stream_that_breaks_off_asks_nobody_anything(world, elsewhere, refunds):
    elsewhere.runs = [vendor_servers.langgraph_asks()[:-1]]

    run = start(world, "Refund it.", agent=refunds)

    assert (run.status, run.error_code) == ("failed", "AGENT_UNREACHABLE")
    assert not open_interrupts(run)


def test_our_own_network_is_not_reached(world, elsewhere, refunds, settings):
    settings.PRIVATE_AGENT_HOSTS = frozenset()

    run = start(world, "Refund it.", agent=refunds)

    assert (run.status, run.error_code) == ("failed", "AGENT_UNREACHABLE")
    assert elsewhere.sent == []


def test_run_with_a_lost_worker_fails_and_retries_with_same_decisions(
    world, alice, bob, elsewhere, refunds, monkeypatch, later
):
    again = [started(), *vendor_servers.done(), finished()]
    elsewhere.runs = [vendor_servers.canonical_asks("tc-1"), again, again]
    run = start(world, "Refund it.", agent=refunds)
    steps.approve(open_interrupts(run)[0], bob)
    killed = kill_while_driving(
        Run.objects.get(resumes=run), monkeypatch=monkeypatch, at="finish_run"
    )
    later(seconds=60)
    sweeper.sweep()
    lost = steps.reread(killed)
    assert (lost.status, lost.error_code) == ("failed", "WORKER_LOST")

    retried = steps.drive(engine.retry_run(lost.pk, bob))

    assert retried.status == "succeeded"
    assert elsewhere.sent[2]["resume"] == elsewhere.sent[1]["resume"]


# -- what is kept ---------------------------------------------------------------------------------


def test_no_value_of_a_header_is_kept_in_clear(refunds):
    with connection.cursor() as cursor:
        cursor.execute("SELECT headers, url FROM inbox_endpoint")
        (row,) = cursor.fetchall()
    entry = AuditEntry.objects.get(action="agent.added", payload__text__contains="refunds")

    assert "kept-to-ourselves" not in row[0]
    assert entry.content["detail"]["headers"] == ["Authorization"]
    assert "kept-to-ourselves" not in entry.payload.text


def test_headers_outlive_the_change_of_the_encryption_key(world, elsewhere, refunds, settings):
    settings.ENCRYPTION_KEYS = ["another one", *settings.ENCRYPTION_KEYS]
    elsewhere.runs = [[started(), finished()]]
    assert start(world, "Refund it.", agent=refunds).status == "succeeded"
    assert elsewhere.headers[0]["Authorization"] == SECRET

    settings.ENCRYPTION_KEYS, settings.SECRET_KEY = ["another one"], "another secret key"
    assert start(world, "Refund it.", agent=refunds).error_code == "AGENT_ERROR"
    assert len(elsewhere.sent) == 1


# -- who may set it -------------------------------------------------------------------------------


@pytest.mark.parametrize(("who", "why"), [("bob", Forbidden), ("carol", NotFound)])
def test_only_administrators_of_the_team_say_where_an_agent_is(world, request, who, why):
    with pytest.raises(why):
        set_remote_agent(
            team_id=world.team.pk,
            slug="refunds",
            url="https://agents.example.com/",
            headers={},
            actor=request.getfixturevalue(who),
        )
    assert not Endpoint.objects.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"slug": "two words"},
        {"slug": ""},
        {"slug": "x" * 51},
        {"url": "ftp://agents.example.com/"},
        {"url": f"https://agents.example.com/{'x' * 2_000}"},
        {"headers": {"Host": "evil"}},
        {"headers": {"transfer-encoding": "chunked"}},
        {"headers": {"X-Key": "a\r\nY: b"}},
        {"headers": {"X-Key": ""}},
        {"headers": {"X Key": "a"}},
        {"headers": {"X-Key": "a", "x-key": "b"}},
        {"headers": {f"X-{number}": "a" for number in range(21)}},
    ],
)
def test_what_cannot_be_sent_is_not_kept(world, wrong):
    fields = {"slug": "refunds", "url": "https://agents.example.com/", "headers": {}}
    with pytest.raises(InvalidValue) as refused:
        set_remote_agent(team_id=world.team.pk, actor=SEED, **(fields | wrong))
    assert "evil" not in refused.value.message


def test_no_agent_is_replaced_by_one_elsewhere(world):
    others = ensure_team(slug="others", name="Others", actor=SEED)
    ensure_agent(team=others, slug="theirs", implementation="x", description="", actor=SEED)
    for slug in ("theirs", world.agent.slug):
        with pytest.raises(AddressTaken):
            set_remote_agent(
                team_id=world.team.pk,
                slug=slug,
                url="https://agents.example.com/",
                headers={},
                actor=SEED,
            )


def run_command(*arguments):
    out = StringIO()
    call_command("add_remote_agent", *arguments, stdout=out)
    return out.getvalue().strip()


def test_the_command_adds_an_agent_and_moves_it(world, monkeypatch):
    monkeypatch.setenv("REFUNDS_KEY", SECRET)
    arguments = ("refunds", "https://a.example.com/", "--team", "tests")

    assert run_command(*arguments, "--header", "Authorization=REFUNDS_KEY") == "/agui/refunds/"
    run_command("refunds", "https://b.example.com/", "--team", "tests")

    assert Endpoint.objects.get().url == "https://b.example.com/"
    with pytest.raises(CommandError, match="NO_SUCH_KEY"):
        run_command(*arguments, "--header", "Authorization=NO_SUCH_KEY")


# -- where it is ----------------------------------------------------------------------------------


def moved_to(world, url, **headers):
    """Change where the agent is, or what it is greeted with."""
    set_remote_agent(
        team_id=world.team.pk, slug="refunds", url=url, headers=headers or None, actor=SEED
    )


def test_an_open_request_is_looked_at_again_after_the_agent_moved(world, bob, elsewhere, refunds):
    elsewhere.runs = [vendor_servers.canonical_asks("tc-1")]
    (interrupt,) = open_interrupts(start(world, "Refund it.", agent=refunds))
    digest = interrupt.shown_digest

    moved_to(world, elsewhere.url + "?moved")

    assert steps.reread(interrupt).shown_digest != digest


def test_other_headers_leave_open_requests_alone(world, elsewhere, refunds):
    elsewhere.runs = [vendor_servers.canonical_asks("tc-1")]
    (interrupt,) = open_interrupts(start(world, "Refund it.", agent=refunds))
    digest = interrupt.shown_digest

    moved_to(world, elsewhere.url, Authorization="Bearer another")

    assert steps.reread(interrupt).shown_digest == digest


@pytest.mark.parametrize("by_hand", [False, True], ids=["by an administrator", "by hand"])
def test_an_approval_is_not_sent_to_another_address(world, bob, elsewhere, refunds, by_hand):
    elsewhere.runs = [vendor_servers.canonical_asks("tc-1")]
    run = start(world, "Refund it.", agent=refunds)
    steps.approve(open_interrupts(run)[0], bob)
    if by_hand:
        Endpoint.objects.update(url=elsewhere.url + "?moved")
    else:
        moved_to(world, elsewhere.url + "?moved")

    resumed = resumed_run(run)

    assert (resumed.status, resumed.error_code) == ("failed", "AGENT_MOVED")
    assert len(elsewhere.sent) == 1


def test_a_move_while_a_run_is_loaded_sends_nothing_to_the_new_address(
    world, bob, elsewhere, new_address, refunds, monkeypatch
):
    elsewhere.runs = [
        vendor_servers.canonical_asks("tc-1"),
        [started(), *vendor_servers.done(), finished()],
    ]
    run = start(world, "Refund it.", agent=refunds)
    steps.approve(open_interrupts(run)[0], bob)
    load_assignment = worker.load_assignment

    def load_then_move(run, **options):
        assignment = load_assignment(run, **options)
        moved_to(world, new_address.url, Authorization="Bearer another")
        return assignment

    monkeypatch.setattr(worker, "load_assignment", load_then_move)

    assert resumed_run(run).status == "succeeded"
    assert (len(elsewhere.sent), new_address.sent) == (2, [])


def test_an_approval_is_not_sent_after_a_move_there_and_back(world, bob, elsewhere, refunds):
    elsewhere.runs = [vendor_servers.canonical_asks("tc-1")]
    run = start(world, "Refund it.", agent=refunds)
    steps.approve(open_interrupts(run)[0], bob)
    moved_to(world, elsewhere.url + "?moved")
    moved_to(world, elsewhere.url)

    assert resumed_run(run).error_code == "AGENT_MOVED"
    assert len(elsewhere.sent) == 1


def test_a_decision_changed_by_hand_is_not_sent(world, bob, elsewhere, refunds):
    elsewhere.runs = [vendor_servers.canonical_asks("tc-1")]
    run = start(world, "Refund it.", agent=refunds)
    steps.deny(open_interrupts(run)[0], bob)
    Decision.objects.update(payload='{"approved":true}')

    assert resumed_run(run).error_code == "DECISION_NOT_VERIFIED"
    assert len(elsewhere.sent) == 1


def test_a_lapsed_approval_is_not_sent(world, bob, elsewhere, refunds, later):
    elsewhere.runs = [vendor_servers.canonical_asks("tc-1")]
    run = start(world, "Refund it.", agent=refunds)
    steps.approve(open_interrupts(run)[0], bob)
    later(hours=25)

    resumed = resumed_run(run)

    assert (resumed.status, resumed.error_code) == ("failed", "APPROVAL_LAPSED")
    assert len(elsewhere.sent) == 1


def test_a_retry_at_the_new_address_asks_people_again(world, bob, elsewhere, refunds):
    elsewhere.runs = [
        vendor_servers.canonical_asks("tc-1"),
        [started(), *vendor_servers.done(), finished()],
    ]
    run = start(world, "Refund it.", agent=refunds)
    (interrupt,) = open_interrupts(run)
    steps.approve(interrupt, bob)
    moved_to(world, elsewhere.url + "?moved")

    asking = engine.retry_run(resumed_run(run).pk, bob).run
    steps.approve(open_interrupts(asking)[0], bob)

    assert resumed_run(asking).status == "succeeded"
    (entry,) = elsewhere.sent[1]["resume"]
    assert entry["interruptId"] == interrupt.interrupt_id


# -- what agents learn beside the answer ----------------------------------------------------------


def test_a_remote_agent_learns_who_decided_and_the_metadata_of_the_client(
    world, bob, elsewhere, refunds
):
    elsewhere.runs = [
        vendor_servers.canonical_asks("tc-1"),
        [started(), *vendor_servers.done(), finished()],
    ]
    run = start(world, "Refund it.", agent=refunds)
    (interrupt,) = open_interrupts(run)
    entry = replace(
        steps.entry(interrupt, steps.APPROVE), metadata={"proof": "abc", "signoff": "forged"}
    )
    answers = steps.request(thread_id=run.thread.external_id, entries=(entry,))
    resumed = start_run(agent=refunds, request=answers, actor=bob).run

    engine.execute_run(resumed.pk)

    (sent,) = elsewhere.sent[1]["resume"]
    assert sent["metadata"]["proof"] == "abc"
    assert sent["metadata"]["signoff"]["by"] == {"kind": "human", "id": str(world.bob.pk)}


def test_a_remote_agent_loads_the_files_of_an_answer_without_a_key(world, bob, elsewhere, refunds):
    elsewhere.runs = [
        vendor_servers.canonical_asks("tc-1"),
        [started(), *vendor_servers.done(), finished()],
    ]
    run = start(world, "Refund it.", agent=refunds)
    (interrupt,) = open_interrupts(run)
    file = upload_to_request(
        interrupt_id=interrupt.pk, file=received_bytes(b"a receipt", "receipt.txt"), actor=bob
    )
    address = file.reference.address("https://signoff.example")
    steps.answer(interrupt, bob, {"approved": True, "receipt": address})

    resumed_run(run)

    (sent,) = elsewhere.sent[1]["resume"]
    link = sent["payload"]["receipt"].removeprefix("https://signoff.example").partition("#")[0]
    assert b"".join(Client().get(link).streaming_content) == b"a receipt"


def test_a_team_lets_remote_agents_know_names(world, bob, elsewhere, refunds):
    change_team(team_id=world.team.pk, names_deciders=True, actor=SEED)
    elsewhere.runs = [
        vendor_servers.canonical_asks("tc-1"),
        [started(), *vendor_servers.done(), finished()],
    ]
    run = start(world, "Refund it.", agent=refunds)
    steps.approve(open_interrupts(run)[0], bob)

    resumed_run(run)

    (sent,) = elsewhere.sent[1]["resume"]
    assert sent["metadata"]["signoff"]["by"]["name"] == "Bob"
