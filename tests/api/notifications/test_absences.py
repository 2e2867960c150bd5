"""REST: the absence of the person who asks."""

from datetime import timedelta

import pytest

from inbox.platform.clock import database_now

PATH = "/api/me/absence"


@pytest.fixture
def sign_in(client, world):
    def as_person(user):
        client.force_login(user)
        return client

    return as_person


def put(client, **body):
    return client.put(PATH, body, content_type="application/json")


def test_people_are_away_and_back(sign_in, world, dora):
    me = sign_in(world.bob)
    until = (database_now() + timedelta(days=3)).isoformat()
    (colleague,) = me.get(f"{PATH}/deputies").json()["results"]
    assert colleague["id"] == dora.user_id

    away = put(me, until=until, deputy=colleague["id"])

    assert away.status_code == 200, away.content
    assert away.json()["deputy"] == colleague
    assert me.get(PATH).json() == away.json()
    assert me.delete(PATH).status_code == 204
    assert me.get(PATH).json() == {"until": None, "deputy": None, "deputy_of": []}


def test_a_deputy_sees_it_and_declines(sign_in, world, dora):
    until = (database_now() + timedelta(days=3)).isoformat()
    put(sign_in(world.bob), until=until, deputy=dora.user_id)
    me = sign_in(type(world.bob).objects.get(pk=dora.user_id))
    (person,) = me.get(PATH).json()["deputy_of"]
    assert person["username"] == "bob"

    assert me.delete(f"{PATH}/represented/{person['id']}").status_code == 204

    assert me.get(PATH).json()["deputy_of"] == []
    assert sign_in(world.bob).get(PATH).json()["until"] is None


@pytest.mark.parametrize("user", [0, 2**31, 2**63])
def test_declining_for_a_stranger_changes_nothing(sign_in, world, dora, user):
    until = (database_now() + timedelta(days=3)).isoformat()
    put(sign_in(world.bob), until=until, deputy=dora.user_id)
    me = sign_in(type(world.bob).objects.get(pk=dora.user_id))

    assert me.delete(f"{PATH}/represented/{user}").status_code == 204

    assert len(me.get(PATH).json()["deputy_of"]) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"until": "tomorrow"},
        {"until": "2020-01-01T00:00:00"},
        {"deputy": 1},
        {"until": None},
    ],
)
def test_wrong_bodies_are_refused(sign_in, world, body):
    assert put(sign_in(world.bob), **body).status_code == 400


@pytest.mark.parametrize("until", ["2020-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_wrong_times_are_refused(sign_in, world, until):
    refusal = put(sign_in(world.bob), until=until)

    assert refusal.status_code == 422
    assert "until" in str(refusal.json()["problems"])
