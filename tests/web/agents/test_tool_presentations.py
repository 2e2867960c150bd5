"""The pages on which a team chooses how calls of tools are preview, and what they change."""

import json

import pytest

from inbox.actions.agents.tool_presentations import set_tool_presentation
from inbox.models import ToolPresentation
from inbox.rules.people.access import SEED
from inbox.rules.presentations.registry import PresentationName, roles_of
from tests.integration.agents.test_remote_agents import refunds
from tests.support.agents.remote_agent_server import elsewhere
from tests.support.steps import open_interrupts, start
from tests.support.web import spec_examples as examples
from tests.support.web.pages import words

__all__ = ["elsewhere", "refunds"]

PATH = "/teams/tests/presentations/"
FORM = f"{PATH}tool/?tool=sendEmail&agent=refunds"


@pytest.fixture
def request_of(world, elsewhere, refunds):
    """A request of a remote agent for a call of `sendEmail` with these arguments."""

    def open_request(args, **more):
        run = examples.canonical({**examples.MINIMAL, **more})
        run[2]["delta"] = json.dumps(args)
        elsewhere.runs = [run]
        return open_interrupts(start(world, "go", agent=refunds))[0]

    return open_request


def fields(kind, **hints):
    """The form; `hints` are the fields of arguments, by the argument's name."""
    data = {"tool": "sendEmail", "agent": "refunds", "kind": kind, "action": "save"}
    for number, (name, hint) in enumerate(hints.items()):
        data[f"name-{number}"] = name
        data |= {f"{member}-{number}": text for member, text in hint.items()}
    return data


AMOUNT = {"label": "Amount to pay", "type": "money", "unit": "EUR", "role": "amount"}


def test_an_administrator_maps_a_tool_of_a_remote_agent(request_of, reads_ana, reads_bob):
    interrupt = request_of({"amt": 310, "who": "Kestrel"})
    assert "sendEmail" in words(reads_ana.get(PATH))

    saved = reads_ana.client.post(f"{PATH}save", fields("money", amt=AMOUNT, who={}))

    assert saved.status_code == 303
    assert "Amount to pay" in words(reads_ana.get(PATH))
    page = reads_bob.open(interrupt)
    payment = page.partition('class="payment"')[2].partition('class="values"')[0]
    assert "Amount to pay" in payment
    assert ">amt</code>" in payment
    assert "€310.00" in payment


def test_the_preview_stores_nothing_and_masks_secrets(request_of, reads_ana):
    request_of({"amt": 310, "password": "correct horse"})

    page = reads_ana.client.post(
        f"{PATH}save", {**fields("money", amt=AMOUNT), "action": "preview"}
    )

    text = page.content.decode()
    assert "310.00" in text.partition('class="payment"')[2]
    assert "correct horse" not in text
    assert "password" in text
    assert not ToolPresentation.objects.exists()
    preview = text.partition('id="preview-title"')[2].partition("</section>")[0]
    assert "<input" not in preview
    assert "<button" not in preview


def test_arguments_of_the_last_request_can_be_described(request_of, reads_ana):
    request_of({"amt": 310, "a\nb": 1})

    form = reads_ana.get(FORM).content.decode()

    assert 'name="name-0" value="amt"' in form
    assert 'name="label-1"' in form


def test_a_newline_in_an_argument_name_survives_the_form(request_of, reads_ana, reads_bob):
    interrupt = request_of({"a\nb": "text"})

    data = fields("generic", x={"label": "Both"}) | {"name-0": "a\r\nb"}
    reads_ana.client.post(f"{PATH}save", data)

    assert "Both" in reads_bob.open(interrupt)


def test_roles_of_another_presentation_are_left_out(request_of, reads_ana):
    request_of({"amt": 310})

    reads_ana.client.post(f"{PATH}save", fields("message", amt=AMOUNT))

    assert "role" not in ToolPresentation.objects.get().read_body()["values"]["amt"]


def test_a_refused_form_keeps_its_values(request_of, reads_ana):
    request_of({"amt": 310})

    refused = reads_ana.client.post(f"{PATH}save", fields("money", amt={"label": "Amount\u200b"}))

    assert refused.status_code == 422
    assert "visible characters" in words(refused)
    assert not ToolPresentation.objects.exists()


def test_a_removed_presentation_no_longer_applies(request_of, reads_ana, reads_bob):
    interrupt = request_of({"amt": 310})
    reads_ana.client.post(f"{PATH}save", fields("money", amt=AMOUNT))
    row = ToolPresentation.objects.get()

    removed = reads_ana.client.post(f"/presentations/{row.pk}/remove")

    assert removed.status_code == 303
    assert "Amount to pay" not in reads_bob.open(interrupt)


@pytest.mark.parametrize("name", list(PresentationName))
def test_no_mapping_hides_a_value(world, request_of, reads_bob, name):
    args = {f"a{number}": f"value number {number}" for number, _ in enumerate(roles_of(name))}
    args["rest"] = "value of no role"
    hints = {
        argument: {"role": role, "label": f"Label of {role}", "type": kind}
        for argument, role, kind in zip(
            args,
            roles_of(name),
            ["diff", "markdown", "code", "json", "money", "text"] * 2,
            strict=False,
        )
    }
    set_tool_presentation(
        team_id=world.team.pk,
        agent="",
        tool="sendEmail",
        body={"kind": name, "values": hints},
        actor=SEED,
    )

    page = reads_bob.open(request_of(args))

    answer = page.partition('id="answer"')[2].partition("<summary>JSON</summary>")[0]
    for argument, value in args.items():
        assert value in answer
        assert argument == "rest" or f">{argument}</code>" in answer


def test_hostile_names_of_tools_and_arguments_are_text(world, request_of, reads_ana):
    evil = '"><script>alert(1)</script>'
    request_of({evil: evil})

    form = reads_ana.get(FORM).content.decode()

    assert "<script>alert" not in form
    assert "&lt;script&gt;alert" in form


def test_a_tool_without_requests_has_an_empty_preview(world, reads_ana):
    page = reads_ana.get(f"{PATH}tool/?tool=unseen")

    assert "This tool has opened no request yet." in words(page)


def test_reviewers_get_neither_the_page_nor_its_link(world, reads_bob):
    assert reads_bob.client.get(PATH).status_code == 403
    assert "Presentations" not in words(reads_bob.get("/teams/tests/"))
