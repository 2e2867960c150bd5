"""Deleting old rows about sign-ins and sessions."""

from datetime import timedelta

from allauth.usersessions.models import UserSession
from axes.models import AccessAttempt, AccessLog
from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone

#: django-axes reads attempts of the last quarter of an hour.
ATTEMPTS_KEPT = timedelta(days=1)
#: An address counts as known to a person for this long after a sign-in.
SIGN_INS_KEPT = timedelta(days=90)


@transaction.atomic(durable=True)
def delete_stale_rows() -> int:
    """Delete old attempts, old sign-ins and expired sessions; return the number of rows."""
    now = timezone.now()
    sessions = Session.objects.values("session_key")
    stale = (
        AccessAttempt.objects.filter(attempt_time__lt=now - ATTEMPTS_KEPT),
        AccessLog.objects.filter(attempt_time__lt=now - SIGN_INS_KEPT),
        Session.objects.filter(expire_date__lt=now),
        UserSession.objects.exclude(session_key__in=sessions),  # after the sessions themselves
    )
    return sum(rows.delete()[0] for rows in stale)
