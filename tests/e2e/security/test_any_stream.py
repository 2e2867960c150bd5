"""Whatever is sent to the addresses that stream, by whomever, on a running product."""

import json

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import ignored_auth, response_schema_conformance

from inbox.api.base.openapi import describe_api
from tests.api.base.test_any_request import EXAMPLES, is_sayable
from tests.e2e.security.test_access_matrix import streamed
from tests.support.security.callers import NAMES

__all__ = ["streamed"]
pytestmark = pytest.mark.services

_BOUNDED = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
_CONFIG = {
    "generation": {"allow-x00": False, "with-security-parameters": False},
    "checks": {
        "positive_data_acceptance": {
            "expected-statuses": ["2xx", 401, 403, 404, 409, 410, 422, 429]
        }
    },
}
STREAMS = ("runAgent", "connectAgent", "getCapabilities", "listEvents")


@pytest.fixture(scope="module")
def streams(product):
    config = SchemathesisConfig.from_dict(
        {**_CONFIG, "base-url": product.url, "request-timeout": 20}
    )
    schema = schemathesis.openapi.from_dict(describe_api(), config=config)
    operations = [result.ok() for result in schema.get_all_operations()]
    by_name = {operation.definition.raw["operationId"]: operation for operation in operations}
    return [by_name[name] for name in STREAMS]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_the_answer_is_one_that_the_schema_tells(
    name, mode, streams, demo_callers, streamed, subtests
):
    caller = demo_callers[name]
    parameters = {"slug": streamed.slug, "thread_id": streamed.thread_id}
    for operation in streams:
        if mode.is_negative and not (operation.body or operation.query):
            continue  # whatever has no slash is a slug
        names = [parameter.name for parameter in operation.path_parameters]
        fixed = {"path_parameters": {name: parameters[name] for name in names}}
        with subtests.test(operation.label):
            send(operation, mode, caller, fixed)


def send(operation, mode, caller, fixed):
    """Send examples of an operation, and hold each answer to all checks."""

    # It would send as many requests of nobody as this product takes from one address.
    without = [ignored_auth] if caller.session else []

    @_BOUNDED
    @given(case=operation.as_strategy(mode, **fixed).filter(is_sayable))
    def check(case):
        # Followed events never end: they are asked for as JSON here.
        accept = "text/event-stream" if case.method == "POST" else "application/json"
        answer = case.call(headers={"Accept": accept, **caller.headers}, cookies=caller.cookies)
        is_stream = answer.headers["content-type"][0].startswith("text/event-stream")
        # The description has a stream as one text; the library compares each of its events.
        unfit = [response_schema_conformance] if is_stream else []
        case.validate_response(answer, excluded_checks=[*without, *unfit])

    check()


def test_an_input_of_a_megabyte_is_refused_as_a_problem(product, demo_callers, streamed):
    import httpx

    answer = httpx.post(
        f"{product.url}/agui/{streamed.slug}/",
        content=json.dumps({"threadId": "x" * 3_000_000}),
        headers={**demo_callers["k_run"].headers, "Content-Type": "application/json"},
        timeout=20,
    )

    assert answer.status_code == 413
