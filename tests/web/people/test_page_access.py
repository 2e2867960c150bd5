from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from tests.support.steps import approve, reread, start
from tests.support.web.pages import words

PAGES = ["/", "/decided/", "/threads/"]


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_for_people_who_are_signed_in(db, path):
    response = Client().get(path)

    assert (response.status_code, response.url) == (302, f"/login/?next={path}")


def test_page_fragment_gets_401_instead_of_the_sign_in_page(db):
    assert Client().get("/", HTTP_HX_REQUEST="true").status_code == 401


def test_signing_in_leads_to_where_one_wanted_to_go(world):
    response = Client().post(
        "/login/", {"username": "bob", "password": "bob-password", "next": "/decided/"}
    )

    assert (response.status_code, response.url) == (302, "/decided/")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("http://testserver/interrupts/{key}/?agent=a", "/interrupts/{key}/?agent=a"),
        ("http://testserver//evil.example/", "/evil.example/"),
        ("https://evil.example/", "/"),
        ("", "/"),
    ],
)
def test_who_was_signed_out_while_writing_goes_back_to_the_page(ask, before, after):
    key = ask("tool_call").pk

    response = Client().post(
        f"/interrupts/{key}/decide", {"action": "approve"}, HTTP_REFERER=before.format(key=key)
    )

    assert response.status_code == 302
    assert parse_qs(urlsplit(response.url).query)["next"] == [after.format(key=key)]


@pytest.mark.parametrize("path", ["decide", "claim", "comment"])
def test_a_character_that_no_database_keeps_is_refused(ask, reads_bob, path):
    interrupt = ask("tool_call")

    response = reads_bob.client.post(f"/interrupts/{interrupt.pk}/{path}", {"reason": "a\0b"})

    assert response.status_code == 400
    assert reread(interrupt).status == "open"


def test_a_wrong_password_says_so_and_keeps_the_name(world):
    response = Client().post("/login/", {"username": "bob", "password": "<guess>"})

    assert response.status_code == 422
    assert "correct username and password" in words(response)
    assert 'value="bob"' in response.content.decode()
    assert "guess" not in response.content.decode()


def test_too_many_guesses_lock_the_name_for_a_while(world):
    client = Client()
    for _ in range(10):
        response = client.post("/login/", {"username": "bob", "password": "guess"})

    assert response.status_code == 429
    assert "Too many sign-in attempts" in words(response)
    locked = client.post("/login/", {"username": "bob", "password": "bob-password"})
    assert locked.status_code == 429


def test_signing_out_takes_a_post(reads_bob):
    assert reads_bob.client.get("/logout/").status_code == 405

    assert reads_bob.client.post("/logout/").url == "/login/"
    assert reads_bob.get("/").status_code == 302


def test_a_stranger_finds_nothing(ask, reads_carol):
    interrupt = ask("tool_call")

    assert reads_carol.get(f"/interrupts/{interrupt.pk}/").status_code == 404
    assert reads_carol.get(f"/decided/{interrupt.pk}/").status_code == 404
    assert reads_carol.get(f"/threads/{interrupt.thread_id}/").status_code == 404
    assert interrupt.title not in reads_carol.get("/").content.decode()


def test_a_stranger_decides_nothing(ask, reads_carol):
    interrupt = ask("tool_call")
    body = {"action": "approve", "view_digest": interrupt.view_digest}

    response = reads_carol.client.post(f"/interrupts/{interrupt.pk}/decide", body)

    assert response.status_code == 404
    assert reread(interrupt).status == "open"


def test_a_viewer_reads_everything_and_is_told_why_there_are_no_buttons(ask, reads_alice):
    interrupt = ask("tool_call")

    page = reads_alice.get(f"/interrupts/{interrupt.pk}/")

    assert "dana@example.com" in words(page)
    assert "Reviewers and admins of this team can decide" in words(page)
    assert 'name="action"' not in page.content.decode()
    assert "<textarea" not in page.content.decode()


def test_a_viewer_cannot_decide(ask, reads_alice):
    interrupt = ask("tool_call")
    body = {"action": "approve", "view_digest": interrupt.view_digest}

    response = reads_alice.client.post(f"/interrupts/{interrupt.pk}/decide", body)

    assert response.status_code == 403
    assert "the decide permission" in words(response)
    assert reread(interrupt).status == "open"


def test_deciding_takes_a_csrf_token(ask, world):
    interrupt = ask("tool_call")
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.bob)
    body = {"action": "approve", "view_digest": interrupt.view_digest}

    response = client.post(f"/interrupts/{interrupt.pk}/decide", body)

    assert response.status_code == 403
    assert "The page has expired" in words(response)
    assert reread(interrupt).status == "open"


def test_deciding_takes_a_post(ask, reads_bob):
    interrupt = ask("tool_call")

    assert reads_bob.get(f"/interrupts/{interrupt.pk}/decide").status_code == 405


def test_csp_allows_no_inline_code_and_no_other_hosts(reads_bob):
    policy = reads_bob.get("/").headers["Content-Security-Policy"]

    assert "default-src 'none'" in policy
    assert "script-src 'self';" in f"{policy};"
    assert "style-src 'self';" in f"{policy};"
    assert "unsafe" not in policy


@pytest.mark.parametrize("scenario", ["tool_call", "input_required", "confirmation"])
def test_no_page_has_scripts_styles_or_handlers_inline(ask, bob, reads_bob, scenario):
    interrupt = ask(scenario)

    for path in (*PAGES, f"/interrupts/{interrupt.pk}/", f"/threads/{interrupt.thread_id}/"):
        page = reads_bob.get(path).content.decode()
        assert "<style" not in page
        assert " style=" not in page
        assert " onclick=" not in page
        assert "<script>" not in page


def test_pages_are_not_kept_by_caches(reads_bob):
    response = reads_bob.get("/")

    assert "no-store" in response.headers["Cache-Control"]
    assert "HX-Request" in response.headers["Vary"]


def test_what_is_not_there_is_a_page_too(reads_bob):
    response = reads_bob.get("/nothing/")

    assert response.status_code == 404
    assert "Not found" in words(response)


def test_a_reviewer_of_one_team_only_sees_its_threads(world, bob, ask, reads_bob, reads_carol):
    approve(ask("tool_call"), bob)
    start(world, "rehearse:echo")

    assert "rehearse:echo" in words(reads_bob.get("/runs/"))
    assert "rehearse" not in words(reads_carol.get("/runs/"))
    assert "Approved" in words(reads_bob.get("/decided/"))
    assert "approved" not in words(reads_carol.get("/decided/"))
