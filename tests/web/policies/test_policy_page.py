"""The page of a team's policy, and what a request says of it."""

import json
import re
from uuid import uuid4

import ag_ui.core as agui
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inbox.models import AuditEntry, PolicyDraft, PolicyVersion, ToolCall
from inbox.platform import append_only_triggers
from inbox.queries.policies.known_names import known_names
from inbox.queries.policies.policies import published_version
from tests.support.policies.published import administrator, publish, rule, tool_is, up_to
from tests.support.steps import open_interrupts, start
from tests.support.web.pages import words

PATH = "/teams/tests/policy/"


@pytest.fixture
def admin(client, world):
    client.force_login(type(world.bob).objects.get(pk=administrator(world).user_id))
    return client


def text(client, path=PATH):
    """Return the words of a page."""
    return words(client.get(path))


def page(client, path=PATH):
    response = client.get(path)
    assert response.status_code == 200
    return response.content.decode()


def test_a_team_without_a_policy_is_told_what_rules_do(admin):
    assert "people decide every request" in page(admin)


def test_open_requests_that_would_change_are_listed(admin, client, world):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    publish(world, rule("never", "deny", tool_is(interrupt.tool)))
    source = f'hx-get="{PATH}reapply/" hx-trigger="load" hx-select="#reapply-changes"'

    assert source in page(admin)
    part = page(admin, f"{PATH}reapply/").partition('id="reapply-changes"')[2]
    assert "1 open request would change." in part
    assert f"/interrupts/{interrupt.pk}/" in part
    client.force_login(world.bob)
    assert source not in page(client)


def test_rules_are_shown_as_sentences(admin, world):
    publish(world, rule("small", "allow", tool_is("refund"), up_to(50)))

    sentence = (
        "When <b>any agent</b> calls <b>refund</b> and <b>amount</b> is at most <b>50</b>, "
        "<b>run without asking</b>."
    )
    assert sentence in page(admin)


def seen(client):
    """The digest in the form for the whole policy."""
    return re.findall(r'name="seen" value="(\w*)"', page(client, f"{PATH}?edit=json"))[0]


def save(client, *rules):
    document = json.dumps({"rules": rules})
    client.post(f"{PATH}save", {"document": document, "seen": seen(client)})


def test_a_draft_is_published(admin):
    save(admin, rule("eyes", "ask", name="Four eyes", require={"self_approval": False}))
    draft = PolicyDraft.objects.get()
    assert "Four eyes" in page(admin)

    admin.post(f"{PATH}publish", {"digest": draft.digest, "comment": "Begin"})
    version = PolicyVersion.objects.get()
    assert (version.comment, version.digest) == ("Begin", draft.digest)
    assert "Begin" in page(admin)


def test_a_draft_that_cannot_be_read_shows_no_rules_and_takes_new_ones(admin):
    save(admin, rule("small", "ask"))
    PolicyDraft.objects.update(body="{")

    assert "The draft cannot be read. Save it again, or discard it." in page(admin)
    form = {"name": "New", "effect": "ask", "mode": "enforce", "via": ["web"], "save": "1"}
    admin.post(f"{PATH}new/add", {**form, "seen": PolicyDraft.objects.get().digest})
    assert '"name":"New"' in PolicyDraft.objects.get().body


def test_a_draft_that_changed_after_the_page_was_loaded_is_not_published(admin):
    save(admin, rule("small", "ask"))
    digest = PolicyDraft.objects.get().digest
    save(admin, rule("other", "ask"))

    response = admin.post(f"{PATH}publish", {"digest": digest})
    assert response.status_code == 409
    assert "has changed the draft" in response.content.decode()
    assert not PolicyVersion.objects.exists()


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{", "This is not valid JSON"),
        ("[" * 100_000, "This is not valid JSON"),
        ('{"rules": [{"id": "<b>"}]}', "/rules/0/id"),
    ],
)
def test_a_refused_document_stays_in_the_form(admin, document, message):
    response = admin.post(f"{PATH}save", {"document": document})

    text = response.content.decode()
    assert response.status_code == 422
    assert message in text
    assert "<b>" not in text
    assert not PolicyDraft.objects.exists()


def test_an_earlier_version_becomes_the_draft(admin, world):
    first = publish(world, rule("small", "allow", up_to(1)))
    publish(world, rule("small", "allow", up_to(2)))

    assert "<b>amount</b> is at most <b>1</b>" in page(admin, f"{PATH}1/")
    admin.post(f"{PATH}1/draft", {"seen": seen(admin)})
    assert PolicyDraft.objects.get().body == first.body


