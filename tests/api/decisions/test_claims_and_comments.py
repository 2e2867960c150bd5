"""REST for reviewers and their machines: take back, claim, comment, and many at once."""

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from inbox.models import Comment, Run
from tests.support import steps
from tests.support.http.rest_client import Caller, decision
from tests.support.steps import APPROVE, open_interrupts, start


class Person:
    """Somebody who is signed in on a page of the same origin."""

    def __init__(self, user):
        self._client = Client(raise_request_exception=False)
        self._client.force_login(user)

    def get(self, path):
        return self._client.get(path)

    def post(self, path, body=None):
        return self._client.post(path, json.dumps(body or {}), content_type="application/json")

    def put(self, path, body):
        return self._client.put(path, json.dumps(body), content_type="application/json")

    def delete(self, path):
        return self._client.delete(path)


@pytest.fixture
def api(world):
    return Caller(world.key)


@pytest.fixture
def person(world):
    return Person(world.bob)


def view_references(*interrupts):
    return [
        {"id": str(interrupt.pk), "view_digest": interrupt.view_digest} for interrupt in interrupts
    ]


def test_an_interrupt_has_no_titles_of_its_siblings(api, world):
    run = start(world, "rehearse:parallel3")
    first, *others = open_interrupts(run)
    api.post(f"/api/interrupts/{first.pk}/decide", decision(first, APPROVE))

    answer = api.get(f"/api/interrupts/{others[0].pk}")

    assert answer.json()["siblings"] == [
        {"id": str(first.pk), "status": "resolved"},
        *[{"id": str(other.pk), "status": "open"} for other in others],
    ]
    assert first.title not in answer.content.decode()


def test_a_machine_takes_its_answer_back_while_others_are_missing(api, world):
    run = start(world, "rehearse:parallel3")
    first, *_ = open_interrupts(run)
    api.post(f"/api/interrupts/{first.pk}/decide", decision(first, APPROVE))

    answer = api.post(f"/api/interrupts/{first.pk}/withdraw")

    assert answer.status_code == 200
    assert answer.json()["withdrawn_at"]
    assert api.get(f"/api/interrupts/{first.pk}").json()["status"] == "open"


def test_nobody_takes_back_what_another_has_answered(api, world, bob):
    run = start(world, "rehearse:parallel3")
    first, *_ = open_interrupts(run)
    steps.approve(first, bob)

    answer = api.post(f"/api/interrupts/{first.pk}/withdraw")

    assert (answer.status_code, answer.json()["code"]) == (403, "FORBIDDEN")


def test_one_answer_is_given_to_many_and_each_says_what_became_of_it(api, world, bob):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    (decided,) = open_interrupts(start(world, "rehearse:tool_call"))
    (unread,) = open_interrupts(start(world, "rehearse:tool_call"))
    steps.deny(decided, bob)
    items = [*view_references(interrupt, decided), {"id": str(unread.pk), "view_digest": "0" * 64}]

    answer = api.post(
        "/api/interrupts/decide", {"status": "resolved", "payload": APPROVE, "items": items}
    )

    assert answer.status_code == 200
    results = answer.json()["results"]
    assert [result["id"] for result in results] == [item["id"] for item in items]
    assert results[0]["decision"]["payload"] == APPROVE
    codes = [result["error"] and result["error"]["code"] for result in results]
    assert codes == [None, "INTERRUPT_ALREADY_RESOLVED", "VIEW_CHANGED"]
    assert results[1]["error"]["by"] == "Bob"
    assert Run.objects.filter(resumes=interrupt.run).count() == 1


def test_many_are_taken_back_at_once(api, world):
    run = start(world, "rehearse:parallel3")
    first, second, *_ = open_interrupts(run)
    api.post(
        "/api/interrupts/decide",
        {"status": "resolved", "payload": APPROVE, "items": view_references(first, second)},
    )

    answer = api.post("/api/interrupts/withdraw", {"ids": [str(first.pk), str(second.pk)]})

    assert [result["error"] for result in answer.json()["results"]] == [None, None]
    assert {first.pk, second.pk} <= {interrupt.pk for interrupt in open_interrupts(run)}


@pytest.mark.parametrize("number", [0, 101])
def test_none_or_too_many_at_once_are_refused(api, number):
    item = {"id": "01a1fb6c-7655-7927-b47c-ea3a19558245", "view_digest": "0" * 64}
    body = {"status": "cancelled", "items": [item] * number}

    answer = api.post("/api/interrupts/decide", body)

    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_INPUT")


def test_a_person_claims_renews_and_gives_back(person, world, dora):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    claim = f"/api/interrupts/{interrupt.pk}/claim"

    first, again = person.post(claim), person.post(claim)

    assert (first.json()["by"], first.status_code) == ("Bob", 200)
    assert again.json()["until"] >= first.json()["until"]
    assert person.delete(claim).status_code == 204
    assert person.delete(claim).status_code == 204


def test_what_another_has_claimed_is_taken_over_by_saying_so_only(person, world, dora):
    from inbox.actions.decisions.claims_and_comments import claim_interrupt

    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    claim_interrupt(interrupt_id=interrupt.pk, actor=dora)
    claim = f"/api/interrupts/{interrupt.pk}/claim"

    refused = person.post(claim)
    response = person.post(claim, {"take_over": True})

    assert (refused.status_code, refused.json()["by"]) == (409, "Dora")
    assert response.json()["by"] == "Bob"


def test_a_comment_is_kept_as_it_was_written(person, api, world):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    comments = f"/api/interrupts/{interrupt.pk}/comments"

    response = person.post(comments, {"text": "  <b>sure?</b>\n"})
    empty = person.post(comments, {"text": " "})

    assert (response.status_code, response.json()["by"]) == (201, "Bob")
    assert empty.status_code == 400
    (read,) = api.get(comments).json()["results"]
    assert read == response.json()
    assert Comment.objects.get().text == "  <b>sure?</b>\n"


def test_person_assigns_a_request_to_a_colleague(person, api, world, dora):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    path = f"/api/interrupts/{interrupt.pk}"

    answer = person.put(f"{path}/assignee", {"user": dora.user_id})

    assert (answer.status_code, answer.json()["name"]) == (200, "Dora")
    assert api.get(path).json()["assignee"] == "Dora"
    assert api.get("/api/interrupts").json()["results"][0]["assignee"] == "Dora"
    assert person.delete(f"{path}/assignee").status_code == 204
    assert api.get(path).json()["assignee"] is None


def test_person_who_may_not_decide_is_not_assigned(person, world):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))

    answer = person.put(f"/api/interrupts/{interrupt.pk}/assignee", {"user": world.alice.pk})

    assert answer.status_code == 422


def test_snoozed_request_stays_in_lists_of_the_api(person, world):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    until = (timezone.now() + timedelta(hours=1)).isoformat()

    answer = person.put(f"/api/interrupts/{interrupt.pk}/snooze", {"until": until})

    assert answer.status_code == 200
    for query in ("", "?snoozed=1"):
        (row,) = person.get(f"/api/interrupts{query}").json()["results"]
        assert row["id"] == str(interrupt.pk)
    assert person.delete(f"/api/interrupts/{interrupt.pk}/snooze").status_code == 204
    assert person.get("/api/interrupts?snoozed=1").json()["results"] == []
