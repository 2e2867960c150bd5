"""SIGKILL for workers while they send notifications: nothing is lost, duplicates have one id."""

import random
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from queue import Empty, Queue
from typing import Any
from uuid import UUID

import psutil
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from tests.campaigns.facts import Facts
from tests.campaigns.faults.kills import Workers
from tests.campaigns.faults.setup import Stage, call_everything_off
from tests.campaigns.report import Report
from tests.support.children import free_port
from tests.support.notifications.chat_server import ChatServer, run_chat_server
from tests.support.processes import manage
from tests.support.product import Product, scaled_product
from tests.support.product_client import Client, wait_for

_WORKERS = 3
#: A claim of a lost worker ends after 90 s.
_LONGEST_SECONDS = 900
_KILLS_PER_MESSAGE = 0.5
_LINK = re.compile(r"/interrupts/([0-9a-f-]{36})/")
_SUBSCRIBE = """
from allauth.account.models import EmailAddress
from inbox.actions.notifications.subscriptions import subscribe
from inbox.actions.notifications.team_channels import ChatSettings, add_chat
from inbox.models import Membership, Team, User
from inbox.queries.people.api_keys import actor_of_user
from inbox.rules.people.access import SEED
team = Team.objects.get(slug="demo")
for number in range({people}):
    user = User.objects.create(username=f"subscriber{{number}}")
    Membership.objects.create(team=team, user=user, role="reviewer")
    EmailAddress.objects.create(user=user, email=f"s{{number}}@example.com", verified=True)
    subscribe(events=["opened"], mode="at_once", minutes=5, language="en",
              actor=actor_of_user(user))
for number in range({chats}):
    values = ChatSettings(f"#chat{{number}}", "{url}" + f"/{{number}}", ["opened"], "at_once", 5)
    add_chat(team_id=team.pk, kind="slack", values=values, language="en", actor=SEED)
"""
_UNSETTLED = """
SELECT (SELECT count(*) FROM inbox_notification WHERE status = 'pending')
    + (SELECT count(*) FROM inbox_announcement WHERE expanded_at IS NULL)
"""
_NOT_SENT = """
SELECT n.id, n.status, n.why FROM inbox_notification n
JOIN inbox_interrupt i ON i.id = n.interrupt_id
WHERE i.status = 'open' AND n.status <> 'sent'
"""
_MAILS = """
SELECT e.email, n.interrupt_id, n.message_id FROM inbox_notification n
JOIN inbox_channel c ON c.id = n.channel_id JOIN account_emailaddress e ON e.user_id = c.user_id
WHERE n.status = 'sent' AND n.interrupt_id IS NOT NULL
"""


class Killer:
    """Asks the campaign to kill the worker behind a connection, and waits until it is dead."""

    def __init__(self, kills: int, *, most_each: int) -> None:
        self._left = kills
        self._most_each = most_each
        self._kills: Counter[str] = Counter()
        self._guard = threading.Lock()
        self.victims: Queue[tuple[int, threading.Event]] = Queue()

    def may_kill(self, recipient: str) -> bool:
        """Return whether to kill now, which costs the recipient the time of a lost claim."""
        with self._guard:
            is_enough = not self._left or self._kills[recipient] >= self._most_each
            if is_enough or random.random() > _KILLS_PER_MESSAGE:
                return False
            self._left -= 1
            self._kills[recipient] += 1
            return True

    def kill(self, port: int) -> None:
        """Have the worker killed that has this port of the connection."""
        is_dead = threading.Event()
        self.victims.put((port, is_dead))
        is_dead.wait(timeout=60)

    def give_back(self) -> None:
        """Count a kill as not done: the worker had gone before."""
        with self._guard:
            self._left += 1

    @property
    def is_done(self) -> bool:
        return not self._left


