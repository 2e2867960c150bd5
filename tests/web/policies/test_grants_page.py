"""Allowing further calls on the page of a request, and the page of a team's grants."""

import json
import re

import pytest

from inbox.models import Grant
from tests.support.policies.published import publish, rule
from tests.support.policies.refunds import proposals
from tests.support.steps import approve, open_interrupts, reread, resumed_run, start
from tests.support.web.pages import words

PATH = "/teams/tests/grants/"
TWO = {"slots": [{"role": "reviewer"}, {"role": "reviewer"}]}


@pytest.fixture
def ask(world, as_agent):
    """Let an agent propose a refund; it proposes the same once more after each answer."""

    def ask(args, **more):
        agent = as_agent(proposals([args], is_endless=True))
        return open_interrupts(start(world, "go", agent=agent, **more))[0]

    return ask


def allow(reader, interrupt, **fields):
    return reader.send(interrupt, "approve_and_allow", **fields)


def test_an_approval_allows_further_calls_up_to_an_amount(ask, reads_bob):
    interrupt = ask({"amount": 40, "to": "Ann"})

    answer = allow(
        reads_bob,
        interrupt,
        **{"grant-0-bound": "up_to", "grant-0-most": "50", "grant-1-bound": "any"},
        **{"grant-scope": "agent", "grant-minutes": "480", "grant-uses": "3"},
        **{"grant-budget-argument": "grant-0", "grant-budget": "90.5"},
    )

    assert answer.status_code == 303
    terms = json.loads(Grant.objects.get().terms)
    assert terms["limits"] == {
        "amount": {"bound": "up_to", "value": 50},
        "to": {"bound": "any", "value": None},
    }
    assert (terms["thread"], terms["minutes"], terms["most_uses"]) == (None, 480, 3)
    assert terms["budget"] == {"argument": "amount", "amount": "90.5"}


def test_a_plain_approval_makes_no_grant(ask, reads_bob):
    interrupt = ask({"amount": 40})

    reads_bob.send(interrupt, "approve", **{"grant-0-bound": "any"})

    assert reread(interrupt).status == "resolved"
    assert not Grant.objects.exists()


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"grant-0-bound": "up_to", "grant-0-most": "many"}, "amount: Enter a number."),
        ({"grant-0-bound": "up_to", "grant-0-most": "30"}, "amount: The largest value is smaller"),
        ({"grant-uses": "101"}, "Calls at most: A grant has 1 to 100 uses."),
        ({"grant-uses": ""}, "Calls at most: Enter a number."),
        ({"grant-uses": "1_0"}, "Calls at most: Enter a number."),
        ({"grant-minutes": "99999"}, "Further calls: A grant lasts from 1 minute"),
        ({"grant-budget": "x", "grant-budget-argument": "grant-0"}, "Sum at most: Enter"),
        (
            {"grant-budget": "-1", "grant-budget-argument": "grant-0"},
            "Sum at most: The budget",
        ),
        ({"grant-budget": "1e9", "grant-budget-argument": "grant-9"}, "Sum at most: Enter"),
    ],
)
def test_a_refused_grant_keeps_the_form_and_decides_nothing(ask, reads_bob, fields, problem):
    interrupt = ask({"amount": 40})

    answer = allow(reads_bob, interrupt, **fields)

    assert answer.status_code == 422
    assert problem in words(answer).replace(" :", ":")
    assert '<details class="settings" id="grant" open>' in answer.content.decode()
    assert reread(interrupt).status == "open"


def test_a_granted_call_tells_who_allowed_it_and_which_use_it_was(ask, reads_bob):
    interrupt = ask({"amount": 40})
    allow(reads_bob, interrupt, **{"grant-uses": "2"})

    run = resumed_run(interrupt.run)

    (granted,) = run.interrupts.all()
    page = words(reads_bob.get(f"/interrupts/{granted.pk}/"))
    assert "Bob allowed further calls: this was call 1 of 2." in page
    assert "A grant approved this" in page


