"""Policies of teams: the draft, the versions, and the one in force."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from agents.agui import strict_json
from inbox.models import (
    Decision,
    Interrupt,
    Membership,
    PolicyDraft,
    PolicyVersion,
    Run,
    Team,
    Thread,
    ToolCall,
)
from inbox.models import Ruling as RulingRow
from inbox.models.statements import Select
from inbox.queries.people.access import require
from inbox.queries.people.groups import group_names_of
from inbox.queries.runs.interrupt_states import interrupt_state
from inbox.rules.decisions.consent import RULED_VIEW_VERSIONS
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor, ActorKind, Permission
from inbox.rules.policies.answers import ANSWERED, answer_of
from inbox.rules.policies.evaluation import Reason as EvaluationReason
from inbox.rules.policies.evaluation import Ruling, VersionedPolicy, evaluate, ruling_from_json
from inbox.rules.policies.facts import Facts, Requester, facts_from_json
from inbox.rules.policies.language.document import PolicyError, parse_policy
from inbox.rules.policies.language.policy import Effect, Policy
from inbox.rules.policies.language.sentences import explanation
from inbox.rules.policies.requirement import MergedRequirement, Step
from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.states import InterruptStatus, Reason
from inbox.rules.schema.mask_agui import secrets_of_arguments
from inbox.rules.schema.secrets import MASK

#: Published versions never change, so each process parses a version once.
_VERSIONS_CACHED = 256
#: A page and a decision read the same ruling several times.
_RULINGS_CACHED = 64


@lru_cache(_VERSIONS_CACHED)
def published_version(version_id: UUID) -> tuple[PolicyVersion, VersionedPolicy]:
    """Return a version, and its policy, which is None if the row cannot be read as one."""
    row = PolicyVersion.objects.get(pk=version_id)
    is_installation = row.team_id is None
    policy = parse_stored_policy(row.body, installation=is_installation)
    return row, VersionedPolicy(row.number, policy, installation=is_installation)


def policies_in_force(team: Team) -> list[tuple[PolicyVersion, VersionedPolicy]]:
    """Return the versions that rule on the team's new interrupts; none without a policy."""
    ids = [team.installation_version_id, team.policy_version_id]
    return [published_version(version_id) for version_id in ids if version_id is not None]


def installation_policies(team: Team) -> list[VersionedPolicy]:
    """Return the installation's policy in force; none without one."""
    return [policy for row, policy in policies_in_force(team) if row.team_id is None]


def installation_policy() -> Policy | None:
    """Return the latest published policy of the installation; None without a readable one."""
    row = PolicyVersion.objects.filter(team=None).order_by("-number").first()
    return parse_stored_policy(row.body) if row else None


def parse_stored_policy(body: str, *, installation: bool = False) -> Policy | None:
    """Return the policy of a draft or version, None if it cannot be read."""
    try:
        return parse_policy(strict_json.loads(body), installation=installation)
    except (PolicyError, ValueError, RecursionError):
        return None


def readable_policy(stored: PolicyDraft | PolicyVersion | None) -> Policy:
    """Return a stored policy; an empty one if there is none or it cannot be read."""
    return (stored and parse_stored_policy(stored.body)) or Policy()


@dataclass(frozen=True)
class RunFacts:
    """The facts that all interrupts of a run share."""

    agent: str
    environment: str | None
    team: str
    requester: Requester | None
    resumes_without_person: int


def run_with_facts(thread: Thread, run_id: UUID) -> tuple[Run, RunFacts]:
    """Return a run of the thread, and the facts about it."""
    (run,) = _RUN.all(pk=run_id)
    return run, RunFacts(
        agent=run.agent.slug,
        environment=run.agent.environment or None,
        team=thread.team.slug,
        requester=_requester(run),
        resumes_without_person=_resumes_without_person(run),
    )


_RUN = Select(
    lambda params: Run.objects.select_related("agent", "requester_user").filter(pk=params.pk)
)


def facts_of(shared: RunFacts, interrupt: Interrupt, now: datetime) -> Facts:
    """Return the facts about one interrupt."""
    args = json.loads(interrupt.args) if interrupt.args else None
    tool = interrupt.tool or None
    return _facts(shared, reason=interrupt.reason, tool=tool, args=args, now=now)


