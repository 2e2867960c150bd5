import re
from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from ag_ui.core import (
    ActivitySnapshotEvent,
    DataSource,
    ImagePart,
    RunFinishedEvent,
    StateSnapshotEvent,
    TextMessageContentEvent,
    TextMessageStartEvent,
    TextPart,
    ToolCallEndEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
    UrlSource,
)
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from inbox import engine, sweeper
from inbox.actions.audit.thread_deletion import delete_if_old
from inbox.actions.people.members import change_team
from inbox.actions.runs.cancel_run import cancel_run
from inbox.actions.runs.event_log import encode_frame
from inbox.actions.runs.run_lease import EventBatch, append_events, claim_run
from inbox.actions.runs.start_run import start_run
from inbox.models import Interrupt, Thread
from inbox.rules.people.access import SEED
from tests.support import steps
from tests.support.agents.agent_events import about, asking, proposed
from tests.support.files.samples import png
from tests.support.files.sending import sent
from tests.support.http.rest_client import Caller
from tests.support.steps import (
    approve,
    open_interrupts,
    request,
    resumed_run,
    start,
)
from tests.support.web.pages import words


def test_a_thread_shows_what_was_said_called_and_asked(ask, reads_bob):
    interrupt = ask("tool_call")

    page = reads_bob.get(f"/threads/{interrupt.thread_id}/")

    assert "rehearse:tool_call" in words(page)
    assert "I would like to send an e-mail." in words(page)
    assert '"to": "dana@example.com"' in words(page)
    assert "Waiting for a decision" in words(page)
    assert f'href="/interrupts/{interrupt.pk}/"' in page.content.decode()


def test_a_thread_shows_edits_beside_the_proposal_and_the_result(ask, bob, reads_bob):
    interrupt = ask("tool_call")
    approve(interrupt, bob, editedArgs={"to": "eli@example.com"})
    resumed_run(interrupt.run)

    page = words(reads_bob.get(f"/threads/{interrupt.thread_id}/"))

    assert "Proposed" in page
    assert "dana@example.com" in page
    assert "Approved with changes" in page
    assert "eli@example.com" in page
    assert '"executionCount": 1' in page
    assert "You approved with changes" in page
    assert "The decision is carried out." in page


def test_pages_say_that_an_approval_lapsed(ask, bob, later, reads_bob):
    interrupt = ask("tool_call")
    approve(interrupt, bob)
    later(hours=25)
    engine.execute_run(interrupt.run.resumed_by.pk)

    thread = words(reads_bob.get(f"/threads/{interrupt.thread_id}/"))
    request = words(reads_bob.get(f"/interrupts/{interrupt.pk}/"))

    assert "send_email Approval expired" in thread
    assert "The approval expired before the tool was called" in request


def test_request_says_that_its_run_failed_before_the_call(ask, bob, reads_bob):
    interrupt = ask("tool_call")
    approve(interrupt, bob)
    cancel_run(run_id=interrupt.run.resumed_by.pk, actor=bob)

    page = words(reads_bob.get(f"/interrupts/{interrupt.pk}/"))

    assert "The run ended before the tool was called." in page


def test_request_of_a_remote_agent_does_not_say_that_nothing_was_called(ask, bob, reads_bob):
    interrupt = ask("tool_call")
    approve(interrupt, bob)
    cancel_run(run_id=interrupt.run.resumed_by.pk, actor=bob)
    Interrupt.objects.update(endpoint_digest="0" * 64)

    page = words(reads_bob.get(f"/interrupts/{interrupt.pk}/"))

    assert "The agent may have called the tool. Check before you retry." in page


def test_expired_request_has_no_list_of_changes(ask, later, reads_bob):
    interrupt = ask("tool_call")
    later(days=8)
    sweeper.sweep()

    page = reads_bob.open(interrupt)

    assert "This expired without an answer" in page
    assert re.search(r'<section[^>]* id="changes"[^>]* hidden>', page)


def test_thread_shows_arguments_as_the_agent_wrote_them(world, as_agent, reads_bob):
    async def play(run_input, _context):
        for event in proposed(args='{"to": "Ada", "amount": 35.0}'):
            yield event
        yield asking(run_input, about())

    run = start(world, "go", agent=as_agent(play))

    page = words(reads_bob.get(f"/threads/{run.thread_id}/"))

    assert '{ "to": "Ada", "amount": 35.0 }' in page


