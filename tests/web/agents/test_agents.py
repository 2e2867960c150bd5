"""The pages of agents: who sees what, and forms that never hold a kept secret."""

import html

import pytest

from inbox.actions.agents.remote_agents import set_remote_agent
from inbox.models import Endpoint, Membership
from inbox.platform.encryption import decrypt
from inbox.rules.people.access import SEED
from tests.support.agents.remote_agent_server import REFUSAL, elsewhere
from tests.support.web.pages import err, input_value, words

__all__ = ["elsewhere"]

URL = "https://agents.example.com/agui"
SECRET = "Bearer kept-to-ourselves"


@pytest.fixture
def refunds(world):
    return set_remote_agent(
        team_id=world.team.pk,
        slug="refunds",
        url=URL,
        headers={"Authorization": SECRET, "X-Tenant": "acme"},
        description="Refunds orders.",
        actor=SEED,
    ).agent


def save(reader, **typed):
    """Send the form that changes the agent, as it was opened, with what is typed."""
    seen = input_value(reader.get("/agents/refunds/change/").content.decode(), "seen_at")
    form = {"url": URL, "header-0": "Authorization", "header-1": "X-Tenant", "seen_at": seen}
    return reader.client.post("/agents/refunds/save", form | typed)


def headers():
    return decrypt(Endpoint.objects.get().headers)


# -- looking --------------------------------------------------------------------------------------


def test_everybody_of_the_team_sees_its_agents(refunds, reads_alice, reads_carol):
    page = words(reads_alice.get("/agents/"))

    assert "refunds" in page
    assert "Remote" in page
    assert "Not tested" in page
    assert "Add a remote agent" not in page
    assert "refunds" not in words(reads_carol.get("/agents/"))


def test_only_administrators_see_where_an_agent_is(refunds, reads_bob, reads_ana):
    hers, his = (
        reader.get("/agents/refunds/").content.decode() for reader in (reads_ana, reads_bob)
    )

    assert URL in hers
    assert "X-Tenant" in hers
    assert URL not in his
    assert "X-Tenant" not in his
    assert "Test connection" not in his


def test_no_page_holds_the_value_of_a_header(refunds, reads_ana):
    typed = {"url": "https://b.example.com/", "value-1": "typed-in-vain"}
    pages = [
        reads_ana.get("/agents/refunds/"),
        reads_ana.get("/agents/refunds/change/"),
        save(reads_ana, **typed),
    ]

    assert pages[-1].status_code == 422
    for page in pages:
        text = page.content.decode()
        assert not [
            value for value in ("kept-to-ourselves", "acme", "typed-in-vain") if value in text
        ]


def test_a_team_without_agents_is_told_what_to_do(reads_carol, reads_alice, world):
    assert "Add a remote agent by its URL." in words(reads_carol.get("/agents/"))


# -- adding ---------------------------------------------------------------------------------------


def test_an_agent_is_added_with_its_headers(reads_ana):
    went = reads_ana.client.post(
        "/new-agent/add",
        {
            "name": " refunds ",
            "url": f" {URL} ",
            "description": "Refunds\r\norders.",
            "header-0": "Authorization",
            "value-0": SECRET,
            "header-3": "X-Tenant",
            "value-3": "acme",
        },
    )

    assert (went.status_code, went["Location"]) == (303, "/agents/refunds/")
    assert headers() == {"Authorization": SECRET, "X-Tenant": "acme"}
    assert "Refunds orders." in words(reads_ana.get("/agents/refunds/"))


def test_what_is_wrong_stands_beside_its_field(reads_ana):
    page = reads_ana.client.post(
        "/new-agent/add",
        {
            "name": "two words",
            "url": "agents.example.com",
            "header-0": "Host",
            "value-0": "x",
            "value-1": "of no header",
        },
    )

    assert page.status_code == 422
    assert "letters, digits" in err(page, "f-name")
    assert "start with http" in err(page, "f-url")
    assert "is reserved" in err(page, "f-value-0")
    assert "not a valid header name" in err(page, "f-header-1")
    assert not Endpoint.objects.exists()


def test_a_name_that_is_taken_is_told_at_the_name(refunds, reads_ana):
    for name in ("rehearsal", "refunds"):
        page = reads_ana.client.post("/new-agent/add", {"name": name, "url": URL + "/2"})

        assert page.status_code == 422
        assert "Choose another name" in err(page, "f-name")
    assert Endpoint.objects.get().url == URL


def test_a_header_that_is_there_twice_is_refused(reads_ana):
    typed = {f"header-{number}": "X-Key" for number in (0, 1)} | {
        f"value-{number}": "x" for number in (0, 1)
    }

    page = reads_ana.client.post("/new-agent/add", {"name": "refunds", "url": URL, **typed})

    assert "given twice" in err(page, "f-value-1")


