"""Whether those whose pages are open may stay."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from inbox.models import ApiKey
from inbox.queries.people.api_keys import actor_of_user
from inbox.queries.people.live_access import LiveAccess, live_access_of


@pytest.fixture
def signed_in(world):
    def sign_in(user):
        client = Client()
        client.force_login(user)
        return client, actor_of_user(user, client.session)

    return sign_in


def test_everybody_stands_where_their_roles_put_them(world, signed_in, robot):
    readers = [signed_in(user)[1] for user in (world.alice, world.bob, world.carol)]

    alice, bob, carol, key = live_access_of([*readers, robot])

    ours = frozenset({str(world.team.pk)})
    assert alice == LiveAccess(reads=ours, decides=frozenset())
    assert bob == LiveAccess(reads=ours, decides=ours)
    assert carol.reads
    assert not carol.reads & ours
    assert key.reads == ours


def test_who_signed_out_does_not_stand(world, signed_in):
    client, reader = signed_in(world.bob)
    client.post("/logout/")

    assert live_access_of([reader]) == [None]


def test_a_session_that_ran_out_does_not_stand(world, signed_in):
    _, reader = signed_in(world.bob)
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))

    assert live_access_of([reader]) == [None]


def test_a_person_without_a_session_does_not_stand(world, bob):
    assert live_access_of([bob]) == [None]


def test_who_left_or_is_inactive_stands_nowhere(world, signed_in):
    _, bob = signed_in(world.bob)
    _, alice = signed_in(world.alice)
    world.bob.memberships.all().delete()
    world.alice.is_active = False
    world.alice.save()

    assert live_access_of([bob, alice]) == [LiveAccess(), LiveAccess()]


def test_a_revoked_key_does_not_stand(world, robot):
    ApiKey.objects.update(revoked_at=timezone.now())

    assert live_access_of([robot]) == [None]


def test_a_thousand_pages_cost_four_queries(world, signed_in, robot, django_assert_max_num_queries):
    readers = [signed_in(world.bob)[1], signed_in(world.alice)[1], robot] * 300

    with django_assert_max_num_queries(4):
        assert None not in live_access_of(readers)
