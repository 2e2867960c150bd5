"""What a start leaves behind, and what the first requests after it meet."""

import stat
from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.support.processes import embedded_environment, start_embedded


def test_the_first_readers_of_the_schema_all_get_it(tmp_path):
    environment = embedded_environment(tmp_path)
    with start_embedded(environment, log=tmp_path / "log", prepared=False) as web:

        def read(_: int) -> httpx.Response:
            return httpx.get(f"{web.url}/api/schema/", timeout=60)

        with ThreadPoolExecutor(12) as pool:
            answers = list(pool.map(read, range(12)))

    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1


def test_the_data_of_a_start_is_for_its_owner_alone(tmp_path):
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    data.chmod(0o755)
    environment = embedded_environment(data)

    with start_embedded(environment, log=tmp_path / "log", prepared=False):
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in data.iterdir()}

    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert "signoff.sqlite3" in modes
    assert not {name for name, mode in modes.items() if mode & 0o077}
