"""Browsers without a browser: the people of the world, signed in to the pages."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from inbox.actions.people.provisioning import add_member
from inbox.rules.people.access import SEED, Role
from tests.support.steps import open_interrupts, start
from tests.support.web.fresh_sign_in import sign_in
from tests.support.web.pages import Reader
from tests.support.web.template_names import unknown_names


@pytest.fixture(autouse=True)
def _templates_read_known_names() -> Iterator[None]:
    with unknown_names() as unknown:
        yield
    assert not unknown


def _signed_in(user: Any) -> Reader:
    client = Client()
    sign_in(client, user)
    return Reader(client)


@pytest.fixture
def reads_alice(world: Any) -> Reader:
    """Alice's pages: she may look on."""
    return _signed_in(world.alice)


@pytest.fixture
def reads_vera(vera: Any) -> Reader:
    """Vera's pages: she may look on, as Alice may."""
    from inbox.models import User

    return _signed_in(User.objects.get(pk=vera.user_id))


@pytest.fixture
def reads_bob(world: Any) -> Reader:
    """Bob's pages: he may decide."""
    return _signed_in(world.bob)


@pytest.fixture
def reads_carol(world: Any) -> Reader:
    """Carol's pages: she belongs to another team."""
    return _signed_in(world.carol)


@pytest.fixture
def ask(world: Any) -> Callable[[str], Any]:
    """Run a scenario of the rehearsal agent; returns the first interrupt that it ended with."""
    return lambda scenario: open_interrupts(start(world, f"rehearse:{scenario}"))[0]


@pytest.fixture
def ana(world):
    """An administrator of the team."""
    return add_member(
        team=world.team,
        username="ana",
        full_name="Ana",
        password="p",
        role=Role.ADMIN,
        actor=SEED,
    )


@pytest.fixture
def reads_ana(ana):
    client = Client()
    sign_in(client, ana)
    return Reader(client)
