"""Everybody who may call, as a browser's session or a machine's key."""

import json
from dataclasses import dataclass
from typing import Any

NAMES = (
    *("nobody", "stranger", "viewer", "reviewer", "admin", "left", "inactive"),
    *("k_read", "k_run", "k_decide", "k_admin", "k_foreign", "k_revoked"),
    *("k_agent", "k_other_agent", "k_expired"),
)
#: Those to whom the team must look as if it did not exist.
OUTSIDERS = ("nobody", "stranger", "left", "inactive", "k_foreign", "k_revoked", "k_expired")
#: Any secret will do, as long as cookie and header agree.
CSRF = "c" * 32


@dataclass(frozen=True)
class Caller:
    """What somebody sends with every request."""

    session: str = ""
    token: str = ""

    @property
    def cookies(self) -> dict[str, str]:
        return {"sessionid": self.session, "csrftoken": CSRF} if self.session else {}

    @property
    def headers(self) -> dict[str, str]:
        if self.token:
            return {"Authorization": f"Bearer {self.token}"}
        return {"X-CSRFToken": CSRF} if self.session else {}


def make_callers(team: Any, others: Any) -> dict[str, Caller]:
    """
    Let everybody join, sign in and leave again, in whatever database this process uses.

    `k_agent` is the key of the agent that the things of the tests belong to, `k_other_agent` that
    of another agent of the team.
    """
    from django.utils import timezone

    from inbox.actions.people.provisioning import ensure_agent
    from inbox.models import Membership, User
    from inbox.rules.people.access import SEED, Permission, Role

    people = {
        "stranger": (others, Role.ADMIN),
        **{role.value: (team, role) for role in Role},
        "left": (team, Role.ADMIN),
        "inactive": (team, Role.ADMIN),
    }
    callers = {"nobody": Caller()}
    callers |= {
        name: Caller(session=join_team(f"the-{name}", *who)) for name, who in people.items()
    }
    callers |= {f"k_{permission.value}": new_key(team, permission) for permission in Permission}
    callers |= {"k_foreign": new_key(others, *Permission), "k_revoked": new_key(team, *Permission)}
    bystander = ensure_agent(
        team=team, slug="bystander", implementation="rehearsal", description="", actor=SEED
    )
    of_agents = (Permission.READ, Permission.RUN)
    callers |= {"k_agent": new_key(team, *of_agents, agent="rehearsal")}
    callers |= {"k_other_agent": new_key(team, *of_agents, agent=bystander.slug)}
    callers |= {"k_expired": new_key(team, *Permission)}
    Membership.objects.filter(user__username="the-left").delete()
    User.objects.filter(username="the-inactive").update(is_active=False)
    now = timezone.now()
    keys_of(callers["k_revoked"]).update(revoked_at=now)
    keys_of(callers["k_expired"]).update(expires_at=now)
    return callers


def undone(function: Any, *arguments: Any) -> Any:
    """Call and take back whatever it changed, so that everybody meets the same things."""
    from django.db import transaction

    point = transaction.savepoint()
    try:
        return function(*arguments)
    finally:
        transaction.savepoint_rollback(point)


def print_callers() -> None:
    """For `manage.py shell`, beside a running demo: the callers of its team as JSON."""
    from inbox.actions.people.provisioning import ensure_team
    from inbox.queries.people.teams import team_by_slug
    from inbox.rules.people.access import SEED

    callers = make_callers(
        team_by_slug("demo"), ensure_team(slug="others", name="Others", actor=SEED)
    )
    print(json.dumps({name: [caller.session, caller.token] for name, caller in callers.items()}))


def read_callers(text: str) -> dict[str, Caller]:
    return {name: Caller(*parts) for name, parts in json.loads(text.splitlines()[-1]).items()}


def join_team(username: str, team: Any, role: Any) -> str:
    from django.test import Client

    from inbox.actions.people.provisioning import add_member
    from inbox.rules.people.access import SEED
    from tests.support.web.fresh_sign_in import sign_in

    user = add_member(
        team=team, username=username, full_name="", password="p", role=role, actor=SEED
    )
    client = Client()
    sign_in(client, user)
    return client.cookies["sessionid"].value


def new_key(team: Any, *scopes: Any, agent: str = "") -> Caller:
    from inbox.actions.people.api_keys import make_key
    from inbox.rules.people.access import SEED

    _, token = make_key(team_id=team.pk, name="k", scopes=scopes, actor=SEED, agent=agent)
    return Caller(token=token)


def keys_of(caller: Caller) -> Any:
    from inbox.models import ApiKey
    from inbox.queries.people.api_key_tokens import digest_token

    return ApiKey.objects.filter(digest=digest_token(caller.token))
