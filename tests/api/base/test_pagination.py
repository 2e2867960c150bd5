"""What every list and every GET of the REST API does alike: pages, filters, fields, versions."""

import json
from uuid import UUID, uuid4

import pytest
from django.test import Client, override_settings

from inbox.actions.agents.remote_agents import set_remote_agent
from inbox.actions.decisions.claims_and_comments import add_comment
from inbox.actions.people.api_keys import make_key
from inbox.actions.people.provisioning import add_member, ensure_agent, ensure_team
from inbox.actions.webhooks.deliveries import send_test
from inbox.actions.webhooks.endpoints import add_webhook, change_webhook
from inbox.models import Membership
from inbox.rules.people.access import SEED, Permission, Role
from tests.conftest import CHEAP_HASHERS, make_world
from tests.support import steps
from tests.support.database.snapshots import Snapshot
from tests.support.http.rest_client import Caller, pages, read
from tests.support.steps import open_interrupts, start

HOOK = {"url": "https://hooks.example.com/", "event_types": ["run.finished"]}
#: Every list, by its address; ids stand for the things of `full`.
LISTS = [
    *("agents", "runs", "threads", "interrupts", "interrupts?status=closed", "webhooks"),
    *("interrupts/{interrupt}/comments", "webhooks/{webhook}/deliveries"),
]


@pytest.fixture
def admin(world):
    return whole_key(world.team)


def whole_key(team):
    _, token = make_key(team_id=team.pk, name="k", scopes={*Permission}, actor=SEED)
    return Caller(token)


def fill(world):
    """Add seven of everything that is listed; return ids for addresses."""
    bob = world.actor(world.bob)
    for number in range(6):
        ensure_agent(
            team=world.team,
            slug=f"agent-{number}",
            implementation="rehearsal",
            description="",
            actor=SEED,
        )
    (closed,) = (open_interrupts(start(world, "rehearse:parallel:7")),)
    for row in closed:
        steps.approve(row, bob)
    interrupts = [open_interrupts(start(world, "rehearse:tool_call"))[0] for _ in range(7)]
    for number in range(7):
        add_comment(interrupt_id=interrupts[0].pk, actor=bob, text=f"word {number}")
    hooks = [add_webhook(team_id=world.team.pk, actor=SEED, **HOOK)[0] for _ in range(7)]
    for _ in range(7):
        send_test(endpoint_id=hooks[0].pk, actor=SEED)
    return {
        "interrupt": interrupts[0].pk,
        "webhook": hooks[0].pk,
        "thread": interrupts[0].thread_id,
    }


@pytest.fixture(scope="session")
def full_snapshot(django_db_setup, django_db_blocker):
    def build():
        world = make_world()
        return world, fill(world)

    with django_db_blocker.unblock(), override_settings(PASSWORD_HASHERS=CHEAP_HASHERS):
        return Snapshot(build)


@pytest.fixture
def full_world(db, full_snapshot):
    return full_snapshot.restore()


@pytest.fixture
def world(request, world_snapshot):
    """The world, with seven of everything if the test asks for `full`."""
    if "full" in request.fixturenames:
        return request.getfixturevalue("full_world")[0]
    request.getfixturevalue("db")
    return world_snapshot.restore()


@pytest.fixture
def full(full_world):
    """The ids of some of the seven of everything that is listed."""
    return full_world[1]


def split(path):
    address, _, query = path.partition("?")
    return address, dict(part.split("=") for part in query.split("&") if part)


# -- pages ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", LISTS)
def test_the_pages_of_a_list_are_the_list(admin, full, path):
    address, query = split(f"/api/{path}".format(**full))

    listed = read(admin, address, **query, limit=200)
    parts = pages(admin, address, **query, limit=3)

    assert len(listed["results"]) >= 7
    assert listed["next_after"] is None
    assert [item for part in parts for item in part] == listed["results"]
    assert {len(part) for part in parts[:-1]} == {3}


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("limit", ["0", "-1", "201", "many", "", "1.5", "٣", "1" * 30])
def test_a_limit_that_is_none_is_refused(admin, full, path, limit):
    answer = admin.get(f"/api/{path}".partition("?")[0].format(**full), limit=limit)

    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_INPUT")
    assert "from 1 to 200" in answer.json()["detail"]


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("cursor", ["the day before", "a\0b"])
def test_a_cursor_that_no_page_gave_is_refused(admin, full, path, cursor):
    answer = admin.get(f"/api/{path}".partition("?")[0].format(**full), after=cursor)

    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_INPUT")


