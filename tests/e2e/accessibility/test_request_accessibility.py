"""A request of every kind, in every state: nothing is found wrong with its page."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import staged_interrupts
from tests.support.browser.accessibility_checks import Screens, find_faults, find_violations
from tests.support.browser.site import Site, edit_value, wait_for

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(site: Site) -> Iterator[Page]:
    """Marco's browser, the same for every page: starting one costs more than a page."""
    with site.open_as("marco", reduced_motion="reduce") as page:
        yield page


SCREENS = Screens()
screen = SCREENS.add


def _ask(site: Site, page: Page, ask: dict[str, Any]) -> Any:
    """Let an agent ask, and open the request."""
    (interrupt,) = site.play(ask)
    site.open(page, interrupt)
    return interrupt


@screen
def an_approval(site, page):
    _ask(site, page, staged_interrupts.REFUND)


@screen
def an_approval_with_changes(site, page):
    _ask(site, page, staged_interrupts.MAIL)
    edit_value(page, "#f-args-subject").fill("Your order 4417 is on its way")
    expect(page.locator("#changes ins").first).to_be_visible()


@screen
def an_approval_as_json(site, page):
    _ask(site, page, staged_interrupts.REFUND)
    page.locator("#answer .seg-opt", has_text="JSON").first.click()
    expect(page.locator("#answer textarea.code")).to_be_visible()


@screen
def an_approval_with_errors(site, page):
    _ask(site, page, staged_interrupts.REFUND)
    edit_value(page, "#f-args-amount").fill("9000")
    page.click("button[value=approve]")
    expect(page.locator("#banner [role=alert]")).to_be_focused()


@screen
def an_approval_that_allows_further_calls(site, page):
    _ask(site, page, staged_interrupts.REFUND)
    page.click("#grant > summary")
    page.fill("#f-grant-uses", "0")
    page.click("button[value=approve_and_allow]")
    expect(page.locator("#banner [role=alert]")).to_be_focused()


@screen
def an_approval_by_two_people(site, page):
    rows = site.call("/api/interrupts?tool=issue_refund")["results"]
    (interrupt,) = (row for row in rows if "142.50" in row["title"])
    site.open(page, interrupt)
    expect(page.locator("#quorum-title")).to_have_text("0 of 2 approved")


@screen
def an_approval_with_more_to_answer(site, page):
    _ask(site, page, staged_interrupts.BESIDE)


@screen
def an_approval_of_what_cannot_be_edited(site, page):
    _ask(site, page, staged_interrupts.FIXED)


@screen
def masked_values(site, page):
    _ask(site, page, staged_interrupts.LOGIN)
    page.click("button[value=approve]")
    expect(page.locator("#banner [role=alert]")).to_be_focused()


@screen
def masked_values_revealed(site, page):
    """What was revealed can be approved: the page no longer offers to approve it unseen."""
    _ask(site, page, staged_interrupts.LOGIN)
    expect(page.locator("#f-unseen")).to_be_visible()
    page.get_by_role("button", name="Reveal").click()
    expect(page.locator("#revealed")).to_contain_text("correct horse")
    expect(page.locator("#f-unseen")).to_have_count(0)


@screen
def a_long_value(site, page):
    _ask(site, page, staged_interrupts.LONG)


@screen
def a_long_value_opened(site, page):
    _ask(site, page, staged_interrupts.LONG)
    page.locator("#answer summary").first.click()


@screen
def hidden_characters(site, page):
    _ask(site, page, staged_interrupts.HIDDEN)


@screen
def a_free_answer(site, page):
    _ask(site, page, staged_interrupts.FREE)


@screen
def a_text_to_answer(site, page):
    _ask(site, page, staged_interrupts.TEXT_ANSWER)


@screen
def yes_or_no(site, page):
    _ask(site, page, staged_interrupts.YES_NO)


@screen
def a_request_with_metadata_only(site, page):
    _ask(site, page, staged_interrupts.BARE)


@screen
def a_form(site, page):
    _ask(site, page, staged_interrupts.FORM)


@screen
def a_form_with_errors(site, page):
    _ask(site, page, staged_interrupts.FORM)
    page.click("#answer button[value^='branch:0']")
    expect(page.locator("#answer button[value^='branch:0']")).to_have_attribute(
        "aria-pressed", "true"
    )
    page.click("#answer button[value='add:answer/contacts']")
    expect(page.locator("#answer .item")).to_have_count(1)
    page.click("#answer button[value='add:answer/labels']")
    expect(page.locator("#answer .items-map .item")).to_have_count(1)
    page.click("button[value=answer]")
    expect(page.locator("#banner [role=alert]")).to_be_focused()


@screen
def several_asked_together(site, page):
    interrupts = site.play(
        staged_interrupts.REFUND,
        staged_interrupts.MAIL,
        staged_interrupts.FIXED,
        message="Sort out order 4417",
    )
    site.decide(interrupts[1], {"approved": True})
    site.open(page, interrupts[0])
    page.locator("#conversation summary").click()


