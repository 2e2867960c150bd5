"""Sixty hostile files: what each is served as, and what its preview says."""

import re
import unicodedata

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from inbox.rules.files.file_types import OCTETS, SERVED
from tests.support.files.hostile import HOSTILE
from tests.support.files.sending import send

EXECUTED = ("html", "svg", "xml", "javascript", "ecmascript", "css", "x-shockwave")


@pytest.fixture
def member(world):
    client = Client()
    client.force_login(world.bob)
    return client


def test_there_are_sixty_hostile_files():
    assert len(HOSTILE) == 60


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: hostile.label)
def test_a_hostile_file_is_served_as_a_harmless_download(world, member, hostile):
    name = hostile.name.encode("utf-8", "replace").decode()

    file = send(world.key, hostile.content, name).json()
    answer = Client().get(file["url"].partition("#")[0])
    page = member.get(f"/files/{file['id']}/view/")

    assert answer.headers["Content-Type"] in {OCTETS, *SERVED}
    assert not any(word in answer.headers["Content-Type"] for word in EXECUTED)
    assert answer.headers["Content-Disposition"].startswith("attachment; filename")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none';")
    assert not re.search(r'[/\\\r\n"<>]', file["name"])
    assert not any(unicodedata.category(char)[0] == "C" for char in file["name"])
    assert 0 < len(file["name"]) <= 120
    assert page.status_code == 200
    body = page.content.decode()
    assert "<script>document" not in body
    assert "<img src=x" not in body


@pytest.mark.parametrize(
    ("label", "media_type"),
    [
        ("html as png", "text/html"),
        ("html after mark", "text/html"),
        ("html after comment", "text/html"),
        ("svg as png", "image/svg+xml"),
        ("svg with declaration", "image/svg+xml"),
        ("gif named html", "image/gif"),
        ("png and zip", "image/png"),
        ("pdf and html", "application/pdf"),
        ("program", "application/vnd.microsoft.portable-executable"),
    ],
)
def test_a_file_has_the_type_of_its_content(world, label, media_type):
    (hostile,) = [hostile for hostile in HOSTILE if hostile.label == label]

    file = send(world.key, hostile.content, hostile.name).json()

    assert file["media_type"] == media_type


@pytest.mark.parametrize("label", ["png bomb", "cut png", "webp of nothing", "cut pdf"])
def test_a_preview_that_fails_offers_the_download(world, member, label):
    (hostile,) = [hostile for hostile in HOSTILE if hostile.label == label]
    file = send(world.key, hostile.content, hostile.name).json()

    page = member.get(f"/files/{file['id']}/view/").content.decode()
    picture = member.get(f"/files/{file['id']}/pages/1")

    assert "This file cannot be previewed" in page
    assert f'href="/files/{file["id"]}/"' in page
    assert picture.status_code == 404


def test_pictures_are_drawn_again_and_never_the_bytes_that_were_sent(world, member):
    labels = ("gif and script", "png and html", "pdf with script")
    files = [hostile for hostile in HOSTILE if hostile.label in labels]

    for hostile in files:
        file = send(world.key, hostile.content, hostile.name).json()
        picture = member.get(f"/files/{file['id']}/pages/1")

        assert picture.status_code == 200, hostile.label
        assert picture.headers["Content-Type"] == "image/webp"
        assert picture.content[:4] == b"RIFF"
        assert b"executed" not in picture.content


def test_strangers_get_no_file_page_or_picture(world, client, key_with):
    file = send(world.key, HOSTILE[0].content, "a.html").json()
    client.force_login(world.carol)
    addresses = ("", "view/", "text", "pages/1")

    pages = {client.get(f"/files/{file['id']}/{remainder}").status_code for remainder in addresses}

    assert pages == {404}


@pytest.mark.parametrize("part", ["file", "field"])
@pytest.mark.parametrize("count", [500, 3_000])
def test_too_many_parts_are_a_problem_document(world, part, count):
    parts = {
        f"{part}-{number}": SimpleUploadedFile("a", b"a") if part == "file" else "a"
        for number in range(count)
    }
    answer = Client().post("/api/files", parts, headers={"Authorization": f"Bearer {world.key}"})

    assert 400 <= answer.status_code < 500
    assert answer.headers["Content-Type"] == "application/problem+json"
