"""REST: the absence of the person who asks, and the deputy who is told instead."""

from datetime import datetime
from functools import partial
from typing import Annotated

from pydantic import AwareDatetime
from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.notifications.absences import decline_deputy, set_away
from inbox.api.base.base_view import ApiView
from inbox.api.base.field_types import PersonName, example
from inbox.api.base.openapi_descriptions import describe_operation
from inbox.api.base.schema import List, Schema, source
from inbox.platform.clock import database_now
from inbox.queries.notifications.deputies import absence_of, possible_deputies, represented_by
from inbox.queries.notifications.recipients import person_of
from inbox.rules import errors
from inbox.rules.people.access import Permission

operation = partial(
    describe_operation, tag="notifications", scope=Permission.READ, only_people=True
)


class Colleague(Schema):
    id: int = source("pk")
    username: Annotated[str, example("ana")]
    name: PersonName = source("display_name")


class AbsenceInput(Schema):
    until: AwareDatetime
    """The instant at which you are back, within a year."""
    deputy: Annotated[int | None, example(7)] = None
    """The id of a colleague who may decide in one of your teams."""


class Absence(Schema):
    until: datetime | None
    """Null if you are not away."""
    deputy: Colleague | None
    deputy_of: list[Colleague]
    """The people whose deputy you are now."""


class MyAbsence(ApiView):
    @operation("GET", "Get your absence", {200: Absence})
    def get_my_absence(self, request: Request) -> Response:
        user_id, now = person_of(self.actor), database_now()
        row = absence_of(user_id, now)
        return Response(
            Absence.represent(
                None,
                until=row.away_until if row else None,
                deputy=Colleague.represent(row.deputy) if row and row.deputy else None,
                deputy_of=[Colleague.represent(user) for user in represented_by(user_id, now)],
            )
        )

    @operation(
        "PUT",
        "Say until when you are away",
        {200: Absence},
        body=AbsenceInput,
        refusals=(errors.InvalidValue,),
        description="Your deputy is told of requests instead of you, and gets no rights.",
    )
    def set_my_absence(self, request: Request) -> Response:
        body = AbsenceInput.from_request(request)
        set_away(until=body.until, deputy=body.deputy, actor=self.actor)
        return self.get_my_absence(request)

    @operation("DELETE", "Say that you are back", {204: None})
    def end_my_absence(self, request: Request) -> Response:
        set_away(until=None, deputy=None, actor=self.actor)
        return Response(status=204)

    @operation("GET", "List the colleagues who can be your deputy", {200: List[Colleague]})
    def list_deputies(self, request: Request) -> Response:
        rows = possible_deputies(person_of(self.actor))
        return Response({"results": [Colleague.represent(row) for row in rows]})

    @operation("DELETE", "Decline to be the deputy of a person", {204: None})
    def decline_deputy(self, request: Request, user: int) -> Response:
        decline_deputy(user_id=user, actor=self.actor)
        return Response(status=204)
