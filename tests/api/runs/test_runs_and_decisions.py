"""REST: the path from a started run to a decision, and everything that is refused on it."""

import json

import pytest
from django.test import Client

from agents import registry
from inbox.models import Agent, ApiKey, Run
from tests.support import steps
from tests.support.http.rest_client import HOSTILE, Caller, decision, start_run
from tests.support.steps import (
    APPROVE,
    DENY,
    open_interrupts,
    start,
)


@pytest.fixture
def api(world):
    return Caller(world.key)


def drive(answer):
    run = Run.objects.get(pk=answer.json()["id"])
    steps.engine.execute_run(run.pk)
    return steps.reread(run)


def test_a_run_is_started_interrupted_decided_and_resumed_over_rest(api):
    started = start_run(api)
    assert started.status_code == 202
    run = drive(started)

    (item,) = api.get("/api/interrupts").json()["results"]
    assert (item["tool"], item["status"]) == ("send_email", "open")
    decided = api.post(
        f"/api/interrupts/{item['id']}/decide",
        {"status": "resolved", "payload": APPROVE, "view_digest": item["view_digest"]},
    )
    assert decided.status_code == 200
    assert decided.json()["by"] == "key tests"
    steps.resumed_run(run)

    thread = api.get(f"/api/threads/{item['thread']}").json()
    assert any("executionCount" in str(message) for message in thread["messages"])
    detail = api.get(f"/api/runs/{started.json()['id']}").json()
    assert detail["status"] == "interrupted"
    assert detail["terminal_event"]["outcome"]["type"] == "interrupt"


def test_the_same_idempotency_key_gives_the_same_run(api):
    first = start_run(api, **{"Idempotency-Key": "k1"})

    again = start_run(api, **{"Idempotency-Key": "k1"})

    assert again.status_code == 202
    assert (again.json()["id"], again.json()["replayed"]) == (first.json()["id"], True)
    assert Run.objects.count() == 1


def test_the_same_idempotency_key_with_another_body_is_a_conflict(api):
    start_run(api, **{"Idempotency-Key": "k1"})

    answer = start_run(api, "echo", **{"Idempotency-Key": "k1"})

    assert (answer.status_code, answer.json()["code"]) == (409, "IDEMPOTENCY_CONFLICT")


def test_the_loser_of_a_race_is_told_who_was_faster(api, world, bob):
    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    steps.approve(interrupt, bob)

    answer = api.post(f"/api/interrupts/{interrupt.pk}/decide", decision(interrupt, DENY))

    assert answer.status_code == 409
    assert (answer.json()["code"], answer.json()["by"]) == ("INTERRUPT_ALREADY_RESOLVED", "Bob")


def test_an_answer_that_does_not_fit_names_the_place(api, world):
    run = start(world, "rehearse:input_required")
    (interrupt,) = open_interrupts(run)

    answer = api.post(
        f"/api/interrupts/{interrupt.pk}/decide",
        decision(interrupt, {"quarter": "Q1", "year": 1999, "revenue": 1}),
    )

    assert answer.status_code == 422
    assert answer.json()["problems"][0]["pointer"] == "/year"


def test_nobody_decides_over_rest_what_they_do_not_say_they_have_read(api, world):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    body = {"status": "resolved", "payload": APPROVE}

    answer = api.post(f"/api/interrupts/{interrupt.pk}/decide", body)
    old = api.post(f"/api/interrupts/{interrupt.pk}/decide", {**body, "view_digest": "0" * 64})

    assert (answer.status_code, answer.json()["code"]) == (409, "VIEW_DIGEST_REQUIRED")
    assert (old.status_code, old.json()["code"]) == (409, "VIEW_CHANGED")
    assert steps.reread(interrupt).status == "open"


def test_claim_blocks_other_people_but_not_api_keys(api, world, bob, dora):
    from inbox.actions.decisions.claims_and_comments import claim_interrupt

    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    claim = claim_interrupt(interrupt_id=interrupt.pk, actor=dora)
    person = Client()
    person.force_login(world.bob)
    path, body = f"/api/interrupts/{interrupt.pk}/decide", decision(interrupt, APPROVE)

    refused = person.post(path, json.dumps(body), content_type="application/json")
    response = api.post(path, body)

    assert (refused.status_code, refused.json()["code"]) == (409, "CLAIMED")
    assert (refused.json()["by"], refused.json()["until"]) == ("Dora", claim.until.isoformat())
    assert response.status_code == 200


