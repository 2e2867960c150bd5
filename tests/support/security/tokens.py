"""Secrets of every kind that opens something, each with the only entrance that it may open."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect


@dataclass(frozen=True)
class Site:
    """A running product, a file of its team, and the cookies of a person who is signed in."""

    url: str
    file_id: str
    cookies: dict[str, str]

    def get(self, path: str, **more: Any) -> httpx.Response:
        return httpx.get(f"{self.url}{path}", timeout=20, **more)


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _opens_rest(site: Site, token: str) -> bool:
    return site.get("/api/teams", headers=_bearer(token)).status_code == 200


def _opens_rest_by_query(site: Site, token: str) -> bool:
    names = ("token", "key", "api_key", "access_token", "session", "sessionid")
    return any(site.get("/api/teams", params={name: token}).status_code == 200 for name in names)


def _opens_session(site: Site, token: str) -> bool:
    return site.get("/api/teams", cookies={"sessionid": token}).status_code == 200


def _opens_agui(site: Site, token: str) -> bool:
    return site.get("/agui/rehearsal/capabilities", headers=_bearer(token)).status_code == 200


def _opens_mcp(site: Site, token: str) -> bool:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    answer = httpx.post(f"{site.url}/mcp", json=ping, headers=_bearer(token), timeout=20)
    return answer.status_code == 200


def _opens_scim(site: Site, token: str) -> bool:
    return site.get("/scim/v2/Users", headers=_bearer(token)).status_code == 200


def _opens_socket(site: Site, token: str) -> bool:
    address = f"ws://{urlsplit(site.url).netloc}/ws/live/"
    try:
        with connect(address, additional_headers=_bearer(token), open_timeout=20):
            return True
    except InvalidStatus:
        return False


def _opens_metrics(site: Site, token: str) -> bool:
    return site.get("/metrics", headers=_bearer(token)).status_code == 200


def _opens_readiness(site: Site, token: str) -> bool:
    """Details of readiness, as a proxy passes the request on: by the token only."""
    headers = {**_bearer(token), "X-Forwarded-For": "203.0.113.9"}
    return "parts" in site.get("/readyz", headers=headers).json()


def _opens_page(pattern: str) -> Callable[[Site, str], bool]:
    def opens(site: Site, token: str) -> bool:
        return site.get("/" + pattern.replace("<str:token>", token)).status_code == 200

    return opens


def _opens_chat_link(site: Site, token: str) -> bool:
    answer = site.get(f"/account/chats/link/{token}/", cookies=site.cookies)
    return answer.status_code == 200


def _opens_password(site: Site, token: str) -> bool:
    """A link that is not valid has a page without a form."""
    uid, _, key = token.partition("-")
    page = site.get(f"/password/{uid}-{key or 'x'}/", follow_redirects=True)
    return page.status_code == 200 and 'name="password1"' in page.text


def _opens_address(site: Site, token: str) -> bool:
    """A link that is not valid has a page without the button."""
    return ">Confirm</button>" in site.get(f"/account/email/{token}/").text


def _opens_file(site: Site, token: str) -> bool:
    query = token if "signature=" in token else f"expires=9999999999&signature={token}"
    return site.get(f"/files/{site.file_id}/?{query}").status_code == 200


#: What a secret may open, by a short name.
ENTRANCES: dict[str, Callable[[Site, str], bool]] = {
    "REST": _opens_rest,
    "REST, in the query": _opens_rest_by_query,
    "AG-UI": _opens_agui,
    "MCP": _opens_mcp,
    "SCIM": _opens_scim,
    "WebSocket": _opens_socket,
    "cookie": _opens_session,
    "metrics": _opens_metrics,
    "readiness": _opens_readiness,
    "decide/<str:token>/": _opens_page("decide/<str:token>/"),
    "unsubscribe/<str:token>/": _opens_page("unsubscribe/<str:token>/"),
    "join/<str:token>/": _opens_page("join/<str:token>/"),
    "account/chats/link/<str:token>/": _opens_chat_link,
    "password/<base36:uidb36>-<str:key>/": _opens_password,
    "account/email/<str:key>/": _opens_address,
    "file": _opens_file,
}
_OF_KEYS = {"REST", "AG-UI", "MCP", "WebSocket"}
#: The entrances that each kind of secret opens; it opens no other.
OPENS: dict[str, set[str]] = {
    "API key": _OF_KEYS,
    "key of an agent": _OF_KEYS,
    "key without run": _OF_KEYS - {"MCP"},
    "revoked key": set(),
    "token of a directory": {"SCIM"},
    "session": {"cookie"},
    "stored session": set(),
    "metrics token": {"metrics", "readiness"},
    "link to decide": {"decide/<str:token>/"},
    "link to unsubscribe": {"unsubscribe/<str:token>/"},
    "invitation": {"join/<str:token>/"},
    "code of a chat": {"account/chats/link/<str:token>/"},
    "link to a new password": {"password/<base36:uidb36>-<str:key>/"},
    "link to confirm an address": {"account/email/<str:key>/"},
    "link to a file": {"file"},
    "secret of a webhook": set(),
}


METRICS_TOKEN = "a token of the metrics"


def prepare_people() -> None:
    """For `manage.py shell`, beside a running demo: a person of its team, and API keys as JSON."""
    from inbox.platform.clock import database_now
    from inbox.queries.people.teams import team_by_slug
    from inbox.rules.people.access import Permission, Role
    from tests.support.notifications.decision_links import prepare_demo
    from tests.support.security.callers import join_team, keys_of, new_key

    team = team_by_slug("demo")
    session = join_team("the-owner", team, Role.ADMIN)
    keys = {
        "API key": new_key(team, *Permission),
        "key of an agent": new_key(team, Permission.READ, Permission.RUN, agent="rehearsal"),
        "key without run": new_key(team, Permission.READ),
        "revoked key": new_key(team, *Permission),
    }
    keys_of(keys["revoked key"]).update(revoked_at=database_now())
    prepare_demo("the-owner")
    print(json.dumps({"session": session} | {name: key.token for name, key in keys.items()}))


def print_tokens() -> None:
    """For `manage.py shell`, after `prepare_people` and a request: links of all kinds as JSON."""
    from uuid import uuid4

    from allauth.account.forms import default_token_generator
    from allauth.account.models import EmailAddress, EmailConfirmationHMAC
    from allauth.account.utils import user_pk_to_url_str
    from django.db import transaction

    from inbox.actions.directories.directories import add_directory
    from inbox.actions.notifications.chat_accounts import issue_link_code
    from inbox.actions.notifications.decision_links import issue_links
    from inbox.actions.people.invitations import invite
    from inbox.actions.webhooks.endpoints import add_webhook
    from inbox.models import Channel, Interrupt, User
    from inbox.platform.clock import database_now
    from inbox.queries.notifications.notifications import unsubscribe_token
    from inbox.rules.people.access import SEED, Role

    user = User.objects.get(username="the-owner")
    request = Interrupt.objects.select_related("team", "tool_call", "run").latest("created_at")
    team = request.team
    with transaction.atomic():
        links = issue_links([request], user_id=user.pk, message_id=uuid4(), now=database_now())
    _, invitation = invite(
        team_id=team.pk, email="nora@example.com", role=Role.VIEWER, actor=SEED, site=""
    )
    _, secret = add_webhook(
        team_id=team.pk,
        url="https://hooks.example.com/",
        event_types=["run.finished"],
        actor=SEED,
    )
    code = issue_link_code(team_id=team.pk, workspace="T0", external_id="U0", name="owner")
    address = EmailAddress.objects.create(user=user, email="fresh@example.com")
    password_key = default_token_generator.make_token(user)
    tokens = {
        "token of a directory": add_directory(name="corp", actor=SEED)[1],
        "link to decide": links[request.pk],
        "link to unsubscribe": unsubscribe_token(Channel.objects.get(user=user).pk),
        "invitation": invitation.rstrip("/").rpartition("/")[2],
        "code of a chat": code,
        "link to a new password": f"{user_pk_to_url_str(user)}-{password_key}",
        "link to confirm an address": EmailConfirmationHMAC(address).key,
        "secret of a webhook": secret,
    }
    print(json.dumps(tokens))
