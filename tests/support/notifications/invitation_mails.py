"""The mails of invitations."""

from inbox.queries.runs import overdue
from inbox.sending.invitation_sender import send_invitation


def send_invitations() -> None:
    """Send the mails that are due, as a worker does."""
    for invitation_id in overdue.invitations_to_send():
        send_invitation(invitation_id)
