import psutil
import pytest

pytestmark = pytest.mark.browser
_FEATURES = "--disable-features="


@pytest.fixture
def page(chromium):
    page = chromium.new_page()
    yield page
    page.close()


def test_chromium_runs_the_scripts_of_a_page(page):
    page.set_content("<p id=said></p><script>said.textContent = 6 * 7</script>")

    assert page.text_content("#said") == "42"


def test_chromium_disables_all_features_that_playwright_disables(chromium):
    processes = chromium.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    (pid,) = (each["id"] for each in processes if each["type"] == "browser")

    playwrights, ours = (
        set(argument.removeprefix(_FEATURES).split(","))
        for argument in psutil.Process(pid).cmdline()
        if argument.startswith(_FEATURES)
    )
    assert playwrights <= ours
