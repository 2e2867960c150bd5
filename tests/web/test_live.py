"""Two people and two real browsers: what one does, the other sees without a reload."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.chromium import open_chromium
from tests.support.processes import ProductProcess, embedded_environment, start_embedded

pytestmark = pytest.mark.browser

#: A busy machine is no reason to fail: passwords alone take it a second.
expect.set_options(timeout=20_000)

_EDITED = "I was still writing"


class Site:
    """The running product with its demo, and browsers to read it in."""

    def __init__(self, process: ProductProcess, data: Path, browser: Browser) -> None:
        self.url = process.url
        self._browser = browser
        credentials = json.loads((data / "demo-credentials.json").read_text())
        self._passwords = {item["username"]: item["password"] for item in credentials["accounts"]}
        self._key = credentials["api_key"]

    @contextmanager
    def open_as(self, username: str) -> Iterator[Page]:
        """A page of a browser of their own, signed in; no script may fail in it."""
        context = self._browser.new_context()
        page = context.new_page()
        failures: list[str] = []
        page.on("pageerror", lambda error: failures.append(str(error)))
        page.on("console", lambda said: failures.append(said.text) if _is_csp(said) else None)
        page.goto(f"{self.url}/login/")
        page.fill("#id_username", username)
        page.fill("#id_password", self._passwords[username])
        page.click("button[type=submit]")
        expect(page.locator("#live")).to_have_attribute("data-state", "on")
        yield page
        context.close()
        assert failures == []

    def start(self, message: str) -> dict[str, Any]:
        """Start a run as a program does."""
        return self._call("/api/runs", {"agent": "rehearsal", "message": message})

    def ask(self, scenario: str) -> dict[str, Any]:
        """Start a run and wait for the interrupt that it ends with."""
        run = self.start(f"rehearse:{scenario}")
        return wait_for(
            lambda: next(
                (
                    row
                    for row in self._call("/api/interrupts")["results"]
                    if row["run"] == run["id"]
                ),
                None,
            )
        )

    def _call(self, path: str, body: Any = None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(self.url + path, data=data, headers=headers)) as response:
            found: dict[str, Any] = json.load(response)
            return found


def wait_for(look: Callable[[], Any], *, seconds: float = 10) -> Any:
    """Look until there is something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")


def _is_csp(said: Any) -> bool:
    return "Content Security Policy" in said.text


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    data = tmp_path_factory.mktemp("live")
    environment = embedded_environment(data)
    with (
        start_embedded(environment, log=data / "log.txt", demo=True) as process,
        open_chromium() as browser,
    ):
        yield Site(process, data, browser)


def test_a_new_request_appears_in_an_open_list(site):
    with site.open_as("marco") as page:
        before = page.locator("#rows > li").count()

        site.ask("tool_call")

        expect(page.locator("#rows > li")).to_have_count(before + 1)


def test_the_other_reviewer_sees_the_decision_and_keeps_what_was_typed(site):
    asked = site.ask("tool_call")
    with site.open_as("marco") as marco, site.open_as("priya") as priya:
        for page in (marco, priya):
            page.goto(f"{site.url}/interrupts/{asked['id']}/")
            expect(page.locator("#live")).to_have_attribute("data-state", "on")
        priya.fill("#f-args-subject", _EDITED)
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
    asked = site.ask("tool_call")
    with site.open_as("priya") as page:
        page.goto(f"{site.url}/interrupts/{asked['id']}/")
        expect(page.locator("#live")).to_have_attribute("data-state", "on")
        page.fill("#f-args-subject", _EDITED)
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


def test_deciding_at_the_same_time_shows_who_was_faster(site):
    asked = site.ask("tool_call")
    with site.open_as("marco") as marco, site.open_as("priya") as priya:
        for page in (marco, priya):
            page.goto(f"{site.url}/interrupts/{asked['id']}/")
        # Without her socket Priya only learns from the answer to her own decision.
        priya.evaluate("void (htmx.ajax = () => new Promise(() => {}))")
        priya.fill("#f-args-subject", _EDITED)
        marco.click("button[value=reject]")
        expect(marco.locator("#toast")).to_contain_text("Rejected")

        priya.click("button[value=approve]")

        alert = priya.locator("#banner [role=alert]")
        expect(alert).to_contain_text("Marco Ruiz rejected this")
        expect(alert).to_be_focused()
        expect(priya.locator("#f-args-subject")).to_have_value(_EDITED)
        expect(priya.locator("#f-args-subject")).not_to_be_editable()


def test_a_mistake_is_pointed_at_and_can_be_corrected(site):
    asked = site.ask("input_required")
    with site.open_as("marco") as page:
        page.goto(f"{site.url}/interrupts/{asked['id']}/")
        page.get_by_label("Q3").check()
        page.fill("#f-answer-revenue", "1.5")
        page.fill("#f-answer-year", "1999")

        page.click("button[value=answer]")

        expect(page.locator("#banner [role=alert]")).to_be_focused()
        page.click("#banner a")
        expect(page.locator("#f-answer-year")).to_be_focused()
        page.fill("#f-answer-year", "2025")
        page.click("button[value=answer]")
        expect(page.locator("#toast")).to_contain_text("Answered")


def test_enter_in_the_note_decides_nothing(site):
    asked = site.ask("tool_call")
    with site.open_as("marco") as page:
        page.goto(f"{site.url}/interrupts/{asked['id']}/")
        sent: list[str] = []
        page.on("request", lambda request: sent.append(request.method))

        page.fill("#f-reason", "not yet sure")
        page.press("#f-reason", "Enter")
        page.wait_for_timeout(300)

        assert "POST" not in sent
        expect(page.locator("button[value=approve]")).to_be_enabled()


