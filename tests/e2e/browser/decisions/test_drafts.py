"""Drafts: unsent text survives leaving the page, in this browser and for this person."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import staged_interrupts
from tests.support.browser.site import (
    Connection,
    Site,
    edit_value,
    hold_requests,
    is_open,
    wait_for,
    wait_for_requests,
)

pytestmark = pytest.mark.browser

_NOTE = "#f-args-note"
_LOGIN_SCHEMA = {
    "type": "object",
    "properties": {"user": {"type": "string"}, "password": {"type": "string"}},
}


@pytest.fixture
def ids(site: Site) -> list[str]:
    """The ids of two requests that wait; nothing else waits."""
    site.call_everything_off()
    return [
        site.play(staged_interrupts.REFUND | {"minutes": minutes})[0]["id"] for minutes in (60, 90)
    ]


def stored(page: Page) -> int:
    keys: list[str] = page.evaluate("Object.keys(localStorage)")
    return sum(key.startswith("signoff.draft.") for key in keys)


def test_edits_and_the_note_are_there_again_after_moving_on(site: Site, ids: list[str]) -> None:
    with site.open_as("marco") as page:
        is_open(page, ids[0])
        edit_value(page, _NOTE).fill("Paid twice")
        page.fill("#f-reason", "See the note")
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        is_open(page, ids[1])

        page.keyboard.press("k")

        is_open(page, ids[0])
        expect(page.locator("#draft")).to_contain_text("Draft restored")
        expect(page.locator(_NOTE)).to_have_value("Paid twice")
        expect(page.locator("#f-reason")).to_have_value("See the note")
        expect(page.locator("button[value=approve]")).to_contain_text("Approve with 1 change")


def test_a_draft_survives_a_reload_and_can_be_discarded(site: Site, ids: list[str]) -> None:
    with site.open_as("marco") as page:
        is_open(page, ids[0])
        proposed = page.locator(_NOTE).input_value()
        edit_value(page, _NOTE).fill("Paid twice")
        page.reload()
        expect(page.locator(_NOTE)).to_have_value("Paid twice")

        page.click("#draft button")

        expect(page.locator("#draft")).to_have_count(0)
        expect(page.locator(_NOTE)).to_have_value(proposed)
        assert stored(page) == 0


def test_a_decision_and_signing_out_remove_drafts(site: Site, ids: list[str]) -> None:
    with site.browse() as page:
        page.goto(f"{site.url}/login/")
        site.sign_in(page, "marco")
        is_open(page, ids[0])
        edit_value(page, _NOTE).fill("Paid twice")
        wait_for(lambda: stored(page))
        page.click("button[value=approve]")
        is_open(page, ids[1])
        wait_for(lambda: not stored(page))
        edit_value(page, _NOTE).fill("Never")
        wait_for(lambda: stored(page))

        page.click("[popovertarget=user-menu]")
        page.get_by_role("button", name="Sign out").click()

        page.wait_for_url("**/login/**")
        assert stored(page) == 0


def test_a_comment_keeps_a_draft_that_could_not_be_shown(site: Site, ids: list[str]) -> None:
    with site.open_as("marco") as page:
        is_open(page, ids[0])
        edit_value(page, _NOTE).fill("Paid twice")
        wait_for(lambda: stored(page))
        restoring = hold_requests(page, "**/decide*")
        page.reload()
        wait_for_requests(page, lambda: restoring)
        page.fill("#f-comment", "Is it twice?")
        page.unroute("**/decide*")

        page.reload()

        expect(page.locator(_NOTE)).to_have_value("Paid twice")
        expect(page.locator("#f-comment")).to_have_value("Is it twice?")


@pytest.mark.parametrize("broken", ["no JSON", "null", "{}"])
def test_draft_that_cannot_be_read_is_removed(site: Site, ids: list[str], broken: str) -> None:
    with site.open_as("marco") as page:
        site.open(page, {"id": ids[0]})
        page.evaluate("(text) => localStorage.setItem('signoff.draft.0.a.b', text)", broken)
        edit_value(page, _NOTE).fill("Paid twice")
        wait_for(lambda: stored(page))

        page.reload()

        expect(page.locator("#draft")).to_have_count(1)
        assert page.evaluate("localStorage.getItem('signoff.draft.0.a.b')") is None


def test_another_person_gets_no_draft(site: Site, ids: list[str]) -> None:
    with site.open_as("marco") as page:
        is_open(page, ids[0])
        edit_value(page, _NOTE).fill("Paid twice")
        wait_for(lambda: stored(page))
        page.context.clear_cookies()
        page.context.add_cookies(site.state_of("priya")["cookies"])

        site.open(page, {"id": ids[0]})

        expect(page.locator("#draft")).to_have_count(0)
        wait_for(lambda: not stored(page))


def test_forms_with_secret_fields_store_nothing(site: Site) -> None:
    site.call_everything_off()
    (secret,) = site.play({"message": "Sign in", "schema": _LOGIN_SCHEMA, "minutes": 60})
    with site.open_as("marco") as page:
        is_open(page, secret["id"])
        page.fill("#f-answer-user", "ana")
        page.keyboard.press("Escape")
        messages: list[str] = []

        def note(dialog: object) -> None:
            messages.append(dialog.type)  # type: ignore[attr-defined]
            dialog.accept()  # type: ignore[attr-defined]

        page.on("dialog", note)
        page.reload()

        assert stored(page) == 0
        assert messages == ["beforeunload"]


def decision_of(site: Site, interrupt_id: str) -> Any:
    return site.call(f"/api/interrupts/{interrupt_id}")["decision"]


BROKEN = [
    ('{"amount": 12,\n  "note" "Paid twice"}', "line 2"),
    ('{"amount": NaN}', "NaN"),
    ('{"note": "a", "note": "b"}', '"note"'),
]


@pytest.mark.parametrize(("text", "place"), BROKEN)
def test_broken_json_stays_and_decides_nothing(
    site: Site, ids: list[str], text: str, place: str
) -> None:
    with site.open_as("marco") as page:
        is_open(page, ids[0])
        page.locator("#answer").get_by_role("button", name="JSON", exact=True).click()
        field = page.locator("#answer textarea[name='args.json']")
        field.fill(text)

        page.locator("button[value=approve]").click()

        expect(page.locator("#answer .err", has_text=place)).to_be_visible()
        expect(field).to_have_value(text)
        is_open(page, ids[0])
        assert decision_of(site, ids[0]) is None


@pytest.mark.parametrize("by_key", [True, False])
def test_second_tab_decides_nothing_and_keeps_its_text(
    site: Site, ids: list[str], by_key: bool
) -> None:
    with site.open_as("marco") as page:
        is_open(page, ids[0])
        other = page.context.new_page()
        connection = Connection(other)
        other.goto(page.url)
        is_open(other, ids[0])
        connection.cut()
        edit_value(other, _NOTE).fill("Paid twice")
        page.locator("button[value=approve]").click()
        wait_for(lambda: decision_of(site, ids[0]))
        decision = decision_of(site, ids[0])

        if by_key:
            other.keyboard.press("Control+Enter")
        else:
            other.locator("button[value=approve]").click()

        expect(other.get_by_text(re.compile("edits were not sent"))).to_be_visible()
        expect(other.locator("body")).to_contain_text("Paid twice")
        assert decision_of(site, ids[0]) == decision
        assert decision_of(site, ids[1]) is None
