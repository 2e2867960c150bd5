"""REST: the browsers of the person who asks that get push messages."""

from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext
from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.notifications.push_channels import (
    add_browser,
    choose_pushes,
    remove_browser,
    send_browser_test,
)
from inbox.api.base.base_view import ApiView
from inbox.api.base.field_types import UNSET, Id, OneOf, Text, example, url
from inbox.api.base.openapi_descriptions import describe_operation
from inbox.api.base.schema import List, Schema
from inbox.api.notifications.chats import ChatMode, Events, Label, Minutes
from inbox.queries.notifications.push_channels import Browser, browser_of, browsers_of
from inbox.rules import errors
from inbox.rules.notifications.events import (
    CHOICES,
    DEFAULT_MINUTES,
    ChannelKind,
    DeliveryMode,
)
from inbox.rules.notifications.push_subscriptions import MAX_KEY_CHARACTERS, PushSubscription
from inbox.rules.people.access import Permission
from inbox.rules.people.user_agent import browser_and_system
from inbox.rules.webhooks.outgoing_urls import MAX_URL_CHARACTERS

operation = partial(
    describe_operation, tag="notifications", scope=Permission.READ, only_people=True
)

Endpoint = Annotated[
    str, url(MAX_URL_CHARACTERS), example("https://updates.push.services.mozilla.com/wpush/v2/x")
]
Key = Annotated[str, Text(MAX_KEY_CHARACTERS)]
Language = Annotated[str, OneOf(*(code for code, _ in settings.LANGUAGES)), example("en")]


class PushKeys(Schema):
    p256dh: Annotated[
        Key,
        example(
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcx"
            "aOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
        ),
    ]
    auth: Annotated[Key, example("BTBZMqHH6r4Tts7J_aSIgg")]


class BrowserInput(Schema):
    """A `PushSubscription` of a browser, as its `toJSON()` returns it."""

    endpoint: Endpoint
    keys: PushKeys
    language: Language = UNSET
    """Of the messages. A known browser keeps its language without."""
    former_endpoint: Endpoint = UNSET
    """That the browser had before."""


class BrowserChoice(Schema):
    events: Events = list(CHOICES)
    mode: ChatMode = DeliveryMode.IF_WAITING
    minutes: Minutes = DEFAULT_MINUTES


class PushChannel(Schema):
    """A browser that gets push messages. All browsers of a person get the same."""

    id: Id
    kind: Literal[ChannelKind.PUSH]
    label: Annotated[Label, example("Firefox on Linux")]
    host: Annotated[str, example("updates.push.services.mozilla.com")]
    events: Events
    mode: ChatMode
    minutes: Minutes
    disabled_by_failures: bool
    answer: Annotated[str, example("")]
    """Of the push service to the last message, "" if it was accepted."""
    sent_at: datetime | None
    created_at: datetime


class MyChannels(ApiView):
    @operation("GET", "List your browsers that get push messages", {200: List[PushChannel]})
    def list_my_channels(self, request: Request) -> Response:
        return self._list()

    @operation(
        "POST",
        "Add a browser",
        {201: PushChannel},
        body=BrowserInput,
        refusals=(errors.InvalidValue,),
        description="The same browser again changes its channel. Its name is made of the header "
        "`User-Agent`.",
    )
    def add_my_channel(self, request: Request) -> Response:
        body = BrowserInput.from_request(request)
        channel = add_browser(
            subscription=PushSubscription(body.endpoint, body.keys.p256dh, body.keys.auth),
            label=_label(request.headers.get("User-Agent", ""), body.language),
            language=body.language,
            former_endpoint=body.former_endpoint or "",
            actor=self.actor,
        )
        return Response(_represent(browser_of(self.actor, channel.pk)), status=201)

    @operation(
        "PUT",
        "Choose what your browsers get",
        {200: List[PushChannel]},
        body=BrowserChoice,
        refusals=(errors.InvalidValue,),
    )
    def set_my_channels(self, request: Request) -> Response:
        body = BrowserChoice.from_request(request)
        choose_pushes(
            events=body.events,
            mode=body.mode,
            minutes=body.minutes,
            language=None,
            actor=self.actor,
        )
        return self._list()

    @operation("DELETE", "Remove a browser", {204: None})
    def remove_my_channel(self, request: Request, channel_id: UUID) -> Response:
        remove_browser(channel_id=channel_id, actor=self.actor)
        return Response(status=204)

    @operation("POST", "Send a test message to a browser", {202: None})
    def test_my_channel(self, request: Request, channel_id: UUID) -> Response:
        send_browser_test(channel_id=channel_id, actor=self.actor)
        return Response(status=202)

    def _list(self) -> Response:
        return Response({"results": [_represent(row) for row in browsers_of(self.actor)]})


def _represent(browser: Browser) -> dict[str, Any]:
    return PushChannel.represent(
        browser, kind=ChannelKind.PUSH, disabled_by_failures=browser.is_disabled
    )


def _label(user_agent: str, language: str | None) -> str:
    """Return the name of a browser for its person, such as Firefox on Linux."""
    browser, system = browser_and_system(user_agent)
    with translation.override(language or settings.LANGUAGE_CODE):
        if browser and system:
            pattern = gettext("%(browser)s on %(system)s")
            return pattern % {"browser": browser, "system": system}
        return browser or system or gettext("A browser")