def test_the_team_sees_grants_without_secrets_and_revokes_them(
    ask, world, reads_bob, reads_alice, reads_carol
):
    interrupt = ask({"amount": 40, "password": "hunter2hunter2"})
    reads_bob.client.post(f"/interrupts/{interrupt.pk}/reveal", {"what": "arguments"})
    fields = {"grant-0-bound": "up_to", "grant-0-most": "50"}
    assert allow(reads_bob, interrupt, **fields).status_code == 303

    page = reads_alice.get(PATH)
    assert "amount up to 50" in words(page)
    assert "hunter2" not in page.content.decode()
    assert "Revoke" not in words(page)
    assert reads_carol.get(PATH).status_code == 404

    grant = Grant.objects.get()
    assert reads_alice.client.post(f"/grants/{grant.pk}/revoke").status_code == 403
    assert "Revoke" in words(reads_bob.get(PATH))
    assert reads_bob.client.post(f"/grants/{grant.pk}/revoke").status_code == 303
    assert "There are no active grants." in words(reads_bob.get(PATH))
    assert "revoked" in words(reads_bob.get(f"{PATH}?state=ended"))


def test_no_grant_is_offered_where_none_is_possible(ask, world, reads_bob):
    publish(world, rule("each", "ask", require={"grantable": False}))
    assert "Allow further calls" not in words(reads_bob.get(f"/interrupts/{ask({}).pk}/"))

    publish(world, rule("two", "ask", require=TWO))
    assert "Allow further calls" not in words(reads_bob.get(f"/interrupts/{ask({}).pk}/"))

    publish(world, rule("one", "ask"))
    assert "Allow further calls" in words(reads_bob.get(f"/interrupts/{ask({}).pk}/"))


def test_the_requester_is_offered_no_grant(ask, world, reads_bob):
    interrupt = ask({"amount": 1}, actor=world.actor(world.bob))

    assert "Allow further calls" not in words(reads_bob.get(f"/interrupts/{interrupt.pk}/"))


def test_a_call_with_too_many_arguments_makes_no_grant(ask, reads_bob):
    interrupt = ask({f"a{number}": number for number in range(101)})

    page = reads_bob.open(interrupt)
    answer = allow(reads_bob, interrupt)

    assert "Allow further calls" not in page
    assert answer.status_code == 422
    assert reread(interrupt).status == "open"


def test_a_grant_that_somebody_else_forestalled_is_not_made(ask, reads_bob, dora):
    interrupt = ask({"amount": 40})
    form = reads_bob.form(interrupt).post().copy()
    approve(interrupt, dora)

    answer = reads_bob.post(interrupt, form, "approve_and_allow")

    assert answer.status_code == 409
    assert not Grant.objects.exists()


def test_hostile_names_of_arguments_are_shown_as_text(ask, reads_bob):
    interrupt = ask({'"><script>alert(1)</script>': 1, "\u202ereversed": 2, "x" * 5000: "y" * 9000})

    page = reads_bob.open(interrupt)

    assert "<script>alert(1)" not in page
    assert "\u202e" not in page
    assert allow(reads_bob, interrupt).status_code in (303, 422)


def test_the_page_of_grants_needs_no_query_for_each_of_them(
    ask, reads_bob, django_assert_max_num_queries
):
    for _ in range(2):
        allow(reads_bob, ask({"amount": 40}))
    with django_assert_max_num_queries(60) as few:
        reads_bob.get(PATH)
        number = len(few)
    for _ in range(4):
        allow(reads_bob, ask({"amount": 40}))

    with django_assert_max_num_queries(number):
        reads_bob.get(PATH)


def test_each_list_of_the_form_marks_its_choice(ask, reads_bob):
    page = reads_bob.open(ask({"amount": 40, "to": "Ann"}))

    lists = re.findall(r'<select[^>]* name="grant-[^>]*>.*?</select>', page, re.DOTALL)
    assert len(lists) == 5
    assert [text.count(" selected") for text in lists] == [1] * 5
