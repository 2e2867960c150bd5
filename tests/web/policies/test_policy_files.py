"""The file of a policy, and comparing its versions."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from inbox.models import PolicyDraft
from tests.support.policies.published import administrator, publish, rule, tool_is, up_to

PATH = "/teams/tests/policy/"


@pytest.fixture
def admin(client, world):
    client.force_login(type(world.bob).objects.get(pk=administrator(world).user_id))
    return client


def upload(client, content, seen=""):
    content = content if isinstance(content, bytes) else content.encode()
    file = SimpleUploadedFile("policy.json", content, "application/json")
    return client.post(f"{PATH}import", {"file": file, "seen": seen})


def test_an_exported_file_is_imported_as_the_same_draft(admin, world):
    version = publish(world, rule("small", "allow", tool_is("refund"), up_to(50), name="Ünder"))
    publish(world, rule("other", "ask"))
    second = world.team.policy_version

    response = admin.get(f"{PATH}export?version=1")
    assert response["Content-Disposition"].endswith('filename="policy-tests-version-1.json"')
    assert "Ünder" in response.content.decode()
    assert upload(admin, response.content, seen=second.digest).status_code == 303
    assert PolicyDraft.objects.get().body == version.body
    assert "policy-tests-draft" in admin.get(f"{PATH}export")["Content-Disposition"]


def test_a_file_with_errors_names_the_rules_and_stays_in_the_form(admin):
    rules = [rule("small", "ask"), {**rule("Big one", "ask"), "name": "Large refunds"}]
    response = upload(admin, json.dumps({"rules": rules}))

    text = response.content.decode()
    assert response.status_code == 422
    assert '<strong dir="auto">Large refunds</strong><code class="mono">/rules/1/id' in text
    assert "Large refunds&quot;" in text
    assert not PolicyDraft.objects.exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe", "not UTF-8"),
        (b'{"rules": "\0"}', "not UTF-8"),
        (b" " * (1024 * 1024 + 1), "at most 1024 KiB"),
        (b"{", "This is not valid JSON"),
        (b"[1]", ""),
        (b'{"rules": [1, null, {"id": {}}]}', "/rules/0"),
    ],
)
def test_a_file_that_is_no_policy_is_refused(admin, content, message):
    response = upload(admin, content)

    assert response.status_code == 422
    assert message in response.content.decode()
    assert not PolicyDraft.objects.exists()


def test_an_import_without_a_file_is_refused(admin):
    response = admin.post(f"{PATH}import", {"seen": ""})

    assert response.status_code == 422
    assert "Choose a file." in response.content.decode()


def test_a_file_does_not_replace_a_changed_draft(admin):
    upload(admin, json.dumps({"rules": [rule("first", "ask")]}))

    response = upload(admin, json.dumps({"rules": [rule("second", "ask")]}))
    assert response.status_code == 409
    assert "It was not replaced." in response.content.decode()
    assert "first" in PolicyDraft.objects.get().body


def test_two_versions_are_compared(admin, world):
    publish(world, rule("small", "allow", up_to(1)))
    publish(world, rule("small", "allow", up_to(2)))
    publish(world, rule("new", "ask"))

    text = admin.get(f"{PATH}changes/?before=1&after=2").content.decode()
    sentence = "When any agent calls any tool and amount is at most 1, run without asking."
    assert f"<del>{sentence}</del>" in text
    sentence = "When any agent calls any tool and amount is at most 2, run without asking."
    assert f"<ins>{sentence}</ins>" in text
    same = admin.get(f"{PATH}changes/?before=2&after=2").content.decode()
    assert "Both have the same rules." in same
    assert f"{PATH}changes/?before=2&amp;after=3" in admin.get(PATH).content.decode()
    for query in ("?before=9", "?after=9", "?before=x"):
        assert admin.get(f"{PATH}changes/{query}").status_code == 404


def test_reviewers_compare_and_export_and_do_not_import(client, world):
    publish(world, rule("small", "ask"))
    client.force_login(world.bob)

    assert client.get(f"{PATH}changes/").status_code == 200
    assert client.get(f"{PATH}export").status_code == 200
    assert upload(client, '{"rules": []}').status_code == 403
    assert "Import" not in client.get(PATH).content.decode()


def test_a_team_without_a_policy_has_nothing_to_export(admin):
    assert admin.get(f"{PATH}export").status_code == 404
    assert admin.get(f"{PATH}changes/").status_code == 404
