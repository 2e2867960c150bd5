"""The demo: a team, four people, a key, and some runs that wait for an answer."""

import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from inbox import engine
from inbox.actions.people import (
    add_member,
    create_api_key,
    ensure_agent,
    ensure_team,
    set_password,
)
from inbox.actions.runs import RunRequest, accept_run, new_external_id
from inbox.domain.access import SEED, Permission, Role
from inbox.domain.errors import UsernameTaken

PEOPLE = (
    ("admin", "Ana Kovač", Role.ADMIN),
    ("marco", "Marco Ruiz", Role.REVIEWER),
    ("priya", "Priya Shah", Role.REVIEWER),
    ("dana", "Dana Whitfield", Role.VIEWER),
)
SCENARIOS = ("tool_call", "parallel3", "input_required", "confirmation", "custom_reason")
EMPTY_INPUT: dict[str, Any] = {"state": None, "tools": [], "context": [], "forwardedProps": None}


@dataclass(frozen=True)
class Account:
    username: str
    role: str
    password: str


@dataclass(frozen=True)
class Credentials:
    """What the demo prints; kept beside the data, readable by its owner only."""

    accounts: list[Account]
    api_key: str


def ensure_demo(data_dir: Path) -> Credentials:
    """Seed the demo at the first start; afterwards, only read what it made."""
    path = data_dir / "demo-credentials.json"
    if path.exists():
        kept = json.loads(path.read_text())
        return Credentials([Account(**item) for item in kept["accounts"]], kept["api_key"])
    credentials = _seed()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(asdict(credentials), file, indent=2)
    return credentials


def _seed() -> Credentials:
    team = ensure_team(slug="demo", name="Demo", actor=SEED)
    agent = ensure_agent(
        team=team,
        slug="rehearsal",
        implementation="rehearsal",
        description=engine.description_of("rehearsal"),
        actor=SEED,
    )
    accounts = [_account(team, *person) for person in PEOPLE]
    scopes = {Permission.RUN, Permission.READ, Permission.DECIDE}
    api_key = create_api_key(team=team, name="demo", scopes=scopes, actor=SEED)
    _start_some_runs(agent)
    return Credentials(accounts, api_key)


def _account(team: Any, username: str, full_name: str, role: Role) -> Account:
    """Make an account, or give it a new password if an earlier start was cut short."""
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


def _start_some_runs(agent: Any) -> None:
    for scenario in SCENARIOS:
        message = {"id": new_external_id(), "role": "user", "content": f"rehearse:{scenario}"}
        accept_run(
            agent=agent,
            request=RunRequest(
                thread_id=new_external_id(),
                run_id=new_external_id(),
                input={"messages": [message], **EMPTY_INPUT},
            ),
            actor=SEED,
        )
