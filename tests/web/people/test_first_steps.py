from django.db import connection
from django.test.utils import CaptureQueriesContext

from inbox.actions.people.provisioning import ensure_agent
from inbox.actions.policies.versions import publish_draft, save_draft
from inbox.queries.people.api_keys import actor_of_user
from inbox.rules.people.access import SEED
from tests.support.steps import approve
from tests.support.web.pages import words


def test_first_steps_show_an_administrator_what_is_done(world, reads_ana):
    page = reads_ana.get("/")

    assert "First steps" in words(page)
    assert "Invite a colleague : done" in words(page)
    assert f'href="/teams/{world.team.slug}/policy/"' in page.content.decode()
    assert 'href="/new-agent/"' in page.content.decode()


def test_viewers_and_reviewers_are_not_shown_first_steps(reads_alice, reads_bob):
    assert "First steps" not in words(reads_alice.get("/"))
    assert "First steps" not in words(reads_bob.get("/"))


def test_deciding_a_request_is_a_step_of_the_person(ask, ana, reads_ana):
    before = words(reads_ana.get("/"))
    approve(ask("tool_call"), actor_of_user(ana))

    after = words(reads_ana.get("/"))

    assert "Decide a request : done" not in before
    assert "Decide a request : done" in after


def test_hidden_first_steps_stay_hidden_and_cost_no_query(reads_ana):
    with CaptureQueriesContext(connection) as queries:
        reads_ana.get("/")
        assert invitations_are_read(queries)
    answer = reads_ana.client.post("/first-steps/hide")

    with CaptureQueriesContext(connection) as queries:
        page = reads_ana.get("/")
        assert not invitations_are_read(queries)
    assert answer.status_code == 303
    assert "First steps" not in words(page)


def test_first_steps_that_are_done_are_not_shown_and_not_read_again(ask, ana, world, reads_ana):
    ensure_agent(
        team=world.team, slug="helper", implementation="rehearsal", description="", actor=SEED
    )
    approve(ask("tool_call"), actor_of_user(ana))
    save_draft(team_id=world.team.pk, body={"rules": []}, actor=SEED)
    publish_draft(team_id=world.team.pk, actor=SEED, comment="")

    first = words(reads_ana.get("/"))
    with CaptureQueriesContext(connection) as queries:
        reads_ana.get("/")

        assert not invitations_are_read(queries)
    assert "First steps" not in first


def invitations_are_read(queries):
    return any("inbox_invitation" in query["sql"] for query in queries)
