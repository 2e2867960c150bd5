"""Two people and two real browsers: what one does, the other sees without a reload."""

import json
import re
import time

import pytest
from playwright.sync_api import Page, Request, expect

from tests.support.browser import staged_interrupts
from tests.support.browser.site import (
    Connection,
    edit_value,
    hold_reading,
    hold_requests,
    wait_for,
)

pytestmark = pytest.mark.browser

_EDITED = "I was still writing"


def answers_of(page: Page) -> list[str]:
    """The addresses to which the page sends answers from now on."""
    sent: list[str] = []
    page.on("request", lambda request: "/decide" in request.url and sent.append(request.url))
    return sent


def test_a_new_request_appears_in_an_open_list(site):
    with site.open_as("marco") as page:
        interrupt = site.ask("tool_call")

        expect(page.locator(f"#row-{interrupt['id']}")).to_be_visible()


def test_page_says_that_it_reads_itself_again(site):
    """No such request keeps an idle session."""
    with site.open_as("marco") as page:
        expect(page.locator("#live")).to_have_attribute("data-state", "on")
        sent: dict[str, str | None] = {}

        def note(request: Request) -> None:
            # Not scripts that are loaded when needed, nor that the first request was displayed.
            if "/static/" not in request.url and not request.url.endswith("/viewed"):
                sent[request.url] = request.headers.get("x-signoff-refresh")

        page.on("request", note)

        interrupt = site.ask("tool_call")

        expect(page.locator(f"#row-{interrupt['id']}")).to_be_visible()
        assert sent == dict.fromkeys(sent, "1")
        assert sent


def test_the_other_reviewer_sees_the_decision_and_keeps_what_was_typed(site):
    interrupt = site.ask("tool_call")
    with site.open_as("marco") as marco, site.open_as("priya") as priya:
        for page in (marco, priya):
            page.goto(f"{site.url}/interrupts/{interrupt['id']}/")
            expect(page.locator("#live")).to_have_attribute("data-state", "on")
        edit_value(priya, "#f-args-subject").fill(_EDITED)
        priya.locator("#f-args-subject").evaluate("field => field.setSelectionRange(3, 7)")
        priya.evaluate("window.isSamePage = true")

        marco.click("button[value=approve]")
        clicked = time.monotonic()
        expect(priya.locator("#banner [role=alert]")).to_contain_text("Marco Ruiz approved this")
        print(f"\nthe other browser knew after {(time.monotonic() - clicked) * 1000:.0f} ms")

        expect(priya.locator("#banner")).to_contain_text("Your edits were not sent.")
        expect(priya.locator("#f-args-subject")).to_have_value(_EDITED)
        expect(priya.locator("#f-args-subject")).to_be_focused()
        assert priya.evaluate("document.activeElement.selectionStart") == 3
        expect(priya.locator("#f-args-subject")).not_to_be_editable()
        for button in priya.locator("#decide-buttons button").all():
            expect(button).to_be_disabled()
        expect(priya.locator("#outcome")).to_contain_text("executionCount")
        assert priya.evaluate("window.isSamePage")
        marco.click("#toast a")
        expect(marco.locator("#banner")).to_contain_text("You approved this")
        expect(marco.locator("#outcome")).to_contain_text("executionCount")


def test_text_focus_and_caret_survive_other_news(site):
    interrupt = site.ask("tool_call")
    with site.open_as("priya") as page:
        page.goto(f"{site.url}/interrupts/{interrupt['id']}/")
        expect(page.locator("#live")).to_have_attribute("data-state", "on")
        edit_value(page, "#f-args-subject").fill(_EDITED)
        page.locator("#f-args-subject").evaluate("field => field.setSelectionRange(3, 7)")
        count = page.locator("#rows > li").count()

        site.ask("confirmation")

        expect(page.locator("#rows > li")).to_have_count(count + 1)
        expect(page.locator("#f-args-subject")).to_have_value(_EDITED)
        expect(page.locator("#f-args-subject")).to_be_focused()
        assert page.evaluate(
            "[document.activeElement.selectionStart, document.activeElement.selectionEnd]"
        ) == [3, 7]
        expect(page.locator("button[value=approve]")).to_contain_text("Approve with 1 change")


def test_open_sections_stay_open_after_a_live_update(site):
    decided, other = site.play(staged_interrupts.REFUND, staged_interrupts.MAIL)
    with site.open_as("priya") as page:
        site.decide(decided, {"approved": True})
        site.open(page, decided)
        answer = page.locator("#outcome details").last
        answer.locator("summary").click()

        site.decide(other, {"approved": True})

        expect(page.locator("#result-title ~ pre").last).to_be_visible()
        expect(answer.locator("pre")).to_be_visible()
        expect(answer.locator("summary")).to_be_focused()


