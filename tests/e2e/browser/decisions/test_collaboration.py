"""What several people and a shaky connection do to a page that somebody works on."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import staged_interrupts
from tests.support.browser.site import Connection, Site, edit_value, hold_reading

pytestmark = pytest.mark.browser

_CARET = "[document.activeElement.selectionStart, document.activeElement.selectionEnd]"


@pytest.fixture
def both(site: Site) -> Iterator[Any]:
    """Open a request in Marco's and in Priya's browser."""
    with ExitStack() as stack:

        def open_in_both(interrupt: Any) -> list[Page]:
            pages = [
                stack.enter_context(
                    site.open_as(name, permissions=["clipboard-read", "clipboard-write"])
                )
                for name in ("marco", "priya")
            ]
            for page in pages:
                site.open(page, interrupt)
            return pages

        yield open_in_both


def hear_news(site: Site, page: Page) -> None:
    """Let something happen elsewhere, until the page has taken it in."""
    before = page.locator("#rows > .row").count()
    site.play(staged_interrupts.YES_NO)
    expect(page.locator("#rows > .row")).to_have_count(before + 1)


def test_news_leave_a_text_area_its_text_focus_caret_and_scroll(site):
    (interrupt,) = site.play(staged_interrupts.MAIL)
    with site.open_as("priya") as page:
        site.open(page, interrupt)
        body = edit_value(page, "#f-args-body")
        body.fill("first line\n" * 40)
        body.evaluate("area => area.setSelectionRange(30, 41)")

        hear_news(site, page)

        expect(body).to_be_focused()
        expect(body).to_have_value("first line\n" * 40)
        assert page.evaluate(_CARET) == [30, 41]


def test_news_leave_a_choice_as_it_was_made(site):
    (interrupt,) = site.play(staged_interrupts.REFUND)
    with site.open_as("priya") as page:
        site.open(page, interrupt)
        pounds = page.locator("input[name='args/currency']").nth(2)
        page.locator("[data-value]", has=pounds).locator("[data-edit]").click()
        pounds.check()
        pounds.focus()

        hear_news(site, page)

        expect(pounds).to_be_focused()
        expect(pounds).to_be_checked()
        expect(page.locator("#changes ins")).to_contain_text("GBP")


def test_news_leave_the_json_tab_as_it_is_written(site):
    (interrupt,) = site.play(staged_interrupts.REFUND)
    with site.open_as("priya") as page:
        site.open(page, interrupt)
        page.click("#answer button[value='tab:json:args']")
        text = page.locator("#answer textarea.code")
        text.fill('{"payment": "not yet')
        text.evaluate("area => area.setSelectionRange(5, 5)")

        hear_news(site, page)

        expect(text).to_be_focused()
        expect(text).to_have_value('{"payment": "not yet')
        assert page.evaluate(_CARET) == [5, 5]


def test_who_was_slower_sees_who_and_when_and_copies_the_edits(site, both):
    (interrupt,) = site.play(staged_interrupts.REFUND)
    marco, priya = both(interrupt)
    edit_value(priya, "#f-args-payment").fill("pay_7")
    expect(priya.locator("#changes ins").first).to_be_visible()

    marco.click("button[value=reject]")

    alert = priya.locator("#banner [role=alert]")
    expect(alert).to_contain_text("Marco Ruiz")
    expect(alert.locator("time")).to_be_visible()
    priya.click("#banner [data-copy]")
    expect(priya.locator("#banner [data-copy]")).to_contain_text("Copied")
    copied = json.loads(priya.evaluate("navigator.clipboard.readText()"))
    assert copied == staged_interrupts.REFUND["args"] | {"payment": "pay_7"}


def test_a_claim_turns_the_bar_of_the_other_into_taking_over(site, both):
    (interrupt,) = site.play(staged_interrupts.REFUND)
    marco, priya = both(interrupt)

    marco.click("#claim button")

    expect(priya.locator("#bar button[name=take_over]")).to_be_visible()
    expect(priya.locator("button[value=approve]")).to_have_count(0)
    priya.click("#bar button[name=take_over]")
    expect(priya.locator("button[value=approve]")).to_be_enabled()
    expect(marco.locator("#bar button[name=take_over]")).to_be_visible()


def test_both_see_each_other_until_one_leaves(site, both):
    (interrupt,) = site.play(staged_interrupts.REFUND)
    marco, priya = both(interrupt)
    expect(marco.locator("#presence")).to_contain_text("Priya Shah")
    expect(priya.locator("#presence")).to_contain_text("Marco Ruiz")

    priya.goto(f"{site.url}/decided/")

    expect(marco.locator("#presence > *")).to_have_count(0)


def test_a_comment_appears_where_the_other_writes_one(site, both):
    (interrupt,) = site.play(staged_interrupts.REFUND)
    marco, priya = both(interrupt)
    priya.fill("#f-comment", "I was about to say")

    marco.fill("#f-comment", "The customer has called twice.")
    marco.click("#comment-field button")

    expect(priya.locator("#comments")).to_contain_text("The customer has called twice.")
    expect(priya.locator("#f-comment")).to_have_value("I was about to say")
    expect(priya.locator("#f-comment")).to_be_focused()
    expect(marco.locator("#f-comment")).to_have_value("")
    marco.reload()
    expect(marco.locator("#comments")).to_contain_text("The customer has called twice.")
    expect(marco.locator("#draft")).to_have_count(0)


def test_what_one_takes_back_is_open_for_the_other(site, both):
    interrupt, _ = site.play(staged_interrupts.REFUND, staged_interrupts.MAIL | {"minutes": 240})
    marco, priya = both(interrupt)
    marco.click("button[value=approve]")
    expect(priya.locator("#banner")).to_contain_text("Marco Ruiz")
    expect(priya.locator("button[value=approve]")).to_have_count(0)

    marco.click("#toast form button")

    expect(priya.locator("button[value=approve]")).to_be_enabled()
    expect(priya.locator("#banner")).not_to_contain_text("Marco Ruiz")


def test_decision_withdrawn_before_the_other_page_read_it_can_be_answered(site, both):
    interrupt, _ = site.play(staged_interrupts.REFUND, staged_interrupts.MAIL | {"minutes": 240})
    marco, priya = both(interrupt)
    # Before the page is there: a new one reads itself once more after a second.
    let_it_read = hold_reading(priya)
    site.open(priya, interrupt)
    edit_value(priya, "#f-args-payment").fill("pay_7")
    marco.click("button[value=approve]")
    expect(priya.locator("#banner")).to_have_text("Marco Ruiz has just decided this.")
    expect(priya.locator("#f-args-payment")).not_to_be_editable()
    marco.click("#toast form button")
    expect(marco.locator("button[value=approve]")).to_be_enabled()

    let_it_read()

    expect(priya.locator("#banner")).not_to_contain_text("Marco Ruiz")
    expect(priya.locator("#f-args-payment")).to_be_editable()
    expect(priya.locator("button[value=approve]")).to_be_enabled()
    expect(priya.locator("#f-args-payment")).to_have_value("pay_7")


def test_nothing_is_missed_while_the_connection_is_down(site):
    (interrupt,) = site.play(staged_interrupts.REFUND)
    with site.open_as("priya") as page:
        connection = Connection(page)
        site.open(page, interrupt)
        edit_value(page, "#f-args-payment").fill("pay_7")
        count = page.locator("#rows > .row").count()

        connection.cut()
        expect(page.locator("#live")).to_have_attribute("data-state", "lost")
        site.decide(interrupt, {"approved": False})
        (new,) = site.play(staged_interrupts.MAIL)
        connection.mend()

        expect(page.locator("#live")).to_have_attribute("data-state", "on")
        expect(page.locator("#banner [role=alert]")).to_be_visible()
        expect(page.locator("#f-args-payment")).to_have_value("pay_7")
        expect(page.locator(f"#row-{new['id']}")).to_be_visible()
        expect(page.locator("#rows > .row")).to_have_count(count)


# -- without JavaScript ---------------------------------------------------------------------------


@pytest.fixture
def plain(site: Site) -> Iterator[Page]:
    """Marco's browser without JavaScript."""
    with site.browse(storage_state=site.state_of("marco"), java_script_enabled=False) as page:
        yield page


