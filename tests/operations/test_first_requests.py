"""What the first requests after a start meet, when they come at the same time."""

from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.support.processes import embedded_environment, start_embedded


def test_the_first_readers_of_the_schema_all_get_it(tmp_path):
    environment = embedded_environment(tmp_path)
    with start_embedded(environment, log=tmp_path / "log") as web:

        def read(_: int) -> httpx.Response:
            return httpx.get(f"{web.url}/api/schema/", timeout=60)

        with ThreadPoolExecutor(12) as pool:
            answers = list(pool.map(read, range(12)))

    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
