"""Files whose bytes or digests were changed behind the product are neither served nor approved."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from ag_ui.core import Interrupt as WireInterrupt
from django.conf import settings
from django.test import Client

from inbox.actions.decisions.decide import decide
from inbox.actions.runs.start_run import RunRequest, start_run
from inbox.models import File, Interrupt, StoredBlob
from inbox.queries.files.files import link_to
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance
from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.states import EntryStatus
from inbox.transparency_log.reconciliation import reconcile
from tests.support.agents.agent_events import asking, proposed
from tests.support.files.asking import request_with_file
from tests.support.files.samples import png
from tests.support.files.sending import body_of, sent
from tests.support.http.rest_client import Caller
from tests.support.steps import answer, open_interrupts, reread, start
from tests.support.web.pages import Reader


def replace_bytes(content: bytes) -> None:
    """Write other bytes to the store, as anybody who can write to a bucket or a volume may."""
    path = Path(settings.FILES_DIR) / "stored" / StoredBlob.objects.get().key
    path.chmod(0o600)
    path.write_bytes(content)


@pytest.fixture
def request_row(world, as_agent):
    return request_with_file(world, as_agent, png())


@pytest.fixture
def file(request_row):
    return File.objects.get()


def test_changed_bytes_are_not_served(world, client, request_row, file):
    url = link_to(file.reference, "")
    client.force_login(world.bob)
    replace_bytes(png(9))

    answers = [
        Caller(world.key).get(f"/api/files/{file.pk}/content"),
        Client().get(url.partition("#")[0]),
        client.get(f"/files/{file.pk}/"),
        client.get(f"/files/{file.pk}/pages/1"),
    ]

    assert [each.status_code for each in answers] == [409] * 4
    page = client.get(f"/files/{file.pk}/view/").content.decode()
    assert "changed after it was sent" in page
    assert answers[0].json()["code"] == "FILE_CHANGED"
    assert "changed after it was sent" in answers[1].content.decode()
    assert "changed after it was sent" in answers[2].content.decode()


def test_unchanged_bytes_are_served(world, request_row, file):
    assert body_of(Caller(world.key).get(f"/api/files/{file.pk}/content")) == png()


def test_no_request_with_changed_bytes_is_approved(world, request_row, bob):
    replace_bytes(png(9))

    with pytest.raises(errors.FileChanged):
        answer(request_row, bob, "Rome")
    answered = Caller(world.key).post(
        f"/api/interrupts/{request_row.pk}/decide",
        {"status": "resolved", "payload": "Rome", "view_digest": request_row.shown_digest},
    )

    assert (answered.status_code, answered.json()["code"]) == (409, "FILE_CHANGED")
    assert reread(request_row).status == "open"


@pytest.mark.parametrize(
    ("person", "refusal"), [("carol", errors.NotFound), ("alice", errors.Forbidden)]
)
def test_bytes_are_not_read_for_those_who_may_not_decide(
    world, request_row, person, refusal, request
):
    replace_bytes(png(9))

    with pytest.raises(refusal):
        answer(request_row, request.getfixturevalue(person), "Rome")


def test_no_agui_client_without_a_right_to_decide_learns_of_bytes(world, request_row, alice):
    replace_bytes(png(9))
    entries = (ResumeEntry(request_row.interrupt_id, EntryStatus.RESOLVED, "Rome"),)
    thread = request_row.thread
    body = RunRequest(thread_id=thread.external_id, run_id="r-2", input={}, entries=entries)

    with pytest.raises(errors.Forbidden):
        start_run(agent=thread.agent, request=body, actor=alice)


def test_the_page_says_that_a_file_has_changed(world, client, request_row):
    client.force_login(world.bob)
    reader = Reader(client)
    form = reader.form(request_row).post().copy()
    form["answer"] = "Rome"
    replace_bytes(png(9))

    page = reader.post(request_row, form, "answer")

    assert page.status_code == 422
    assert "changed after it was sent" in page.content.decode()
    assert reread(request_row).status == "open"


def test_no_agui_client_approves_changed_bytes(world, request_row):
    replace_bytes(png(9))
    entries = (ResumeEntry(request_row.interrupt_id, EntryStatus.RESOLVED, "Rome"),)
    thread = request_row.thread

    with pytest.raises(errors.FileChanged):
        start_run(
            agent=thread.agent,
            request=RunRequest(
                thread_id=thread.external_id, run_id="r-2", input={}, entries=entries
            ),
            actor=world.actor(world.bob),
        )

    assert reread(request_row).status == "open"


def test_a_request_with_changed_bytes_can_be_cancelled(request_row, bob):
    replace_bytes(png(9))

    decide(
        interrupt_id=request_row.pk,
        status=EntryStatus.CANCELLED,
        actor=bob,
        view_digest=request_row.shown_digest,
        entrance=Entrance.PAGE,
    )

    assert reread(request_row).status == "cancelled"


def test_a_changed_digest_with_fitting_bytes_is_not_approved(request_row, bob):
    other = png(9)
    replace_bytes(other)
    forged = hashlib.sha256(other).hexdigest()
    File.objects.update(sha256=forged)
    StoredBlob.objects.update(sha256=forged)

    with pytest.raises(errors.FileChanged):
        answer(request_row, bob, "Rome")


def test_a_file_in_arguments_is_checked_as_well(world, as_agent, bob):
    urls: list[str] = []

    async def play(run_input: Any, context: Any) -> Any:
        for event in proposed("t", "send", json.dumps({"file": urls[0]})):
            yield event
        yield asking(run_input, WireInterrupt(id="i", reason="tool_call", tool_call_id="t"))

    agent = as_agent(play)
    sent_file = sent(world.key, png(), "photo.png", agent=agent.slug)
    urls.append(f"/files/{sent_file['id']}/#sha256={sent_file['sha256']}")
    (row,) = open_interrupts(start(world, "go", agent=agent))
    replace_bytes(png(9))

    with pytest.raises(errors.FileChanged):
        answer(row, bob, {"approved": True})


@pytest.mark.parametrize("is_decided", [False, True])
@pytest.mark.parametrize("rows", [File, StoredBlob])
def test_the_verification_compares_digests_of_files(request_row, bob, rows, is_decided):
    if is_decided:
        answer(request_row, bob, "Rome")
    assert reconcile(request_row.thread_id) == []

    rows.objects.update(sha256="0" * 64)

    (finding,) = reconcile(request_row.thread_id)
    assert (finding[0], finding[1]) == ("file", "file_differs")


def test_the_verification_computes_the_view_digest_again(request_row):
    files = json.loads(request_row.files)
    files[0]["sha256"] = "0" * 64
    Interrupt.objects.update(files=json.dumps(files))

    codes = {finding[1] for finding in reconcile(request_row.thread_id)}

    assert codes == {"file_differs", "interrupt_differs"}
