"""Browsers that are added at the same time."""

from functools import partial

import pytest

from inbox.actions.notifications.push_channels import add_browser, remove_browser
from inbox.models import Channel
from inbox.queries.notifications.push_channels import browsers_of
from inbox.rules.errors import InvalidValue
from inbox.rules.notifications.push_subscriptions import MAX_BROWSERS
from tests.support.notifications.push_server import Browser
from tests.support.races.concurrently import at_once, failures, rounds

pytestmark = pytest.mark.services


def adding(name, actor):
    return partial(
        add_browser,
        subscription=Browser(f"https://push.example.com/{name}").subscription,
        label="Firefox on Linux",
        language="en",
        actor=actor,
    )


def test_a_person_never_has_too_many_browsers(committed_world, race_bob):
    for number in range(MAX_BROWSERS - 1):
        adding(str(number), race_bob)()
    for number in range(rounds(short=10, long=100)):
        outcomes = at_once([adding(f"{number}-{letter}", race_bob) for letter in "abcd"])

        assert len(browsers_of(race_bob)) == MAX_BROWSERS
        assert sum(isinstance(outcome, InvalidValue) for outcome in outcomes) == 3
        last = max(Channel.objects.filter(removed_at=None), key=lambda row: row.pk)
        remove_browser(channel_id=last.pk, actor=race_bob)


def test_one_browser_has_one_channel_however_often_it_is_added(committed_world, race_bob):
    for number in range(rounds(short=10, long=100)):
        assert failures(at_once([adding(f"{number}", race_bob)] * 4)) == []

        assert Channel.objects.filter(removed_at=None).count() == 1
        (browser,) = browsers_of(race_bob)
        remove_browser(channel_id=browser.id, actor=race_bob)


def test_one_browser_belongs_to_one_of_two_people(committed_world, race_bob):
    carol = committed_world.actor(committed_world.carol)
    for number in range(rounds(short=10, long=100)):
        adds = [adding(f"{number}", actor) for actor in (race_bob, carol) * 2]

        assert failures(at_once(adds)) == []

        browsers = [*browsers_of(race_bob), *browsers_of(carol)]
        assert len(browsers) == 1
        Channel.objects.update(removed_at=browsers[0].created_at, address_digest="")
