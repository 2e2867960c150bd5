"""Making, using and ending grants."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.actions.webhooks import outbox
from inbox.models import Grant, Interrupt, Membership, Run, Thread
from inbox.models.locks import lock_active_grants, lock_grant, lock_thread
from inbox.platform.clock import database_now
from inbox.queries.people.access import permissions_in, require_current
from inbox.queries.people.api_keys import actor_of_user
from inbox.queries.people.groups import group_names_of
from inbox.queries.policies.policies import is_grantable, ruling_on
from inbox.rules import errors
from inbox.rules.decisions.consent import canonical_json
from inbox.rules.decisions.gate import GRANTING, Entrance
from inbox.rules.decisions.unseen import is_consent
from inbox.rules.people.access import POLICY, SWEEPER, Actor, Permission
from inbox.rules.policies.evaluation import Reason, Ruling
from inbox.rules.policies.grants import (
    MOST_ACTIVE,
    Bound,
    Call,
    GrantEnd,
    GrantRequest,
    GrantState,
    Refusal,
    covers,
    plan_grant,
    spend,
)
from inbox.rules.policies.language.policy import Effect
from inbox.rules.policies.requirement import MergedRequirement
from inbox.rules.policies.slots import Person, is_possible
from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.tool_call_outcome import is_approval
from inbox.rules.schema.mask_agui import secrets_of_arguments
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.webhooks.delivery_rules import EventType

#: Reasons to ask that do not come from a rule, so that they end no grant.
_PASSING_DOUBTS = frozenset(
    {
        Reason.NO_CALL,
        Reason.TOO_LARGE,
        Reason.DECEPTIVE,
        Reason.CIRCUIT_BREAKER,
        Reason.UNREADABLE,
        Reason.NO_ANSWER,
    }
)


def make_grant(
    *,
    thread: Thread,
    interrupt: Interrupt,
    entry: ResumeEntry,
    request: GrantRequest,
    actor: Actor,
    entrance: Entrance,
    is_unseen: bool,
    now: datetime,
) -> Grant:
    """
    Make a grant with the approval of a tool call, in its transaction.

    Raises:
        InvalidValue: no grant is possible here.
        GrantInvalid: the limits are above the caps or do not fit the call.
        MaskedNotSeen: the actor has not seen masked values of the call.
    """
    if entrance not in GRANTING or actor.user_id is None:
        raise errors.InvalidValue(
            TranslatableMessage("Only people can allow further calls, on the page or by REST.")
        )
    call = interrupt.tool_call
    if call is None or not is_approval(entry.payload):
        raise errors.InvalidValue(
            TranslatableMessage("Further calls can be allowed only while approving a tool call.")
        )
    if interrupt.run.is_self_approved_by(actor):
        raise errors.InvalidValue(
            TranslatableMessage(
                "You started this run, so somebody else has to allow further calls."
            )
        )
    args = json.loads(call.approved_args)
    if not _may_be_granted(interrupt, args):
        raise errors.InvalidValue(
            TranslatableMessage("Each of these calls needs a decision of its own.")
        )
    if is_unseen:
        raise errors.MaskedNotSeen(
            TranslatableMessage("Reveal the masked values before you allow further calls.")
        )
    terms = plan_grant(
        request,
        agent=str(thread.agent_id),
        thread=str(thread.pk),
        tool=interrupt.tool,
        args=args,
    )
    if Grant.objects.filter(agent=thread.agent_id, ended_at=None).count() >= MOST_ACTIVE:
        raise errors.InvalidValue(
            TranslatableMessage(
                "The agent has {most} active grants. Revoke one first.", most=MOST_ACTIVE
            )
        )
    grant = Grant.objects.create(
        team_id=thread.team_id,
        agent_id=thread.agent_id,
        thread=None if request.is_for_agent else thread,
        tool=interrupt.tool,
        terms=canonical_json(terms.to_json()),
        most_uses=terms.most_uses,
        budget=terms.budget.amount if terms.budget else None,
        expires_at=now + terms.time,
        made_by_id=actor.user_id,
        maker_label=actor.label[:160],
        made_from=interrupt,
        version_id=interrupt.ruling.version_id if interrupt.ruling else None,
        created_at=now,
    )
    audit_trail.record(
        "grant.made",
        actor,
        now,
        team_id=thread.team_id,
        interrupt=interrupt,
        grant=str(grant.pk),
        tool=grant.tool,
        scope="agent" if request.is_for_agent else "thread",
        limits=_limits_for_audit(interrupt, args, grant.state),
        most_uses=grant.most_uses,
        budget=terms.to_json()["budget"],
        expires_at=grant.expires_at.isoformat(),
    )
    outbox.grant_changed(EventType.GRANT_MADE, thread=thread, grant=grant, now=now)
    return grant


def _may_be_granted(interrupt: Interrupt, args: object) -> bool:
    """Return whether neither the call as asked nor the call as approved needs a person."""
    if interrupt.ruling is not None and args != json.loads(interrupt.args or "null"):
        ruling = ruling_on(interrupt, args)
        if ruling.effect is not Effect.ALLOW and not ruling.grantable:
            return False
    return is_grantable(interrupt)


def _limits_for_audit(interrupt: Interrupt, args: object, state: GrantState) -> dict[str, str]:
    """Return the limits without values; the request has the approved ones."""
    secrets = {place[0] for place in secrets_of_arguments(interrupt.body).places(args) if place}
    return {
        name: f"up_to {limit.value}"
        if limit.bound is Bound.UP_TO and name not in secrets
        else limit.bound.value
        for name, limit in state.terms.limits.items()
    }


class ActiveGrants:
    """
    The active grants for the agent of a thread, locked until the transaction ends.

    The caller holds the thread's lock.
    """

    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self._grants = lock_active_grants(thread.agent_id)
        # Only now: a grant may have expired while its lock was awaited.
        self._now = database_now() if self._grants else None

    def __bool__(self) -> bool:
        return bool(self._grants)

    def use(
        self,
        run: Run,
        interrupt: Interrupt,
        ruling: Ruling,
        *,
        version_id: UUID | None,
        is_answerable: bool,
    ) -> Grant | None:
        """
        Spend the first grant that approves an interrupt, and set it there; None if none does.

        The decision must follow in the same transaction. Grants that turn out to be over end.
        """
        for grant in self._matching(interrupt):
            maker = actor_of_user(grant.made_by)
            permissions = permissions_in(maker, self._thread.team_id, self._thread.agent_id)
            state = spend(grant.state, self._call(interrupt), self._time)
            if Permission.DECIDE not in permissions:
                self._end(grant, GrantEnd.MAKER)
            elif state is Refusal.EXPIRED:
                self._end(grant, GrantEnd.EXPIRED)
            elif _is_forbidden(grant, ruling, version_id):
                self._end(grant, GrantEnd.POLICY)
            elif (
                isinstance(state, GrantState)
                and is_answerable
                and ruling.effect is Effect.ASK
                and ruling.grantable
                # A grant is no way to approve one's own calls.
                and not run.is_self_approved_by(maker)
                and self._fits(grant, ruling.requirement)
            ):
                grant.used, grant.spent = state.used, state.spent
                grant.save(update_fields=["used", "spent"])
                interrupt.grant_use = (grant, grant.used)
                if state.is_exhausted:
                    is_used_up = grant.used >= grant.most_uses
                    self._end(grant, GrantEnd.USED_UP if is_used_up else GrantEnd.BUDGET)
                return grant
        return None

    def stand_down(self, interrupts: Iterable[Interrupt], actor: Actor) -> None:
        """End the grants that cover calls which a person has rejected."""
        for interrupt in interrupts:
            for grant in self._matching(interrupt):
                self._end(grant, GrantEnd.REJECTED, actor)

    def end_made_from(self, interrupt: Interrupt, actor: Actor) -> None:
        """End the grants that were made with an approval that is withdrawn."""
        for grant in self._grants:
            if grant.made_from_id == interrupt.pk and grant.ended_at is None:
                self._end(grant, GrantEnd.WITHDRAWN, actor)

    @property
    def _time(self) -> datetime:
        if self._now is None:
            raise ValueError("There are no grants.")
        return self._now

    def _matching(self, interrupt: Interrupt) -> Sequence[Grant]:
        if not (self._grants and interrupt.tool and interrupt.args):
            return ()
        call = self._call(interrupt)
        return [
            grant
            for grant in self._grants
            if grant.tool == interrupt.tool
            and grant.ended_at is None
            and covers(grant.state.terms, call)
        ]

    def _call(self, interrupt: Interrupt) -> Call:
        return Call(
            agent=str(self._thread.agent_id),
            thread=str(self._thread.pk),
            tool=interrupt.tool,
            args=json.loads(interrupt.args or "null"),
        )

    def _fits(self, grant: Grant, requirement: MergedRequirement | None) -> bool:
        """Return whether the maker could decide this request."""
        if requirement is None:
            return True
        team_id, user_id = self._thread.team_id, grant.made_by_id
        role = Membership.objects.filter(team=team_id, user=user_id).values_list("role", flat=True)
        groups = frozenset(group_names_of(team_id, user_id))
        person = Person(str(user_id), role.first() or "", groups)
        return is_possible(requirement.slots_at(self._time), [person])

    def _end(self, grant: Grant, reason: GrantEnd, actor: Actor = POLICY) -> None:
        _end(self._thread, grant, reason, actor, self._time)


def _is_forbidden(grant: Grant, ruling: Ruling, version_id: UUID | None) -> bool:
    """Return whether a version that is newer than the grant denies the call or must ask."""
    if version_id is None or version_id == grant.version_id:
        return False
    is_asked = ruling.effect is Effect.ASK and not ruling.grantable
    return ruling.effect is Effect.DENY or (is_asked and _PASSING_DOUBTS.isdisjoint(ruling.reasons))


def stand_down(
    *, thread: Thread, answers: Sequence[tuple[Interrupt, ResumeEntry]], actor: Actor
) -> None:
    """End the grants that cover rejected calls; the caller holds the thread's lock."""
    rejected = [row for row, entry in answers if row.tool_call_id and not is_consent(entry)]
    if rejected:
        ActiveGrants(thread).stand_down(rejected, actor)


