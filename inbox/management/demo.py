"""The demo: a team, four people, two API keys, a policy, a grant, a history, and open requests."""

import json
import logging
import os
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings

from inbox import engine, transparency_log
from inbox.actions.decisions.claims_and_comments import claim_interrupt
from inbox.actions.decisions.decide import decide
from inbox.actions.people.api_keys import make_key
from inbox.actions.people.groups import add_to_group, create_group
from inbox.actions.people.members import change_team
from inbox.actions.people.provisioning import add_member, set_password
from inbox.actions.policies.versions import publish_draft, save_draft
from inbox.actions.runs.start_run import RunRequest, new_external_id
from inbox.management.demo_history import DAYS, drive, make_history
from inbox.management.past_clock import clock_set_back
from inbox.management.teams import add_agent, add_external_agent, ensure_team_by_slug
from inbox.platform import clock
from inbox.queries.people.api_keys import actor_of_user
from inbox.queries.people.members import members_of
from inbox.queries.people.teams import team_by_slug
from inbox.queries.policies.grants import grants_of_team
from inbox.queries.policies.policies import policy_state
from inbox.rules.decisions.gate import Entrance
from inbox.rules.errors import AddressTaken, UsernameTaken
from inbox.rules.people.access import SEED, Actor, Permission, Role
from inbox.rules.policies.grants import GrantRequest
from inbox.rules.runs.states import EntryStatus

TEAM = "demo"
PEOPLE = (
    ("admin", "Ana Kovač", Role.ADMIN),
    ("marco", "Marco Ruiz", Role.REVIEWER),
    ("priya", "Priya Shah", Role.REVIEWER),
    ("dana", "Dana Whitfield", Role.VIEWER),
)
#: The runs of a new demo: agent, form input, and message.
RUNS: tuple[tuple[str, dict[str, Any] | None, str], ...] = (
    ("refund-desk", {"order": "88121", "why": "The parcel never arrived."}, "Order 88121"),
    ("refund-desk", {"order": "87990", "why": "I was charged twice."}, "Order 87990"),
    ("refund-desk", {"order": "86500", "why": "The lamp is broken."}, "Order 86500"),
    ("release-train", None, "Release 9.2.1"),
    ("database-steward", None, "Clean up the sessions"),
    ("showcase", None, "What is ready?"),
    ("onboarding", None, "Ana starts in December"),
    ("importer", None, "Import the orders of the quarter"),
    ("expense-desk", None, "Check the expenses of November"),
    ("treasury", None, "Pay what is due today"),
)
#: An agent that runs by itself, for the first request over REST.
EXTERNAL_AGENT = "nightly", "A program of your own that asks with POST /api/requests."
#: The group that decides large refunds, and its members.
GROUP, MEMBERS = "finance", ("priya",)
#: Of the refunds above, the policy allows 58.00, one person is asked about 85.00, two about 142.50.
POLICY: dict[str, Any] = {
    "rules": [
        {
            "id": "small-refunds",
            "name": "Small refunds",
            "effect": "allow",
            "when": [
                {"path": "/agent", "op": "is", "value": "refund-desk"},
                {"path": "/tool", "op": "is", "value": "issue_refund"},
                {"path": "/args/amount", "op": "between", "value": [0, 60]},
            ],
        },
        {
            "id": "large-refunds",
            "name": "Large refunds",
            "effect": "ask",
            "when": [
                {"path": "/agent", "op": "is", "value": "refund-desk"},
                {"path": "/tool", "op": "is", "value": "issue_refund"},
                {"path": "/args/amount", "op": "gt", "value": 100},
            ],
            "require": {
                "slots": [{"group": GROUP}, {"role": "reviewer"}],
                "expires_after": "PT4H",
                "on_expiry": "deny",
            },
        },
    ]
}
#: Marco has approved the first of these refunds and allows more like it, up to 80.00; this grant
#: approves the second.
GRANTED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"order": "86931", "why": "It is the wrong colour."}, "Order 86931"),
    ({"order": "87204", "why": "Half of the cups are missing."}, "Order 87204"),
)
GRANT_MAKER = "marco"
#: The people who published the policy and started the runs.
PUBLISHER, STARTER = "admin", "dana"
#: With a history, one of the requests is claimed when the demo is new, and the first of the two
#: people has approved the large refund with a change.
CLAIMED, CLAIMED_BY = "Clean up the sessions", "priya"
ENDORSED, CHANGES = "Order 88121", {"amount": 112.5}
#: The agent that asks whatever is rehearsed.
REHEARSAL = "rehearsal"
EMPTY_INPUT: dict[str, Any] = {"state": None, "tools": [], "context": [], "forwardedProps": None}


@dataclass(frozen=True)
class Account:
    username: str
    role: str
    password: str


@dataclass(frozen=True)
class Credentials:
    """The credentials that the demo prints; stored in a file that only its owner can read."""

    accounts: list[Account]
    api_key: str
    reviewer_key: str


def ensure_demo(data_dir: Path, *, with_history: bool = False) -> Credentials:
    """
    Create the demo at the first start; afterwards read its stored credentials.

    The history is made before the server starts: its clock is that of the whole process.
    """
    path = data_dir / "demo-credentials.json"
    if path.exists():
        for name in engine.installed_agents():
            add_agent(TEAM, name)
        add_external_agent(TEAM, *EXTERNAL_AGENT)
        stored = json.loads(path.read_text())
        accounts = [Account(**item) for item in stored.pop("accounts")]
        return Credentials(accounts, **{"reviewer_key": stored["api_key"], **stored})
    credentials = _seed(with_history=with_history)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(asdict(credentials), file, indent=2)
    return credentials


