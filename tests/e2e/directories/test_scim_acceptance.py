"""The acceptance suite of SCIM against the running product."""

from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import Status, check_server

from tests.support.processes import manage
from tests.support.product import embedded_product


def test_the_acceptance_suite_of_scim_passes(tmp_path):
    with embedded_product(tmp_path) as site:
        token = manage(site.environment, "create_api_key", "--directory", "suite").strip()
        headers = {"Authorization": f"Bearer {token}"}
        with Client(base_url=f"{site.url}/scim/v2/", headers=headers) as client:
            results = check_server(SyncSCIMClient(client))

    failures = [
        (result.title, result.reason) for result in results if result.status is not Status.SUCCESS
    ]
    assert failures == []
    assert len(results) > 60
