"""An administrator writes a policy with the keyboard alone, and three people decide by it."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.browser import staged_interrupts
from tests.support.browser.site import Site, open_site, wait_for

pytestmark = pytest.mark.browser

#: More than the elements of any page that Tab reaches.
MOST_TABS = 150


@pytest.fixture(scope="module")
def site(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with open_site(tmp_path_factory.mktemp("walk"), chromium) as site:
        yield site


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until the element has the focus."""
    expect(target).to_be_visible()
    for _ in range(MOST_TABS):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {target}")


def press(page: Page, target: Locator, key: str = "Enter") -> None:
    tab_to(page, target)
    page.keyboard.press(key)


def write(page: Page, target: Locator, text: str) -> None:
    tab_to(page, target)
    page.keyboard.press("Control+a")
    page.keyboard.type(text)


def open_menu(page: Page, part: str) -> Locator:
    """Open the menu of a part of the sentence, which takes the focus."""
    press(page, page.locator(f"[id='f-{part}']"))
    menu = page.locator(f"[id='menu-{part}']")
    expect(menu).to_be_visible()
    return menu


def choose(page: Page, part: str, text: str) -> None:
    """Choose from a list in the menu of a part, with the field that filters it if it has one."""
    menu = open_menu(page, part)
    option = menu.locator("label").filter(has_text=re.compile(rf"^\s*{re.escape(text)}\b"))
    box = option.locator("input").first
    if menu.locator("[data-filter]").count():
        expect(menu.locator("[data-filter]")).to_be_focused()
        page.keyboard.type(text)
        page.keyboard.press("Enter")
    elif box.get_attribute("type") == "radio":
        for _ in range(menu.locator("input[type=radio]").count()):
            if box.is_checked():
                break
            page.keyboard.press("ArrowDown")
        expect(box).to_be_checked()
        page.keyboard.press("Enter")
    else:
        press(page, box, "Space")
        page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(page.locator(f"[id='f-{part}']")).to_be_focused()


def enter(page: Page, part: str, text: str, field: str = "") -> None:
    open_menu(page, part)
    write(page, page.locator(f"[id='in-{field or part}']"), text)
    page.keyboard.press("Enter")


def expect_parts(page: Page, *texts: str) -> None:
    expect(page.locator("#line .part-label")).to_have_text([*texts])


def expect_saved(page: Page) -> None:
    expect(page.locator("#saved[data-saved]")).to_be_visible()


def write_small_refunds(page: Page) -> None:
    """Begin with the template, and make the rule one about the tool `refund_payment`."""
    press(page, page.get_by_role("button", name="Begin with a template"))
    press(page, page.get_by_role("link", name="Approve small amounts"))
    page.wait_for_url("**/policy/new/**")
    menu = open_menu(page, "other_tools")
    for box in menu.locator("input[name=tools]:checked").all():
        press(page, box, "Space")
    press(page, menu.locator("input[name=tools][value=refund_payment]"), "Space")
    page.keyboard.press("Escape")
    choose(page, "when-0-fact", "amount")
    enter(page, "when-0-value", "0, 50")
    expect_parts(
        page,
        *("any agent", "refund_payment", "amount", "is between", "0 and 50"),
        "run without asking",
    )
    expect_saved(page)
    press(page, page.locator(".crumbs a"))


def write_large_refunds(page: Page) -> None:
    """Write a rule from an empty page, which is never loaded again."""
    press(page, page.get_by_role("link", name="Add a rule"))
    page.wait_for_url("**/policy/new/**")
    page.evaluate("window.isSamePage = true")
    press(page, page.locator("details.settings > summary").first)
    write(page, page.locator("#f-name"), "Refunds in EUR")
    choose(page, "other_tools", "refund_payment")
    press(page, page.locator("#f-add-when"))
    expect(page.locator("#menu-when-0-fact [data-filter]")).to_be_focused()
    page.keyboard.type("amou")
    page.keyboard.press("Enter")
    choose(page, "when-0-comparison", "is above")
    enter(page, "when-0-value", "50")
    enter(page, "people", "1", "people-group:finance")
    enter(page, "people", "1", "people-role:reviewer")
    expect_parts(
        page,
        *("any agent", "refund_payment", "amount", "is above", "50", "ask"),
        "one reviewer and one of finance",
    )
    expect_saved(page)
    assert page.evaluate("window.isSamePage")
    press(page, page.get_by_role("button", name="Publish"))
    expect(page.get_by_text("Refunds in EUR", exact=True).last).to_be_visible()


