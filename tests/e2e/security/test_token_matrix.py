"""Every kind of secret at every entrance: each opens its own, and no other."""

import hashlib
import json

import httpx
import pytest

from tests.support.files.samples import png
from tests.support.http.agui_client import Door, run_input
from tests.support.processes import manage
from tests.support.product import embedded_product
from tests.support.security import routes
from tests.support.security.tokens import (
    ENTRANCES,
    METRICS_TOKEN,
    OPENS,
    Site,
    prepare_people,
    print_tokens,
)


def in_shell(product, function):
    command = f"from tests.support.security.tokens import *; {function.__name__}()"
    return json.loads(manage(product.environment, "shell", "-c", command).splitlines()[-1])


@pytest.fixture(scope="module")
def secrets(tmp_path_factory):
    """A running product, and a secret of each kind by its name."""
    directory = tmp_path_factory.mktemp("tokens")
    with embedded_product(directory, SIGNOFF_METRICS_TOKEN=METRICS_TOKEN) as product:
        tokens = in_shell(product, prepare_people)
        session = tokens["session"]
        with httpx.Client(base_url=product.url, timeout=20) as http:
            Door(http, tokens["API key"]).run(run_input("rehearse:tool_call"))
            file = http.post(
                "/api/files",
                headers={"Authorization": f"Bearer {tokens['API key']}"},
                data={"agent": "rehearsal"},
                files={"file": ("photo.png", png())},
            ).json()
        tokens |= in_shell(product, print_tokens)
        tokens |= {
            "stored session": hashlib.sha256(session.encode()).hexdigest()[:40],
            "metrics token": METRICS_TOKEN,
            "link to a file": file["url"].partition("?")[2],
        }
        yield Site(product.url, file["id"], {"sessionid": session}), tokens


def test_every_kind_of_secret_is_made(secrets):
    _, tokens = secrets

    assert tokens.keys() == OPENS.keys()


def test_every_address_with_a_token_is_an_entrance():
    patterns = {pattern for pattern in routes.site_patterns() if "<str:" in pattern}
    # Connecting is the form of the page behind the same code.
    assert patterns - {"account/chats/link/<str:token>/connect"} <= ENTRANCES.keys()


@pytest.mark.parametrize("kind", OPENS)
def test_a_secret_opens_its_own_entrances_and_no_others(secrets, kind):
    site, tokens = secrets

    opened = {name for name, opens in ENTRANCES.items() if opens(site, tokens[kind])}

    assert opened == OPENS[kind]
