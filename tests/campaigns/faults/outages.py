"""The servers behind the product go away and come back."""

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import httpx
import redis

from tests.campaigns.faults.setup import Stage
from tests.campaigns.report import Report
from tests.support.postgres import PostgresServer
from tests.support.product_client import in_background, run_input, wait_for
from tests.support.valkey import ValkeyServer

_REACTION_SECONDS = 30


def lost_rings(stage: Stage, *, short: bool) -> Report:
    """Everything in Valkey is deleted, and Valkey restarted, while runs are queued."""
    report = Report("Valkey flushed, restarted")
    rounds = 1 if short else 5
    rings = stage.product.rings
    assert isinstance(rings, ValkeyServer)
    streams: list[str] = []
    longest = 0.0
    with ThreadPoolExecutor(48) as pool:
        for number in range(rounds):
            begun = time.monotonic()
            with in_background(lambda stop: _flush_until(stop, rings.url)):
                followed = [pool.submit(_follow, stage, "rehearse:stream:20:20") for _ in range(16)]
                started = list(
                    pool.map(
                        lambda index, number=number: (
                            stage.client.start(
                                f"rehearse:{'echo' if index % 2 else 'stream:5:10'}",
                                key=f"ring-{number}-{index}",
                            ).status_code
                        ),
                        range(32),
                    )
                )
                rings.restart("kill" if number % 2 else "term")
                time.sleep(0.3)
            report.expect(that=set(started) == {202}, otherwise=f"starts answered {started}")
            ended = wait_for(stage.facts.is_everything_ended, seconds=_REACTION_SECONDS, every=0.1)
            report.expect(that=ended, otherwise=f"round {number}: not all ended in time")
            longest = max(longest, time.monotonic() - begun)
            streams += [item.result(timeout=60) for item in followed]
    report.expect(
        that=set(streams) == {"RUN_FINISHED"},
        otherwise=f"followers saw their runs end with {Counter(streams)}",
    )
    report.figures |= {
        "rounds of 48 runs": rounds,
        "followed to the end": len(streams),
        "longest until all ended, s": round(longest, 1),
    }
    report.violate(*stage.facts.violations(), *stage.facts.wrong_texts())
    return report.done()


def _flush_until(stop: threading.Event, url: str) -> None:
    with redis.Redis.from_url(url, socket_connect_timeout=1) as client:
        while not stop.wait(0.02):
            try:
                client.flushall()
            except redis.RedisError:
                continue  # it is being restarted


def _follow(stage: Stage, text: str) -> str:
    return str(stage.client.agui(run_input(text=text))[-1]["type"])


def lost_database(stage: Stage, *, short: bool) -> Report:
    """PostgreSQL crashes and restarts under load: 503 for a while, then everything goes on."""
    report = Report("PostgreSQL restarted")
    rounds = 1 if short else 5
    database = stage.product.database
    assert isinstance(database, PostgresServer)
    statuses: Counter[int | str] = Counter()
    accepted: list[str] = []
    for _ in range(rounds):
        with in_background(lambda stop: _keep_starting(stop, stage, statuses, accepted)):
            time.sleep(0.7)
            database.restart("immediate")
            time.sleep(2.0)
    ended = wait_for(stage.facts.is_everything_ended, seconds=90, every=0.25)
    report.expect(that=ended, otherwise="not everything ended within 90 s")
    wrong = {status: number for status, number in statuses.items() if status not in (202, 503)}
    report.expect(that=not wrong, otherwise=f"answers other than 202 and 503: {wrong}")
    query = "SELECT count(*) FROM inbox_run WHERE id = ANY(%s::uuid[])"
    count = stage.facts.value(query, accepted)
    report.expect(
        that=count == len(accepted), otherwise=f"{len(accepted) - count} accepted runs are lost"
    )
    alive = [process.is_running for process in (stage.product.web, *stage.product.workers)]
    report.expect(that=all(alive), otherwise="a process of the product ended")
    report.figures |= {
        "crashes of PostgreSQL": rounds,
        "runs accepted": len(accepted),
        "answers by status": dict(statuses),
    }
    report.violate(*stage.facts.violations(), *stage.facts.wrong_texts())
    return report.done()


def _keep_starting(
    stop: threading.Event, stage: Stage, statuses: "Counter[int | str]", accepted: list[str]
) -> None:
    """Several callers, each trying again with the same key until it is accepted."""

    def call() -> None:
        while not stop.is_set():
            key = str(uuid4())
            while not stop.is_set():
                try:
                    answer = stage.client.start("rehearse:stream:5:20", key=key)
                except httpx.TransportError as error:
                    statuses[type(error).__name__] += 1
                    continue
                statuses[answer.status_code] += 1
                if answer.status_code == 202:
                    accepted.append(answer.json()["id"])
                    break
                time.sleep(0.05)
            time.sleep(0.02)

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(call) for _ in range(4)]:
            done.result()
