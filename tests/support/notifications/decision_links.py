"""Mails with links to decide, and the pages of these links."""

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
