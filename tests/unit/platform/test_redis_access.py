"""The address of Redis, and the ACL that is derived from the names that the product uses."""

import pytest
import redis
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from kombu.utils.url import parse_url

from inbox.platform.deployment import redis_access
from inbox.platform.deployment.redis_access import redis_address, users_file

TLS = "ssl_cert_reqs=required&ssl_check_hostname=true"


@pytest.mark.parametrize(
    ("url", "password", "address"),
    [
        ("", "", ""),
        ("redis://valkey:6379/0", "", "redis://valkey:6379/0"),
        ("redis://valkey:6379/0", "a/b@c", "redis://:a%2Fb%40c@valkey:6379/0"),
        ("redis://signoff@valkey:6379/0", "x y", "redis://signoff:x%20y@valkey:6379/0"),
        ("redis://signoff:old@valkey/0", "", "redis://signoff:old@valkey/0"),
        ("rediss://valkey/0", "", f"rediss://valkey/0?{TLS}"),
        ("rediss://valkey/0?ssl_cert_reqs=none", "", "rediss://valkey/0?ssl_cert_reqs=none"),
    ],
)
def test_address_has_the_password_and_verifies_certificates(url, password, address):
    assert redis_address(url, password=password) == address


def test_ca_file_is_part_of_the_address():
    address = redis_address("rediss://signoff@valkey/0", password="x", ca_file="/run/ca.pem")

    assert address == f"rediss://signoff:x@valkey/0?{TLS}&ssl_ca_certs=%2Frun%2Fca.pem"


def test_every_client_library_takes_the_parameters():
    address = redis_address("rediss://signoff@valkey/0", password="x", ca_file="/run/ca.pem")

    options = redis.ConnectionPool.from_url(address).connection_kwargs
    assert (options["username"], options["password"]) == ("signoff", "x")
    assert (options["ssl_ca_certs"], options["ssl_cert_reqs"]) == ("/run/ca.pem", "required")
    assert options["ssl_check_hostname"] is True
    tls = parse_url(address)["ssl"]
    assert (tls["ssl_ca_certs"], tls["ssl_check_hostname"]) == ("/run/ca.pem", True)
    assert tls["ssl_cert_reqs"].name == "CERT_REQUIRED"


def test_two_passwords_are_refused():
    with pytest.raises(ImproperlyConfigured, match="unset SIGNOFF_REDIS_PASSWORD"):
        redis_address("redis://:one@valkey/0", password="two")


def test_a_ca_without_tls_is_refused():
    with pytest.raises(ImproperlyConfigured, match="rediss://"):
        redis_address("redis://valkey/0", ca_file="/run/ca.pem")


def test_settings_use_the_names_of_the_acl():
    assert settings.CELERY_TASK_DEFAULT_QUEUE == redis_access.QUEUE
    text = users_file()
    assert f"~{redis_access.QUEUE}*" in text
    assert f"~{redis_access.KEY_PREFIX}:*" in text
    assert f"&{redis_access.CHANNEL_PREFIX}*" in text


def test_acl_file_is_that_of_the_code():
    """`make references` writes it."""
    path = settings.BASE_DIR / "deploy" / "redis" / "users.acl"

    assert path.read_text() == users_file()


def test_nobody_else_has_access():
    default, user = users_file("web").splitlines()

    assert default.startswith("user default off")
    assert user.startswith("user web on #PASSWORD_SHA256 resetkeys ")
    for dangerous in ("+@", "+config", "+flush", "+keys", "+debug", "+acl", "+scan", "allkeys"):
        assert dangerous not in user