def test_who_administers_several_teams_chooses_one(world, ana, reads_ana):
    from inbox.actions.people.provisioning import ensure_team

    others = ensure_team(slug="others", name="Others", actor=SEED)
    Membership.objects.create(user=ana, team=others, role="admin")
    form = {"name": "refunds", "url": URL}

    page = reads_ana.client.post("/new-agent/add", form)
    went = reads_ana.client.post("/new-agent/add", {**form, "team": "others"})

    assert "Choose a team" in err(page, "f-team")
    assert went.status_code == 303
    assert Endpoint.objects.get().agent.team == others


def test_an_agent_may_be_called_new(reads_ana):
    reads_ana.client.post("/new-agent/add", {"name": "new", "url": URL})

    assert reads_ana.get("/agents/new/").status_code == 200


# -- changing -------------------------------------------------------------------------------------


def test_what_is_left_empty_stays_as_it_is(refunds, reads_ana):
    went = save(reads_ana, url=f"{URL}/2", description="Moved.")

    assert (went.status_code, went["Location"]) == (303, "/agents/refunds/")
    assert headers() == {"Authorization": SECRET, "X-Tenant": "acme"}


def test_headers_are_changed_removed_and_added(refunds, reads_ana):
    save(reads_ana, **{"value-0": "Bearer 2", "remove-1": "1", "header-2": "B", "value-2": "b"})

    assert headers() == {"Authorization": "Bearer 2", "B": "b"}


def test_at_another_place_kept_headers_are_asked_for_again(refunds, reads_ana):
    page = save(reads_ana, **{"url": "https://b.example.com/", "value-1": "acme"})
    again = save(
        reads_ana,
        **{"url": "https://b.example.com/", "value-0": "Bearer 2", "remove-1": "1"},
    )

    assert page.status_code == 422
    assert "Enter the value again" in err(page, "f-value-0")
    assert again.status_code == 303
    assert headers() == {"Authorization": "Bearer 2"}


def test_what_somebody_else_changed_meanwhile_is_not_overwritten(world, refunds, reads_ana):
    page = save(reads_ana, seen_at="2020-01-01T00:00:00+00:00", url=f"{URL}/late")
    nonsense = save(reads_ana, seen_at="yesterday", url=f"{URL}/late")

    assert (page.status_code, nonsense.status_code) == (409, 409)
    assert "This agent was changed in the meantime" in words(page)
    assert Endpoint.objects.get().url == URL


def test_an_agent_that_runs_here_cannot_be_changed(reads_ana):
    assert reads_ana.get("/agents/rehearsal/change/").status_code == 404


# -- testing --------------------------------------------------------------------------------------


def test_a_test_says_what_it_found(world, elsewhere, reads_ana, reads_alice):
    set_remote_agent(
        team_id=world.team.pk, slug="refunds", url=elsewhere.url, headers={}, actor=SEED
    )
    elsewhere.runs = [REFUSAL]
    elsewhere.capabilities = {
        "identity": {"name": "<b>Refunds\u202e</b>"},
        "humanInTheLoop": {"interrupts": True},
    }

    went = reads_ana.client.post("/agents/refunds/test")
    page, hers = reads_ana.get("/agents/refunds/"), reads_alice.get("/agents/refunds/")

    assert (went.status_code, went["Location"]) == (303, "/agents/refunds/")
    text = words(page)
    assert "The agent responded correctly." in text
    assert "Protocol version 1.0 Dialect AG-UI 1.0" in text
    assert "humanInTheLoop.interrupts" in text
    assert "<b>Refunds⟨U+202E⟩</b>" in html.unescape(page.content.decode())
    assert "<b>Refunds" not in page.content.decode()
    assert "The agent responded correctly." in words(hers)
    assert "humanInTheLoop" not in words(hers)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("https://10.0.0.1/", "10.0.0.1 is in a private network"),
        ("https://127.0.0.1:1/", "127.0.0.1 is in a private network"),
    ],
)
def test_a_test_says_why_nobody_was_reached(world, reads_ana, url, sentence):
    set_remote_agent(team_id=world.team.pk, slug="refunds", url=url, headers={}, actor=SEED)

    reads_ana.client.post("/agents/refunds/test")

    assert sentence in words(reads_ana.get("/agents/refunds/"))
    assert "No connection" in words(reads_ana.get("/agents/"))


def test_an_agent_without_tls_is_shown_as_one_that_is_not_called(
    world, elsewhere, reads_ana, reads_alice, settings
):
    set_remote_agent(
        team_id=world.team.pk, slug="refunds", url=elsewhere.url, headers={}, actor=SEED
    )
    assert "The agent is not called." not in words(reads_ana.get("/agents/refunds/"))
    settings.PRIVATE_AGENT_HOSTS = frozenset()

    reads_ana.client.post("/agents/refunds/test")
    page, hers = reads_ana.get("/agents/refunds/"), reads_alice.get("/agents/refunds/")

    assert "The agent is not called. The URL must start with https://." in words(page)
    assert "127.0.0.1 is not contacted without TLS." in words(page)
    assert "The agent is not called." not in words(hers)
    assert elsewhere.sent == []


def test_a_test_of_an_agent_that_runs_here_is_refused_on_its_page(reads_ana):
    page = reads_ana.client.post("/agents/rehearsal/test")

    assert page.status_code == 409
    assert "there is no connection to test" in words(page)
