import pytest

from tests.support.chromium import open_chromium


@pytest.mark.browser
def test_chromium_runs_the_scripts_of_a_page():
    with open_chromium() as browser:
        page = browser.new_page()
        page.set_content("<p id=said></p><script>said.textContent = 6 * 7</script>")

        assert page.text_content("#said") == "42"
