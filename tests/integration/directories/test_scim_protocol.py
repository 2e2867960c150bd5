"""SCIM as RFC 7644 has it: lists, filters, versions, errors and what the server supports."""

import pytest

from inbox.scim_server import endpoints
from tests.support.http.scim_client import ScimClient, error_of

SEARCH = "urn:ietf:params:scim:api:messages:2.0:SearchRequest"


@pytest.fixture
def people(scim):
    """The ids of three people, by name."""
    return {
        name: scim.add_user(name, externalId=name.upper()).json()["id"]
        for name in ("bea", "carl", "dora")
    }


def names(response):
    assert response.status_code == 200, response.content
    return [row["userName"].partition("@")[0] for row in response.json().get("Resources", [])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('userName eq "BEA@corp.example"', ["bea"]),
        ('externalId eq "CARL"', ["carl"]),
        ('externalId eq "carl"', []),
        ('userName sw "b" or displayName eq "dora"', ["bea", "dora"]),
        ('emails[type eq "work" and value co "carl"]', ["carl"]),
        ('emails.value eq "dora@corp.example"', ["dora"]),
        ('active eq true and not (userName sw "b")', ["carl", "dora"]),
        ('userName eq "nobody"', []),
        ('id eq "\\u0000"', []),
        ('externalId eq "\\ud800"', []),
    ],
)
def test_filters(scim, people, text, expected):
    assert names(scim.get(f"Users?filter={_quoted(text)}")) == expected


@pytest.mark.parametrize(
    "text", ["userName eq", 'nickName eq "b"', "active gt true", "(" * 50 + "a pr" + ")" * 50]
)
def test_filters_that_cannot_be_are_refused(scim, people, text):
    assert error_of(scim.get(f"Users?filter={_quoted(text)}")) == (400, "invalidFilter")


def test_a_filter_is_bounded(scim, people):
    text = " or ".join(['userName eq "bea"'] * 200)

    assert scim.get(f"Users?filter={_quoted(text)}").status_code == 400


def test_a_deep_filter_is_refused(scim, people):
    text = "not (" * 200 + "userName pr" + ")" * 200

    assert error_of(scim.get(f"Users?filter={_quoted(text)}")) == (400, "invalidFilter")


def test_a_search_through_too_many_is_refused(scim, people, monkeypatch):
    monkeypatch.setattr(endpoints, "MAX_CANDIDATES", 2)

    assert error_of(scim.get('Users?filter=displayName+co+"a"')) == (400, "tooMany")
    assert names(scim.get('Users?filter=userName+eq+"bea@corp.example"')) == ["bea"]
    assert len(names(scim.get("Users"))) == 3


def test_pages(scim, people):
    page = scim.get("Users?startIndex=2&count=1")

    assert names(page) == ["carl"]
    body = page.json()
    assert (body["totalResults"], body["startIndex"], body["itemsPerPage"]) == (3, 2, 1)
    assert scim.get("Users?count=0").json()["totalResults"] == 3
    assert names(scim.get("Users?startIndex=9")) == []
    assert names(scim.get("Users?startIndex=-1&count=1")) == ["bea"]


@pytest.mark.parametrize("count", ["x", "99999999999999999999999999"])
def test_pages_that_cannot_be_are_no_error_of_the_server(scim, people, count):
    assert scim.get(f"Users?startIndex={count}").status_code < 500


def test_sorting(scim, people):
    assert names(scim.get("Users?sortBy=userName&sortOrder=descending")) == ["dora", "carl", "bea"]


def test_attributes_are_chosen(scim, people):
    chosen = scim.get(f"Users/{people['bea']}?attributes=userName").json()

    assert set(chosen) == {"schemas", "id", "userName"}


def test_groups_are_found_by_member(scim, people):
    scim.add_group("A", people["bea"])
    scim.add_group("B", people["carl"])
    text = _quoted(f'members[value eq "{people["carl"]}"]')

    matches = scim.get(f"Groups?filter={text}&excludedAttributes=members").json()["Resources"]

    assert [row["displayName"] for row in matches] == ["B"]
    assert "members" not in matches[0]


def search(scim, path, **parameters):
    return scim.call("POST", path, {"schemas": [SEARCH], **parameters})


def test_a_search_by_post_finds_what_a_list_finds(scim, people):
    matches = search(
        scim,
        "Users/.search",
        filter='userName sw "b" or displayName eq "dora"',
        sortBy="userName",
        sortOrder="descending",
        attributes=["userName"],
        startIndex=2,
        count=1,
    )

    assert names(matches) == ["bea"]
    body = matches.json()
    assert (body["totalResults"], body["startIndex"], body["itemsPerPage"]) == (2, 2, 1)
    assert set(body["Resources"][0]) == {"schemas", "id", "userName"}
    assert names(search(scim, "Users/.search")) == ["bea", "carl", "dora"]


def test_a_search_at_the_root_finds_users_and_groups(scim, people, linking):
    scim.add_group("dora", people["bea"])
    linking.add_user("dora", userName="of another directory", emails=[])

    matches = search(scim, ".search", filter='displayName eq "dora"').json()["Resources"]

    assert [row["meta"]["resourceType"] for row in matches] == ["User", "Group"]
    assert search(scim, ".search").json()["totalResults"] == 4
    by_name = search(scim, ".search", filter='userName eq "bea@corp.example"').json()
    assert by_name["totalResults"] == 1


