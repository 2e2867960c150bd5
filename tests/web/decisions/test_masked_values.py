"""Secrets stay masked on every page and in every answer, until somebody who may reveals them."""

import json

import pytest
from django.test import Client

from inbox.models import AuditEntry, ToolCall
from inbox.rules.schema.secrets import MASK
from tests.support.agents.agent_events import about, asking, finished, proposed
from tests.support.audit.entries import audited
from tests.support.http.rest_client import Caller
from tests.support.steps import (
    answer,
    approve,
    open_interrupts,
    reread,
    resumed_run,
    start,
)
from tests.support.web.fresh_sign_in import sign_in
from tests.support.web.pages import sent, words

#: One in each place, so that what leaks says from where.
BY_NAME, BY_MARK, NESTED, RESULT, BESIDE = (
    f"canary-{n}" for n in ("name", "mark", "nested", "result", "beside")
)
CANARIES = (BY_NAME, BY_MARK, NESTED, RESULT, BESIDE)
ARGS = {
    "user": "kim",
    "password": BY_NAME,
    "note": BY_MARK,
    "hosts": [{"name": "one", "apiKey": NESTED}, {"name": "two", "apiKey": None}],
    "cvv": "4711471147114",
}
SCHEMA = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean"},
        "editedArgs": {
            "type": "object",
            "properties": {
                "user": {"type": "string"},
                "note": {"$ref": "#/$defs/private"},
                "cvv": {"type": "string"},
            },
            "required": ["user", "password"],
        },
    },
    "required": ["approved"],
    "$defs": {"private": {"type": "string", "writeOnly": True, "minLength": 3}},
}


@pytest.fixture
def login(world, as_agent):
    """An agent that wants to sign in somewhere; returns what it asks."""

    async def play(run_input, _context):
        if run_input.resume:
            from ag_ui import core as agui

            content = json.dumps({"ok": True, "session": {"access_token": RESULT}})
            yield agui.ToolCallResultEvent(message_id="m", tool_call_id="c1", content=content)
            yield finished(run_input)
            return
        for event in proposed(name="sign_in", args=json.dumps(ARGS)):
            yield event
        more = {"metadata": {"client_secret": BESIDE}, "response_schema": SCHEMA}
        yield asking(run_input, about(message="May I sign in?", **more))

    run = start(world, "go", agent=as_agent(play))
    return open_interrupts(run)[0]


@pytest.fixture
def done(login, bob):
    """The same after Bob has changed something else, and the tool has answered."""
    approve(login, bob, editedArgs={**ARGS, "user": "kai"})
    resumed_run(login.run)
    return login


def pages_about(interrupt):
    call = interrupt.tool_call_id
    return [
        *(f"/interrupts/{interrupt.pk}/", f"/decided/{interrupt.pk}/", "/", "/decided/"),
        *(f"/similar/{interrupt.pk}/", f"/threads/{interrupt.thread_id}/"),
        *("/audit/", f"/audit/calls/{call}/", f"/audit/threads/{interrupt.thread_id}/"),
    ]


def answers_about(interrupt):
    thread = f"/api/threads/{interrupt.thread_id}"
    return [
        *("/api/interrupts", "/api/interrupts?status=closed", f"/api/interrupts/{interrupt.pk}"),
        *(thread, f"{thread}/messages", f"{thread}/state", f"{thread}/tool-calls"),
        *(f"{thread}/audit", f"/api/runs/{interrupt.run_id}"),
    ]


def leaks(reader, paths):
    """Which canary is where."""
    leaked = {}
    for path in paths:
        page = reader.get(path)
        assert page.status_code == 200, path
        text = page.content.decode()
        canaries = [canary for canary in (*CANARIES, "4711471147114") if canary in text]
        leaked |= {path: canaries} if canaries else {}
    return leaked


@pytest.mark.parametrize("who", ["reads_alice", "reads_bob", "reads_ana"])
def test_no_page_shows_a_secret(login, who, request):
    reader = request.getfixturevalue(who)

    assert leaks(reader, pages_about(login)) == {}
    assert MASK in reader.open(login)


