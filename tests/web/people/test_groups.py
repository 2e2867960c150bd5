"""The page of a team's groups."""

from inbox.models import Group, GroupMember
from tests.support.web.pages import words

PATH = "/teams/tests/groups/"


def test_an_administrator_creates_fills_and_deletes_a_group(world, reads_ana, reads_bob):
    client = reads_ana.client
    client.post(f"{PATH}add", {"name": "finance"})
    client.post(f"{PATH}finance/add", {"user": world.alice.pk})

    assert "Alice alice" in words(reads_bob.get(PATH))

    client.post(f"{PATH}finance/{world.alice.pk}/remove")

    assert "Nobody is in this group." in words(reads_bob.get(PATH))
    assert not GroupMember.objects.exists()

    client.post(f"{PATH}finance/delete")

    assert not Group.objects.exists()


def test_a_bad_name_is_shown_again_with_the_reason(reads_ana):
    answer = reads_ana.client.post(f"{PATH}add", {"name": "Finance"})

    assert answer.status_code == 422
    assert 'value="Finance"' in answer.content.decode()
    assert "lowercase letters" in words(answer)


def test_members_see_groups_and_change_nothing(reads_ana, reads_bob):
    reads_ana.client.post(f"{PATH}add", {"name": "finance"})

    page = reads_bob.get(PATH)

    assert "finance" in words(page)
    assert (
        "<form" not in page.content.decode().partition('id="detail"')[2].partition("</section>")[0]
    )
    assert reads_bob.client.post(f"{PATH}finance/delete").status_code == 403


def test_a_user_that_is_no_number_is_not_found(reads_ana):
    reads_ana.client.post(f"{PATH}add", {"name": "finance"})

    assert reads_ana.client.post(f"{PATH}finance/add", {"user": "x"}).status_code == 404
