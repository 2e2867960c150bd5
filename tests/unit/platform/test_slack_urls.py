"""The settings with the URLs of Slack."""

import pytest

from inbox.platform.setting_parsers import parse_base_url


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("", "https://hooks.slack.com/"),
        ("https://hooks.slack-gov.com", "https://hooks.slack-gov.com/"),
        ("https://hooks.slack-gov.com/", "https://hooks.slack-gov.com/"),
    ],
)
def test_a_base_url_ends_with_one_slash(text, url):
    assert parse_base_url(text, "https://hooks.slack.com/") == url
