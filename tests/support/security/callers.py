"""Everybody who may call, as a browser's session or a machine's key."""

import json
from dataclasses import dataclass
from typing import Any

NAMES = (
    *("nobody", "stranger", "viewer", "reviewer", "admin", "left", "inactive"),
    *("k_read", "k_run", "k_decide", "k_admin", "k_foreign", "k_revoked"),
)
#: Those to whom the team must look as if it did not exist.
OUTSIDERS = ("nobody", "stranger", "left", "inactive", "k_foreign", "k_revoked")
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
    """Let everybody join, sign in and leave again, in whatever database this process uses."""
    from django.utils import timezone

    from inbox.models import ApiKey, Membership, User
    from inbox.rules.people.access import Permission, Role

    people = {
        "stranger": (others, Role.ADMIN),
        **{role.value: (team, role) for role in Role},
        "left": (team, Role.ADMIN),
        "inactive": (team, Role.ADMIN),
    }
    callers = {"nobody": Caller()}
    callers |= {name: Caller(session=_join(f"the-{name}", *who)) for name, who in people.items()}
    callers |= {f"k_{permission.value}": _key(team, permission) for permission in Permission}
    callers |= {"k_foreign": _key(others, *Permission), "k_revoked": _key(team, *Permission)}
    Membership.objects.filter(user__username="the-left").delete()
    User.objects.filter(username="the-inactive").update(is_active=False)
    last = ApiKey.objects.filter(team=team).order_by("-created_at").first()
    ApiKey.objects.filter(pk=last.pk).update(revoked_at=timezone.now())
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


def _join(username: str, team: Any, role: Any) -> str:
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


def _key(team: Any, *scopes: Any) -> Caller:
    from inbox.actions.people.api_keys import make_key
    from inbox.rules.people.access import SEED

    _, token = make_key(team_id=team.pk, name="k", scopes=scopes, actor=SEED)
    return Caller(token=token)
