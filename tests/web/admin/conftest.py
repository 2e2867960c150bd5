"""Sue, who runs the installation and belongs to no team, and what she finds in the admin."""

import pytest
from django.test import Client

from inbox.models import AuditEntry, User
from tests.support.http.openapi_responses import _only_described_answers
from tests.support.security.fixtures import callers, things

__all__ = ["_only_described_answers", "callers", "things"]


@pytest.fixture
def sue(db):
    """As `manage.py createsuperuser` makes one."""
    return User.objects.create_superuser("sue", "sue@example.com", "sue-password")


@pytest.fixture
def admin(sue):
    """Sue's browser, signed in as everybody is."""
    client = Client()
    client.post("/login/", {"username": "sue", "password": "sue-password"})
    return client


@pytest.fixture
def new_entries(admin):
    """What is added to the audit trail from now on, as (action, who); call it to look."""
    first = AuditEntry.objects.order_by("-pk").values_list("pk", flat=True).first() or 0

    def look():
        entries = AuditEntry.objects.filter(pk__gt=first).order_by("pk")
        return [(entry.action, entry.content["actor"]) for entry in entries]

    return look
