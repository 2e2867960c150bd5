"""Files in a bucket instead of the data directory."""

from hashlib import sha256
from pathlib import Path

import pytest

from inbox.actions.files.file_erasure import delete_dead_blobs, erase_file
from inbox.actions.files.uploads import upload_for_agent
from inbox.models import File, StoredBlob
from inbox.platform.clock import database_now
from inbox.platform.files.received_files import received_bytes
from inbox.platform.files.storage import storage_options
from inbox.queries.files.files import CHUNK_BYTES, chunks_of, file_for, open_file
from inbox.rules.errors import FileErased, StorageFull
from inbox.rules.people.access import SEED
from tests.support.files.fake_bucket import fake_bucket

CONTENT = b"name;amount\n" * 100_000


@pytest.fixture
def bucket(settings, monkeypatch):
    pytest.importorskip("boto3")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with fake_bucket() as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
        files = storage_options("s3://files/signoff", Path(settings.FILES_DIR))
        settings.STORAGES = {**settings.STORAGES, "files": files}
        yield server


def upload(world):
    return upload_for_agent(
        team_id=world.team.pk,
        agent_id=world.agent.pk,
        file=received_bytes(CONTENT, "a.csv"),
        actor=SEED,
    )


def test_a_bucket_has_the_bytes_under_the_key_of_the_file(world, bucket):
    row = upload(world)

    assert bucket.objects == {f"/files/signoff/{row.blob.key}": CONTENT}
    assert row.sha256 in row.blob.key


def test_a_file_in_a_bucket_is_read_in_chunks(world, bucket, alice):
    row = upload(world)

    chunks = list(chunks_of(open_file(file_for(alice, row.pk))))

    assert max(map(len, chunks)) == CHUNK_BYTES
    assert sha256(b"".join(chunks)).hexdigest() == row.sha256


def test_erasing_a_file_deletes_its_object(world, bucket, django_capture_on_commit_callbacks):
    row = upload(world)

    with django_capture_on_commit_callbacks(execute=True):
        erase_file(file_id=row.pk, actor=SEED)

    assert bucket.objects == {}
    assert not StoredBlob.objects.exists()


def test_an_object_that_is_missing_is_an_erased_file(world, bucket, alice):
    row = upload(world)
    bucket.objects.clear()

    with pytest.raises(FileErased):
        open_file(file_for(alice, row.pk))


def test_a_bucket_that_is_away_refuses_uploads_and_nothing_is_left(world, bucket):
    bucket.is_away = True
    with pytest.raises(StorageFull):
        upload(world)
    bucket.is_away = False

    delete_dead_blobs(written_before=database_now())

    assert not File.objects.exists()
    assert not StoredBlob.objects.exists()
    assert bucket.objects == {}
