"""Which key encrypts, which decrypt, and how a value names its key."""

import pytest
from cryptography.fernet import Fernet

from inbox.platform import encryption
from inbox.platform.encryption import DecryptionFailed, decrypt, encrypt, is_encrypted, key_of

OLD, NEW, SIGNING = (f"{name} key of more than 32 characters" for name in ("old", "new", "signing"))


@pytest.fixture(autouse=True)
def _keys(settings):
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = SIGNING, []
    settings.ENCRYPTION_KEYS = [OLD]


def test_a_value_begins_with_the_id_of_its_key(settings):
    value = encrypt({"a": 1})

    settings.ENCRYPTION_KEYS = [NEW, OLD]
    key = key_of(value)
    assert value.startswith(f"{key.id}:gAAAA")
    assert (key.setting, key.number, key.secret) == ("SIGNOFF_ENCRYPTION_KEYS", 2, OLD)
    assert decrypt(value) == {"a": 1}
    assert OLD not in repr(key)


def test_the_first_key_encrypts(settings):
    settings.ENCRYPTION_KEYS = [NEW, OLD]

    assert key_of(encrypt("a")).secret == NEW


def test_the_secret_key_encrypts_without_encryption_keys(settings):
    settings.ENCRYPTION_KEYS = []

    assert key_of(encrypt("a")).setting == "SIGNOFF_SECRET_KEY"


def test_the_secret_key_and_its_fallbacks_decrypt(settings):
    settings.ENCRYPTION_KEYS = []
    value = encrypt("a")
    settings.ENCRYPTION_KEYS, settings.SECRET_KEY = [NEW], f"{NEW} of sessions"
    settings.SECRET_KEY_FALLBACKS = [SIGNING]

    assert decrypt(value) == "a"


def test_values_from_before_keys_had_ids_are_read():
    value = encryption.session_keys()[0].cipher.encrypt(b'"a"').decode()

    assert is_encrypted(value)
    assert decrypt(value) == "a"
    assert key_of(value).secret == SIGNING
    assert encryption.re_encrypt(value).startswith(f"{encryption.configured_keys()[0].id}:")


def test_a_current_value_is_not_encrypted_again():
    value = encrypt("a")

    assert encryption.re_encrypt(value) == value


def test_a_lost_key_is_named(settings):
    value = encrypt("a")
    lost = key_of(value).id
    settings.ENCRYPTION_KEYS = [NEW]

    with pytest.raises(DecryptionFailed, match=rf"another key \({lost}\)"):
        decrypt(value)


@pytest.mark.parametrize(
    "text",
    ["", "whsec_abc", "gAAAA@example.com", "nora@example.com", "0123abcd:", "zz:gAAAAABr"],
)
def test_other_texts_are_not_encrypted_values(text):
    assert not is_encrypted(text)
    with pytest.raises(DecryptionFailed):
        decrypt(text)


def test_a_value_under_the_id_of_another_key_is_not_read(settings):
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    _, token = encrypt("a").split(":")
    other = encryption.configured_keys()[1].id

    with pytest.raises(DecryptionFailed):
        decrypt(f"{other}:{token}")


def test_a_random_token_is_not_read():
    with pytest.raises(DecryptionFailed):
        decrypt(Fernet(Fernet.generate_key()).encrypt(b'"a"').decode())


def test_keys_for_different_purposes_differ():
    (key, *_) = encryption.configured_keys()

    assert encryption.decision_key_of(key.secret)[:4].hex() != key.id
    assert len({encryption._derived(b"x", purpose) for purpose in (b"a", b"b")}) == 2