@dataclass
class Mails:
    """A mail server that accepts everything, and has workers killed at the worst moments."""

    killer: Killer
    accepted: list[tuple[str, Message]] = field(default_factory=list)  #: address and mail

    async def handle_RCPT(  # noqa: N802  # aiosmtpd calls it
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        envelope.rcpt_tos.append(address)
        if random.random() < 0.3 and self.killer.may_kill(address):
            await self._kill(server, session)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        # Accepted, also if the worker does not hear of it any more.
        content = envelope.content
        mail = message_from_bytes(content if isinstance(content, bytes) else b"")
        self.accepted += [(address, mail) for address in envelope.rcpt_tos]
        if self.killer.may_kill(envelope.rcpt_tos[0]):
            await self._kill(server, session)
        return "250 OK"

    async def _kill(self, server: SMTP, session: Session) -> None:
        await server.loop.run_in_executor(None, self.killer.kill, session.peer[1])


@contextmanager
def _mail_server(handler: Mails) -> Iterator[int]:
    controller = Controller(handler, hostname="127.0.0.1", port=free_port())
    controller.start()
    try:
        yield controller.port
    finally:
        controller.stop()


def notification_kills(directory: Path, *, short: bool) -> Report:
    """
    Kill workers while they talk to mail servers and chats, half of them after the acceptance.

    Each person and chat is told of each request. A mail that comes twice has the same Message-ID.
    """
    report = Report("kill -9 while notifying")
    people, chats, requests, kills = (10, 1, 5, 4) if short else (190, 10, 10, 200)
    killer = Killer(kills, most_each=1 if short else 3)
    mails = Mails(killer)
    with ExitStack() as stack:
        port = stack.enter_context(_mail_server(mails))
        chat = stack.enter_context(run_chat_server())
        chat.before_answer = lambda path, peer: killer.may_kill(path) and killer.kill(peer)
        product = stack.enter_context(
            scaled_product(
                directory,
                workers=_WORKERS,
                SIGNOFF_EMAIL_URL=f"smtp://127.0.0.1:{port}?tls=0",
                SIGNOFF_PUBLIC_URL="https://signoff.example.com",
                SIGNOFF_PRIVATE_WEBHOOK_HOSTS="127.0.0.1",
                SIGNOFF_WORKER_CONCURRENCY="4",  # one mail at a time: a kill hits one
            )
        )
        client = stack.enter_context(
            Client(product.url, product.create_api_key("read", "run", "decide"))
        )
        facts = Facts(product.environment["DATABASE_URL"])
        call_everything_off(Stage(product, client, facts, None, ""))
        _subscribe(product, people, chats, chat)
        client.start(f"rehearse:parallel:{requests}", key="requests").raise_for_status()
        # Until the requests are there, no notification waits: that would look like the end.
        wait_for(lambda: len(client.pending()) == requests, seconds=_LONGEST_SECONDS)
        workers = Workers(product, directory, stack)
        killed = _kill_until_all_is_sent(workers, killer, facts)
        report.expect(that=killed == kills, otherwise=f"{killed} of {kills} workers were killed")
        _judge(report, facts, mails, chat, people=people, chats=chats, requests=requests)
        report.figures |= {"workers killed": killed}
    return report.done()


def _subscribe(product: Product, people: int, chats: int, chat: ChatServer) -> None:
    script = _SUBSCRIBE.format(people=people, chats=chats, url=chat.url)
    manage(product.environment, "shell", "-v0", "-c", script)


def _kill_until_all_is_sent(workers: Workers, killer: Killer, facts: Facts) -> int:
    """Kill the workers that the servers ask for; return how many."""
    killed = 0

    def kill_next() -> bool:
        nonlocal killed
        with suppress(Empty):
            port, is_dead = killer.victims.get(timeout=0.2)
            victim = _worker_behind(workers, port)
            if victim is None:
                killer.give_back()
            else:
                workers.kill(victim)
                killed += 1
            is_dead.set()
            return False
        return bool(facts.value(_UNSETTLED) == 0)

    wait_for(kill_next, seconds=_LONGEST_SECONDS, every=0.01)
    return killed


def _worker_behind(workers: Workers, port: int) -> Any:
    for worker in workers.running:
        with suppress(psutil.Error):
            connections = psutil.Process(worker.pid).net_connections(kind="tcp")
            if any(item.laddr and item.laddr.port == port for item in connections):
                return worker
    return None


def _judge(
    report: Report,
    facts: Facts,
    mails: Mails,
    chat: ChatServer,
    *,
    people: int,
    chats: int,
    requests: int,
) -> None:
    pending = facts.value(_UNSETTLED)
    report.expect(that=pending == 0, otherwise=f"{pending} notifications still wait")
    report.violate(*(f"{pk} is {status} {why}" for pk, status, why in facts.rows(_NOT_SENT)))
    mail_ids: dict[tuple[str, UUID], set[str]] = defaultdict(set)
    copies: Counter[tuple[str, str]] = Counter()
    for address, mail in mails.accepted:
        copies[address, mail["Message-ID"]] += 1
        text = _text_of(mail)
        for interrupt_id in _LINK.findall(text):
            mail_ids[address, UUID(interrupt_id)].add(mail["Message-ID"])
    stored = facts.rows(_MAILS)
    for address, interrupt_id, message_id in stored:
        ids = mail_ids.get((address, UUID(str(interrupt_id))), set())
        expected = f"<{message_id}@"
        report.expect(
            that=len(ids) == 1 and next(iter(ids)).startswith(expected),
            otherwise=f"{address} was told of {interrupt_id} by {sorted(ids)}, not {message_id}",
        )
    report.expect(
        that=len(stored) == people * requests,
        otherwise=f"{len(stored)} of {people * requests} notifications of people were sent",
    )
    in_chats = Counter(
        (path, interrupt_id)
        for path, body in zip(chat.paths, chat.bodies, strict=True)
        for interrupt_id in _LINK.findall(str(body))
    )
    report.expect(
        that=len(in_chats) >= chats * min(requests, 5),
        otherwise=f"{len(in_chats)} requests in chats instead of {chats * min(requests, 5)}",
    )
    report.figures |= {
        "notifications": facts.value("SELECT count(*) FROM inbox_notification"),
        "mails accepted": len(mails.accepted),
        "mails that came again, same id": sum(copies.values()) - len(copies),
        "messages in chats": len(chat.bodies),
    }


def _text_of(mail: Message) -> str:
    parts = [part for part in mail.walk() if part.get_content_type() == "text/plain"]
    payload = parts[0].get_payload(decode=True) if parts else b""
    return payload.decode() if isinstance(payload, bytes) else ""
