"""`manage.py policy`: a policy as a file for review in git."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from inbox.models import PolicyDraft, PolicyVersion
from tests.support.policies.published import administrator, publish, rule, tool_is, up_to
from tests.support.steps import start

SMALL = rule("small", "allow", tool_is("refund"), up_to(50))


def policy(action, *arguments, **options):
    out = StringIO()
    call_command("policy", action, *arguments, team="tests", stdout=out, **options)
    return out.getvalue()


def test_an_export_is_imported_again_as_the_same_policy(world, tmp_path):
    administrator(world)
    version = publish(world, SMALL, rule("big", "ask"))
    file = tmp_path / "policy.json"
    file.write_text(policy("export"))

    assert file.read_text().endswith("}\n")
    assert json.loads(file.read_text()) == json.loads(version.body)
    policy("import", str(file), user="erin")
    assert PolicyDraft.objects.get().body == version.body
    assert PolicyDraft.objects.get().author_label == "Erin"
    assert policy("export") == file.read_text()


def test_an_imported_draft_is_published_by_its_administrator(world, tmp_path):
    administrator(world)
    file = tmp_path / "policy.json"
    file.write_text(json.dumps({"rules": [SMALL]}))
    policy("import", str(file), user="erin")

    assert policy("publish", user="erin", comment="Begin") == "Published as version 1.\n"
    version = PolicyVersion.objects.get()
    assert (version.comment, version.publisher_label) == ("Begin", "Erin")


@pytest.mark.parametrize("user", ["", "nobody"])
@pytest.mark.parametrize("action", ["import", "publish"])
def test_a_change_needs_the_name_of_its_author(world, action, user):
    with pytest.raises(CommandError, match="--user NAME"):
        policy(action, user=user)


def test_a_reviewer_does_not_publish(world):
    publish(world, SMALL)

    with pytest.raises(CommandError, match="admin"):
        policy("publish", user="bob")


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "not valid JSON"), ('{"rules": [{"id": "a"}]}', "/rules/0/effect: This is missing.")],
)
def test_a_file_that_is_no_policy_is_refused(world, tmp_path, text, message):
    administrator(world)
    file = tmp_path / "policy.json"
    file.write_text(text)

    with pytest.raises(CommandError, match=message):
        policy("import", str(file), user="erin")
    with pytest.raises(CommandError, match="not valid JSON"):
        policy("import", str(tmp_path / "none.json"), user="erin")
    assert not PolicyDraft.objects.exists()


def test_a_backtest_prints_what_would_have_happened(world):
    start(world, "rehearse:tool_call")
    publish(world, rule("all", "allow", {"path": "/tool", "op": "present"}))

    assert policy("backtest").startswith("1 of 1 would have been allowed;")
    with pytest.raises(CommandError, match="from 1 to"):
        policy("backtest", requests=0)
    with pytest.raises(CommandError, match="Not found"):
        policy("backtest", policy_version=9)
