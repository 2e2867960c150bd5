"""Each example of the specifications on its page: what is shown, the buttons, what is sent back."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.agents.remote_agent_server import RemoteEndpoint
from tests.support.browser.site import Site, edit_value, open_site, wait_for
from tests.support.processes import embedded_environment, manage
from tests.support.web import spec_examples as examples

pytestmark = pytest.mark.browser

_PRIVATE = {"SIGNOFF_PRIVATE_AGENT_HOSTS": "127.0.0.1"}


@pytest.fixture(scope="module")
def agent() -> Iterator[RemoteEndpoint]:
    server = RemoteEndpoint()
    yield server
    server.close()


@pytest.fixture(scope="module")
def site(
    chromium: Browser, agent: RemoteEndpoint, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    data = tmp_path_factory.mktemp("examples")
    with open_site(data, chromium, **_PRIVATE) as site:
        environment = embedded_environment(data, **_PRIVATE)
        manage(environment, "add_remote_agent", "desk", agent.url, "--team", "demo")
        yield site


@pytest.fixture
def page(site: Site) -> Iterator[Page]:
    site.call_everything_off()
    with site.open_as("marco") as page:
        yield page


@pytest.fixture
def ask(site: Site, agent: RemoteEndpoint, page: Page) -> Any:
    """Let the agent ask, and open the page of its first question."""

    def ask(events: list[dict[str, Any]], number: int = 1) -> list[dict[str, Any]]:
        agent.runs[:] = [events, examples.ended()]
        agent.sent.clear()
        interrupts = site._interrupts_of(site.start("Go on.", agent="desk"), number)
        site.open(page, interrupts[0])
        return interrupts

    return ask


@pytest.fixture
def sent_resume(agent: RemoteEndpoint) -> Any:
    """
    What the agent was sent to resume, once it was.

    Who decided stands beside each payload; older dialects have no place for it.
    """

    def wait_for_resume() -> Any:
        sent = wait_for(lambda: agent.sent[1:] and agent.sent[1])
        entries = sent.get("resume")
        for entry in entries if isinstance(entries, list) else ():
            metadata = entry.pop("metadata", None)
            assert "command" in sent["forwardedProps"] or metadata.keys() == {"signoff"}
        return sent

    return wait_for_resume


def buttons(page: Page) -> list[str]:
    """The words of the buttons of the bar, without their keys and the title after them."""
    labels = page.locator("#decide-buttons button > span:not(.vh)")
    return [text.strip().split("\n")[0] for text in labels.all_inner_texts()]


def facts(page: Page) -> dict[str, str]:
    names = page.locator(".facts > .fact > dt").all_inner_texts()
    return dict(zip(names, page.locator(".facts > .fact > dd").all_inner_texts(), strict=True))


def values(page: Page) -> dict[str, str]:
    """The values to read, by their labels."""
    labels = page.locator(".value-label").all_inner_texts()
    return dict(zip(labels, page.locator(".value-body").all_inner_texts(), strict=True))


def press(page: Page, name: str) -> None:
    page.locator(f"#decide-buttons button[value={name}]").click()
    page.wait_for_url("**done=**")


def no_json_box(page: Page) -> Locator:
    return page.locator("#answer textarea.code")


# -- AG-UI interrupts -----------------------------------------------------------------------------


def test_the_minimal_tool_approval_takes_a_yes_and_no_edits(page, ask, sent_resume):
    ask(examples.canonical(examples.MINIMAL))
    assert buttons(page) == ["Approve", "Reject"]
    expect(page.locator("#properties .tool")).to_have_text("sendEmail")
    expect(page.locator(".words")).to_contain_text(examples.MINIMAL["message"])
    expect(page.locator("#answer input, #answer textarea")).to_have_count(0)

    press(page, "approve")

    assert sent_resume()["resume"] == [
        {"interruptId": "int-abc123", "status": "resolved", "payload": {"approved": True}}
    ]


def test_an_approval_with_edits_sends_the_whole_arguments(page, ask, sent_resume):
    ask(examples.canonical(examples.WITH_EDITS))
    assert buttons(page) == ["Approve", "Reject"]
    assert facts(page) == {
        "Langgraph": "Checkpoint ID\nckpt-xyz\nNode ID\ntool_executor",
    }
    expect(page.locator(".letter .value-label")).to_have_text(["To", "Subject", "Body"])
    edit_value(page, "#f-args-body").fill("Hi (revised per my note)")
    expect(page.locator("#approve-label")).to_have_text("Approve with 1 change")

    press(page, "approve")

    edited = {"to": "a@b.com", "subject": "Hi", "body": "Hi (revised per my note)"}
    assert sent_resume()["resume"] == [
        {
            "interruptId": "int-email-edit",
            "status": "resolved",
            "payload": {"approved": True, "editedArgs": edited},
        }
    ]


def test_parallel_approvals_without_a_schema_are_plain_ones(site, page, ask, sent_resume):
    interrupts = ask(examples.canonical(*examples.PARALLEL), number=3)
    for interrupt in interrupts[:2]:
        site.open(page, interrupt)
        assert buttons(page) == ["Approve", "Reject"]
        expect(page.locator("#answer input, #answer textarea")).to_have_count(0)
        press(page, "approve")
    site.decide(interrupts[2], status="cancelled")

    assert sent_resume()["resume"] == [
        {"interruptId": "i-1", "status": "resolved", "payload": {"approved": True}},
        {"interruptId": "i-2", "status": "resolved", "payload": {"approved": True}},
        {"interruptId": "i-3", "status": "cancelled"},
    ]


def test_an_input_request_is_a_form(page, ask, sent_resume):
    ask(examples.canonical(examples.FILING))
    assert buttons(page) == ["Send answer", "Cancel request"]
    expect(page.locator(".words")).to_contain_text(examples.FILING["message"])
    page.get_by_label("Q1").check()
    page.locator("#f-answer-year").fill("2026")
    page.locator("#f-answer-revenue").fill("4200000")

    press(page, "answer")

    assert sent_resume()["resume"] == [
        {
            "interruptId": "int-form",
            "status": "resolved",
            "payload": {"quarter": "Q1", "year": 2026, "revenue": 4200000},
        }
    ]


@pytest.mark.parametrize(("button", "payload"), [("yes", True), ("no", False)])
def test_a_confirmation_is_yes_or_no(page, ask, sent_resume, button, payload):
    ask(examples.canonical(examples.CONFIRMATION))
    assert buttons(page) == ["Yes", "No", "Cancel request"]
    expect(page.locator("#answer input, #answer textarea")).to_have_count(0)

    press(page, button)

    assert sent_resume()["resume"][0]["payload"] is payload


def test_any_other_reason_without_a_schema_takes_text(page, ask, sent_resume):
    ask(examples.canonical(examples.CUSTOM))
    assert buttons(page) == ["Send answer", "Cancel request"]
    expect(no_json_box(page)).to_have_count(0)
    page.locator("#decide-buttons button[value=answer]").click()
    expect(page.locator("#banner [role=alert]")).to_be_visible()
    page.locator("#f-answer").fill("true: we are late")

    press(page, "answer")

    assert sent_resume()["resume"][0]["payload"] == "true: we are late"


# -- the draft of 2025 ----------------------------------------------------------------------------


def test_a_proposal_of_the_draft_is_a_call_with_arguments(page, ask, sent_resume):
    ask(examples.draft(examples.PROPOSAL))
    assert buttons(page) == ["Approve", "Reject"]
    expect(page.locator("#properties .tool")).to_have_text("sendEmail")
    expect(page.locator("#detail-title")).to_contain_text("sendEmail")
    assert values(page) == {"To": "a@b.com", "Subject": "Hi", "Body": "…"}
    expect(page.locator(".letter")).to_be_visible()
    expect(no_json_box(page)).to_have_count(0)

    press(page, "approve")

    assert sent_resume()["resume"] == {"interruptId": "int-abc123", "payload": {"approved": True}}


def test_changed_arguments_of_a_proposal_go_back_as_modifications(page, ask, sent_resume):
    ask(examples.draft(examples.PROPOSAL))
    edit_value(page, "#f-args-subject").fill("Hello")
    expect(page.locator("#approve-label")).to_have_text("Approve with 1 change")

    press(page, "approve")

    assert sent_resume()["resume"]["payload"] == {
        "approved": True,
        "modifications": {"subject": "Hello"},
    }


@pytest.fixture
def database(page: Page, ask: Any) -> None:
    ask(examples.draft(examples.DATABASE))
    assert buttons(page) == ["Approve", "Reject"]
    expect(page.locator("#detail-title")).to_have_text("Database modification")
    assert values(page) == {
        "Action": "DELETE",
        "Table": "users",
        "Affected rows": "42",
        "Query": examples.DATABASE["payload"]["query"],
        "Rollback plan": "Restore from backup snapshot-2025-01-23",
    }
    expect(page.locator(".slot pre .hl-k").first).to_have_text("DELETE")
    expect(page.locator("#properties .c-bad")).to_have_text("High risk, says the agent")
    expect(no_json_box(page)).to_have_count(0)


def test_a_database_modification_is_rejected_with_a_note(database, page, sent_resume):
    page.locator("#f-reason").fill("Not in office hours")

    press(page, "reject")

    assert sent_resume()["resume"] == {
        "interruptId": "approval-001",
        "payload": {"approved": False, "reason": "Not in office hours"},
    }


def test_a_database_modification_is_approved_with_modifications(database, page, sent_resume):
    for number, (name, kind) in enumerate((("batchSize", "Number"), ("dryRun", "Yes or no"))):
        add = page.get_by_role("button", name="Add", exact=False).filter(has_text="Add")
        add.last.click()
        rows = page.locator("[name$='@key']")
        expect(rows).to_have_count(number + 1)
        rows.nth(number).fill(name)
        choice = page.get_by_role("button", name=kind, exact=True).nth(number)
        choice.click()
        expect(choice).to_have_attribute("aria-pressed", "true")
    page.locator("#answer .input-num").fill("10")
    page.get_by_label("Yes", exact=True).check()

    press(page, "approve")

    assert sent_resume()["resume"] == {
        "interruptId": "approval-001",
        "payload": {"approved": True, "modifications": {"batchSize": 10, "dryRun": True}},
    }


# -- LangGraph's bridge ---------------------------------------------------------------------------


@pytest.fixture
def refund(page: Page, ask: Any) -> None:
    ask(examples.langgraph(examples.REFUND))
    assert buttons(page) == ["Approve", "Reject"]
    expect(page.locator("#detail-title")).to_have_text("Refund approval")
    expect(page.locator("#properties .tool-reason")).to_have_text("Refund approval")
    assert values(page) == {
        "Amount": "47.5",
        "Customer ID": "cus_a8x2k",
        "Reason": "Duplicate charge",
    }
    expect(page.locator(".payment")).to_be_visible()
    expect(no_json_box(page)).to_have_count(0)


@pytest.mark.parametrize(
    ("button", "amount", "answer"),
    [
        ("approve", None, {"approved": True}),
        ("reject", None, {"approved": False}),
        ("approve", "35.00", {"approved": True, "amount": 35.00}),
    ],
    ids=["approve", "reject", "approve with an edited field"],
)
def test_a_refund_is_answered_as_its_graph_reads_it(
    refund, page, sent_resume, button, amount, answer
):
    if amount:
        edit_value(page, "#f-args-amount").fill(amount)
        expect(page.locator("#changes .diff-body")).to_contain_text("47.5 → added: 35")

    press(page, button)

    assert sent_resume()["forwardedProps"] == {"command": {"resume": answer}}


def test_the_note_of_a_refund_goes_with_a_rejection_only(refund, page, sent_resume):
    page.locator("#f-reason").fill("Paid already")
    page.locator("#decide-buttons button[value=approve]").click()
    expect(page.locator("#banner [role=alert]")).to_contain_text(
        "Notes are sent with a rejection only"
    )

    press(page, "reject")

    assert sent_resume()["forwardedProps"] == {
        "command": {"resume": {"approved": False, "reason": "Paid already"}}
    }


# -- LangChain's middleware -----------------------------------------------------------------------


def by_tool(interrupts: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {interrupt["tool"]: interrupt for interrupt in interrupts}


def refusal(site: Site, interrupt: dict[str, Any], payload: Any) -> tuple[int, str]:
    """The status and the code that REST refuses an answer with."""
    with pytest.raises(HTTPError) as refused:
        site.decide(interrupt, payload)
    return refused.value.code, json.load(refused.value)["code"]


def test_each_action_of_a_review_is_a_call_with_its_own_decision(site, page, ask, sent_resume):
    interrupts = by_tool(ask(examples.review(), number=3))

    site.open(page, interrupts["send_email"])
    assert buttons(page) == ["Approve", "Reject"]
    expect(page.locator("#properties .tool")).to_have_text("send_email")
    expect(page.locator(".words")).to_contain_text("Tool execution requires approval")
    edit_value(page, "#f-args-body").fill("Good morning")
    press(page, "approve")
    site.open(page, interrupts["delete_rows"])
    assert buttons(page) == ["Approve", "Cancel request"]
    expect(page.locator("#answer pre").first).to_contain_text('"rows": 42')
    expect(page.locator("#answer input, #answer textarea, #f-reason")).to_have_count(0)
    press(page, "approve")
    site.open(page, interrupts["ask_person"])
    assert buttons(page) == ["Send answer", "Cancel request"]
    expect(page.locator("#answer pre").first).to_contain_text("Which quarter?")
    page.locator("#f-answer").fill("The third.")
    press(page, "answer")

    edited = {"name": "send_email", "args": {**examples.EMAIL, "body": "Good morning"}}
    assert sent_resume()["forwardedProps"] == {
        "command": {
            "resume": {
                examples.REVIEW_ID: {
                    "decisions": [
                        {"type": "edit", "edited_action": edited},
                        {"type": "approve"},
                        {"type": "respond", "message": "The third."},
                    ]
                }
            }
        }
    }


def test_decision_that_a_review_does_not_allow_is_refused(site, ask):
    interrupts = by_tool(ask(examples.review(), number=3))
    rows = interrupts["delete_rows"]

    edits = {"approved": True, "editedArgs": {"table": "users", "rows": 1}}
    assert refusal(site, rows, edits) == (422, "EDITS_NOT_OFFERED")
    for payload in ({"approved": False}, {"approved": True, "response": "Done"}, "Done"):
        assert refusal(site, rows, payload) == (422, "INVALID_PAYLOAD")
    assert refusal(site, interrupts["send_email"], {"approved": True, "response": "x"})[0] == 422
    assert refusal(site, interrupts["ask_person"], {"approved": True})[0] == 422