@screen
def a_request_of_mine(site, page):
    _ask(site, page, staged_interrupts.REFUND)
    page.click("#claim button")
    expect(page.locator("#claim .tag-me")).to_be_visible()


@screen
def a_request_that_another_has_claimed(site, page):
    interrupt = _ask(site, page, staged_interrupts.REFUND)
    with site.open_as("priya") as other:
        site.open(other, interrupt)
        other.click("#claim button")
        expect(page.locator("#bar button[name=take_over]")).to_be_visible()
        other.fill("#f-comment", "I know this customer: give me a minute.")
        other.click("#comment-field button")
        expect(page.locator("#comments li")).to_have_count(1)
        expect(page.locator("#presence > *").first).to_be_visible()


@screen
def news_of_a_decision(site, page):
    interrupt = _ask(site, page, staged_interrupts.REFUND)
    edit_value(page, "#f-args-amount").fill("14")
    page.evaluate("void (htmx.ajax = () => new Promise(() => {}))")
    site.decide(interrupt, {"approved": False, "reason": "not today"})
    expect(page.locator("#banner")).to_contain_text("has just decided this")


@screen
def a_conflict(site, page):
    news_of_a_decision(site, page)
    # As if the answer was on its way before the news came.
    page.eval_on_selector("button[value=approve]", "button => { button.disabled = false }")
    page.click("button[value=approve]")
    expect(page.locator("#banner [role=alert]")).to_be_focused()


@screen
def expired(site, page):
    interrupt = site.ask("expires_soon")
    wait_for(lambda: site.call(f"/api/interrupts/{interrupt['id']}")["status"] == "expired")
    page.goto(f"{site.url}/decided/{interrupt['id']}/")


@screen
def a_decided_request(site, page):
    interrupt = _ask(site, page, staged_interrupts.MAIL)
    changed = {**staged_interrupts.MAIL["args"], "subject": "On its way"}
    site.decide(interrupt, {"approved": True, "editedArgs": changed})
    expect(page.locator("#outcome pre")).to_have_count(4)


@screen
def the_toast(site, page):
    (interrupt, _) = site.play(staged_interrupts.REFUND, staged_interrupts.MAIL)
    site.open(page, interrupt)
    page.click("button[value=approve]")
    expect(page.locator("#toast form button")).to_be_visible()
    # The toast comes first: until the next request is shown the old one is out of reach.
    expect(page.locator("#detail")).not_to_have_attribute("aria-busy", "true")


@screen
def a_doubt(site, page):
    (interrupt,) = site.play(staged_interrupts.CHARGE)
    site.decide(interrupt, {"approved": True})
    site.open(page, site.next_interrupt(interrupt))


@screen
def a_request_that_one_only_looks_at(site, page):
    (interrupt,) = site.play(staged_interrupts.REFUND)
    with site.open_as("dana", reduced_motion="reduce") as other:
        site.open(other, interrupt)
        assert find_faults(other) == []
    site.open(page, interrupt)


@pytest.mark.parametrize("name", SCREENS)
def test_a_page_has_no_fault(site, page, name):
    page.set_viewport_size({"width": 1440, "height": 900})

    SCREENS[name](site, page)

    assert find_faults(page) == []


def test_faults_do_not_depend_on_where_a_page_is_scrolled_to(site, page):
    """Below the sticky header half of a radio button is in sight, which is no small target."""
    an_approval_with_errors(site, page)
    page.set_viewport_size({"width": 320, "height": 600})
    page.eval_on_selector(
        "#f-args-currency_3",
        "one => scrollBy({ top: one.getBoundingClientRect().top - 20, behavior: 'instant' })",
    )
    for _ in range(40):
        if find_violations(page, "rule", ("target-size",)):
            break
        page.evaluate("scrollBy({ top: 1, behavior: 'instant' })")

    assert find_violations(page, "rule", ("target-size",)) != []
    assert find_faults(page) == []


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_nothing_moves_where_motion_is_not_wanted(site, motion):
    run = site.start("rehearse:sleep:600")
    with site.open_as("marco", reduced_motion=motion) as page:
        page.goto(f"{site.url}/threads/{run['thread']}/")
        expect(page.locator("#now .now")).to_be_visible()
        page.locator(".rail-link").first.hover()

        moving = page.evaluate("document.getAnimations().length")

        assert moving == 0 if motion == "reduce" else moving > 0
    site.call(f"/api/runs/{run['id']}/cancel", {})


def test_what_is_chosen_shows_in_forced_colours(site):
    """A border has to say what backgrounds cannot."""
    (interrupt,) = site.play(staged_interrupts.REFUND)
    with site.open_as("marco", forced_colors="active") as page:
        site.open(page, interrupt)

        for chosen in (".seg-opt[aria-pressed=true]", ".rail-link[aria-current]"):
            width = page.locator(chosen).first.evaluate("one => getComputedStyle(one).borderWidth")
            assert width != "0px"
