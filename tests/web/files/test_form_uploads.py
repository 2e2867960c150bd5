"""Uploads in the decision form, without scripts."""

import base64
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from inbox.models import File
from tests.support.files.asking import request_with
from tests.support.files.samples import HTML, pdf, png
from tests.support.files.sending import broken_references, orphans
from tests.support.web.pages import sent, words

URL = {"type": "string", "contentMediaType": "image/*"}
ONE = {"type": "object", "properties": {"photo": URL}, "required": ["photo"]}


def press(reader, interrupt, action, files, *, draft="", **fields):
    """Send the decision form with files."""
    form = reader.form(interrupt).post().dict()
    form |= {"action": action} if action else {"draft": draft}
    return reader.client.post(
        f"/interrupts/{interrupt.pk}/decide",
        {**form, **fields, **files},
    )


def file(content, name="photo.png"):
    return SimpleUploadedFile(name, content)


def test_a_text_with_a_media_type_becomes_an_upload(world, as_agent, reads_bob):
    interrupt = request_with(world, as_agent, response_schema=ONE)
    page = reads_bob.open(interrupt)

    done = press(reads_bob, interrupt, "answer", {"answer/photo@file": file(png())})

    row = File.objects.get()
    assert 'type="file"' in page
    assert "An image of up to 100.0\xa0MB." in page
    assert done.status_code == 303
    address = f"http://testserver/files/{row.pk}/#sha256={row.sha256}"
    assert sent(interrupt) == {"photo": address}
    assert (row.thread_id, orphans(), broken_references()) == (interrupt.thread_id, set(), [])


def test_an_object_with_a_media_type_is_the_reference(world, as_agent, reads_bob):
    names = ("id", "name", "sha256", "url")
    schema = {
        "type": "object",
        "contentMediaType": "application/pdf",
        "properties": {name: {"type": "string"} for name in names},
        "required": list(names),
        "additionalProperties": False,
    }
    interrupt = request_with(world, as_agent, response_schema=schema)

    press(reads_bob, interrupt, "answer", {"answer@file": file(pdf(), "invoice.pdf")})

    row = File.objects.get()
    assert sent(interrupt) == {
        "id": str(row.pk),
        "name": "invoice.pdf",
        "sha256": row.sha256,
        "url": f"http://testserver/files/{row.pk}/#sha256={row.sha256}",
    }


def test_a_request_for_a_file_without_a_schema_takes_any_file(world, as_agent, reads_bob):
    interrupt = request_with(world, as_agent)

    press(reads_bob, interrupt, "answer", {"answer@file": file(b"a,b\r\n1,2\r\n", "table.csv")})

    assert sent(interrupt).keys() == {"id", "name", "media_type", "size", "sha256", "url"}
    assert sent(interrupt)["media_type"] == "text/csv"


def test_base64_content_is_sent_itself(world, as_agent, reads_bob):
    schema = {"type": "string", "contentMediaType": "image/png", "contentEncoding": "base64"}
    interrupt = request_with(world, as_agent, response_schema=schema)

    press(reads_bob, interrupt, "answer", {"answer@file": file(png())})

    assert sent(interrupt) == base64.b64encode(png()).decode()


def test_a_list_of_files_takes_several_at_once(world, as_agent, reads_bob):
    schema = {"type": "array", "items": URL, "maxItems": 3}
    interrupt = request_with(world, as_agent, response_schema=schema)

    done = press(reads_bob, interrupt, "answer", {"answer@file": [file(png(4)), file(png(5))]})

    ids = [str(row.pk) for row in File.objects.order_by("pk")]
    assert done.status_code == 303
    assert [address.split("/")[4] for address in sent(interrupt)] == ids


def test_the_upload_button_shows_the_file_before_it_is_sent(world, as_agent, reads_bob):
    interrupt = request_with(world, as_agent, response_schema=ONE)

    page = press(
        reads_bob,
        interrupt,
        "",
        {"answer/photo@file": file(png(), "cat.png")},
        draft="upload:answer/photo",
    )

    row = File.objects.get()
    assert "cat.png" in words(page)
    assert f'value="{row.pk}"' in page.content.decode()
    fields = {"answer/photo": str(row.pk)}
    assert press(reads_bob, interrupt, "answer", {}, **fields).status_code == 303
    assert sent(interrupt)["photo"].endswith(row.sha256)


@pytest.mark.parametrize(
    ("content", "name", "problem"),
    [
        (HTML, "photo.png", "This file is text/html, and the agent asks for image/*."),
        (pdf(), "photo.png", "This file is application/pdf, and the agent asks for image/*."),
        (b"", "photo.png", "The file is empty."),
        (b"\x89PNG\r\n\x1a\n" + b"x" * 2_000_000, "big.png", "A file has up to 1 MiB"),
    ],
    ids=["html", "pdf", "empty", "too large"],
)
def test_a_refused_file_is_an_error_of_its_field(
    world, as_agent, reads_bob, settings, content, name, problem
):
    settings.FILE_BYTES = settings.MIB
    interrupt = request_with(world, as_agent, response_schema=ONE)

    page = press(reads_bob, interrupt, "answer", {"answer/photo@file": file(content, name)})

    assert page.status_code == 422
    assert problem in words(page)
    assert interrupt.decisions.count() == 0
    assert orphans() == set()


def test_a_missing_file_is_an_error_of_its_field(world, as_agent, reads_bob):
    interrupt = request_with(world, as_agent, response_schema=ONE)

    page = press(reads_bob, interrupt, "answer", {})

    assert page.status_code == 422
    assert "Choose a file for “Photo”." in words(page)


def test_a_file_of_another_request_is_not_part_of_an_answer(world, as_agent, reads_bob):
    first = request_with(world, as_agent, response_schema=ONE)
    second = request_with(world, as_agent, response_schema=ONE)
    press(
        reads_bob,
        first,
        "",
        {"answer/photo@file": file(png())},
        draft="upload:answer/photo",
    )
    row = File.objects.get()

    page = press(reads_bob, second, "answer", {}, **{"answer/photo": str(row.pk)})

    assert page.status_code == 422
    assert "This file no longer exists. Upload it again." in words(page)


def test_scripts_upload_before_the_form_is_sent(world, as_agent, reads_bob, reads_alice):
    interrupt = request_with(world, as_agent, response_schema=ONE)
    address = f"/interrupts/{interrupt.pk}/files"
    body = {"file": file(png()), "accepts": "image/*"}

    stored = reads_bob.client.post(address, body)
    wrong = reads_bob.client.post(address, {"file": file(HTML), "accepts": "image/*"})
    viewer = reads_alice.client.post(address, {"file": file(png())})

    assert stored.status_code == 200
    assert json.loads(stored.content)["name"] == "photo.png"
    assert (wrong.status_code, viewer.status_code) == (422, 403)


@pytest.mark.parametrize("reason", ["upload_required", "draft:upload_required"])
def test_a_reason_that_asks_for_a_file_has_an_upload(world, as_agent, reads_bob, reason):
    schema = {"type": "object", "properties": {"url": {"type": "string", "format": "uri"}}}
    interrupt = request_with(world, as_agent, reason=reason, response_schema=schema)

    assert 'type="file"' in reads_bob.open(interrupt)