def _facts(shared: RunFacts, *, reason: str, tool: str | None, args: Any, now: datetime) -> Facts:
    return Facts(
        reason=reason,
        tool=tool,
        args=args,
        agent=shared.agent,
        environment=shared.environment,
        team=shared.team,
        requester=shared.requester,
        local_time=now,
        resumes_without_person=shared.resumes_without_person,
    )


def answerable_ruling(row: Interrupt, ruling: Ruling, now: datetime) -> Ruling:
    """Return the ruling, or one that asks if the policy cannot give the answer."""
    if ruling.effect is Effect.ASK:
        return ruling
    has_expired = row.expires_at is not None and row.expires_at <= now
    call = row.tool_call
    # A person has edited the call in the answer to another interrupt about it.
    is_edited = call is not None and call.approved_args != row.args
    if has_expired or is_edited or answer_of(interrupt_state(row, None), ruling) is None:
        reasons = (*ruling.reasons, EvaluationReason.NO_ANSWER)
        requirement = MergedRequirement(grantable=False)
        return replace(ruling, effect=Effect.ASK, requirement=requirement, reasons=reasons)
    return ruling


def stored_ruling(row: Interrupt) -> Ruling | None:
    """Return the ruling on an interrupt, None without one."""
    return _parsed_ruling(row.ruling.body) if row.ruling else None


@lru_cache(_RULINGS_CACHED)
def _parsed_ruling(body: str) -> Ruling:
    return ruling_from_json(json.loads(body))


def load_rulings(rows: Sequence[Interrupt]) -> None:
    """Load the rulings on several interrupts with one query; `row.ruling` loads one."""
    ruled = [
        row
        for row in rows
        if row.view_version in RULED_VIEW_VERSIONS and "ruling" not in row.__dict__
    ]
    if len(ruled) < 2:
        return
    rulings = RulingRow.objects.filter(interrupt__in=ruled).select_related(
        "version", "installation_version"
    )
    last = {ruling.interrupt_id: ruling for ruling in rulings.order_by("number")}
    for row in ruled:
        row.ruling = last.get(row.pk)


def reasons_of(row: Interrupt, translate: Callable[[str], str] = str) -> list[str]:
    """Return the reasons of the policy as sentences, with masked secrets; none without a policy."""
    ruling = stored_ruling(row)
    if ruling is None:
        return []
    places = secrets_of_arguments(row.body).places(json.loads(row.args) if row.args else {})
    hidden = {("args", *map(str, place)) for place in places}
    return explanation(ruling, translate, lambda path, value: MASK if path in hidden else value)


def next_steps(row: Interrupt, now: datetime) -> list[Step]:
    """Return the reminders and escalations of an open interrupt that are still to come."""
    ruling = stored_ruling(row) if row.status == InterruptStatus.OPEN else None
    steps = ruling.requirement.steps if ruling and ruling.requirement else ()
    return sorted((step for step in steps if step.due_at > now), key=lambda step: step.due_at)


def ruling_on(row: Interrupt, args: Any) -> Ruling:
    """Return the ruling of the same versions on the interrupt's call with other arguments."""
    if row.ruling is None:
        raise ValueError("No policy has ruled on this interrupt.")
    policies = [published_version(version_id)[1] for version_id in row.ruling.version_ids]
    facts = facts_from_json({**json.loads(row.ruling.body)["facts"], "args": args})
    return evaluate(policies, facts, row.ruling.created_at)


def is_grantable(row: Interrupt) -> bool:
    """Return whether a person who approves the call may allow further ones."""
    if row.tool_call_id is None:
        return False
    ruling = stored_ruling(row)
    if ruling is None:  # without a policy, doubts about the call remain
        facts = Facts(
            reason=row.reason,
            tool=row.tool,
            args=json.loads(row.args) if row.args else None,
            agent="",
            environment=None,
            team="",
            requester=None,
            local_time=row.created_at,
            resumes_without_person=0,
        )
        ruling = evaluate([], facts, row.created_at)
    return ruling.effect is Effect.ASK and ruling.grantable