@pytest.mark.parametrize("who", ["reads_alice", "reads_bob", "reads_ana"])
def test_no_page_shows_a_secret_after_the_decision(done, who, request):
    reader = request.getfixturevalue(who)

    assert leaks(reader, pages_about(done)) == {}
    assert "kai" in reader.open(done)


def test_rest_masks_for_people_and_for_machines_that_only_read(done, reads_alice, reads_bob, world):
    from inbox.actions.people.api_keys import make_key
    from inbox.rules.people.access import SEED, Permission

    _, token = make_key(team_id=world.team.pk, name="reads", scopes={Permission.READ}, actor=SEED)

    for reader in (reads_alice, reads_bob, Caller(token)):
        assert leaks(reader, answers_about(done)) == {}


def test_rest_is_whole_for_machines_that_decide(done, world):
    leaked = leaks(Caller(world.key), answers_about(done))

    assert {canary for canaries in leaked.values() for canary in canaries} == {
        *CANARIES,
        "4711471147114",
    }


def test_a_machine_that_decides_gets_the_arguments_as_they_are(login, world):
    body = Caller(world.key).get(f"/api/interrupts/{login.pk}").json()

    assert body["args"] == ARGS
    assert body["interrupt"]["metadata"] == {"client_secret": BESIDE}


def test_what_nobody_touched_is_approved_byte_for_byte(login, reads_bob):
    before = ToolCall.objects.get(pk=login.tool_call_id).args

    reads_bob.send(login, "approve", unseen="on")

    assert sent(login) == {"approved": True}
    call = ToolCall.objects.get(pk=login.tool_call_id)
    assert (call.approved_args, call.edited_args) == (before, None)


def test_an_edit_beside_a_mask_keeps_what_it_hides(login, reads_bob):
    page = reads_bob.send(login, "approve", {"args/user": "kai"}, unseen="on")

    assert page.status_code == 303
    assert sent(login)["editedArgs"] == {**ARGS, "user": "kai"}


@pytest.mark.parametrize(
    ("field", "text", "place", "value"),
    [
        ("args/password", "new", "password", "new"),
        ("args/note", "written anew", "note", "written anew"),
        ("args/cvv", "12", "cvv", "12"),
    ],
)
def test_a_masked_field_takes_another_value(login, reads_bob, field, text, place, value):
    reads_bob.send(login, "approve", {field: text}, unseen="on")

    assert sent(login)["editedArgs"] == {**ARGS, place: value}


def test_a_part_of_a_mask_is_no_value(login, reads_bob):
    page = reads_bob.send(login, "approve", {"args/password": f"{MASK}x"})

    assert page.status_code == 422
    assert "not part of the mask" in words(page)
    assert reread(login).status == "open"


def json_tab(reader, interrupt):
    """What the JSON tab of the arguments holds."""
    form = reader.form(interrupt)
    page = reader.post(interrupt, form.post(), "x&draft=tab:json:args").content.decode()
    from tests.support.web.pages import decision_form

    return json.loads(decision_form(page).post()["args.json"])


def test_the_json_tab_has_masks_that_stand_for_their_secrets(login, reads_bob):
    held = json_tab(reads_bob, login)
    assert held["password"] != held["note"]
    assert held["hosts"][1]["apiKey"] is None

    moved = {**held, "user": "kai", "hosts": held["hosts"][::-1]}
    page = reads_bob.send(login, "approve", as_json={"args": json.dumps(moved)}, unseen="on")

    assert page.status_code == 303
    expected = {**ARGS, "user": "kai", "hosts": ARGS["hosts"][::-1]}
    assert sent(login)["editedArgs"] == expected


def test_a_mask_cannot_be_moved_to_where_it_could_be_read(login, reads_bob):
    held = json_tab(reads_bob, login)

    page = reads_bob.send(
        login, "approve", as_json={"args": json.dumps({**held, "user": held["password"]})}
    )

    assert page.status_code == 422
    assert BY_NAME not in page.content.decode()
    assert reread(login).status == "open"


