"""Whatever is sent, by whomever: the API answers as its schema says, and never with a 5xx."""

import json
import os
from functools import partial

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.auths import AuthStorage
from schemathesis.config import SchemathesisConfig

from agents.agui.strict_json import LARGEST_INTEGER
from inbox.api.base.openapi import describe_api
from tests.support.environment import IS_FULL
from tests.support.security.callers import NAMES, undone
from tests.support.security.fixtures import callers, things

__all__ = ["callers", "things"]

#: For each operation, caller and mode; SIGNOFF_TEST_EXAMPLES takes more: docs/campaigns.md.
EXAMPLES = int(os.environ.get("SIGNOFF_TEST_EXAMPLES", "2" if IS_FULL else "1"))
_ALWAYS = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    database=None,
    # What fails is printed as it is: to make it smaller would take minutes.
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
#: An answer may be too late, or a value against a rule; and no text of ours holds a NUL.
_CONFIG = {
    "generation": {"allow-x00": False, "with-security-parameters": False},
    "checks": {
        "positive_data_acceptance": {
            "expected-statuses": ["2xx", 401, 403, 404, 409, 410, 422, 429]
        }
    },
}


@pytest.fixture(scope="module")
def api():
    schema = schemathesis.openapi.from_dict(
        describe_api(), config=SchemathesisConfig.from_dict(_CONFIG)
    )
    schema.app = get_wsgi_application()
    return schema


@pytest.fixture
def _one_connection(settings, things):
    """Requests are part of the test's transaction, as those of Django's own client are."""
    # After `things`, whose requests connect the signals again.
    settings.RATE_LIMIT = settings.RATE_LIMIT_ANONYMOUS = ""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def of_the_site(api):
    """The operations without those that stream, which another server answers."""
    for result in api.get_all_operations():
        operation = result.ok()
        raw = operation.definition.raw
        kinds = [kind for answer in raw["responses"].values() for kind in answer.get("content", {})]
        if "text/event-stream" not in kinds and not operation.path.startswith("/agui/"):
            yield operation


def ids_in(operation, things):
    """The ids of what is there, for the address; an address of nothing answers nothing."""
    names = [parameter.name for parameter in operation.path_parameters]
    known_ids = {name: getattr(things, name) for name in names if getattr(things, name, "")}
    return {"path_parameters": known_ids} if known_ids else {}


def send(operation, mode, caller, **fixed):
    """Send examples of an operation, hold each answer to all checks, and take back what it did."""

    @_ALWAYS
    @given(
        case=operation.as_strategy(mode, auth_storage=auth_of(caller), **fixed).filter(is_sayable)
    )
    def check(case):
        # Nothing between this and the application would undo a compression.
        undone(partial(case.call_and_validate, headers={"Accept-Encoding": "identity"}))

    check()


def auth_of(caller):
    """
    What every case of a caller carries, as schemathesis knows that it is no guess of its own.

    So it sends what was accepted once more without that, and with a wrong one: both are refused.
    """

    class Auth:
        def get(self, case, context):
            return caller if caller.session or caller.token else None

        def set(self, case, known_ids, context):
            case.headers.update(known_ids.headers)
            case.cookies.update(known_ids.cookies)

    storage = AuthStorage()
    storage(refresh_interval=None)(Auth)
    return storage


def is_sayable(case):
    """Two rules are in no schema: what narrows may be empty, and whole numbers keep digits."""
    narrowing = [*(case.query or {}).values(), (case.headers or {}).get("Last-Event-ID")]
    return "" not in narrowing and has_all_digits(case.body)


def has_all_digits(value):
    if isinstance(value, (dict, list)):
        return all(map(has_all_digits, value.values() if isinstance(value, dict) else value))
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return not is_whole or abs(value) <= LARGEST_INTEGER


@pytest.mark.usefixtures("_one_connection")
@pytest.mark.parametrize("name", NAMES)
def test_what_the_schema_allows_is_understood(name, api, callers, things, subtests):
    for operation in of_the_site(api):
        with subtests.test(operation.label):
            send(operation, GenerationMode.POSITIVE, callers[name], **ids_in(operation, things))


@pytest.mark.usefixtures("_one_connection")
@pytest.mark.parametrize("name", NAMES)
def test_what_the_schema_forbids_is_refused(name, api, callers, things, subtests):
    for operation in of_the_site(api):
        # Whatever has no slash is a slug, or another address.
        if operation.body or operation.query or '"uuid"' in json.dumps(operation.definition.raw):
            with subtests.test(operation.label):
                send(operation, GenerationMode.NEGATIVE, callers[name])
