"""On a phone, by touch: one pane at a time, targets for fingers, and the decision in reach."""

from contextlib import suppress
from typing import Any

import pytest
from playwright.sync_api import Error, Locator, Page, Route, expect

from tests.support.browser import staged_interrupts
from tests.support.browser.site import PHONE, Site, edit_value, press, rectangle

pytestmark = pytest.mark.browser

#: Controls smaller than a finger. What covers a control counts for it: its label, or its row.
_TOO_SMALL = """() => {
  const wanted = "a, button, summary, select, textarea, input:not([type=hidden])";
  return [...document.querySelectorAll(wanted)]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }))
    .filter((one) => !one.closest(".vh, .skip") && one.closest(".note")?.clientWidth !== 1)
    .filter((one) => !one.closest("p, .meta, .errsum, .siblings, .outcomes, .compared-title"))
    .map((one) => [one, one.closest("label, .runs-row, .row:has(> :is(.row-title, .fold-link))")])
    .map(([one, area]) => [one, area ?? one])
    .map(([one, area]) => [one, one.matches(".row-similar") ? one : area])
    .map(([one, area]) => [one.outerHTML.slice(0, 160), area.getBoundingClientRect()])
    .filter(([, box]) => box.width && (box.height < 43.9 || box.width < 43.9))
    .map(([html, box]) => `${Math.round(box.width)} x ${Math.round(box.height)}: ${html}`);
}"""


def is_in_reach(page: Page, selector: str) -> bool:
    """Whether something is on the screen without scrolling."""
    box = rectangle(page, selector)
    return box["height"] > 0 and box["top"] >= 0 and box["bottom"] <= 844


def is_covered(page: Page, link: Locator) -> bool:
    """Whether a part of a link lies under a bar, or not on the screen."""
    box = link.bounding_box()
    bars = page.locator(".topbar, .selection").all()
    (_, top), (bottom, _) = (
        (bar_box["y"], bar_box["y"] + bar_box["height"])
        for bar in bars
        if (bar_box := bar.bounding_box())
    )
    return box is None or box["y"] < top or box["y"] + box["height"] > bottom


def decided(site: Site, interrupt: Any) -> Any:
    return site.call(f"/api/interrupts/{interrupt['id']}")["decision"]["payload"]


def approve(page: Page) -> None:
    """Tap twice; Yes takes the second tap after the guard."""
    page.tap("#decide-buttons > button[value=approve]")
    page.tap(".confirm button[value=approve]")


def test_three_decisions_are_taken_by_taps(site, mine):
    first, second = mine(staged_interrupts.MAIL), mine(staged_interrupts.REFUND | {"minutes": 60})
    third = mine(staged_interrupts.SHORT_FORM)
    with site.browse(**PHONE) as page:
        page.goto(f"{site.url}/")
        page.tap("#id_username")
        page.keyboard.type("marco")
        page.tap("#id_password")
        page.keyboard.type(site.password("marco"))
        page.tap("button[type=submit]")
        site.wait_until_live(page)
        expect(page.locator("#detail")).to_be_hidden()

        page.tap(f"#row-{first[0]['id']} .row-title")
        page.wait_for_url(f"**/interrupts/{first[0]['id']}/**")
        site.wait_until_live(page)
        expect(page.locator("#list")).to_be_hidden()
        assert is_in_reach(page, "button[value=approve]")
        approve(page)

        page.wait_for_url(f"**/interrupts/{second[0]['id']}/**")
        site.wait_until_live(page)
        edit_value(page, "#f-args-note").tap()
        page.keyboard.press("Control+End")
        page.keyboard.type(" Thank you.")
        assert is_in_reach(page, "button[value=approve]")
        expect(page.locator("#changes ins")).to_contain_text("Thank")
        approve(page)

        page.wait_for_url(f"**/interrupts/{third[0]['id']}/**")
        site.wait_until_live(page)
        page.tap("#f-answer-days")
        page.keyboard.type("3")
        page.locator("#answer label.check").first.tap()
        page.tap("button[value=answer]")
        page.wait_for_url(f"{site.url}/?done=**")

    assert decided(site, first[0]) == {"approved": True}
    assert decided(site, second[0])["editedArgs"]["note"].endswith("third. Thank you.")
    assert decided(site, third[0]) == {"days": 3, "urgent": True}


def test_there_is_one_pane_at_a_time_and_a_way_back(site, mine):
    (interrupt,) = mine(staged_interrupts.REFUND)
    with site.open_as("marco", **PHONE) as page:
        site.open(page, interrupt)
        expect(page.locator("#list")).to_be_hidden()

        page.tap(".topbar [data-key=Escape]")

        page.wait_for_url(f"{site.url}/")
        expect(page.locator("#list")).to_be_visible()
        page.tap(".topbar-menu")
        page.tap("#rail [data-key='g d']")
        page.wait_for_url("**/decided/")


