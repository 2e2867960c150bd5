"""The socket of open pages, on a running product: who is there, and who may stay."""

import json
from contextlib import contextmanager
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tests.e2e.agui_server.test_websockets import session
from tests.support.http.agui_client import run_input
from tests.support.processes import manage, start_web
from tests.support.product import scaled_product

_PATIENCE_SECONDS = 20


class Listener:
    """An open page without a browser."""

    def __init__(self, opened):
        self._opened = opened

    def say(self, frame):
        self._opened.send(frame if isinstance(frame, str | bytes) else json.dumps(frame))

    def turn_to(self, interrupt_id):
        self.say({"type": "here", "interrupt": interrupt_id})

    def until(self, condition):
        """The first poke that fulfils the condition."""
        while True:
            poke = json.loads(self._opened.recv(timeout=_PATIENCE_SECONDS))
            if condition(poke):
                return poke

    def until_here(self, *names):
        return self.until(
            lambda poke: (
                poke["type"] == "presence"
                and [face["name"] for face in poke["here"]] == list(names)
            )
        )

    def until_the_end(self):
        """The code that the socket is closed with."""
        try:
            while True:
                self._opened.recv(timeout=_PATIENCE_SECONDS)
        except ConnectionClosed as closed:
            return closed.rcvd.code


@pytest.fixture
def listen(product):
    @contextmanager
    def open_page(cookies, *, at=None, url=product.url):
        address = url.replace("http", "ws") + "/ws/live/" + (f"?interrupt={at}" if at else "")
        headers = {"Cookie": cookies, "Origin": "http://" + urlsplit(url).netloc}
        with connect(address, additional_headers=headers, open_timeout=10) as opened:
            yield Listener(opened)

    return open_page


@pytest.fixture
def question(door):
    """The id of something that is asked."""
    return _ask(door)


def _ask(door):
    events = door.run(run_input("rehearse:tool_call"))
    thread = door.thread(events[0]["threadId"])
    rows = door.get("/api/interrupts")["results"]
    return next(row["id"] for row in rows if row["thread"] == thread["id"])


def shell(product, code):
    return manage(product.environment, "shell", "-c", f"from inbox.models import *; {code}")


def test_two_who_open_the_same_request_see_each_other(product, listen, question):
    marco, priya = (session(product, name) for name in ("marco", "priya"))
    with listen(marco, at=question) as first, listen(priya, at=question) as second:
        seen = first.until_here("Priya Shah")
        second.until_here("Marco Ruiz")

    assert set(seen) == {"type", "here", "online"}
    assert set(seen["here"][0]) == {"name", "initials", "hue"}
    assert seen["online"] == 2


def test_a_page_turns_to_another_request_without_a_new_socket(product, listen, door, question):
    other = _ask(door)
    marco, priya = (session(product, name) for name in ("marco", "priya"))
    with listen(marco, at=question) as first, listen(priya) as second:
        second.turn_to(question)
        first.until_here("Priya Shah")
        second.until_here("Marco Ruiz")
        second.turn_to(other)
        first.until_here()
        second.until_here()
        first.turn_to(other)
        second.until_here("Marco Ruiz")
        first.until_here("Priya Shah")
        second.turn_to(None)
        first.until_here()


def test_who_closes_the_page_is_gone(product, listen, question):
    marco, priya = (session(product, name) for name in ("marco", "priya"))
    with listen(marco, at=question) as first:
        with listen(priya, at=question):
            first.until_here("Priya Shah")
        first.until_here()


@pytest.mark.parametrize("whose", ["nobody", "foreign"])
def test_nobody_is_there_where_they_may_not_be(product, listen, whose):
    at = _foreign_interrupt(product) if whose == "foreign" else str(uuid4())
    with pytest.raises(InvalidStatus), listen(session(product), at=at):
        pass


def test_to_be_somewhere_else_is_asked_for_permission_again(product, listen, question):
    foreign = _foreign_interrupt(product)
    marco, priya = (session(product, name) for name in ("marco", "priya"))
    with listen(marco, at=question) as first, listen(priya, at=question) as second:
        first.until_here("Priya Shah")
        for _ in range(4):
            second.turn_to(foreign)
        second.turn_to(None)
        first.until_here()
        second.turn_to(foreign)

        assert second.until_the_end() == 4400


@pytest.mark.parametrize("frame", ["{", "[" * 10_000, b"\xff\xfe", '{"type": "here"}', "null"])
def test_who_talks_nonsense_all_the_time_is_sent_away(product, listen, frame):
    with listen(session(product)) as page:
        for _ in range(5):
            page.say(frame)

        assert page.until_the_end() == 4400


