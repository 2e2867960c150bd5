"""The address and the key of the Python client."""

import json
from datetime import timedelta

import pytest
from signoff_client.errors import ConfigurationError
from signoff_client.settings import (
    credentials_file,
    read_settings,
    to_seconds,
    write_credentials,
)

URL = "https://signoff.example.com"


@pytest.fixture(autouse=True)
def _own_files(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    for name in ("SIGNOFF_URL", "SIGNOFF_API_KEY", "SIGNOFF_AGENT", "SIGNOFF_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


@pytest.mark.parametrize(
    "url",
    [
        "http://signoff.example.com",
        "http://10.0.0.1:8000",
        "http://localhost.example.com",
        "http://127.0.0.1.nip.io",
        "http://user@127.0.0.1",
        "https://user:pw@signoff.example.com",
        "ftp://localhost",
        "file:///etc/passwd",
        "signoff.example.com",
        "https://",
        "https://host:port",
        "https://[::1",
        "https://host/?team=a",
        "https://host/#a",
        "",
    ],
)
def test_unsafe_addresses_are_refused(url):
    with pytest.raises(ConfigurationError):
        read_settings(url, "key")


@pytest.mark.parametrize(
    "url",
    ["http://localhost:8000/", "http://127.0.0.1:8000", "http://[::1]:8000", URL + "/signoff/"],
)
def test_addresses_lose_the_slash_at_their_end(url):
    assert read_settings(url, "key").url == url.rstrip("/")


@pytest.mark.parametrize("key", ["", " ", "a b", "a\nX-Header: b", "schlüssel"])
def test_keys_that_are_no_header_are_refused(key):
    with pytest.raises(ConfigurationError, match="SIGNOFF_API_KEY"):
        read_settings(URL, key)


def test_the_environment_comes_before_the_file(monkeypatch):
    write_credentials({"url": "https://file.example.com", "api_key": "file", "agent": "a"})
    monkeypatch.setenv("SIGNOFF_API_KEY", "environment")

    settings = read_settings()

    assert settings.url == "https://file.example.com"
    assert settings.api_key == "environment"
    assert settings.agent == "a"


def test_the_file_is_readable_by_its_owner_only():
    path = write_credentials({"url": URL, "api_key": "key"})

    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o077 == 0
    assert read_settings().api_key == "key"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o601], ids=oct)
def test_a_file_that_others_can_open_is_refused(mode):
    write_credentials({"url": URL, "api_key": "key"}).chmod(mode)

    with pytest.raises(ConfigurationError, match="chmod 600"):
        read_settings()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"url": 7}', "\x00"], ids=repr)
def test_a_broken_file_is_refused(text):
    path = write_credentials({})
    path.write_text(text)

    with pytest.raises(ConfigurationError, match="credentials"):
        read_settings()


def test_the_place_of_the_file_can_be_set(monkeypatch, tmp_path):
    path = tmp_path / "key.json"
    path.write_text(json.dumps({"url": URL, "api_key": "elsewhere"}))
    path.chmod(0o600)
    monkeypatch.setenv("SIGNOFF_CREDENTIALS", str(path))

    assert credentials_file() == path
    assert read_settings().api_key == "elsewhere"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        (0, 0),
        (1.5, 1.5),
        ("90", 90),
        ("90s", 90),
        ("10m", 600),
        ("1h30m", 5400),
        ("2d", 172_800),
        (timedelta(minutes=1), 60),
    ],
)
def test_durations(value, seconds):
    assert to_seconds(value) == seconds


@pytest.mark.parametrize("value", ["", "1w", "h", "-1", -1, "1h 30m", float("inf"), float("nan")])
def test_other_durations_are_refused(value):
    with pytest.raises(ValueError, match="duration"):
        to_seconds(value)
