import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inbox.queries.people.api_keys import actor_of_user
from tests.support.steps import approve, open_interrupts, start
from tests.support.web.pages import words

GUIDE = "Your first decision"
LOOKED = "Look at a request : done"
DECIDED = "Decide : done"
SAW_TRAIL = "See the trail : done"


@pytest.fixture
def decided(ask, bob):
    """A request that somebody else has decided."""
    interrupt = ask("tool_call")
    approve(interrupt, bob)
    return interrupt


def trail_of(interrupt):
    return f"/audit/calls/{interrupt.tool_call_id}/"


def test_a_step_of_the_guide_is_done_when_the_thing_happened(ask, ana, decided, reads_ana):
    interrupt = ask("tool_call")

    first = words(reads_ana.get("/"))
    reads_ana.get(f"/decided/{decided.pk}/")
    second = words(reads_ana.get("/"))
    approve(interrupt, actor_of_user(ana))
    third = reads_ana.get("/")
    reads_ana.get(trail_of(interrupt))
    last = words(reads_ana.get("/"))

    assert f"{GUIDE} 0 of 3" in first
    assert (LOOKED in second, DECIDED in second) == (True, False)
    assert (DECIDED in words(third), SAW_TRAIL in words(third)) == (True, False)
    assert f'href="{trail_of(interrupt)}"' in third.content.decode()
    assert f"{GUIDE} 3 of 3" in last


def test_an_open_request_is_no_example_while_there_is_a_decided_one(ask, decided, reads_ana):
    interrupt = ask("tool_call")
    reads_ana.get("/")

    reads_ana.get(f"/interrupts/{interrupt.pk}/")

    assert LOOKED not in words(reads_ana.get("/"))


def test_a_request_that_is_read_ahead_is_not_looked_at(decided, reads_ana):
    reads_ana.get("/")
    address = f"/decided/{decided.pk}/"

    reads_ana.client.get(address, headers={"HX-Request": "true", "X-Signoff-Refresh": "1"})

    assert LOOKED not in words(reads_ana.get("/"))


def test_the_guide_does_not_promise_a_decision_on_ones_own_request(world, ana, decided, reads_ana):
    own = open_interrupts(start(world, "rehearse:tool_call", actor=actor_of_user(ana)))[0]
    reads_ana.get("/")
    reads_ana.get(f"/decided/{decided.pk}/")

    page = reads_ana.get("/")

    assert "nobody approves what they asked for themselves" in words(page)
    assert "Open one that you may decide" not in words(page)
    assert str(own.pk) in page.content.decode()


def test_only_people_who_may_decide_and_have_not_yet_get_the_guide(decided, reads_alice, reads_bob):
    assert GUIDE not in words(reads_alice.get("/"))
    assert GUIDE not in words(reads_bob.get("/"))


def test_a_closed_guide_stays_closed_and_costs_no_query(decided, ana, reads_ana):
    reads_ana.get("/")

    answer = reads_ana.client.post("/first-steps/hide")
    with CaptureQueriesContext(connection) as queries:
        page = reads_ana.get("/")

    assert answer.status_code == 303
    assert GUIDE not in words(page)
    assert not any("inbox_endorsement" in query["sql"] for query in queries)


def test_the_first_request_of_a_team_has_a_page_of_its_own(ask, reads_bob):
    empty = words(reads_bob.get("/"))
    ask("tool_call")
    first = words(reads_bob.get("/", live=True))
    ask("tool_call")
    second = words(reads_bob.get("/", live=True))

    assert "Nothing waits yet" in empty
    assert "Your first request is here" in first
    assert "Your first request is here" not in second
