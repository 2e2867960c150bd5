"""Every page but that of a request: axe-core finds nothing, and no width needs scrolling."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.template.loader import render_to_string
from playwright.sync_api import Page, expect

from tests.support.browser import staged_interrupts
from tests.support.browser.accessibility_checks import Screens, find_faults, find_violations
from tests.support.browser.site import Site

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(site: Site) -> Iterator[Page]:
    """Marco's browser, the same for every page: starting one costs more than a page."""
    with site.open_as("marco", reduced_motion="reduce") as page:
        yield page


SCREENS = Screens()
screen = SCREENS.add


# -- lists ----------------------------------------------------------------------------------------


@screen
def pending(site, page):
    site.play(
        staged_interrupts.REFUND,
        staged_interrupts.MAIL,
        staged_interrupts.HIDDEN,
        staged_interrupts.FORM,
    )
    page.goto(f"{site.url}/")


@screen
def pending_with_the_filter_open(site, page):
    page.goto(f"{site.url}/?agent=billing&q=refund")
    page.locator(".filter-form summary").click()


@screen
def pending_with_the_views_open(site, page):
    page.goto(f"{site.url}/?agent=billing")
    page.locator(".filters > .narrow > summary").click()


@screen
def pending_with_rows_selected(site, page):
    page.goto(f"{site.url}/")
    for box in page.locator("#rows > .row .row-check").all()[:2]:  # not those in closed groups
        box.check()


@screen
def no_results(site, page):
    page.goto(f"{site.url}/?q=nothing-like-this&state=odd")


@screen
def nothing_claimed(site, page):
    page.goto(f"{site.url}/?mine=1&agent=support")


@screen
def a_saved_view(site, page):
    page.goto(f"{site.url}/?agent=billing")
    page.locator(".filters > .narrow > summary").click()
    page.fill("#view-name", "What billing asks")
    page.click(".view-form button[type=submit]")
    page.wait_for_load_state()


@screen
def a_view_that_was_refused(site, page):
    page.goto(f"{site.url}/?agent=billing")
    page.locator(".filters > .narrow > summary").click()
    page.fill("#view-name", " ")
    page.click(".view-form button[type=submit]")
    expect(page.locator(".errsum")).to_be_visible()


@screen
def decided(site, page):
    (interrupt,) = site.play(staged_interrupts.REFUND)
    site.decide(interrupt, {"approved": True})
    page.goto(f"{site.url}/decided/")


@screen
def the_menu_of_a_phone(site, page):
    page.goto(f"{site.url}/")
    page.set_viewport_size({"width": 390, "height": 844})
    page.click(".topbar-menu")
    expect(page.locator("#rail")).to_be_visible()


@screen
def the_keys(site, page):
    page.goto(f"{site.url}/")
    page.set_viewport_size({"width": 1440, "height": 900})
    site.wait_until_live(page)
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()


# -- several requests -----------------------------------------------------------------------------


@screen
def similar_requests(site, page):
    for _ in range(3):
        interrupts = site.play(staged_interrupts.FIXED | {"schema": staged_interrupts.approval({})})
    page.goto(f"{site.url}/similar/{interrupts[0]['id']}/?tick=all")


@screen
def selected_requests(site, page):
    interrupts = site.play(
        staged_interrupts.REFUND,
        staged_interrupts.FORM,
        staged_interrupts.HIDDEN,
        staged_interrupts.LONG,
    )
    page.goto(
        f"{site.url}/review/?" + "&".join(f"id={interrupt['id']}" for interrupt in interrupts)
    )


@screen
def the_results_of_a_review(site, page):
    interrupts = site.play(
        staged_interrupts.REFUND, staged_interrupts.MAIL | {"minutes": 240}, staged_interrupts.FORM
    )
    page.goto(
        f"{site.url}/review/?" + "&".join(f"id={interrupt['id']}" for interrupt in interrupts)
    )
    for box in page.locator(".tick:enabled").all():
        box.check()
    page.click("button[value=approve]")
    expect(page.locator(".outcomes")).to_be_visible()


