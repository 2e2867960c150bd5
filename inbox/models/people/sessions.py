"""Database sessions, stored under digests of their keys, so that rows contain no valid cookie."""

import hashlib
from datetime import datetime, timedelta
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.core.internal.httpkit import HTTP_USER_AGENT_MAX_LENGTH
from allauth.usersessions.models import UserSession, UserSessionManager
from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.http import HttpRequest

from inbox.models.statements import Select
from inbox.platform import clock


def stored_key(session_key: str | None) -> str:
    """Return the stored digest of a session key, "" for none; 160 bits fit columns of 40."""
    return hashlib.sha256(session_key.encode()).hexdigest()[:40] if session_key else ""


class SessionStore(db.SessionStore):
    """Django's sessions in the database, found by `stored_key` instead of the key itself."""

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
        row.expire_date = min(row.expire_date, _idle_until())
        return row

    def _get_session_from_db(self) -> Any:
        row = _SESSION.first(key=stored_key(self.session_key), now=clock.now())
        if row is None:
            self._session_key = None
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


def _idle_until() -> datetime:
    """Return the end of a session that is used now and not again."""
    return clock.now() + timedelta(seconds=settings.SESSION_IDLE_SECONDS)


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
    end = used.created_at + timedelta(seconds=settings.SESSION_COOKIE_AGE)
    rows = Session.objects.filter(session_key=used.session_key)
    rows.update(expire_date=min(end, _idle_until()))


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
