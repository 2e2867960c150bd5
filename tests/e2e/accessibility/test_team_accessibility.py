"""The pages of teams: axe-core finds nothing, no width needs scrolling, and none is heavy."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.browser.test_page_weight import MOST_BYTES, weigh
from tests.support.browser.accessibility_checks import Screens, find_faults
from tests.support.browser.site import Site, open_site
from tests.support.processes import manage

pytestmark = pytest.mark.browser

PROMOTE = (
    "from inbox.models import User\nUser.objects.filter(username='admin').update(is_superuser=True)"
)
SCREENS = Screens()
screen = SCREENS.add


@pytest.fixture(scope="module")
def site(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    data = tmp_path_factory.mktemp("teams")
    with open_site(data, chromium) as site:
        manage({"SIGNOFF_DATA_DIR": str(data)}, "shell", "-c", PROMOTE)
        yield site


@pytest.fixture(scope="module")
def page(site: Site) -> Iterator[Page]:
    """The browser of an administrator, of the installation too."""
    with site.open_as("admin", reduced_motion="reduce") as page:
        yield page


@pytest.fixture(scope="module")
def key(site: Site, page: Page) -> str:
    """The address of a key that an agent has."""
    page.goto(f"{site.url}/teams/demo/keys/new/")
    page.fill("#f-name", "The key of the refund desk, for its own worker")
    page.select_option("#f-agent", "refund-desk")
    page.select_option("#f-expires_in_days", "7")
    page.click(".decide .btn-primary")
    expect(page.locator("#token")).to_be_visible()
    assert find_faults(page) == []
    page.goto(f"{site.url}/teams/demo/keys/")
    return page.get_by_role("link", name="The key of").get_attribute("href") or ""


@screen
def members(site, page, key):
    page.goto(f"{site.url}/teams/")
    page.click("summary")


@screen
def presentations(site, page, key):
    page.goto(f"{site.url}/teams/demo/presentations/")


@screen
def a_presentation_with_its_preview(site, page, key):
    page.goto(f"{site.url}/teams/demo/presentations/tool/?tool=transfer&agent=showcase")
    page.select_option("#f-kind", "money")
    page.click("button[value=preview]")
    expect(page.locator(".preview .payment")).to_be_visible()


@screen
def the_last_administrator_who_stays(site, page, key):
    page.goto(f"{site.url}/teams/demo/")
    page.get_by_role("link", name="Leave").click()
    page.get_by_role("button", name="Leave").click()
    expect(page.locator(".banner-warn")).to_be_visible()


@screen
def the_removal_of_a_member(site, page, key):
    page.goto(f"{site.url}/teams/demo/")
    page.get_by_role("link", name="Remove Priya").click()
    expect(page.get_by_role("heading", name="Remove Priya")).to_be_visible()


@screen
def the_sessions_of_a_team(site, page, key):
    page.goto(f"{site.url}/teams/demo/sessions/")


@screen
def who_can_do_what(site, page, key):
    page.goto(f"{site.url}/teams/demo/who/")


@screen
def the_draft_of_a_policy(site, page, key):
    page.goto(f"{site.url}/teams/demo/policy/new/?template=small-amounts")
    page.click("button[name=save][value=publish]")
    expect(page.locator("#draft-title")).to_be_visible()


@screen
def a_policy_that_is_not_valid(site, page, key):
    page.goto(f"{site.url}/teams/demo/policy/")
    page.click("[popovertarget=policy-menu]")
    page.get_by_role("link", name="Edit as JSON").click()
    page.fill("#f-document", '{"rules": [{"id": "x"}]}')
    page.get_by_role("button", name="Save the draft").click()
    expect(page.locator("#f-document-err")).to_be_visible()


@screen
def a_policy_file_that_is_not_valid(site, page, key):
    page.goto(f"{site.url}/teams/demo/policy/")
    page.click("[popovertarget=policy-menu]")
    page.get_by_role("link", name="Import a file").click()
    file = {"name": "policy.json", "mimeType": "application/json", "buffer": b'{"rules": [{}]}'}
    page.set_input_files("#f-file", file)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.locator("#f-document-err")).to_be_visible()


@screen
def the_changes_of_a_draft(site, page, key):
    page.goto(f"{site.url}/teams/demo/policy/new/?template=small-amounts")
    page.click("button[name=save][value=publish]")
    expect(page.locator("#draft-title")).to_be_visible()
    page.goto(f"{site.url}/teams/demo/policy/changes/")
    expect(page.locator("ins").first).to_be_visible()


@screen
def rules_in_shadow(site, page, key):
    page.goto(f"{site.url}/teams/demo/policy/shadow/")


@screen
def applying_the_policy(site, page, key):
    page.goto(f"{site.url}/teams/demo/policy/reapply/")


@screen
def the_policy_of_the_installation(site, page, key):
    page.goto(f"{site.url}/installation/policy/")
    page.fill("#f-document", '{"rules": [{"id": "stop", "effect": "allow", "when": []}]}')
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#f-document-err")).to_be_visible()
    page.fill("#f-document", '{"rules": [{"id": "stop", "effect": "deny", "when": []}]}')
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_role("button", name="Publish for all teams")).to_be_visible()


@screen
def a_new_rule(site, page, key):
    page.goto(f"{site.url}/teams/demo/policy/new/?template=production")


@screen
def a_rule_with_errors(site, page, key):
    page.goto(f"{site.url}/teams/demo/policy/new/?template=small-amounts")
    page.click("#f-when-0-value")
    page.fill("#in-when-0-value", "fifty")
    page.keyboard.press("Escape")
    page.click("button[name=save][value=publish]")
    expect(page.locator(".errsum")).to_be_visible()


@screen
def a_rule_with_an_open_menu(site, page, key):
    page.goto(f"{site.url}/teams/demo/policy/new/?template=small-amounts")
    page.click("#f-when-0-fact")
    expect(page.locator("#menu-when-0-fact")).to_be_visible()


@screen
def a_rule_with_its_people(site, page, key):
    page.goto(f"{site.url}/teams/demo/policy/new/?template=production")
    page.locator("details.settings > summary").first.click()
    page.click("#f-people")
    expect(page.locator("#menu-people")).to_be_visible()


@screen
def a_calendar_with_errors(site, page, key):
    page.goto(f"{site.url}/teams/demo/policy/new-calendar/")
    page.fill("#f-zone", "Berlin")
    page.fill("#f-mon", "in the morning")
    page.click("button.btn-primary[name=save]")
    expect(page.locator("#f-mon-err")).to_be_visible()


@screen
def revoking_a_grant(site, page, key):
    page.goto(f"{site.url}/teams/demo/grants/")
    page.click("main summary")


@screen
def a_chat_with_errors(site, page, key):
    page.goto(f"{site.url}/teams/demo/channels/new/")
    page.fill("#f-url", "chat")
    page.click("main .btn-primary")
    expect(page.locator("#f-url-err")).to_be_visible()


@screen
def a_chat(site, page, key):
    page.goto(f"{site.url}/teams/demo/channels/new/")
    page.fill("#f-label", "#ops")
    page.fill("#f-url", "https://chat.example.com/hook")
    page.click("main .btn-primary")
    expect(page.get_by_role("button", name="Send a test message")).to_be_visible()


@screen
def a_slack_app_with_errors(site, page, key):
    page.goto(f"{site.url}/teams/demo/channels/new/")
    page.get_by_label("Slack app, with buttons").check()
    page.click("main .btn-primary")
    expect(page.locator("#f-token-err")).to_be_visible()


@screen
def a_slack_app(site, page, key):
    page.goto(f"{site.url}/teams/demo/channels/new/")
    page.get_by_label("Slack app, with buttons").check()
    page.fill("#f-label", "#approvals")
    page.fill("#f-token", "xoxb-1111-2222-verysecrettoken")
    page.fill("#f-signing_secret", "0123456789abcdef0123456789abcdef")
    page.fill("#f-workspace", "T0TESTS")
    page.fill("#f-channel", "C0OPS")
    page.click("main .btn-primary")
    expect(page.locator("#f-request-url")).to_be_visible()


@screen
def chats(site, page, key):
    page.goto(f"{site.url}/teams/demo/channels/")
    expect(page.get_by_role("link", name="#ops")).to_be_visible()


@screen
def groups(site, page, key):
    page.goto(f"{site.url}/teams/demo/groups/")
    page.fill("#f-name", "Not a name")
    page.get_by_role("button", name="Create").click()
    expect(page.locator("#f-name-err")).to_be_visible()


@screen
def grants(site, page, key):
    page.goto(f"{site.url}/teams/demo/grants/?state=ended")
    expect(page.get_by_text("No grant has ended yet.")).to_be_visible()


@screen
def keys(site, page, key):
    page.goto(f"{site.url}/teams/demo/keys/")


@screen
def a_key(site, page, key):
    page.goto(f"{site.url}{key}")
    page.click("summary")


@screen
def a_key_that_was_not_made(site, page, key):
    page.goto(f"{site.url}/teams/demo/keys/new/")
    for box in page.locator("#f-scopes input").all():
        box.uncheck()
    page.click(".decide .btn-primary")
    expect(page.locator(".errsum")).to_be_visible()


@pytest.mark.parametrize("name", SCREENS)
def test_a_page_has_no_fault(site, page, key, name):
    page.set_viewport_size({"width": 1440, "height": 900})

    SCREENS[name](site, page, key)

    assert find_faults(page) == []


@pytest.mark.parametrize(
    "path", ["/teams/", "/teams/demo/policy/", "/teams/demo/who/", "/teams/demo/keys/", "{key}"]
)
def test_a_page_weighs_at_most_60_kilobytes(site, key, path):
    with site.browse(storage_state=site.state_of("admin")) as page:
        weights = weigh(page, f"{site.url}{path.format(key=key)}")

    print(f"\n{sum(weights.values())} bytes: {weights}")
    assert sum(weights.values()) <= MOST_BYTES


def test_a_token_is_copied_by_a_button(site):
    with site.open_as("admin", permissions=["clipboard-read", "clipboard-write"]) as page:
        page.goto(f"{site.url}/teams/demo/keys/new/")
        page.fill("#f-name", "copied")
        page.click(".decide .btn-primary")
        page.get_by_role("button", name="Copy").click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()

        token = page.locator("#token").text_content()
        assert page.evaluate("navigator.clipboard.readText()") == token
