"""The policy of the installation rules on the requests of all teams."""

import json
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command

from inbox.actions.people.members import make_team
from inbox.actions.people.provisioning import ensure_team
from inbox.actions.policies.installation import publish_installation_policy
from inbox.models import AuditEntry, Team, User
from inbox.queries.people.api_keys import actor_of_user
from inbox.queries.policies.policies import reasons_of
from inbox.rules import errors
from inbox.rules.people.access import SEED
from inbox.rules.policies.language.document import PolicyError
from inbox.transparency_log.reconciliation import reconcile
from tests.support.policies.published import publish, rule, tool_is, up_to
from tests.support.policies.replay import replay_all
from tests.support.steps import answer, open_interrupts, reread

SMALL = rule("small", "allow", tool_is("refund"), up_to(50))
LARGE = rule("large", "deny", {"path": "/args/amount", "op": "gt", "value": 1000})
PEOPLE = rule("people", "ask", tool_is("refund"), require={"grantable": False, "keys": False})


@pytest.fixture
def root(db):
    user = User.objects.create_superuser("root", password="root-password")
    return replace(actor_of_user(user), runs_installation=True)


def publish_for_all(root, *rules):
    return publish_installation_policy(body={"rules": list(rules)}, actor=root)


def test_a_team_without_a_policy_is_ruled_on(world, root, run_paying):
    version = publish_for_all(root, LARGE)
    run = run_paying({"amount": 2000}, {"amount": 40})

    denied, interrupt = run.interrupts.order_by("position")
    assert (denied.status, interrupt.status) == ("resolved", "open")
    assert denied.ruling.version is None
    assert denied.ruling.installation_version == version
    (entry,) = AuditEntry.objects.filter(interrupt=denied, action="interrupt.resolved")
    assert entry.content["detail"]["policy"] == {
        "effect": "deny",
        "version": None,
        "installation": version.digest,
        "rules": ["installation:large"],
    }


def test_the_stricter_of_both_policies_wins(world, root, run_paying):
    publish(world, SMALL)
    publish_for_all(root, PEOPLE)

    (interrupt,) = open_interrupts(run_paying({"amount": 1}))

    assert interrupt.ruling.effect == "ask"
    assert "people (installation, version 1)" in " ".join(reasons_of(interrupt, str))


def test_edited_arguments_are_ruled_on_by_both(world, bob, root, run_paying):
    publish(world, rule("asks", "ask", tool_is("refund")))
    publish_for_all(root, LARGE)
    (interrupt,) = open_interrupts(run_paying({"amount": 40}))

    with pytest.raises(errors.DeniedByPolicy, match="installation:large"):
        answer(interrupt, bob, {"approved": True, "editedArgs": {"amount": 4000}})
    answer(interrupt, bob, {"approved": True})
    assert reread(interrupt).status == "resolved"


def test_new_teams_have_the_policy(world, root):
    version = publish_for_all(root, LARGE)

    created = make_team(slug="new", name="New", actor=root)
    provisioned = ensure_team(slug="other", name="Other", actor=SEED)

    assert {created.installation_version_id, provisioned.installation_version_id} == {version.pk}
    assert set(Team.objects.values_list("installation_version", flat=True)) == {version.pk}


def test_the_installation_allows_nothing(root):
    with pytest.raises(PolicyError):
        publish_for_all(root, SMALL)


def test_administrators_of_teams_do_not_publish_it(world):
    with pytest.raises(errors.Forbidden):
        publish_for_all(world.actor(world.bob), LARGE)


def test_rulings_of_both_are_evaluated_again_to_the_same(world, bob, root, run_paying):
    run_paying({"amount": 1})
    publish_for_all(root, LARGE)
    run_paying({"amount": 2000})
    publish(world, SMALL)
    run_paying({"amount": 1}, {"amount": 500}, {"amount": 2000})

    assert replay_all() == {"number": 4, "differences": []}
    assert reconcile() == []


def test_open_requests_keep_their_rulings(world, bob, root, run_paying):
    (interrupt,) = open_interrupts(run_paying({"amount": 2000}))
    digest = interrupt.shown_digest

    publish_for_all(root, LARGE)

    assert reread(interrupt).shown_digest == digest
    answer(interrupt, bob, {"approved": True})


def test_the_page_of_a_team_shows_its_rules(world, root, client):
    publish_for_all(root, {**LARGE, "name": "No large refunds"})
    client.force_login(world.alice)

    page = client.get("/teams/tests/policy/").content.decode()

    assert "Policy of the installation" in page
    assert "No large refunds" in page


def test_it_is_published_and_exported_by_command(root, tmp_path, capsys):
    file = tmp_path / "policy.json"
    file.write_text(json.dumps({"rules": [LARGE]}))

    call_command("policy", "publish", str(file), installation=True, user="root")
    call_command("policy", "export", installation=True)

    output = capsys.readouterr().out
    assert "Published as version 1 of the installation." in output
    assert json.loads(output.partition("\n")[2]) == {"rules": [LARGE]}
    User.objects.filter(username="root").update(is_superuser=False)
    with pytest.raises(CommandError, match="superuser"):
        call_command("policy", "publish", str(file), installation=True, user="root")


def test_a_request_over_rest_names_both_versions(world, root, run_paying, client):
    publish_for_all(root, PEOPLE)
    (interrupt,) = open_interrupts(run_paying({"amount": 1}))
    client.force_login(world.alice)

    policy = client.get(f"/api/interrupts/{interrupt.pk}").json()["policy"]

    assert (policy["version"], policy["installation_version"]) == (None, 1)
    assert policy["rules"] == ["installation:people"]