def test_a_run_is_cancelled(api):
    started = start_run(api, "sleep:60").json()

    answer = api.post(f"/api/runs/{started['id']}/cancel")

    assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")
    assert answer.json()["terminal_event"]["outcome"] == {"type": "cancelled"}


def test_a_failed_run_is_tried_again(api):
    run = drive(start_run(api, "error"))

    answer = api.post(f"/api/runs/{run.pk}/retry")
    again = api.post(f"/api/runs/{run.pk}/retry")

    assert (answer.status_code, again.status_code) == (202, 202)
    assert (answer.json()["retries"], answer.json()["status"]) == (str(run.pk), "queued")
    assert (answer.json()["replayed"], again.json()["replayed"]) == (False, True)
    assert again.json()["id"] == answer.json()["id"]


def test_a_run_that_has_not_failed_is_not_tried_again(api):
    run = drive(start_run(api, "echo"))

    answer = api.post(f"/api/runs/{run.pk}/retry")

    assert (answer.status_code, answer.json()["code"]) == (409, "RETRY_REFUSED")


def test_agents_tell_what_they_take_and_can_do_at_addresses_of_their_own(api, as_agent):
    agent = as_agent(lambda _: [])  # a message is all that it takes
    capabilities = api.get("/api/agents/rehearsal").json()["capabilities"]

    assert api.get("/api/agents/rehearsal/capabilities").json() == {"capabilities": capabilities}
    assert api.get(f"/api/agents/{agent.slug}/input-schema").json() == {"input_schema": None}


def test_an_agent_tells_the_schema_of_what_it_is_started_with(api, as_agent, monkeypatch):
    agent = as_agent(lambda _: [])
    schema = {"type": "object", "required": ["order"]}
    monkeypatch.setattr(registry.get(agent.implementation), "input_schema", schema)

    response = api.get(f"/api/agents/{agent.slug}/input-schema")

    assert response.json() == {"input_schema": schema}


def test_an_agent_that_is_not_installed_here_is_404(api, world):
    Agent.objects.filter(pk=world.agent.pk).update(implementation="gone")

    assert api.get(f"/api/agents/{world.agent.slug}/capabilities").status_code == 404


def test_answers_are_kept_by_their_caller_only_and_asked_for_again(api):
    """Not `no-store`: an ETag, which conditional requests need, says that they may be kept."""
    assert api.get("/api/agents").headers["Cache-Control"] == "private, no-cache"


def test_a_browser_stores_no_answer_and_gets_its_etag(world):
    browser = Client()
    browser.force_login(world.bob)

    answer = browser.get("/api/interrupts")

    assert answer.headers["Cache-Control"] == "private, no-store"
    again = browser.get("/api/interrupts", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.headers["Cache-Control"]) == (304, "private, no-store")


def test_agents_tell_their_capabilities(api):
    (agent,) = api.get("/api/agents").json()["results"]
    assert agent["url"] == "/agui/rehearsal/"

    capabilities = api.get("/api/agents/rehearsal").json()["capabilities"]["humanInTheLoop"]

    assert capabilities["interrupts"] is True
    assert capabilities["approveWithEdits"] is True


def test_open_interrupts_come_the_soonest_to_expire_first(api, world):
    for scenario in ("confirmation", "tool_call", "expires_soon"):
        start(world, f"rehearse:{scenario}")

    titles = [item["expires_at"] for item in api.get("/api/interrupts").json()["results"]]

    due = [title or "9999" for title in titles]
    assert due == sorted(due)


def test_the_list_of_interrupts_is_read_in_pages(api, world):
    start(world, "rehearse:parallel:60")

    first = api.get("/api/interrupts").json()
    second = api.get("/api/interrupts", after=first["next_after"]).json()

    ids = [item["id"] for page in (first, second) for item in page["results"]]
    assert len(ids) == len(set(ids)) == 60
    assert second["next_after"] is None


def test_closed_interrupts_are_listed_with_their_decision(api, world, bob):
    run = start(world, "rehearse:tool_call")
    steps.approve(open_interrupts(run)[0], bob)

    (item,) = api.get("/api/interrupts", status="closed").json()["results"]

    assert (item["decision"]["by"], item["decision"]["payload"]) == ("Bob", APPROVE)


