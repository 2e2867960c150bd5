"""The end of snoozes when something changes about a request."""

from uuid import UUID

from inbox.models import Snooze


def end_snoozes(interrupt_id: UUID, *, by: int) -> None:
    """Show an interrupt to everybody again but the person `by` who changed something about it."""
    Snooze.objects.filter(interrupt=interrupt_id).exclude(user=by).delete()
