"""What belongs to one thread: messages, state, tool calls, runs, and who did what."""

import pytest

from inbox.actions.audit.erasure import erase_thread
from inbox.actions.audit.thread_deletion import delete_if_old
from inbox.actions.people.api_keys import make_key
from inbox.actions.people.members import change_team
from inbox.models import Thread
from inbox.rules.people.access import SEED, Permission
from tests.support import steps
from tests.support.http.rest_client import Caller, pages, read
from tests.support.steps import open_interrupts, resumed_run, start

ARGS = {"to": "kim@example.com", "subject": "Hello", "body": "Hi Kim"}


@pytest.fixture
def api(world):
    return Caller(world.key)


@pytest.fixture
def calls(api, world, bob):
    """What the API says of the calls of a run that asks once, after an answer."""

    def after(answer, *args, **more):
        run = start(world, "rehearse:tool_call")
        (interrupt,) = open_interrupts(run)
        if answer is not None:
            answer(interrupt, bob, *args, **more)
            resumed_run(run)
        (call,) = read(api, f"/api/threads/{run.thread_id}/tool-calls")["results"]
        return call

    return after


def test_a_call_that_waits_is_only_proposed(calls):
    call = calls(None)

    assert (call["state"], call["decisions"], call["result"]) == ("proposed", [], None)
    assert call["proposed_args"]["to"]
    assert call["approved_args"] is call["executed_args"] is None


def test_what_was_edited_is_what_was_approved_and_executed(calls):
    call = calls(steps.approve, editedArgs=ARGS)

    assert call["proposed_args"] != ARGS
    assert call["approved_args"] == call["executed_args"] == ARGS
    assert call["state"] == "settled"
    assert "kim@example.com" in call["result"]
    assert [decision["by"] for decision in call["decisions"]] == ["Bob"]
    assert call["proposed_at"] < call["started_at"] < call["settled_at"]


def test_what_was_denied_was_neither_approved_nor_executed(calls):
    call = calls(steps.deny)

    assert call["state"] == "not_run"
    assert call["approved_args"] is call["executed_args"] is None
    assert [decision["payload"]["approved"] for decision in call["decisions"]] == [False]


def test_the_parts_of_a_thread_are_those_of_the_whole(api, world):
    run = start(world, "rehearse:echo")
    start(world, "rehearse:echo", thread_id=run.thread.external_id)
    path = f"/api/threads/{run.thread_id}"

    thread = read(api, path)
    messages = pages(api, f"{path}/messages", limit=1)

    assert [message for part in messages for message in part] == thread["messages"]
    assert len(thread["messages"]) > 2
    assert read(api, f"{path}/state")["state"] == thread["state"]
    assert read(api, f"{path}/runs") == read(api, "/api/runs", thread=run.thread_id)
    assert len(read(api, f"{path}/runs")["results"]) == 2


def test_who_did_what_is_told_in_the_order_done(api, world, bob):
    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    steps.approve(interrupt, bob)
    start(world, "rehearse:echo")
    path = f"/api/threads/{run.thread_id}/audit"

    parts = pages(api, path, limit=2)

    entries = [entry for part in parts for entry in part]
    assert [entry["action"] for entry in entries] == steps.audit_actions(run.thread)
    assert len(entries) > 2
    assert "Bob" in [entry["actor"]["name"] for entry in entries]
    assert read(api, path, fields="seq,action")["results"][0].keys() == {"seq", "action"}
    assert [entry["seq"] for entry in entries] == list(range(1, len(entries) + 1))


def test_what_was_erased_is_told_as_gone(api, world):
    run = start(world, "rehearse:echo")
    erase_thread(thread_id=run.thread_id, reason="they asked", actor=SEED)

    entries = read(api, f"/api/threads/{run.thread_id}/audit")["results"]

    assert [entry["action"] for entry in entries] == steps.audit_actions(run.thread)
    assert entries[0]["actor"]["name"] is entries[0]["detail"] is None
    assert entries[-1]["actor"]["name"] == SEED.label


def test_a_deleted_thread_says_so_and_its_trail_can_be_read(api, world, bob, later):
    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    steps.approve(interrupt, bob)
    resumed_run(run)
    change_team(team_id=world.team.pk, thread_days=30, actor=SEED)
    later(days=31)
    assert delete_if_old(thread_id=run.thread_id)

    for path in (
        f"/api/threads/{run.thread_id}",
        f"/api/threads/{run.thread_id}/messages",
        f"/api/runs/{run.pk}",
        f"/api/interrupts/{interrupt.pk}",
    ):
        answer = api.get(path)
        assert answer.status_code == 404
        assert "(days without activity: 30)" in answer.json()["detail"]
    entries = read(api, f"/api/threads/{run.thread_id}/audit")["results"]
    assert [entries[0]["action"], entries[-1]["action"]] == ["run.started", "thread.deleted"]
    assert entries[-1]["actor"]["name"] == "system:retention"
    page_of_deletions = read(api, "/api/audit", action="thread.deleted")["results"]
    assert [entry["thread"] for entry in page_of_deletions] == [str(run.thread_id)]


def test_administrators_keep_a_thread(world):
    run = start(world, "rehearse:echo")
    _, token = make_key(
        team_id=world.team.pk, name="admin", scopes={Permission.ADMIN, Permission.READ}, actor=SEED
    )
    admin, path = Caller(token), f"/api/threads/{run.thread_id}"

    assert Caller(world.key).patch(path, {"is_kept": True}).status_code == 403
    assert admin.patch(path, {"is_kept": True}).status_code == 204

    assert Thread.objects.get(pk=run.thread_id).is_kept
    assert read(admin, path)["is_kept"] is True
