"""How somebody signed in, as their actor knows it."""

import pytest
from django.test import Client

from inbox.queries.people.api_keys import actor_of_user
from inbox.queries.people.live_access import live_access_of
from inbox.rules.people.auth_methods import last_sign_in, sign_in_method

PASSWORD = {"method": "password", "username": "bob"}
TOTP = {"method": "mfa", "type": "totp", "id": 1}
CODE = {"method": "mfa", "type": "recovery_codes", "id": 2}
PASSKEY = {"method": "mfa", "type": "webauthn", "id": 3, "passwordless": True}
OIDC = {"method": "socialaccount", "provider": "corp", "uid": "1"}


@pytest.mark.parametrize(
    ("steps", "method"),
    [
        ([], ""),
        ([PASSWORD], "password"),
        ([PASSWORD, TOTP], "password+totp"),
        ([PASSWORD, CODE], "password+recovery-code"),
        ([PASSKEY], "passkey"),
        ([OIDC], "oidc:corp"),
        ([OIDC, TOTP], "oidc:corp+totp"),
        ([PASSWORD, {**TOTP, "reauthenticated": True}], "password"),
        ([PASSWORD, PASSWORD], "password"),
        ([{**TOTP, "type": "unheard-of"}], ""),
    ],
)
def test_the_steps_of_signing_in_have_a_name(steps, method):
    assert sign_in_method(steps) == method


@pytest.mark.parametrize(
    ("steps", "seconds"),
    [
        ([], None),
        ([PASSWORD], None),
        ([{**PASSWORD, "at": 100.5}], 100.5),
        ([{**PASSWORD, "at": 100}, {**TOTP, "at": 900, "reauthenticated": True}], 900),
        ([{**PASSWORD, "at": "now"}], None),
        ([{**OIDC, "at": 900}], None),
        ([{**OIDC, "at": 900, "auth_time": 300}], 300),
        ([{**OIDC, "at": 900, "auth_time": True}], None),
        ([{**OIDC, "at": 900, "auth_time": 300}, {**TOTP, "at": 500}], 500),
    ],
)
def test_the_last_step_is_the_time_of_the_sign_in(steps, seconds):
    moment = last_sign_in(steps)

    assert (moment and moment.timestamp()) == seconds


@pytest.fixture
def session(world):
    """A session of Bob's in which he gave his password."""
    client = Client()
    client.force_login(world.bob)
    session = client.session
    session["account_authentication_methods"] = [PASSWORD]
    session["account_authentication_methods_user"] = str(world.bob.pk)
    session.save()
    return session


def test_an_actor_knows_how_they_signed_in(world, session, robot):
    assert actor_of_user(world.bob, session).method == "password"
    assert robot.method == "key"
    assert world.actor(world.bob).method == ""


def test_the_steps_of_somebody_else_are_not_those_of_who_is_signed_in(world, session):
    assert actor_of_user(world.alice, session).method == ""


def test_an_actor_does_not_show_the_secret_of_their_session(world, session):
    assert session.session_key not in repr(actor_of_user(world.bob, session))


def test_who_acts_in_a_session_may_stay_until_it_ends(world, session):
    actor = actor_of_user(world.bob, session)
    (access,) = live_access_of([actor])
    assert str(world.team.pk) in access.reads

    session.delete()

    assert live_access_of([actor]) == [None]
