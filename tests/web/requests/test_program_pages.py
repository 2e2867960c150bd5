"""Pages about programs that ask: their session, the execution of a call, and revoking it."""

import pytest

from tests.support.requests.programs import APPROVED, CALL, decide, pass_time, program
from tests.support.web.pages import words

__all__ = ["program"]


def page_of(reader, request):
    return reader.get(f"/interrupts/{request['items'][0]['interrupt']}/")


@pytest.fixture
def approved(program, bob):
    request = program.ask(
        session={"id": "s", "title": "Nightly\u202e"},
        requester={"name": "dev@laptop", "url": "https://ci.example.com/9"},
        execution={"lease_seconds": 60},
    )
    decide(request, bob, APPROVED)
    return request


def test_a_request_shows_its_program_as_not_verified(program, reads_bob):
    request = program.ask(requester={"name": "dev@laptop"}, session={"id": "s", "title": "Nightly"})
    other = program.ask(title="Publish?", session={"id": "s"})

    page = page_of(reads_bob, request)

    text = words(page)
    assert "dev@laptop not verified" in text
    assert "Nightly" in text
    assert "Publish?" in text
    assert f"/threads/{other['thread']}/" in page.content.decode()


def test_invisible_characters_of_a_program_are_escaped(approved, reads_bob):
    assert "\u202e" not in page_of(reads_bob, approved).content.decode()


def test_a_page_says_how_far_the_execution_is(program, approved, reads_bob, later):
    waiting = words(page_of(reads_bob, approved))
    program.start(approved)
    started = words(page_of(reads_bob, approved))
    pass_time(later, seconds=61)
    program.report(approved)
    doubtful = words(page_of(reads_bob, approved))

    assert "The program has not started it." in waiting
    assert "Started by the program." in started
    assert "It has to report until" in started
    assert "In doubt" in doubtful
    assert "The program reported later: succeeded." in doubtful


def test_a_call_that_was_handed_over_says_so(program, bob, reads_bob):
    request = program.ask(execution={"report": False})
    decide(request, bob, APPROVED)
    program.start(request)

    assert "Handed over, nothing reported." in words(page_of(reads_bob, request))


def test_other_executed_arguments_stand_out(program, approved, reads_bob):
    program.start(approved)
    program.report(approved, executed_args={**CALL["args"], "amount": 9_999, "password": "x"})

    page = page_of(reads_bob, approved)

    assert "executed other arguments than the approved ones" in words(page)
    assert "banner-bad" in page.content.decode()
    assert "9999" in words(page)
    assert '"x"' not in words(page)


def test_administrators_revoke_an_approval_on_its_page(program, approved, reads_bob, reads_admin):
    interrupt = approved["items"][0]["interrupt"]
    revoke = f"/interrupts/{interrupt}/revoke"

    assert "Revoke the approval" not in words(page_of(reads_bob, approved))
    assert "Revoke the approval" in words(page_of(reads_admin, approved))
    assert reads_bob.client.post(revoke).status_code == 403
    assert reads_admin.client.post(revoke).status_code == 303

    assert program.read(approved)["status"] == "lapsed"
    assert "Lapsed" in words(page_of(reads_admin, approved))


def test_a_call_that_started_meanwhile_is_not_revoked(program, approved, reads_admin):
    program.start(approved)

    answer = reads_admin.client.post(f"/interrupts/{approved['items'][0]['interrupt']}/revoke")

    assert answer.status_code == 409
    assert "The call has started" in words(answer)


def test_an_administrator_adds_a_program_and_sees_how_it_asks(reads_admin, reads_bob):
    added = reads_admin.client.post("/new-program/add", {"name": "nightly", "description": "x"})
    repeated = reads_admin.client.post("/new-program/add", {"name": "nightly"})
    page = reads_admin.get("/agents/nightly/")

    assert (added.status_code, added["Location"]) == (303, "/agents/nightly/")
    assert repeated.status_code == 422
    assert "/api/requests?wait=30" in words(page)
    assert "/teams/tests/keys/new/?agent=nightly" in page.content.decode()
    assert "Start a run" not in words(page)
    assert reads_bob.client.post("/new-program/add", {"name": "other"}).status_code == 403


@pytest.fixture
def reads_admin(world):
    from django.test import Client

    from inbox.actions.people.provisioning import add_member
    from inbox.rules.people.access import SEED, Role
    from tests.support.web.pages import Reader

    user = add_member(
        team=world.team,
        username="ada",
        full_name="Ada",
        password="ada-password",
        role=Role.ADMIN,
        actor=SEED,
    )
    client = Client()
    client.force_login(user)
    return Reader(client)
