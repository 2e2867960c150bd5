"""The schema of the API: it has every operation, it is exact, and it tells nothing of a team."""

import json
import re

import pytest
import yaml
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.validation import validate_schema

from inbox.api.base.openapi import describe_api
from inbox.rules.people.access import Permission
from tests.support.http.openapi_responses import JSON, operations, problems_with
from tests.support.security.routes import SITE, STREAMS

ROUTES = [route for route in (*SITE, *STREAMS) if route.is_api and route.pattern != "api/docs/"]
#: An error may say more, and what a message holds is AG-UI's to say.
_OPEN = ("Problem", "Message", "MessageMetadata", "OpenApiDocument")
OPERATIONS = {described["operationId"]: described for _, _, described in operations()}


def path_of(route):
    """Return the described address; with a slash at its end it works as well."""
    return "/" + re.sub(r"<\w+:(\w+)>", r"{\1}", route.pattern).removesuffix("/")


def test_every_address_is_described_and_nothing_else():
    described = {(method, path) for method, path, _ in operations()}

    assert described == {(route.method, path_of(route)) for route in ROUTES}


def test_it_is_a_valid_document_of_openapi_and_nothing_in_it_was_guessed():
    validate_schema(describe_api())

    assert not GENERATOR_STATS


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_is_described_by_hand(name):
    described = OPERATIONS[name]

    assert re.fullmatch(r"[a-z]+([A-Z][a-z]+)*", name)
    assert described["summary"]
    assert len(described["tags"]) == 1


def test_equal_errors_are_described_once():
    shared = [json.dumps(body) for body in describe_api()["components"]["responses"].values()]

    assert len(set(shared)) == len(shared)
    assert not [
        status
        for methods in describe_api()["paths"].values()
        for described in methods.values()
        for status, response in described["responses"].items()
        if status >= "400" and "$ref" not in response
    ]


def test_no_two_operations_have_the_same_name():
    assert len(OPERATIONS) == len(list(operations()))


def bodies():
    """Everything that is sent or answered, with its schema and its examples."""
    errors = describe_api()["components"]["responses"]
    yield from contents_of("error", errors)
    for name, described in OPERATIONS.items():
        own = {part: body for part, body in described["responses"].items() if part < "400"}
        yield from contents_of(name, {"request": described.get("requestBody", {}), **own})


def contents_of(name, parts):
    for part, body in parts.items():
        for kind, content in body.get("content", {}).items():
            yield pytest.param(content, id=f"{name} {part} {kind}")


@pytest.mark.parametrize("content", list(bodies()))
def test_every_body_has_an_example_and_each_is_what_its_schema_says(content):
    assert content["examples"]
    for example in content["examples"].values():
        assert problems_with(content["schema"], example["value"]) == []


@pytest.mark.parametrize("name", describe_api()["webhooks"])
def test_every_message_of_a_webhook_has_an_example(name):
    described = describe_api()["webhooks"][name]["post"]
    (content,) = described["requestBody"]["content"].values()

    for example in content["examples"].values():
        assert example["value"]["type"] == name
        assert problems_with(content["schema"], example["value"]) == []


def names_in(part):
    """The components that a part of the document refers to, and those that they refer to."""
    component_names, schemas = set(), describe_api()["components"]["schemas"]
    pending = [json.dumps(part)]
    while pending:
        names = set(re.findall(r'"#/components/schemas/(\w+)"', pending.pop())) - component_names
        pending += [json.dumps(schemas[name]) for name in names]
        component_names |= names
    return component_names


def test_responses_have_no_members_that_are_not_described():
    schemas = describe_api()["components"]["schemas"]
    names = names_in([described["responses"] for described in OPERATIONS.values()])
    ours = {
        name: schemas[name]
        for name in names - {*_OPEN}
        if schemas[name].get("type") == "object" and not name.startswith("Agui")
    }

    assert len(ours) > 20
    for name, shape in ours.items():
        assert shape["additionalProperties"] is False, name


def test_an_input_for_the_door_is_described_as_the_door_takes_it():
    described = OPERATIONS["runAgent"]
    body = described["requestBody"]["content"][JSON]
    (dialect,) = [
        parameter for parameter in described["parameters"] if parameter["name"] == "dialect"
    ]
    example = body["examples"]["Request"]["value"]

    assert dialect["schema"]["enum"] == ["canonical", "draft", "langgraph"]
    assert problems_with(body["schema"], example) == []
    assert problems_with(body["schema"], {**example, "messages": [{"id": "m"}]})


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_the_scope_is_the_one_without_which_the_table_of_routes_refuses(route):
    described = next(
        described
        for method, path, described in operations()
        if (method, path) == (route.method, path_of(route))
    )
    refused = {
        permission.value
        for permission in Permission
        if route.statuses[f"k_{permission.value}"] == 403
    }
    everything = {permission.value for permission in Permission}

    if "x-required-scope" not in described:
        assert route.statuses["nobody"] == 200
        assert described["security"] == [{}]
    elif refused == everything and "need the scopes" in described["description"]:
        assert described["x-required-scope"] == Permission.ADMIN  # and another, that of a reader
    elif refused == everything and "MORE_THAN_OWN" not in json.dumps(described["responses"]):
        assert described["security"] == [{"session": []}] or "own" in described["summary"]
    elif refused and refused != everything:
        assert everything - refused == {described["x-required-scope"]}


def test_it_is_served_as_json_and_as_yaml(db):
    plain = Client().get("/api/schema/")
    as_yaml = Client().get("/api/schema/", headers={"Accept": "application/yaml"})

    assert plain.headers["Content-Type"] == JSON
    assert as_yaml.headers["Content-Type"] == "application/yaml"
    assert plain.json() == yaml.safe_load(as_yaml.content) == json.loads(json.dumps(describe_api()))


def test_it_is_the_same_for_everybody_and_reads_no_row(world, django_assert_num_queries):
    member = Client()
    member.force_login(world.bob)

    with django_assert_num_queries(0):
        schema = Client().get("/api/schema/").content

    assert schema == member.get("/api/schema/").content


def test_all_errors_have_one_schema_and_webhooks_are_operations():
    document = describe_api()

    schemas = [
        content["schema"]
        for response in document["components"]["responses"].values()
        for content in response["content"].values()
    ]
    webhooks = [methods["post"] for methods in document["webhooks"].values()]

    assert {json.dumps(schema) for schema in schemas} == {
        '{"$ref": "#/components/schemas/Problem"}'
    }
    assert document["servers"] == [{"url": "/", "description": "This installation"}]
    assert all(each["security"] == [{"signature": []}] for each in webhooks)
    assert "onRunInterrupted" in {each["operationId"] for each in webhooks}
