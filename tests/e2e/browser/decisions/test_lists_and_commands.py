"""Lists that fold, selections by keys, commands, mentions, and filters that apply at once."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import staged_interrupts
from tests.support.browser.accessibility_checks import TAGS, find_violations
from tests.support.browser.site import (
    PHONE,
    Site,
    hold_requests,
    press,
    release_requests,
    wait_for_requests,
)

pytestmark = pytest.mark.browser


def violations(page: Page) -> list[Any]:
    return find_violations(page, "tag", TAGS)


def is_open(site: Site, interrupt: Any) -> bool:
    return bool(site.call(f"/api/interrupts/{interrupt['id']}")["status"] == "open")


def test_fold_opened_by_keyboard_stays_open_with_its_selection(site, mine):
    requests = mine(*[staged_interrupts.REFUND] * 3)
    with site.open_as("marco") as page:
        fold = page.locator(".fold")
        expect(fold.locator(".row")).to_have_count(4)
        # The first request opens by itself, and its fold with it.
        expect(fold.locator("ol")).to_be_visible()
        page.locator(".fold summary").focus()
        press(page, "Enter")
        expect(fold.locator("ol")).to_be_hidden()
        press(page, "Enter")
        expect(fold.locator("ol")).to_be_visible()
        fold.locator(".row-check").nth(2).check()

        site.decide(requests[0], {"approved": True})

        expect(fold.locator("ol .row")).to_have_count(2)
        expect(fold.locator("ol")).to_be_visible()
        expect(fold.locator(".row-check").nth(1)).to_be_checked()
        page.reload()
        expect(fold.locator("ol")).to_be_visible()


def test_three_requests_are_approved_by_five_keys(site, mine):
    requests = [mine(staged_interrupts.REFUND)[0] for _ in range(3)]
    with site.open_as("marco") as page:
        expect(page.locator("#rows .row")).to_have_count(3)
        page.locator("#rows .row-title").first.focus()

        press(page, "Shift+J", "Shift+J", "v")
        page.wait_for_url("**/review/selected")
        expect(page.locator(".tick:checked")).to_have_count(3)
        press(page, "a", "Enter")

        page.wait_for_url("**/review/decide")
        assert not any(is_open(site, request) for request in requests)


def test_palette_finds_commands_and_decides_nothing(site, mine):
    (request,) = mine(staged_interrupts.REFUND)
    with site.open_as("marco") as page:
        site.open(page, request)
        press(page, "Control+k")
        expect(page.locator("#palette-field")).to_be_focused()
        assert violations(page) == []
        page.keyboard.type("approve")

        press(page, "Enter")

        expect(page.locator("#decide-buttons button[value=approve]")).to_be_focused()
        assert is_open(site, request)
        press(page, "Control+k")
        page.keyboard.type("assigned to")
        press(page, "Enter")
        page.wait_for_url("**/?assigned=1")


def test_keys_typed_while_the_palette_loads_act_on_nothing_else(site, mine):
    (request,) = mine(staged_interrupts.REFUND)
    with site.open_as("marco") as page:
        site.open(page, request)
        held = hold_requests(page, "**/js/palette*.js")
        press(page, "Control+k")

        # On the page, `r` moves the focus to the note, in which Enter rejects.
        page.keyboard.type("approve")
        press(page, "Enter")
        wait_for_requests(page, lambda: held)

        expect(page.locator("#palette-field")).to_have_value("approve")
        expect(page.locator("#f-reason")).to_have_value("")
        release_requests(page, "**/js/palette*.js", held)
        expect(page.locator("#palette-list [role=option]").first).to_contain_text("Approve")
        press(page, "Enter")
        expect(page.locator("#decide-buttons button[value=approve]")).to_be_focused()
        assert is_open(site, request)


def test_palette_finds_a_request_and_a_person_by_keys_only(site, mine):
    first, other = mine(staged_interrupts.REFUND, staged_interrupts.MAIL)
    with site.open_as("marco") as page:
        site.open(page, first)
        press(page, "Control+k")
        # On the page, `a` and Enter approve.
        page.keyboard.type("a priya")
        person = page.get_by_role("group", name="People").get_by_role("option")
        expect(person).to_contain_text("Priya Shah")
        assert violations(page) == []

        page.locator("#palette-field").fill(other["id"])
        option = page.get_by_role("group", name="Requests").get_by_role("option")
        expect(option).to_have_count(1)
        press(page, "Enter")

        page.wait_for_url(f"**/interrupts/{other['id']}/")
        assert is_open(site, first)
        assert is_open(site, other)


def test_palette_works_by_touch(site, mine):
    mine(staged_interrupts.REFUND)
    with site.open_as("marco", **PHONE) as page:
        page.tap(".topbar-menu")
        page.tap("[data-palette]")
        page.locator("#palette-field").fill("decided")
        page.locator("#palette-list [role=option]").first.tap()
        page.wait_for_url("**/decided/")


def test_request_is_assigned_and_snoozed_in_dialogs(site, mine):
    (request,) = mine(staged_interrupts.REFUND | {"minutes": 600})
    with site.open_as("marco") as page:
        site.open(page, request)
        page.click("[data-action=assign]")
        expect(page.locator("#sheet")).to_be_visible()
        assert violations(page) == []
        page.locator("#sheet .choice", has_text="Priya").click()
        expect(page.locator("#assign")).to_contain_text("Assigned to Priya")

        page.click("[data-action=snooze]")
        assert violations(page) == []
        page.locator("#sheet .choice").first.click()

        expect(page.locator(".notice")).to_contain_text("Snoozed until")
        expect(page.locator("#rows .row")).to_have_count(0)
        page.locator(".notice form button").click()
        page.wait_for_url(f"**/interrupts/{request['id']}/")
        expect(page.locator(f"#row-{request['id']}")).to_be_visible()


def test_name_of_a_colleague_is_completed_in_a_comment(site, mine):
    (request,) = mine(staged_interrupts.REFUND)
    with site.open_as("marco") as page:
        site.open(page, request)
        page.locator("#f-comment").press_sequentially("Please look, @pri")
        expect(page.locator("#mention-list [role=option]")).to_have_count(1)
        assert violations(page) == []

        press(page, "Enter")

        expect(page.locator("#f-comment")).to_have_value("Please look, @priya ")
        page.click("button[form=comment-form]")
        expect(page.locator("#comments .mention")).to_have_text("@Priya Shah")


def test_filter_applies_while_it_is_chosen(site, mine):
    mine(staged_interrupts.REFUND)
    mine(staged_interrupts.MAIL)
    tool = staged_interrupts.REFUND["tool"]
    with site.open_as("marco") as page:
        page.click(".filter-form summary")
        page.locator("#filter-tool").focus()
        page.select_option("#filter-tool", tool)
        expect(page.locator("#rows .row")).to_have_count(1)
        expect(page.locator("#list-chips .chip").first).to_contain_text("Tool:")
        page.wait_for_url(f"**/?tool={tool}")
        expect(page.locator("#filter-tool")).to_be_focused()


@pytest.mark.parametrize("change", ["chosen", "ticked", "typed"])
def test_filter_applies_if_its_script_comes_after_the_change(site, mine, change):
    mine(staged_interrupts.REFUND)
    mine(staged_interrupts.MAIL)
    tool = staged_interrupts.REFUND["tool"]
    with site.open_as("marco") as page:
        scripts = hold_requests(page, "**/js/filters*.js")
        page.click(".filter-form summary")
        if change == "chosen":
            page.select_option("#filter-tool", tool)
        elif change == "ticked":
            page.check("[name=mine]")
        else:
            page.locator("#search").press_sequentially("refund")
        wait_for_requests(page, lambda: scripts)
        expect(page.locator("#rows .row")).to_have_count(2)

        release_requests(page, "**/js/filters*.js", scripts)

        expect(page.locator("#rows .row")).to_have_count(0 if change == "ticked" else 1)


def test_theme_is_there_before_the_first_paint(site):
    with site.open_as("marco", color_scheme="light") as page:
        page.click(".me")
        page.click("[aria-label='Dark theme']")
        expect(page.locator("html[data-theme=dark]")).to_be_attached()
        page.reload(wait_until="commit")
        colours = page.evaluate("getComputedStyle(document.documentElement).colorScheme")
        assert colours == "dark"


#: Whether the script that shows motion has come, after the first live update.
_HAS_MOTION = """async () => {
  const files = performance.getEntriesByType("resource").map(({ name }) => name);
  const file = files.find((name) => name.includes("/leaving_rows"));
  return file && Boolean(await import(file));
}"""
#: Notes of each animation that a script starts: whether its row takes input, and the list by then.
_NOTE_ANIMATIONS = """() => {
  window.animations = [];
  const { animate } = Element.prototype;
  Element.prototype.animate = function (...args) {
    const order = Array.from(document.querySelectorAll("#rows > .row"), ({ id }) => id);
    window.animations.push({ isInert: this.inert, order });
    return animate.apply(this, args);
  };
}"""


def test_a_row_that_leaves_fades_and_the_order_is_new_at_once(site, mine):
    interrupts = [*mine(staged_interrupts.MAIL), *site.play(staged_interrupts.MAIL)]
    with (
        site.open_as("marco", reduced_motion="no-preference") as page,
        site.open_as("priya", reduced_motion="reduce") as still,
    ):
        interrupts += site.play(staged_interrupts.MAIL)
        for each in (page, still):
            expect(each.locator("#rows > .row")).to_have_count(3)
            each.wait_for_function(_HAS_MOTION)
            each.evaluate(_NOTE_ANIMATIONS)

        site.decide(interrupts[2], {"approved": True})

        for each in (page, still):
            expect(each.locator("#rows > .row")).to_have_count(2)
            expect(each.locator(".is-leaving")).to_have_count(0)
        (leaving,) = page.evaluate("animations")
        order = [f"row-{interrupt['id']}" for interrupt in interrupts[:2]]
        assert leaving == {"isInert": True, "order": order}
        assert still.evaluate("animations") == []
