"""REST: invitations to a team."""

from urllib.parse import urlsplit

import pytest
from django.core import mail
from django.test import Client

from tests.support.notifications.invitation_mails import send_invitations

PATH = "/api/teams/tests/invitations"
NORA = {"email": "nora@example.com", "role": "reviewer"}


@pytest.fixture
def admin(key_with):
    """A machine that may do everything in the team."""
    return key_with("read", "run", "decide", "admin")


def test_somebody_is_invited_and_listed(admin, world, settings):
    settings.SENDS_MAIL = True

    response = admin.post(PATH, NORA)

    answer = response.json()
    assert (response.status_code, answer["mail"], answer.pop("link")) == (201, "sending", None)
    assert admin.get(PATH).json()["results"] == [answer]
    send_invitations()
    assert mail.outbox[0].to == ["nora@example.com"]
    assert admin.get(PATH).json()["results"] == [{**answer, "mail": "sent"}]


def test_where_no_mail_is_sent_the_link_is_in_this_answer_only(admin, world):
    link = admin.post(PATH, NORA).json()["link"]

    assert Client().get(urlsplit(link).path).status_code == 200
    assert link.split("/")[-2] not in admin.get(PATH).content.decode()


def test_an_invitation_is_sent_again_and_withdrawn(admin, world):
    invitation = admin.post(PATH, NORA).json()
    path = f"/api/invitations/{invitation['id']}"
    again = admin.post(f"{path}/resend", {})

    assert (again.status_code, again.json()["id"]) == (200, invitation["id"])
    assert Client().get(urlsplit(invitation["link"]).path).status_code == 404
    assert [admin.delete(path).status_code for _ in range(2)] == [204, 204]
    refused = admin.post(f"{path}/resend", {})
    assert (refused.status_code, refused.json()["code"]) == (409, "INVITATION_ENDED")
    assert admin.get(PATH).json()["results"] == []


def test_an_invitation_is_sent_again_five_times_an_hour(admin, world):
    path = f"/api/invitations/{admin.post(PATH, NORA).json()['id']}/resend"

    answers = [admin.post(path, {}) for _ in range(6)]

    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert answers[-1].json()["code"] == "RATE_LIMITED"
    assert int(answers[-1].headers["Retry-After"]) > 0


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"email": "nora"}, 422),
        ({"email": "nora@example.com\nBcc: a@b.com"}, 422),
        ({"email": f"{'n' * 250}@example.com"}, 400),
        ({"email": " "}, 400),
        ({"email": 1}, 400),
        ({"role": "king"}, 400),
    ],
)
def test_what_cannot_be_invited_is_refused(admin, world, wrong, status):
    assert admin.post(PATH, NORA | wrong).status_code == status


def test_a_machine_gives_no_role_that_may_do_more_than_itself(key_with):
    refused = key_with("read", "admin").post(PATH, NORA)

    assert (refused.status_code, refused.json()["code"]) == (403, "MORE_THAN_OWN")


def test_the_list_is_read_a_page_at_a_time(admin, world):
    names = [f"{number}@example.com" for number in range(3)]
    for name in names:
        admin.post(PATH, NORA | {"email": name})

    first = admin.get(f"{PATH}?limit=2").json()
    second = admin.get(f"{PATH}?limit=2&after={first['next_after']}").json()

    assert [invitation["email"] for invitation in first["results"] + second["results"]] == names[
        ::-1
    ]
    assert second["next_after"] is None
