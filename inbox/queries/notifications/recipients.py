"""The people who are notified of a request: they subscribed, and may decide it now."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING
from uuid import UUID

from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.db.models import Prefetch, Q

from inbox.models import (
    Agent,
    Announcement,
    Channel,
    Claim,
    GroupMember,
    Interrupt,
    InterruptView,
    Membership,
    NotificationSchedule,
    PolicyVersion,
    Subscription,
)
from inbox.models.statements import Select
from inbox.queries.policies.policies import stored_ruling
from inbox.queries.policies.quorum import Quorum, current_quorum
from inbox.rules.decisions.list_filters import InterruptFilter
from inbox.rules.errors import Forbidden
from inbox.rules.notifications.events import (
    ACTIVE_DELAY,
    AnnouncementKind,
    DeliveryMode,
    Reason,
    fits_a_slot,
)
from inbox.rules.notifications.schedule import NO_SCHEDULE, Schedule
from inbox.rules.people.access import DECIDERS, Actor, Role
from inbox.rules.policies.slots import Person
from inbox.rules.runs import states
from inbox.rules.text.messages import TranslatableMessage

if TYPE_CHECKING:
    from django.db.models import QuerySet


@dataclass(frozen=True)
class Subscriber:
    """A member of a team who may decide, with the subscription of one of their channels."""

    user_id: int
    person: Person
    subscription: Subscription
    schedule: Schedule


def subscribers_of(
    team_ids: Collection[UUID],
    channel: Channel | None = None,
    *,
    roles: Collection[Role] = DECIDERS,
) -> dict[UUID, list[Subscriber]]:
    """
    Return the subscribers of teams who have one of the roles there, or the one of this channel.

    A person is there once for each of their channels that is switched on and has a subscription.
    """
    of_people = Subscription.objects.filter(
        channel__user__isnull=False, channel__disabled_at=None, channel__removed_at=None
    )
    if channel is not None:
        of_people = of_people.filter(channel=channel)
    rows = Membership.objects.filter(
        team__in=team_ids,
        role__in=roles,
        user__is_active=True,
        user__in=of_people.values("channel__user"),
    )
    members = with_groups(rows)
    subscriptions: dict[int, list[Subscription]] = {}
    of_members = of_people.filter(channel__user__in={member.user_id for member in members})
    for row in of_members.select_related("channel").order_by("channel"):
        if row.channel.user_id is not None:
            subscriptions.setdefault(row.channel.user_id, []).append(row)
    rows_of_schedules = NotificationSchedule.objects.filter(user__in=subscriptions)
    schedules = {row.user_id: row.schedule for row in rows_of_schedules}
    subscribers: dict[UUID, list[Subscriber]] = {}
    for member in members:
        person = member_as_person(member)
        for subscription in subscriptions.get(member.user_id, ()):
            schedule = schedules.get(member.user_id, NO_SCHEDULE)
            subscriber = Subscriber(member.user_id, person, subscription, schedule)
            subscribers.setdefault(member.team_id, []).append(subscriber)
    return subscribers


def active_people(user_ids: Iterable[int], now: datetime) -> set[int]:
    """Return the people who have used the inbox in the last minute; the time is not exact."""
    sessions = UserSession.objects.filter(last_seen_at__gt=now - ACTIVE_DELAY)
    return set(sessions.filter(user__in=set(user_ids)).values_list("user_id", flat=True))


def with_groups(members: "QuerySet[Membership]") -> list[Membership]:
    """Return the members with their groups, for `member_as_person`."""
    groups = Prefetch("groups", GroupMember.objects.select_related("group"))
    return list(members.prefetch_related(groups))


def member_as_person(member: Membership) -> Person:
    """Return a member as the rules of policies see them; see `with_groups`."""
    names = frozenset(row.group.name for row in member.groups.all())
    return Person(str(member.user_id), member.role, names)


def chats_of(team_ids: Collection[UUID]) -> dict[UUID, list[Subscription]]:
    """Return the subscriptions of the chats of teams that are switched on."""
    rows = Subscription.objects.filter(
        channel__team__in=team_ids, channel__disabled_at=None, channel__removed_at=None
    )
    chats: dict[UUID, list[Subscription]] = {}
    for row in rows.select_related("channel"):
        if row.channel.team_id is not None:
            chats.setdefault(row.channel.team_id, []).append(row)
    return chats


def team_of(announcement: Announcement) -> UUID | None:
    """Return the team that an announcement is about, None for the installation and for tests."""
    if announcement.team_id is not None:
        return announcement.team_id
    about: Interrupt | PolicyVersion | Channel | Agent | None = (
        announcement.interrupt or announcement.version or announcement.channel or announcement.agent
    )
    return about.team_id if about else None


def administrators_of(team_id: UUID | None, user_id: int | None = None) -> set[int]:
    """
    Return the active administrators of a team who have a confirmed address, or one, by user id.

    For None, the installation, they are those of all teams and the superusers.
    """
    confirmed = EmailAddress.objects.filter(verified=True, user__is_active=True)
    if user_id is not None:
        confirmed = confirmed.filter(user=user_id)
    admins = Membership.objects.filter(role=Role.ADMIN)
    if team_id is not None:
        admins = admins.filter(team=team_id)
    people = Q(user__in=admins.values("user"))
    if team_id is None:
        people |= Q(user__is_superuser=True)
    return set(confirmed.filter(people).values_list("user", flat=True))


def may_decide(quorum: Quorum, person: Person) -> bool:
    """Return whether the policy and the team let the person approve the request of a quorum."""
    interrupt = quorum.interrupt
    if not fits_a_slot(person, quorum.slots):
        return False
    is_own = int(person.id) in interrupt.run.requester_person_ids
    return not (is_own and interrupt.is_proposal) or quorum.allows_self_approval


def is_urgent(interrupt: Interrupt) -> bool:
    """Return whether a rule of the policies has marked a request as urgent."""
    ruling = stored_ruling(interrupt)
    return bool(ruling and ruling.requirement and ruling.requirement.urgent)


def is_waiting(status: str | None, expires_at: datetime | None, now: datetime) -> bool:
    """Return whether a request of this status and expiry is open and has not expired."""
    is_late = expires_at is not None and expires_at <= now
    return status == states.InterruptStatus.OPEN and not is_late


@dataclass(frozen=True)
class Attention:
    """The requests to which people already pay attention, by id."""

    claimed: Collection[UUID]  #: by somebody else
    seen: Collection[UUID]  #: by the person


def attention_to(
    interrupts: Collection[Interrupt], user_id: int | None, now: datetime
) -> Attention:
    """Return the attention to requests, from the view of a person, or of nobody for a chat."""
    claims = Claim.objects.filter(interrupt__in=interrupts, until__gt=now)
    if user_id is None:
        return Attention(set(claims.values_list("interrupt_id", flat=True)), frozenset())
    views = InterruptView.objects.filter(interrupt__in=interrupts, user=user_id)
    return Attention(
        set(claims.exclude(user=user_id).values_list("interrupt_id", flat=True)),
        set(views.values_list("interrupt_id", flat=True)),
    )


def reason_to_drop(
    interrupt: Interrupt,
    kind: str,
    subscriber: Subscriber | None,
    attention: Attention,
    now: datetime,
) -> Reason | None:
    """Return why a notification that is due is not needed any more; None if it is."""
    if not is_waiting(interrupt.status, interrupt.expires_at, now):
        return Reason.CLOSED
    if (
        subscriber is None
        or subscriber.person.role not in DECIDERS
        or not may_decide(current_quorum(interrupt, now), subscriber.person)
    ):
        return Reason.NO_ACCESS
    return _reason_of(interrupt, kind, subscriber.subscription, attention)


def reason_to_drop_in_chat(
    interrupt: Interrupt,
    kind: str,
    subscription: Subscription,
    attention: Attention,
    now: datetime,
) -> Reason | None:
    """Return why a chat need not be told any more; None if it does."""
    if not is_waiting(interrupt.status, interrupt.expires_at, now):
        return Reason.CLOSED
    return _reason_of(interrupt, kind, subscription, attention)


def _reason_of(
    interrupt: Interrupt, kind: str, subscription: Subscription, attention: Attention
) -> Reason | None:
    if not is_chosen(interrupt, kind, subscription):
        return Reason.UNSUBSCRIBED
    if not _waits_for_people(kind, subscription):
        return None
    if interrupt.pk in attention.claimed:
        return Reason.CLAIMED
    return Reason.SEEN if interrupt.pk in attention.seen else None


def is_chosen(interrupt: Interrupt, kind: str, subscription: Subscription) -> bool:
    """Return whether a subscription has this event of this request; its agent and team are read."""
    if kind not in subscription.events:
        return False
    return not subscription.filter or _filter_of(subscription.filter).includes(
        team=interrupt.team.slug,
        agent=interrupt.agent.slug,
        tool=interrupt.tool,
        reason=interrupt.reason,
        search_text=interrupt.search_text,
    )


_filter_of = lru_cache(maxsize=512)(InterruptFilter.from_text)


def _waits_for_people(kind: str, subscription: Subscription) -> bool:
    return kind == AnnouncementKind.OPENED and subscription.mode != DeliveryMode.AT_ONCE


def person_of(actor: Actor) -> int:
    """Return the user id of an actor; raises Forbidden if it is no person."""
    if actor.user_id is None:
        raise Forbidden(TranslatableMessage("Only people get notifications."))
    return actor.user_id


def schedule_of(user_id: int) -> Schedule:
    """Return the times at which a person wants messages."""
    row = NotificationSchedule.objects.filter(user=user_id).first()
    return row.schedule if row else NO_SCHEDULE


def zone_of(user_id: int) -> str:
    """Return the time zone that a person has chosen, "" without a choice."""
    return _ZONES.first(user=user_id) or ""


_ZONES = Select(
    lambda params: NotificationSchedule.objects.filter(user=params.user).values_list(
        "zone", flat=True
    )
)


def with_addresses(user_ids: Collection[int]) -> set[int]:
    """Return those of the users who have a confirmed e-mail address."""
    rows = EmailAddress.objects.filter(user__in=user_ids, verified=True)
    return set(rows.values_list("user", flat=True))


def confirmed_address(user_id: int) -> str:
    """Return the confirmed primary e-mail address of a user, "" if there is none."""
    rows = EmailAddress.objects.filter(user=user_id, verified=True)
    row = rows.order_by("-primary", "pk").first()
    return row.email if row else ""
