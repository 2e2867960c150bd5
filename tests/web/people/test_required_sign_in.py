"""Teams that require a second factor or an identity provider of their members."""

import time
from dataclasses import replace

import pytest
from allauth.account.authentication import AUTHENTICATION_METHODS_SESSION_KEY
from allauth.mfa.models import Authenticator
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from inbox.actions.people.members import add_membership, change_team
from inbox.models import AuditEntry, Interrupt, Team, User
from inbox.models.people.sessions import stored_key
from inbox.queries.people.api_keys import actor_of_user
from inbox.queries.people.live_access import live_access_of
from inbox.rules.errors import InvalidValue
from inbox.rules.people.access import SEED, Role
from inbox.rules.people.required_sign_in import Proof, RequiredSignIn, is_met
from tests.support.audit.entries import audited, make_admin
from tests.support.http.rest_client import Caller, decision
from tests.support.web.fresh_sign_in import sign_in
from tests.support.web.pages import words

PASSWORD = {"method": "password"}
CODE = {"method": "mfa", "type": "totp"}
CONFIRMED_CODE = {**CODE, "reauthenticated": True}
PASSKEY = {"method": "mfa", "type": "webauthn", "passwordless": True}
PROVIDER = {"method": "socialaccount", "provider": "corp"}
STRONG_PROVIDER = {**PROVIDER, "has_second_factor": True}
REQUIRED = "/account/required/"


def require(world, value):
    Team.objects.filter(pk=world.team.pk).update(required_sign_in=value)


def browser_with(user, *steps):
    client = Client()
    sign_in(client, user)
    session = client.session
    session[AUTHENTICATION_METHODS_SESSION_KEY] = [{**step, "at": time.time()} for step in steps]
    session.save()
    return client


def decide(browser, interrupt):
    body = decision(interrupt, {"approved": True})
    path = f"/api/interrupts/{interrupt.pk}/decide"
    return browser.post(path, body, content_type="application/json").status_code


@pytest.mark.parametrize(
    ("required", "steps", "enters"),
    [
        ("any", [PASSWORD], True),
        ("second_factor", [PASSWORD], False),
        ("second_factor", [], False),
        ("second_factor", [PASSWORD, CODE], True),
        ("second_factor", [PASSWORD, CONFIRMED_CODE], True),
        ("second_factor", [PASSKEY], True),
        ("second_factor", [PROVIDER], False),
        ("second_factor", [STRONG_PROVIDER], True),
        ("second_factor", [PROVIDER, CODE], True),
        ("provider", [PASSWORD, CODE], False),
        ("provider", [PASSKEY], False),
        ("provider", [PROVIDER], True),
        ("provider", [STRONG_PROVIDER], True),
    ],
)
def test_only_the_required_sign_in_enters_the_team(world, ask, required, steps, enters):
    interrupt = ask("tool_call")
    require(world, required)
    browser = browser_with(world.bob, *steps)

    page = browser.get("/")
    key = stored_key(browser.cookies["sessionid"].value)
    actor = replace(actor_of_user(world.bob, browser.session), session_key=key)
    (live,) = live_access_of([actor])

    assert (page.status_code == 200) is enters
    assert enters or page.url == REQUIRED
    assert bool(live.reads and live.decides) is enters
    assert bool(browser.get("/api/teams").json()["results"]) is enters
    assert browser.get(f"/interrupts/{interrupt.pk}/").status_code == (200 if enters else 302)
    assert decide(browser, interrupt) == (200 if enters else 404)
    is_decided = Interrupt.objects.get(pk=interrupt.pk).status != "open"
    assert is_decided is enters


def test_a_form_of_a_page_does_not_decide_either(world, ask):
    interrupt = ask("tool_call")
    require(world, "second_factor")

    answer = browser_with(world.bob, PASSWORD).post(
        f"/interrupts/{interrupt.pk}/decide",
        {"action": "approve", "view_digest": interrupt.view_digest},
    )

    assert (answer.status_code, answer.url) == (302, REQUIRED)
    assert Interrupt.objects.get(pk=interrupt.pk).status == "open"


def test_api_keys_are_not_affected(world):
    require(world, "provider")

    assert Caller(world.key).get("/api/threads").status_code == 200


def test_the_page_leads_to_the_set_up_and_then_to_the_confirmation(world):
    require(world, "second_factor")
    browser = browser_with(world.bob, PASSWORD)
    page = browser.get(REQUIRED)

    assert "You do not get into Tests" in words(page)
    assert 'href="/account/app/"' in page.content.decode()
    assert browser.get("/account/app/").status_code in (200, 302)  # confirms the password first
    Authenticator.objects.create(user=world.bob, type="totp", data={"secret": "x"})
    assert "/account/confirm/code/?next=%2F" in browser.get(REQUIRED).content.decode()


def test_whoever_enters_all_teams_is_sent_to_the_inbox(world):
    assert browser_with(world.bob, PASSWORD).get(REQUIRED).status_code == 303


def test_other_teams_stay_open_and_the_closed_one_leads_to_the_page(world, ask):
    interrupt = ask("tool_call")
    others = world.carol.memberships.get().team
    add_membership(others.pk, world.bob, Role.VIEWER, SEED)
    require(world, "second_factor")
    browser = browser_with(world.bob, PASSWORD)

    assert browser.get("/").status_code == 200
    assert browser.get("/teams/others/").status_code == 200
    assert browser.get(f"/interrupts/{interrupt.pk}/").url == REQUIRED
    assert browser.get("/teams/tests/").url == REQUIRED


def test_an_administrator_cannot_lock_themselves_out(world, settings):
    settings.OIDC_PROVIDERS = [{"id": "corp", "name": "Corp"}]
    user = User.objects.get(pk=make_admin(world).user_id)
    ana = actor_of_user(user, browser_with(user, PASSWORD).session)
    for value in ("second_factor", "provider"):
        with pytest.raises(InvalidValue):
            change_team(team_id=world.team.pk, required_sign_in=RequiredSignIn(value), actor=ana)
    with_code = replace(ana, proofs=frozenset({Proof.SECOND_FACTOR}))
    change_team(
        team_id=world.team.pk,
        required_sign_in=RequiredSignIn.SECOND_FACTOR,
        actor=replace(with_code, signed_in_at=timezone.now()),
    )

    assert Team.objects.get(pk=world.team.pk).required_sign_in == "second_factor"
    assert audited("team.setting_changed")[-1][1]["setting"] == "required_sign_in"


def test_a_provider_can_be_required_only_where_there_is_one(world, settings):
    settings.OIDC_PROVIDERS = []

    with pytest.raises(InvalidValue):
        change_team(team_id=world.team.pk, required_sign_in=RequiredSignIn.PROVIDER, actor=SEED)


def test_an_operator_opens_the_team_again_with_a_record(world):
    require(world, "second_factor")

    call_command("reset_second_factor", "--team", "tests")

    assert browser_with(world.bob, PASSWORD).get("/").status_code == 200
    entry = AuditEntry.objects.get(action="team.setting_changed")
    assert (entry.actor_id, entry.content["detail"]["value"]) == ("system:operator", "any")


def test_each_requirement_names_what_it_accepts():
    assert is_met("any", ())
    assert not is_met("provider", {Proof.SECOND_FACTOR})