# -- who may what -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("get", "/api/agents"),
        ("get", "/api/runs"),
        ("post", "/api/runs"),
        ("get", "/api/threads"),
        ("get", "/api/interrupts"),
    ],
)
@pytest.mark.parametrize("token", ["", "so_wrong"])
def test_without_a_valid_key_nothing_is_told(world, method, path, token):
    answer = getattr(Caller(token), method)(path)

    assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHENTICATED")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_revoked_key_is_no_key(api, world):
    ApiKey.objects.update(revoked_at=world.agent.created_at)

    assert api.get("/api/agents").status_code == 401


def test_what_belongs_to_another_team_does_not_exist(world, key_with):
    from inbox.queries.people.teams import team_by_slug

    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    stranger = key_with("read", "run", "decide", "admin", team=team_by_slug("others"))

    answers = [
        stranger.get(f"/api/runs/{run.pk}"),
        stranger.get(f"/api/threads/{run.thread_id}"),
        stranger.get(f"/api/interrupts/{interrupt.pk}"),
        stranger.post(f"/api/runs/{run.pk}/cancel"),
        stranger.post(f"/api/interrupts/{interrupt.pk}/decide", decision(interrupt, APPROVE)),
        stranger.post("/api/runs", {"agent": "rehearsal", "message": "x"}),
        stranger.get("/api/agents/rehearsal"),
    ]

    assert {answer.status_code for answer in answers} == {404}
    assert stranger.get("/api/interrupts").json()["results"] == []
    assert open_interrupts(run) == [interrupt]


@pytest.mark.parametrize(
    ("scopes", "allowed"),
    [(("read",), "read"), (("run",), "run"), (("decide", "read"), "decide")],
)
def test_a_key_can_do_what_its_scopes_say_and_nothing_else(world, key_with, scopes, allowed):
    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    caller = key_with(*scopes)

    body = decision(interrupt, APPROVE)
    may = {
        "run": start_run(caller).status_code == 202,
        "decide": caller.post(f"/api/interrupts/{interrupt.pk}/decide", body).status_code == 200,
        "read": caller.get(f"/api/interrupts/{interrupt.pk}").status_code == 200,
    }

    assert {name for name, could in may.items() if could} == set(scopes)
    assert allowed in scopes


def test_a_key_is_stored_as_its_digest_only(world):
    (row,) = ApiKey.objects.all()

    assert world.key not in str(row.__dict__)


def test_a_session_acts_only_with_its_csrf_token(world):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(world.bob)

    answer = browser.post("/api/runs", "{}", content_type="application/json")

    assert (answer.status_code, answer.json()["code"]) == (403, "FORBIDDEN")
    assert browser.get("/api/agents").status_code == 200


# -- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_body_is_refused_with_a_sentence_and_nothing_is_stored(api, body):
    answer = api.post("/api/runs", body)

    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_INPUT")
    assert len(answer.json()["detail"]) > 10
    assert not Run.objects.exists()


def test_a_body_of_more_than_two_mebibytes_is_refused(api):
    answer = api.post("/api/runs", b'{"message": "' + b"x" * 2 * 1024 * 1024 + b'"}')

    assert answer.status_code == 413
    assert "2 MiB" in answer.json()["detail"]


def test_a_body_that_is_no_json_by_its_type_is_refused(world):
    answer = Client().post(
        "/api/runs", {"agent": "rehearsal"}, headers={"Authorization": f"Bearer {world.key}"}
    )

    assert answer.status_code == 415


@pytest.mark.parametrize(
    "body",
    [
        {"status": "approved"},
        {"status": "denied", "payload": True},
        {},
        {"status": ["resolved"]},
        {"status": "resolved", "payload": True, "view_digest": "x" * 65},
        {"status": "resolved", "payload": True, "view_digest": None},
    ],
)
def test_a_decision_of_the_wrong_shape_is_refused(api, world, body):
    run = start(world, "rehearse:confirmation")
    (interrupt,) = open_interrupts(run)

    answer = api.post(f"/api/interrupts/{interrupt.pk}/decide", body)

    assert answer.status_code == 400
    assert open_interrupts(run) == [interrupt]


