"""A recovery code is used while its seed is encrypted again."""

from functools import partial

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.conf import settings as live_settings

from inbox.actions import stored_secrets
from inbox.actions.stored_secrets import rotate_secrets
from inbox.rules.people.access import OPERATOR
from tests.support.races.concurrently import Meeting, at_once, failures

NEW_KEY = "a new key of more than 32 characters"


@pytest.fixture
def codes_left(committed_world, settings, monkeypatch):
    """Use a code between the read and the write of the rotation, unless a lock prevents it."""
    bob = committed_world.bob
    code = RecoveryCodes.activate(bob).get_unused_codes()[0]
    settings.ENCRYPTION_KEYS = [NEW_KEY, *live_settings.ENCRYPTION_KEYS]
    between, used = Meeting(2), Meeting(2)
    encrypt_again = stored_secrets.re_encrypt

    def re_encrypt(text):
        between.wait()
        used.wait()
        return encrypt_again(text)

    monkeypatch.setattr(stored_secrets, "re_encrypt", re_encrypt)

    def use():
        between.wait()
        is_valid = RecoveryCodes.activate(bob).validate_code(code)
        used.wait()
        return is_valid

    def race():
        outcomes = at_once([partial(rotate_secrets, actor=OPERATOR), use])
        assert failures(outcomes) == []
        assert outcomes[1] is True
        return len(RecoveryCodes.activate(bob).get_unused_codes())

    return race


def test_a_used_code_stays_used(codes_left):
    assert codes_left() == 9


def test_without_the_lock_a_used_code_counts_again(codes_left, without_the_lock):
    assert codes_left() == 10