def click_choice(page: Page, part: str, text: str) -> None:
    page.locator(f"[id='f-{part}']").click()
    menu = page.locator(f"[id='menu-{part}']")
    menu.locator("label").filter(has_text=re.compile(rf"^\s*{re.escape(text)}\b")).first.click()
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()


def type_limit(page: Page, limit: str) -> None:
    page.locator("#f-when-0-value").click()
    page.locator("#in-when-0-value").fill(limit)
    page.keyboard.press("Escape")


def drag_limit(page: Page, steps: int) -> None:
    """Drag the limit down by steps of its range."""
    limit = page.locator("#limit")
    box, low, high, value = (
        limit.bounding_box(),
        *(float(limit.evaluate(f"input => input.{name}")) for name in ("min", "max", "value")),
    )
    assert box
    x, handle = box["x"] + box["width"] / 2, 24
    length = box["height"] - handle

    def y_of(amount: float) -> float:
        return box["y"] + handle / 2 + length * (1 - (amount - low) / (high - low))

    page.mouse.move(x, y_of(value))
    page.mouse.down()
    page.mouse.move(x, y_of(value - steps), steps=5)
    page.mouse.up()


def counts_at(page: Page, limit: str) -> str:
    """The counts of the strip once it is about this limit."""
    expect(page.locator("#f-when-0-value .part-label")).to_have_text(limit)
    expect(page.locator("#limit")).to_have_attribute("aria-valuetext", re.compile(f"^{limit}: "))
    expect_saved(page)
    return page.locator(".strip-counts").inner_text()


def test_a_limit_is_dragged_moved_chosen_and_typed_alike(site):
    amounts = (60, 80, 100, 120, 140)
    site.play(*({**staged_interrupts.REFUND, "args": refund(amount)} for amount in amounts))
    with site.open_as("admin") as page:
        page.goto(f"{site.url}/teams/demo/policy/new/")
        page.evaluate("window.isSamePage = true")
        click_choice(page, "other_tools", "refund_payment")
        page.get_by_role("button", name="condition").click()
        # The menu of a new condition is open.
        page.locator("#menu-when-0-fact label").filter(has_text="amount").first.click()
        click_choice(page, "when-0-comparison", "is at most")
        click_choice(page, "effect", "run without asking")
        type_limit(page, "101")
        typed = counts_at(page, "101")
        drag_limit(page, 25)
        dragged = float(page.locator("#limit").input_value())
        at_dragged = counts_at(page, f"{dragged:g}")
        page.locator("#limit").focus()
        for _ in range(int(101 - dragged)):
            page.keyboard.press("ArrowUp")
        moved = counts_at(page, "101")
        page.locator("#f-when-0-value").click()
        page.locator("#menu-when-0-value [name=set]", has_text="100").first.click()
        chosen = counts_at(page, "100")
        type_limit(page, f"{dragged:g}")
        typed_again = counts_at(page, f"{dragged:g}")

        assert (moved, typed_again) == (typed, at_dragged)
        assert chosen == typed
        assert at_dragged != typed
        assert page.evaluate("window.isSamePage")
        page.goto(f"{site.url}/teams/demo/policy/?review=1")
        page.get_by_role("button", name="Discard the draft").click()
        expect(page.locator("#draft")).to_be_hidden()


def test_another_administrators_change_loses_nothing_typed(site):
    with site.open_as("admin") as page:
        page.goto(f"{site.url}/teams/demo/policy/new/")
        with page.context.expect_page():
            page.evaluate("open('/teams/demo/policy/new/?template=production')")
        other = page.context.pages[-1]
        choose(other, "effect", "deny")
        expect_saved(other)
        page.bring_to_front()
        choose(page, "other_tools", "refund_payment")

        expect(page.locator("#saved[data-conflict]")).to_contain_text("your input is still here")
        expect(page.locator("#f-other_tools .part-label")).to_have_text("refund_payment")
        page.locator("#save").click()
        expect(page.locator(".rules").get_by_text("refund_payment").last).to_be_visible()
        page.goto(f"{site.url}/teams/demo/policy/?review=1")
        page.get_by_role("button", name="Discard the draft").click()
        expect(page.locator("#draft")).to_be_hidden()


