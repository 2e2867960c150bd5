"""Assigning, mentioning and snoozing on pages."""

import html
import re

import pytest
from django.utils import timezone

from inbox.actions.decisions.claims_and_comments import add_comment
from inbox.models import Assignee, Snooze
from tests.support.web.pages import words
from tests.web.text.test_hostile_text_in_fields import PAYLOADS, Markup


def test_request_is_assigned_on_its_page(ask, reads_bob, bob, dora):
    request = ask("tool_call")
    page = words(reads_bob.get(f"/interrupts/{request.pk}/assign/"))
    assert "Bob (you)" in page
    assert "Dora" in page
    assert "Alice" not in page

    reads_bob.client.post(f"/interrupts/{request.pk}/assign", {"user": dora.user_id})

    assert "Assigned to Dora" in words(reads_bob.get(f"/interrupts/{request.pk}/"))
    assert 'title="Assigned to Dora"' in reads_bob.get("/").content.decode()
    assert "You assigned this to Dora" in words(reads_bob.get(f"/interrupts/{request.pk}/"))


def test_assigned_request_is_in_the_list_of_its_person(ask, reads_bob, bob, dora):
    request = ask("tool_call")
    reads_bob.client.post(f"/interrupts/{request.pk}/assign", {"user": bob.user_id})

    page = words(reads_bob.get("/?assigned=1"))

    assert "Assigned to me 1" in page
    assert "Assigned to you" in page
    reads_bob.client.post(f"/interrupts/{request.pk}/assign", {"user": ""})
    assert not Assignee.objects.exists()
    assert "Nothing is assigned to you" in words(reads_bob.get("/?assigned=1"))


@pytest.mark.parametrize("user", ["x", "9" * 30, "-1", "0", "٣"])
def test_nobody_else_can_be_assigned(ask, reads_bob, user):
    request = ask("tool_call")

    response = reads_bob.client.post(f"/interrupts/{request.pk}/assign", {"user": user})

    assert response.status_code == 422
    assert "This person cannot decide the request." in words(response)


def test_mentioned_colleague_is_shown_by_name(ask, reads_bob, bob, dora):
    request = ask("tool_call")

    add_comment(interrupt_id=request.pk, actor=bob, text="Ask @dora. Not @carol <b>")

    page = reads_bob.open(request)
    assert '<bdi class="mention">@Dora</bdi>. Not @carol &lt;b&gt;' in page


@pytest.mark.parametrize("name", PAYLOADS.values(), ids=PAYLOADS)
def test_hostile_name_of_a_colleague_is_text(ask, world, reads_bob, bob, dora, name):
    user = type(world.bob).objects.get(pk=dora.user_id)
    user.first_name, user.last_name = name[:150], ""
    user.save(update_fields=["first_name", "last_name"])
    request = ask("tool_call")

    add_comment(interrupt_id=request.pk, actor=bob, text="@dora")
    reads_bob.client.post(f"/interrupts/{request.pk}/assign", {"user": dora.user_id})

    for path in (f"/interrupts/{request.pk}/", f"/interrupts/{request.pk}/assign/", "/"):
        assert Markup(reads_bob.get(path).content.decode()).found == []
    people = reads_bob.get(f"/interrupts/{request.pk}/people")
    assert people["Content-Type"] == "application/json"


def test_names_to_mention_are_those_of_the_team(ask, reads_bob, reads_carol):
    request = ask("tool_call")

    people = reads_bob.get(f"/interrupts/{request.pk}/people").json()["people"]

    assert {"username": "bob", "name": "Bob"} in people
    assert "carol" not in [person["username"] for person in people]
    assert reads_carol.get(f"/interrupts/{request.pk}/people").status_code == 404


@pytest.mark.parametrize("until", ["later", "tomorrow", "week"])
def test_snoozed_request_leaves_the_list_and_can_be_undone(ask, reads_bob, until):
    request = ask("tool_call")
    type(request).objects.update(expires_at=None, due_at=timezone.now().replace(year=9000))

    response = reads_bob.client.post(f"/interrupts/{request.pk}/snooze", {"until": until})

    page = reads_bob.get(response.url)
    assert "Snoozed until" in words(page)
    assert f"row-{request.pk}" not in page.content.decode()
    assert f"row-{request.pk}" in reads_bob.get("/?snoozed=1").content.decode()
    assert "Show again" in words(reads_bob.get(f"/interrupts/{request.pk}/"))
    undo = re.search(r'action="([^"]+/show-again)"', page.content.decode()).group(1)
    reads_bob.client.post(html.unescape(undo))
    assert f"row-{request.pk}" in reads_bob.get("/").content.decode()


def test_snooze_at_a_chosen_time(ask, reads_bob):
    request = ask("tool_call")
    day = timezone.now().date().replace(year=timezone.now().year + 1, day=1)

    reads_bob.client.post(f"/interrupts/{request.pk}/snooze", {"at": f"{day}T08:30"})

    assert Snooze.objects.get().until.strftime("%H:%M") == "08:30"


@pytest.mark.parametrize(
    "at", ["", "soon", "2020-01-01T10:00", "9999-12-31T23:59", "0001-01-01T00:00"]
)
def test_snooze_at_a_wrong_time_says_what_to_do(ask, reads_bob, at):
    request = ask("tool_call")

    response = reads_bob.client.post(f"/interrupts/{request.pk}/snooze", {"at": at})

    assert response.status_code == 422
    assert 'role="alert"' in response.content.decode()
    assert not Snooze.objects.exists()
