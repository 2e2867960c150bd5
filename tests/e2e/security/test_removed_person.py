"""A person whom a directory removes, and the running product."""

import json
import time
from contextlib import suppress
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.e2e.agui_server.test_websockets import session
from tests.support.http.scim_client import PATCH, USER
from tests.support.processes import manage
from tests.support.product import embedded_product

#: Processes look for ended sessions every two seconds; a busy machine needs longer.
PATIENCE_SECONDS = 10
#: Priya, a member of the demo's team, with a confirmed address, a key and a webhook.
PREPARE = """
from allauth.account.models import EmailAddress
from inbox.actions.people.api_keys import make_key
from inbox.actions.people.members import change_role
from inbox.actions.webhooks.endpoints import add_webhook
from inbox.models import Team, User
from inbox.queries.people.api_keys import actor_of_user
from inbox.rules.people.access import SEED, Permission, Role
team, priya = Team.objects.get(slug="demo"), User.objects.get(username="priya")
EmailAddress.objects.update_or_create(user=priya, email="priya@corp.example",
    defaults={"verified": True})
change_role(team_id=team.pk, user_id=priya.pk, role=Role.ADMIN, actor=SEED)
actor = actor_of_user(priya)
add_webhook(team_id=team.pk, url="https://hooks.example.com/x", event_types=["run.finished"],
    actor=actor)
print(make_key(team_id=team.pk, name="hers", scopes={Permission.READ}, actor=actor)[1])
"""
#: What is left of her afterwards.
LOOK = """
import json
from inbox.models import AuditEntry, Membership, User, WebhookEndpoint
priya = User.objects.get(username__startswith="priya")
entries = AuditEntry.objects.filter(action__in=["person.removed", "person.deactivated",
    "member.removed", "key.revoked", "webhook.disabled"])
print(json.dumps({
    "active": priya.is_active,
    "memberships": Membership.objects.filter(user=priya).count(),
    "webhook": WebhookEndpoint.objects.get(owner=priya).disabled_reason,
    "actors": sorted({entry.content["actor"] for entry in entries}),
}))
"""


def wait_for_the_end(opened):
    with suppress(ConnectionClosed):
        while True:
            opened.recv(timeout=PATIENCE_SECONDS)


def token_of_directory(site):
    options = ("--directory", "corp", "--link-accounts")
    return manage(site.environment, "create_api_key", *options).strip()


@pytest.mark.parametrize("how", ["DELETE", "PATCH"])
def test_a_person_removed_in_the_directory_is_out_at_once(tmp_path, how):
    with embedded_product(tmp_path) as site:
        key = manage(site.environment, "shell", "-c", PREPARE).splitlines()[-1]
        directory = {
            "Authorization": f"Bearer {token_of_directory(site)}",
            "Content-Type": "application/scim+json",
        }
        emails = [{"value": "priya@corp.example", "primary": True}]
        body = {"schemas": [USER], "userName": "priya@corp.example", "emails": emails}
        users = f"{site.url}/scim/v2/Users"
        linked = httpx.post(users, headers=directory, content=json.dumps(body))
        assert linked.status_code == 201, linked.text
        cookies = session(site, "priya")
        bearer = {"Authorization": f"Bearer {key}"}
        assert httpx.get(f"{site.url}/api/threads", headers=bearer).status_code == 200
        assert httpx.get(f"{site.url}/account/", headers={"Cookie": cookies}).status_code == 200

        socket = f"{site.url.replace('http', 'ws')}/ws/live/"
        page = {"Cookie": cookies, "Origin": "http://" + urlsplit(site.url).netloc}
        with connect(socket, additional_headers=page, open_timeout=10) as opened:
            opened.recv(timeout=10)
            off = {
                "schemas": [PATCH],
                "Operations": [{"op": "Replace", "path": "active", "value": "False"}],
            }
            text = json.dumps(off) if how == "PATCH" else None
            address = f"{users}/{linked.json()['id']}"
            removed = httpx.request(how, address, headers=directory, content=text)
            began = time.monotonic()
            assert removed.status_code == (200 if how == "PATCH" else 204), removed.text
            assert httpx.get(f"{site.url}/api/threads", headers=bearer).status_code == 401
            account = httpx.get(f"{site.url}/account/", headers={"Cookie": cookies})
            assert account.status_code == 302
            wait_for_the_end(opened)
            print(f"the socket closed after {time.monotonic() - began:.2f} s")
            assert time.monotonic() - began < PATIENCE_SECONDS

        left = json.loads(manage(site.environment, "shell", "-c", LOOK).splitlines()[-1])
        assert left == {
            "active": False,
            # Somebody who is inactive is in no team for anybody, and gets it back.
            "memberships": 0 if how == "DELETE" else 1,
            "webhook": "owner_left",
            "actors": ["directory corp"],
        }