def decided(site: Site, interrupt: Any) -> Any:
    return site.call(f"/api/interrupts/{interrupt['id']}")["decision"]["payload"]


def test_a_form_is_filled_in_without_javascript(site, plain):
    (interrupt,) = site.play(staged_interrupts.FORM)
    plain.goto(f"{site.url}/interrupts/{interrupt['id']}/")
    plain.fill("#f-answer-name", "Chairs & Co")
    plain.click("button[value='branch:1:answer/payment']")
    plain.click("button[value='add:answer/contacts']")
    plain.click("button[value='add:answer/contacts']")
    plain.locator(".item-remove").last.click()
    expect(plain.locator("#f-answer-name")).to_have_value("Chairs & Co")
    plain.fill("#f-answer-vat", "DE12345678")
    plain.locator("input[name='answer/reviewed']").first.check()
    for place, text in (("street", "Main 1"), ("city", "Bonn")):
        plain.fill(f"[name='answer/address/{place}']", text)
    plain.fill("[name^='answer/payment'][name$='last4']", "4242")
    plain.fill("[name^='answer/contacts'][name$='email']", "a@example.com")

    plain.click("button[value=answer]")

    expect(plain.locator("#toast")).to_be_visible()
    sent = decided(site, interrupt)
    assert sent["payment"] == {"kind": "card", "last4": "4242"}
    assert sent["contacts"] == [{"email": "a@example.com"}]