def test_a_form_that_has_not_changed_stays_in_a_live_update(site):
    decided, _ = site.play(staged_interrupts.REFUND, staged_interrupts.MAIL)
    with site.open_as("priya") as page:
        page.goto(f"{site.url}/threads/{decided['thread']}/")
        site.wait_until_live(page)
        cancel = page.locator("#runs").get_by_role("button", name="Cancel")
        form = page.locator("#runs form").last.element_handle()
        cancel.last.focus()

        site.decide(decided, {"approved": True})

        expect(page.locator("#waterfall .is-waiting")).to_have_count(1)
        assert form.evaluate("form => form.isConnected")
        expect(cancel.last).to_be_focused()


def test_a_form_is_sent_after_its_reader_signed_in_again(site):
    (interrupt,) = site.play(staged_interrupts.REFUND)
    with site.open_as("priya") as page:
        page.goto(f"{site.url}/threads/{interrupt['thread']}/")
        site.wait_until_live(page)
        # The response of a refresh under way would set the old cookie again.
        page.wait_for_load_state("networkidle")
        # As signing in does, in another tab.
        page.evaluate("document.cookie = `csrftoken=${'n'.repeat(32)}; path=/`")

        page.locator("#runs").get_by_role("button", name="Cancel").last.click()

        expect(page.locator("#runs")).to_contain_text("Priya Shah")  # whose run cancels


def test_deciding_at_the_same_time_shows_who_was_faster(site):
    interrupt = site.ask("tool_call")
    with site.open_as("marco") as marco, site.open_as("priya") as priya:
        # Without her socket Priya only learns from the answer to her own decision.
        priya.route_web_socket("**/ws/live/**", lambda socket: socket.close())
        for page in (marco, priya):
            page.goto(f"{site.url}/interrupts/{interrupt['id']}/")
        priya.evaluate("void (htmx.ajax = () => new Promise(() => {}))")
        edit_value(priya, "#f-args-subject").fill(_EDITED)
        marco.click("button[value=reject]")
        expect(marco.locator("#toast")).to_contain_text("Rejected")

        priya.click("button[value=approve]")

        alert = priya.locator("#banner [role=alert]")
        expect(alert).to_contain_text("Marco Ruiz rejected this")
        expect(alert).to_be_focused()
        expect(priya.locator("#f-args-subject")).to_have_value(_EDITED)
        expect(priya.locator("#f-args-subject")).not_to_be_editable()


def test_a_mistake_is_pointed_at_and_can_be_corrected(site):
    interrupt = site.ask("input_required")
    with site.open_as("marco") as page:
        site.open(page, interrupt)
        page.get_by_label("Q3").check()
        page.fill("#f-answer-revenue", "1.5")
        page.fill("#f-answer-year", "1999")

        page.click("button[value=answer]")

        expect(page.locator("#f-answer-year")).to_be_focused()
        expect(page.locator("#f-answer-year")).to_have_attribute("aria-invalid", "true")
        page.fill("#f-answer-year", "2025")
        page.click("button[value=answer]")
        expect(page.locator("#toast")).to_contain_text("Answered")


def test_the_page_of_who_decides_is_not_read_again_before_it_is_left(site):
    interrupt = site.ask("tool_call")
    with site.open_as("marco") as marco, site.open_as("priya") as priya:
        for page in (marco, priya):
            site.open(page, interrupt)
            page.wait_for_load_state("networkidle")
        held = hold_requests(marco, "**/decide*")
        with marco.expect_request("**/decide*"):
            marco.click("button[value=approve]")
        read: list[str] = []
        marco.on("request", lambda request: read.append(request.url))

        answer = held[0].fetch()
        expect(priya.locator("#banner [role=alert]")).to_be_visible()
        expect(priya.locator("#outcome")).to_contain_text("executionCount")
        assert not read

        held[0].fulfill(response=answer)
        expect(marco.locator("#toast")).to_contain_text("Approved")