def _seed(*, with_history: bool) -> Credentials:
    # Not a second time if an earlier start was interrupted.
    if with_history and team_by_slug(TEAM) is None:
        today = clock.now()
        logging.disable(logging.INFO)  # the log of runs would push the credentials away
        with clock_set_back(today - timedelta(days=DAYS + 1)) as past:
            team, agents, credentials = _make_team()
            make_history(past, today, agents, _people_of(team.pk), _start)
        logging.disable(logging.NOTSET)
    else:
        team, agents, credentials = _make_team()
    _make_grant(agents["refund-desk"], team.pk)
    runs = {message: _start(agents[name], value, message) for name, value, message in RUNS}
    if with_history:
        priya = _people_of(team.pk)[CLAIMED_BY]
        for run in runs.values():  # the requests are created in this order
            drive(run.thread)
        claim_interrupt(interrupt_id=runs[CLAIMED].interrupts.get().pk, actor=priya)
        refund = runs[ENDORSED].interrupts.get()
        decide(
            interrupt_id=refund.pk,
            status=EntryStatus.RESOLVED,
            payload={"approved": True, "editedArgs": {**json.loads(refund.args), **CHANGES}},
            actor=priya,
            view_digest=refund.shown_digest,
            entrance=Entrance.PAGE,
        )
        if not settings.SEPARATE_SIGNER:
            # Otherwise the first verification would find old entries that are not in the log.
            transparency_log.append_and_sign()
    return credentials


def _make_team() -> tuple[Any, dict[str, Any], Credentials]:
    team = ensure_team_by_slug(TEAM)
    runs_of = (run[0] for run in RUNS)
    names = dict.fromkeys((*runs_of, REHEARSAL, *engine.installed_agents()))
    agents = {name: add_agent(TEAM, name) for name in names}
    add_external_agent(TEAM, *EXTERNAL_AGENT)
    accounts = [_account(team, *person) for person in PEOPLE]
    # A newcomer may try both sides alone.
    change_team(team_id=team.pk, self_approval=True, actor=SEED)
    _publish_policy(team.pk)
    scopes = {Permission.RUN, Permission.READ, Permission.DECIDE}
    _, api_key = make_key(team_id=team.pk, name="demo", scopes=scopes, actor=SEED)
    _, reviewer_key = make_key(team_id=team.pk, name="demo reviewer", scopes=scopes, actor=SEED)
    return team, agents, Credentials(accounts, api_key, reviewer_key)


def _people_of(team_id: UUID) -> dict[str, Actor]:
    return {row.user.username: actor_of_user(row.user) for row in members_of(SEED, team_id)}


def _publish_policy(team_id: UUID) -> None:
    """Publish the policy of the demo, unless an earlier start did."""
    people = {row.user.username: row.user_id for row in members_of(SEED, team_id)}
    admin = _people_of(team_id)[PUBLISHER]
    with suppress(AddressTaken):
        create_group(team_id=team_id, name=GROUP, actor=SEED)
    for name in MEMBERS:
        add_to_group(team_id=team_id, name=GROUP, user_id=people[name], actor=SEED)
    if policy_state(SEED, team_id).version is None:
        save_draft(team_id=team_id, body=POLICY, actor=admin)
        publish_draft(team_id=team_id, actor=admin, comment="The policy of the demo")


def _make_grant(agent: Any, team_id: UUID) -> None:
    """Make the grant of the demo and let it approve a run, unless an earlier start did."""
    people = {row.user.username: row.user for row in members_of(SEED, team_id)}
    if grants_of_team(SEED, team_id, limit=1):
        return
    first, second = GRANTED
    run = _start(agent, *first)
    engine.execute_run(run.pk)
    if (interrupt := run.interrupts.first()) is None:
        return  # another worker has claimed the run
    decide(
        interrupt_id=interrupt.pk,
        status=EntryStatus.RESOLVED,
        payload={"approved": True},
        actor=actor_of_user(people[GRANT_MAKER]),
        view_digest=interrupt.shown_digest,
        entrance=Entrance.PAGE,
        grant=GrantRequest(
            {"order": "any", "amount": {"up_to": 80}, "note": "any"},
            is_for_agent=True,
            minutes=24 * 60,
        ),
    )
    _start(agent, *second)


def _account(team: Any, username: str, full_name: str, role: Role) -> Account:
    """Create an account, or set a new password if an earlier start was interrupted."""
    password = secrets.token_urlsafe(9)
    try:
        add_member(
            team=team,
            username=username,
            full_name=full_name,
            password=password,
            role=role,
            actor=SEED,
        )
    except UsernameTaken:
        set_password(username=username, password=password, actor=SEED)
    return Account(username, role.value, password)


def _start(agent: Any, value: dict[str, Any] | None, text: str) -> Any:
    message = {"id": new_external_id(), "role": "user", "content": text}
    props = None if value is None else {"input": value}
    started = engine.start_run(
        agent=agent,
        request=RunRequest(
            thread_id=new_external_id(),
            run_id=new_external_id(),
            input={**EMPTY_INPUT, "messages": [message], "forwardedProps": props},
        ),
        actor=_people_of(agent.team_id)[STARTER],
    )
    return started.run