def test_json_is_written_without_javascript(site, plain):
    (interrupt,) = site.play(staged_interrupts.REFUND)
    plain.goto(f"{site.url}/interrupts/{interrupt['id']}/")
    plain.click("#answer button[value='tab:json:args']")
    plain.fill(
        "#answer textarea.code", json.dumps(staged_interrupts.REFUND["args"] | {"amount": 12})
    )

    plain.click("button[value=approve]")

    assert decided(site, interrupt)["editedArgs"]["amount"] == 12


def test_claim_comment_reject_and_taking_back_need_no_javascript(site, plain):
    interrupt, _ = site.play(staged_interrupts.REFUND, staged_interrupts.MAIL | {"minutes": 240})
    address = f"{site.url}/interrupts/{interrupt['id']}/"
    plain.goto(address)
    plain.click("#claim button")
    expect(plain.locator("#claim .tag-me")).to_be_visible()
    plain.fill("#f-comment", "a word")
    plain.click("#comment-field button")
    expect(plain.locator("#comments")).to_contain_text("a word")
    plain.fill("#f-reason", "not like this")
    plain.click("button[value=reject]")
    assert decided(site, interrupt) == {"approved": False, "reason": "not like this"}
    plain.goto(address)

    plain.click("#withdraw button")

    expect(plain.locator("button[value=approve]")).to_be_enabled()


def test_narrowing_and_deciding_many_need_no_javascript(site, plain):
    interrupts = [site.play(staged_interrupts.REFUND, agent="operations")[0] for _ in range(2)]
    plain.goto(f"{site.url}/")
    plain.click(".filter-form summary")
    plain.select_option("#filter-agent", "operations")
    plain.click(".narrow-fields button[type=submit]")
    expect(plain.locator("#rows > .row")).to_have_count(2)
    plain.locator("#rows .row-similar").first.click()
    for box in plain.locator(".tick").all():
        box.check()

    plain.click("button[value=approve]")

    expect(plain.locator(".outcomes > li")).to_have_count(2)
    assert [decided(site, interrupt) for interrupt in interrupts] == [{"approved": True}] * 2


def test_a_run_is_started_without_javascript(site, plain):
    plain.goto(f"{site.url}/runs/")
    plain.locator("#detail a[href$='/runs/new/']").click()
    plain.locator("#rows a[href$='agent=rehearsal']").click()
    plain.locator("#answer select, #answer input[type=radio]").first.wait_for()
    if plain.locator("#answer select").count():
        plain.locator("#answer select").select_option(index=1)
    else:
        plain.locator("#answer input[type=radio]").first.check()

    plain.click("#decide-buttons button")

    plain.wait_for_url("**/threads/*/")
    expect(plain.locator("#bar-of-run")).to_be_visible()