def test_a_little_nonsense_is_ignored(product, listen, question):
    marco, priya = (session(product, name) for name in ("marco", "priya"))
    with listen(marco, at=question) as first, listen(priya) as second:
        for frame in ("{", "null", '{"type": "x", "interrupt": null}', "[]"):
            second.say(frame)
        second.turn_to(question)

        first.until_here("Priya Shah")


def test_signing_out_in_one_tab_ends_the_sockets_of_the_others(product, listen):
    cookies = session(product, "priya")
    with listen(cookies) as page, listen(session(product, "priya")) as elsewhere:
        page.until(lambda poke: poke["type"] == "hello")
        sign_out(product, cookies)

        assert page.until_the_end() == 4403
        elsewhere.until(lambda poke: poke["type"] == "hello")


def test_a_session_that_an_administrator_ends_takes_its_sockets_along(product, listen):
    cookies = session(product, "priya")
    with listen(cookies) as page, listen(session(product, "priya")) as elsewhere:
        page.until(lambda poke: poke["type"] == "hello")
        end_newest_session_but_one(product, "priya")

        assert page.until_the_end() == 4403
        elsewhere.until(lambda poke: poke["type"] == "hello")


def end_newest_session_but_one(product, username):
    admin = session(product, "admin")
    token = dict(part.split("=", 1) for part in admin.split("; "))["csrftoken"]
    headers = {"Cookie": admin, "X-CSRFToken": token}
    path = f"{product.url}/api/teams/demo/sessions"
    rows = httpx.get(path, headers=headers, params={"limit": 200}).json()["results"]
    numbers = [row["id"] for row in rows if row["username"] == username]
    assert httpx.delete(f"{path}/{numbers[-2]}", headers=headers).status_code == 204


def sign_out(product, cookies):
    token = dict(part.split("=", 1) for part in cookies.split("; "))["csrftoken"]
    headers = {"Cookie": cookies, "X-CSRFToken": token}
    answer = httpx.post(f"{product.url}/logout/", headers=headers)
    assert answer.status_code == 302


def test_leaving_the_team_ends_the_socket(product, listen, question):
    name = f"guest{uuid4().hex[:8]}"
    shell(
        product,
        "from inbox.actions.people.provisioning import *; from inbox.rules.people.access import *;"
        f"add_member(team=Team.objects.get(slug='demo'), username='{name}', full_name='Guest One',"
        f"password='{name}', role=Role.REVIEWER, actor=SEED)",
    )
    cookies = session(product, name, password=name)
    with listen(session(product), at=question) as other, listen(cookies, at=question) as page:
        other.until_here("Guest One")
        shell(product, f"Membership.objects.filter(user__username='{name}').delete()")

        assert page.until_the_end() == 4403
        other.until_here()


def _foreign_interrupt(product):
    """An interrupt of a team that nobody of the demo belongs to."""
    return shell(
        product,
        "from tests.conftest import *; from inbox.actions.people.provisioning import *;"
        "from inbox.rules.people.access import *; from tests.support.steps import *;"
        "team = ensure_team(slug='far', name='Far', actor=SEED);"
        "agent = ensure_agent(team=team, slug='far-rehearsal', implementation='rehearsal',"
        "description='', actor=SEED);"
        "from inbox.actions.people.api_keys import *; from inbox.queries.people.api_keys import *;"
        "_, token = make_key(team_id=team.pk, name='k', scopes={*Permission}, actor=SEED);"
        "key = actor_of_key(token);"
        "run = start(None, 'rehearse:tool_call', agent=agent, actor=key);"
        "print(open_interrupts(run)[0].pk)",
    ).splitlines()[-1]


@pytest.mark.services
def test_people_on_different_processes_see_each_other(tmp_path, listen):
    with (
        scaled_product(tmp_path) as product,
        start_web(product.environment, log=tmp_path / "second.log") as second,
        httpx.Client(base_url=product.url, timeout=20) as http,
    ):
        from tests.support.http.agui_client import Door

        question = _ask(Door(http, product.create_api_key("run", "read", "decide")))
        marco, priya = (session(product, name) for name in ("marco", "priya"))
        with listen(marco, at=question, url=product.url) as marcos_socket:
            marcos_socket.until(lambda poke: poke["type"] == "hello")
            with listen(priya, at=question, url=second.url) as priyas_socket:
                marcos_socket.until_here("Priya Shah")
                priyas_socket.until_here("Marco Ruiz")
            marcos_socket.until_here()
