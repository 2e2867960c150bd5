"""The form for one calendar of a policy."""

import json

import pytest

from inbox.actions.policies.versions import save_draft
from inbox.models import PolicyDraft, Team
from inbox.rules.people.access import SEED
from inbox.rules.policies.language.document import parse_policy
from inbox.rules.policies.language.policy import WEEKDAYS
from inbox.web.policies.editing.calendar_form import (
    CalendarForm,
    calendar_json,
    form_of,
    week_text,
)
from tests.support.policies.published import administrator, rule, tool_is

PATH = "/teams/tests/policy/"
HOURS = {"path": "/local_time", "op": "in_hours", "value": "office", "not": True}
NIGHT = rule("night", "deny", tool_is("deploy"), HOURS)
DEADLINE = rule("deadline", "ask", require={"expires_after": "PT4H", "hours": "office"})
OFFICE = {
    "zone": "Europe/Berlin",
    "week": {"mon": [["09:00", "12:00"], ["13:00", "17:00"]], "sat": [["22:00", "24:00"]]},
    "closed": ["2026-12-25"],
}


@pytest.fixture
def admin(client, world):
    client.force_login(type(world.bob).objects.get(pk=administrator(world).user_id))
    return client


def draft():
    return json.loads(PolicyDraft.objects.get().body)


def keep(*rules, **calendars):
    body = {"rules": list(rules), "calendars": calendars}
    return save_draft(team_id=Team.objects.get(slug="tests").pk, body=body, actor=SEED).digest


def fields(**more):
    row = PolicyDraft.objects.first()
    seen = row.digest if row else ""
    return {"name": "office", "zone": "UTC", "mon": "09:00-17:00", "seen": seen, "save": "", **more}


def test_a_calendar_is_added_to_the_draft(admin):
    days = {"mon": "9-12, 13:00\N{EN DASH}17:00", "sat": "22:00-24:00"}
    more = {"zone": "Europe/Berlin", "closed": "2026-12-25\n"}

    done = admin.post(f"{PATH}new-calendar/add", fields(**more, **days))

    assert (done.status_code, done.url) == (303, PATH)
    assert draft() == {"rules": [], "calendars": {"office": OFFICE}}
    page = admin.get(PATH).content.decode()
    assert "Monday 09:00-12:00, 13:00-17:00; Saturday 22:00-24:00" in page


def test_the_form_shows_a_calendar_and_changes_it(admin):
    keep(NIGHT, office=OFFICE)
    page = admin.get(f"{PATH}calendars/office/").content.decode()
    assert 'value="09:00-12:00, 13:00-17:00"' in page
    assert "2026-12-25" in page

    done = admin.post(f"{PATH}calendars/office/save", fields(name="other"))

    assert done.status_code == 303
    week = {"mon": [["09:00", "17:00"]]}
    assert draft()["calendars"] == {"office": {"zone": "UTC", "week": week}}
    assert draft()["rules"] == [NIGHT]


@pytest.mark.parametrize(
    ("change", "field", "text"),
    [
        ({"zone": "Berlin"}, "zone", "This must be a time zone"),
        ({"zone": ""}, "zone", ""),
        ({"mon": "morning"}, "mon", "This must be two times of a day"),
        ({"mon": "17-9"}, "mon", "This must be two times of a day"),
        ({"mon": "9-12, 11-13"}, "mon", "Intervals overlap."),
        ({"closed": "Christmas"}, "closed", "This must be a date"),
        ({"name": "Our office"}, "name", ""),
        ({"name": ""}, "name", ""),
        ({"name": "a\u202eb"}, "", ""),
    ],
)
def test_errors_are_at_their_field_and_the_input_stays(admin, change, field, text):
    refused = admin.post(f"{PATH}new-calendar/add", fields(tue="8-9", **change))

    page = refused.content.decode()
    assert refused.status_code == 422
    assert 'value="8-9"' in page
    assert text in page
    assert not field or f'id="f-{field}-err"' in page
    assert not PolicyDraft.objects.exists()


def test_a_calendar_without_hours_is_refused(admin):
    refused = admin.post(f"{PATH}new-calendar/add", fields(mon=""))

    assert refused.status_code == 422
    assert "This calendar is never open." in refused.content.decode()


def test_a_second_calendar_of_a_name_is_refused(admin):
    keep(office=OFFICE)

    refused = admin.post(f"{PATH}new-calendar/add", fields())

    assert refused.status_code == 422
    assert "Another calendar has this name." in refused.content.decode()
    assert draft()["calendars"] == {"office": OFFICE}


@pytest.mark.parametrize("user", [NIGHT, DEADLINE])
def test_a_calendar_that_a_rule_uses_is_not_deleted(admin, user):
    keep({**user, "name": "After work"}, office=OFFICE)

    refused = admin.post(f"{PATH}calendars/office/save", fields(delete=""))

    assert refused.status_code == 422
    assert "The rule After work uses this calendar." in refused.content.decode()
    assert draft()["calendars"] == {"office": OFFICE}


def test_an_unused_calendar_is_deleted(admin):
    keep(NIGHT, office=OFFICE, spare=OFFICE)

    assert admin.post(f"{PATH}calendars/spare/save", fields(delete="")).status_code == 303

    assert list(draft()["calendars"]) == ["office"]


def test_a_change_of_somebody_else_is_not_lost(admin):
    form = fields()
    keep(NIGHT, office=OFFICE)

    refused = admin.post(f"{PATH}new-calendar/add", {**form, "name": "mine"})

    assert refused.status_code == 409
    assert "has changed the draft in the meantime" in refused.content.decode()
    assert list(draft()["calendars"]) == ["office"]
    assert admin.post(f"{PATH}new-calendar/add", fields(name="mine")).status_code == 303
    assert list(draft()["calendars"]) == ["mine", "office"]


def test_an_unknown_calendar_is_not_found(admin):
    assert admin.get(f"{PATH}calendars/office/").status_code == 404


@pytest.mark.parametrize("day", WEEKDAYS)
def test_a_form_reads_back_what_it_shows(day):
    week = {day: [["00:00", "01:30"], ["22:00", "24:00"]]}
    calendar = parse_policy({"rules": [], "calendars": {"c": {**OFFICE, "week": week}}}).calendars
    form = form_of("c", calendar["c"])

    assert calendar_json(form) == calendar["c"].to_json()


def test_neighbouring_days_with_the_same_hours_are_one_entry():
    form = CalendarForm(zone="UTC", days={day: "9-17" for day in WEEKDAYS if day != "wed"})
    policy = parse_policy({"rules": [], "calendars": {"c": calendar_json(form)}})

    text = "Monday to Tuesday 09:00-17:00; Thursday to Sunday 09:00-17:00"
    assert week_text(policy.calendars["c"]) == text