def test_who_was_slower_is_told_before_the_page_has_been_read_again(site):
    interrupt = site.ask("tool_call")
    with site.open_as("marco") as marco, site.open_as("priya") as priya:
        # Before the page is there: a new one reads itself once more after a second.
        let_it_read = hold_reading(priya)
        for page in (marco, priya):
            site.open(page, interrupt)
        expect(priya.locator("#live")).to_have_attribute("data-state", "on")
        edit_value(priya, "#f-args-subject").fill(_EDITED)

        marco.click("button[value=approve]")

        expect(priya.locator("#banner")).to_have_text("Marco Ruiz has just decided this.")
        expect(priya.locator("#f-args-subject")).to_have_value(_EDITED)
        for button in priya.locator("#decide-buttons button").all():
            expect(button).to_be_disabled()
        expect(priya.locator(f"#row-{interrupt['id']}")).to_have_class("row is-done")
        let_it_read()
        expect(priya.locator("#banner [role=alert]")).to_contain_text("Marco Ruiz approved this")


def test_after_a_mistake_the_page_goes_on_showing_what_others_do(site):
    interrupt = site.ask("input_required")
    with site.open_as("marco") as marco, site.open_as("priya") as priya:
        for page in (marco, priya):
            site.open(page, interrupt)
        priya.fill("#f-answer-year", "1999")
        priya.click("button[value=answer]")
        expect(priya.locator("#banner [role=alert]")).to_be_focused()

        marco.click("button[value=cancel]")

        expect(priya.locator("#banner")).to_contain_text("Marco Ruiz")


def test_enter_in_the_note_decides_nothing(site):
    interrupt = site.ask("tool_call")
    with site.open_as("marco") as page:
        page.goto(f"{site.url}/interrupts/{interrupt['id']}/")
        sent = answers_of(page)

        page.fill("#f-reason", "not yet sure")
        page.press("#f-reason", "Enter")
        page.wait_for_timeout(300)

        assert not sent
        expect(page.locator("button[value=approve]")).to_be_enabled()


def test_a_lost_connection_is_shown_and_healed(site):
    with site.open_as("marco") as page:
        connection = Connection(page)
        page.reload()
        expect(page.locator("#live")).to_have_attribute("data-state", "on")
        count = page.locator("#rows > li").count()

        connection.cut()
        expect(page.locator("#live")).to_have_text("Reconnecting")
        site.ask("tool_call")
        assert page.locator("#rows > li").count() == count
        connection.mend()

        expect(page.locator("#live")).to_have_attribute("data-state", "on")
        expect(page.locator("#rows > li")).to_have_count(count + 1)


def test_a_thread_grows_while_its_run_streams(site):
    with site.open_as("marco") as page:
        # Long enough for a slow page to be opened while it streams.
        run = site.start("rehearse:stream:200:50")
        page.goto(f"{site.url}/threads/{run['thread']}/")
        page.click("#conversation > summary")
        page.evaluate("window.isSamePage = true")
        lengths: set[int] = set()

        def is_complete() -> bool:
            text = page.locator("#story").inner_text()
            lengths.add(len(text))
            return "word 200" in text

        wait_for(is_complete, seconds=60)

        print(f"\nthe streamed message was seen at {len(lengths)} lengths")
        assert len(lengths) >= 4
        expect(page.locator("#bar-of-run")).to_contain_text("Finished")
        expect(page.locator("#now")).to_be_empty()
        assert page.evaluate("window.isSamePage")


def test_without_javascript_the_whole_way_works(site):
    interrupt = site.ask("tool_call")
    with site.browse(java_script_enabled=False) as page:
        page.goto(f"{site.url}/interrupts/{interrupt['id']}/")
        site.sign_in(page, "marco")

        edit_value(page, "#f-args-to").fill("no-script@example.com")
        page.click("button[value=approve]")
        page.click("#toast a")

        expect(page.locator("#banner")).to_contain_text("You approved this with changes")
        expect(page.locator("#changes")).to_contain_text("no-script@example.com")


def test_sending_from_the_field_of_a_comment_sends_the_comment(site):
    interrupt = site.ask("tool_call")
    with site.open_as("marco") as page:
        site.open(page, interrupt)
        page.fill("#f-comment", "wait for me")

        page.press("#f-comment", "Control+Enter")

        expect(page.locator("#comments")).to_contain_text("wait for me")
        expect(page.locator("button[value=approve]")).to_be_enabled()
        expect(page.locator("#toast")).to_have_count(0)


def test_a_key_that_is_held_down_does_not_answer_the_next_request(site):
    interrupt, _ = site.ask("tool_call"), site.ask("tool_call")
    with site.open_as("marco") as page:
        site.open(page, interrupt)
        sent = answers_of(page)

        page.keyboard.press("a")
        page.keyboard.down("Enter")
        page.wait_for_url("**done=**")
        expect(page.locator("#live")).to_have_attribute("data-state", "on")
        page.keyboard.down("Enter")
        page.wait_for_timeout(300)

        assert len(sent) == 1