def test_a_lost_connection_is_shown_and_healed(site):
    with site.open_as("marco") as page:
        sockets: list[Any] = []
        is_down = False

        def route(socket: Any) -> None:
            if is_down:
                socket.close()
            else:
                socket.connect_to_server()
                sockets.append(socket)

        page.route_web_socket("**/ws/live/", route)
        page.reload()
        expect(page.locator("#live")).to_have_attribute("data-state", "on")
        count = page.locator("#rows > li").count()

        is_down = True
        sockets[0].close()
        expect(page.locator("#live")).to_have_text("Reconnecting")
        site.ask("tool_call")
        assert page.locator("#rows > li").count() == count
        is_down = False

        expect(page.locator("#live")).to_have_attribute("data-state", "on")
        expect(page.locator("#rows > li")).to_have_count(count + 1)


def test_a_thread_grows_while_its_run_streams(site):
    with site.open_as("marco") as page:
        run = site.start("rehearse:stream:30:50")
        page.goto(f"{site.url}/threads/{run['thread']}/")
        page.evaluate("window.isSamePage = true")
        lengths: set[int] = set()

        def is_complete() -> bool:
            text = page.locator("#story").inner_text()
            lengths.add(len(text))
            return "word 30" in text

        wait_for(is_complete)

        print(f"\nthe streamed message was seen at {len(lengths)} lengths")
        assert len(lengths) >= 4
        expect(page.locator("#head")).to_contain_text("Finished")
        expect(page.locator("#now")).to_be_empty()
        assert page.evaluate("window.isSamePage")


def test_without_javascript_the_whole_way_works(site):
    asked = site.ask("tool_call")
    context = site._browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site.url}/interrupts/{asked['id']}/")
    page.fill("#id_username", "marco")
    page.fill("#id_password", site._passwords["marco"])
    page.click("button[type=submit]")

    page.fill("#f-args-to", "no-script@example.com")
    page.click("button[value=approve]")
    page.click("#toast a")

    expect(page.locator("#banner")).to_contain_text("You approved this with changes")
    expect(page.locator("#changes")).to_contain_text("no-script@example.com")
    context.close()


def _open(site: Site, page: Page, asked: dict[str, Any]) -> None:
    page.goto(f"{site.url}/interrupts/{asked['id']}/")
    expect(page.locator("#live")).to_have_attribute("data-state", "on")


def test_sending_from_the_field_of_a_comment_sends_the_comment(site):
    asked = site.ask("tool_call")
    with site.open_as("marco") as page:
        _open(site, page, asked)
        page.fill("#f-comment", "wait for me")

        page.press("#f-comment", "Control+Enter")

        expect(page.locator("#comments")).to_contain_text("wait for me")
        expect(page.locator("button[value=approve]")).to_be_enabled()
        expect(page.locator("#toast")).to_have_count(0)


def test_a_key_that_is_held_down_does_not_answer_the_next_request(site):
    asked, _ = site.ask("tool_call"), site.ask("tool_call")
    with site.open_as("marco") as page:
        _open(site, page, asked)
        sent: list[str] = []
        page.on("request", lambda request: sent.append(request.method))

        page.keyboard.down("Control")
        page.keyboard.down("Enter")
        page.wait_for_url("**done=**")
        expect(page.locator("#live")).to_have_attribute("data-state", "on")
        page.keyboard.down("Enter")
        page.wait_for_timeout(300)

        assert sent.count("POST") == 1


def test_what_another_claims_while_i_write_can_be_taken_over_with_all_that_i_wrote(site):
    asked = site.ask("tool_call")
    with site.open_as("marco") as marco, site.open_as("priya") as priya:
        for page in (marco, priya):
            _open(site, page, asked)
        priya.fill("#f-args-subject", _EDITED)
        priya.fill("#f-reason", "my note")

        marco.click("#claim button")
        expect(priya.locator("#bar")).to_contain_text("Marco Ruiz works on this")
        expect(priya.locator("#f-args-subject")).to_be_editable()
        priya.click("#bar button")
        expect(priya.locator("#claim")).to_contain_text("Claimed by you")

        expect(priya.locator("#f-args-subject")).to_have_value(_EDITED)
        expect(priya.locator("#f-reason")).to_have_value("my note")
        priya.click("button[value=approve]")
        expect(priya.locator("#toast")).to_contain_text("Approved")


def test_starting_a_run_is_not_taken_for_leaving_it(site):
    with site.open_as("marco") as page:
        asked: list[str] = []
        page.on("dialog", lambda dialog: asked.append(dialog.type) or dialog.accept())
        page.goto(f"{site.url}/runs/new/?agent=rehearsal")
        page.locator("#answer select").first.select_option(index=1)

        page.click("#decide-buttons button")

        page.wait_for_url("**/threads/**")
        assert asked == []


def test_half_an_answer_can_be_copied_when_somebody_else_was_faster(site):
    asked = site.ask("input_required")
    with site.open_as("marco") as marco, site.open_as("priya") as priya:
        for page in (marco, priya):
            _open(site, page, asked)
        priya.fill("#f-answer-year", "2025")
        expect(priya.locator("#edits")).to_have_count(1)

        marco.click("button[value=cancel]")

        expect(priya.get_by_role("button", name="Copy my edits")).to_be_visible()
        assert json.loads(priya.locator("#edits").text_content() or "") == {"year": 2025}
