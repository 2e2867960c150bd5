"""From sign-in to decisions with the keyboard alone: no mouse, and the focus is never lost."""

import re
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import staged_interrupts
from tests.support.browser.site import Site, edit_value, press

pytestmark = pytest.mark.browser

ROWS = "#rows > .row"


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id || document.activeElement.tagName"))


def decided(site: Site, interrupt: Any) -> Any:
    """What was sent for a request; None while nothing was."""
    decision = site.call(f"/api/interrupts/{interrupt['id']}")["decision"]
    return decision and decision["payload"]


def test_signing_in_and_three_decisions_take_no_mouse(site, mine):
    first, second = mine(staged_interrupts.MAIL), mine(staged_interrupts.REFUND | {"minutes": 60})
    third = mine(staged_interrupts.SHORT_FORM)
    with site.browse() as page:
        page.goto(f"{site.url}/")
        expect(page.locator(".demo-person:focus")).to_contain_text("Marco Ruiz")
        press(page, "Enter")
        site.wait_until_live(page)
        expect(page.locator(ROWS)).to_have_count(3)

        # The first request is open: the two keys that decide approve it.
        page.wait_for_url(f"**/interrupts/{first[0]['id']}/**")
        press(page, "a")
        expect(page.locator("button[value=approve]")).to_be_focused()
        press(page, "Enter")

        # The next one opens by itself and says what was done: edit a field, look, and approve.
        page.wait_for_url(f"**/interrupts/{second[0]['id']}/**")
        site.wait_until_live(page)
        expect(page.locator("#toast")).to_contain_text(staged_interrupts.MAIL["message"])
        press(page, "e")
        assert focused(page).startswith("f-args-")
        page.keyboard.type("14")
        press(page, "Escape")
        press(page, "d")
        assert focused(page) == "changes-title"
        expect(page.locator("#changes ins")).to_contain_text("14")
        press(page, "a", "Enter")

        # A form: every field in turn, and sent from within the last one.
        page.wait_for_url(f"**/interrupts/{third[0]['id']}/**")
        site.wait_until_live(page)
        press(page, "e")
        page.keyboard.type("7")
        press(page, "Tab")
        page.keyboard.type("The part is on its way")
        press(page, "Tab", "Space", "Control+Enter")
        expect(page.locator("button[value=answer]")).to_be_focused()
        press(page, "Control+Enter")
        page.wait_for_url(f"{site.url}/?done=**")
        expect(page.locator("#toast")).to_contain_text(staged_interrupts.SHORT_FORM["message"])

    assert decided(site, first[0]) == {"approved": True}
    edited = decided(site, second[0])["editedArgs"]
    assert edited == staged_interrupts.REFUND["args"] | {"amount": 14}
    assert decided(site, third[0]) == {
        "days": 7,
        "urgent": True,
        "why": "The part is on its way",
    }


def test_undo_takes_the_answer_back_while_the_set_is_incomplete(site, mine):
    interrupt, other = mine(staged_interrupts.REFUND, staged_interrupts.MAIL | {"minutes": 240})
    with site.open_as("marco") as page:
        site.open(page, interrupt)
        press(page, "r", "Enter")
        page.wait_for_url(f"**/interrupts/{other['id']}/**")
        expect(page.locator("#toast form button")).to_be_visible()

        press(page, "u")

        page.wait_for_url(f"**/interrupts/{interrupt['id']}/**")
        expect(page.locator("button[value=approve]")).to_be_enabled()
        assert decided(site, interrupt) is None


@pytest.mark.parametrize(
    ("locale", "minutes", "text"),
    [
        ("en-US", 8 * 24 * 60, r"^7 d left$"),
        ("en-US", 90, r"^1 h left$"),
        ("en-US", 0.9, r"^\d+ s left$"),
        ("de-DE", 239, r"^noch 3 Std\.$"),
    ],
)
def test_the_toast_says_how_long_undo_works(site, mine, locale, minutes, text):
    ask = staged_interrupts.FIXED | {"minutes": minutes}
    interrupt, _ = mine(ask, staged_interrupts.MAIL | {"minutes": 9 * 24 * 60})
    with site.open_as("marco", locale=locale) as page:
        site.open(page, interrupt)
        press(page, "r")
        page.keyboard.type("Not today")
        press(page, "Enter")

        expect(page.locator("#toast .toast-left")).to_have_text(re.compile(text))