def test_a_rule_is_written_without_a_script(site):
    with site.open_as("admin") as live:
        state = live.context.storage_state()
    with site.browse(storage_state=state, java_script_enabled=False) as page:
        page.goto(f"{site.url}/teams/demo/policy/new/")
        click_choice(page, "other_tools", "refund_payment")
        page.get_by_role("button", name="condition").click()
        click_choice(page, "when-0-fact", "amount")
        click_choice(page, "when-0-comparison", "is above")
        page.locator("#f-when-0-value").click()
        page.locator("#in-when-0-value").fill("500")
        page.locator("#in-when-0-value").press("Enter")
        expect(page.locator(".rules").get_by_text("500")).to_be_visible()
        page.goto(f"{site.url}/teams/demo/policy/?review=1")
        page.get_by_role("button", name="Discard the draft").click()
        expect(page.locator("#draft")).to_be_hidden()


def move_up(page: Page, rule: str) -> None:
    """Move a rule to the first place with Alt and an arrow, which leaves the focus on it."""
    row, place = page.locator(f"#rule-{rule}"), page.locator(".rules > li")
    tab_to(page, row.get_by_role("link").first)
    steps = [item.get_attribute("id") for item in place.all()].index(f"rule-{rule}")
    for step in range(steps):
        page.keyboard.press("Alt+ArrowUp")
        expect(place.nth(steps - step - 1)).to_have_id(f"rule-{rule}")
        expect(row).to_be_focused()


def test_a_policy_is_written_tested_and_published_without_a_mouse(site):
    before = [{**staged_interrupts.REFUND, "args": refund(amount)} for amount in (40, 70)]
    for interrupt in site.play(*before):
        site.decide(interrupt, {"approved": True})
    with site.open_as("admin") as page:
        page.goto(f"{site.url}/teams/demo/policy/")
        write_small_refunds(page)
        write_large_refunds(page)
        move_up(page, "refunds-in-eur")

        press(page, page.locator("[popovertarget=policy-menu]"))
        press(page, page.get_by_role("link", name="Backtest"))
        press(page, page.get_by_role("button", name="Run the backtest"))
        expect(page.locator("#result-title")).to_be_focused()
        expect(page.get_by_text("would have been allowed")).to_be_visible()

        press(page, page.get_by_role("link", name="Back to the policy"))
        press(page, page.locator("#draft > summary"))
        write(page, page.locator("#f-comment"), "Refunds up to 50 EUR run")
        press(page, page.get_by_role("button", name="Publish"))
        expect(page.get_by_role("link", name="Version 2").first).to_be_visible()

    assert outcome_of(site, 40) == "resolved"
    (interrupt,) = site.play({**staged_interrupts.REFUND, "args": refund(148)})
    approve(site, interrupt, "marco")
    with site.open_as("dana") as page:
        site.open(page, interrupt)
        expect(page.locator("#quorum-title")).to_have_text("1 of 2 approved")
    approve(site, interrupt, "priya")

    decided = site.call(f"/api/interrupts/{interrupt['id']}")
    assert [person["by"] for person in decided["endorsements"]] == ["Marco Ruiz", "Priya Shah"]
    policies = policies_in_trail(site, interrupt)
    assert [policy["rules"] for policy in policies] == [["refunds-in-eur"]]
    assert decided["policy"]["version"] == 2
    version = site.call("/api/teams/demo/policy/2")
    assert policies[0]["version"] == version["digest"]


def refund(amount: float) -> dict[str, Any]:
    return {**staged_interrupts.REFUND["args"], "amount": amount}


def outcome_of(site: Site, amount: float) -> str:
    """Let the agent propose a refund, and return the state of the interrupt that rules closed."""
    props = {"says": "Refund.", "asks": [{**staged_interrupts.REFUND, "args": refund(amount)}]}
    run = site.start("Refund", agent="billing", forwarded_props=props)

    def closed() -> Any:
        rows = site.call("/api/interrupts?status=closed&sort=new")["results"]
        return next((row for row in rows if row["run"] == run["id"]), None)

    return str(wait_for(closed)["status"])


def approve(site: Site, interrupt: Any, username: str) -> None:
    """Approve with the key that the page tells."""
    with site.open_as(username) as page:
        site.open(page, interrupt)
        page.keyboard.press("a")
        expect(page.locator("button[value=approve]")).to_be_focused()
        page.keyboard.press("Enter")
        page.wait_for_url("**done=**")


def policies_in_trail(site: Site, interrupt: Any) -> list[Any]:
    rows = site.call(f"/api/audit?action=interrupt.opened&thread={interrupt['thread']}")["results"]
    return [row["detail"]["policy"] for row in rows if row["interrupt"] == interrupt["id"]]