def test_taking_over_a_claim_keeps_my_unsent_text(site):
    interrupt = site.ask("tool_call")
    with site.open_as("marco") as marco, site.open_as("priya") as priya:
        for page in (marco, priya):
            site.open(page, interrupt)
        edit_value(priya, "#f-args-subject").fill(_EDITED)
        priya.fill("#f-reason", "my note")

        marco.click("#claim button")
        expect(priya.locator("#bar")).to_contain_text("Marco Ruiz is reviewing this")
        expect(priya.locator("#f-args-subject")).to_be_editable()
        priya.click("#bar button")
        expect(priya.locator("#claim")).to_contain_text("Claimed by you")

        expect(priya.locator("#f-args-subject")).to_have_value(_EDITED)
        expect(priya.locator("#f-reason")).to_have_value("my note")
        priya.click("button[value=approve]")
        expect(priya.locator("#toast")).to_contain_text("Approved")


def test_starting_a_run_is_not_taken_for_leaving_it(site):
    with site.open_as("marco") as page:
        requests: list[str] = []
        page.on("dialog", lambda dialog: requests.append(dialog.type) or dialog.accept())
        page.goto(f"{site.url}/runs/new/?agent=rehearsal")
        page.locator("#answer select").first.select_option(index=1)

        page.click("#decide-buttons button")

        page.wait_for_url("**/threads/**")
        assert requests == []


def test_choices_are_locked_when_somebody_else_was_faster(site):
    (interrupt,) = site.play(staged_interrupts.REFUND)
    with site.open_as("marco") as marco, site.open_as("priya") as priya:
        for page in (marco, priya):
            site.open(page, interrupt)
        edit_value(priya, "#f-args-currency")
        choice = priya.get_by_role("radio", name="USD")
        choice.check()
        expect(priya.locator("#edits")).to_have_count(1)

        marco.click("button[value=approve]")

        expect(priya.get_by_role("button", name="Copy my edits")).to_be_visible()
        expect(choice).to_be_disabled()


def test_half_an_answer_can_be_copied_when_somebody_else_was_faster(site):
    interrupt = site.ask("input_required")
    with site.open_as("marco") as marco, site.open_as("priya") as priya:
        for page in (marco, priya):
            site.open(page, interrupt)
        priya.fill("#f-answer-year", "2025")
        expect(priya.locator("#edits")).to_have_count(1)

        marco.click("button[value=cancel]")

        expect(priya.get_by_role("button", name="Copy my edits")).to_be_visible()
        assert json.loads(priya.locator("#edits").text_content() or "") == {"year": 2025}


@pytest.mark.parametrize("is_left", [False, True])
def test_a_note_to_reject_can_be_copied_when_somebody_else_was_faster(site, is_left):
    interrupt = site.ask("tool_call")
    with site.open_as("marco") as marco, site.open_as("priya") as priya:
        for page in (marco, priya):
            site.open(page, interrupt)
        priya.keyboard.press("r")
        priya.fill("#f-reason", "Not the amount of the order")
        if is_left:
            priya.locator("#f-reason").blur()
            expect(priya.locator("#f-reason")).to_have_value("")

        marco.click("button[value=approve]")

        expect(priya.locator("#bar")).to_have_attribute("data-mode", "closed")
        expect(priya.locator("#f-reason")).to_have_value("Not the amount of the order")
        expect(priya.locator("#f-reason")).to_be_visible()
        expect(priya.locator("#f-reason")).not_to_be_editable()
        priya.locator("#banner").click()
        expect(priya.locator("#f-reason")).to_have_value("Not the amount of the order")


def test_a_browser_tells_when_somebody_looks_and_not_when_it_reads_ahead(site):
    with site.open_as("marco") as page:
        interrupt = site.ask("tool_call")
        entries = f"/api/threads/{interrupt['thread']}/audit"

        def seen():
            results = site.call(entries)["results"]
            return [
                entry["actor"]["name"] for entry in results if entry["action"] == "interrupt.viewed"
            ]

        ahead = page.context.new_page()
        ahead.add_init_script(
            "Object.defineProperty(document, 'hidden', { get: () => !window.shown });"
        )
        site.open(ahead, interrupt)
        assert seen() == []

        ahead.evaluate("shown = true; document.dispatchEvent(new Event('visibilitychange'))")
        wait_for(seen)
        site.open(page, interrupt)
        page.reload()
        site.wait_until_live(page)

        assert seen() == ["Marco Ruiz"]
        page.goto(f"{site.url}/audit/threads/{interrupt['thread']}/")
        expect(page.locator("#entries")).to_contain_text(re.compile("You viewed this"))
