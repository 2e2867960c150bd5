"""Each operation rejects members and query parameters that its description does not name."""

import copy
import json

import pytest
from asgiref.sync import async_to_sync
from channels.routing import URLRouter
from channels.testing import HttpCommunicator

from inbox.api.base.openapi import describe_api
from inbox.api.runs.streaming_urls import streaming_urlpatterns
from inbox.models import Membership, User
from inbox.rules.people.access import Role
from tests.support.http.openapi_responses import JSON, operations

#: Nothing has this id: most operations check names before they look anything up.
ID = "01934f5e-7c10-7e4b-9a52-0d6c6a1f0001"
#: The team exists, for the operations that look it up first.
ADDRESS = {"team": "tests"}
OPERATIONS = {described["operationId"]: (*place, described) for *place, described in operations()}


def is_streaming(path):
    return path.startswith("/agui/") or path.endswith("/events")


def bodies():
    """Every operation with a body that is ours; AG-UI says itself what its clients ignore."""
    return [
        name
        for name, (_, path, described) in OPERATIONS.items()
        if JSON in described.get("requestBody", {}).get("content", {})
        and not path.startswith("/agui/")
    ]


def address_of(path, described):
    for parameter in described.get("parameters", ()):
        if parameter["in"] == "path":
            is_id = parameter["schema"].get("format") == "uuid"
            value = ADDRESS.get(parameter["name"], ID if is_id else "1")
            path = path.replace(f"{{{parameter['name']}}}", value)
    return path


def resolved(schema):
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return {**describe_api()["components"]["schemas"][name], **schema}
    return schema


def closed_objects(schema, value, path=()):
    """Yield the places of a body where no other members are allowed, with the allowed ones."""
    schema = resolved(schema)
    for branch in schema.get("anyOf", schema.get("oneOf", ())):
        yield from closed_objects(branch, value, path)
    if isinstance(value, dict) and schema.get("additionalProperties") is False:
        yield path, schema["properties"]
        for name, member in schema["properties"].items():
            if name in value:
                yield from closed_objects(member, value[name], (*path, name))
    if isinstance(value, list) and value and "items" in schema:
        yield from closed_objects(schema["items"], value[0], (*path, 0))


def places(name):
    """Return schema, example and closed places of the body of an operation."""
    _, _, described = OPERATIONS[name]
    content = described["requestBody"]["content"][JSON]
    example = next(iter(content["examples"].values()))["value"]
    return example, list(closed_objects(content["schema"], example))


def with_member(example, path, member):
    body = copy.deepcopy(example)
    parent = body
    for step in path:
        parent = parent[step]
    parent[member] = 1
    return body


def send(client, name, body=None, query=""):
    method, path, described = OPERATIONS[name]
    text = "" if body is None else json.dumps(body)
    address = address_of(path, described) + query
    if is_streaming(path):
        application = URLRouter(streaming_urlpatterns)
        response = async_to_sync(HttpCommunicator(application, method, address).get_response)()
        return response["status"], json.loads(response["body"])
    response = client.generic(method, address, text, "" if body is None else JSON)
    return response.status_code, json.loads(response.content or "{}")


def misspelt(member):
    """Return a name as people get it wrong: in camel case, or without its last letter."""
    first, *others = member.split("_")
    return first + "".join(map(str.title, others)) if others else member[:-1] + member[-1] * 2


@pytest.fixture
def reader(client, world):
    """Return somebody who may call every operation."""
    Membership.objects.filter(user=world.bob).update(role=Role.ADMIN)
    User.objects.filter(pk=world.bob.pk).update(is_superuser=True)
    client.force_login(world.bob)
    return client


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_unknown_query_parameter_is_rejected(reader, name):
    status, problem = send(reader, name, query="?nonsense=1")

    assert (status, problem["code"]) == (422, "UNKNOWN_NAME")
    assert "`nonsense`" in problem["detail"]


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_misspelt_query_parameter_is_named_with_the_right_one(reader, name):
    _, _, described = OPERATIONS[name]
    known_names = [
        each["name"] for each in described.get("parameters", ()) if each["in"] == "query"
    ]

    for parameter in known_names:
        status, problem = send(reader, name, query=f"?{misspelt(parameter)}=1")

        assert (status, problem["code"]) == (422, "UNKNOWN_NAME")
        assert f"Did you mean `{parameter}`?" in problem["detail"]


@pytest.mark.parametrize("name", bodies())
def test_an_unknown_member_is_rejected_at_every_depth(reader, name):
    example, closed = places(name)

    assert closed
    for path, _ in closed:
        status, problem = send(reader, name, with_member(example, path, "nonsense"))

        assert (status, problem["code"]) == (422, "UNKNOWN_NAME"), problem
        assert ".".join(map(str, (*path, "nonsense"))) in problem["detail"]


@pytest.mark.parametrize("name", bodies())
def test_a_misspelt_member_is_named_with_the_right_one(reader, name):
    example, closed = places(name)

    for path, members in closed:
        for member in members:
            wrong = misspelt(member)
            status, problem = send(reader, name, with_member(example, path, wrong))

            assert (status, problem["code"]) == (422, "UNKNOWN_NAME"), problem
            assert f"Did you mean `{member}`?" in problem["detail"]


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, (method, path, described) in OPERATIONS.items()
        if "requestBody" not in described and method != "GET" and not is_streaming(path)
    ],
)
def test_an_operation_without_a_body_rejects_members(reader, name):
    status, problem = send(reader, name, {"reason": "too late"})

    assert (status, problem["code"]) == (422, "UNKNOWN_NAME")


def test_a_parameter_that_is_sent_twice_is_rejected(reader):
    response = reader.get(f"/api/interrupts?run={ID}&run={ID}")

    assert response.status_code == 400
    assert "repeated" in response.json()["detail"]


def test_a_name_that_is_near_to_none_is_answered_with_all_names(reader):
    response = reader.get("/api/interrupts/x/decide?zzzzzzzz=1")
    status, problem = send(reader, "decideInterrupt", {"zzzzzzzz": 1})

    assert status == 422, response
    assert "Known are: " in problem["problems"]["zzzzzzzz"][0]
    assert "view_digest" in problem["problems"]["zzzzzzzz"][0]