@pytest.mark.parametrize(
    ("content", "expected_html"),
    [
        ({"label": "Copying", "done": 2, "total": 5}, "Copying 2 / 5"),
        ({"label": "Copying", "done": 0, "total": 1.5}, "Copying 0 / 1.5"),
        ({"label": "Copying"}, "Copying"),
        ({"label": "Copying", "done": 6, "total": 5}, '"done": 6'),
        ({"label": "Copying", "done": True, "total": 5}, '"done": true'),
        ({"label": "Copying", "done": 1, "total": "5"}, '"total": "5"'),
        ({"label": "Copying", "files": ["a"]}, '"files": ['),
        ({"label": ["Copying"]}, '"label": ['),
    ],
)
def test_progress_is_a_line_and_anything_else_is_shown_whole(
    world, alice, reads_bob, content, expected_html
):
    run = start_run(agent=world.agent, request=request("go"), actor=alice).run
    _, lease = claim_run(run_id=run.pk)
    event = ActivitySnapshotEvent(message_id="p", activity_type="progress", content=content)
    append_events(lease=lease, batch=EventBatch(frames=[encode_frame(event)]))

    page = words(reads_bob.get(f"/threads/{run.thread_id}/"))

    assert expected_html in page


def test_a_failed_run_says_why(world, reads_bob):
    run = start(world, "rehearse:error")

    page = words(reads_bob.get(f"/threads/{run.thread_id}/"))

    assert "Failed" in page
    assert "AGENT_ERROR: The agent failed, as it was asked to." in page


def test_a_thread_shows_what_a_run_that_is_going_on_has_said_so_far(world, alice, reads_bob):
    run = start_run(agent=world.agent, request=request("go"), actor=alice).run
    _, lease = claim_run(run_id=run.pk)
    events = [
        TextMessageStartEvent(message_id="m", role="assistant"),
        TextMessageContentEvent(message_id="m", delta="half a sen"),
    ]
    append_events(lease=lease, batch=EventBatch(frames=[encode_frame(event) for event in events]))

    page = words(reads_bob.get(f"/threads/{run.thread_id}/", live=True))

    assert "half a sen" in page
    assert "Running" in page


def test_a_result_of_content_parts_is_shown_with_its_call(world, as_agent, reads_bob):
    async def play(run_input, ctx):
        yield ToolCallStartEvent(tool_call_id="c1", tool_call_name="draw")
        yield ToolCallEndEvent(tool_call_id="c1")
        source = UrlSource(value="https://example.com/a.png", mime_type="image/png")
        parts = [TextPart(text="A cat."), ImagePart(source=source)]
        yield ToolCallResultEvent(message_id="r1", tool_call_id="c1", content=parts)
        yield RunFinishedEvent(thread_id=run_input.thread_id, run_id=run_input.run_id)

    run = start(world, "draw", agent=as_agent(play))

    page = words(reads_bob.get(f"/threads/{run.thread_id}/"))

    assert "A cat." in page
    assert "Image image/png · https://example.com/a.png" in page
    assert "Done" in page
    assert "Proposed" not in page


def test_parts_of_messages_are_labelled_and_stored_images_have_a_preview(world, reads_bob):
    file = sent(world.key, png(), "photo.png")
    body = {"agent": "rehearsal", "message": "Look", "files": [file["id"]]}
    begun = Caller(world.key).post("/api/runs", body).json()
    engine.execute_run(UUID(begun["id"]))

    page = reads_bob.get(f"/threads/{begun['thread']}/")

    assert f'src="/files/{file["id"]}/pages/1"' in page.content.decode()
    assert "photo.png image/png" in words(page)


def test_inline_data_has_its_type_and_size_and_no_link(world, as_agent, reads_bob):
    async def play(run_input, ctx):
        yield ToolCallStartEvent(tool_call_id="c1", tool_call_name="draw")
        yield ToolCallEndEvent(tool_call_id="c1")
        source = DataSource(value="AAAA" * 512, mime_type="image/png\u202e")
        foreign = UrlSource(value=f"/files/{uuid4()}/#sha256={'0' * 64}")
        parts = [ImagePart(source=source), ImagePart(source=foreign)]
        yield ToolCallResultEvent(message_id="r1", tool_call_id="c1", content=parts)
        yield RunFinishedEvent(thread_id=run_input.thread_id, run_id=run_input.run_id)

    run = start(world, "draw", agent=as_agent(play))

    page = reads_bob.get(f"/threads/{run.thread_id}/")

    assert "1.5 KB" in words(page)
    assert "\u202e" not in page.content.decode()
    assert 'href="/files/' not in page.content.decode()
    assert 'src="/files/' not in page.content.decode()