@pytest.mark.parametrize("path", ["/api/runs/x", "/api/nothing", "/api/threads/1/events"])
def test_an_address_that_does_not_exist_is_a_problem(api, path):
    answer = api.get(path)

    assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND")
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_a_page_that_does_not_exist_is_a_page(db):
    answer = Client().get("/nothing/")

    assert answer.status_code == 404
    assert answer.headers["Content-Type"].startswith("text/html")


def test_an_unknown_agent_is_404_and_named(api):
    answer = api.post("/api/runs", {"agent": "nobody", "message": "x"})

    assert answer.status_code == 404
    assert "nobody" in answer.json()["detail"]


def test_the_list_of_interrupts_is_narrowed_like_the_inbox(world, api):
    start(world, "rehearse:parallel:52")
    start(world, "rehearse:confirmation")

    def ids(query):
        answer = api.get(f"/api/interrupts?{query}").json()
        return [item["id"] for item in answer["results"]], answer["next_after"]

    first, after = ids("tool=send_email&sort=new")
    second, end = ids(f"tool=send_email&sort=new&after={after}")

    assert (len(first), len(second), end) == (50, 2, None)
    assert sorted(first + second, reverse=True) == first + second
    assert len(ids("q=ARCHIVE+threads")[0]) == len(ids("reason=confirmation")[0]) == 1
    assert ids("agent=nobody") == ids("status=closed") == ids("state=decided") == ([], None)


@pytest.mark.parametrize("query", ["sort=up", "state=maybe", "mine=yes", "status=all"])
def test_a_filter_that_makes_no_sense_is_refused(api, query):
    answer = api.get(f"/api/interrupts?{query}")

    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_INPUT")


def test_every_error_is_a_problem_for_people_and_for_programs(api):
    unknown = api.get("/api/runs/01a1fb6c-7655-7927-b47c-ea3a19558245")
    shapeless = api.post("/api/runs", {"agent": "rehearsal"})

    for answer, status, code in ((unknown, 404, "NOT_FOUND"), (shapeless, 400, "INVALID_INPUT")):
        problem = answer.json()
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert (answer.status_code, problem["status"], problem["code"]) == (status, status, code)
        assert problem["type"] == f"urn:signoff:problem:{code.lower().replace('_', '-')}"
        assert problem["title"]
        assert problem["detail"].endswith(".")
    assert shapeless.json()["problems"] == {"message": ["This field is required."]}


@pytest.mark.parametrize("name", ["run", "thread", "interrupt_id"])
def test_a_run_leads_to_its_interrupts(api, world, name):
    start(world, "rehearse:tool_call")
    run = start(world, "rehearse:parallel3")
    start(world, "rehearse:tool_call")
    rows = open_interrupts(run)
    value = {"run": run.pk, "thread": run.thread_id, "interrupt_id": rows[0].interrupt_id}[name]

    listed = api.get(f"/api/interrupts?{name}={value}").json()["results"]

    expected = rows[:1] if name == "interrupt_id" else rows
    assert {item["id"] for item in listed} == {str(row.pk) for row in expected}
    assert {item["run"] for item in listed} == {str(run.pk)}


def test_filters_of_runs_take_ids_only_and_show_nothing_of_others(api, world, carol):
    run = start(world, "rehearse:tool_call")
    stranger = Client()
    stranger.force_login(world.carol)

    assert api.get("/api/interrupts?run=all").status_code == 400
    assert stranger.get(f"/api/interrupts?run={run.pk}").json()["results"] == []


def test_lists_of_runs_leave_terminal_events_out(api, world):
    run = start(world, "rehearse:tool_call")

    lists = [api.get("/api/runs"), api.get(f"/api/threads/{run.thread_id}/runs")]

    assert ["terminal_event" in each.json()["results"][0] for each in lists] == [False, False]
    assert api.get(f"/api/runs/{run.pk}").json()["terminal_event"]["type"] == "RUN_FINISHED"


def test_tools_of_a_client_are_rejected_where_no_result_can_follow(api):
    tools = [{"name": "show_map", "description": "", "parameters": {}}]

    answer = api.post("/api/runs", {"agent": "rehearsal", "message": "Hi", "tools": tools})

    assert (answer.status_code, answer.json()["code"]) == (422, "UNKNOWN_NAME")
    assert "tools" in answer.json()["detail"]
    assert Run.objects.count() == 0
