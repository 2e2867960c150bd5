"""Long runs of one team do not keep the workers from the approved calls of another team."""

from collections.abc import Iterator

import pytest

from tests.support.processes import manage
from tests.support.product import Product, embedded_product, scaled_product
from tests.support.product_client import Client, wait_for

pytestmark = pytest.mark.services

GREEDY_RUNS = 32
#: They end long after the test.
GREEDY = "rehearse:sleep:600"
#: Of each process; all of them are fewer than the greedy runs.
THREADS = "8"
RELEASE = {"approved": True, "costCentre": "0000"}


@pytest.fixture(scope="module", params=["embedded", "scaled"])
def product(request, tmp_path_factory) -> Iterator[Product]:
    directory = tmp_path_factory.mktemp(request.param)
    settings = {"demo": False, "SIGNOFF_WORKER_CONCURRENCY": THREADS}
    shape = (
        embedded_product(directory, **settings)
        if request.param == "embedded"
        else scaled_product(directory, workers=2, **settings)
    )
    with shape as running:
        manage(running.environment, "add_agent", "rehearsal", "--team", "greedy")
        manage(running.environment, "add_agent", "treasury", "--team", "modest")
        yield running


def client_of(team, product) -> Client:
    return Client(product.url, product.create_api_key("read", "run", "decide", team=team))


def start(client, message, agent) -> str:
    response = client.start(message, agent=agent)
    response.raise_for_status()
    return response.json()["id"]


def test_approved_calls_run_beside_greedy_runs_of_another_team(product):
    with client_of("greedy", product) as greedy, client_of("modest", product) as modest:

        def statuses():
            return [greedy.run(run)["status"] for run in greedy_runs]

        greedy_runs = [start(greedy, GREEDY, "rehearsal") for _ in range(GREEDY_RUNS)]
        assert wait_for(lambda: statuses().count("running") >= 5, seconds=30)
        for _ in range(3):
            run = start(modest, "Pay the invoices", "treasury")
            assert wait_for(modest.pending, seconds=60), product.log_tails()
            (interrupt,) = modest.pending()
            modest.decide(interrupt, RELEASE).raise_for_status()

            def resume_of(run):
                rows = modest.http.get("/api/runs").json()["results"]
                return [row for row in rows if row["resumes"] == run]

            def has_succeeded(run=run):
                return [row["status"] for row in resume_of(run)] == ["succeeded"]

            assert wait_for(has_succeeded, seconds=60), product.log_tails()

        assert {*statuses()} == {"running", "queued"}  # all of this happened meanwhile