def test_every_open_interrupt_is_linked(world, reads_bob):
    interrupts = open_interrupts(start(world, "rehearse:parallel3"))

    page = reads_bob.get(f"/threads/{interrupts[0].thread_id}/").content.decode()

    waiting = page.partition('id="waterfall"')[2].partition("</section>")[0]
    assert all(f"/interrupts/{interrupt.pk}/" in waiting for interrupt in interrupts)


def test_a_long_thread_shows_its_end_and_a_way_to_its_start(world, reads_bob):
    for number in range(110):
        run = start(world, f"line number {number}", thread_id="long")

    page = reads_bob.get(f"/threads/{run.thread_id}/")

    assert "line number 109" in words(page)
    assert "line number 9 " not in words(page)
    assert "Show 20 earlier messages" in words(page)
    assert "line number 9 " in words(reads_bob.get(f"/threads/{run.thread_id}/?all=1"))


def test_a_thread_shows_the_state_that_its_agent_shares(world, as_agent, reads_bob):
    async def play(run_input, ctx):
        yield StateSnapshotEvent(snapshot={"step": "packing", "hidden": "\u202e"})
        yield RunFinishedEvent(thread_id=run_input.thread_id, run_id=run_input.run_id)

    run = start(world, "pack", agent=as_agent(play))

    page = reads_bob.get(f"/threads/{run.thread_id}/")

    assert '"step": "packing"' in words(page)
    assert "\\u202e" in words(page)


def test_pages_read_no_input_of_earlier_runs(world, alice, reads_bob):
    run = start(world, "rehearse:echo", thread_id="long")
    for _ in range(3):
        start(world, "rehearse:echo", thread_id="long")
    interrupt = open_interrupts(start(world, "rehearse:tool_call", thread_id="long"))[0]

    for path in (
        f"/threads/{run.thread_id}/",
        "/runs/",
        f"/interrupts/{interrupt.pk}/",
    ):
        with CaptureQueriesContext(connection) as done:
            reads_bob.get(path)

        inputs = [query["sql"] for query in done if '"inbox_run"."input"' in query["sql"]]
        of_one_run = ("LIMIT 1", interrupt.run_id.hex, str(interrupt.run_id))
        assert all(any(part in sql for part in of_one_run) for sql in inputs)


def test_pages_of_a_deleted_thread_say_when_and_why(ask, bob, world, reads_bob, later):
    interrupt = ask("tool_call")
    approve(interrupt, bob)
    resumed_run(interrupt.run)
    change_team(team_id=world.team.pk, thread_days=30, actor=SEED)
    later(days=31)
    assert delete_if_old(thread_id=interrupt.thread_id)

    for path in (f"/threads/{interrupt.thread_id}/", reverse("interrupt", args=[interrupt.pk])):
        page = reads_bob.client.get(path)
        assert page.status_code == 404
        assert "(days without activity: 30)" in page.content.decode()
    unknown = reads_bob.client.get(f"/threads/{uuid4()}/")
    assert "or you don't have access" in unknown.content.decode()
    history = words(reads_bob.get(f"/audit/threads/{interrupt.thread_id}/"))
    assert "deleted the thread because of its age" in history


def test_administrators_keep_a_thread_and_others_see_it(ask, reads_ana, reads_bob):
    thread = ask("tool_call").thread_id
    page = f"/threads/{thread}/"
    assert "Keep this thread" in words(reads_ana.get(page))
    assert "Keep this thread" not in words(reads_bob.get(page))

    reads_ana.client.post(f"{page}keep", {"keep": "1"})

    assert Thread.objects.get(pk=thread).is_kept
    assert "Kept whatever its age" in words(reads_bob.get(page))
    reads_ana.client.post(f"{page}keep", {"keep": "0"})
    assert not Thread.objects.get(pk=thread).is_kept


def test_the_result_of_a_clients_tool_is_named_so(world, reads_bob):
    tools = [{"name": "show_map", "description": "", "parameters": {}}]

    def send(*messages):
        draft = request(thread_id="t1")
        sent_input = {**draft.input, "messages": messages, "tools": tools}
        message = replace(draft, input=sent_input)
        accepted = start_run(agent=world.agent, request=message, actor=world.actor(world.bob))
        return steps.drive(accepted)

    run = send(steps.user_message("rehearse:client_tool"))
    call = run.tool_calls.get()
    send({"id": "m", "role": "tool", "toolCallId": call.tool_call_id, "content": "Bergen shown"})

    page = words(reads_bob.get(f"/threads/{run.thread_id}/"))
    assert "Result from the client" in page
    assert "Bergen shown" in page
    trail = words(reads_bob.get(reverse("audit_call", args=[call.pk])))
    assert "A tool of the client" in trail
    assert "The client of the run made the call." in trail
