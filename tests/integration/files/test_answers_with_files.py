"""Links to the files of an answer that agents get, and the files that an answer may have."""

import json

import pytest
from django.test import Client

from inbox.actions.files.file_erasure import erase_files_of_thread
from inbox.actions.files.uploads import upload_to_request
from inbox.models import File, Run
from inbox.platform.clock import database_now
from inbox.platform.files.received_files import received_bytes
from inbox.queries.runs.run_assignment import load_assignment
from inbox.rules.decisions.consent import VIEW_VERSION, has_files
from inbox.rules.errors import InvalidPayload
from tests.support.files.asking import request_with, request_with_file, run_that_names
from tests.support.files.samples import png
from tests.support.files.sending import sent
from tests.support.steps import answer


def stored(row):
    return f"https://signoff.example/files/{row.pk}/#sha256={row.sha256}"


def upload(interrupt, actor):
    file = received_bytes(png(), "photo.png")
    return upload_to_request(interrupt_id=interrupt.pk, file=file, actor=actor)


def test_the_agent_gets_a_link_that_loads_the_file(world, as_agent, bob):
    interrupt = request_with(world, as_agent)
    row = upload(interrupt, bob)
    answer(interrupt, bob, {"url": stored(row)})
    run = Run.objects.select_related("thread__agent", "thread__team", "resumes").get(
        resumes=interrupt.run
    )

    assignment = load_assignment(run, restartable=True, endpoint_digest="")

    (entry,) = [answer.resume_entry for answer in assignment.answers]
    path = entry.payload["url"].removeprefix("https://signoff.example").partition("#")[0]
    loaded = Client().get(path)
    assert entry.payload["url"].endswith(f"#sha256={row.sha256}")
    assert b"".join(loaded.streaming_content) == png()


def test_an_answer_is_bound_to_the_bytes_of_its_files(world, as_agent, bob):
    interrupt = request_with(world, as_agent)
    row = upload(interrupt, bob)

    with pytest.raises(InvalidPayload):
        answer(interrupt, bob, {"url": stored(row).replace(row.sha256, "0" * 64)})

    assert File.objects.get().thread_id is None


def test_an_answer_takes_no_file_of_another_team(world, as_agent, bob, carol):
    from inbox.actions.files.uploads import upload_for_agent
    from inbox.actions.people.provisioning import ensure_agent
    from inbox.models import Team
    from inbox.rules.people.access import SEED

    others = Team.objects.get(slug="others")
    agent = ensure_agent(
        team=others, slug="theirs", implementation="rehearsal", description="", actor=SEED
    )
    row = upload_for_agent(
        team_id=others.pk, agent_id=agent.pk, file=received_bytes(png(), "a.png"), actor=carol
    )
    interrupt = request_with(world, as_agent)

    with pytest.raises(InvalidPayload):
        answer(interrupt, bob, {"url": stored(row)})


def test_an_erased_file_is_no_longer_loaded(world, as_agent, bob):
    interrupt = request_with(world, as_agent)
    row = upload(interrupt, bob)
    answer(interrupt, bob, {"url": stored(row)})

    erased = erase_files_of_thread(thread=interrupt.thread, actor=bob, now=database_now())

    row.refresh_from_db()
    assert (erased, row.blob_id, row.name) == (1, None, "")


def test_attached_files_are_part_of_the_view_digest(world, as_agent):
    requests = [request_with_file(world, as_agent, png(size)) for size in (4, 5, 4)]

    first, other, same_bytes = (json.loads(row.files)[0]["sha256"] for row in requests)

    assert first == same_bytes != other
    assert all(has_files(row.view_version) for row in requests)
    assert all(row.digest_at_creation() == row.view_digest for row in requests)
    changed = requests[0]
    changed.files = changed.files.replace(first, other)
    assert changed.digest_at_creation() != changed.view_digest


def test_a_request_without_files_keeps_its_formula(world, as_agent):
    interrupt = request_with(world, as_agent)

    assert (interrupt.files, interrupt.view_version) == (None, VIEW_VERSION)


def test_a_request_with_a_file_of_another_agent_fails_the_run(world, as_agent):
    file = sent(world.key, png(), "photo.png")

    run = run_that_names(world, as_agent, file["id"])

    assert (run.status, run.error_code) == ("failed", "PROTOCOL_VIOLATION")
