"""The admin in a real browser: under our policy, in dark and light, with a secret shown once."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.browser.site import open_site
from tests.support.processes import manage

pytestmark = pytest.mark.browser

MAKE = "from inbox.models import User; User.objects.create_superuser('root', password='root-pass')"


@pytest.fixture(scope="module")
def site(chromium, tmp_path_factory):
    data = tmp_path_factory.mktemp("admin")
    with open_site(data, chromium) as site:
        manage({"SIGNOFF_DATA_DIR": str(data)}, "shell", "-c", MAKE)
        yield site


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_superuser_signs_in_as_everybody_does_and_makes_a_key(site, scheme):
    with site.browse(color_scheme=scheme) as page:
        page.goto(f"{site.url}/admin/inbox/apikey/")
        assert re.match(rf"{site.url}/login/\?next=", page.url)
        page.fill("#id_username", "root")
        page.fill("#id_password", "root-pass")
        page.click("button[type=submit]")
        page.wait_for_url(f"{site.url}/admin/inbox/apikey/")
        page.click(".object-tools .addlink")
        page.select_option("#id_team", label="Demo")
        page.fill("#id_name", f"made-{scheme}")
        page.check("input[name=scopes][value=read]")
        page.click("input[name=_save]")
        expect(page.locator("code")).to_contain_text("so_")

        for address in ("", "inbox/", "inbox/auditentry/", "inbox/thread/", "inbox/user/"):
            page.goto(f"{site.url}/admin/{address}")
            expect(page.locator("#content")).to_be_visible()
        page.locator("#result_list tbody th a").first.click()
        expect(page.locator("#user_form")).to_be_visible()
        page.goto(f"{site.url}/admin/inbox/webhookendpoint/add/")
        expect(page.locator("#webhookendpoint_form")).to_be_visible()

        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (background == "rgb(255, 255, 255)") is (scheme == "light")
        page.click("#logout-form button")
        page.wait_for_url(f"{site.url}/login/")