def test_a_claim_is_taken_and_released_by_the_same_key(site, mine):
    (interrupt,) = mine(staged_interrupts.REFUND)
    with site.open_as("marco") as page:
        site.open(page, interrupt)

        press(page, "c")
        expect(page.locator("#claim .tag-me")).to_be_visible()
        press(page, "c")

        expect(page.locator("#claim .tag-me")).to_have_count(0)


def test_the_focus_stays_on_the_button_that_was_pressed(site, mine):
    (interrupt,) = mine(staged_interrupts.REFUND)
    with site.open_as("marco") as page:
        site.open(page, interrupt)
        page.locator("#claim button").focus()

        press(page, "Enter")

        expect(page.locator("#claim .tag-me")).to_be_visible()
        expect(page.locator("#claim button")).to_be_focused()


def test_moving_and_going_back_keep_to_the_list(site, mine):
    first, two = mine(staged_interrupts.MAIL), mine(staged_interrupts.REFUND)
    with site.open_as("marco") as page:
        expect(page.locator(ROWS)).to_have_count(2)
        page.wait_for_url(f"**/interrupts/{first[0]['id']}/")
        press(page, "j")
        page.wait_for_url(f"**/interrupts/{two[0]['id']}/")
        press(page, "k")
        page.wait_for_url(f"**/interrupts/{first[0]['id']}/")

        press(page, "Escape")

        expect(page.locator(f"#row-{first[0]['id']}-link")).to_be_focused()
        press(page, "/")
        assert focused(page) == "search"
        page.keyboard.type("refund")
        press(page, "Enter")
        expect(page.locator(ROWS)).to_have_count(1)


def test_no_key_works_while_somebody_writes(site, mine):
    (interrupt,) = mine(staged_interrupts.REFUND)
    with site.open_as("marco") as page:
        site.open(page, interrupt)
        edit_value(page, "#f-args-note").focus()
        press(page, "Control+End")

        page.keyboard.type(" jkacrxud?/eg")

        expect(page.locator("#f-args-note")).to_be_focused()
        expect(page.locator("#f-args-note")).to_have_value(
            staged_interrupts.REFUND["args"]["note"] + " jkacrxud?/eg"
        )
        expect(page.locator("#keys")).to_be_hidden()
        expect(page.locator("#claim .tag-me")).to_have_count(0)


def test_single_keys_can_be_turned_off_for_good(site, mine):
    (interrupt,) = mine(staged_interrupts.REFUND)
    with site.open_as("marco") as page:
        site.open(page, interrupt)
        press(page, "?")
        expect(page.locator("#keys")).to_be_visible()
        page.locator("#keys-on").focus()
        press(page, "Space", "Escape")
        expect(page.locator("#keys")).to_be_hidden()
        page.reload()
        site.wait_until_live(page)

        press(page, "a", "c", "?")

        expect(page.locator("#keys")).to_be_hidden()
        expect(page.locator("button[value=approve]")).not_to_be_focused()
        expect(page.locator("#claim .tag-me")).to_have_count(0)
        # What takes no single key works on: it could not be pressed by a slip of the tongue.
        press(page, "Control+Enter")
        expect(page.locator("button[value=approve]")).to_be_focused()
        press(page, "Control+Enter")
        page.wait_for_url("**done=**")


@pytest.mark.parametrize("key", ["Enter", "Control+Enter", "Meta+Enter"])
def test_a_note_decides_nothing_by_itself(site, mine, key):
    (interrupt,) = mine(staged_interrupts.REFUND)
    with site.open_as("marco") as page:
        site.open(page, interrupt)
        page.locator("#f-reason").click()
        page.keyboard.type("No, do not pay this")

        press(page, key)

        expect(page.locator("#problem")).to_contain_text("A note alone does not decide")
        expect(page.locator("#decide-buttons")).to_be_focused()
        assert decided(site, interrupt) is None
        page.locator("button[value=reject]").click()
        page.wait_for_url("**done=**")
    assert decided(site, interrupt) == {"approved": False, "reason": "No, do not pay this"}


@pytest.mark.parametrize("key", ["Enter", "Control+Enter"])
def test_r_asks_why_and_enter_in_the_note_rejects(site, mine, key):
    (interrupt,) = mine(staged_interrupts.REFUND)
    with site.open_as("marco") as page:
        site.open(page, interrupt)

        press(page, "r")
        expect(page.locator("#f-reason")).to_be_focused()
        expect(page.locator("#reject-hint")).to_be_visible()
        expect(page.locator("button[value=approve]")).to_be_hidden()
        page.keyboard.type("Wrong amount, ask Ana")
        press(page, key)

        page.wait_for_url("**done=**")
    assert decided(site, interrupt) == {"approved": False, "reason": "Wrong amount, ask Ana"}


