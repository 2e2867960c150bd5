"""A pause outlives the process it was made in, whatever the framework."""

import pytest

from tests.integration.adapters.conftest import DESKS
from tests.support.processes import embedded_environment, manage, start_embedded
from tests.support.product_client import Client, wait_for

_EDITED = {"order": "A1", "amount": 25.0}


@pytest.fixture
def environment(tmp_path):
    own = ",".join(f"{framework}+{path}" for framework, path in DESKS.items())
    return embedded_environment(tmp_path, SIGNOFF_AGENTS=own)


def agent_of(path):
    return path.partition(":")[2].replace("_", "-")


def statuses(client, runs):
    return [client.run(run)["status"] for run in runs]


def tool_results(client, thread):
    events = client.http.get(f"/api/threads/{thread}/events").json()["results"]
    bodies = [event["event"] for event in events]
    return [event["content"] for event in bodies if event["type"] == "TOOL_CALL_RESULT"]


def test_what_was_asked_before_a_crash_is_answered_after_it(tmp_path, environment):
    log = tmp_path / "log"
    with start_embedded(environment, log=log, demo=True) as product:
        scopes = [part for scope in ("run", "read", "decide") for part in ("--scope", scope)]
        key = manage(environment, "create_api_key", "--name", "tests", *scopes)
        with Client(product.url, key) as client:
            begun = [
                client.start("Refund A1 for 30.", agent=agent_of(path)).json()
                for path in DESKS.values()
            ]
            runs = [run["id"] for run in begun]
            waiting = ["interrupted"] * len(runs)
            assert wait_for(lambda: statuses(client, runs) == waiting, seconds=60)
        product.kill()

    with start_embedded(environment, log=log) as product, Client(product.url, key) as client:
        threads = {client.run(run)["thread"] for run in runs}
        interrupts = [interrupt for interrupt in client.pending() if interrupt["thread"] in threads]
        answers = [
            client.decide(interrupt, {"approved": True, "editedArgs": _EDITED})
            for interrupt in interrupts
        ]
        assert [answer.status_code for answer in answers] == [200] * len(runs)
        refunded = [["refunded $25.00 for A1"]] * len(runs)
        assert wait_for(
            lambda: [tool_results(client, thread) for thread in threads] == refunded, seconds=60
        )

        # Said again, it is the same decision, and nothing runs a second time.
        again = [
            client.decide(interrupt, {"approved": True, "editedArgs": _EDITED})
            for interrupt in interrupts
        ]
        assert [answer.status_code for answer in again] == [200] * len(runs)
        assert [tool_results(client, thread) for thread in threads] == refunded
