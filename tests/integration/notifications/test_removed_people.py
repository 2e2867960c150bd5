"""People whom a directory removes or deactivates are not notified any more."""

import pytest
from allauth.account.models import EmailAddress
from django.core import mail

from inbox import sweeper
from inbox.actions.directories.directories import add_directory
from inbox.models import Notification
from inbox.rules.people.access import SEED
from tests.support.http.scim_client import ScimClient
from tests.support.notifications.subscribed import send_all, subscribe_person
from tests.support.steps import approve, open_interrupts, start


@pytest.mark.parametrize("how", ["deactivated", "removed"])
def test_who_is_removed_before_the_mail_gets_none(world, alice, bob, how):
    subscribe_person(alice, events=("decided",))
    address = EmailAddress.objects.get(user=world.alice).email
    _, token = add_directory(name="corp", links_accounts=True, actor=SEED)
    scim = ScimClient(token)
    person = scim.add_user("alice", emails=[{"value": address}]).json()["id"]
    approve(open_interrupts(start(world, "rehearse:tool_call", actor=alice))[0], bob)
    sweeper.send_notifications()

    if how == "deactivated":
        scim.deactivate(person)
    else:
        scim.call("DELETE", f"Users/{person}")
    send_all()

    assert not mail.outbox
    assert {notification.why for notification in Notification.objects.all()} == {"no_access"}