def test_a_document_does_not_overwrite_a_changed_draft(admin):
    before = seen(admin)
    save(admin, rule("other", "ask"))
    document = '{"rules": [{"id": "mine", "effect": "ask", "when": []}]}'

    response = admin.post(f"{PATH}save", {"document": document, "seen": before})
    text = response.content.decode()
    assert response.status_code == 409
    assert "has changed the draft in the meantime. It was not replaced." in text
    assert "&quot;mine&quot;" in text
    assert "other" in PolicyDraft.objects.get().body

    admin.post(f"{PATH}save", {"document": document, "seen": seen(admin)})
    assert "mine" in PolicyDraft.objects.get().body


def test_a_version_does_not_overwrite_a_changed_draft(admin, world):
    publish(world, rule("small", "allow", up_to(1)))
    publish(world, rule("small", "allow", up_to(2)))
    before = seen(admin)
    save(admin, rule("other", "ask"))

    assert admin.post(f"{PATH}1/draft", {"seen": before}).status_code == 409
    assert "other" in PolicyDraft.objects.get().body
    assert "Replace the draft with this version" in page(admin, f"{PATH}1/")


def test_a_published_draft_is_not_made_again(admin):
    save(admin, rule("small", "ask"))
    before = seen(admin)
    admin.post(f"{PATH}publish", {"digest": PolicyDraft.objects.get().digest})
    save(admin, rule("other", "ask"))
    admin.post(f"{PATH}discard")

    response = admin.post(f"{PATH}save", {"document": '{"rules": []}', "seen": "x" + before})
    assert "was published or discarded in the meantime" in response.content.decode()
    assert not PolicyDraft.objects.exists()


def test_a_shadow_rule_is_put_in_force_in_the_draft(admin, world):
    publish(world, rule("small", "deny", mode="shadow"))
    assert "Recorded for each request, without an effect. Putting it in force" in text(admin)
    assert "Put in force" in page(admin)

    admin.post(f"{PATH}rules/small/change", {"do": "on", "seen": seen(admin)})

    assert '"mode"' not in PolicyDraft.objects.get().body
    assert '"mode":"shadow"' in PolicyVersion.objects.get().body


@pytest.fixture
def corrupted(world):
    """The version in force, of which somebody has broken the row."""
    version = publish(world, rule("all", "allow", {"path": "/tool", "op": "present"}))
    append_only_triggers.remove(connection)
    PolicyVersion.objects.update(body=version.body[:-5])
    published_version.cache_clear()
    yield version
    published_version.cache_clear()


def test_an_unreadable_version_asks_and_is_on_every_page(admin, world, corrupted):
    run = start(world, "rehearse:tool_call")

    assert len(open_interrupts(run)) == 1
    assert AuditEntry.objects.filter(action="policy.unreadable", thread=run.thread_id).exists()
    for path in (PATH, "/teams/tests/", f"{PATH}1/"):
        assert "The policy in force cannot be read." in page(admin, path)
    assert admin.get("/api/teams/tests/policy").json()["unreadable"] is True
    page(admin, f"/interrupts/{run.interrupts.get().pk}/")


def test_no_banner_without_an_unreadable_version(admin, world):
    publish(world, rule("small", "ask"))

    assert "cannot be read" not in page(admin) + page(admin, "/teams/tests/")


def test_the_author_is_told_that_another_administrator_publishes(admin, client, world):
    type(world.team).objects.update(two_administrators=True)
    save(admin, rule("small", "ask"))
    assert "Another administrator has to publish your changes." in page(admin)
    digest = PolicyDraft.objects.get().digest
    assert admin.post(f"{PATH}publish", {"digest": digest}).status_code == 422

    frank = administrator(world, "frank")
    client.force_login(type(world.bob).objects.get(pk=frank.user_id))
    assert "Another administrator has" not in page(client)
    assert client.post(f"{PATH}publish", {"digest": digest}).status_code == 303


