"""Programs that wait go on when the server is back."""

from concurrent.futures import ThreadPoolExecutor

import httpx
from signoff_client import Signoff

from tests.support.children import free_port
from tests.support.clients.live_desk import Desk
from tests.support.processes import embedded_environment, start_embedded
from tests.support.product import Product

WAITERS = 20


def test_waiting_survives_a_restart_of_the_server(tmp_path):
    environment, port = embedded_environment(tmp_path), free_port()
    options = {"log": tmp_path / "log", "port": port, "demo": True}
    with start_embedded(environment, **options) as web, ThreadPoolExecutor(WAITERS) as pool:
        desk = Desk(Product(environment, web, workers=(), database=None, rings=None))
        signoff = Signoff(desk.url, desk.key)
        request = signoff.create_request(title="Deploy?")
        waiting = [
            pool.submit(Signoff(desk.url, desk.key).wait, request.id) for _ in range(WAITERS)
        ]
        web.kill()
        with start_embedded(environment, **options):
            assert httpx.get(f"{desk.url}/healthz", trust_env=False).status_code == 200
            desk.decide(desk.next_request())

            assert {future.result(60).item.status for future in waiting} == {"approved"}
