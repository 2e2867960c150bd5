"""An administrator writes a policy with the keyboard alone, and three people decide by it."""

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


def choose(page: Page, target: Locator, value: str) -> None:
    """Press an arrow until the list has the value."""
    tab_to(page, target)
    for _ in range(target.locator("option").count()):
        if target.input_value() == value:
            return
        page.keyboard.press("ArrowDown")
    expect(target).to_have_value(value)


def write_small_refunds(page: Page) -> None:
    """Begin with the template, and make the rule one about the tool `refund_payment`."""
    press(page, page.get_by_role("link", name="Approve small amounts"))
    page.wait_for_url("**/policy/new/**")
    for box in page.locator("input[name=tools]:checked").all():
        press(page, box, "Space")
    press(page, page.locator("input[name=tools][value=refund_payment]"), "Space")
    write(page, page.locator("#f-when-0-fact"), "amount")
    write(page, page.locator("#f-when-0-value"), "0, 50")
    press(page, page.locator("button[name=save]"))
    expect(page.locator("#draft-title")).to_be_visible()


def write_large_refunds(page: Page) -> None:
    press(page, page.get_by_role("link", name="Add a rule"))
    page.wait_for_url("**/policy/new/**")
    write(page, page.locator("#f-name"), "Refunds in EUR")
    press(page, page.locator("input[name=tools][value=refund_payment]"), "Space")
    press(page, page.locator("#f-add-when"))
    fact = page.locator("#f-when-0-fact")
    write(page, fact, "amount")
    choose(page, page.locator("#f-when-0-comparison"), "gt")
    write(page, page.locator("#f-when-0-value"), "50")
    write(page, page.locator("[id='f-people-group:finance']"), "1")
    write(page, page.locator("[id='f-people-role:reviewer']"), "1")
    press(page, page.locator("button[name=save]"))
    expect(page.get_by_text("Refunds in EUR", exact=True).last).to_be_visible()


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
