"""The people that tests speak of: Alice starts runs, Bob decides, Carol is a stranger."""

import gc
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import hypothesis
import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.test import override_settings

from inbox.platform import timers
from tests.support.agents import scripted_agents
from tests.support.database.snapshots import Snapshot
from tests.support.processes import migrated_database

# Every run sees the same examples, and a slow machine is no failure.
hypothesis.settings.register_profile(
    "tests",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("tests")

settings.MIDDLEWARE += ["tests.support.web.markup.OneLineMiddleware"]

CHEAP_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@dataclass(frozen=True)
class World:
    """A team with its people and the scripted agent, and a stranger in a team of her own."""

    team: Any
    agent: Any
    alice: Any
    bob: Any
    carol: Any
    key: str

    def actor(self, user: Any) -> Any:
        from inbox.queries.people.api_keys import actor_of_user

        return actor_of_user(user)


def make_world() -> World:
    """Build the world through actions; works in any database."""
    from inbox.actions.people.api_keys import make_key
    from inbox.actions.people.provisioning import add_member, ensure_agent, ensure_team
    from inbox.rules.people.access import SEED, Permission, Role

    team = ensure_team(slug="tests", name="Tests", actor=SEED)
    others = ensure_team(slug="others", name="Others", actor=SEED)
    for each in (team, others):  # most tests look at what follows a decision at once
        each.grace_seconds = 0
        each.save(update_fields=["grace_seconds"])
    people = {
        name: add_member(
            team=where,
            username=name,
            full_name=name.capitalize(),
            password=f"{name}-password",
            role=role,
            actor=SEED,
        )
        for name, role, where in (
            ("alice", Role.VIEWER, team),
            ("bob", Role.REVIEWER, team),
            ("carol", Role.ADMIN, others),
        )
    }
    agent = ensure_agent(
        team=team, slug="rehearsal", implementation="rehearsal", description="", actor=SEED
    )
    scopes = {Permission.RUN, Permission.READ, Permission.DECIDE}
    _, key = make_key(team_id=team.pk, name="tests", scopes=scopes, actor=SEED)
    return World(team=team, agent=agent, key=key, **people)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What starts servers and browsers comes first, so that no long file is left for the end."""
    slow = ("campaign", "services", "javascript", "browser")
    first = {item.path for item in items if any(map(item.get_closest_marker, slow))}
    items.sort(key=lambda item: item.path not in first)


def pytest_collection_finish() -> None:
    """Exclude the collected tests from garbage collection: they live until the end."""
    gc.freeze()


@pytest.fixture(autouse=True)
def _cheap_passwords(settings: Any) -> None:
    """Hashing a password is slow on purpose, which no test here is about."""
    settings.PASSWORD_HASHERS = CHEAP_HASHERS


@pytest.fixture(autouse=True)
def _nothing_was_tried_before() -> None:
    """What is counted by the minute is counted for each test by itself."""
    from inbox.platform import rate_limits
    from inbox.platform.http.headroom import headroom
    from inbox.queries.limits.team_limits import limit_memory

    cache.clear()
    rate_limits.rate_limiter.cache_clear()
    headroom.clear()
    limit_memory.clear()


@pytest.fixture(autouse=True)
def _background_work_does_not_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out pauses for requests: a test has its process to itself."""
    monkeypatch.setattr(timers, "_LONGEST_PAUSE_SECONDS", 0.0)


@pytest.fixture(autouse=True)
def _plain_static_names(settings: Any) -> None:
    """Only a server collects static files; pages in tests name them as they are."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}


@pytest.fixture(autouse=True)
def _empty_file_storage(_plain_static_names: None, settings: Any, tmp_path: Any) -> None:
    """A rolled back test leaves no rows, and so may leave no files."""
    from inbox.platform.files.storage import storage_options

    settings.FILES_DIR = tmp_path / "files"
    files = storage_options("", settings.FILES_DIR)
    settings.STORAGES = {**settings.STORAGES, "files": files}


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_modify_db_settings: None) -> bool:
    """Start from a copy of a migrated SQLite database: migrating takes seconds in each process."""
    if connection.vendor != "sqlite":
        return False
    shutil.copy(migrated_database(), connection.settings_dict["TEST"]["NAME"])
    return True


@pytest.fixture(scope="session")
def world_snapshot(django_db_setup: None, django_db_blocker: Any) -> Snapshot[World]:
    with django_db_blocker.unblock(), override_settings(PASSWORD_HASHERS=CHEAP_HASHERS):
        return Snapshot(make_world)


@pytest.fixture
def world(db: None, world_snapshot: Snapshot[World]) -> World:
    if connection.vendor == "postgresql":
        # The transaction of a test may be idle for long, on a busy machine.
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
    return world_snapshot.restore()


@pytest.fixture
def alice(world: World) -> Any:
    return world.actor(world.alice)


@pytest.fixture
def bob(world: World) -> Any:
    return world.actor(world.bob)


@pytest.fixture
def carol(world: World) -> Any:
    return world.actor(world.carol)


@pytest.fixture
def dora(world: World) -> Any:
    """A second reviewer in Bob's team."""
    from inbox.actions.people.provisioning import add_member
    from inbox.rules.people.access import SEED, Role

    user = add_member(
        team=world.team,
        username="dora",
        full_name="Dora",
        password="dora-password",
        role=Role.REVIEWER,
        actor=SEED,
    )
    return world.actor(user)


@pytest.fixture
def vera(world: World) -> Any:
    """A second viewer in Alice's team: she may start runs, and not decide."""
    from inbox.actions.people.provisioning import add_member
    from inbox.rules.people.access import SEED, Role

    user = add_member(
        team=world.team,
        username="vera",
        full_name="Vera",
        password="vera-password",
        role=Role.VIEWER,
        actor=SEED,
    )
    return world.actor(user)


@pytest.fixture
def robot(world: World) -> Any:
    """A machine of the team that may run, read and decide."""
    from inbox.queries.people.api_keys import actor_of_key

    return actor_of_key(world.key)


@pytest.fixture
def as_agent(world: World) -> Callable[..., Any]:
    """Put a scripted list of events behind an address: `as_agent(events)` returns the agent row."""
    from inbox.actions.people.provisioning import ensure_agent
    from inbox.rules.people.access import SEED

    def install(play: Any, *, restartable: bool = True) -> Any:
        name = scripted_agents.register(play, restartable=restartable)
        return ensure_agent(
            team=world.team, slug=name, implementation=name, description="", actor=SEED
        )

    return install


@pytest.fixture
def later(monkeypatch: Any) -> Callable[..., None]:
    """Move the database's clock forward, for every module that reads it."""
    from inbox.platform import clock

    read_clock = clock._read_clock

    def move(**by: float) -> None:
        ahead = timedelta(**by)
        monkeypatch.setattr(clock, "_read_clock", lambda: read_clock() + ahead)

    return move
