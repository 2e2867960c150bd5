"""Sign-in with one click, in the demo on this machine and nowhere else."""

import html
import re

import pytest
from django.test import Client

from inbox.models import ApiKey, User
from inbox.web.base import demo as demo_pages
from tests.support.audit.entries import make_admin
from tests.support.web.fresh_sign_in import sign_in
from tests.support.web.pages import words

OFFER = "This is a demo. Look around as"


@pytest.fixture
def demo(world, settings):
    settings.DEMO_PEOPLE = ["bob", "alice"]
    settings.ALLOWED_HOSTS = ["*"]


def browser(**more):
    return Client(**{"HTTP_HOST": "localhost:8000", **more})


def choose(client, name="bob", **more):
    return client.post("/login/demo/", {"username": name, **more})


def test_people_of_the_demo_sign_in_with_one_click(demo):
    client = browser()

    assert f"{OFFER} B Bob Reviewer" in words(client.get("/login/"))
    answer = choose(client, next="/decided/")

    assert (answer.status_code, answer.headers["Location"]) == (302, "/decided/")
    assert client.get("/decided/").status_code == 200


def test_nobody_signs_in_without_a_password_outside_of_the_demo(world):
    client = browser()

    assert OFFER not in words(client.get("/login/"))
    assert choose(client).status_code == 404
    assert client.get("/").status_code == 302


@pytest.mark.parametrize(
    "where",
    [
        {"REMOTE_ADDR": "192.0.2.7"},
        {"REMOTE_ADDR": ""},
        {"HTTP_HOST": "signoff.example"},
        {"HTTP_HOST": "localhost.example:8000"},
        {"HTTP_X_FORWARDED_FOR": "127.0.0.1"},
        {"HTTP_FORWARDED": "for=127.0.0.1"},
    ],
    ids=str,
)
def test_other_machines_and_proxies_get_no_demo_sign_in(demo, where):
    client = browser(**where)

    assert OFFER not in words(client.get("/login/"))
    assert choose(client).status_code == 404


@pytest.mark.parametrize("name", ["carol", "", "BOB", "nobody"])
def test_only_people_of_the_demo_can_be_chosen(demo, name):
    assert choose(browser(), name).status_code == 404


def test_superusers_and_inactive_people_are_not_offered(demo, world):
    world.alice.is_superuser = True
    world.alice.save(update_fields=["is_superuser"])
    world.bob.is_active = False
    world.bob.save(update_fields=["is_active"])

    assert [choose(browser(), name).status_code for name in ("alice", "bob")] == [404, 404]


def test_a_demo_sign_in_needs_the_form_of_the_page(demo):
    client = browser(enforce_csrf_checks=True)

    assert choose(client).status_code == 403


def test_a_demo_sign_in_leads_to_pages_of_signoff_only(demo):
    answer = choose(browser(), next="https://evil.example/")

    assert answer.headers["Location"] == "/"


def test_demo_sign_ins_are_limited(demo, monkeypatch):
    monkeypatch.setattr(demo_pages, "_LIMIT", demo_pages.parse("1/year"))

    answers = [choose(browser()) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [302, 429]
    assert "Retry-After" in answers[1].headers


def test_a_confirmation_by_one_click_keeps_the_form(demo, world, settings):
    ana = User.objects.get(pk=make_admin(world).user_id)
    settings.DEMO_PEOPLE = [ana.username]
    client = browser()
    sign_in(client, ana, seconds_ago=11 * 60)
    headers = {"Referer": "http://localhost:8000/teams/tests/keys/new/"}
    key = {"name": "ci", "scopes": ["read"], "agent": "", "days": "90"}
    refused = client.post("/teams/tests/keys/add", key, headers=headers)

    page = client.get(refused.url)
    (following,) = re.findall(r'name="next" value="(/account/confirm/form/[^"]*)"', text_of(page))
    confirmed = choose(client, ana.username, next=html.unescape(following))
    form_page = client.get(confirmed.headers["Location"])
    (back,) = re.findall(r'name="next" value="([^"]*)"', text_of(form_page))
    sent = client.post("/account/confirm/form/", {"next": back})

    assert sent.status_code == 200
    assert ApiKey.objects.filter(name="ci").exists()


def text_of(page):
    return page.content.decode()