def test_the_last_page_is_known_as_the_last_without_reading_on(admin, full):
    agents = read(admin, "/api/agents", limit=7)

    assert len(agents["results"]) == 7
    assert agents["next_after"] is None


def test_rows_added_while_paging_do_not_shift_later_pages(admin, world, full):
    first = read(admin, "/api/threads", limit=3)
    seen = [item["id"] for item in first["results"]]

    start(world, "rehearse:echo")
    steps.start(world, "rehearse:echo", thread_id=first["results"][2]["thread_id"] + "-new")
    remaining_pages = pages(admin, "/api/threads", limit=3, after=first["next_after"])

    assert not set(seen) & {item["id"] for part in remaining_pages for item in part}
    assert len(seen) + sum(map(len, remaining_pages)) == 8


def test_a_cursor_of_somebody_else_s_row_opens_nothing(world, full):
    stranger = whole_key(ensure_team(slug="others", name="Others", actor=SEED))

    for path in ("runs", "threads"):
        theirs = read(stranger, f"/api/{path}", after="ffffffff-ffff-ffff-ffff-ffffffffffff")
        assert theirs["results"] == []


def test_the_lists_of_several_teams_are_one_list_in_one_order(world):
    second = ensure_team(slug="second", name="Second", actor=SEED)
    agent = ensure_agent(
        team=second, slug="second", implementation="rehearsal", description="", actor=SEED
    )
    dora = add_member(
        team=second,
        username="dora",
        full_name="Dora",
        password="d",
        role=Role.REVIEWER,
        actor=SEED,
    )
    Membership.objects.create(team=world.team, user=dora, role=Role.REVIEWER)
    runs = [
        start(world, "rehearse:echo", agent=owner, actor=world.actor(dora))
        for owner in (world.agent, agent, agent, world.agent, agent)
    ]
    person = Client()
    person.force_login(dora)

    def get(path, **query):
        return person.get(path, query)

    person_api = type("Person", (), {"get": staticmethod(get)})
    for path, field in (("runs", "pk"), ("threads", "thread_id")):
        listed = [
            item["id"] for part in pages(person_api, f"/api/{path}", limit=2) for item in part
        ]
        assert listed == [str(getattr(run, field)) for run in reversed(runs)]


# -- filters --------------------------------------------------------------------------------------


def test_runs_are_narrowed_by_status_agent_and_thread(admin, world):
    other = ensure_agent(
        team=world.team, slug="other", implementation="rehearsal", description="", actor=SEED
    )
    done = start(world, "rehearse:echo")
    failed = start(world, "rehearse:error")
    waiting = start(world, "rehearse:tool_call")
    others = start(world, "rehearse:echo", agent=other)

    def listed(**query):
        return [UUID(item["id"]) for item in read(admin, "/api/runs", **query)["results"]]

    assert listed() == [others.pk, waiting.pk, failed.pk, done.pk]
    assert listed(status="failed") == [failed.pk]
    assert listed(status="failed,interrupted") == [waiting.pk, failed.pk]
    assert listed(agent="other") == [others.pk]
    assert listed(agent="rehearsal", status="succeeded") == [done.pk]
    assert listed(thread=waiting.thread_id) == [waiting.pk]
    assert listed(thread=waiting.thread_id, agent="other") == []
    assert listed(agent="nobody-s") == []


def test_threads_are_narrowed_by_agent(admin, world):
    other = ensure_agent(
        team=world.team, slug="other", implementation="rehearsal", description="", actor=SEED
    )
    start(world, "rehearse:echo")
    run = start(world, "rehearse:echo", agent=other)

    (only,) = read(admin, "/api/threads", agent="other")["results"]

    assert only["id"] == str(run.thread_id)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"status": "finished"}, 400),
        ({"thread": "x"}, 400),
        ({"agent": "a\0b"}, 400),
        ({"thread": str(uuid4())}, 404),
    ],
)
def test_a_filter_of_runs_that_means_nothing_is_refused(admin, query, status):
    assert admin.get("/api/runs", **query).status_code == status


# -- fields ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", LISTS)
def test_a_list_holds_the_fields_that_were_asked_for(admin, full, path):
    address, query = split(f"/api/{path}".format(**full))

    (first, *_) = read(admin, address, **query, fields="id")["results"]

    assert set(first) == {"id"}