def test_switching_between_the_tabs_carries_no_secret_in_the_page(login, reads_bob):
    form = reads_bob.form(login)
    form.fill("args/user", "kai")
    as_json = reads_bob.post(login, form.post(), "x&draft=tab:json:args")
    from tests.support.web.pages import decision_form

    edited = decision_form(as_json.content.decode())
    held = json.loads(edited.post()["args.json"])
    post = edited.post().copy()
    post["args.json"] = json.dumps({**held, "user": "kate"})
    back = reads_bob.post(login, post, "x&draft=tab:form:args")

    for page in (as_json, back):
        assert leaks(type("R", (), {"get": lambda _, __, page=page: page})(), ["x"]) == {}
    last = decision_form(back.content.decode()).post().copy()
    last["unseen"] = "on"
    assert reads_bob.post(login, last, "approve").status_code == 303
    assert sent(login)["editedArgs"] == {**ARGS, "user": "kate"}


def test_a_mask_is_refused_as_a_value_whoever_sends_it(login, bob):
    from inbox.rules.errors import InvalidPayload

    with pytest.raises(InvalidPayload, match="mask"):
        approve(login, bob, editedArgs={**ARGS, "password": MASK})


def test_what_changed_of_a_secret_is_not_shown(login, reads_bob, bob):
    approve(login, bob, editedArgs={**ARGS, "password": "canary-new"})
    resumed_run(login.run)

    for path in pages_about(login):
        assert "canary-" not in reads_bob.get(path).content.decode(), path
    call = words(reads_bob.get(f"/audit/calls/{login.tool_call_id}/"))
    assert f"password {MASK} {MASK}" in call
    assert "Changes: password changed" in words(reads_bob.get("/decided/"))


def test_a_fault_in_what_is_masked_does_not_quote_it(world, as_agent, reads_bob):
    schema = {
        "type": "object",
        "properties": {
            "approved": {"type": "boolean"},
            "editedArgs": {
                "type": "object",
                "properties": {"password": {"type": "string", "format": "email"}},
                "not": {"properties": {"password": {"maxLength": 20}}, "required": ["password"]},
            },
        },
    }

    async def play(run_input, _context):
        for event in proposed(args=json.dumps({"password": BY_NAME, "user": "kim"})):
            yield event
        yield asking(run_input, about(response_schema=schema))

    (interrupt,) = open_interrupts(start(world, "go", agent=as_agent(play)))

    held = {"password": f"{MASK}1", "user": "kai"}
    page = reads_bob.send(interrupt, "approve", as_json={"args": json.dumps(held)})

    assert page.status_code == 422
    assert BY_NAME not in page.content.decode()


def test_an_answer_that_is_a_secret_is_masked_once_it_is_given(world, as_agent, bob, reads_bob):
    schema = {"type": "string", "format": "password"}

    async def play(run_input, _context):
        from ag_ui import core as agui

        interrupt = agui.Interrupt(id="i", reason="input_required", response_schema=schema)
        yield asking(run_input, interrupt)

    (interrupt,) = open_interrupts(start(world, "go", agent=as_agent(play)))
    answer(interrupt, bob, BY_NAME)

    paths = [f"/decided/{interrupt.pk}/", f"/audit/threads/{interrupt.thread_id}/"]
    assert leaks(reads_bob, [*paths, f"/api/interrupts/{interrupt.pk}"]) == {}
    revealed = reads_bob.client.post(f"/interrupts/{interrupt.pk}/reveal", {"what": "answer"})
    assert BY_NAME in revealed.content.decode()


# -- revealing ------------------------------------------------------------------------------------


def reveal(reader, path, what):
    return reader.client.post(f"{path}reveal", {"what": what})


def test_revealing_needs_a_fresh_sign_in(login, world):
    client = Client()
    sign_in(client, world.bob, seconds_ago=3_600)

    answer = client.post(f"/interrupts/{login.pk}/reveal", {"what": "arguments"})

    assert (answer.status_code, audited("audit.revealed")) == (303, [])


def test_revealing_shows_one_set_and_is_in_the_trail_without_its_values(login, reads_bob, bob):
    page = reveal(reads_bob, f"/interrupts/{login.pk}/", "arguments")

    assert page.status_code == 200
    assert "no-store" in page.headers["Cache-Control"]
    text = page.content.decode()
    assert [canary for canary in CANARIES if canary in text] == [BY_NAME, BY_MARK, NESTED]
    ((_, content),) = audited("audit.revealed")
    assert content == {
        "what": "arguments",
        "count": 4,
        "places": ["/cvv", "/hosts/0/apiKey", "/note", "/password"],
    }
    entry = AuditEntry.objects.get(action="audit.revealed")
    assert (entry.actor_id, entry.interrupt_id) == (bob.ident, login.pk)
    assert entry.tool_call_id == login.tool_call_id
    assert leaks(reads_bob, pages_about(login)) == {}
    assert "revealed masked values" in words(reads_bob.get(f"/audit/threads/{login.thread_id}/"))


