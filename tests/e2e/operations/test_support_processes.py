import re

import httpx
import pytest

from tests.support.children import StartFailed
from tests.support.postgres import PostgresServer
from tests.support.processes import (
    embedded_environment,
    is_healthy,
    manage,
    scaled_environment,
    start_embedded,
    start_web,
    start_worker,
)
from tests.support.product_client import wait_for
from tests.support.valkey import ValkeyServer


def test_the_embedded_product_answers_and_drains_within_its_bound(tmp_path):
    with start_embedded(embedded_environment(tmp_path), log=tmp_path / "log") as product:
        assert is_healthy(product.url)

        assert product.terminate(patience_seconds=30) == 0

        assert not is_healthy(product.url)


STUCK = """
import time
from pathlib import Path
from agents.sdk.tools import tool
from agents.sdk.workflow import workflow

@tool(effect="once")
def wait(path: str) -> None:
    Path(path).touch()
    time.sleep(600)

@workflow()
async def stuck(ctx):
    await ctx.call(wait, path=ctx.message)
"""


def test_a_tool_that_does_not_end_keeps_no_product_from_ending(tmp_path):
    (tmp_path / "stuck.py").write_text(STUCK)
    environment = embedded_environment(
        tmp_path, SIGNOFF_AGENTS="stuck:stuck", PYTHONPATH=str(tmp_path)
    )
    with start_embedded(environment, log=tmp_path / "log", demo=True) as product:
        key = re.search(r"Bearer (\S+?)'", product.log_tail(lines=200)).group(1)
        begun = tmp_path / "begun"
        httpx.post(
            f"{product.url}/api/runs",
            json={"agent": "stuck", "message": str(begun)},
            headers={"Authorization": f"Bearer {key}"},
        ).raise_for_status()
        assert wait_for(begun.exists, seconds=60, every=0.05)

        assert product.terminate(patience_seconds=15) == 0

        assert product.has_logged("exit with tools still running")


@pytest.mark.services
def test_web_and_worker_start_on_private_servers_and_drain_in_time(tmp_path):
    with PostgresServer() as database, ValkeyServer() as rings:
        environment = scaled_environment(
            tmp_path, database_url=database.create_database("product"), redis_url=rings.url
        )
        manage(environment, "migrate", "--no-input")

        with (
            start_web(environment, log=tmp_path / "web.log") as web,
            start_worker(environment, log=tmp_path / "worker.log") as worker,
        ):
            assert is_healthy(web.url)
            assert worker.is_running
            codes = [worker.terminate(patience_seconds=60), web.terminate(patience_seconds=60)]

    assert codes == [0, 0]


def test_a_product_that_cannot_start_says_why(tmp_path):
    broken = embedded_environment(tmp_path, DATABASE_URL="nonsense://")

    with pytest.raises(StartFailed, match=r"(?s)ended with code 1.*nonsense"):
        start_embedded(broken, log=tmp_path / "log")


def test_a_failed_command_says_why(tmp_path):
    with pytest.raises(StartFailed, match=r"(?s)no_such_command ended.*Unknown command"):
        manage(embedded_environment(tmp_path), "no_such_command")