def denying_rules(
    thread: Thread, run_id: UUID, calls: Sequence[ToolCall], now: datetime
) -> dict[UUID, tuple[str, ...]]:
    """Return the rules in force that deny calls which are about to start, by call."""
    policies = [policy for _, policy in policies_in_force(thread.team)]
    if not calls or not any(version.policy and version.policy.denies for version in policies):
        return {}
    _, shared = run_with_facts(thread, run_id)
    rulings = {call.pk: evaluate(policies, call_facts(shared, call, now), now) for call in calls}
    return {pk: ruling.rules for pk, ruling in rulings.items() if ruling.effect is Effect.DENY}


def call_facts(shared: RunFacts, call: ToolCall, now: datetime) -> Facts:
    """Return the facts about a tool call with its approved arguments."""
    args = json.loads(call.approved_args)
    return _facts(shared, reason=Reason.TOOL_CALL, tool=call.name, args=args, now=now)


def is_answered_by_policy(row: Interrupt) -> bool:
    """Return whether the policy answers the interrupt, so that nobody is asked."""
    is_ruled = row.ruling is not None and row.ruling.effect in ANSWERED
    return is_ruled or row.grant_use is not None


def answer_of_policy(row: Interrupt) -> ResumeEntry | None:
    """Return the answer of the policy to an open interrupt; None if people decide."""
    if not is_answered_by_policy(row):
        return None
    ruling = Ruling(Effect.GRANT) if row.grant_use else stored_ruling(row)
    return answer_of(interrupt_state(row, None), ruling) if ruling else None


def _requester(run: Run) -> Requester | None:
    if run.requester_key_id:
        return Requester(kind=ActorKind.KEY.value, id=str(run.requester_key_id), groups=())
    if run.requester_user_id is None:
        return None
    role = _ROLE.first(team=run.team_id, user=run.requester_user_id)
    name = run.requester_user.get_username() if run.requester_user else None
    groups = group_names_of(run.team_id, run.requester_user_id)
    return Requester(kind=ActorKind.HUMAN.value, id=name, role=role, groups=groups)


_ROLE = Select(
    lambda params: Membership.objects.filter(team=params.team, user=params.user).values_list(
        "role", flat=True
    )
)


def _resumes_without_person(run: Run) -> int:
    """Return the number of the thread's resumes since a person or key acted last on it."""
    if run.resumes_id is None:  # a person or a key has just started the thread's last run
        return 0
    started = Run.objects.filter(thread=run.thread_id, resumes=None).order_by("-queued_at")
    decided = Decision.objects.filter(interrupt__thread=run.thread_id).exclude(
        actor_kind=ActorKind.SYSTEM
    )
    moments = [
        started.values_list("queued_at", flat=True).first(),
        decided.order_by("-created_at").values_list("created_at", flat=True).first(),
    ]
    since = max(moment for moment in moments if moment is not None)
    resumes = Run.objects.filter(thread=run.thread_id, resumes__isnull=False, queued_at__gt=since)
    return resumes.count()


def has_unreadable_policy(team: Team) -> bool:
    """Return whether the version in force cannot be read, so that people decide everything."""
    return any(policy.policy is None for _, policy in policies_in_force(team))


@dataclass(frozen=True)
class PolicyState:
    """The policy of a team, as its administrators see it."""

    team: Team
    version: PolicyVersion | None  #: in force
    draft: PolicyDraft | None

    @property
    def is_unreadable(self) -> bool:
        """True if the version in force cannot be read, so that people decide everything."""
        return has_unreadable_policy(self.team)


def policy_state(actor: Actor, team_id: UUID) -> PolicyState:
    """
    Return the policy of a team.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.READ)
    team = Team.objects.select_related("policy_version", "installation_version").get(pk=team_id)
    return PolicyState(team, team.policy_version, PolicyDraft.objects.filter(team=team).first())


def policy_versions(
    actor: Actor, team_id: UUID, *, limit: int, before: int = 0
) -> list[PolicyVersion]:
    """
    Return versions of a team's policy, the latest first; `before` is a number, 0 for none.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.READ)
    rows = PolicyVersion.objects.filter(team=team_id).order_by("-number")
    if before:
        rows = rows.filter(number__lt=before)
    return list(rows[:limit])


def policy_version(actor: Actor, team_id: UUID, number: int) -> PolicyVersion:
    """
    Return one version of a team's policy.

    Raises:
        NotFound, Forbidden.
    """
    require(actor, team_id, Permission.READ)
    row = PolicyVersion.objects.filter(team=team_id, number=number).first()
    if row is None:
        raise NotFound()
    return row
