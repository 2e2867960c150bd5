"""The page of a request with attached files, and the preview of one."""

from uuid import UUID

from inbox import engine
from inbox.models import Interrupt
from tests.support.files.asking import request_with, request_with_file
from tests.support.files.samples import pdf, png
from tests.support.files.sending import sent
from tests.support.http.rest_client import Caller
from tests.support.web.pages import words


def test_a_request_shows_its_files_with_a_picture_and_a_download(world, as_agent, reads_bob):
    interrupt = request_with_file(world, as_agent, png())

    page = reads_bob.open(interrupt)

    assert "Attached files" in page
    assert "photo.png" in page
    assert "/pages/1" in page


def test_a_request_without_files_costs_no_further_query(
    world, as_agent, reads_bob, django_assert_max_num_queries
):
    interrupt = request_with(world, as_agent, reason="input_required")
    reads_bob.open(interrupt)

    with django_assert_max_num_queries(60) as queries:
        reads_bob.open(interrupt)

    assert not any("inbox_file" in query["sql"] for query in queries.captured_queries)


def test_a_file_of_a_message_is_a_card_in_the_conversation_of_a_request(world, reads_bob):
    file = sent(world.key, png(), "photo.png")
    body = {"agent": "rehearsal", "message": "rehearse:tool_call", "files": [file["id"]]}
    run = Caller(world.key).post("/api/runs", body).json()
    engine.execute_run(UUID(run["id"]))
    (interrupt,) = Interrupt.objects.all()

    conversation = reads_bob.open(interrupt).partition('id="conversation"')[2]

    assert f'src="/files/{file["id"]}/pages/1"' in conversation.partition("</details>")[0]


def test_a_pdf_file_is_shown_as_pictures_of_its_pages(world, as_agent, reads_bob):
    interrupt = request_with_file(world, as_agent, pdf())
    (address,) = {
        part.split('"')[0]
        for part in reads_bob.open(interrupt).split('href="')
        if part.startswith("/files/") and "/view/" in part
    }

    page = reads_bob.get(address)
    picture = reads_bob.get(address.replace("view/", "pages/1"))
    page_zero = reads_bob.get(address.replace("view/", "pages/0"))

    assert "application/pdf" in words(page)
    assert (picture.status_code, picture.headers["Content-Type"]) == (200, "image/webp")
    assert page_zero.status_code == 404
