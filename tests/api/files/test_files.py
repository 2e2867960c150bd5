"""REST: files: sending, reading, loading and erasing them."""

import hashlib
import json
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from inbox import engine
from inbox.models import AuditEntry, File, StoredBlob
from inbox.queries.runs.delivered_interrupts import interrupts_of_run
from tests.support.files.asking import request_with, request_with_file
from tests.support.files.samples import HTML, png
from tests.support.files.sending import body_of, broken_references, orphans, send, sent


def test_a_sent_file_is_described_and_loaded(world, key_with):
    content = png()

    file = sent(world.key, content, "photo.png")
    read = key_with("read").get(f"/api/files/{file['id']}").json()
    loaded = key_with("read").get(f"/api/files/{file['id']}/content")

    assert file["sha256"] == hashlib.sha256(content).hexdigest()
    assert (read["name"], read["media_type"], read["size"]) == (
        "photo.png",
        "image/png",
        len(content),
    )
    assert body_of(loaded) == content


def test_a_download_is_an_attachment_in_a_sandbox(world):
    file = sent(world.key, HTML, "page.html")

    answer = Client().get(file["url"].partition("#")[0])

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="page.html"'
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none';")


def test_a_link_expires_and_reading_the_file_renews_it(world, settings, key_with):
    settings.FILE_LINK_SECONDS = 0
    file = sent(world.key, png(), "photo.png")
    settings.FILE_LINK_SECONDS = 60

    expired = Client().get(file["url"].partition("#")[0])
    renewed = key_with("read").get(f"/api/files/{file['id']}").json()["url"]

    assert expired.status_code == 410
    assert Client().get(renewed.partition("#")[0]).status_code == 200


def test_a_changed_link_loads_nothing(world):
    first, second = sent(world.key, png(), "a.png"), sent(world.key, png(9), "b.png")
    query = urlsplit(first["url"]).query

    other = Client().get(f"/files/{second['id']}/?{query}")
    later = Client().get(f"/files/{first['id']}/?{query.replace('expires=1', 'expires=2')}")
    bare = Client().get(f"/files/{first['id']}/")

    assert (other.status_code, later.status_code) == (410, 410)
    assert bare.status_code == 302


def test_members_load_a_file_and_strangers_do_not(world, client):
    file = sent(world.key, png(), "photo.png")
    answers = {}
    for person in (world.alice, world.carol):
        client.force_login(person)
        answers[person.username] = client.get(f"/files/{file['id']}/").status_code

    assert answers == {"alice": 200, "carol": 404}


def test_the_same_bytes_are_stored_once_for_a_team(world):
    content = png()

    ids = {sent(world.key, content, name)["id"] for name in ("a.png", "b.png")}

    assert len(ids) == 2
    assert StoredBlob.objects.count() == 1
    assert (orphans(), broken_references()) == (set(), [])


def test_erasing_deletes_the_bytes_with_the_last_file(
    world, key_with, django_capture_on_commit_callbacks
):
    content = png()
    first, second = (sent(world.key, content, name) for name in ("a.png", "b.png"))
    admin = key_with("admin", "read")

    with django_capture_on_commit_callbacks(execute=True):
        admin.delete(f"/api/files/{first['id']}")
    shared = admin.get(f"/api/files/{second['id']}/content")
    with_bytes = (shared.status_code, body_of(shared))
    with django_capture_on_commit_callbacks(execute=True):
        admin.delete(f"/api/files/{second['id']}")
    gone = admin.get(f"/api/files/{second['id']}/content")

    assert with_bytes == (200, content)
    assert (gone.status_code, gone.json()["code"]) == (410, "FILE_ERASED")
    assert not StoredBlob.objects.exists()
    assert orphans() == set()
    assert list(File.objects.values_list("name", flat=True)) == ["", ""]