@transaction.atomic(durable=True)
def revoke_grant(*, grant_id: UUID, actor: Actor) -> Grant:
    """
    End a grant at once. Safe to replay.

    Everybody may revoke who may decide for the agent: requests are then asked again.

    Raises:
        Unauthenticated, NotFound, Forbidden.
    """
    thread, grant = _lock_with_thread(grant_id)
    now = database_now()
    require_current(actor, thread.team_id, Permission.DECIDE, thread.agent_id, now=now)
    if grant.ended_at is None:
        _end(thread, grant, GrantEnd.REVOKED, actor, now)
    return grant


@transaction.atomic(durable=True)
def end_lapsed_grant(*, grant_id: UUID) -> GrantEnd | None:
    """End a grant that has expired, or whose maker may not decide any more. Safe to replay."""
    thread, grant = _lock_with_thread(grant_id)
    now = database_now()
    if grant.ended_at is not None:
        return None
    maker = actor_of_user(grant.made_by)
    reason = None
    if now >= grant.expires_at:
        reason = GrantEnd.EXPIRED
    elif Permission.DECIDE not in permissions_in(maker, thread.team_id, thread.agent_id):
        reason = GrantEnd.MAKER
    if reason is not None:
        _end(thread, grant, reason, SWEEPER, now)
    return reason


def _lock_with_thread(grant_id: UUID) -> tuple[Thread, Grant]:
    """Lock the thread in which a grant was made, for the webhooks, and then the grant."""
    address = Grant.objects.filter(pk=grant_id).values_list("made_from__thread", flat=True).first()
    if address is None:
        raise errors.NotFound()
    thread, _ = lock_thread(address, with_team=True)
    grant = lock_grant(grant_id)
    if grant is None:
        raise errors.NotFound()
    return thread, grant


def _end(thread: Thread, grant: Grant, reason: GrantEnd, actor: Actor, now: datetime) -> None:
    grant.ended_at, grant.end_reason = now, reason
    grant.save(update_fields=["ended_at", "end_reason"])
    audit_trail.record(
        "grant.ended",
        actor,
        now,
        team_id=grant.team_id,
        grant=str(grant.pk),
        reason=reason.value,
        used=grant.used,
        spent=str(grant.spent),
    )
    outbox.grant_changed(EventType.GRANT_ENDED, thread=thread, grant=grant, now=now)
