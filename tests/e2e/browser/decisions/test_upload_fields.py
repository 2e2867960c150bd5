"""Uploads in Chromium: progress, drag and drop, errors at the field; hostile files do nothing."""

import httpx
import pytest
from playwright.sync_api import expect

from tests.support.browser.site import hold_requests, release_requests, wait_for_requests
from tests.support.files.hostile import HOSTILE
from tests.support.files.samples import HTML, png

pytestmark = pytest.mark.browser
SCHEMA = {
    "type": "object",
    "properties": {
        "photo": {"type": "string", "contentMediaType": "image/*"},
        "note": {"type": "string"},
    },
    "required": ["photo"],
}
ASK = {"message": "Upload a photo", "reason": "upload_required", "schema": SCHEMA}


def file(content, name="photo.png"):
    return {"name": name, "mimeType": "image/png", "buffer": content}


def test_a_chosen_file_is_sent_and_other_input_is_kept(site):
    (interrupt,) = site.play(ASK)
    with site.open_as("marco") as page:
        site.open(page, interrupt)
        page.fill("[name='answer/note']", "typed before")

        page.set_input_files(".upload-input", [file(png())])

        expect(page.locator("[data-upload-name]")).to_have_text("photo.png")
        expect(page.locator("[data-upload-file] button")).to_be_focused()
        assert page.input_value("[name='answer/note']") == "typed before"
        page.locator("button[value=answer]").click()
        expect(page.locator("#toast")).to_be_visible()


def test_a_file_that_is_chosen_before_its_script_is_there_is_sent(site):
    (interrupt,) = site.play(ASK)
    with site.open_as("marco") as page:
        scripts = hold_requests(page, "**/js/uploads*.js")
        page.goto(f"{site.url}/interrupts/{interrupt['id']}/", wait_until="commit")
        wait_for_requests(page, lambda: scripts)
        page.set_input_files(".upload-input", [file(png())])

        release_requests(page, "**/js/uploads*.js", scripts)

        expect(page.locator("[data-upload-name]")).to_have_text("photo.png")


def test_a_refused_file_is_an_error_beside_its_field(site):
    (interrupt,) = site.play(ASK)
    with site.open_as("marco") as page:
        site.open(page, interrupt)

        page.set_input_files(".upload-input", [file(HTML)])

        text = "photo.png: This file is text/html, and the agent asks for image/*."
        expect(page.locator("[data-upload-status]")).to_have_text(text)
        expect(page.locator("[data-upload-choose]")).to_be_visible()


def test_a_file_can_be_dropped(site):
    (interrupt,) = site.play(ASK)
    with site.open_as("marco") as page:
        site.open(page, interrupt)
        transfer = page.evaluate_handle(
            "bytes => { const data = new DataTransfer();"
            "data.items.add(new File([new Uint8Array(bytes)], 'dropped.png')); return data; }",
            list(png()),
        )

        page.dispatch_event(".upload", "drop", {"dataTransfer": transfer})

        expect(page.locator("[data-upload-name]")).to_have_text("dropped.png")


def test_no_hostile_file_is_executed(site):
    sent = [
        httpx.post(
            f"{site.url}/api/files",
            files={"file": (hostile.name.encode("utf-8", "replace").decode(), hostile.content)},
            data={"agent": "rehearsal"},
            headers={"Authorization": f"Bearer {site.key}"},
        ).json()
        for hostile in HOSTILE
    ]
    executed = []
    with site.open_as("marco") as page:
        page.on("dialog", lambda dialog: executed.append(dialog.message))
        for row in sent:
            page.goto(f"{site.url}/files/{row['id']}/view/")
            executed += [row["name"]] if page.title() == "executed" else []
            with page.expect_download() as download:
                page.evaluate("address => { location.href = address; }", f"/files/{row['id']}/")
            assert download.value.failure() is None
            executed += [row["name"]] if page.title() == "executed" else []

    assert executed == []
