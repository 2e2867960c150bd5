"""A process whose event loop is stuck says so on its own port."""

import httpx

from tests.support.children import free_port
from tests.support.processes import embedded_environment, start_embedded
from tests.support.product_client import wait_for

#: The product, whose event loop blocks for a while once a file exists.
BLOCKING = """
import os, threading, time
import django
django.setup()
from django.core.management import call_command
from inbox.management import server
from twisted.internet import reactor

def block_later():
    while not os.path.exists(os.environ["SIGNOFF_DATA_DIR"] + "/block"):
        time.sleep(0.1)
    reactor.callFromThread(time.sleep, 15)

threading.Thread(target=block_later, daemon=True).start()
call_command("serve")
"""


def test_a_blocked_event_loop_ends_liveness_until_it_turns_again(tmp_path):
    port = free_port()
    environment = embedded_environment(
        tmp_path,
        DJANGO_SETTINGS_MODULE="inbox.config.settings",
        SIGNOFF_METRICS_PORT=str(port),
    )

    def livez():
        answer = httpx.get(f"http://127.0.0.1:{port}/livez", timeout=30)
        return answer.status_code, answer.json()["stuck"]

    with start_embedded(environment, log=tmp_path / "log", command=("-c", BLOCKING)):
        assert livez() == (200, [])
        (tmp_path / "block").touch()

        assert wait_for(lambda: livez() == (503, ["event loop"]), seconds=60)
        assert wait_for(lambda: livez() == (200, []), seconds=40)
