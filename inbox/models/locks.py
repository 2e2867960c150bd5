"""
Database locks, in the order in which a transaction takes them.

1. One directory.
2. The superusers, by id, then one user.
3. One session of an external agent.
4. One thread.
5. The active grants of the thread's agent, by id.
6. One row that administrators or the outbox change: an agent, an API key, a webhook, a saved view,
   a sink of checkpoints or entries, a second factor, a channel of notifications, the state of the
   background verification.
   A person who adds a channel is locked before it. When people leave: their keys, then their
   webhooks, each by id.
7. Teams, by id: for their settings and members, and for entries of their audit chains.
8. The audit chain of the installation (advisory).

Re-read anything that was loaded before a lock; it may be stale. On SQLite every transaction is
IMMEDIATE, which locks the whole database first. Locks are `NO KEY UPDATE` where other
rows refer to the locked one: inserting such a row would have to wait for `FOR UPDATE`.
"""

from collections.abc import Collection
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from allauth.mfa.models import Authenticator
from django.db import connection
from django.db.models import QuerySet

from inbox.models import (
    Agent,
    AgentSession,
    ApiKey,
    AuditVerification,
    Channel,
    CheckpointSink,
    Directory,
    EntrySink,
    Grant,
    SavedView,
    Team,
    Thread,
    User,
    WebhookEndpoint,
)
from inbox.models.statements import Params, Select
from inbox.platform.clock import database_now
from inbox.rules.errors import NotFound

# Advisory locks: any numbers, the same in every process.
_SWEEPER = 7_311_402
_SYSTEM_CHAIN = 7_311_403
_SIGNER = 7_311_404


def lock_thread(
    thread_id: UUID | None = None,
    *,
    with_team: bool = False,
    with_conversation: bool = False,
    **address: Any,
) -> tuple[Thread, datetime]:
    """
    Lock a thread for the rest of the transaction, then read the time.

    The thread is named by its id or by other fields. `with_team` reads the team as well, without
    locking it. The columns of the conversation are deferred; `with_conversation` reads them, the
    team and the agent.

    Raises:
        NotFound: there is no such thread.
    """
    columns = address or {"pk": thread_id}
    thread = _thread_lock(with_team, with_conversation, *columns).first(**columns)
    if thread is None:
        raise NotFound()
    return thread, database_now()


@cache
def _thread_lock(with_team: bool, with_conversation: bool, *columns: str) -> Select[Thread]:
    def queryset(params: Params) -> QuerySet[Thread]:
        # `of`: the lookup may join other tables, whose rows are not locked.
        rows = Thread.objects.select_for_update(of=("self",))
        if with_conversation:
            rows = rows.select_related("team", "agent")
        else:
            rows = rows.defer("messages", "state", "client_messages")
            rows = rows.select_related("team") if with_team else rows
        return rows.filter(**{column: getattr(params, column) for column in columns})

    return Select(queryset)


def lock_active_grants(agent_id: UUID) -> list[Grant]:
    """
    Lock the grants for an agent that have not ended, by id, and read their makers.

    Read the clock afterwards: a grant may expire while its lock is awaited.
    """
    return _ACTIVE_GRANTS.all(agent=agent_id)


_ACTIVE_GRANTS = Select(
    lambda params: (
        Grant.objects.select_for_update(no_key=True, of=("self",))
        .select_related("made_by")
        .filter(agent=params.agent, ended_at=None)
        .order_by("pk")
    )
)


def lock_session(agent_id: UUID, external_id: str) -> AgentSession | None:
    """
    Lock a session of an external agent, so that equal calls join one request.

    The new thread of a request is no concern of the order: nobody else can see it.
    """
    rows = AgentSession.objects.select_for_update(no_key=True)
    return rows.filter(agent=agent_id, external_id=external_id).first()


def lock_grant(grant_id: UUID) -> Grant | None:
    """Lock a grant, also an ended one."""
    return Grant.objects.select_for_update(no_key=True).filter(pk=grant_id).first()


def lock_directory(directory_id: UUID) -> Directory | None:
    """Lock a directory, so that its requests follow each other."""
    return Directory.objects.select_for_update(no_key=True).filter(pk=directory_id).first()


def lock_team(team_id: UUID) -> Team:
    """Lock a team; raises Team.DoesNotExist."""
    return Team.objects.select_for_update(no_key=True).get(pk=team_id)


def lock_all_teams() -> None:
    """Lock every team, by id."""
    list(Team.objects.select_for_update(no_key=True).order_by("pk").values_list("pk"))


def lock_first_team() -> None:
    """Lock one team that `lock_all_teams` locks first, if there are teams."""
    list(Team.objects.select_for_update(no_key=True).order_by("pk").values_list("pk")[:1])