@pytest.mark.parametrize("what", ["proposed", "approved", "result"])
def test_each_set_of_a_call_is_revealed_by_itself(done, reads_ana, what):
    page = reveal(reads_ana, f"/audit/calls/{done.tool_call_id}/", what)

    text = page.content.decode()
    assert (RESULT in text) is (what == "result")
    assert (BY_NAME in text) is (what != "result")
    assert audited("audit.revealed")[0][1]["what"] == what


def test_what_was_executed_is_masked_and_revealed_as_well(world, bob, reads_bob):
    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    approve(interrupt, bob, editedArgs={**json.loads(interrupt.args), "password": BY_NAME})
    resumed_run(run)

    assert leaks(reads_bob, pages_about(interrupt)) == {}
    for path, what in (
        (f"/audit/calls/{interrupt.tool_call_id}/", "executed"),
        (f"/interrupts/{interrupt.pk}/", "executed"),
    ):
        assert BY_NAME in reveal(reads_bob, path, what).content.decode()


@pytest.mark.parametrize("path", ["/interrupts/{pk}/", "/audit/calls/{tool_call_id}/"])
def test_who_does_not_decide_reveals_nothing(login, reads_alice, reads_carol, path):
    where = path.format(pk=login.pk, tool_call_id=login.tool_call_id)

    for reader, status in ((reads_alice, 403), (reads_carol, 404)):
        for what in ("arguments", "proposed"):
            page = reveal(reader, where, what)
            assert page.status_code == status
            assert BY_NAME not in page.content.decode()
    assert audited("audit.revealed") == []
    assert "Reveal" not in words(reads_alice.get(where))


def test_there_is_nothing_to_reveal_where_nothing_is_masked(ask, reads_bob):
    interrupt = ask("tool_call")

    assert reveal(reads_bob, f"/interrupts/{interrupt.pk}/", "arguments").status_code == 404
    assert reveal(reads_bob, f"/interrupts/{interrupt.pk}/", "nonsense").status_code == 404
    assert "Reveal" not in words(reads_bob.get(f"/interrupts/{interrupt.pk}/"))
    assert audited("audit.revealed") == []


def test_revealing_needs_a_form_of_the_page(login, world):
    client = Client(enforce_csrf_checks=True)
    sign_in(client, world.bob)

    page = client.post(f"/interrupts/{login.pk}/reveal", {"what": "arguments"})

    assert page.status_code == 403
    assert audited("audit.revealed") == []


# -- searching and deciding together --------------------------------------------------------------


@pytest.mark.parametrize("word", [BY_NAME, BY_MARK, NESTED, "4711471147114"])
def test_nobody_finds_out_a_secret_by_searching(login, reads_bob, word):
    for path in (f"/?q={word[:8]}", f"/audit/?q={word}"):
        page = reads_bob.get(path).content.decode()
        assert str(login.pk) not in page
        assert str(login.tool_call_id) not in page
    assert str(login.pk) in reads_bob.get("/?q=kim").content.decode()
    assert str(login.tool_call_id) in reads_bob.get("/audit/?q=kim").content.decode()


def test_what_is_masked_is_not_closed_count_with_others(login, reads_bob):
    page = reads_bob.get(f"/similar/{login.pk}/")

    assert "Some values are masked. Review this request on its own page." in words(page)


def test_characters_that_hide_in_a_secret_are_not_spelled_out(world, as_agent, reads_bob):
    async def play(run_input, _context):
        for event in proposed(args=json.dumps({"password": f"{BY_NAME}\u202e\u0430pple"})):
            yield event
        yield asking(run_input, about())

    (interrupt,) = open_interrupts(start(world, "go", agent=as_agent(play)))

    assert leaks(reads_bob, [f"/interrupts/{interrupt.pk}/"]) == {}
