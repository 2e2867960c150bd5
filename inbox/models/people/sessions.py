"""Database sessions, stored under digests of their keys, so that rows contain no valid cookie."""

import hashlib
from datetime import datetime, timedelta
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.core.internal.httpkit import HTTP_USER_AGENT_MAX_LENGTH
from allauth.usersessions.models import UserSession, UserSessionManager
from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.http import HttpRequest

from inbox.models.people.teams import Membership
from inbox.models.statements import Select
from inbox.platform import clock
from inbox.rules.people.session_limits import SessionLimits


def stored_key(session_key: str | None) -> str:
    """Return the stored digest of a session key, "" for none; 160 bits fit columns of 40."""
    return hashlib.sha256(session_key.encode()).hexdigest()[:40] if session_key else ""


class SessionStore(db.SessionStore):
    """Django's sessions in the database, found by `stored_key` instead of the key itself."""

    #: When a loaded session ends, unless it is used again until then.
    ends_at: datetime | None = None

    @classmethod
    def copy_of(cls, stored: str) -> "SessionStore":
        """Return a readable copy of a stored session; an empty one if it has ended."""
        copy = cls()
        row = Session.objects.filter(session_key=stored, expire_date__gt=clock.now()).first()
        copy.update(copy.decode(row.session_data) if row else {})
        return copy

    def exists(self, session_key: str | None) -> bool:
        return super().exists(stored_key(session_key))

    def delete(self, session_key: str | None = None) -> None:
        if key := session_key or self.session_key:
            super().delete(stored_key(key))

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        row = super().create_model_instance(data)
        row.session_key = stored_key(row.session_key)
        user_id = data.get(SESSION_KEY)
        if user_id is None:
            row.expire_date = min(row.expire_date, clock.now() + default_limits().idle)
        else:
            end = _end_of_session(row.session_key, int(user_id))
            row.expire_date = min(row.expire_date, end)
        return row

    def _get_session_from_db(self) -> Any:
        row = _SESSION.first(key=stored_key(self.session_key), now=clock.now())
        if row is None:
            self._session_key = None
        else:
            self.ends_at = row.expire_date
        return row

    async def aexists(self, session_key: str | None) -> bool:
        return await sync_to_async(self.exists)(session_key)

    async def adelete(self, session_key: str | None = None) -> None:
        await sync_to_async(self.delete)(session_key)

    async def acreate_model_instance(self, data: dict[str, Any]) -> Any:
        return await sync_to_async(self.create_model_instance)(data)

    async def _aget_session_from_db(self) -> Any:
        return await sync_to_async(self._get_session_from_db)()

    def _validate_session_key(self, key: str | None) -> bool:
        """Return False for invalid keys: PostgreSQL rejects texts with NUL."""
        return bool(key and key.isascii() and key.isalnum() and len(key) >= 8)


_SESSION = Select(
    lambda params: Session.objects.filter(session_key=params.key, expire_date__gt=params.now)
)


def default_limits() -> SessionLimits:
    """Return the limits of the installation."""
    idle, total = settings.SESSION_IDLE_SECONDS, settings.SESSION_COOKIE_AGE
    return SessionLimits(timedelta(seconds=idle), timedelta(seconds=total))


def limits_of(user_id: int) -> SessionLimits:
    """Return the strictest limits of the installation and of a person's teams."""
    limits = default_limits()
    rows = Membership.objects.filter(user=user_id)
    for idle_minutes, hours in rows.values_list(
        "team__session_idle_minutes", "team__session_hours"
    ):
        limits = limits.shortened(idle_minutes=idle_minutes, hours=hours)
    return limits


def shorten_sessions(user_id: int) -> None:
    """Apply the limits of a person to their open sessions; longer limits apply at the next use."""
    limits = limits_of(user_id)
    for row in UserSession.objects.filter(user=user_id):
        end = limits.end_of(began_at=row.created_at, used_at=row.last_seen_at)
        rows = Session.objects.filter(session_key=row.session_key, expire_date__gt=end)
        rows.update(expire_date=end)


def _end_of_session(key: str, user_id: int) -> datetime:
    """Return the end of a session that is used now and not again."""
    now = clock.now()
    began_at = UserSession.objects.filter(session_key=key).values_list("created_at", flat=True)
    return limits_of(user_id).end_of(began_at=began_at.first() or now, used_at=now)


def _record_session_use(manager: Any, request: HttpRequest) -> None:
    """Record the time and the client of a request, and extend its session."""
    session: Any = request.session
    if not session.session_key:
        session.save()
    used, _ = manager.update_or_create(
        session_key=stored_key(session.session_key),
        defaults={
            "user": request.user,
            "ip": get_adapter().get_client_ip(request),
            "user_agent": request.META.get("HTTP_USER_AGENT", "")[:HTTP_USER_AGENT_MAX_LENGTH],
            "last_seen_at": clock.now(),
        },
    )
    limits = limits_of(used.user_id)
    end = limits.end_of(began_at=used.created_at, used_at=used.last_seen_at)
    Session.objects.filter(session_key=used.session_key).update(expire_date=end)
    session.ends_at = end


def _delete_ended_sessions(manager: Any, user: Any) -> list[UserSession]:
    """Delete the records of a user's ended sessions, and return the others."""
    live = Session.objects.filter(expire_date__gt=clock.now()).values("session_key")
    manager.filter(user=user).exclude(session_key__in=live).delete()
    return list(manager.filter(user=user))


def install() -> None:
    """Patch django-allauth to store sessions under the same digests; it has no setting for it."""
    manager: Any = UserSessionManager
    manager.create_from_request = _record_session_use
    manager.purge_and_list = _delete_ended_sessions
