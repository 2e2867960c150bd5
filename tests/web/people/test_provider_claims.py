"""Claims of ID tokens about the sign-in at the provider: acr, amr and auth_time."""

import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from allauth.account.models import EmailAddress
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from structlog.testing import capture_logs

from inbox.models import Team
from inbox.platform.setting_parsers import allauth_settings, parse_providers
from tests.support.http.oidc_provider import Provider
from tests.support.web.pages import words

AGAIN = "/login/corp/?again=1&next=/teams/tests/"
TOO_LONG_AGO = "Your sign-in at the provider is too long ago."
NO_TIME = "The provider does not tell when you signed in there"
TOO_WEAK = "Your sign-in at the provider was not as strong as this site requires."


@pytest.fixture(scope="module")
def corp() -> Iterator[Provider]:
    provider = Provider()
    yield provider
    provider.stop()


class Person:
    """Bob in a browser, who signs in at the provider."""

    def __init__(self, provider: Provider, settings: Any) -> None:
        self.provider, self.settings, self.browser = provider, settings, Client()
        self.configure()

    def configure(self, **more: Any) -> None:
        providers = parse_providers(self.provider.setting(**more))
        self.settings.OIDC_PROVIDERS = providers
        self.settings.SOCIALACCOUNT_PROVIDERS = allauth_settings(providers)

    def sign_in(self, path: str = "/login/corp/?next=/threads/", **claims: Any) -> str:
        """Return where the browser ends up after the provider."""
        person = {"sub": "7", "email": "bob@example.com", "email_verified": True}
        self.provider.claims = {**person, **claims}
        redirect = httpx.get(self.browser.get(path).url)
        back = urlsplit(redirect.headers["Location"])
        return str(self.browser.get(f"{back.path}?{back.query}").url)

    def adds_a_key(self) -> bool:
        """Return whether the session does what needs a fresh sign-in."""
        body = {"name": "ci", "scopes": ["read"]}
        answer = self.browser.post("/api/teams/tests/keys", body, content_type="application/json")
        return answer.status_code == 201

    def reads(self) -> str:
        return words(self.browser.get("/login/", follow=True))


@pytest.fixture
def bob(world, corp, settings) -> Person:
    world.bob.memberships.update(role="admin")
    EmailAddress.objects.create(user=world.bob, email="bob@example.com", verified=True)
    return Person(corp, settings)


@pytest.mark.parametrize(
    ("claims", "is_fresh"),
    [
        ({}, False),
        ({"auth_time": "now"}, False),
        ({"auth_time": -3_600}, False),
        ({"auth_time": 0}, True),
    ],
    ids=["no time", "no number", "an hour ago", "now"],
)
def test_a_sign_in_is_as_fresh_as_its_auth_time(bob, claims, is_fresh):
    if isinstance(claims.get("auth_time"), int):
        claims = {"auth_time": time.time() + claims["auth_time"]}

    assert bob.sign_in(**claims) == "/threads/"

    assert bob.adds_a_key() is is_fresh


def test_an_auth_time_in_the_future_is_not_fresh_for_longer(bob):
    bob.sign_in(auth_time=time.time() + 3_600)

    (step,) = bob.browser.session["account_authentication_methods"]
    assert step["auth_time"] <= time.time()


@pytest.mark.parametrize(
    ("claims", "message"),
    [({"auth_time": -300}, TOO_LONG_AGO), ({}, NO_TIME)],
    ids=["older", "no time"],
)
def test_a_token_with_an_older_auth_time_confirms_no_identity(bob, claims, message):
    bob.sign_in(auth_time=time.time() - 3_600)
    claims = {name: time.time() + seconds for name, seconds in claims.items()}

    assert bob.sign_in(AGAIN, **claims) == "/login/"

    assert message in bob.reads()
    assert not bob.adds_a_key()


def test_a_sign_in_at_the_provider_just_now_confirms_an_identity(bob):
    bob.sign_in(auth_time=time.time() - 3_600)

    assert bob.sign_in(AGAIN, auth_time=time.time()) == "/teams/tests/"

    assert bob.adds_a_key()
    assert (bob.provider.query["prompt"], bob.provider.query["max_age"]) == ("login", "0")


@pytest.mark.parametrize(
    ("claims", "message"), [({"auth_time": -7_200}, TOO_LONG_AGO), ({}, NO_TIME)]
)
def test_a_sign_in_is_refused_beyond_the_max_age(bob, claims, message):
    bob.configure(max_age=3_600)

    assert bob.sign_in(auth_time=time.time() - 1_800) == "/threads/"
    assert bob.provider.query["max_age"] == "3600"
    bob.browser.logout()
    claims = {name: time.time() + seconds for name, seconds in claims.items()}
    assert bob.sign_in(**claims) == "/login/"

    assert message in bob.reads()


