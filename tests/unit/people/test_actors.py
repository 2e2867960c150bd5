"""Hashes of actors: many of them are put into sets while thousands of programs wait."""

from dataclasses import replace

import pytest

from inbox.rules.people.access import Actor, ActorKind

KEY = Actor(ActorKind.KEY, label="key nightly", token_digest="0a", address="203.0.113.7")


@pytest.mark.parametrize(
    "change",
    [{"address": "203.0.113.8"}, {"token_digest": "0b"}, {"label": "key ci"}, {"user_id": 1}],
)
def test_actors_of_different_programs_have_different_hashes(change):
    assert hash(replace(KEY, **change)) != hash(KEY)


def test_equal_actors_have_equal_hashes():
    assert hash(replace(KEY)) == hash(KEY)
