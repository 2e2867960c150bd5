"""REST: what is asked for with an Idempotency-Key is made once, however often it is asked for."""

import json

import pytest

from inbox.models import ApiKey, AuditEntry, Comment, IdempotencyRecord, Invitation, WebhookEndpoint
from tests.api.decisions.test_claims_and_comments import Person
from tests.api.runs.test_runs_and_decisions import api
from tests.support.http.rest_client import Caller, start_run
from tests.support.steps import open_interrupts, start

__all__ = ["api"]

KEY = {"Idempotency-Key": "order-17"}


class Maker:
    """Somebody who asks for one kind of thing."""

    def __init__(self, client, path, body, rows, other):
        self.client, self.path, self.body, self.rows, self.other = client, path, body, rows, other

    def ask(self, body=None, **headers):
        return self.client.post(self.path, body or self.body, **headers)


class Reviewer(Person):
    def post(self, path, body=None, **headers):
        return self._client.post(
            path, json.dumps(body), content_type="application/json", headers=headers
        )


@pytest.fixture(params=["comment", "webhook", "key", "invitation"])
def maker(request, world, key_with):
    if request.param == "comment":
        (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
        path = f"/api/interrupts/{interrupt.pk}/comments"
        return Maker(Reviewer(world.bob), path, {"text": "Yes?"}, Comment, {"text": "No."})
    admin = key_with("admin", "read", "run")
    if request.param == "webhook":
        body = {"url": "https://hooks.example.com/", "events": ["run.finished"]}
        other = {**body, "events": ["interrupt.opened"]}
        return Maker(admin, "/api/webhooks", body, WebhookEndpoint, other)
    if request.param == "invitation":
        body = {"email": "kim@example.com", "role": "viewer"}
        other = {**body, "email": "sam@example.com"}
        return Maker(admin, "/api/teams/tests/invitations", body, Invitation, other)
    body = {"name": "ci", "scopes": ["read"]}
    other = {**body, "name": "cd"}
    return Maker(admin, "/api/teams/tests/keys", body, ApiKey, other)


def row_count(maker, answers):
    return maker.rows.objects.filter(pk__in=[answer.json()["id"] for answer in answers]).count()


def test_the_same_request_makes_it_once_and_says_so(maker):
    first, again = (maker.ask(**KEY) for _ in range(2))

    assert (first.status_code, again.status_code) == (201, 201)
    assert row_count(maker, [first, again]) == 1
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    secrets = {"secret", "token", "link"}
    public_fields = {name: text for name, text in first.json().items() if name not in secrets}
    assert {
        name: text for name, text in again.json().items() if name not in secrets
    } == public_fields


def test_a_secret_is_told_once_and_kept_nowhere(maker):
    first, again = (maker.ask(**KEY).json() for _ in range(2))

    for name in {"secret", "token", "link"} & set(first):
        assert (bool(first[name]), again[name]) == (True, None)
        assert first[name] not in str(list(IdempotencyRecord.objects.values()))
    assert "order-17" not in str(list(IdempotencyRecord.objects.values()))


def test_it_is_written_down_once(maker):
    maker.ask(**KEY)
    before = AuditEntry.objects.count()

    maker.ask(**KEY)

    assert AuditEntry.objects.count() == before


def test_another_request_under_the_same_name_is_refused(maker):
    first = maker.ask(**KEY)

    answer = maker.ask(maker.other, **KEY)

    assert (answer.status_code, answer.json()["code"]) == (409, "IDEMPOTENCY_CONFLICT")
    assert row_count(maker, [first]) == 1


def test_without_a_name_it_is_made_as_often_as_it_is_asked_for(maker):
    if maker.rows is Invitation:
        assert (maker.ask().status_code, maker.ask().status_code) == (201, 422)
    else:
        assert row_count(maker, [maker.ask(), maker.ask()]) == 2


def test_what_was_refused_leaves_its_name_free(maker):
    wrong = {
        **maker.body,
        **{name: "" for name in ("text", "url", "name", "email") if name in maker.body},
    }
    assert maker.ask(wrong, **KEY).status_code == 400

    assert maker.ask(**KEY).status_code == 201


def test_callers_never_meet_in_a_name(key_with):
    body = {"name": "ci", "scopes": ["read"]}
    first_key, other = key_with("admin", "read"), key_with("admin", "read")

    ids = {
        maker.post("/api/teams/tests/keys", body, **KEY).json()["id"]
        for maker in (first_key, other)
    }

    assert len(ids) == 2


def test_a_replayed_run_says_so_as_well(api):
    first, again = (start_run(api, **KEY) for _ in range(2))

    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"


@pytest.mark.parametrize("name", ["x" * 151])
def test_a_name_has_a_length(maker, name):
    assert maker.ask(**{"Idempotency-Key": name}).status_code == 400


def test_who_may_no_more_is_told_nothing(world, key_with):
    admin = key_with("admin", "read")
    body = {"name": "ci", "scopes": ["read"]}
    admin.post("/api/teams/tests/keys", body, **KEY)
    ApiKey.objects.filter(name="k").update(scopes=["read"])

    assert admin.post("/api/teams/tests/keys", body, **KEY).status_code == 403
    assert Caller("").post("/api/teams/tests/keys", body, **KEY).status_code == 401