def test_one_thing_holds_the_fields_that_were_asked_for(admin, full):
    answer = read(admin, f"/api/interrupts/{full['interrupt']}", fields="id,view_digest")

    assert set(answer) == {"id", "view_digest"}


def test_a_field_that_there_is_not_is_refused_by_an_empty_list_as_well(admin):
    answer = admin.get("/api/runs", fields="id,secret")

    assert answer.status_code == 400
    assert "run_id" in answer.json()["known"]


@pytest.mark.parametrize("path", ["runs", "interrupts/{interrupt}"])
@pytest.mark.parametrize("fields", ["secret", "id,nothing", "", "id,"])
def test_a_field_that_there_is_not_is_refused_with_those_there_are(admin, full, path, fields):
    answer = admin.get(f"/api/{path}".format(**full), fields=fields)

    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_INPUT")
    assert {"id", "run_id" if path == "runs" else "view_digest"} <= set(answer.json()["known"])


# -- versions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", [*LISTS, "interrupts/{interrupt}", "threads/{thread}", "webhooks/{webhook}"]
)
def test_what_has_not_changed_is_not_sent_again(admin, full, path):
    address, query = split(f"/api/{path}".format(**full))
    first = admin.get(address, **query)

    admin._headers["If-None-Match"] = first.headers["ETag"]
    again = admin.get(address, **query)

    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]


def test_what_has_changed_is_sent_again(admin, full, bob):
    path = f"/api/interrupts/{full['interrupt']}/comments"
    admin._headers["If-None-Match"] = admin.get(path).headers["ETag"]

    add_comment(interrupt_id=full["interrupt"], actor=bob, text="one more")

    assert admin.get(path).status_code == 200


def changed_hook(admin, hook, etag, method="PATCH"):
    text = json.dumps({"description": "mine"} if method == "PATCH" else {})
    headers = {**admin._headers, "If-Match": etag}
    path = f"/api/webhooks/{hook}"
    return admin._client.generic(method, path, text, "application/json", headers=headers)


@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_a_change_of_what_was_seen_is_made(admin, full, encoding):
    # Long enough to be smaller when it is compressed, whatever random length Django adds to that.
    change_webhook(endpoint_id=full["webhook"], actor=SEED, description="long " * 30)
    admin._headers["Accept-Encoding"] = encoding
    etag = admin.get(f"/api/webhooks/{full['webhook']}").headers["ETag"]

    changed = changed_hook(admin, full["webhook"], etag)
    del admin._headers["Accept-Encoding"]

    assert etag.startswith("W/") is bool(encoding)
    assert changed.status_code == 200
    assert read(admin, f"/api/webhooks/{full['webhook']}")["description"] == "mine"


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
def test_a_change_of_what_somebody_else_has_changed_is_refused(admin, full, method):
    path = f"/api/webhooks/{full['webhook']}"
    etag = admin.get(path).headers["ETag"]
    change_webhook(endpoint_id=full["webhook"], actor=SEED, description="theirs")

    refused = changed_hook(admin, full["webhook"], etag, method)

    assert (refused.status_code, refused.json()["code"]) == (412, "PRECONDITION_FAILED")
    assert read(admin, path)["description"] == "theirs"


def test_any_version_matches_a_star_where_there_is_one(admin, full):
    assert changed_hook(admin, full["webhook"], "*").status_code == 200
    assert changed_hook(admin, uuid4(), "*").status_code == 404


def test_an_agent_elsewhere_is_changed_only_as_it_was_seen(admin, world):
    place = {"slug": "far", "url": "https://one.example.com/", "headers": {}}
    set_remote_agent(team_id=world.team.pk, actor=SEED, **place)
    etag = admin.get("/api/agents/far").headers["ETag"]

    def put(name, etag):
        headers = {**admin._headers, "If-Match": etag}
        body = json.dumps({"url": "https://two.example.com/", "headers": {}})
        path = f"/api/agents/{name}"
        return admin._client.put(path, body, "application/json", headers=headers).status_code

    assert put("far", etag) == 200
    assert put("far", etag) == 412
    assert put("not-there-yet", "*") == 412


def test_a_version_where_there_are_none_is_refused(world):
    person = Client()
    person.force_login(world.bob)
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))

    answer = person.delete(f"/api/interrupts/{interrupt.pk}/claim", headers={"If-Match": '"x"'})

    assert (answer.status_code, answer.json()["code"]) == (412, "PRECONDITION_FAILED")