def test_a_note_to_reject_waits_in_the_reject_mode(site, mine):
    (interrupt,) = mine(staged_interrupts.REFUND)
    with site.open_as("marco") as page:
        site.open(page, interrupt)
        press(page, "r")
        page.keyboard.type("Wrong amount")

        press(page, "Escape")

        expect(page.locator("button[value=approve]")).to_be_visible()
        expect(page.locator("#f-reason")).to_have_value("")
        page.locator("#f-reason").click()
        press(page, "Control+Enter")
        expect(page.locator("#decide-buttons")).to_be_focused()
        assert decided(site, interrupt) is None
        press(page, "r")
        expect(page.locator("#f-reason")).to_have_value("Wrong amount")


def test_without_a_note_r_goes_to_the_button(site, mine):
    (interrupt,) = mine(staged_interrupts.SHORT_FORM)
    with site.open_as("marco") as page:
        site.open(page, interrupt)

        press(page, "r")

        expect(page.locator("button[value=cancel]")).to_be_focused()


@pytest.mark.parametrize("key", ["a", "r", "e", "c"])
def test_a_key_opens_the_request_that_has_the_focus(site, mine, key):
    first, two = mine(staged_interrupts.MAIL), mine(staged_interrupts.REFUND)
    with site.open_as("marco") as page:
        site.open(page, first[0])
        page.locator(f"#row-{two[0]['id']}-link").focus()

        press(page, key)

        page.wait_for_url(f"**/interrupts/{two[0]['id']}/**")
        site.wait_until_live(page)
        expect(page.locator("#claim .tag-me")).to_have_count(0)
        assert decided(site, first[0]) is decided(site, two[0]) is None


def test_a_button_says_which_request_it_decides(site, mine):
    (interrupt,) = mine(staged_interrupts.REFUND)
    with site.open_as("marco") as page:
        site.open(page, interrupt)
        title = page.locator("#detail-title").inner_text()

        for name in ("Approve", "Reject"):
            button = page.get_by_role("button", name=f"{name} {title}", exact=True)
            expect(button).to_be_visible()


def test_the_titles_of_a_hundred_siblings_do_not_overlap(site):
    site.call_everything_off()
    interrupts = site.ask("parallel:100")
    with site.open_as("marco") as page:
        site.open(page, interrupts)
        boxes = page.locator(".siblings li").evaluate_all(
            "items => items.map(item => ({top: item.getBoundingClientRect().top,"
            " bottom: item.getBoundingClientRect().bottom,"
            " text: item.children[1].getBoundingClientRect().height,"
            " height: item.getBoundingClientRect().height}))"
        )

    assert len(boxes) == 30
    assert all(upper["bottom"] <= two["top"] + 0.5 for upper, two in pairwise(boxes))
    assert all(box["text"] <= box["height"] + 0.5 for box in boxes)


def test_a_key_acts_on_nothing_that_is_off_screen(site, mine):
    for _ in range(16):
        mine(staged_interrupts.REFUND)
    with site.open_as("marco", viewport={"width": 1440, "height": 500}) as page:
        expect(page.locator(ROWS)).to_have_count(16)
        press(page, "j")
        expect(page.locator("#detail-title")).to_be_focused()
        page.locator(".list-scroll").evaluate("pane => pane.scrollTo(0, pane.scrollHeight)")

        press(page, "x")

        assert page.locator(".row-check:checked").count() == 0
        # It was brought back into sight: now it can be selected.
        press(page, "x")
        assert page.locator(".row-check:checked").count() == 1
        expect(page.locator("#selection")).to_be_visible()


def test_the_focus_goes_to_what_is_wrong(site, mine):
    (interrupt,) = mine(staged_interrupts.SHORT_FORM)
    with site.open_as("marco") as page:
        site.open(page, interrupt)

        press(page, "a", "Enter")

        expect(page.locator("#banner [role=alert]")).to_be_focused()
        # htmx gives the focus once more when it has settled, some milliseconds later.
        expect(page.locator(".htmx-added, .htmx-settling")).to_have_count(0)
        press(page, "Tab", "Enter")
        expect(page.locator("#f-answer-days")).to_be_focused()
