"""The admin: who gets in, what none of its pages holds, and that looking changes nothing."""

import re

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from inbox.admin import site
from inbox.models import (
    ApiKey,
    AuditPayload,
    Comment,
    Directory,
    Endpoint,
    IdempotencyRecord,
    User,
    WebhookEndpoint,
)
from inbox.platform.encryption import decrypt
from tests.e2e.security.test_browser_rules import rows
from tests.support.security.callers import CSRF, NAMES, Caller
from tests.support.security.routes import FAMILIES, GUARDED_IN_TEAMS, call

HEADER_VALUE = "a secret"  # of the agent elsewhere, by `things`
ODD = (
    *("q=%00", "id__lt=%00", "id__lt=nothing", f"id__lt={10**30}", "team__id__exact=nothing"),
    *("status__exact=nothing", "is_active__exact=x", "o=1.2", "p=x", "e=1", "all=", "_popup=1"),
    *("_facets=1", f"q={'x' * 4_000}"),
)
#: A secret could be found letter by letter.
GUESSES = (
    *("digest__startswith=a", "team__api_keys__digest__startswith=a", "_to_field=digest"),
    *("password__startswith=a", "payload__salt__startswith=a", "session_key__startswith=a"),
)


@pytest.fixture
def seen(things, world, bob):
    """All that the admin can show is there, once at least."""
    from inbox import transparency_log
    from inbox.actions.decisions.claims_and_comments import add_comment
    from inbox.actions.directories.directories import add_directory
    from inbox.actions.directories.directory_groups import add_group
    from inbox.actions.people.api_keys import rotate_key
    from inbox.actions.webhooks.endpoints import rotate_secret
    from inbox.models import Interrupt
    from inbox.queries.directories.directories import directory_actor
    from inbox.rules.directories.directory_people import PeopleGroup
    from inbox.rules.people.access import SEED

    interrupt = Interrupt.objects.get(pk=things.interrupt_id)
    add_comment(interrupt_id=interrupt.pk, text="a word among reviewers", actor=bob)
    rotate_key(key_id=things.key_id, actor=SEED)
    rotate_secret(endpoint_id=things.webhook_id, actor=SEED)
    _, token = add_directory(name="corp", actor=SEED)
    add_group(group=PeopleGroup("Staff"), actor=directory_actor(f"Bearer {token}", "127.0.0.1"))
    transparency_log.append_and_sign()
    return things


@pytest.fixture
def root(db):
    """A superuser's browser."""
    User.objects.create_superuser("root", password="root-password")
    client = Client(enforce_csrf_checks=True)
    client.cookies["csrftoken"] = CSRF
    client.post(
        "/login/",
        {"username": "root", "password": "root-password"},
        headers={"X-CSRFToken": CSRF},
    )
    return client


def pages():
    """The address of each page that can be read, of a list also with a search and its filters."""
    paths = [reverse("admin:index"), "/admin/inbox/", "/admin/usersessions/", "/admin/jsi18n/"]
    for model, page in site._registry.items():
        name = f"admin:{page.opts.app_label}_{page.opts.model_name}"
        listed = reverse(f"{name}_changelist")
        paths += [listed, f"{listed}?q=tests", f"{listed}?q={model.objects.first().pk}"]
        paths += [reverse(f"{name}_change", args=[row.pk]) for row in model.objects.all()]
        if "add/" in {str(url.pattern) for url in page.get_urls()}:
            paths.append(reverse(f"{name}_add"))
    return paths


def secrets():
    """Everything that no page may show, as it is kept."""
    secrets = [HEADER_VALUE, *User.objects.exclude(password="").values_list("password", flat=True)]
    for model, columns in (
        (ApiKey, ("digest", "former_digest")),
        (Directory, ("digest",)),
        (WebhookEndpoint, ("secret", "former_secret")),
        (Endpoint, ("headers",)),
        (AuditPayload, ("salt",)),
        (Session, ("session_key", "session_data")),
        (UserSession, ("session_key",)),
        (IdempotencyRecord, ("key_digest",)),
    ):
        for values in model.objects.values_list(*columns):
            secrets += [value for value in values if value]
    sealed = WebhookEndpoint.objects.values_list("secret", "former_secret")
    return secrets + [decrypt(value) for values in sealed for value in values if value]


def test_every_page_is_there_holds_no_secret_and_changes_nothing(seen, callers, root):
    before, hidden = rows(), secrets()
    assert any(secret.startswith("whsec_") for secret in hidden)
    assert len(hidden) > 30

    for address in pages():
        answer = root.get(address)
        text = answer.content.decode()
        assert answer.status_code == 200, address
        assert [secret for secret in hidden if secret in text] == [], address
        assert "<style" not in text, address
        assert not re.search(r'<[^>]+ (style|on\w+)="', text), address
        assert not re.search(r"<script(?![^>]* src=)", text), address

    assert rows() == before


def test_the_pages_of_every_row_have_their_rows(seen, root):
    """Otherwise the test above looks at empty pages."""
    for model in site._registry:
        assert model.objects.exists(), model
    response = root.get(reverse("admin:inbox_comment_change", args=[Comment.objects.get().pk]))
    assert "a word among reviewers" in response.content.decode()


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_everybody_gets_at_each_address_of_a_family_what_its_line_says(family, callers, things):
    for route in family.routes():
        got = {name: call(route, callers[name], things).status_code for name in NAMES}
        assert got == family.statuses, route.pattern


def token(client):
    return {"X-CSRFToken": client.cookies["csrftoken"].value}


def test_a_superuser_reads_and_posts_and_nothing_else(seen, root):
    before = rows()

    for address in pages():
        for method in ("PUT", "PATCH", "DELETE"):
            answer = root.generic(method, address, headers=token(root))
            assert answer.status_code == 405, (method, address)

    assert rows() == before


def test_nothing_is_changed_in_the_admin_without_a_csrf_token(seen, root):
    before = rows()

    for address in pages():
        assert root.post(address, {"_revoke": "x", "_remove": "x"}).status_code == 403, address

    assert rows() == before


def test_history_takes_no_post(seen, root):
    before = rows()

    for page in site._registry.values():
        if not page.has_add_permission(None) and not page.has_change_permission(None):
            for address in (path for path in pages() if f"/{page.opts.model_name}/" in path):
                answer = root.post(address, {"_save": "x"}, headers=token(root))
                assert answer.status_code == 405, address

    assert rows() == before


@pytest.mark.parametrize("route", GUARDED_IN_TEAMS, ids=str)
def test_a_superuser_without_a_team_is_a_stranger_to_it(route, things, root):
    caller = Caller(session=root.cookies["sessionid"].value)

    assert call(route, caller, things).status_code == route.statuses["stranger"]


def test_no_query_is_an_error_of_ours_or_asks_for_a_secret(seen, root):
    for page in site._registry.values():
        address = reverse(f"admin:{page.opts.app_label}_{page.opts.model_name}_changelist")
        for query in ODD:
            assert root.get(f"{address}?{query}").status_code in (200, 302, 400), (address, query)
        for query in GUESSES:
            assert root.get(f"{address}?{query}").status_code == 400, (address, query)


def test_a_row_that_is_not_there_is_no_error_of_ours(seen, root):
    for page in site._registry.values():
        for row in ("nothing", "0", str(10**30), "a/b", "%00", "_5F"):
            address = f"/admin/{page.opts.app_label}/{page.opts.model_name}/{row}/change/"
            assert root.get(address).status_code in (302, 400, 404), address
