"""REST: the notifications of the person who asks."""

from functools import partial
from typing import Annotated, Any

from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.notifications.subscriptions import (
    send_test,
    set_schedule,
    subscribe,
    unsubscribe,
)
from inbox.api.base.base_view import ApiView
from inbox.api.base.field_types import UNSET, Text, example
from inbox.api.base.openapi_descriptions import describe_operation
from inbox.api.base.schema import Schema
from inbox.api.notifications.chats import Events, FilterQuery, Minutes
from inbox.queries.notifications.notifications import preferences_of
from inbox.queries.notifications.recipients import person_of, schedule_of
from inbox.rules import errors
from inbox.rules.notifications.events import CHOICES, DEFAULT_MINUTES, DeliveryMode
from inbox.rules.notifications.schedule import check_schedule, schedule_texts
from inbox.rules.people.access import Permission

operation = partial(
    describe_operation, tag="notifications", scope=Permission.READ, only_people=True
)

Clock = Annotated[str, Text(5, may_be_blank=True), example("22:00")]
Zone = Annotated[str, Text(64), example("Europe/Berlin")]


class MailInput(Schema):
    events: Events = list(CHOICES)
    mode: DeliveryMode = DeliveryMode.IF_WAITING
    minutes: Minutes = DEFAULT_MINUTES
    filter: FilterQuery = ""
    """The query string of a list of requests, as in a saved view; empty for all requests."""
    zone: Zone = UNSET
    quiet_from: Clock = UNSET
    """Empty, as `quiet_to`, without quiet hours."""
    quiet_to: Clock = UNSET
    digest_at: Clock = UNSET


class Mails(Schema):
    address: Annotated[str, example("ana@example.com")]
    """To which mails go: a confirmed one, "" without any."""
    enabled: bool
    disabled_by_failures: bool
    answer: Annotated[str, example("")]
    """Of the mail server to the last mail, "" if it was accepted."""
    events: Annotated[list[str], example(["opened"])]
    mode: DeliveryMode
    minutes: Minutes
    filter: FilterQuery
    zone: Zone
    quiet_from: Clock
    quiet_to: Clock
    digest_at: Clock


class MyNotifications(ApiView):
    @operation("GET", "Get what you are notified of", {200: Mails})
    def get_my_notifications(self, request: Request) -> Response:
        return Response(self._represent())

    @operation(
        "PUT",
        "Choose what you are notified of",
        {200: Mails},
        body=MailInput,
        refusals=(errors.InvalidValue,),
        description="Mails go to a confirmed address of your account. Times that are left out "
        "stay as they are.",
    )
    def set_my_notifications(self, request: Request) -> Response:
        body = MailInput.from_request(request)
        times = schedule_texts(schedule_of(person_of(self.actor)))
        sent = body.model_dump(exclude_unset=True)
        schedule = check_schedule({name: sent.get(name, text) for name, text in times.items()})
        subscribe(
            events=body.events,
            mode=body.mode,
            minutes=body.minutes,
            language=None,
            only=body.filter,
            actor=self.actor,
        )
        set_schedule(schedule=schedule, actor=self.actor)
        return Response(self._represent())

    @operation("DELETE", "End your notifications", {204: None})
    def end_my_notifications(self, request: Request) -> Response:
        unsubscribe(actor=self.actor)
        return Response(status=204)

    @operation(
        "POST",
        "Send a test mail to yourself",
        {202: None},
        refusals=(errors.InvalidValue,),
    )
    def test_my_notifications(self, request: Request) -> Response:
        send_test(language=None, actor=self.actor)
        return Response(status=202)

    def _represent(self) -> dict[str, Any]:
        mine = preferences_of(self.actor)
        row = mine.subscription
        return Mails.represent(
            mine,
            enabled=row is not None,
            disabled_by_failures=mine.is_disabled,
            events=row.events if row else [],
            mode=row.mode if row else DeliveryMode.IF_WAITING,
            minutes=row.minutes if row else DEFAULT_MINUTES,
            filter=row.filter if row else "",
            **schedule_texts(mine.schedule),
        )