@pytest.mark.parametrize(
    "parameters",
    [
        {"filter": "userName eq"},
        {"filter": "not (" * 200 + "userName pr" + ")" * 200},
        {"filter": 'userName eq "bea" or ' * 200 + "userName pr"},
        {"filter": 5},
        {"attributes": ["userName"] * 1_000},
        {"sortBy": "nickName"},
        {"schemas": ["urn:x"]},
    ],
)
def test_searches_by_post_that_cannot_be_are_refused(scim, people, parameters):
    for path in ("Users/.search", ".search"):
        assert error_of(search(scim, path, **parameters))[0] == 400


def test_versions(scim, people):
    path = f"Users/{people['bea']}"
    etag = scim.get(path)["ETag"]
    change = {"op": "replace", "path": "displayName", "value": "B"}

    assert scim.get(path, **{"If-None-Match": etag}).status_code == 304
    assert scim.patch(path, change, **{"If-Match": etag}).status_code == 200
    assert scim.get(path, **{"If-None-Match": etag}).status_code == 200
    assert error_of(scim.patch(path, change, **{"If-Match": etag})) == (412, None)
    assert error_of(scim.call("DELETE", path, **{"If-Match": etag})) == (412, None)


@pytest.mark.parametrize(
    ("operation", "scim_type"),
    [
        ({"op": "move", "path": "displayName"}, "invalidValue"),
        ({"op": "remove"}, "noTarget"),
        ({"op": "replace", "path": "id", "value": "x"}, "mutability"),
        ({"op": "replace", "path": "emails[", "value": "x"}, "invalidPath"),
        ({"op": "replace", "path": "userName", "value": None}, "mutability"),
    ],
)
def test_patches_that_cannot_be_are_refused(scim, people, operation, scim_type):
    assert error_of(scim.patch(f"Users/{people['bea']}", operation)) == (400, scim_type)


def test_a_patch_is_applied_as_a_whole_or_not_at_all(scim, people):
    path = f"Users/{people['bea']}"

    refused = scim.patch(
        path,
        {"op": "replace", "path": "displayName", "value": "B"},
        {"op": "replace", "path": "userName", "value": "carl@corp.example"},
    )

    assert error_of(refused) == (409, "uniqueness")
    assert scim.get(path).json()["displayName"] == "Bea"


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        ("{", "application/scim+json", 400),
        ("[]", "application/scim+json", 400),
        ('{"a": 1, "a": 2}', "application/json", 400),
        ("{}", "text/plain", 415),
        (f'{{"a": "{"x" * 3_000_000}"}}', "application/scim+json", 413),
    ],
)
def test_bodies_that_cannot_be_are_refused(scim, body, content_type, status):
    refused = scim.call("POST", "Users", body, content_type=content_type)

    assert error_of(refused)[0] == status


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "Users/x", 405),
        ("DELETE", "Schemas", 405),
        ("POST", "Bulk", 404),
        ("GET", "Me", 404),
        ("GET", ".search", 405),
        ("GET", "Users/.search", 405),
        ("POST", "Schemas/.search", 405),
        ("GET", "Users/x", 404),
        ("GET", "Schemas/x", 404),
        ("GET", "Schemas?filter=a+pr", 403),
        ("GET", "", 404),
    ],
)
def test_addresses_that_are_not_there_say_so_in_scim(scim, method, path, status):
    response = scim.call(method, path)

    assert error_of(response)[0] == status
    assert response["Content-Type"] == "application/scim+json"


def test_what_the_server_supports(scim):
    config = scim.get("ServiceProviderConfig").json()

    assert config["patch"] == {"supported": True}
    assert config["bulk"] == {"supported": False, "maxOperations": 0, "maxPayloadSize": 0}
    assert config["filter"] == {"supported": True, "maxResults": 200}
    assert config["changePassword"] == {"supported": False}
    types = scim.get("ResourceTypes").json()["Resources"]
    assert [row["endpoint"] for row in types] == ["/Users", "/Groups"]
    assert scim.get("ResourceTypes/User").json() == types[0]


def test_the_base_of_locations_is_the_public_url(settings, scim):
    settings.PUBLIC_URL = "https://signoff.example"

    location = scim.add_user("bea")["Location"]

    assert location.startswith("https://signoff.example/scim/v2/Users/")


def test_directories_have_no_language(scim):
    response = scim.get("Users/x", **{"Accept-Language": "de"})

    assert "Content-Language" not in response.headers
    assert "Accept-Language" not in response.headers.get("Vary", "")


def test_sessions_are_no_credentials(world):
    from django.test import Client

    from tests.support.web.fresh_sign_in import sign_in

    browser = Client()
    sign_in(browser, world.bob)

    assert browser.get("/scim/v2/Users").status_code == 401
    assert error_of(ScimClient("").get("Users")) == (401, None)


def _quoted(text):
    from urllib.parse import quote

    return quote(text)
