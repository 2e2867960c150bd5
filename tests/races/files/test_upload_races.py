"""Uploads of the same bytes at the same moment, beside erasures, requests and the sweeper."""

from datetime import timedelta
from functools import partial

import pytest

from inbox.actions.files.attachments import take_files_of_run
from inbox.actions.files.file_erasure import delete_dead_blobs, delete_leftovers, erase_file
from inbox.actions.files.uploads import upload_for_agent
from inbox.models import File, StoredBlob, Thread
from inbox.models.files.files import BlobState
from inbox.platform.clock import database_now
from inbox.platform.files.received_files import received_bytes
from inbox.rules.people.access import SEED
from tests.support.files.sending import broken_references, orphans
from tests.support.races.concurrently import at_once, failures, rounds
from tests.support.steps import start

CONTENT = b"the same bytes" * 1_000
ROUNDS = range(rounds(short=5, long=100))


def upload(world):
    return upload_for_agent(
        team_id=world.team.pk,
        agent_id=world.agent.pk,
        file=received_bytes(CONTENT, "a.txt"),
        actor=SEED,
    )


@pytest.mark.parametrize("number", ROUNDS)
def test_the_same_bytes_sent_at_once_are_stored_once(committed_world, number):
    outcomes = at_once([partial(upload, committed_world)] * 6)

    assert failures(outcomes) == []
    assert StoredBlob.objects.filter(state=BlobState.STORED).count() == 1
    assert File.objects.filter(erased_at=None).count() == 6
    assert (orphans(), broken_references()) == (set(), [])


@pytest.mark.parametrize("number", ROUNDS)
def test_an_upload_beside_the_erasure_of_the_last_copy_keeps_its_bytes(committed_world, number):
    first = upload(committed_world)

    outcomes = at_once(
        [
            partial(erase_file, file_id=first.pk, actor=SEED),
            *[partial(upload, committed_world)] * 3,
            partial(delete_dead_blobs, written_before=database_now() - timedelta(hours=1)),
        ]
    )

    assert failures(outcomes) == []
    assert File.objects.filter(erased_at=None).count() == 3
    assert (orphans(), broken_references()) == (set(), [])


@pytest.mark.parametrize("number", ROUNDS)
def test_a_file_that_a_run_takes_is_not_erased_as_unused(committed_world, number):
    thread = start(committed_world, "rehearse:echo").thread
    row = upload(committed_world)
    File.objects.filter(pk=row.pk).update(created_at=database_now() - timedelta(days=2))

    outcomes = at_once([partial(_taken, thread.pk, row.pk), delete_leftovers, delete_leftovers])

    row.refresh_from_db()
    is_taken = outcomes[0] is True
    assert (row.thread_id is not None, row.erased_at is None) == (is_taken, is_taken)
    assert broken_references() == []


def _taken(thread_id, file_id):
    thread = Thread.objects.get(pk=thread_id)
    return [row.pk for row in take_files_of_run(thread, [file_id])] == [file_id]