def test_the_way_back_is_not_covered_by_who_has_claimed_the_request(site, mine):
    (interrupt,) = mine(staged_interrupts.REFUND)
    with site.open_as("priya") as priya:
        site.open(priya, interrupt)
        press(priya, "c")
        expect(priya.locator("#claim .tag-me")).to_be_visible()
    with site.open_as("marco", locale="de-DE", **PHONE) as page:
        site.open(page, interrupt)
        expect(page.locator("#claim .tag")).to_be_visible()

        page.tap(".topbar [data-key=Escape]", timeout=20_000)

        page.wait_for_url(f"{site.url}/")


def test_the_decision_stays_in_reach_however_far_one_has_read(site, mine):
    (interrupt,) = mine(staged_interrupts.FORM)
    with site.open_as("marco", **PHONE) as page:
        site.open(page, interrupt)

        for where in ("0", "document.body.scrollHeight / 2", "document.body.scrollHeight"):
            page.evaluate(f"scrollTo(0, {where})")
            assert is_in_reach(page, "button[value=answer]")
            assert page.evaluate("document.scrollingElement.scrollWidth") <= 390


def test_selection_bar_hides_neither_the_last_row_nor_the_focus(site, mine):
    for _ in range(12):
        mine(staged_interrupts.REFUND)
    with site.open_as("marco", **PHONE) as page:
        for width, height in ((390, 844), (320, 480)):
            page.set_viewport_size({"width": width, "height": height})
            page.locator(".row-check").nth(1).check()
            page.evaluate("scrollTo(0, document.body.scrollHeight)")
            assert not is_covered(page, page.locator(".list-scroll .row-title").last)

            page.evaluate("document.activeElement.blur()")
            titles = page.locator("#rows .row-title").all()
            for title in (*titles, *reversed(titles)):
                title.focus()
                assert not is_covered(page, title)


@pytest.mark.parametrize(
    "ask",
    [
        staged_interrupts.REFUND,
        staged_interrupts.FORM,
        staged_interrupts.BESIDE,
        staged_interrupts.HIDDEN,
        staged_interrupts.LONG,
        staged_interrupts.YES_NO,
    ],
)
def test_every_control_of_a_request_is_large_enough_for_a_finger(site, ask):
    (interrupt,) = site.play(ask)
    with site.open_as("marco", **PHONE) as page:
        site.open(page, interrupt)
        for summary in page.locator("#detail summary:visible").all():
            summary.tap()

        assert not (small := page.evaluate(_TOO_SMALL)), "\n".join(small)


def test_the_first_tap_on_reject_asks_why_and_the_second_rejects(site, mine):
    (interrupt,) = mine(staged_interrupts.REFUND)
    with site.open_as("marco", **PHONE) as page:
        site.open(page, interrupt)

        page.tap("button[value=reject]")
        page.locator("[data-reason]", has_text="Not now").tap()
        expect(page.locator("#f-reason")).to_have_value("Not now")
        assert site.call(f"/api/interrupts/{interrupt['id']}")["decision"] is None
        assert not (small := page.evaluate(_TOO_SMALL)), "\n".join(small)
        page.tap("button[value=reject]")

        expect(page.locator("#toast")).to_contain_text("Rejected")
    assert decided(site, interrupt) == {"approved": False, "reason": "Not now"}


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/?agent=billing&q=refund",
        "/decided/",
        "/runs/",
        "/runs/new/?agent=rehearsal",
        "/threads/{thread}/",
        "/similar/{id}/",
    ],
)
def test_every_control_of_a_page_is_large_enough_for_a_finger(site, path):
    (interrupt, _) = site.play(staged_interrupts.REFUND, staged_interrupts.REFUND)
    with site.open_as("marco", **PHONE) as page:
        page.goto(f"{site.url}{path.format(**interrupt)}")
        if page.locator(".filter-form summary").count():
            page.tap(".filter-form summary")
            assert not (small := page.evaluate(_TOO_SMALL)), "\n".join(small)
            if page.locator(".filters > .narrow > summary").count():
                page.tap(".filters > .narrow > summary")
        assert not (small := page.evaluate(_TOO_SMALL)), "\n".join(small)

        page.tap(".topbar-menu")
        expect(page.locator("#rail")).to_be_visible()

        assert not (small := page.evaluate(_TOO_SMALL)), "\n".join(small)


# -- the second tap of an approval ----------------------------------------------------------------

PAYMENT = {
    "message": "Pay 310.00 EUR to Kestrel Hosting GmbH",
    "tool": "send_payment",
    "args": {"amount": 310.0, "currency": "EUR", "recipient": "Kestrel Hosting GmbH"},
    "schema": staged_interrupts.approval(
        {
            "amount": {"type": "number"},
            "currency": staged_interrupts.TEXT,
            "recipient": staged_interrupts.TEXT,
        }
    ),
}


