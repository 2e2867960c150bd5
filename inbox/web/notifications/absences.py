"""The absence of a person on the page of their notifications."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from inbox.platform.clock import database_now
from inbox.queries.notifications.deputies import absence_of, possible_deputies, represented_by
from inbox.queries.notifications.recipients import person_of, schedule_of
from inbox.rules.errors import InvalidValue
from inbox.rules.notifications.away import end_of_day, last_day
from inbox.rules.people.access import Actor
from inbox.rules.text.messages import TranslatableMessage


@dataclass(frozen=True)
class AbsenceFields:
    """The fields of the form, as texts: the last day of the absence, and the id of the deputy."""

    day: str = ""
    deputy: str = ""

    def until(self, zone: str) -> datetime:
        """Return the end of the absence; raises InvalidValue."""
        try:
            return end_of_day(date.fromisoformat(self.day), zone)
        except (ValueError, OverflowError):
            text = TranslatableMessage("Enter a day from today, within a year.")
            raise InvalidValue(text, problems={"until": [text]}) from None

    @property
    def deputy_id(self) -> int | None:
        is_id = self.deputy.isascii() and self.deputy.isdecimal() and len(self.deputy) < 19
        return int(self.deputy) if is_id else None


def absence_context(actor: Actor, entered: AbsenceFields | None) -> dict[str, Any]:
    """Return the values of the form, and the people whose deputy the person is."""
    user_id, now = person_of(actor), database_now()
    row = absence_of(user_id, now)
    fields = entered or AbsenceFields()
    if entered is None and row and row.away_until:
        day = last_day(row.away_until, schedule_of(user_id).zone).isoformat()
        fields = AbsenceFields(day, str(row.deputy_id or ""))
    return {
        "absence": row,
        "absence_fields": fields,
        "deputies": [
            (user.pk, user.display_name, str(user.pk) == fields.deputy)
            for user in possible_deputies(user_id)
        ],
        "represented": represented_by(user_id, now),
    }
