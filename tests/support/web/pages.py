"""Reading pages as text and sending their forms."""

import html
import json
import re
from collections.abc import Mapping
from typing import Any

from django.http import QueryDict
from django.test import Client

from tests.support.forms.form_page import Page

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

    def form(self, interrupt: Any) -> Page:
        """The decision form of an interrupt, to type into."""
        return decision_form(self.open(interrupt))

    def send(
        self,
        interrupt: Any,
        action: str,
        typed: Mapping[str, str] | None = None,
        *,
        as_json: Mapping[str, str] | None = None,
        live: bool = False,
        **more: str,
    ) -> Any:
        """
        Press a button of the form, with what it holds and what is typed.

        `typed` names fields and their text, or the value that is chosen; `as_json` what is written
        into the JSON tab of a form; `more` fields that are there or not.
        """
        form = self.form(interrupt)
        for name, text in (typed or {}).items():
            if form.control_type(name) == "radio":
                form.choose(name, text)
            else:
                form.fill(name, text)
        post = form.post().copy()
        for name, text in (as_json or {}).items():
            post[f"{name}.tab"], post[f"{name}.json"] = "json", text.replace("\n", "\r\n")
        for name, text in more.items():
            post[name] = text
        return self.post(interrupt, post, action, live=live)

    def post(self, interrupt: Any, post: QueryDict, action: str, *, live: bool = False) -> Any:
        """Send a form as it was at some time."""
        return self.client.post(
            f"/interrupts/{interrupt.pk}/decide",
            f"{post.urlencode()}&action={action}",
            content_type="application/x-www-form-urlencoded",
            **(_HTMX if live else {}),
        )


def decision_form(page: str) -> Page:
    """The form that decides, out of a page."""
    match = re.search(r'<form[^>]* id="decision".*?</form>', page, re.DOTALL)
    assert match, "there is no form to decide with"
    return Page(match.group())


def input_value(page: str, name: str) -> str:
    match = re.search(rf'<input[^>]* name="{name}"[^>]* value="([^"]*)"', page)
    assert match, f"there is no input {name}"
    return html.unescape(match.group(1))


def words(response: Any) -> str:
    """What a page says, without its markup."""
    text = re.sub(r"<(script|style|svg).*?</\1>", "", response.content.decode(), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def sent(interrupt: Any) -> Any:
    """The payload of the decision that stands."""
    decision = interrupt.decisions.get(withdrawn_at=None)
    return None if decision.payload is None else json.loads(decision.payload)


def err(page, field):
    """Return the error message beside a field."""
    text = page.content.decode()
    (control,) = re.findall(rf'<(?:input|select)[^>]* id="{field}"[^>]*>', text)
    assert 'aria-invalid="true"' in control
    (described,) = re.findall(r'aria-describedby="([^"]*)"', control)
    match = re.search(rf'id="{described.split()[-1]}">([^<]*)<', text)
    return html.unescape(match.group(1))


def row_html(response, interrupt):
    """The row of an interrupt, as HTML."""
    start_tag = rf'<li class="row[^>]*id="row-{interrupt.pk}"'
    return re.search(rf"{start_tag}.*?</li>", response.content.decode(), re.DOTALL).group()