def test_the_second_tap_says_what_it_approves(site, mine):
    (interrupt,) = mine(PAYMENT)
    with site.open_as("marco", **PHONE) as page:
        site.open(page, interrupt)
        assert rectangle(page, "#bar")["height"] < 80
        field = edit_value(page, "#f-args-amount")
        field.fill("31")
        expect(page.locator("#approve-label")).to_have_text("Approve with 1 change")
        assert rectangle(page, "#bar")["height"] < 80

        page.tap("#decide-buttons > button[value=approve]")

        expect(page.locator(".confirm strong")).to_have_text("€31 to Kestrel Hosting GmbH")
        yes = page.locator(".confirm button[value=approve]")
        expect(yes).to_have_text("Yes, approve with 1 change")
        assert rectangle(page, "#bar")["height"] <= 130
        assert not (small := page.evaluate(_TOO_SMALL)), "\n".join(small)
        assert site.call(f"/api/interrupts/{interrupt['id']}")["decision"] is None
        yes.tap()
        page.wait_for_url(f"{site.url}/?done=**")
    assert decided(site, interrupt)["editedArgs"]["amount"] == 31


def test_going_back_or_an_edit_takes_the_confirmation_away(site, mine):
    (interrupt,) = mine(PAYMENT)
    with site.open_as("marco", locale="de-DE", **PHONE) as page:
        site.open(page, interrupt)
        page.tap("#decide-buttons > button[value=approve]")

        page.tap(".confirm [data-back]")

        expect(page.locator(".confirm")).to_have_count(0)
        expect(page.locator("#decide-buttons button[value=reject]")).to_be_visible()
        field = edit_value(page, "#f-args-amount")
        page.tap("#decide-buttons > button[value=approve]")
        expect(page.locator(".confirm")).to_be_visible()
        field.fill("30")
        expect(page.locator(".confirm")).to_have_count(0)
        expect(page.locator("#approve-label")).to_have_text("Mit 1 Änderung genehmigen")
        assert rectangle(page, "#bar")["height"] < 80


def test_the_second_tap_says_the_values_typed_last_on_a_slow_line(site, mine):
    (interrupt,) = mine(PAYMENT)
    with site.open_as("marco", **PHONE) as page:
        site.open(page, interrupt)
        held: list[Route] = []

        def hold(route: Route) -> None:
            held.append(route)

        page.route("**/decide", hold)
        edit_value(page, "#f-args-amount").fill("31")

        with page.expect_request("**/decide"):
            page.tap("#decide-buttons > button[value=approve]")

        expect(page.locator(".confirm")).to_have_count(0)
        page.unroute("**/decide")
        for route in held:
            with suppress(Error):  # a later one took its place
                route.continue_()
        expect(page.locator(".confirm strong")).to_have_text("€31 to Kestrel Hosting GmbH")


def test_an_approval_that_is_refused_brings_the_buttons_back(site, mine):
    (interrupt,) = mine(PAYMENT)
    with site.open_as("marco", **PHONE) as page:
        site.open(page, interrupt)
        edit_value(page, "#f-args-amount").fill("much")
        page.tap("#decide-buttons > button[value=approve]")
        expect(page.locator(".confirm")).to_be_visible()
        expect(page.locator("html[data-guarded]")).to_have_count(0)

        page.tap(".confirm button[value=approve]")

        expect(page.locator("#banner .errsum")).to_be_visible()
        expect(page.locator(".confirm")).to_have_count(0)
        expect(page.locator("#decide-buttons button[value=reject]")).to_be_visible()


def test_a_missing_note_is_asked_for_before_the_second_tap(site, mine):
    (interrupt,) = mine(staged_interrupts.FIXED)
    with site.open_as("marco", **PHONE) as page:
        site.open(page, interrupt)

        page.tap("#decide-buttons > button[value=approve]")

        expect(page.locator("#banner .errsum")).to_be_visible()
        page.tap("#f-reason")
        page.keyboard.type("Looked at each")
        approve(page)
        page.wait_for_url(f"{site.url}/?done=**")
    assert decided(site, interrupt) == {"approved": True, "reason": "Looked at each"}


def test_an_approval_takes_one_tap_without_javascript(site, mine):
    (interrupt,) = mine(staged_interrupts.MAIL)
    state = site.state_of("marco")
    with site.browse(storage_state=state, java_script_enabled=False, **PHONE) as page:
        page.goto(f"{site.url}/interrupts/{interrupt['id']}/")

        page.tap("button[value=approve]")

        page.wait_for_url(f"{site.url}/?done=**")
    assert decided(site, interrupt) == {"approved": True}
