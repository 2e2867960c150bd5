"""The page that tries a policy."""

import pytest

from tests.support.policies.published import administrator, publish, rule, tool_is, up_to
from tests.support.steps import open_interrupts, start

PATH = "/teams/tests/policy/try/"


@pytest.fixture
def admin(client, world):
    publish(
        world,
        rule("small", "allow", tool_is("refund"), up_to(50)),
        rule("careful", "deny", tool_is("refund"), mode="shadow"),
    )
    client.force_login(type(world.bob).objects.get(pk=administrator(world).user_id))
    return client


def run(client, **fields):
    return client.post(f"{PATH}run", fields)


def test_a_typed_call_shows_the_ruling_and_each_rule(admin):
    text = run(admin, tool="refund", arguments='{"amount": 40}').content.decode()

    assert "The policy approves this." in text
    assert "small (version 1) approved: tool = refund and amount 40 ≤ 50." in text
    assert "careful" in text
    assert "overruled" not in text


def test_a_recent_request_can_be_chosen(admin, world):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))

    assert str(interrupt.pk) in admin.get(PATH).content.decode()
    assert "People are asked." in run(admin, request=str(interrupt.pk)).content.decode()
    assert run(admin, request="nothing").status_code == 404


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"arguments": "{"}, "This is not valid JSON"),
        ({"arguments": "[]"}, "The arguments must be a JSON object."),
        ({"at": "today"}, "Enter a date and a time."),
    ],
)
def test_a_refused_form_keeps_its_fields(admin, fields, message):
    response = run(admin, tool="refund_x", **fields)

    text = response.content.decode()
    assert response.status_code == 422
    assert message in text
    assert "refund_x" in text