@screen
def a_review_of_nothing_ticked(site, page):
    interrupts = site.play(staged_interrupts.REFUND)
    page.goto(f"{site.url}/review/?id={interrupts[0]['id']}")
    page.click("button[value=approve]")
    expect(page.locator(".errsum")).to_be_visible()


# -- agents ---------------------------------------------------------------------------------------


@screen
def agents(site, page):
    page.goto(f"{site.url}/agents/")


@screen
def an_agent_that_runs_here(site, page):
    page.goto(f"{site.url}/agents/rehearsal/")


@contextmanager
def _ana(site: Site) -> Iterator[Page]:
    """An administrator's browser, in which there is an agent elsewhere."""
    with site.open_as("admin", reduced_motion="reduce") as page:
        page.goto(f"{site.url}/agents/")
        if not page.locator("#row-elsewhere").count():
            page.goto(f"{site.url}/new-agent/")
            page.fill("#f-name", "elsewhere")
            page.fill("#f-url", "https://127.0.0.1:1/agui")
            page.fill("#f-header-0", "Authorization")
            page.fill("#f-value-0", "a secret")
            page.click(".decide .btn-primary")
            page.wait_for_url("**/agents/elsewhere/")
        yield page


@screen
def an_agent_elsewhere_that_was_tested(site, page):
    with _ana(site) as ana:
        ana.goto(f"{site.url}/agents/elsewhere/")
        assert find_faults(ana) == []
        ana.set_viewport_size({"width": 1440, "height": 900})
        ana.get_by_role("button", name="Test connection").click()
        expect(ana.locator("#tested .banner-bad")).to_be_visible()
        assert find_faults(ana) == []
    page.goto(f"{site.url}/agents/elsewhere/")


@screen
def an_agent_to_add(site, page):
    with _ana(site) as ana:
        ana.goto(f"{site.url}/new-agent/")
        ana.click("#f-headers summary")
        assert find_faults(ana) == []


@screen
def an_agent_that_was_not_added(site, page):
    with _ana(site) as ana:
        ana.goto(f"{site.url}/new-agent/")
        ana.fill("#f-name", "two words")
        ana.fill("#f-header-0", "Host")
        ana.fill("#f-value-0", "x")
        ana.click(".decide .btn-primary")
        expect(ana.locator(".errsum")).to_be_visible()
        assert find_faults(ana) == []


@screen
def an_agent_that_was_not_moved(site, page):
    with _ana(site) as ana:
        ana.goto(f"{site.url}/agents/elsewhere/change/")
        assert find_faults(ana) == []
        ana.set_viewport_size({"width": 1440, "height": 900})
        ana.fill("#f-url", "https://agents.example.com/agui")
        ana.click(".decide .btn-primary")
        expect(ana.locator("#f-value-0-err")).to_be_visible()
        assert find_faults(ana) == []


# -- runs and threads -----------------------------------------------------------------------------


@screen
def runs(site, page):
    page.goto(f"{site.url}/runs/")


@screen
def runs_of_one_state(site, page):
    page.goto(f"{site.url}/runs/?state=running")


@screen
def which_agent_to_start(site, page):
    page.goto(f"{site.url}/runs/new/")


@screen
def a_run_to_start(site, page):
    page.goto(f"{site.url}/runs/new/?agent=rehearsal")


@screen
def a_run_that_was_not_started(site, page):
    page.goto(f"{site.url}/runs/new/?agent=rehearsal")
    page.click("#decide-buttons button")
    expect(page.locator(".errsum")).to_be_visible()


def _thread(site: Site, page: Page, message: str, until: str, **more: str) -> None:
    run = site.start(message, **more)
    page.goto(f"{site.url}/threads/{run['thread']}/")
    site.wait_until_live(page)
    page.click("#conversation > summary")
    expect(page.locator(until).first).to_be_visible()


@screen
def a_thread_that_has_streamed(site, page):
    _thread(site, page, "rehearse:stream:40:5", ".bar .tag-ok")


