"""The policy of the installation, on its page and over REST."""

import json

import pytest

from inbox.models import PolicyVersion, User
from tests.support.policies.published import administrator, rule, tool_is

PAGE = "/installation/policy/"
PATH = "/api/installation/policy"
STOP = {"rules": [rule("stop", "deny", tool_is("drop_table"), name="No dropped tables")]}
ALLOW = {"rules": [rule("go", "allow", tool_is("read"))]}


@pytest.fixture
def root(client, world):
    client.force_login(User.objects.create_superuser("root", password="root-password"))
    return client


def post(client, action, document, **more):
    text = document if isinstance(document, str) else json.dumps(document)
    return client.post(f"{PAGE}{action}", {"document": text, "seen": "0", **more})


def test_an_empty_installation_has_no_policy(root):
    assert "The installation has no policy" in root.get(PAGE).content.decode()


def test_checking_shows_the_changes_and_stores_nothing(root):
    page = post(root, "check", STOP).content.decode()

    assert "No dropped tables" in page
    assert "Publish for all teams" in page
    assert not PolicyVersion.objects.exists()


def test_publishing_puts_the_policy_in_force_for_all_teams(root, world):
    response = post(root, "publish", STOP, comment="After the incident")

    assert response.status_code == 303
    version = PolicyVersion.objects.get(team=None)
    world.team.refresh_from_db()
    assert world.team.installation_version == version
    page = root.get(PAGE).content.decode()
    assert "After the incident" in page
    assert "No dropped tables" in page


@pytest.mark.parametrize("document", ["{", "[]", json.dumps(ALLOW), '{"rules": [{}]}'])
@pytest.mark.parametrize("action", ["check", "publish"])
def test_a_document_with_problems_is_shown_again(root, action, document):
    response = post(root, action, document)

    assert response.status_code == 422
    assert 'aria-invalid="true"' in response.content.decode()
    assert not PolicyVersion.objects.exists()


def test_a_version_of_another_superuser_is_not_replaced_unseen(root):
    post(root, "publish", STOP)

    response = post(root, "publish", {"rules": []})

    assert response.status_code == 409
    assert PolicyVersion.objects.count() == 1


def test_an_earlier_version_can_be_published_again(root):
    post(root, "publish", STOP)
    post(root, "publish", {"rules": []}, seen="1")

    page = root.get(f"{PAGE}1/")

    assert "No dropped tables" in page.content.decode()
    assert root.get(f"{PAGE}9/").status_code == 404


def test_others_do_not_see_the_page(client, world):
    admin = administrator(world)
    client.force_login(User.objects.get(pk=admin.user_id))

    assert client.get(PAGE).status_code == 403
    assert post(client, "publish", STOP).status_code == 403
    assert client.get(PATH).status_code == 403


def test_superusers_publish_over_rest(root):
    body = {"policy": STOP, "version": 0, "comment": "First"}
    response = root.post(PATH, body, content_type="application/json")

    assert response.status_code == 201
    assert response.json()["number"] == 1
    (version,) = root.get(PATH).json()["results"]
    assert (version["comment"], version["policy"]["rules"][0]["id"]) == ("First", "stop")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"policy": ALLOW}, 422),
        ({"policy": {"rules": 1}}, 422),
        ({"policy": []}, 400),
        ({"policy": STOP, "version": 3}, 409),
        ({"policy": STOP, "version": -1}, 400),
    ],
)
def test_a_refused_publication_over_rest_stores_nothing(root, body, status):
    response = root.post(PATH, body, content_type="application/json")

    assert response.status_code == status
    assert not PolicyVersion.objects.exists()