def test_the_warnings_take_one_query_for_all_tools(admin, world):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    publish(world, rule("known", "ask", tool_is(interrupt.tool)))
    call = ToolCall.objects.get()
    page(admin)
    with CaptureQueriesContext(connection) as queries:
        page(admin)
    for number in range(5):
        call.pk, call.name, call.tool_call_id = uuid4(), f"tool-{number}", f"c-{number}"
        call.save(force_insert=True)

    with CaptureQueriesContext(connection) as more:
        page(admin)
    assert len(more) == len(queries)
    assert known_names(world.team.pk).tools == {interrupt.tool, *(f"tool-{n}" for n in range(5))}


def test_a_draft_can_be_discarded(admin):
    save(admin, rule("small", "ask"))
    admin.post(f"{PATH}discard")

    assert not PolicyDraft.objects.exists()


def test_reviewers_see_the_policy_without_forms(client, world):
    publish(world, rule("small", "allow", tool_is("refund"), up_to(50)))
    client.force_login(world.bob)

    assert "Publish" not in page(client)
    for name in ("save", "new/add", "publish", "discard", "rules/small/change"):
        assert client.post(f"{PATH}{name}", {"do": "off"}).status_code == 403


def test_the_settings_of_a_team_forbid_self_approval(admin, world):
    fields = {"name": "Tests", "grace_seconds": "0"}
    for choice, setting in (("no", False), ("yes", True), ("", None)):
        admin.post("/teams/tests/save", {**fields, "self_approval": choice})

        world.team.refresh_from_db()
        assert world.team.self_approval is setting


def test_a_request_says_why_the_policy_asked(client, world):
    publish(world, rule("mails", "ask", name="E-mails"))
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    client.force_login(world.bob)

    text = page(client, f"/interrupts/{interrupt.pk}/")
    assert "Rule: <bdi>E-mails</bdi>" in text
    assert "E-mails (version 1) asked" in text


@pytest.mark.parametrize("name", ["password", "iban"])
def test_a_request_does_not_reveal_secrets_in_the_reasons(client, world, as_agent, name):
    publish(
        world,
        rule("secret", "ask", {"path": f"/args/{name}", "op": "starts_with", "value": "h"}),
    )
    call = {"tool_call_id": "c", "tool_call_name": "sign_in"}

    marked = {"properties": {"iban": {"type": "string", "writeOnly": True}}}
    schema = {"type": "object", "properties": {"editedArgs": {"type": "object", **marked}}}

    async def play(run_input, ctx):
        yield agui.ToolCallStartEvent(**call)
        yield agui.ToolCallArgsEvent(tool_call_id="c", delta=f'{{"{name}": "hunter2hunter2"}}')
        yield agui.ToolCallEndEvent(tool_call_id="c")
        interrupt = agui.Interrupt(
            id="i", reason="tool_call", tool_call_id="c", response_schema=schema
        )
        outcome = agui.RunFinishedInterruptOutcome(interrupts=[interrupt])
        yield agui.RunFinishedEvent(
            thread_id=run_input.thread_id, run_id=run_input.run_id, outcome=outcome
        )

    (interrupt,) = open_interrupts(start(world, "go", agent=as_agent(play)))
    client.force_login(world.bob)

    assert "hunter2" not in page(client, f"/interrupts/{interrupt.pk}/")


def test_a_decided_request_names_the_policy(client, world):
    publish(world, rule("all", "allow", {"path": "/tool", "op": "present"}))
    run = start(world, "rehearse:tool_call")
    client.force_login(world.bob)

    assert "The policy approved this" in page(client, f"/interrupts/{run.interrupts.get().pk}/")


def test_a_draft_shows_its_changes_and_the_warnings(admin, world):
    publish(world, rule("small", "allow", tool_is("refund"), up_to(50)), rule("gone", "deny"))
    policy = {"rules": [rule("small", "allow", tool_is("refund"), up_to(60)), rule("all", "ask")]}
    admin.put("/api/teams/tests/policy", {"policy": policy}, "application/json")

    html = page(admin)
    sentence = "When any agent calls refund and amount is at most 50, run without asking."
    assert f"<del>{sentence}</del>" in html
    sentence = "When any agent calls refund and amount is at most 60, run without asking."
    assert f"<ins>{sentence}</ins>" in html
    assert "<del>When any agent makes a request, deny.</del>" in html
    assert "all asks about every call, so no rule approves anything." in html
    assert "no agent of the team has called: refund" in html


def test_a_tool_that_was_called_is_known(admin, world):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    publish(world, rule("known", "ask", tool_is(interrupt.tool)))

    assert "has called" not in page(admin)
