"""Reading pages as text and sending their forms."""

import html
import json
import re
from typing import Any

from django.test import Client

_HTMX = {"HTTP_HX_REQUEST": "true"}


class Reader:
    """Somebody who is signed in."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def get(self, path: str, *, live: bool = False) -> Any:
        return self.client.get(path, **(_HTMX if live else {}))

    def open(self, interrupt: Any) -> str:
        """The page of an interrupt, as HTML."""
        return str(self.get(f"/interrupts/{interrupt.pk}/").content.decode())

    def send(self, interrupt: Any, action: str, *, live: bool = False, **fields: str) -> Any:
        """Press a button of the form, with what the form holds and `fields` typed into it."""
        page = self.open(interrupt)
        held = {"view_digest": input_value(page, "view_digest")}
        args = textarea(page, "args")
        if args is not None:
            held["args"] = args
        typed = {name: text.replace("\n", "\r\n") for name, text in {**held, **fields}.items()}
        return self.client.post(
            f"/interrupts/{interrupt.pk}/decide",
            {"action": action, **typed},
            **(_HTMX if live else {}),
        )


def textarea(page: str, name: str) -> str | None:
    """The text of a text area, as a browser holds it."""
    found = re.search(rf'<textarea[^>]* name="{name}"[^>]*>\n?(.*?)</textarea>', page, re.DOTALL)
    return html.unescape(found.group(1)) if found else None


def input_value(page: str, name: str) -> str:
    found = re.search(rf'<input[^>]* name="{name}"[^>]* value="([^"]*)"', page)
    assert found, f"there is no input {name}"
    return html.unescape(found.group(1))


def words(response: Any) -> str:
    """What a page says, without its markup."""
    text = re.sub(r"<(script|style|svg).*?</\1>", "", response.content.decode(), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def sent(interrupt: Any) -> Any:
    """The payload of the decision that stands."""
    decision = interrupt.decisions.get(withdrawn_at=None)
    return None if decision.payload is None else json.loads(decision.payload)
