"""Which passwords are rejected: short, common, of the context, and known from breaches."""

import hashlib
import random

import pytest
from django.conf import global_settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from inbox.config import settings as product_settings
from inbox.queries.people.password_validators import is_listed
from inbox.rules.people.passwords import is_built_of

GOOD = "correct horse battery"


def codes_of(password, user):
    try:
        validate_password(password, user)
    except ValidationError as error:
        return [problem.code for problem in error.error_list]
    return []


@pytest.fixture
def bob_of_team(world):
    world.bob.emailaddress_set.create(email="robert.fisher@example.com", verified=True)
    world.team.name = "Payments Berlin"
    world.team.save()
    return world.bob


@pytest.mark.parametrize(
    ("password", "code"),
    [
        ("elevenchars", "password_too_short"),
        ("1qaz2wsx3edc", "password_too_common"),
        ("314159265358", "password_entirely_numeric"),
        ("Payments-Berlin-1", "password_of_context"),
        ("robertfisher2026", "password_of_context"),
        ("Signoff-signoff-1", "password_of_context"),
    ],
)
def test_each_kind_of_bad_password_is_rejected(bob_of_team, password, code):
    assert code in codes_of(password, bob_of_team)


def test_passwords_have_a_slow_hash():
    """Other tests have a fast one."""
    (preferred, *_) = global_settings.PASSWORD_HASHERS

    assert preferred == "django.contrib.auth.hashers.PBKDF2PasswordHasher"
    assert PBKDF2PasswordHasher.iterations >= 600_000
    assert not hasattr(product_settings, "PASSWORD_HASHERS")


@pytest.mark.parametrize(
    "password", [GOOD, "signoff is what I open each morning", "payments tortoise umbrella"]
)
def test_long_passwords_with_a_word_of_the_context_are_accepted(bob_of_team, password):
    assert codes_of(password, bob_of_team) == []


@pytest.mark.parametrize(
    ("password", "texts", "is_built"),
    [
        ("alice-alice-1", ["Alice"], True),
        ("ALICE-ALICE-1", ["alice"], True),
        ("alice-1234567890", ["Alice"], False),
        ("bob-bob-bob-12", ["bob"], False),
        ("x", [], False),
    ],
)
def test_words_of_four_characters_count_in_any_case(password, texts, is_built):
    assert is_built_of(password, texts) is is_built


@pytest.fixture
def listed(tmp_path, settings):
    """A file of 500 passwords, and their list."""
    passwords = [f"breached password {number}" for number in range(500)]
    digests = sorted(hashlib.sha1(text.encode()).hexdigest().upper() for text in passwords)
    path = tmp_path / "breached.txt"
    counts = random.Random(7)
    path.write_text("".join(f"{digest}:{counts.randrange(10**6)}\n" for digest in digests))
    settings.BREACHED_PASSWORDS = str(path)
    return path, passwords


def test_every_password_of_the_file_is_found_and_no_other(listed):
    path, passwords = listed

    assert all(is_listed(path, password) for password in passwords)
    assert not any(is_listed(path, f"other {number}") for number in range(500))


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_a_file_of_one_line_works_with_any_ending(tmp_path, ending):
    path = tmp_path / "one.txt"
    path.write_bytes(hashlib.sha1(GOOD.encode()).hexdigest().encode() + ending.encode())

    assert (is_listed(path, GOOD), is_listed(path, "another one")) == (True, False)


def test_an_empty_file_rejects_nothing(tmp_path):
    path = tmp_path / "none.txt"
    path.touch()

    assert not is_listed(path, GOOD)


def test_a_breached_password_is_rejected(listed, world):
    assert codes_of("breached password 7", world.bob) == ["password_breached"]
    assert codes_of(GOOD, world.bob) == []


def test_the_page_of_the_password_rejects_a_breached_one(listed, client, world):
    client.post("/login/", {"username": "bob", "password": "bob-password"})
    new = "breached password 9"

    page = client.post(
        "/account/password/",
        {"oldpassword": "bob-password", "password1": new, "password2": new},
    )

    assert page.status_code == 422
    assert "known from a data breach" in page.content.decode()
