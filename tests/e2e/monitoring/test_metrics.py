"""Metrics of the running product: off by default, and counts of what has happened."""

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.support.children import free_port
from tests.support.monitoring.scrapes import Scrape, scrape
from tests.support.processes import start_worker
from tests.support.product import embedded_product, scaled_product
from tests.support.product_client import APPROVE, Client, wait_for

TOKEN = "let-me-see"
SECRET = "a-text-of-somebody"


@pytest.fixture(scope="module")
def product(tmp_path_factory):
    port = free_port()
    with embedded_product(
        tmp_path_factory.mktemp("metrics"),
        SIGNOFF_METRICS_PORT=str(port),
        SIGNOFF_METRICS_TOKEN=TOKEN,
    ) as running:
        yield running, f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def client(product):
    with Client(product[0].url, product[0].create_api_key("run", "read", "decide")) as client:
        yield client


@pytest.fixture(scope="module")
def scraped(product, client) -> Scrape:
    """The metrics after one approval, one refusal and one closed socket."""
    running, port = product
    run = client.start("rehearse:tool_call").raise_for_status().json()["id"]
    assert wait_for(lambda: client.run(run)["status"] == "interrupted", seconds=30)
    (interrupt,) = [row for row in client.pending() if row["run"] == run]
    client.decide(interrupt, APPROVE).raise_for_status()
    assert wait_for(lambda: scrape(port).value("signoff_runs_ended_total") >= 2, seconds=30)
    with pytest.raises(InvalidStatus, match="404"):
        connect(f"ws{running.url.removeprefix('http')}/ws/nowhere/")
    httpx.request(SECRET.upper(), f"{running.url}/{SECRET}/?{SECRET}")
    httpx.get(f"{running.url}/api/runs", headers={"Authorization": "Bearer nobody"})
    return scrape(port)


def test_metrics_are_off_by_default(tmp_path):
    with embedded_product(tmp_path) as plain:
        assert httpx.get(f"{plain.url}/metrics").status_code == 404


def test_the_site_gives_metrics_to_the_token_only(product):
    url = f"{product[0].url}/metrics"

    assert httpx.get(url).status_code == 401
    assert httpx.get(url, headers={"Authorization": "Bearer other"}).status_code == 401
    assert scrape(product[0].url, TOKEN).value("signoff_workers") >= 0


def test_requests_are_counted_by_the_template_of_their_route(scraped):
    started = {"method": "POST", "route": "api/runs", "status": "202"}
    read = {"method": "GET", "route": "api/runs/<uuid:run_id>", "status": "200"}
    refused = {"method": "GET", "route": "api/runs", "status": "401"}

    for labels in (started, read, refused):
        assert scraped.value("signoff_http_request_duration_seconds_count", **labels) >= 1


def test_one_approval_is_seen_from_start_to_resume(scraped):
    assert scraped.value("signoff_requests_opened_total") >= 1
    assert scraped.value("signoff_decisions_total", entrance="rest", outcome="approved") == 1
    assert scraped.value("signoff_request_wait_seconds_count", outcome="approved") >= 1
    assert scraped.value("signoff_run_queue_seconds_count", kind="start") >= 1
    assert scraped.value("signoff_run_queue_seconds_count", kind="resume") >= 1
    assert scraped.value("signoff_approval_resume_seconds_count") >= 1
    assert scraped.value("signoff_runs_ended_total", status="succeeded") >= 1


def test_sockets_are_counted_with_known_close_codes(scraped):
    assert scraped.value("signoff_websocket_closes_total", code="4404") == 1
    assert scraped.value("signoff_websockets_open") == 0


def test_no_label_has_text_of_a_client_or_an_agent(scraped):
    texts = {text for sample in scraped.samples for text in sample.labels.values()}

    hidden = (SECRET, "rehearse", "send_email", "@")
    assert not [text for text in texts if any(word in text.lower() for word in hidden)]
    assert scraped.value("signoff_http_request_duration_seconds_count", route="(unknown)") >= 1


def test_the_port_of_a_process_has_its_probes(product):
    _, port = product

    assert httpx.get(f"{port}/livez").json() == {"status": "ok", "stuck": []}
    assert wait_for(lambda: httpx.get(f"{port}/readyz?need=all").status_code == 200, seconds=30)
    assert "parts" in httpx.get(f"{port}/readyz").json()
    assert httpx.get(f"{port}/other").status_code == 404


@pytest.mark.services
def test_each_process_of_a_scaled_site_has_a_port(tmp_path):
    with scaled_product(tmp_path, workers=0, SIGNOFF_METRICS_TOKEN=TOKEN) as product:
        port = free_port()
        environment = {**product.environment, "SIGNOFF_METRICS_PORT": str(port)}
        with start_worker(environment, log=tmp_path / "worker.log"):
            worker = f"http://127.0.0.1:{port}"
            with Client(product.url, product.create_api_key("run", "read")) as client:
                client.start("rehearse:echo").raise_for_status()

            def ended():
                return scrape(worker).value("signoff_runs_ended_total", status="succeeded") >= 1

            assert wait_for(ended, seconds=30)
            assert scrape(worker).value("signoff_database_connections") >= 1
            assert scrape(product.url, TOKEN).value("signoff_ready", part="workers") == 1

            # A worker without its broker takes no runs, which a web process does not mind.
            product.rings.shut_down()
            assert wait_for(lambda: httpx.get(f"{worker}/readyz").status_code == 503, seconds=30)
            assert httpx.get(f"{product.url}/readyz").status_code == 200
            assert httpx.get(f"{worker}/livez").status_code == 200