def lock_teams(team_ids: Collection[UUID]) -> list[Team]:
    """Lock the teams that exist, by id."""
    return list(Team.objects.select_for_update(no_key=True).filter(pk__in=team_ids).order_by("pk"))


def lock_agent(slug: str) -> Agent | None:
    """Lock the agent with this slug."""
    return Agent.objects.select_for_update(no_key=True).filter(slug=slug).first()


def lock_api_key(key_id: UUID) -> ApiKey | None:
    """Lock an API key, and read its team and agent."""
    rows = ApiKey.objects.select_for_update(no_key=True, of=("self",))
    return rows.select_related("team", "agent").filter(pk=key_id).first()


def lock_credentials(user_ids: Collection[int], team_id: UUID | None = None) -> None:
    """
    Lock the keys of people, then their webhooks, each by id: in one team, or in all.

    Call it before locking teams, and read the rows afterwards.
    """
    of_team = {} if team_id is None else {"team": team_id}
    keys = ApiKey.objects.filter(ApiKey.owned_by(user_ids), revoked_at=None, **of_team)
    list(keys.select_for_update(no_key=True).order_by("pk").values_list("pk"))
    webhooks = WebhookEndpoint.objects.filter(owner__in=user_ids, removed_at=None, **of_team)
    list(webhooks.select_for_update(no_key=True).order_by("pk").values_list("pk"))


def lock_webhook(endpoint_id: UUID) -> WebhookEndpoint | None:
    """Lock a webhook, also a removed one."""
    return WebhookEndpoint.objects.select_for_update(no_key=True).filter(pk=endpoint_id).first()


def lock_person(user_id: int) -> None:
    """Lock a person before their channels, so that concurrent requests respect a limit."""
    User.objects.select_for_update(no_key=True).filter(pk=user_id).first()


def lock_channel(channel_id: UUID) -> Channel | None:
    """Lock a channel for notifications."""
    return Channel.objects.select_for_update(no_key=True).filter(pk=channel_id).first()


def lock_saved_view(view_id: UUID) -> SavedView | None:
    return SavedView.objects.select_for_update().filter(pk=view_id).first()


def lock_superusers() -> list[User]:
    """Lock all superusers, by id, which serialises changes of installation administrators."""
    rows = User.objects.select_for_update(no_key=True).filter(is_superuser=True)
    return list(rows.order_by("pk"))


def lock_user(**lookup: Any) -> User | None:
    """Lock a user; call `lock_superusers` first."""
    return User.objects.select_for_update(no_key=True).filter(**lookup).first()


def lock_factor(factor_id: int) -> Authenticator | None:
    """Lock a second factor, as allauth does to mark a recovery code as used."""
    return Authenticator.objects.select_for_update().filter(pk=factor_id).first()


def lock_checkpoint_sink(address: str) -> CheckpointSink:
    """Lock the state of a checkpoint sink; raises CheckpointSink.DoesNotExist."""
    return CheckpointSink.objects.select_for_update().get(address=address)


def lock_entry_sink(address: str) -> EntrySink:
    """Lock the state of a sink of audit entries; raises EntrySink.DoesNotExist."""
    return EntrySink.objects.select_for_update().get(address=address)


def lock_background_verification() -> AuditVerification:
    """Lock the state of the background verification; raises AuditVerification.DoesNotExist."""
    return AuditVerification.objects.select_for_update().get(pk=1)


def lock_system_chain() -> None:
    """Lock the audit chain of the installation, which has no row to lock."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_SYSTEM_CHAIN])


def hold_sweeper_lock(*, silent_seconds: float) -> bool:
    """Return whether this session holds the sweeper's lock, and take it if nobody does."""
    return _hold(_SWEEPER, silent_seconds)


def hold_signer_lock(*, silent_seconds: float) -> bool:
    """Return whether this session holds the signer's lock, and take it if nobody does."""
    return _hold(_SIGNER, silent_seconds)


def _hold(lock: int, silent_seconds: float) -> bool:
    """
    Return whether this session holds an advisory lock, and take it if nobody does.

    The lock lasts as long as the session; the server ends a session that is idle for
    `silent_seconds`. SQLite has one process, which holds it always.
    """
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = %s "
            "AND pid = pg_backend_pid())",
            [lock],
        )
        (is_held,) = cursor.fetchone()
        if not is_held:
            cursor.execute("SELECT pg_try_advisory_lock(%s)", [lock])
            (is_held,) = cursor.fetchone()
            if is_held:
                timeout = str(round(silent_seconds * 1000))
                cursor.execute("SELECT set_config('idle_session_timeout', %s, false)", [timeout])
    return bool(is_held)
