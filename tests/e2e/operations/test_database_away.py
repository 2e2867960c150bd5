"""PostgreSQL goes away and comes back: requests get their 503 at once, and then their answers."""

import time

import httpx
import pytest

from tests.support.product import scaled_product
from tests.support.product_client import wait_for

pytestmark = pytest.mark.services


def test_requests_fail_fast_while_the_database_is_away_and_go_on_after_it(tmp_path):
    with (
        scaled_product(tmp_path) as product,
        httpx.Client(base_url=product.url, timeout=60) as http,
    ):
        key = {"Authorization": f"Bearer {product.create_api_key('run', 'read')}"}
        body = {"agent": "rehearsal", "message": "rehearse:echo"}

        def start():
            begun = time.monotonic()
            answer = http.post("/api/runs", json=body, headers=key)
            return answer.status_code, time.monotonic() - begun

        assert start()[0] == 202
        product.database.shut_down("immediate")
        refused = "connections are refused"
        assert wait_for(lambda: bool(start()) and product.web.has_logged(refused), seconds=60)
        during = [start() for _ in range(20)]
        product.database.start()
        assert wait_for(lambda: start()[0] == 202, seconds=30)

    assert {status for status, _ in during} == {503}
    assert max(seconds for _, seconds in during) < 1
