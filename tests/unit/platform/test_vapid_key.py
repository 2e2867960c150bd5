"""SIGNOFF_VAPID_KEY: which values are keys."""

import base64

import pytest
from django.core.exceptions import ImproperlyConfigured

from inbox.platform import encryption
from inbox.platform.setting_parsers import new_vapid_key, parse_vapid_key


def encode(data):
    return base64.urlsafe_b64encode(data).decode()


def test_a_new_key_is_accepted_and_has_a_public_key(settings):
    settings.VAPID_KEY = parse_vapid_key(new_vapid_key())

    assert len(base64.urlsafe_b64decode(f"{encryption.push_public_key()}=")) == 65
    assert encryption.push_pem_keys()[0].startswith(b"-----BEGIN PRIVATE KEY-----")


def test_the_key_may_have_padding_and_spaces_around_it():
    text = new_vapid_key()

    assert parse_vapid_key(f" {text}=\n") == text


def test_no_key_switches_push_off(settings):
    settings.VAPID_KEY = parse_vapid_key("")

    assert not encryption.is_push_on()
    assert encryption.push_public_key() == ""


@pytest.mark.parametrize(
    "text",
    [
        "secret",
        encode(b"\1" * 31),
        encode(b"\1" * 33),
        encode(bytes(32)),
        encode(b"\xff" * 32),
        "-----BEGIN PRIVATE KEY-----",
        "\N{SNOWMAN}" * 43,
    ],
    ids=range(7),  # some are random
)
def test_other_values_stop_the_start_with_an_explanation(text):
    with pytest.raises(ImproperlyConfigured, match="SIGNOFF_VAPID_KEY must be a private key"):
        parse_vapid_key(text)
