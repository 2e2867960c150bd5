"""`/livez` and `/readyz` of the running product, while its parts really fail."""

import resource

import httpx
import psutil
import pytest

from tests.support.product import embedded_product, scaled_product
from tests.support.product_client import wait_for

NEEDED = {"database", "disk"}


def ready(product, query="", **headers):
    answer = httpx.get(f"{product.url}/readyz{query}", headers=headers, timeout=30, trust_env=False)
    return answer.status_code, answer.json()


def status_of(product, part):
    return ready(product)[1]["parts"][part]["status"]


@pytest.fixture(scope="module")
def embedded(tmp_path_factory):
    with embedded_product(tmp_path_factory.mktemp("embedded")) as product:
        yield product


def test_a_single_process_is_ready_with_all_its_parts(embedded):
    assert wait_for(lambda: ready(embedded, "?need=all")[1]["status"] == "ok", seconds=30)

    status, body = ready(embedded, "?need=all")

    assert status == 200
    assert {name: part["status"] for name, part in body["parts"].items()} == dict.fromkeys(
        ("database", "broker", "disk", "workers", "sweeper"), "ok"
    )
    assert body["parts"]["workers"]["taking_runs"] == 1


def test_probes_answer_to_any_host_name_and_methods_are_refused(embedded):
    for path in ("/livez", "/readyz"):
        url = f"{embedded.url}{path}"
        assert httpx.get(url, headers={"Host": "10.1.2.3:8000"}).status_code == 200
        assert httpx.head(url).content == b""
        assert httpx.post(url).status_code == 405


def test_callers_behind_a_proxy_see_no_details(embedded):
    forwarded = ready(embedded, **{"X-Forwarded-For": "203.0.113.5"})[1]

    assert set(forwarded) == {"status"}


def test_a_disk_that_takes_no_writes_makes_the_process_unready(tmp_path):
    with embedded_product(tmp_path) as product:
        process = psutil.Process(product.web.pid)
        assert wait_for(lambda: ready(product)[0] == 200, seconds=30)

        # The kernel refuses to let any file grow, as on a full disk.
        process.rlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        assert wait_for(lambda: ready(product)[0] == 503, seconds=30)
        body = ready(product)[1]
        alive = httpx.get(f"{product.url}/livez").status_code

        process.rlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert wait_for(lambda: ready(product)[0] == 200, seconds=30)

    assert (body["status"], body["parts"]["disk"]["status"]) == ("failing", "failing")
    assert alive == 200


@pytest.mark.services
def test_readiness_shows_which_server_is_away(tmp_path):
    with scaled_product(tmp_path, SIGNOFF_METRICS_TOKEN="let-me-see") as product:
        (worker,) = product.workers
        assert wait_for(lambda: ready(product, "?need=all")[0] == 200, seconds=30)

        token = {"X-Forwarded-For": "203.0.113.5", "Authorization": "Bearer let-me-see"}
        assert "parts" in ready(product, **token)[1]

        product.rings.shut_down()
        assert wait_for(lambda: status_of(product, "broker") == "failing", seconds=30)
        # Decisions are accepted without Redis, so the process stays in service.
        assert ready(product)[0] == 200
        assert ready(product, "?need=broker")[0] == 503
        product.rings.start()
        assert wait_for(lambda: ready(product, "?need=all")[0] == 200, seconds=60)

        product.database.shut_down("immediate")
        assert wait_for(lambda: ready(product)[0] == 503, seconds=60)
        assert status_of(product, "database") == "failing"
        product.database.start()
        assert wait_for(lambda: ready(product, "?need=all")[0] == 200, seconds=60)

        worker.kill()
        assert wait_for(lambda: status_of(product, "workers") == "failing", seconds=60)
        assert wait_for(lambda: status_of(product, "sweeper") == "failing", seconds=60)
        assert ready(product) == (200, ready(product)[1])
        assert ready(product, "?need=workers,sweeper")[0] == 503


@pytest.mark.services
def test_a_worker_that_stops_is_missed_at_once(tmp_path):
    with scaled_product(tmp_path) as product:
        (worker,) = product.workers
        assert wait_for(lambda: status_of(product, "workers") == "ok", seconds=30)

        worker.terminate()

        assert wait_for(lambda: status_of(product, "workers") == "failing", seconds=10)
