"""Testing the connection to agents of other frameworks: they answer, and do nothing."""

import pytest

from inbox.engine.connection_test import run_connection_test
from inbox.rules.people.access import SEED
from tests.e2e.frameworks.running import GOOGLE, LANGGRAPH


@pytest.mark.parametrize("slug", ["refunds", "forms"])
def test_an_agent_that_is_tested_answers_and_calls_nothing(desk, refunds, forms, slug):
    report = run_connection_test(slug, SEED)

    assert report["found"] == "agent"
    assert report["events"][0] in ("RUN_STARTED", "RUN_ERROR")
    assert desk.ran == []


def test_all_but_langgraph_refuse_what_they_never_asked(framework, refunds):
    report = run_connection_test("refunds", SEED)

    is_langgraph = framework.environment == LANGGRAPH.environment
    assert (report["refused"], report["began_to_work"]) == (not is_langgraph, is_langgraph)
    assert report["dialect"] == "langgraph" or not is_langgraph


@pytest.mark.parametrize("framework", [GOOGLE], ids=["adk"])
def test_capabilities_are_where_a_framework_tells_them(framework, refunds):
    assert run_connection_test("refunds", SEED)["told"] is not None