@screen
def a_thread_that_streams(site, page):
    _thread(site, page, "rehearse:stream:2000:100", "#now .now")


@screen
def a_thread_that_has_failed(site, page):
    _thread(site, page, "rehearse:error", ".bar .tag-bad")


@screen
def a_thread_that_waits(site, page):
    _thread(site, page, "rehearse:parallel3", "#waterfall .is-waiting a")


@screen
def a_thread_that_has_called_tools(site, page):
    interrupt = site.ask("tool_call")
    site.decide(interrupt, {"approved": True})
    page.goto(f"{site.url}/threads/{interrupt['thread']}/")
    page.click("#conversation > summary")
    expect(page.locator("#story pre")).to_have_count(2)


@screen
def a_thread_with_progress(site, page):
    _thread(site, page, "Import them.", "#story progress", agent="importer")


# -- everything else ------------------------------------------------------------------------------


@screen
def signing_in(site, page):
    with site.browse(reduced_motion="reduce") as other:
        other.goto(f"{site.url}/login/")
        assert find_faults(other) == []
        other.fill("#id_username", "marco")
        other.fill("#id_password", "not it")
        other.click("button[type=submit]")
        expect(other.locator(".errsum[role=alert]")).to_be_visible()
        assert find_faults(other) == []


@screen
def not_found(site, page):
    page.goto(f"{site.url}/interrupts/0/")


def _post(page: Page, path: str, fields: dict[str, str], *, csrf: bool = True) -> None:
    """Send a form that no page of ours offers."""
    with page.expect_navigation():
        page.evaluate(
            """([path, fields, csrf]) => {
              const form = document.createElement("form");
              form.method = "post";
              form.action = path;
              const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
              if (csrf) fields.csrfmiddlewaretoken = token;
              for (const [name, value] of Object.entries(fields)) {
                const input = document.createElement("input");
                [input.type, input.name, input.value] = ["hidden", name, value];
                form.append(input);
              }
              document.body.append(form);
              form.submit();
            }""",
            [path, fields, csrf],
        )


@screen
def the_page_was_too_old(site, page):
    page.goto(f"{site.url}/")
    _post(page, "/logout/", {}, csrf=False)


@screen
def not_understood(site, page):
    page.goto(f"{site.url}/")
    _post(page, "/views/save", {f"f{number}": "" for number in range(2600)})


@screen
def not_allowed(site, page):
    (interrupt,) = site.play(staged_interrupts.REFUND)
    with site.open_as("dana", reduced_motion="reduce") as other:
        site.open(other, interrupt)
        _post(other, f"/interrupts/{interrupt['id']}/decide", {"action": "approve"})
        expect(other.get_by_role("heading", name="Not allowed")).to_be_visible()
        assert find_faults(other) == []


@screen
def something_broke(site, page):
    """No address breaks: the page is put in the place of another one's."""
    answer = page.request.get(f"{site.url}/decided/")
    html = render_to_string("500.html").encode()
    page.route("**/broken/", lambda route: route.fulfill(response=answer, body=html))
    page.goto(f"{site.url}/broken/")
    page.unroute("**/broken/")


@pytest.mark.parametrize("name", SCREENS)
def test_a_page_has_no_fault(site, page, name):
    page.set_viewport_size({"width": 1440, "height": 900})

    SCREENS[name](site, page)

    assert find_faults(page) == []


def test_a_title_that_scrolls_under_the_bar_of_the_selected_is_no_fault(site, page):
    site.play(*[staged_interrupts.REFUND] * 12)
    page.set_viewport_size({"width": 390, "height": 600})
    pending_with_rows_selected(site, page)
    button = page.locator(".selection .btn-primary").bounding_box()

    for title in page.locator("#rows .row-title").all()[4:8]:
        # The middle of the title comes to lie where the button begins.
        title.evaluate(
            "(one, y) => scrollBy(0, (({top, height}) => top + height / 2 - y)"
            "(one.getBoundingClientRect()))",
            button["y"],
        )
        assert find_violations(page, "rule", ("target-size",)) == []
