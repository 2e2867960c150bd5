"""A program that is killed at any step goes on with its key, and has no effect twice."""

import subprocess
import sys
from uuid import uuid4

import pytest

from tests.support.product_client import wait_for

#: Refunds an order; kills itself at one point: before or after an exchange, or around the effect.
PROGRAM = """
import os, signal, sys
from signoff_client import AlreadyStarted, Signoff
from signoff_client.transport import Transport

key, ledger, point = sys.argv[1:]

def reach(name):
    if name == point:
        os.kill(os.getpid(), signal.SIGKILL)

send = Transport.send

def send_or_die(self, step):
    name = "wait" if step.method == "GET" else step.path.partition("?")[0].rpartition("/")[2]
    reach("before " + name)
    reply = send(self, step)
    reach("after " + name)
    return reply

Transport.send = send_or_die
signoff = Signoff()

@signoff.requires_approval(effect="once")
def refund(order):
    reach("before effect")
    with open(ledger, "a") as file:
        file.write(order + "\\n")
    reach("after effect")

try:
    refund.with_key(key)(order=key)
except AlreadyStarted:
    sys.exit(9)
"""
#: Where the first program is killed, the effects after the second one, and the state of the call.
POINTS = {
    "before requests": (1, "succeeded"),
    "after requests": (1, "succeeded"),
    "before wait": (1, "succeeded"),
    "after wait": (1, "succeeded"),
    "before start": (1, "succeeded"),
    "after start": (0, "started"),
    "before effect": (0, "started"),
    "after effect": (1, "started"),
    "before report": (1, "started"),
    "after report": (1, "succeeded"),
}


@pytest.mark.parametrize("point", POINTS)
def test_no_effect_happens_twice_or_without_approval(desk, tmp_path, point):
    ledger, key = tmp_path / "ledger", str(uuid4())

    def start(where: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-c", PROGRAM, key, str(ledger), where]
        return subprocess.Popen(command, env=desk.environment(tmp_path))

    def effects() -> int:
        return len(ledger.read_text().splitlines()) if ledger.exists() else 0

    first = start(point)
    if point != "before requests":
        request = desk.next_request()
    if point in ("before requests", "after requests", "before wait"):
        assert first.wait(60) == -9
    second = start("") if first.poll() is not None else None
    if point == "before requests":
        request = desk.next_request()
    assert effects() == 0
    desk.decide(request)
    assert first.wait(60) == -9
    second = second or start("")
    code = second.wait(60)

    number, state = POINTS[point]
    assert effects() == number
    assert wait_for(lambda: desk.state(request["id"])[1] == state, seconds=40)
    assert code == (0 if state == "succeeded" and point != "after report" else 9)
