"""Which push subscriptions are accepted."""

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from agents.adapters.remote.allowed_addresses import AllowedHosts
from inbox.rules import errors
from inbox.rules.notifications.push_subscriptions import (
    PushSubscription,
    check_push_subscription,
)
from tests.support.notifications.push_server import Browser, encode

ENDPOINT = "https://updates.push.services.mozilla.com/wpush/v2/secret"
GOOD = Browser(ENDPOINT).subscription
_COMPRESSED = (
    ec.generate_private_key(ec.SECP256R1())
    .public_key()
    .public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
)


def problems_of(**values):
    subscription = PushSubscription(**{**vars(GOOD), **values})
    with pytest.raises(errors.InvalidValue) as refused:
        check_push_subscription(subscription, AllowedHosts())
    return list(refused.value.detail["problems"])


def test_the_subscription_of_a_browser_is_accepted():
    check_push_subscription(GOOD, AllowedHosts())
    padded = PushSubscription(ENDPOINT, f"{GOOD.p256dh}=", f"{GOOD.auth}==")
    check_push_subscription(padded, AllowedHosts())


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "http://push.example.com/x",
        "ftp://push.example.com/x",
        "https://user:password@push.example.com/x",
        "https://127.0.0.1/x",
        "https://[::1]/x",
        "https://[::ffff:127.0.0.1]/x",
        "https://10.0.0.1/x",
        "https://169.254.169.254/latest",
        "https://push.example.com/" + "x" * 2_000,
        "https://push.example.com/\u202e",
        "javascript:alert(1)",
    ],
)
def test_an_endpoint_that_is_no_public_https_url_is_refused(endpoint):
    assert problems_of(endpoint=endpoint) == ["endpoint"]


@pytest.mark.parametrize(
    "key",
    [
        "",
        "x",
        encode(b"\x04" + b"\x01" * 64),  # not on the curve
        encode(b"\x04" + b"\x00" * 64),
        encode(_COMPRESSED),
        encode(b"\x00"),  # the point at infinity
        GOOD.p256dh[:-2],
        GOOD.p256dh + "AAAA",
        "\N{SNOWMAN}" * 87,
        "A" * 1_000_000,
        "=" * 87,
        GOOD.p256dh.replace(GOOD.p256dh[:5], f"{GOOD.p256dh[:5]}!!!!", 1),
    ],
    ids=range(12),  # the keys are random
)
def test_a_key_that_is_no_point_of_p256_is_refused(key):
    assert problems_of(p256dh=key) == ["p256dh"]


@pytest.mark.parametrize(
    "auth", ["", encode(b"a" * 15), encode(b"a" * 17), "!" * 22, f"!!!!{GOOD.auth}"], ids=range(5)
)
def test_a_secret_of_another_length_is_refused(auth):
    assert problems_of(auth=auth) == ["auth"]


def test_a_host_of_our_own_network_may_lack_tls_if_it_is_allowed():
    check_push_subscription(
        PushSubscription("http://127.0.0.1:9/x", GOOD.p256dh, GOOD.auth),
        AllowedHosts(private={"127.0.0.1"}),
    )