def test_too_large_files_and_full_teams_are_refused(world, settings):
    settings.FILE_BYTES = 1_000
    large = send(world.key, b"x" * 1_001, "a.txt")
    settings.FILE_BYTES, settings.TEAM_FILE_BYTES = 10_000, 1_500
    sent(world.key, b"x" * 1_000, "a.txt")
    full = send(world.key, b"y" * 1_000, "b.txt")
    again = send(world.key, b"x" * 1_000, "c.txt")

    assert (large.status_code, large.json()["code"]) == (413, "FILE_TOO_LARGE")
    assert (full.status_code, full.json()["code"]) == (413, "FILE_QUOTA_REACHED")
    assert again.status_code == 201
    assert orphans() == set()


def test_uploads_downloads_and_erasures_are_audited(world, key_with):
    file = sent(world.key, png(), "photo.png")
    key_with("read").get(f"/api/files/{file['id']}/content")
    key_with("admin").delete(f"/api/files/{file['id']}")

    actions = AuditEntry.objects.filter(action__startswith="file.").order_by("pk")

    assert list(actions.values_list("action", flat=True)) == [
        "file.uploaded",
        "file.downloaded",
        "file.erased",
    ]


def test_a_run_names_files_that_become_parts_of_its_message(world, key_with):
    file = sent(world.key, png(), "photo.png")
    api = key_with("run", "read")

    begun = api.post(
        "/api/runs", {"agent": "rehearsal", "message": "Look", "files": [file["id"]]}
    ).json()
    engine.execute_run(UUID(begun["id"]))

    text, part = api.get(f"/api/threads/{begun['thread']}/messages").json()["results"][0]["content"]
    assert text == {"type": "text", "text": "Look"}
    assert (part["type"], part["metadata"]["filename"]) == ("image", "photo.png")
    assert part["source"]["value"] == f"/files/{file['id']}/#sha256={file['sha256']}"
    assert str(File.objects.get().thread_id) == begun["thread"]


def test_a_run_names_no_file_of_another_agent(world, key_with, as_agent):
    other = as_agent(None)
    file = send(world.key, png(), "photo.png", other.slug).json()

    answer = key_with("run").post(
        "/api/runs", {"agent": "rehearsal", "message": "Look", "files": [file["id"]]}
    )

    assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_VALUE")
    assert File.objects.get().thread_id is None


def test_a_request_shows_its_files_with_links_that_load_them(world, key_with, as_agent):
    content = png()
    interrupt = request_with_file(world, as_agent, content)
    api = key_with("read")

    read = api.get(f"/api/interrupts/{interrupt.pk}").json()
    (listed,) = api.get("/api/interrupts").json()["results"]

    (file,) = read["files"]
    assert list(file) == ["id", "name", "media_type", "size", "sha256", "url"]
    assert (file["name"], file["sha256"]) == ("photo.png", hashlib.sha256(content).hexdigest())
    assert [item["id"] for item in listed["files"]] == [file["id"]]
    assert body_of(Client().get(file["url"].partition("#")[0])) == content


def test_the_list_makes_no_further_query_for_files(world, key_with, as_agent):
    api = key_with("read")
    request_with(world, as_agent, reason="input_required")
    api.get("/api/interrupts")
    with CaptureQueriesContext(connection) as without_files:
        api.get("/api/interrupts")

    request_with_file(world, as_agent, png())
    with CaptureQueriesContext(connection) as with_files:
        rows = api.get("/api/interrupts").json()["results"]

    assert sorted(len(row["files"]) for row in rows) == [0, 1]
    assert len(with_files) == len(without_files)


def test_the_wire_has_references_with_links_that_work_for_an_hour(world, as_agent):
    interrupt = request_with_file(world, as_agent, png())

    finished = json.loads(interrupt.run.events.order_by("-seq").first().body)
    (sent_again,) = interrupts_of_run(interrupt.thread, interrupt.run)

    for body in (*finished["outcome"]["interrupts"], sent_again.body):
        (file,) = body["metadata"]["signoff"]["files"]
        query = parse_qs(urlsplit(file["url"]).query)
        lifetime = int(query["expires"][0]) - interrupt.created_at.timestamp()
        assert list(file) == ["id", "name", "media_type", "size", "sha256", "url"]
        assert 3590 < lifetime < 3700
        assert body_of(Client().get(file["url"].partition("#")[0])) == png()