@pytest.mark.parametrize("claims", [{}, {"acr": "password"}, {"acr": ["mfa"]}])
def test_a_sign_in_is_refused_without_one_of_the_acr_values(bob, claims):
    bob.configure(acr_values=["mfa", "phr"])

    assert bob.sign_in(**claims) == "/login/"

    assert TOO_WEAK in bob.reads()
    assert bob.provider.query["acr_values"] == "mfa phr"
    assert bob.sign_in(acr="phr") == "/threads/"


@pytest.mark.parametrize(
    ("claims", "enters"),
    [
        ({}, False),
        ({"amr": ["pwd"]}, False),
        ({"amr": "mfa"}, False),
        ({"acr": "phr"}, False),
        ({"amr": ["pwd", "mfa"]}, True),
    ],
)
def test_a_provider_counts_as_second_factor_if_its_token_says_so(world, bob, claims, enters):
    Team.objects.filter(pk=world.team.pk).update(required_sign_in="second_factor")

    bob.sign_in(**claims)

    assert (bob.browser.get("/teams/tests/").status_code == 200) is enters


def test_an_acr_that_is_asked_for_counts_as_second_factor(world, bob):
    Team.objects.filter(pk=world.team.pk).update(required_sign_in="second_factor")
    bob.configure(acr_values=["phr"])

    bob.sign_in(acr="phr")

    assert bob.browser.get("/teams/tests/").status_code == 200


@pytest.mark.parametrize(
    "more",
    [
        {"acr_values": "mfa"},
        {"acr_values": []},
        {"acr_values": ["a b"]},
        {"acr_values": [1]},
        {"max_age": 0},
        {"max_age": "60"},
        {"max_age": True},
    ],
)
def test_requirements_that_make_no_sense_are_refused_at_start(corp, more):
    with pytest.raises(ImproperlyConfigured):
        parse_providers(corp.setting(**more))


# -- addresses that the provider does not call verified ------------------------------------------

TRUST = {"domains": ["example.com"], "trusts_email": True}


def enter(person: Person, email_verified: Any = None, **claims: Any) -> str:
    """Sign in with a token that has no `email_verified` unless it is given."""
    verified = {} if email_verified is None else {"email_verified": email_verified}
    person.provider.claims = {"sub": "7", "email": "bob@example.com", **verified, **claims}
    redirect = httpx.get(person.browser.get("/login/corp/?next=/threads/").url)
    back = urlsplit(redirect.headers["Location"])
    return str(person.browser.get(f"{back.path}?{back.query}").url)


@pytest.fixture
def user_info(corp) -> Iterator[Provider]:
    yield corp
    corp.user_info = None


def test_a_token_without_email_verified_needs_a_setting(bob):
    with capture_logs() as logs:
        assert enter(bob) == "/login/"
    assert "No account is linked" in bob.reads()
    assert [row["reason"] for row in logs if "refused" in row["event"]] == [
        "no email_verified; see trusts_email of SIGNOFF_OIDC"
    ]
    assert "bob@" not in str(logs)

    bob.configure(**TRUST)

    assert enter(bob) == "/threads/"


@pytest.mark.parametrize("value", [False, "false", 0, "yes"])
def test_an_address_that_is_not_verified_is_never_trusted(bob, value):
    bob.configure(**TRUST)

    with capture_logs() as logs:
        assert enter(bob, value) == "/login/"
    assert "email_verified is not true" in str(logs)


def test_only_addresses_of_the_domains_are_trusted(bob):
    bob.configure(domains=["corp.example"], trusts_email=True)

    with capture_logs() as logs:
        assert enter(bob) == "/login/"
    assert "the domain of the address is not in domains" in str(logs)


def test_the_user_info_says_that_an_address_is_verified(bob, user_info):
    user_info.user_info = {"sub": "7", "email": "bob@example.com", "email_verified": True}

    assert enter(bob) == "/threads/"


@pytest.mark.parametrize(
    "answer",
    [
        {"sub": "8", "email": "bob@example.com", "email_verified": True},
        {"sub": "7", "email_verified": True},
        {"sub": "7", "email": "bob@example.com", "email_verified": False},
        {},
    ],
    ids=["another person", "no address", "not verified", "broken"],
)
def test_other_user_info_verifies_no_address(bob, user_info, answer):
    user_info.user_info = answer

    assert enter(bob) == "/login/"


def test_user_info_that_denies_beats_the_setting(bob, user_info):
    bob.configure(**TRUST)
    user_info.user_info = {"sub": "7", "email": "bob@example.com", "email_verified": False}

    assert enter(bob) == "/login/"


def test_linked_people_enter_while_the_user_info_is_broken(bob, user_info):
    assert enter(bob, True) == "/threads/"
    user_info.user_info = {}
    bob.browser = Client()

    assert enter(bob) == "/threads/"


@pytest.mark.parametrize(
    "more",
    [
        {"trusts_email": True},
        {"trusts_email": True, "domains": []},
        {"domains": "example.com"},
    ],
)
def test_trust_without_domains_is_refused_at_start(corp, more):
    with pytest.raises(ImproperlyConfigured, match="domains"):
        parse_providers(corp.setting(**more))
