"""Subjects of measurement: a checkout of the product in one of its shapes, and the bare server."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from bench import bare
from bench.meter import Meter
from bench.workloads import Target
from tests.support.children import free_port, start_child, stop_child, wait_until
from tests.support.postgres import PostgresServer
from tests.support.processes import (
    REPOSITORY,
    embedded_environment,
    is_healthy,
    scaled_environment,
)
from tests.support.valkey import ValkeyServer

SHAPES = ("embedded", "scaled")

#: Limits are counted, but never reached.
_UNBOUNDED = {
    "SIGNOFF_RATE_LIMIT": "1000000/second",
    "SIGNOFF_STREAMS_PER_CALLER": "10000",
    "SIGNOFF_LIMITS": ",".join(
        f"{limit}=0"
        for limit in (
            *("running_runs", "queued_runs", "open_requests", "agent_open_requests"),
            *("agent_requests_per_minute", "threads", "streams", "sockets", "event_bytes"),
        )
    ),
}
_START_SECONDS = 300
#: Of a checkout with policies, whatever its age: the demo's team has one.
_WITHOUT_POLICY = """
from inbox.models import Team
if any(field.name == "policy_version" for field in Team._meta.fields):
    Team.objects.update(policy_version=None)
"""
#: People who get a mail about each request at once; the mails go to the log.
_SUBSCRIBE = """
from allauth.account.models import EmailAddress
from inbox.actions.notifications.subscriptions import subscribe
from inbox.models import Membership, Team, User
from inbox.queries.people.api_keys import actor_of_user
team = Team.objects.get(slug="demo")
for number in range({count}):
    user = User.objects.create(username=f"subscriber{{number}}")
    Membership.objects.create(team=team, user=user, role="reviewer")
    EmailAddress.objects.create(user=user, email=f"s{{number}}@example.com", verified=True)
    subscribe(events=["opened"], mode="at_once", minutes=5, language="en",
              actor=actor_of_user(user))
"""


@dataclass(frozen=True)
class Subject:
    """A running server to measure."""

    target: Target
    product: "Checkout | None"  #: None for the bare server, which has no inbox
    #: Of the scaled shape: the process ids of web, worker, PostgreSQL and Redis.
    pids: Mapping[str, int] = field(default_factory=dict)

    def fill(self, number: int, *, finished: int = 0) -> None:
        """
        Fill the database through the models of the product.

        Afterwards `number` interrupts are pending, a fifth as many decided, and `finished` runs
        of other threads have succeeded.
        """
        if self.product is None:
            raise RuntimeError("the bare server has no inbox")
        numbers = (str(number), str(number // 5), str(finished))
        self.product.run("-m", "bench.fill", *numbers)

    def login(self) -> tuple[str, str]:
        """Return the name and password of a reviewer of the demo."""
        if self.product is None:
            raise RuntimeError("the bare server has no people")
        data = Path(self.product.environment["SIGNOFF_DATA_DIR"])
        accounts = json.loads((data / "demo-credentials.json").read_text())["accounts"]
        reviewer = next(account for account in accounts if account["role"] == "reviewer")
        return reviewer["username"], reviewer["password"]


@dataclass(frozen=True)
class Checkout:
    """A directory with a version of the product, and the environment of its processes."""

    directory: Path
    environment: Mapping[str, str]

    @property
    def python(self) -> str:
        """The interpreter of the checkout's own environment, if it has one."""
        own = self.directory / ".venv/bin/python"
        return str(own) if own.exists() else sys.executable

    def run(self, *arguments: str) -> str:
        """Run a Python command to its end and return its output."""
        done = subprocess.run(
            [self.python, *arguments],
            env=self.environment,
            cwd=self.directory,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return done.stdout.strip()


@contextmanager
def start(
    shape: str,
    checkout: Path = REPOSITORY,
    *,
    with_policy: bool = False,
    subscribers: int = 0,
    settings: Mapping[str, str] = MappingProxyType({}),
    postgres_settings: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Subject]:
    """
    Start a checkout in this shape, or the bare server, with an empty database on real disks.

    The team has no policy, or that of the demo, which no request of the workloads matches; and so
    many people who get a mail about each request at once. `settings` go into its environment.
    """
    with (
        tempfile.TemporaryDirectory(prefix="signoff-bench-", dir=os.environ.get("TMPDIR")) as name,
        ExitStack() as stack,
    ):
        directory = Path(name)
        if shape == "bare":
            url, pid = stack.enter_context(bare.start(directory))
            yield Subject(Target(url, "none", Meter([pid])), None)
            return
        port = free_port()
        address = {**_UNBOUNDED, "HOST": "127.0.0.1", "PORT": str(port), **settings}
        servers: dict[str, int] = {}
        if shape == "embedded":
            product = Checkout(checkout, embedded_environment(directory, **address))
            commands: tuple[tuple[str, ...], ...] = (("--demo", "--no-history"),)
        else:
            database = stack.enter_context(PostgresServer(durable=True, settings=postgres_settings))
            redis = stack.enter_context(ValkeyServer())
            servers = {"PostgreSQL": database.pid, "Redis": redis.pid}
            environment = scaled_environment(
                directory,
                database_url=database.create_database("signoff"),
                redis_url=redis.url,
                **address,
            )
            product = Checkout(checkout, environment)
            product.run("manage.py", "migrate", "--no-input")
            commands = ("--web", "--demo", "--no-history"), ("--worker",)
        url = f"http://127.0.0.1:{port}"
        pids = []
        for number, options in enumerate(commands):
            log = directory / f"{number}.log"
            is_ready = (
                (lambda log=log: "worker.ready" in log.read_text(errors="replace"))
                if "--worker" in options
                else (lambda: is_healthy(url))
            )
            pids.append(stack.enter_context(_serve(product, options, log, is_ready)))
        scopes = ("--scope", "read", "--scope", "run", "--scope", "decide")
        key = product.run("manage.py", "create_api_key", "--name", "bench", *scopes)
        if not with_policy:
            product.run("manage.py", "shell", "--command", _WITHOUT_POLICY)
        if subscribers:
            product.run("manage.py", "shell", "--command", _SUBSCRIBE.format(count=subscribers))
        if shape == "scaled":
            servers |= dict(zip(("web", "worker"), pids, strict=True))
        yield Subject(Target(url, key, Meter(pids)), product, servers)


@contextmanager
def _serve(
    product: Checkout, options: tuple[str, ...], log: Path, is_ready: Callable[[], bool]
) -> Iterator[int]:
    """Run `manage.py serve` with these options; yield its process id when it is ready."""
    process = start_child(
        [product.python, "manage.py", "serve", *options],
        log=log,
        env=product.environment,
        cwd=product.directory,
    )
    try:
        wait_until(
            is_ready,
            process=process,
            log=log,
            what=f"{product.directory} {' '.join(options)}",
            timeout_seconds=_START_SECONDS,
        )
        yield process.pid
    finally:
        stop_child(process, patience_seconds=30)
