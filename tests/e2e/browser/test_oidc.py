"""Signing in at an identity provider, in a browser, with a provider on this machine."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.core.exceptions import ImproperlyConfigured
from playwright.sync_api import Browser, Page, expect

from inbox.platform.setting_parsers import parse_providers
from tests.support.browser.site import Site, open_site
from tests.support.http.oidc_provider import CLIENT, Provider
from tests.support.processes import embedded_environment, manage

browser = pytest.mark.browser

CLAIMS = {"sub": "7", "email": "marco@example.com", "email_verified": True, "name": "Marco"}
FULL_PROVIDER = {"name": "Corp", "client_id": "x", "client_secret": "y"}
NEW = {"sub": "8", "email": "nora@example.com", "email_verified": True, "name": "Nora New"}


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    provider = Provider()
    yield provider
    provider.stop()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("elsewhere")


@pytest.fixture(scope="module")
def site(chromium: Browser, data: Path, provider: Provider) -> Iterator[Site]:
    setting = provider.setting(team="demo", domains=["example.com"])
    with open_site(data, chromium, SIGNOFF_OIDC=setting) as site:
        environment = embedded_environment(data, SIGNOFF_OIDC=setting)
        command = (
            "from allauth.account.models import EmailAddress as E; from inbox.models import User;"
            "E.objects.create(user=User.objects.get(username='marco'), email='marco@example.com',"
            "verified=True, primary=True);"
            "E.objects.create(user=User.objects.get(username='dana'), email='dana@example.com');"
            "E.objects.create(user=User.objects.get(username='dana'), email='dana@else.example',"
            "verified=True)"
        )
        manage(environment, "shell", "-c", command)
        site.elsewhere = (provider.url,)
        yield site


@pytest.fixture(scope="module")
def invited(site: Site, data: Path) -> str:
    """The address of an invitation to ida@elsewhere.example."""
    code = (
        "from inbox.actions.people.invitations import invite; from inbox.models import Team;"
        "from inbox.rules.people.access import SEED, Role;"
        "team = Team.objects.get(slug='demo');"
        "print(invite(team_id=team.pk, email='ida@elsewhere.example', role=Role.REVIEWER,"
        " actor=SEED, site='')[1])"
    )
    return manage(embedded_environment(data), "shell", "-c", code).splitlines()[-1]


def come_from(site: Site, page: Page, provider: Provider, claims: dict[str, Any]) -> None:
    provider.claims = claims
    page.goto(f"{site.url}/login/?next=/runs/")
    page.get_by_role("link", name="Sign in with Example Corp").click()


@browser
def test_a_person_is_known_by_a_confirmed_address(site, provider):
    renamed = {**CLAIMS, "email": "renamed@example.com"}
    for claims in (CLAIMS, renamed):  # the second time by the subject of the provider alone
        with site.browse() as page:
            come_from(site, page, provider, claims)

            expect(page.locator(".me-name")).to_have_text("Marco Ruiz")
            assert page.url == f"{site.url}/runs/"
    assert min(map(len, provider.states)) >= 43
    assert len(set(provider.states)) == len(provider.states)


@browser
def test_somebody_new_gets_an_account_in_the_team_that_is_configured(site, provider):
    with site.browse() as page:
        come_from(site, page, provider, NEW)

        expect(page.locator(".me-name")).to_have_text("Nora New")
        page.goto(f"{site.url}/account/")
        expect(page.get_by_text("nora@example.com").first).to_be_visible()
        expect(page.get_by_role("link", name="Change the password")).to_have_count(0)


@browser
@pytest.mark.parametrize(
    "claims",
    [
        {**NEW, "sub": "9", "email": "eve@elsewhere.example"},
        {**NEW, "sub": "10", "email": "eve@evil.example.com.example"},
        {**NEW, "sub": "17", "email": "dana@else.example"},
        {**CLAIMS, "sub": "11", "email_verified": False},
        {**CLAIMS, "sub": "12", "email_verified": "false"},
        {"sub": "13"},
    ],
    ids=[
        "another domain",
        "a longer domain",
        "somebody of another domain",
        "not confirmed",
        "not confirmed either",
        "no mail",
    ],
)
def test_nobody_else_gets_in(site, provider, claims):
    with site.browse() as page:
        come_from(site, page, provider, claims)

        expect(page.get_by_text("No account is linked to this sign-in.")).to_be_visible()
        page.goto(f"{site.url}/account/")
        expect(page.locator("#id_username")).to_be_visible()


@browser
def test_who_is_invited_joins_by_signing_in_there(site, provider, invited):
    with site.browse() as page:
        provider.claims = {**NEW, "sub": "16", "email": "ida@elsewhere.example", "name": "Ida"}
        page.goto(f"{site.url}{invited}")
        page.get_by_role("link", name="Sign in with Example Corp").click()

        expect(page.locator(".me-name")).to_have_text("Ida")
        expect(page.locator("#detail .bar")).to_contain_text("Demo")


@browser
def test_oidc_email_not_verified_locally_does_not_link_the_account(site, provider):
    """Dana has typed it and not confirmed it: whoever holds it is somebody else."""
    with site.browse() as page:
        come_from(site, page, provider, {**NEW, "sub": "14", "email": "dana@example.com"})

        expect(page.locator(".me-name")).to_have_text("Nora New")


@browser
@pytest.mark.parametrize(
    "wrong", ["signature", "algorithm", "audience", "down", "issuer", "metadata", "late"]
)
def test_what_the_provider_did_not_sign_for_us_lets_nobody_in(site, provider, wrong):
    claims, key = dict(CLAIMS), provider.signs_with
    if wrong == "signature":
        provider.signs_with = rsa.generate_private_key(65537, 2048)
    if wrong == "issuer":
        claims["iss"] = "https://elsewhere.example"
    if wrong == "late":
        claims["exp"] = 1_000_000_000
    provider.audience = "another-client" if wrong == "audience" else CLIENT
    provider.is_down = wrong == "down"
    provider.signs_with_secret = wrong == "algorithm"
    if wrong == "metadata":
        provider.names_issuer = claims["iss"] = "https://elsewhere.example"

    with site.browse() as page:
        come_from(site, page, provider, claims)
        expect(page.get_by_text("Signing in with the provider failed.")).to_be_visible()
        page.goto(f"{site.url}/account/")
        expect(page.locator("#id_username")).to_be_visible()

    provider.signs_with, provider.audience, provider.is_down = key, CLIENT, False
    provider.names_issuer, provider.signs_with_secret = "", False


@browser
@pytest.mark.parametrize(
    "path", ["back/", "back/?code=x&state=y", "back/?error=access_denied", "?process=connect"]
)
def test_an_address_that_makes_no_sense_lets_nobody_in(site, provider, path):
    provider.claims = {"sub": "15"}
    with site.browse() as page:
        page.goto(f"{site.url}/login/corp/{path}")

        expect(page.locator("#id_username")).to_be_visible()
        expect(page.locator(".banner")).to_be_visible()


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"id": "corp"}',
        "[1]",
        json.dumps({**FULL_PROVIDER, "id": "a/b", "issuer": "https://x"}),
        json.dumps({**FULL_PROVIDER, "id": "code", "issuer": "https://x"}),
        json.dumps({**FULL_PROVIDER, "id": "a", "issuer": "ftp://x"}),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_at_start(text):
    with pytest.raises(ImproperlyConfigured):
        parse_providers(text)
