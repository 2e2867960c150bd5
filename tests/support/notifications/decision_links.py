"""Mails with links to decide, and the pages of these links."""

import json
import re
from typing import Any

from django.core import mail
from django.test import Client

from tests.support.notifications.subscribed import send_all, subscribe_person
from tests.support.policies.published import publish, rule
from tests.support.steps import open_interrupts, start

WAYS = ("web", "rest", "link")
_LINK = re.compile(r"/decide/([\w-]{43})/")


def allow_links(world: Any, *ways: str, **require: Any) -> None:
    """Publish a policy by which the ways, among them links, may decide."""
    publish(world, rule("mailed", "ask", require={"via": list(ways or WAYS), **require}))


def tokens_in(text: str) -> list[str]:
    """Return the tokens of the links to decide in a mail, in order, each once."""
    return list(dict.fromkeys(_LINK.findall(text)))


def last_token() -> str:
    """Return the token of the link in the last mail, which has one."""
    (token,) = tokens_in(str(mail.outbox[-1].body))
    return token


def mailed_link(world: Any, actor: Any, scenario: str = "tool_call") -> tuple[Any, str]:
    """Let an agent ask, mail a person about it; return the request and the token of the link."""
    subscribe_person(actor)
    (interrupt,) = open_interrupts(start(world, f"rehearse:{scenario}"))
    send_all()
    return interrupt, last_token()


def press(client: Client, token: str, action: str = "approve", **fields: str) -> Any:
    """Open a link, and press one of the buttons of its page."""
    page = client.get(f"/decide/{token}/")
    return send(client, token, action, secret=secret_of(page), **fields)


def send(client: Client, token: str, action: str = "approve", **fields: str) -> Any:
    return client.post("/decide/", {"token": token, "action": action, **fields})


def secret_of(page: Any) -> str:
    """Return the secret that a page has in its form and in its cookie, "" without a form."""
    match = re.search(r'name="secret" value="([^"]+)"', page.content.decode())
    return match[1] if match else ""


def prepare_demo(username: str) -> None:
    """For `manage.py shell`, beside a running demo: allow links, and mail a person at once."""
    from inbox.actions.policies.versions import publish_draft, save_draft
    from inbox.queries.people.teams import team_by_slug
    from inbox.rules.people.access import SEED

    team = team_by_slug("demo")
    save_draft(
        team_id=team.pk,
        body={"rules": [rule("mailed", "ask", require={"via": list(WAYS)})]},
        actor=SEED,
    )
    publish_draft(team_id=team.pk, actor=SEED)
    subscribe_person(_actor(username))


def print_tokens(username: str) -> None:
    """For `manage.py shell`: make links to all open requests of the demo, and print the tokens."""
    from uuid import uuid4

    from django.db import transaction

    from inbox.actions.notifications.decision_links import issue_links
    from inbox.models import Interrupt
    from inbox.platform.clock import database_now

    rows = Interrupt.objects.filter(status="open").select_related("team", "tool_call", "run")
    user_id = _actor(username).user_id
    with transaction.atomic():
        tokens = issue_links(list(rows), user_id=user_id, message_id=uuid4(), now=database_now())
    print(json.dumps({str(pk): token for pk, token in tokens.items()}))


def print_counts() -> None:
    """For `manage.py shell`: print how many links are used, and how many decisions there are."""
    from inbox.models import Decision, DecisionLink

    used = DecisionLink.objects.exclude(used_at=None).count()
    print(json.dumps([used, Decision.objects.filter(entrance="link").count()]))


def _actor(username: str) -> Any:
    from inbox.models import User
    from inbox.queries.people.api_keys import actor_of_user

    return actor_of_user(User.objects.get(username=username))
