"""REST: how a team shows the calls of its agents' tools."""

import pytest

from tests.support.http.openapi_responses import problems_with

PATH = "/api/teams/tests/presentations"
AMOUNT = {"label": "Amount", "type": "money", "unit": "EUR", "role": "amount", "minor_unit": 2}
BODY = {"tool": "pay", "kind": "money", "values": {"amt": AMOUNT}}


def test_a_presentation_is_chosen_listed_read_and_removed(key_with):
    api = key_with("read", "admin")

    chosen = api.put(PATH, BODY)

    assert (chosen.status_code, chosen.json()) == (
        200,
        {**BODY, "agent": None, "id": chosen.json()["id"]},
    )
    assert api.get(PATH).json() == {"results": [chosen.json()], "next_after": None}
    address = f"/api/presentations/{chosen.json()['id']}"
    assert api.get(address).json() == chosen.json()
    assert api.delete(address).status_code == 204
    assert api.get(PATH).json()["results"] == []


@pytest.mark.parametrize("hint", [{"label": "Amount"}, {"type": "money", "minor_unit": 0}, AMOUNT])
def test_response_has_the_hints_that_were_set_and_is_as_described(key_with, hint):
    body = {**BODY, "kind": None, "values": {"amt": hint}}

    presentation = key_with("read", "admin").put(PATH, body).json()

    assert presentation["values"] == {"amt": hint}
    assert problems_with({"$ref": "#/components/schemas/ToolPresentation"}, presentation) == []


def test_presentations_are_read_a_page_at_a_time(key_with):
    api = key_with("read", "admin")
    api.put(PATH, BODY)
    api.put(PATH, {**BODY, "agent": "rehearsal"})

    first = api.get(f"{PATH}?limit=1").json()
    second = api.get(f"{PATH}?limit=1&after={first['next_after']}").json()

    assert [row["agent"] for row in first["results"] + second["results"]] == [None, "rehearsal"]


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"kind": "invoice"}, 400),
        ({"tool": ""}, 400),
        ({"values": {"amt": {"type": "html"}}}, 400),
        ({"values": {"amt": "Amount"}}, 400),
        ({"values": {"\ud800": AMOUNT}}, 400),
        ({"kind": "message"}, 422),
        ({"kind": None, "values": {}}, 422),
        ({"agent": "nobody"}, 422),
    ],
    ids=str,
)
def test_a_presentation_that_cannot_be_used_is_refused(key_with, change, status):
    assert key_with("admin").put(PATH, {**BODY, **change}).status_code == status
